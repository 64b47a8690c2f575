package quota

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"cli.holdfast.dev/holdfast/model/world"
)

var cpuD = world.FlavorResource{Flavor: "d", Resource: "cpu"}

func cpu(s string) world.Amount { return world.ParseAmount("cpu", resource.MustParse(s)) }

func lim(s string) *world.Amount {
	if s == "" {
		return nil
	}
	a := cpu(s)
	return &a
}

func cell(nominal, borrowing, lending string) []world.Quota {
	return []world.Quota{{FlavorResource: cpuD, Nominal: cpu(nominal), BorrowingLimit: lim(borrowing), LendingLimit: lim(lending)}}
}

func queue(name, cohort string, q []world.Quota) *world.ClusterQueue {
	return &world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: name}}, Cohort: cohort, Quotas: q}
}

func group(name, parent string, q []world.Quota) *world.Cohort {
	return &world.Cohort{Meta: world.Meta{Key: world.Key{Name: name}}, Parent: parent, Quotas: q}
}

func uses(m map[string]string) func(string) []Usage {
	return func(q string) []Usage {
		if m[q] == "" {
			return nil
		}
		return []Usage{{FlavorResource: cpuD, Reserved: cpu(m[q])}}
	}
}

// row is one cell as text; Lenders are written "name idle", "name(own) idle", and
// with "<most" where less than what is idle can have reached the borrower.
type row struct {
	Subtree, Local, Potential, Reserved, Available, Share string
	Lendable, Idle, Uncovered                             string
	Lenders                                               []string
}

func text(a world.Amount) string { return a.Text("cpu") }

func rowOf(n *Node) row {
	c, _ := n.Cell(cpuD)
	share, _ := n.Share()
	out := row{
		Subtree: text(c.Subtree), Local: text(c.Local), Potential: text(c.Potential), Reserved: text(c.Reserved), Available: text(c.Available),
		Share: share.String(), Lendable: text(c.Lendable), Idle: text(c.IdleLendable), Uncovered: text(c.Uncovered),
	}
	if c.UncoveredMost != c.Uncovered {
		out.Uncovered += " to " + text(c.UncoveredMost)
	}
	for _, l := range n.Lenders(cpuD) {
		x := l.Name
		if l.Own {
			x += "(own)"
		}
		x += " " + text(l.Idle)
		if l.Most != l.Idle {
			x += " <" + text(l.Most)
		}
		out.Lenders = append(out.Lenders, x)
	}
	return out
}

func rows(t *Tree) map[string]row {
	out := map[string]row{}
	var walk func(n *Node)
	walk = func(n *Node) {
		out[n.Name] = rowOf(n)
		for _, ch := range n.Children {
			walk(ch)
		}
	}
	for _, r := range t.Roots {
		walk(r)
	}
	return out
}

func TestACohortWithoutAnObjectIsImplicit(t *testing.T) {
	tr := Build([]*world.ClusterQueue{queue("q", "named", nil)}, []*world.Cohort{group("real", "above", nil)}, uses(nil))
	got := map[string]bool{}
	for _, name := range []string{"named", "real", "above"} {
		got[name] = tr.Cohort(name).Implicit
	}
	if d := cmp.Diff(map[string]bool{"named": true, "real": false, "above": true}, got); d != "" {
		t.Errorf("implicit (-want +got):\n%s", d)
	}
}

func TestCyclesShowNoNumbers(t *testing.T) {
	cohorts := []*world.Cohort{group("b", "c", nil), group("c", "a", nil), group("a", "b", nil), group("leaf", "b", cell("3", "", "")), group("self", "self", nil), group("fine", "", cell("1", "", ""))}
	tr := Build([]*world.ClusterQueue{queue("q", "leaf", cell("2", "", "")), queue("ok", "fine", cell("2", "", ""))}, cohorts, uses(nil))
	got := map[string][]string{}
	for _, n := range []*Node{tr.Cohort("a"), tr.Cohort("b"), tr.Cohort("c"), tr.Cohort("leaf"), tr.Cohort("self"), tr.Cohort("fine"), tr.ClusterQueue("q"), tr.ClusterQueue("ok")} {
		got[n.Name] = n.Cycle
		if n.Cycle != nil && len(n.Cells) != 0 {
			t.Errorf("%s reaches a cycle and has numbers: %v", n.Name, n.Cells)
		}
		if _, ok := n.Share(); ok != (n.Cycle == nil) {
			t.Errorf("%s reaches cycle %v and has a share: %v", n.Name, n.Cycle, ok)
		}
		if l := n.Lenders(cpuD); len(l) > 0 {
			t.Errorf("%s borrows nothing that is known, and %v lend to it", n.Name, l)
		}
	}
	abc := []string{"a", "b", "c"}
	want := map[string][]string{"a": abc, "b": abc, "c": abc, "leaf": abc, "q": abc, "self": {"self"}, "fine": nil, "ok": nil}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("cycles (-want +got):\n%s", d)
	}
	if c, _ := tr.ClusterQueue("ok").Cell(cpuD); c.Available != cpu("3") {
		t.Errorf("a healthy tree beside a cycle: available %s, want 3", c.Available.Text("cpu"))
	}
}

func TestUseOnARemovedFlavorStillCounts(t *testing.T) {
	gone := world.FlavorResource{Flavor: "gone", Resource: "cpu"}
	tr := Build([]*world.ClusterQueue{queue("q", "co", cell("4", "", ""))}, nil, func(string) []Usage {
		return []Usage{{FlavorResource: gone, Reserved: cpu("2"), Admitted: cpu("2")}}
	})
	c, ok := tr.ClusterQueue("q").Cell(gone)
	if !ok || c.InSpec || c.Reserved != cpu("2") || c.Available != cpu("-2") {
		t.Errorf("cell of a removed flavor: %+v, found %v; want it outside the spec, 2 reserved, -2 available", c, ok)
	}
}
