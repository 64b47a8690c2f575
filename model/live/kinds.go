package live

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/convert"
	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/world"
)

// kind says how one kind is listed and watched.
type kind struct {
	kind       world.Kind
	resource   string
	namespaced bool
	group      string // Kueue's, or one of Kubernetes' own
}

// coreGroup is the API group of Kubernetes' first kinds, which has no name.
const coreGroup = ""

func kinds() []kind {
	return []kind{
		{kind: world.KindClusterQueue, resource: "clusterqueues", group: kube.Group},
		{kind: world.KindCohort, resource: "cohorts", group: kube.Group},
		{kind: world.KindLocalQueue, resource: "localqueues", namespaced: true, group: kube.Group},
		{kind: world.KindResourceFlavor, resource: "resourceflavors", group: kube.Group},
		{kind: world.KindAdmissionCheck, resource: "admissionchecks", group: kube.Group},
		{kind: world.KindWorkloadPriorityClass, resource: "workloadpriorityclasses", group: kube.Group},
		{kind: world.KindNamespace, resource: "namespaces", group: coreGroup},
		{kind: world.KindTopology, resource: "topologies", group: kube.Group},
		{kind: world.KindLimitRange, resource: "limitranges", namespaced: true, group: coreGroup},
		{kind: world.KindRuntimeClass, resource: "runtimeclasses", group: nodev1.GroupName},
		{kind: world.KindPriorityClass, resource: "priorityclasses", group: schedulingv1.GroupName},
		{kind: world.KindWorkload, resource: "workloads", namespaced: true, group: kube.Group},
	}
}

// example returns an empty object of the kind as the server sends it in the
// version.
func (k kind) example(version string) runtime.Object {
	old := version == "v1beta1"
	switch k.kind {
	case world.KindNamespace:
		return &corev1.Namespace{}
	case world.KindLimitRange:
		return &corev1.LimitRange{}
	case world.KindRuntimeClass:
		return &nodev1.RuntimeClass{}
	case world.KindPriorityClass:
		return &schedulingv1.PriorityClass{}
	case world.KindTopology:
		return pick[runtime.Object](old, &v1beta1.Topology{}, &kueue.Topology{})
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
	hub, err := convert.ToHub(obj)
	if err != nil {
		return nil, err
	}
	return project.Row(hub)
}
