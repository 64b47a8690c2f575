package report

import (
	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

func amount(a world.Amount, resource string) *string {
	text := a.Text(resource)
	return &text
}

func limit(a *world.Amount, resource string) *string {
	if a == nil {
		return nil
	}
	return amount(*a, resource)
}

// queueQuota lists the cells of a ClusterQueue.
func (b *builder) queueQuota(q *world.ClusterQueue, n *quota.Node, u *uses) []Quota {
	why := b.treeUnknown(n)
	if n.Cycle != nil {
		return cycleQuota(q.Quotas, u.cyclic[q.Name], why)
	}
	out := make([]Quota, 0, len(n.Cells))
	for i := range n.Cells {
		c := &n.Cells[i]
		x := own(c)
		if why != "" {
			x.Unknown = "available, potential, uncovered, lenders: " + why
		} else {
			b.inTree(&x, n, c)
		}
		out = append(out, x)
	}
	return out
}

// cohortQuota lists the cells of a Cohort.
func (b *builder) cohortQuota(n *quota.Node, u *uses) []Quota {
	why := b.treeUnknown(n)
	spec := b.s.Cohort(n.Name)
	switch {
	case why != "" && spec == nil:
		return []Quota{} // nothing of its own is known
	case why != "":
		out := cycleQuota(spec.Quotas, cells{}, why)
		for i := range out {
			out[i].Reserved, out[i].Admitted = nil, nil
		}
		return out
	}
	out := make([]Quota, 0, len(n.Cells))
	for i := range n.Cells {
		c := &n.Cells[i]
		x := own(c)
		b.inTree(&x, n, c)
		x.Admitted = amount(u.admittedIn(n)[c.FlavorResource], c.Resource)
		if n.Parent == nil {
			x.Borrowed = nil
		}
		out = append(out, x)
	}
	return out
}

// own is what the node's own spec and use tell of a cell.
func own(c *quota.Cell) Quota {
	r := c.Resource
	return Quota{
		Flavor: c.Flavor, Resource: r, InSpec: c.InSpec, Nominal: amount(c.Nominal, r),
		BorrowingLimit: limit(c.BorrowingLimit, r), LendingLimit: limit(c.LendingLimit, r),
		Subtree: amount(c.Subtree, r), Local: amount(c.Local, r), Reserved: amount(c.Reserved, r), Admitted: amount(c.Admitted, r),
		Borrowed: amount(c.Borrowed, r), Lendable: amount(c.Lendable, r), IdleLendable: amount(c.IdleLendable, r), Lenders: []Lender{},
	}
}

// inTree adds what the tree around the node tells.
func (b *builder) inTree(x *Quota, n *quota.Node, c *quota.Cell) {
	r := c.Resource
	x.Available, x.Potential = amount(c.Available, r), amount(c.Potential, r)
	x.Uncovered, x.UncoveredMost = amount(c.Uncovered, r), amount(c.UncoveredMost, r)
	for _, l := range n.Lenders(c.FlavorResource) {
		x.Lenders = append(x.Lenders, Lender{Kind: string(l.Kind), Name: l.Name, Idle: l.Idle.Text(r), Most: l.Most.Text(r)})
	}
}

// cycleQuota lists what a spec gives and what is in use where nothing else can be
// said.
func cycleQuota(quotas []world.Quota, used cells, why string) []Quota {
	all := map[world.FlavorResource]Quota{}
	row := func(fr world.FlavorResource) Quota {
		u := used[fr]
		return Quota{
			Flavor: fr.Flavor, Resource: fr.Resource, Nominal: amount(0, fr.Resource), Reserved: amount(u.Reserved, fr.Resource), Admitted: amount(u.Admitted, fr.Resource),
			Lenders: []Lender{}, Unknown: why,
		}
	}
	for fr := range used {
		all[fr] = row(fr)
	}
	for i := range quotas {
		q, x := &quotas[i], row(quotas[i].FlavorResource)
		x.InSpec, x.Nominal = true, amount(q.Nominal, q.Resource)
		x.BorrowingLimit, x.LendingLimit = limit(q.BorrowingLimit, q.Resource), limit(q.LendingLimit, q.Resource)
		all[q.FlavorResource] = x
	}
	out := make([]Quota, 0, len(all))
	for _, fr := range sorted(all) {
		out = append(out, all[fr])
	}
	return out
}
