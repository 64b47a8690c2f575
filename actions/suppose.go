package actions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Supposed collects changes of what a snapshot holds, to be previewed: nothing is
// asked of a server or written. Later changes of an object build on earlier ones.
// The errors of its methods are *Problems. The zero value is not usable; see
// Suppose. It is not safe for concurrent use.
type Supposed struct {
	s     *store.Snapshot
	edits []impact.Edit
	notes []string
}

// Suppose begins with the snapshot as it is.
func Suppose(s *store.Snapshot) *Supposed { return &Supposed{s: s} }

// Edits are the objects as they would be, in the order in which they were named
// first.
func (x *Supposed) Edits() []impact.Edit { return x.edits }

// Notes are sentences on what was taken as it stands, and how the commands that
// really change something differ from that.
func (x *Supposed) Notes() []string { return x.notes }

func (x *Supposed) note(format string, a ...any) {
	if n := fmt.Sprintf(format, a...); !slices.Contains(x.notes, n) {
		x.notes = append(x.notes, n)
	}
}

// Stop supposes that the queue is held, or drained. Of a Cohort, all ClusterQueues
// below it are that are not stopped that way already.
func (x *Supposed) Stop(ref world.Ref, policy world.StopPolicy) error {
	stopped := 0
	err := x.each(ref, func(q stoppable) bool {
		if q.policy() == policy {
			stopped++
			return false
		}
		q.set(policy)
		return true
	})
	if err != nil {
		return err
	}
	if stopped > 0 && len(x.edits) == 0 {
		return &Problem{What: fmt.Sprintf("%s is already stopped with %s", ref, policy), Do: "Nothing to compute."}
	}
	return nil
}

// Resume supposes that the queue gets the policy back that its hold record names,
// None without one. Of a Cohort, all ClusterQueues below it are that are stopped.
func (x *Supposed) Resume(ref world.Ref) error {
	found := false
	err := x.each(ref, func(q stoppable) bool {
		if !q.policy().Stopped() {
			return false
		}
		found = true
		to := world.StopNone
		switch r := q.hold; {
		case r == nil:
			x.note("%s carries no hold record: which policy it had before is not recorded, None is assumed.", q.ref)
		case r.Problem != "":
			x.note("%s: %s; None is assumed.", q.ref, r.Problem)
		default:
			to = r.Previous
		}
		if to.Stopped() {
			x.note("%s stays stopped: the recorded policy is %s.", q.ref, to)
		}
		q.set(to)
		return true
	})
	if err == nil && !found {
		return &Problem{What: fmt.Sprintf("%s is not held", ref), Do: "Nothing to compute."}
	}
	return err
}

// stoppable is a queue as it would be so far.
type stoppable struct {
	ref    world.Ref
	field  **kueue.StopPolicy
	hold   *world.HoldRecord
	object runtime.Object
}

func (q stoppable) policy() world.StopPolicy { return stopOf(q.object) }

func (q stoppable) set(p world.StopPolicy) {
	to := kueue.StopPolicy(p)
	*q.field = &to
}

// each calls f with the queues that ref names; those for which it returns true are
// edits then.
func (x *Supposed) each(ref world.Ref, f func(stoppable) bool) error {
	refs := []world.Ref{ref}
	if ref.Kind == world.KindCohort {
		n := x.s.Tree.Cohort(ref.Name)
		if n == nil {
			return x.missing(ref)
		}
		if refs = below(n, nil); len(refs) == 0 {
			return &Problem{What: fmt.Sprintf("there is no ClusterQueue below %s", ref), Do: "Name a cohort that has some, or a queue."}
		}
	}
	for _, r := range refs {
		o, err := x.now(r.Kind, r.Key)
		if err != nil {
			return err
		}
		if o == nil {
			return x.missing(r)
		}
		q := stoppable{ref: r, object: o}
		switch o := o.(type) {
		case *kueue.ClusterQueue:
			q.field, q.hold = &o.Spec.StopPolicy, x.s.ClusterQueue(r.Name).Hold
		case *kueue.LocalQueue:
			q.field, q.hold = &o.Spec.StopPolicy, x.s.LocalQueue(r.Key).Hold
		default:
			return &Problem{What: fmt.Sprintf("a %s has no stopPolicy", r.Kind), Do: "Name a ClusterQueue, a LocalQueue or a Cohort."}
		}
		if f(q) {
			x.put(r.Kind, r.Key, o)
		}
	}
	return nil
}

// below lists the ClusterQueues below the node. In a cycle each is met once.
func below(n *quota.Node, seen []*quota.Node) []world.Ref {
	var out []world.Ref
	for _, c := range n.Children {
		switch {
		case slices.Contains(seen, c):
		case c.Kind == world.KindClusterQueue:
			out = append(out, world.Ref{Kind: c.Kind, Key: world.Key{Name: c.Name}})
		default:
			out = append(out, below(c, append(seen, n))...)
		}
	}
	return out
}

func (x *Supposed) missing(ref world.Ref) error {
	why := "there is no " + ref.String()
	if f := x.s.Fresh(ref.Kind); f.Feed != world.Live {
		why += fmt.Sprintf(" in what was read, and the list of %ss is %s%s", ref.Kind, f.Feed, colon(f.Detail))
	}
	return &Problem{What: why, Do: "Look at the name: " + x.names(ref.Kind)}
}

// names lists a few names of the kind.
func (x *Supposed) names(k world.Kind) string {
	var all []string
	switch k {
	case world.KindClusterQueue:
		for _, q := range x.s.ClusterQueues {
			all = append(all, q.Name)
		}
	case world.KindLocalQueue:
		for _, q := range x.s.LocalQueues {
			all = append(all, q.Key.String())
		}
	case world.KindCohort:
		for _, q := range x.s.ClusterQueues {
			if q.Cohort != "" && !slices.Contains(all, q.Cohort) {
				all = append(all, q.Cohort)
			}
		}
	}
	const most = 8
	if len(all) > most {
		all = append(all[:most:most], "...")
	}
	if len(all) == 0 {
		return "there is none of its kind."
	}
	return "there are " + strings.Join(all, ", ") + "."
}

// put makes the object an edit, in the place of an earlier one.
func (x *Supposed) put(k world.Kind, key world.Key, o runtime.Object) {
	e := impact.Edit{Kind: k, Key: key, Object: o}
	if i := slices.IndexFunc(x.edits, func(e impact.Edit) bool { return e.Kind == k && e.Key == key }); i >= 0 {
		x.edits[i] = e
		return
	}
	x.edits = append(x.edits, e)
}

// now returns the object as it would be so far, of version v1beta2, as a copy; nil
// where there is none.
func (x *Supposed) now(k world.Kind, key world.Key) (runtime.Object, error) {
	for _, e := range x.edits {
		if e.Kind == k && e.Key == key {
			return e.Object.DeepCopyObject(), nil
		}
	}
	switch k {
	case world.KindClusterQueue:
		if r := x.s.ClusterQueue(key.Name); r != nil {
			o := &kueue.ClusterQueue{ObjectMeta: metaFrom(r.Meta)}
			return o, readSpec(r.Ref(), r.Spec, &o.Spec)
		}
	case world.KindLocalQueue:
		if r := x.s.LocalQueue(key); r != nil {
			o := &kueue.LocalQueue{ObjectMeta: metaFrom(r.Meta)}
			return o, readSpec(r.Ref(), r.Spec, &o.Spec)
		}
	case world.KindCohort:
		if r := x.s.Cohort(key.Name); r != nil {
			o := &kueue.Cohort{ObjectMeta: metaFrom(r.Meta)}
			return o, readSpec(r.Ref(), r.Spec, &o.Spec)
		}
	case world.KindResourceFlavor:
		if r := x.s.Flavor(key.Name); r != nil {
			o := &kueue.ResourceFlavor{ObjectMeta: metaFrom(r.Meta)}
			return o, readSpec(r.Ref(), r.Spec, &o.Spec)
		}
	case world.KindAdmissionCheck:
		if r := x.s.Check(key.Name); r != nil {
			o := &kueue.AdmissionCheck{ObjectMeta: metaFrom(r.Meta)}
			return o, readSpec(r.Ref(), r.Spec, &o.Spec)
		}
	case world.KindWorkloadPriorityClass:
		if r := x.s.PriorityClass(key.Name); r != nil {
			return &kueue.WorkloadPriorityClass{ObjectMeta: metaFrom(r.Meta), Value: r.Value}, nil
		}
	}
	return nil, nil
}

func metaFrom(m world.Meta) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name, UID: m.UID, Generation: m.Generation}
}

func readSpec(ref world.Ref, raw string, into any) error {
	if err := json.Unmarshal([]byte(raw), into); err != nil {
		return &Problem{What: fmt.Sprintf("the spec of %s cannot be read: %s", ref, clean(err)), Do: "Look at the object itself.", Err: err}
	}
	return nil
}
