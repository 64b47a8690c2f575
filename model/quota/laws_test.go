package quota_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

// What Kueue has no number for must follow from what it has: nothing is lent
// that nobody has, and nothing is missing but what the root lacks.

// cellsOf lists the cells that any root has.
func cellsOf(tree *quota.Tree) []world.FlavorResource {
	var out []world.FlavorResource
	for _, r := range tree.Roots {
		for _, c := range r.Cells {
			if !slices.Contains(out, c.FlavorResource) {
				out = append(out, c.FlavorResource)
			}
		}
	}
	return out
}

// In each cohort what the children borrow is what the others leave idle, the
// cohort's own quota, and what the cohort takes from elsewhere or lacks.
func TestWhatIsBorrowedIsSomebodys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := ours(clusters(t, false))
		walk(tree, func(n *quota.Node) {
			for _, c := range n.Cells {
				if n.Kind == world.KindCohort {
					checkCohort(t, n, c)
				}
				if n.Parent == nil {
					if c.Lendable != 0 || c.IdleLendable != 0 || c.Borrowed != 0 || c.Uncovered != max(0, -c.Available) || c.UncoveredMost != c.Uncovered {
						t.Fatalf("a root lends and borrows nothing, and owes what it has less than nothing of: %s %+v", n.Name, c)
					}
				}
				if c.Uncovered < 0 || c.Uncovered > c.UncoveredMost || n.Parent != nil && c.UncoveredMost > c.Borrowed {
					t.Fatalf("not 0 <= Uncovered <= UncoveredMost <= Borrowed: %s %+v", n.Name, c)
				}
				if c.IdleLendable < 0 || c.IdleLendable > c.Lendable || c.IdleLendable > 0 && c.Borrowed > 0 {
					t.Fatalf("not 0 <= IdleLendable <= Lendable, or lends while it borrows: %s %+v", n.Name, c)
				}
			}
		})
	})
}

func checkCohort(t *rapid.T, n *quota.Node, c quota.Cell) {
	var borrowed, idle, lendable, least, most world.Amount
	var borrowers int
	for _, child := range n.Children {
		x, _ := child.Cell(c.FlavorResource)
		borrowed += x.Borrowed
		idle += x.IdleLendable
		lendable += x.Lendable
		least += x.Uncovered
		most += x.UncoveredMost
		if x.Borrowed > 0 {
			borrowers++
		}
	}
	if lendable+c.Nominal != c.Subtree {
		t.Fatalf("%s has %d, its children give it %d: %+v", n.Name, c.Subtree, lendable, c)
	}
	if borrowed != idle+c.Nominal+c.Reserved-c.Subtree {
		t.Fatalf("%s: its children borrow %d and leave %d idle: %+v", n.Name, borrowed, idle, c)
	}
	if least > c.Uncovered || most < c.UncoveredMost {
		t.Fatalf("%s owes %d to %d, its children %d to %d: %+v", n.Name, c.Uncovered, c.UncoveredMost, least, most, c)
	}
	if certain := borrowers <= 1 || idle == 0 && c.Nominal == 0 && c.Uncovered == max(0, c.Reserved-c.Subtree); certain && (least != c.Uncovered || most != c.UncoveredMost) {
		t.Fatalf("%s owes %d to %d for sure, its children %d to %d: %+v", n.Name, c.Uncovered, c.UncoveredMost, least, most, c)
	}
}

// What a member of a root leaves idle is what the root would lose if the member
// went away, and what it borrows is what the root would have back.
func TestIdleQuotaIsWhatItsCohortWouldLose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := clusters(t, false)
		tree := ours(c)
		var members []*quota.Node
		for _, r := range tree.Roots {
			if r.Cycle == nil {
				members = append(members, r.Children...)
			}
		}
		if len(members) == 0 {
			return
		}
		gone := rapid.SampledFrom(members).Draw(t, "gone")
		is := func(kind world.Kind, name string) bool {
			for n := find(tree, kind, name); n != nil && n.Cycle == nil; n = n.Parent {
				if n == gone {
					return true
				}
			}
			return false
		}
		left := *c
		left.queues = slices.DeleteFunc(slices.Clone(c.queues), func(o *kueue.ClusterQueue) bool { return is(world.KindClusterQueue, o.Name) })
		left.cohorts = slices.DeleteFunc(slices.Clone(c.cohorts), func(o *kueue.Cohort) bool { return is(world.KindCohort, o.Name) })
		after := ours(&left).Cohort(gone.Parent.Name)
		for _, cell := range gone.Parent.Cells {
			var now quota.Cell
			if after != nil {
				now, _ = after.Cell(cell.FlavorResource)
			}
			x, _ := gone.Cell(cell.FlavorResource)
			if want := cell.Available - x.IdleLendable + x.Borrowed; now.Available != want {
				t.Fatalf("%s has %d without %s, want %d: before %+v, it %+v", gone.Parent.Name, now.Available, gone.Name, want, cell, x)
			}
		}
	})
}

func find(tree *quota.Tree, kind world.Kind, name string) *quota.Node {
	if kind == world.KindCohort {
		return tree.Cohort(name)
	}
	return tree.ClusterQueue(name)
}

// Every way to spread the loans bears out what is said of debts and of lenders.
func TestDebtsAndLendersHoldHoweverTheLoansAreSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := ours(clusters(t, false))
		all := cellsOf(tree)
		if len(all) == 0 {
			return
		}
		fr := rapid.SampledFrom(all).Draw(t, "cell")
		l := newLoans(tree, fr)
		whole := l.most()
		var borrowed, debt int64
		for _, n := range l.nodes {
			c, _ := n.Cell(fr)
			switch {
			case n.Parent == nil && n.Kind == world.KindCohort:
				debt += int64(c.Uncovered)
			case n.Parent != nil:
				checkLoans(t, l, n, fr, whole)
				if n.Kind == world.KindClusterQueue {
					borrowed += int64(c.Borrowed)
				}
			}
		}
		if borrowed-whole != debt {
			t.Fatalf("%d of %d borrowed can be lent, and the roots owe %d", whole, borrowed, debt)
		}
	})
}

// checkLoans checks what is said of one node, when the greatest flow is whole.
func checkLoans(t *rapid.T, l *loans, n *quota.Node, fr world.FlavorResource, whole int64) {
	c, _ := n.Cell(fr)
	lenders := n.Lenders(fr)
	if c.Borrowed == 0 {
		if len(lenders) > 0 || c.UncoveredMost != 0 {
			t.Fatalf("%s borrows nothing: %+v, %v", n.Name, c, lenders)
		}
		return
	}
	outside := func(x *quota.Node) bool { return !within(x, n) }
	if got, want := int64(c.Borrowed-c.Uncovered), l.into(n, outside); got != want {
		t.Fatalf("%s owes at least %d of %d, but others can lend it %d", n.Name, c.Uncovered, c.Borrowed, want)
	}
	if got, want := int64(c.Borrowed-c.UncoveredMost), whole-l.without(n); got != want {
		t.Fatalf("%s owes at most %d of %d, but at least %d must be lent to it", n.Name, c.UncoveredMost, c.Borrowed, want)
	}
	named := map[string]bool{}
	var idle world.Amount
	for _, x := range lenders {
		at := find(l.tree, x.Kind, x.Name)
		from := func(y *quota.Node) bool { return within(y, at) }
		if x.Own {
			from = func(y *quota.Node) bool { return y == at }
		}
		if at == n || !x.Own && (within(n, at) || within(at, n)) {
			t.Fatalf("%s lends to itself: %+v", n.Name, x)
		}
		if got := l.into(n, from); got != int64(x.Most) || got == 0 || x.Most > x.Idle {
			t.Fatalf("%s can lend %s %d: %+v", x.Name, n.Name, got, x)
		}
		cell, _ := at.Cell(fr)
		if x.Own && x.Idle != cell.Nominal || !x.Own && x.Idle != cell.IdleLendable {
			t.Fatalf("%s has not that idle: %+v, %+v", x.Name, x, cell)
		}
		named[fmt.Sprint(x.Own, nodeName(at))] = true
		idle += x.Idle
	}
	if idle < c.Borrowed-c.Uncovered || len(named) != len(lenders) {
		t.Fatalf("%s borrows %d, owes %d, and its lenders have %d: %v", n.Name, c.Borrowed, c.Uncovered, idle, lenders)
	}
	// Nobody who could lend is left out.
	for _, x := range l.nodes {
		if within(x, n) || l.into(n, func(y *quota.Node) bool { return x == y }) == 0 {
			continue
		}
		known := named[fmt.Sprint(true, nodeName(x))]
		for y := x; y != nil; y = y.Parent {
			known = known || !within(n, y) && named[fmt.Sprint(false, nodeName(y))]
		}
		if !known {
			t.Fatalf("%s could lend to %s and is not named: %v", x.Name, n.Name, lenders)
		}
	}
}
