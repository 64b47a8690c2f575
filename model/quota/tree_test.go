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

type row struct{ Subtree, Local, Potential, Reserved, Available string }

func rows(t *Tree) map[string]row {
	out := map[string]row{}
	var walk func(n *Node)
	walk = func(n *Node) {
		c, _ := n.Cell(cpuD)
		txt := func(a world.Amount) string { return a.Text("cpu") }
		out[n.Name] = row{txt(c.Subtree), txt(c.Local), txt(c.Potential), txt(c.Reserved), txt(c.Available)}
		for _, ch := range n.Children {
			walk(ch)
		}
	}
	for _, r := range t.Roots {
		walk(r)
	}
	return out
}

// The expected numbers were computed with Kueue 0.17.0's own resource_node.go.
func TestWorkedExample(t *testing.T) {
	queues := []*world.ClusterQueue{
		queue("n-a", "north", cell("10", "", "4")), queue("n-b", "north", cell("2", "3", "")), queue("s-a", "south", cell("8", "", "")),
	}
	cohorts := []*world.Cohort{group("plant", "", cell("4", "", "")), group("north", "plant", cell("6", "5", "8")), group("south", "plant", nil)}
	tests := map[string]struct {
		use  map[string]string
		want map[string]row
	}{
		"U1": {map[string]string{"n-a": "9", "n-b": "4500m", "s-a": "11"}, map[string]row{
			"plant": {"20", "0", "20", "14500m", "5500m"}, "north": {"12", "4", "17", "7500m", "5500m"}, "south": {"8", "0", "20", "11", "5500m"},
			"n-a": {"10", "6", "23", "9", "5500m"}, "n-b": {"2", "0", "5", "4500m", "500m"}, "s-a": {"8", "0", "20", "11", "5500m"},
		}},
		"U2": {map[string]string{"n-a": "14", "n-b": "4500m", "s-a": "11"}, map[string]row{
			"plant": {"20", "0", "20", "19500m", "500m"}, "north": {"12", "4", "17", "12500m", "500m"}, "south": {"8", "0", "20", "11", "500m"},
			"n-a": {"10", "6", "23", "14", "500m"}, "n-b": {"2", "0", "5", "4500m", "500m"}, "s-a": {"8", "0", "20", "11", "500m"},
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, rows(Build(queues, cohorts, uses(tc.use)))); d != "" {
				t.Errorf("cells (-want +got):\n%s", d)
			}
		})
	}
}

func TestDebtReachesEverySibling(t *testing.T) {
	tr := Build([]*world.ClusterQueue{queue("ink", "press", cell("6", "", "")), queue("foil", "press", cell("4", "2", ""))}, nil, uses(map[string]string{"ink": "9", "foil": "3"}))
	want := map[string]row{"press": {"10", "0", "10", "12", "-2"}, "ink": {"6", "0", "10", "9", "-2"}, "foil": {"4", "0", "6", "3", "-2"}}
	if d := cmp.Diff(want, rows(tr)); d != "" {
		t.Errorf("cells (-want +got):\n%s", d)
	}
	if !tr.Cohort("press").Implicit {
		t.Error("a cohort without an object must be implicit")
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
