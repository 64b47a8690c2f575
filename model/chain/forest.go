package chain

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Member is a Workload that was preempted, that preempted others, or both.
type Member struct {
	// Key is empty where nobody knows the name, UID where Kueue wrote none.
	Key world.Key
	UID types.UID
	// Row is the Workload; nil: it is deleted, in a namespace that cannot be read, or
	// nobody named it.
	Row *world.Workload
	// Priority is its spec.priority now or, where it is gone, what an event says it was;
	// nil: not known.
	Priority *int32
	// Step is its own last preemption; nil: none is known.
	Step *Step
	// By is who preempted it; nil where Step is.
	By *Member
	// Victims are those whose last preemption was for it, the latest first, without the
	// root of its tree.
	Victims []*Member
}

// Tree is a preemptor with its victims, theirs, and so on.
type Tree struct {
	// Root was not preempted itself as far as is known or, with Loop, is on the loop.
	Root *Member
	// Loop are the Workloads that preempted each other in turn, from Root on, each a
	// victim of the one before it and Root of the last; nil: there is no loop.
	Loop []*Member
	// Latest is the time of the last preemption of all of it; zero: not known.
	Latest time.Time
}

// PingPong reports whether the Workloads of the loop preempt each other again and
// again, as Again does; a loop of which every preemption is over does not.
func (t *Tree) PingPong() bool {
	rows, over := make([]*world.Workload, len(t.Loop)), true
	for i, m := range t.Loop {
		rows[i] = m.Row
		over = over && m.Step.History
	}
	return !over && again(rows)
}

// Again returns the Workloads of a loop of PingPong, and whether they preempt each
// other again and again: two that took each other's place once have not begun to, and
// a loop of which one is gone has ended.
func Again(s *store.Snapshot, loop []Step) ([]*world.Workload, bool) {
	out := make([]*world.Workload, len(loop))
	for i := range loop {
		if w := s.WorkloadByKey(loop[i].Victim); w != nil && w.UID == loop[i].VictimUID {
			out[i] = w
		}
	}
	return out, again(out)
}

func again(loop []*world.Workload) bool {
	most := 0
	for _, w := range loop {
		if w == nil {
			return false
		}
		most = max(most, Times(w))
	}
	return len(loop) > 0 && most != 1 // 0: Kueue kept no count
}

// Forest returns the chains that are not over as trees, of which no two share a
// Workload; with over also the preemptions that are over. First come those that go
// on and on (PingPong), then the latest.
//
// The work is linear in the number of Workloads, sorting aside.
func (f *Finder) Forest(over bool) []Tree {
	g := grove{f: f, members: map[node]*Member{}}
	for _, w := range f.s.Workloads {
		if w.Preempted != nil && (over || !w.Preempted.History) {
			g.climb(w)
		}
	}
	out := g.trees()
	slices.SortStableFunc(out, func(a, b Tree) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), b.Latest.Compare(a.Latest), a.Root.compare(b.Root))
	})
	return out
}

func rank(t *Tree) int {
	if t.PingPong() {
		return 0
	}
	return 1
}

// grove is a forest that grows.
type grove struct {
	f       *Finder
	members map[node]*Member
	all     []*Member // in the order in which they were found
}

// climb adds the Workload and everybody above it.
func (g *grove) climb(w *world.Workload) {
	n := at(w)
	m, known := g.member(n)
	for !known {
		l := g.f.link(n)
		if !l.ok {
			return
		}
		step := l.step
		m.Step = &step
		n = l.by
		m.By, known = g.member(n)
		m.By.Victims = append(m.By.Victims, m)
		if m.By.Row == nil && step.Preemptor != nil {
			m.By.Key = *step.Preemptor
		}
		if m.By.Row == nil {
			m.By.Priority = step.PreemptorPriority
		}
		m = m.By
	}
}

// member is the node's, and whether it was there before. Nobody, the zero node, is
// another one each time.
func (g *grove) member(n node) (_ *Member, known bool) {
	if m, ok := g.members[n]; ok {
		return m, true
	}
	m := &Member{UID: n.uid, Row: n.row}
	if n.row != nil {
		priority := n.row.Priority
		m.Key, m.Priority = n.row.Key, &priority
	}
	if n != (node{}) {
		g.members[n] = m
	}
	g.all = append(g.all, m)
	return m, false
}

// trees finds the roots and opens the loops.
func (g *grove) trees() []Tree {
	var out []Tree
	seen := map[*Member]int{} // the walk that passed it
	for i, m := range g.all {
		walk := i + 1
		for m != nil && seen[m] == 0 {
			seen[m] = walk
			if m.By == nil {
				out = append(out, Tree{Root: m})
			}
			m = m.By
		}
		if m != nil && seen[m] == walk {
			out = append(out, opened(m))
		}
	}
	for i := range out {
		out[i].Latest = ripen(out[i].Root)
		if r := out[i].Root.Step; r != nil && r.At.After(out[i].Latest) {
			out[i].Latest = r.At
		}
	}
	return out
}

// opened makes a tree of the loop that m is on: its root is who preempted last.
func opened(m *Member) Tree {
	victim := m
	for x := m.By; x != m; x = x.By {
		if c := x.Step.At.Compare(victim.Step.At); c > 0 || c == 0 && x.compare(victim) < 0 {
			victim = x
		}
	}
	t := Tree{Root: victim.By}
	for x := t.Root; ; {
		t.Loop = append(t.Loop, x)
		if x = x.By; x == t.Root {
			break
		}
	}
	slices.Reverse(t.Loop[1:])
	t.Root.By.Victims = slices.DeleteFunc(t.Root.By.Victims, func(v *Member) bool { return v == t.Root })
	return t
}

// ripen sorts the victims below the root and returns the time of the latest
// preemption there.
func ripen(root *Member) time.Time {
	var latest time.Time
	for next := []*Member{root}; len(next) > 0; {
		m := next[len(next)-1]
		next = append(next[:len(next)-1], m.Victims...)
		slices.SortFunc(m.Victims, func(a, b *Member) int {
			return cmp.Or(b.Step.At.Compare(a.Step.At), a.compare(b))
		})
		for _, v := range m.Victims {
			if v.Step.At.After(latest) {
				latest = v.Step.At
			}
		}
	}
	return latest
}

// compare orders Workloads by name; those without one by what they preempted.
func (m *Member) compare(o *Member) int {
	c := cmp.Or(m.Key.Compare(o.Key), cmp.Compare(m.UID, o.UID))
	if c == 0 && len(m.Victims) > 0 && len(o.Victims) > 0 && m != o {
		return m.Victims[0].Key.Compare(o.Victims[0].Key)
	}
	return c
}
