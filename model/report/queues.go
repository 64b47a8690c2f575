package report

import (
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
)

// queues fills in cohorts, ClusterQueues and LocalQueues.
func (b *builder) queues(r *Report) {
	u := b.uses()
	r.Cohorts = make([]Cohort, 0, len(b.s.Cohorts))
	for _, n := range cohortNodes(b.tree) {
		r.Cohorts = append(r.Cohorts, b.cohort(n, u))
	}
	r.ClusterQueues = make([]ClusterQueue, 0, len(b.s.ClusterQueues))
	for _, q := range b.s.ClusterQueues {
		r.ClusterQueues = append(r.ClusterQueues, b.clusterQueue(q, u))
	}
	r.LocalQueues = make([]LocalQueue, 0, len(b.s.LocalQueues))
	for _, q := range b.s.LocalQueues {
		r.LocalQueues = append(r.LocalQueues, b.localQueue(q, u))
	}
}

// cohortNodes lists the cohorts of the tree, by name. The members of a cycle are
// roots, so that each cohort is met once.
func cohortNodes(t *quota.Tree) []*quota.Node {
	var out []*quota.Node
	left := slices.Clone(t.Roots)
	for len(left) > 0 {
		n := left[len(left)-1]
		left = left[:len(left)-1]
		if n.Kind != world.KindCohort {
			continue
		}
		out = append(out, n)
		left = append(left, n.Children...)
	}
	slices.SortFunc(out, func(a, b *quota.Node) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (b *builder) cohort(n *quota.Node, u *uses) Cohort {
	c := Cohort{Name: n.Name, Implicit: &n.Implicit, Cycle: n.Cycle, Resources: b.cohortQuota(n, u)}
	var object string
	if n.Parent != nil {
		c.Parent = &n.Parent.Name
	} else if n.Implicit && !readable(b.s, world.KindCohort) {
		c.Implicit = nil
		object = "implicit, parent, resources: Cohorts cannot be read"
	}
	share, why := b.share(n)
	c.WeightedShare = share
	c.Unknown = because(object, why)
	return c
}

// share is the node's weighted share where fair sharing is on and the numbers of
// its tree are known.
func (b *builder) share(n *quota.Node) (share *string, why string) {
	if !b.fair {
		return nil, ""
	}
	if why := b.treeUnknown(n); why != "" {
		return nil, "weightedShare: " + why
	}
	s, _ := n.Share()
	text := s.String()
	return &text, ""
}

// treeUnknown says why the numbers that depend on the tree around the node are not
// known; empty where they are.
func (b *builder) treeUnknown(n *quota.Node) string {
	switch {
	case n.Cycle != nil:
		return "it reaches a cycle of cohorts: " + strings.Join(append(slices.Clone(n.Cycle), n.Cycle[0]), " > ")
	case n.Kind == world.KindCohort && !readable(b.s, world.KindClusterQueue):
		return "ClusterQueues cannot be read"
	case (n.Kind == world.KindCohort || n.Parent != nil) && !readable(b.s, world.KindCohort):
		return "Cohorts cannot be read"
	}
	return ""
}

func (b *builder) clusterQueue(q *world.ClusterQueue, u *uses) ClusterQueue {
	a, stale, n := reason.ActivityOf(b.s, q), b.x.StaleOf(q), b.tree.ClusterQueue(q.Name)
	out := ClusterQueue{
		Name: q.Name, Cohort: given(q.Cohort), StopPolicy: string(q.StopPolicy), Active: a.Active, InactiveCauses: list(a.Causes),
		QueueingStrategy: q.Strategy, StatusStale: stale.Stale, StatusNote: given(stale.Note),
		Hold: hold(q.Hold, q.StopPolicy), ManagedBy: given(q.ManagedBy), Resources: b.queueQuota(q, n, u),
	}
	var unknown []string
	if a.Unknown != "" {
		unknown = append(unknown, "active: "+a.Unknown)
	}
	c := b.s.CountsOf(q.Name)
	out.Pending, out.Reserving, out.Admitted = c.Pending, c.Reserving, c.Admitted
	if b.counted {
		out.Evicting = &c.Evicting
	} else {
		out.Pending, out.Reserving, out.Admitted = int(q.Status.Pending), int(q.Status.Reserving), int(q.Status.Admitted)
		unknown = append(unknown, "evicting: not every Workload can be read; the other numbers and what is reserved are what the status says")
	}
	if b.counted && !readable(b.s, world.KindLocalQueue) {
		out.Pending = int(q.Status.Pending)
		unknown = append(unknown, "LocalQueues cannot be read: pending is what the status says")
	}
	share, why := b.share(n)
	out.WeightedShare = share
	out.Unknown = because(append(unknown, why)...)
	return out
}

func hold(h *world.HoldRecord, p world.StopPolicy) *Hold {
	if h == nil {
		return nil
	}
	out := &Hold{Stale: !p.Stopped(), Unknown: h.Problem}
	if h.Problem == "" {
		previous := string(h.Previous)
		out.By, out.At, out.Reason, out.Previous = &h.By, moment(h.At), &h.Reason, &previous
	}
	return out
}

func (b *builder) localQueue(q *world.LocalQueue, u *uses) LocalQueue {
	a, stale := reason.LocalActivityOf(b.s, q), b.x.LocalStaleOf(q)
	out := LocalQueue{
		Namespace: q.Namespace, Name: q.Name, ClusterQueue: q.ClusterQueue, StopPolicy: string(q.StopPolicy), Active: a.Active, InactiveCauses: list(a.Causes),
		StatusStale: stale.Stale, StatusNote: given(stale.Note), Hold: hold(q.Hold, q.StopPolicy),
	}
	var unknown []string
	if a.Unknown != "" {
		unknown = append(unknown, "active: "+a.Unknown)
	}
	c, used := b.s.CountsOfLocal(q.Key), u.local[q.Key]
	out.Pending, out.Reserving, out.Admitted = c.Pending, c.Reserving, c.Admitted
	if !readable(b.s, world.KindWorkload) {
		out.Pending, out.Reserving, out.Admitted = int(q.Status.Pending), int(q.Status.Reserving), int(q.Status.Admitted)
		used = cellsOf(statusUse(q.Status))
		unknown = append(unknown, "Workloads cannot be read: the numbers are what the status says")
	}
	cq := b.s.ClusterQueue(q.ClusterQueue)
	out.Resources = localUses(cq, used)
	switch {
	case cq != nil:
		match, known := reason.SelectorMatches(b.s, cq, q.Namespace)
		if known {
			out.SelectorMatches = &match
		} else {
			unknown = append(unknown, "selectorMatches: the labels of namespace "+q.Namespace+" cannot be read")
		}
	case readable(b.s, world.KindClusterQueue):
		unknown = append(unknown, "selectorMatches: ClusterQueue "+q.ClusterQueue+" does not exist")
	default:
		unknown = append(unknown, "selectorMatches: ClusterQueue "+q.ClusterQueue+" cannot be read")
	}
	out.Unknown = because(unknown...)
	return out
}
