package file

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

// The kinds that are read into lists and not into the snapshot.
const (
	kindEvent world.Kind = "Event"
	kindPod   world.Kind = "Pod"
	kindNode  world.Kind = "Node"
)

// Kueue's API group and the versions of it that are read, the newest first.
const kueueGroup = "kueue.x-k8s.io"

func kueueVersions() []string { return []string{"v1beta2", "v1beta1"} }

// readKind says how objects of one kind are read: versions makes a new typed
// object of each version that is known.
type readKind struct {
	namespaced bool
	versions   map[string]func() runtime.Object
}

var readKinds = map[schema.GroupKind]readKind{
	{Group: kueueGroup, Kind: "ClusterQueue"}:              both(false, fresh[v1beta1.ClusterQueue], fresh[kueue.ClusterQueue]),
	{Group: kueueGroup, Kind: "LocalQueue"}:                both(true, fresh[v1beta1.LocalQueue], fresh[kueue.LocalQueue]),
	{Group: kueueGroup, Kind: "Cohort"}:                    both(false, fresh[v1beta1.Cohort], fresh[kueue.Cohort]),
	{Group: kueueGroup, Kind: "Workload"}:                  both(true, fresh[v1beta1.Workload], fresh[kueue.Workload]),
	{Group: kueueGroup, Kind: "ResourceFlavor"}:            both(false, fresh[v1beta1.ResourceFlavor], fresh[kueue.ResourceFlavor]),
	{Group: kueueGroup, Kind: "AdmissionCheck"}:            both(false, fresh[v1beta1.AdmissionCheck], fresh[kueue.AdmissionCheck]),
	{Group: kueueGroup, Kind: "WorkloadPriorityClass"}:     both(false, fresh[v1beta1.WorkloadPriorityClass], fresh[kueue.WorkloadPriorityClass]),
	{Group: kueueGroup, Kind: "Topology"}:                  both(false, fresh[v1beta1.Topology], fresh[kueue.Topology]),
	{Kind: "Namespace"}:                                    v1(false, fresh[corev1.Namespace]),
	{Kind: "Node"}:                                         v1(false, fresh[corev1.Node]),
	{Kind: "Pod"}:                                          v1(true, fresh[corev1.Pod]),
	{Kind: "Event"}:                                        v1(true, fresh[corev1.Event]),
	{Kind: "LimitRange"}:                                   v1(true, fresh[corev1.LimitRange]),
	{Group: eventsv1.GroupName, Kind: "Event"}:             v1(true, fresh[eventsv1.Event]),
	{Group: nodev1.GroupName, Kind: "RuntimeClass"}:        v1(false, fresh[nodev1.RuntimeClass]),
	{Group: schedulingv1.GroupName, Kind: "PriorityClass"}: v1(false, fresh[schedulingv1.PriorityClass]),
}

func fresh[T any, P interface {
	*T
	runtime.Object
}]() runtime.Object {
	return P(new(T))
}

func both(namespaced bool, old, latest func() runtime.Object) readKind {
	return readKind{namespaced, map[string]func() runtime.Object{"v1beta1": old, "v1beta2": latest}}
}

func v1(namespaced bool, f func() runtime.Object) readKind {
	return readKind{namespaced, map[string]func() runtime.Object{"v1": f}}
}
