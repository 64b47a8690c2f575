package chain

import (
	"slices"
	"time"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// soonAfter is how long after a write to a spec a preemption may come to be spoken of
// together with it. Kueue preempts within seconds of a change for what waits already.
const soonAfter = 5 * time.Minute

// Change is a write to a spec that a preemption followed soon.
type Change struct {
	Object world.Ref // a ClusterQueue or a Cohort
	world.SpecWrite
}

// ChangeBefore returns the last write, at most five minutes before the preemption at
// the time given, to a spec that preemptions of one of the ClusterQueues depend on:
// theirs and those of the Cohorts above them. False: none is known of, which does not
// mean that there was none. What was written when its object was created is no change.
// A write and a preemption of one second may have come in either order.
func ChangeBefore(s *store.Snapshot, queues []string, at time.Time) (Change, bool) {
	var last Change
	look := func(of world.Ref, m *world.Meta, all []world.SpecWrite) {
		for _, w := range all {
			after := at.Sub(w.At)
			if after < 0 || after > soonAfter || w.At.Sub(m.Created).Abs() <= time.Second {
				continue // times are whole seconds of the server
			}
			if w.At.After(last.At) {
				last = Change{of, w}
			}
		}
	}
	for _, name := range queues {
		if q := s.ClusterQueue(name); q != nil {
			look(q.Ref(), &q.Meta, q.Writes)
		}
		n := s.Tree.ClusterQueue(name)
		if n == nil || n.Cycle != nil {
			continue
		}
		for n = n.Parent; n != nil; n = n.Parent {
			if c := s.Cohort(n.Name); c != nil {
				look(c.Ref(), &c.Meta, c.Writes)
			}
		}
	}
	return last, !last.At.IsZero()
}

// ChangeAfter returns the last write to the spec of the ClusterQueue or Cohort after the
// time given, but for those of a stopPolicy alone, which hold and resume write. False:
// none is known of.
func ChangeAfter(s *store.Snapshot, r world.Ref, at time.Time) (Change, bool) {
	var all []world.SpecWrite
	switch r.Kind {
	case world.KindClusterQueue:
		if q := s.ClusterQueue(r.Name); q != nil {
			all = q.Writes
		}
	case world.KindCohort:
		if c := s.Cohort(r.Name); c != nil {
			all = c.Writes
		}
	}
	last := Change{Object: r}
	for _, w := range all {
		if other := slices.ContainsFunc(w.Fields, func(f string) bool { return f != "stopPolicy" }); other && w.At.After(at) && w.At.After(last.At) {
			last.SpecWrite = w
		}
	}
	return last, !last.At.IsZero()
}
