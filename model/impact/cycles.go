package impact

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

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
// Kueue's own code may never come back: the edits make one, or put something into
// one.
func refuseCycles(before, after *store.Snapshot, edits []edit) error {
	was := cycles(before)
	for _, c := range slices.Sorted(maps.Keys(cycles(after))) {
		if !was[c] {
			return fmt.Errorf("creates a cycle: %s", c)
		}
	}
	for i := range edits {
		e := &edits[i]
		if o, n := nodeOf(before, e), nodeOf(after, e); !cyclic(o) && cyclic(n) {
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

// freed are the ClusterQueues of those that the edits take off a cycle, by name. The
// error says why what follows cannot be previewed.
func freed(before, after *store.Snapshot, queues map[string]bool) ([]string, error) {
	var out []string
	roots := map[*quota.Node]string{}
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		if o := before.Tree.ClusterQueue(name); cyclic(o) {
			out = append(out, name)
			roots[rootOf(after.Tree.ClusterQueue(name))] = cycleText(o.Cycle)
		}
	}
	for name := range queues {
		o, n := before.Tree.ClusterQueue(name), after.Tree.ClusterQueue(name)
		if cycle := roots[rootOf(n)]; n != nil && cycle != "" && !cyclic(o) {
			return nil, fmt.Errorf("brings what the cohort cycle %s cut off to a tree that is at work (ClusterQueue %s): end the cycle first, then bring the two together", cycle, name)
		}
	}
	return out, nil
}

func rootOf(n *quota.Node) *quota.Node {
	for n != nil && n.Parent != nil {
		n = n.Parent
	}
	return n
}

// Kueue's scheduler leaves a ClusterQueue alone that is on a cycle, and its own code
// may hang there. So that it never sees one, a world begins as if the cycle had been
// ended already while the ClusterQueues that it cut off still are inactive for another
// reason, which then goes away: a flavor that does not exist, of a resource that
// nobody asks for.
const nowhere = "holdfast.dev/cycle"

// cutOff makes the ClusterQueues inactive.
func cutOff(w *pack.World, queues []string) error {
	for i := range w.ClusterQueues {
		q := &w.ClusterQueues[i]
		if !slices.Contains(queues, q.Name) {
			continue
		}
		var spec kueue.ClusterQueueSpec
		if err := json.Unmarshal(q.Spec, &spec); err != nil {
			return fmt.Errorf("the spec of ClusterQueue %s cannot be read: %w", q.Name, err)
		}
		spec.ResourceGroups = append(spec.ResourceGroups, kueue.ResourceGroup{
			CoveredResources: []corev1.ResourceName{nowhere},
			Flavors:          []kueue.FlavorQuotas{{Name: nowhere, Resources: []kueue.ResourceQuota{{Name: nowhere}}}},
		})
		raw, err := json.Marshal(spec)
		if err != nil {
			return fmt.Errorf("the spec of ClusterQueue %s cannot be written: %w", q.Name, err)
		}
		q.Spec = raw
	}
	return nil
}

// letIn is the ClusterQueue without what cutOff did.
func letIn(q *kueue.ClusterQueue) *kueue.ClusterQueue {
	out := q.DeepCopy()
	out.Spec.ResourceGroups = slices.DeleteFunc(out.Spec.ResourceGroups, func(g kueue.ResourceGroup) bool {
		return slices.Contains(g.CoveredResources, corev1.ResourceName(nowhere))
	})
	out.Generation++
	return out
}
