package impact

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/impact/pack"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

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
	// freed are those of them that are on a cycle now, and will not be.
	freed []string
	// remarks are sentences on cycles.
	leftOut, assumed string
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
		if n := st.specs.Tree.ClusterQueue(name); cyclic(n) {
			delete(r.queues, name)
			cut, cycle = append(cut, name), cycleText(n.Cycle)
		}
	}
	if len(cut) > 0 && len(r.queues) == 0 {
		return r, errors.New("the cohort tree is cut off by the cycle " + cycle + ", which this does not remove: Kueue admits nothing there")
	}
	var err error
	if r.freed, err = freed(st.from, st.specs, r.queues); err != nil {
		return r, err
	}
	if len(r.freed) > 0 {
		r.assumed = are(r.freed, "ClusterQueue") + " taken to have been inactive and otherwise in order while their cohorts formed a cycle"
	}
	if len(cut) == 0 {
		return r, nil
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
