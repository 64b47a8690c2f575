package pack

import (
	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/store"
)

// Trees returns the names of all ClusterQueues that share quota with one of the
// ClusterQueues or with a queue of one of the Cohorts: those of the whole trees,
// as they are in the snapshot. The named ClusterQueues are always among them, also
// one that does not exist yet; a Cohort that nobody names has no queues. What is
// not in these trees neither gives anything to them nor takes anything from them.
func Trees(s *store.Snapshot, clusterQueues, cohorts []string) map[string]bool {
	out := map[string]bool{}
	roots := map[*quota.Node]bool{}
	for _, name := range clusterQueues {
		out[name] = true
		if n := s.Tree.ClusterQueue(name); n != nil {
			roots[rootOf(s.Tree, n)] = true
		}
	}
	for _, name := range cohorts {
		if n := s.Tree.Cohort(name); n != nil {
			roots[rootOf(s.Tree, n)] = true
		}
	}
	for _, q := range s.ClusterQueues {
		if n := s.Tree.ClusterQueue(q.Name); n != nil && roots[rootOf(s.Tree, n)] {
			out[q.Name] = true
		}
	}
	return out
}

// rootOf returns the root of the node's tree. Where the way up ends in a cycle,
// the cohort of the cycle that comes first by name stands for the root.
func rootOf(t *quota.Tree, n *quota.Node) *quota.Node {
	if n.Cycle != nil {
		return t.Cohort(n.Cycle[0])
	}
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}
