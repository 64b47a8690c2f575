package pack

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

// Adjust changes an object in place so that it belongs to the World: what Objects
// does to its own, and what must be done to an object that a change brings in.
// A selector of namespaces matches all where they could not be read, a flavor has
// no topology where no nodes are known, a Workload asks of a topology what it asked
// when it was packed and may run for any time, and no quantity is so large that
// Kueue's arithmetic would not come to an end.
func (w *World) Adjust(o client.Object) {
	switch t := o.(type) {
	case *kueue.ClusterQueue:
		// Without a selector nobody is let in, whatever the labels of the namespaces.
		if w.AnyNamespace && t.Spec.NamespaceSelector != nil {
			t.Spec.NamespaceSelector = &metav1.LabelSelector{}
		}
		tameGroups(t.Spec.ResourceGroups)
		tameShare(t.Spec.FairSharing)
	case *kueue.Cohort:
		tameGroups(t.Spec.ResourceGroups)
		tameShare(t.Spec.FairSharing)
	case *kueue.LocalQueue:
		tameShare(t.Spec.FairSharing)
	case *kueue.ResourceFlavor:
		if w.NoTopology {
			t.Spec.TopologyName = nil
		}
	case *kueue.Workload:
		t.Spec.MaximumExecutionTimeSeconds = nil
		for i := range t.Spec.PodSets {
			tamePod(&t.Spec.PodSets[i].Template.Spec)
		}
		w.adjustRequests(t)
	}
}

// adjustRequests gives the pod sets of a packed Workload the topology requests
// that they were packed with; a request never changes.
func (w *World) adjustRequests(t *kueue.Workload) {
	i := slices.IndexFunc(w.Workloads, func(x Workload) bool { return x.Name == t.Name && w.Texts[x.Namespace] == t.Namespace })
	if i < 0 {
		return
	}
	for j, ps := range w.PodSets[w.Workloads[i].PodSets] {
		if j >= len(t.Spec.PodSets) {
			return
		}
		var r *kueue.PodSetTopologyRequest
		if json.Unmarshal(w.Requests[ps.Topology], &r) == nil {
			t.Spec.PodSets[j].TopologyRequest = r
		}
	}
}

func tameGroups(groups []kueue.ResourceGroup) {
	for _, g := range groups {
		for _, f := range g.Flavors {
			for i := range f.Resources {
				r := &f.Resources[i]
				r.NominalQuota = world.Tame(r.NominalQuota)
				tame(r.BorrowingLimit)
				tame(r.LendingLimit)
			}
		}
	}
}

func tameShare(f *kueue.FairSharing) {
	if f != nil {
		tame(f.Weight)
	}
}

func tame(q *resource.Quantity) {
	if q != nil {
		*q = world.Tame(*q)
	}
}

func tameList(list corev1.ResourceList) {
	for name, q := range list {
		list[name] = world.Tame(q)
	}
}

func tamePod(s *corev1.PodSpec) {
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			tameList(list[i].Resources.Requests)
			tameList(list[i].Resources.Limits)
		}
	}
	if s.Resources != nil {
		tameList(s.Resources.Requests)
		tameList(s.Resources.Limits)
	}
	tameList(s.Overhead)
}

func tameRange(l *corev1.LimitRangeItem) {
	for _, list := range []corev1.ResourceList{l.Max, l.Min, l.Default, l.DefaultRequest, l.MaxLimitRequestRatio} {
		tameList(list)
	}
}
