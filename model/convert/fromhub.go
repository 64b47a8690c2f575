package convert

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// FromHub converts an object that may be edited from v1beta2 to v1beta1 with
// Kueue's own conversion code. Workloads, which are not edited, and others are an
// error.
func FromHub(obj runtime.Object) (runtime.Object, error) {
	switch o := obj.(type) {
	case *kueue.ResourceFlavor:
		out := &v1beta1.ResourceFlavor{}
		return out, v1beta1.Convert_v1beta2_ResourceFlavor_To_v1beta1_ResourceFlavor(o, out, nil)
	case *kueue.WorkloadPriorityClass:
		out := &v1beta1.WorkloadPriorityClass{}
		return out, v1beta1.Convert_v1beta2_WorkloadPriorityClass_To_v1beta1_WorkloadPriorityClass(o, out, nil)
	case *kueue.AdmissionCheck:
		out := &v1beta1.AdmissionCheck{}
		return out, v1beta1.Convert_v1beta2_AdmissionCheck_To_v1beta1_AdmissionCheck(o, out, nil)
	case *kueue.Cohort:
		return back(o, &v1beta1.Cohort{})
	case *kueue.ClusterQueue:
		return back(o, &v1beta1.ClusterQueue{})
	case *kueue.LocalQueue:
		return back(o, &v1beta1.LocalQueue{})
	}
	return nil, fmt.Errorf("a %T is not converted to v1beta1", obj)
}

type spoke interface {
	conversion.Convertible
	runtime.Object
}

func back(in conversion.Hub, out spoke) (runtime.Object, error) {
	if err := out.ConvertFrom(in); err != nil {
		return nil, fmt.Errorf("an object cannot be converted to v1beta1: %w", err)
	}
	return out, nil
}
