package chain

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/model/world"
)

// drawn is a tree in a line: a preemptor with its victims in brackets, "?" for nobody
// known, with ~ for a victim of what is over, @ for one on the loop and ! at the end
// for what goes on and on.
func drawn(t Tree) string {
	var draw func(m *Member) string
	draw = func(m *Member) string {
		out := m.Key.Name
		if out == "" {
			out = "?" + string(m.UID)
		}
		if m.Step != nil && m.Step.History {
			out += "~"
		}
		if slices.Contains(t.Loop, m) {
			out += "@"
		}
		var below []string
		for _, v := range m.Victims {
			below = append(below, draw(v))
		}
		if len(below) > 0 {
			out += "(" + strings.Join(below, " ") + ")"
		}
		return out
	}
	out := draw(t.Root)
	if t.PingPong() {
		out += "!"
	}
	return out
}

func drawnAll(ts []Tree) []string {
	var out []string
	for _, t := range ts {
		out = append(out, drawn(t))
	}
	return out
}

// often says that Kueue counted so many preemptions of it.
func often(n int32, w *world.Workload) *world.Workload {
	w.Evictions = []world.Eviction{{Reason: "Preempted", Count: n}}
	return w
}

// What is preempted later stands higher: the numbers are minutes ago.
func TestForest(t *testing.T) {
	tests := map[string]struct {
		workloads []*world.Workload
		events    []world.Event
		want      []string
		over      []string // where it is another with what is over
	}{
		"nobody":     {[]*world.Workload{there("a")}, nil, nil, nil},
		"one":        {[]*world.Workload{lost("a", "b", 0), there("b")}, nil, []string{"b(a)"}, nil},
		"two of one": {[]*world.Workload{lost("a", "c", 9), lost("b", "c", 1), there("c")}, nil, []string{"c(b a)"}, nil},
		"at one time: by name": {
			[]*world.Workload{lost("b", "c", 1), lost("a", "c", 1), there("c")}, nil, []string{"c(a b)"}, nil,
		},
		"down three": {[]*world.Workload{lost("a", "b", 1), lost("b", "c", 2), lost("c", "d", 3), there("d")}, nil, []string{"d(c(b(a)))"}, nil},
		"the latest tree first, by what is deepest in it": {
			[]*world.Workload{lost("a", "b", 1), lost("b", "c", 9), there("c"), lost("x", "y", 5), there("y")}, nil, []string{"c(b(a))", "y(x)"}, nil,
		},
		"two that nobody names have no preemptor in common": {
			[]*world.Workload{lost("a", "", 1), lost("b", "", 2)}, nil, []string{"?(a)", "?(b)"}, nil,
		},
		"two that one who is gone preempted": {
			[]*world.Workload{lost("a", "x", 1), lost("b", "x", 2)}, nil, []string{"?x(a b)"}, nil,
		},
		"an event names who is gone": {
			[]*world.Workload{lost("a", "x", 1)}, []world.Event{eventOn("ns/gone", "x", "Admitted", "Admitted by ClusterQueue q")}, []string{"gone(a)"}, nil,
		},
		"through one that is gone": {
			[]*world.Workload{lost("a", "x", 0), there("b")},
			[]world.Event{eventOn("ns/gone", "x", "Preempted", "Preempted to accommodate a workload (UID: b, JobUID: j) due to prioritization in the ClusterQueue")},
			[]string{"b(gone(a))"}, nil,
		},
		"made again": {[]*world.Workload{byJob("j", lost("a", "x", 0)), job("j", there("b"))}, nil, []string{"b(a)"}, nil},
		"itself":     {[]*world.Workload{lost("a", "a", 0)}, nil, []string{"a@!"}, nil},
		"a loop: its root preempted last": {
			[]*world.Workload{lost("a", "b", 9), lost("b", "a", 1)}, nil, []string{"a@(b@)!"}, nil,
		},
		"a loop of three, with a victim beside": {
			[]*world.Workload{lost("a", "b", 9), lost("b", "c", 5), lost("c", "a", 7), lost("d", "b", 6)}, nil, []string{"c@(b@(d a@))!"}, nil,
		},
		"a way into a loop": {
			[]*world.Workload{lost("a", "b", 1), lost("b", "c", 3), lost("c", "b", 2)}, nil, []string{"b@(a c@)!"}, nil,
		},
		"each took the other's place once": {
			[]*world.Workload{often(1, lost("a", "b", 9)), often(1, lost("b", "a", 1))}, nil, []string{"a@(b@)"}, nil,
		},
		"often, and ahead of what is later": {
			[]*world.Workload{often(3, lost("a", "b", 9)), often(4, lost("b", "a", 8)), lost("x", "y", 1), there("y")}, nil, []string{"a@(b@)!", "y(x)"}, nil,
		},
		"a loop through one that is gone": {
			[]*world.Workload{lost("a", "x", 0)},
			[]world.Event{eventOn("ns/a", "a", "PreemptedWorkload", "Preempted workload ns/gone (UID: x) in ClusterQueue q")}, []string{"gone@(a@)"}, nil,
		},
		"over": {
			[]*world.Workload{lost("a", "~b", 1), there("b"), lost("x", "y", 5), there("y")}, nil, []string{"y(x)"}, []string{"y(x)", "b(a~)"},
		},
		"over in the middle": {
			[]*world.Workload{lost("a", "b", 1), lost("b", "~c", 1), there("c"), lost("d", "~b", 1)}, nil, []string{"c(b~(a))"}, []string{"c(b~(a d~))"},
		},
		"a loop that is over": {
			[]*world.Workload{often(5, lost("a", "~b", 1)), often(5, lost("b", "~a", 2))}, nil, nil, []string{"b~@(a~@)"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := New(snapshot(tc.workloads...), Options{Events: tc.events})
			if d := cmp.Diff(tc.want, drawnAll(f.Forest(false))); d != "" {
				t.Errorf("trees (-want +got):\n%s", d)
			}
			if tc.over == nil {
				tc.over = tc.want
			}
			if d := cmp.Diff(tc.over, drawnAll(f.Forest(true))); d != "" {
				t.Errorf("trees with what is over (-want +got):\n%s", d)
			}
		})
	}
}

func TestLatestOfATree(t *testing.T) {
	got := New(snapshot(lost("a", "b", 9), lost("b", "a", 4), lost("c", "b", 6)), Options{}).Forest(false)
	if len(got) != 1 || !got[0].Latest.Equal(t0.Add(-4*time.Minute)) {
		t.Errorf("latest %v, want 4 minutes ago", got)
	}
}

// The forest has every preemption of the chains once, and nobody twice.
func TestForestIsTheChains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ws, events := anyWorld(t)
		s, o := snapshot(ws...), Options{Events: events}
		want := map[member]Step{}
		for _, c := range All(s, o) {
			for i := range c.Links {
				l := c.Links[i]
				l.Loop = false // a tree says it of its members
				want[l.victim()] = l
			}
		}
		got := map[member]Step{}
		uids := map[types.UID]bool{}
		for _, tree := range New(s, o).Forest(false) {
			for next := []*Member{tree.Root}; len(next) > 0; {
				m := next[len(next)-1]
				next = append(next[:len(next)-1], m.Victims...)
				if m.UID != "" && uids[m.UID] {
					t.Fatalf("%s is there twice", m.UID)
				}
				uids[m.UID] = true
				if m.Step != nil {
					got[m.Step.victim()] = *m.Step
				}
				if m != tree.Root && (m.By == nil || !slices.Contains(m.By.Victims, m)) {
					t.Fatalf("%s is not among the victims of who preempted it", m.Key)
				}
				if (m.By == nil) != (m.Step == nil) {
					t.Fatalf("%s: step %v, by %v", m.Key, m.Step, m.By)
				}
			}
			for i, m := range tree.Loop {
				if after := tree.Loop[(i+1)%len(tree.Loop)]; after.By != m {
					t.Fatalf("%s does not preempt %s on the loop", m.Key, after.Key)
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("preemptions (-of the chains +of the forest):\n%s", d)
		}
	})
}

func BenchmarkForest(b *testing.B) {
	var ws []*world.Workload
	for i := range 100_000 {
		name := "w" + strings.Repeat("x", i%7) + time.Duration(i).String()
		if i%10 == 0 {
			ws = append(ws, there(name))
			continue
		}
		ws = append(ws, lost(name, ws[i/10*10].UID, i%60))
	}
	s := snapshot(ws...)
	for b.Loop() {
		New(s, Options{}).Forest(true)
	}
}
