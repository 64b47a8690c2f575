package impact

import (
	"cmp"
	"maps"
	"slices"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// place is a ClusterQueue or a Cohort by name.
type place struct {
	kind world.Kind
	name string
}

func (p place) node(s *store.Snapshot) *quota.Node {
	if p.kind == world.KindClusterQueue {
		return s.Tree.ClusterQueue(p.name)
	}
	return s.Tree.Cohort(p.name)
}

// places are the ClusterQueues that were looked at and all cohorts above them,
// before and after: ClusterQueues first, each by name.
func (c *composer) places() []place {
	all := map[place]bool{}
	for name := range c.queues {
		for _, s := range []*store.Snapshot{c.st.from, c.st.specs} {
			n := s.Tree.ClusterQueue(name)
			if n == nil || n.Cycle != nil {
				continue
			}
			for ; n != nil; n = n.Parent {
				all[place{n.Kind, n.Name}] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b place) int {
		return cmp.Or(first(a.kind == world.KindClusterQueue, b.kind == world.KindClusterQueue), cmp.Compare(a.name, b.name))
	})
}

// distinct are the snapshots in which the timings end.
func (c *composer) distinct() []*store.Snapshot {
	var out []*store.Snapshot
	for _, e := range c.ends {
		if e.first {
			out = append(out, e.snap)
		}
	}
	return out
}

// cells compares the quota before and after.
func (c *composer) cells() (changed []Cell, over []Over) {
	ends := c.distinct()
	for _, p := range c.places() {
		before := p.node(c.st.from)
		nodes := make([]*quota.Node, 0, len(ends))
		for _, s := range ends {
			nodes = append(nodes, p.node(s))
		}
		ref := refOf(p, before, nodes)
		for _, fr := range cellsOf(append([]*quota.Node{before}, nodes...)) {
			b := cell(before, fr)
			at := Cell{Ref: ref, FlavorResource: fr, NominalBefore: b.Nominal, UsedBefore: b.Reserved, BorrowedBefore: b.Borrowed}
			o := Over{Ref: ref, FlavorResource: fr, Before: overOf(before, fr)}
			same, sameOver := true, true
			for i, n := range nodes {
				a, by := cell(n, fr), overOf(n, fr)
				if i == 0 {
					at.NominalAfter, at.UsedAfter, at.BorrowedAfter, o.By = a.Nominal, a.Reserved, a.Borrowed, by
				}
				same = same && a.Reserved == at.UsedAfter && a.Borrowed == at.BorrowedAfter
				sameOver = sameOver && by == o.By
			}
			at.Certain, o.Certain = c.end(same), c.end(sameOver)
			// Nothing is known of a cell on a cycle, so that nothing can be compared.
			if !cyclic(before) && (at.NominalBefore != at.NominalAfter || at.UsedBefore != at.UsedAfter || at.BorrowedBefore != at.BorrowedAfter || !same) {
				changed = append(changed, at)
			}
			if o.By > 0 {
				over = append(over, o)
			}
		}
	}
	return changed, over
}

func refOf(p place, before *quota.Node, after []*quota.Node) world.Ref {
	r := world.Ref{Kind: p.kind, Key: world.Key{Name: p.name}}
	for _, n := range append([]*quota.Node{before}, after...) {
		if n != nil && r.UID == "" {
			r.UID = n.UID
		}
	}
	return r
}

// cellsOf are the cells of any of the nodes, sorted.
func cellsOf(nodes []*quota.Node) []world.FlavorResource {
	all := map[world.FlavorResource]bool{}
	for _, n := range nodes {
		if n == nil {
			continue
		}
		for i := range n.Cells {
			all[n.Cells[i].FlavorResource] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b world.FlavorResource) int {
		return cmp.Or(cmp.Compare(a.Flavor, b.Flavor), cmp.Compare(a.Resource, b.Resource))
	})
}

func cell(n *quota.Node, fr world.FlavorResource) quota.Cell {
	if n == nil {
		return quota.Cell{}
	}
	c, _ := n.Cell(fr)
	return c
}

// overOf is by how much the node holds more than it could get anew: all of it
// where a ClusterQueue's spec does not have the cell, else what exceeds the
// borrowing limit, or the debt that is surely the node's own (quota.Cell.Uncovered),
// whichever is more.
func overOf(n *quota.Node, fr world.FlavorResource) world.Amount {
	c := cell(n, fr)
	if n == nil {
		return 0
	}
	if n.Kind == world.KindClusterQueue && !c.InSpec {
		return c.Reserved
	}
	by := c.Uncovered
	if n.Parent != nil && c.BorrowingLimit != nil {
		by = max(by, c.Borrowed.Sub(*c.BorrowingLimit))
	}
	return max(0, by)
}
