// Package convert turns Kueue's objects of an older API version into the version
// that the rest of the program knows, with Kueue's own code.
package convert

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// ToHub converts v1beta1 objects with Kueue's own conversion code; others are
// returned as they are.
func ToHub(obj runtime.Object) (runtime.Object, error) {
	switch o := obj.(type) {
	case *v1beta1.ResourceFlavor:
		out := &kueue.ResourceFlavor{}
		return out, v1beta1.Convert_v1beta1_ResourceFlavor_To_v1beta2_ResourceFlavor(o, out, nil)
	case *v1beta1.WorkloadPriorityClass:
		out := &kueue.WorkloadPriorityClass{}
		return out, v1beta1.Convert_v1beta1_WorkloadPriorityClass_To_v1beta2_WorkloadPriorityClass(o, out, nil)
	case *v1beta1.AdmissionCheck:
		out := &kueue.AdmissionCheck{}
		return out, v1beta1.Convert_v1beta1_AdmissionCheck_To_v1beta2_AdmissionCheck(o, out, nil)
	case *v1beta1.Topology:
		out := &kueue.Topology{}
		return out, v1beta1.Convert_v1beta1_Topology_To_v1beta2_Topology(o, out, nil)
	case *v1beta1.Cohort:
		return convert(o, &kueue.Cohort{})
	case *v1beta1.ClusterQueue:
		return convert(o, &kueue.ClusterQueue{})
	case *v1beta1.LocalQueue:
		return convert(o, &kueue.LocalQueue{})
	case *v1beta1.Workload:
		return convert(o, &kueue.Workload{})
	}
	return obj, nil
}

type hub interface {
	conversion.Hub
	runtime.Object
}

func convert(in conversion.Convertible, out hub) (runtime.Object, error) {
	if err := in.ConvertTo(out); err != nil {
		return nil, fmt.Errorf("an object of v1beta1 cannot be converted: %w", err)
	}
	return out, nil
}
