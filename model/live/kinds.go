package live

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/world"
)

// kind says how one kind is listed and watched.
type kind struct {
	kind       world.Kind
	resource   string
	namespaced bool
	core       bool // a core/v1 kind, not one of Kueue's
}

func kinds() []kind {
	return []kind{
		{kind: world.KindClusterQueue, resource: "clusterqueues"},
		{kind: world.KindCohort, resource: "cohorts"},
		{kind: world.KindLocalQueue, resource: "localqueues", namespaced: true},
		{kind: world.KindResourceFlavor, resource: "resourceflavors"},
		{kind: world.KindAdmissionCheck, resource: "admissionchecks"},
		{kind: world.KindWorkloadPriorityClass, resource: "workloadpriorityclasses"},
		{kind: world.KindNamespace, resource: "namespaces", core: true},
		{kind: world.KindWorkload, resource: "workloads", namespaced: true},
	}
}

// example returns an empty object of the kind as the server sends it in the
// version.
func (k kind) example(version string) runtime.Object {
	old := version == "v1beta1"
	switch k.kind {
	case world.KindNamespace:
		return &corev1.Namespace{}
	case world.KindClusterQueue:
		return pick[runtime.Object](old, &v1beta1.ClusterQueue{}, &kueue.ClusterQueue{})
	case world.KindLocalQueue:
		return pick[runtime.Object](old, &v1beta1.LocalQueue{}, &kueue.LocalQueue{})
	case world.KindCohort:
		return pick[runtime.Object](old, &v1beta1.Cohort{}, &kueue.Cohort{})
	case world.KindResourceFlavor:
		return pick[runtime.Object](old, &v1beta1.ResourceFlavor{}, &kueue.ResourceFlavor{})
	case world.KindAdmissionCheck:
		return pick[runtime.Object](old, &v1beta1.AdmissionCheck{}, &kueue.AdmissionCheck{})
	case world.KindWorkloadPriorityClass:
		return pick[runtime.Object](old, &v1beta1.WorkloadPriorityClass{}, &kueue.WorkloadPriorityClass{})
	}
	return pick[runtime.Object](old, &v1beta1.Workload{}, &kueue.Workload{})
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// row makes the row of an object of either version.
func row(obj runtime.Object) (any, error) {
	hub, err := toHub(obj)
	if err != nil {
		return nil, err
	}
	return project.Row(hub)
}

// toHub converts v1beta1 objects with Kueue's own conversion code; others are
// returned as they are.
func toHub(obj runtime.Object) (runtime.Object, error) {
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
