package pack

import (
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
// no topology where no nodes are known, and no quantity is so large that Kueue's
// arithmetic would not come to an end.
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
		for i := range t.Spec.PodSets {
			ps := &t.Spec.PodSets[i]
			tamePod(&ps.Template.Spec)
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
