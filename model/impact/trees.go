package impact

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/impact/pack"
	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// cycleText is how a cycle is written: "a > b > a".
func cycleText(names []string) string {
	return strings.Join(append(slices.Clone(names), names[0]), " > ")
}

// cycles are all the cycles among the cohorts, by their text.
func cycles(s *store.Snapshot) map[string]bool {
	out := map[string]bool{}
	for _, n := range s.Tree.Roots {
		if n.Cycle != nil {
			out[cycleText(n.Cycle)] = true
		}
	}
	return out
}

// refuseCycles says why a preview would run into a cycle of cohorts, on which
// Kueue's own code may never come back: the edits make one, put something into
// one, or take something out of one.
func refuseCycles(before, after *store.Snapshot, edits []edit) error {
	was := cycles(before)
	for _, c := range slices.Sorted(maps.Keys(cycles(after))) {
		if !was[c] {
			return fmt.Errorf("creates a cycle: %s", c)
		}
	}
	for i := range edits {
		e := &edits[i]
		o, n := nodeOf(before, e), nodeOf(after, e)
		switch {
		case cyclic(o) && !cyclic(n):
			return fmt.Errorf("takes %s out of the cohort cycle %s: what Kueue's manager makes of a cycle differs, and so does where it starts from", e.ref(), cycleText(o.Cycle))
		case !cyclic(o) && cyclic(n):
			return fmt.Errorf("puts %s into the cohort cycle %s: Kueue admits nothing there", e.ref(), cycleText(n.Cycle))
		}
	}
	return nil
}

func cyclic(n *quota.Node) bool { return n != nil && n.Cycle != nil }

// nodeOf is the node of an edited ClusterQueue or Cohort; nil for anything else.
func nodeOf(s *store.Snapshot, e *edit) *quota.Node {
	switch e.kind {
	case world.KindClusterQueue:
		return s.Tree.ClusterQueue(e.key.Name)
	case world.KindCohort:
		return s.Tree.Cohort(e.key.Name)
	}
	return nil
}

// seeds are the ClusterQueues and Cohorts at which the edits take hold in the
// snapshot.
func seeds(s *store.Snapshot, edits []edit, edited map[world.Key]*world.Workload) (queueNames, cohorts []string) {
	names := map[string]bool{}
	queues := func(uses func(*world.ClusterQueue) bool) {
		for _, q := range s.ClusterQueues {
			if uses(q) {
				names[q.Name] = true
			}
		}
	}
	for i := range edits {
		e := &edits[i]
		switch name := e.key.Name; e.kind {
		case world.KindClusterQueue:
			names[name] = true
		case world.KindCohort:
			cohorts = append(cohorts, name)
		case world.KindLocalQueue:
			if q := s.LocalQueue(e.key); q != nil {
				names[q.ClusterQueue] = true
			}
		case world.KindResourceFlavor:
			queues(func(q *world.ClusterQueue) bool { return slices.Contains(q.Flavors(), name) })
		case world.KindAdmissionCheck:
			queues(func(q *world.ClusterQueue) bool { return asksFor(q, name) })
		}
	}
	for k, w := range edited {
		for _, w := range []*world.Workload{w, s.WorkloadByKey(k)} {
			if w == nil || w.State == world.Finished {
				continue
			}
			if q, ok := s.QueueOf(w); ok {
				names[q] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names)), cohorts
}

// reach is which ClusterQueues the edits may bear on.
type reach struct {
	// queues are all those of the cohort trees in which an edited object is, before or
	// after.
	queues map[string]bool
	// leftOut says of those which stand on a cycle that they are not looked at; empty:
	// none does.
	leftOut string
}

// reachOf finds the trees. The error says that none of them can be looked at.
func reachOf(st *stage, edits []edit) (reach, error) {
	r := reach{queues: map[string]bool{}}
	for _, s := range []*store.Snapshot{st.from, st.specs} {
		queues, cohorts := seeds(s, edits, st.edited)
		maps.Copy(r.queues, pack.Trees(s, queues, cohorts))
	}
	var cut []string
	cycle := ""
	for _, name := range slices.Sorted(maps.Keys(r.queues)) {
		for _, s := range []*store.Snapshot{st.from, st.specs} {
			if n := s.Tree.ClusterQueue(name); cyclic(n) && r.queues[name] {
				delete(r.queues, name)
				cut, cycle = append(cut, name), cycleText(n.Cycle)
			}
		}
	}
	switch {
	case len(cut) == 0:
		return r, nil
	case len(r.queues) == 0:
		return r, errors.New("the cohort tree is cut off by the cycle " + cycle + ", which this does not remove: Kueue admits nothing there")
	}
	r.leftOut = fmt.Sprintf("%s cut off by the cohort cycle %s: Kueue admits nothing there, and what they hold is left out", are(cut, "ClusterQueue"), cycle)
	return r, nil
}

// are writes "ClusterQueue a is" or "ClusterQueues a, b and 3 more are".
func are(names []string, one string) string {
	const most = 5
	switch n := len(names); {
	case n == 1:
		return one + " " + names[0] + " is"
	case n <= most:
		return one + "s " + strings.Join(names, ", ") + " are"
	default:
		return fmt.Sprintf("%ss %s and %d more are", one, strings.Join(names[:most], ", "), n-most)
	}
}
