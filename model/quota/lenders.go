package quota

import "cli.holdfast.dev/holdfast/model/world"

// Lender is a node whose idle quota may be what a borrower uses. Kueue records
// no loans: a node borrows from a pool, and unless there is only one lender
// nobody can say whose quota it has.
type Lender struct {
	Kind world.Kind // KindClusterQueue or KindCohort
	Name string
	// Own marks the quota of a Cohort that the borrower is in: the Cohort's own,
	// which belongs to none of its children.
	Own bool
	// Idle is what lies idle and may be lent, whoever has borrowed it: a child's
	// IdleLendable, a Cohort's own nominal quota.
	Idle world.Amount
	// Most is the most of Idle that can have reached the borrower: no more than it
	// borrows, and no more than each Cohort between the two borrows.
	Most world.Amount
}

// Lenders returns who may be lending the flavor and resource to the node, the
// nearest first: its Cohort's own quota, then its siblings in the order of the
// tree, then in the same way what comes from the Cohorts further up. A Cohort
// that does not borrow itself lets nothing through, whatever lies idle above it,
// so nobody from there is named; one that borrows more than its limit allows now
// (the limit was cut) still has what it borrowed. The result is empty where the
// node borrows nothing, and where all that it borrows is debt.
//
// It is computed when asked: the time grows with the siblings at each level.
func (n *Node) Lenders(fr world.FlavorResource) []Lender {
	var out []Lender
	reach := world.Unlimited
	// A node that reaches a cycle has no cells and borrows nothing.
	for ; n.Parent != nil; n = n.Parent {
		c, _ := n.Cell(fr)
		if c.Borrowed == 0 {
			break
		}
		reach = min(reach, c.Borrowed)
		add := func(kind world.Kind, name string, own bool, idle world.Amount) {
			if idle > 0 {
				out = append(out, Lender{Kind: kind, Name: name, Own: own, Idle: idle, Most: min(idle, reach)})
			}
		}
		p, _ := n.Parent.Cell(fr)
		add(world.KindCohort, n.Parent.Name, true, p.Nominal)
		for _, sibling := range n.Parent.Children {
			s, _ := sibling.Cell(fr)
			add(sibling.Kind, sibling.Name, false, s.IdleLendable)
		}
	}
	return out
}
