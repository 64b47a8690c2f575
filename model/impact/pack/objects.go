package pack

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
)

// Objects makes the typed objects. Workloads of one shape share the pod specs,
// topology requests and assignments, so whoever writes into an object must copy it
// first: Kueue's AdjustResources does write, and the client of package engine gives
// a copy to everybody who asks. The objects share nothing with those of another
// call, and nothing with the snapshot but texts.
//
// An error says which object cannot be read; it is one of this program, since all
// JSON of a World was written by it.
func (w *World) Objects() (engine.Objects, error) {
	u := unpacker{w: w}
	o := engine.Objects{
		Flavors:       build(&u, w.Flavors, func(o *kueue.ResourceFlavor) any { return &o.Spec }, nil),
		Checks:        build(&u, w.Checks, func(o *kueue.AdmissionCheck) any { return &o.Spec }, func(o *kueue.AdmissionCheck) *[]metav1.Condition { return &o.Status.Conditions }),
		Cohorts:       build(&u, w.Cohorts, func(o *kueue.Cohort) any { return &o.Spec }, nil),
		ClusterQueues: build(&u, w.ClusterQueues, func(o *kueue.ClusterQueue) any { return &o.Spec }, func(o *kueue.ClusterQueue) *[]metav1.Condition { return &o.Status.Conditions }),
		LocalQueues:   build(&u, w.LocalQueues, func(o *kueue.LocalQueue) any { return &o.Spec }, nil),
	}
	for i, q := range o.ClusterQueues {
		n := w.ClusterQueues[i].Counts
		q.Status.PendingWorkloads, q.Status.ReservingWorkloads, q.Status.AdmittedWorkloads = n[0], n[1], n[2]
	}
	for _, t := range w.Topologies {
		topology := &kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: t.Name}}
		for _, l := range t.Levels {
			topology.Spec.Levels = append(topology.Spec.Levels, kueue.TopologyLevel{NodeLabel: l})
		}
		o.Topologies = append(o.Topologies, topology)
	}
	for _, n := range w.Namespaces {
		o.Namespaces = append(o.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: clone(n.Labels)}})
	}
	for _, l := range w.LimitRanges {
		r := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Name}, Spec: corev1.LimitRangeSpec{Limits: l.Limits}}
		r = r.DeepCopy()
		for i := range r.Spec.Limits {
			tameRange(&r.Spec.Limits[i])
		}
		o.LimitRanges = append(o.LimitRanges, r)
	}
	for _, c := range w.Runtimes {
		r := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: c.Name}}
		if c.Overhead != nil {
			r.Overhead = &nodev1.Overhead{PodFixed: c.Overhead.DeepCopy()}
			tameList(r.Overhead.PodFixed)
		}
		o.RuntimeClasses = append(o.RuntimeClasses, r)
	}
	for _, n := range w.Nodes {
		o.Nodes = append(o.Nodes, n.DeepCopy())
	}
	o.Workloads = u.workloads()
	return o, u.err
}

// object is a pointer to an object type.
type object[T any] interface {
	*T
	client.Object
}

// build makes the objects of one kind. spec and conditions are where theirs are
// put; nil: nowhere.
func build[T any, P object[T]](u *unpacker, in []Object, spec func(P) any, conditions func(P) *[]metav1.Condition) []P {
	var out []P
	for i := range in {
		o := P(new(T))
		o.SetNamespace(in[i].Namespace)
		o.SetName(in[i].Name)
		o.SetUID(types.UID(in[i].UID))
		o.SetGeneration(in[i].Generation)
		if in[i].Deleting {
			// Kueue looks for whether there is a time, not for which.
			at := metav1.NewTime(u.w.At)
			o.SetDeletionTimestamp(&at)
		}
		u.read(in[i].Spec, spec(o), func() string { return fmt.Sprintf("the spec of %T %s", o, client.ObjectKeyFromObject(o)) })
		if conditions != nil {
			*conditions(o) = u.conditions(in[i].Conditions)
		}
		u.w.Adjust(o)
		out = append(out, o)
	}
	return out
}

// unpacker is the work of one Objects. err is the first error.
type unpacker struct {
	w   *World
	err error
}

func (u *unpacker) read(raw json.RawMessage, into any, what func() string) {
	if err := json.Unmarshal(raw, into); err != nil && u.err == nil {
		u.err = fmt.Errorf("%s cannot be read back: %w", what(), err)
	}
}

func (u *unpacker) conditions(in []int64) []metav1.Condition {
	if len(in) < 3 {
		return nil
	}
	out := make([]metav1.Condition, 0, len(in)/3)
	for i := 0; i+2 < len(in); i += 3 {
		c := u.w.Conditions[in[i]]
		out = append(out, metav1.Condition{
			Type: c.Type, Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
			LastTransitionTime: u.timeOf(in[i+1]), ObservedGeneration: in[i+2],
		})
	}
	return out
}

func (u *unpacker) timeOf(seconds int64) metav1.Time {
	if seconds == noTime {
		return metav1.Time{}
	}
	return metav1.NewTime(time.Unix(u.w.At.Unix()+seconds, 0))
}

// table reads every entry of a table of JSON.
func readTable[T any](u *unpacker, in []json.RawMessage, what string) []T {
	out := make([]T, len(in))
	for i, raw := range in {
		u.read(raw, &out[i], func() string { return fmt.Sprintf("%s %d", what, i) })
	}
	return out
}
