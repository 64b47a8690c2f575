package ui

import (
	"cmp"
	"slices"
	"time"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// takenWithin is how long ago a preemption may be to be news.
const takenWithin = time.Hour

// capture is what one ClusterQueue took by preemption from those who still wait.
type capture struct {
	by     string // empty: not known
	from   []worded
	n      int
	newest time.Time
}

// takesOf finds the preemptions of the last hour whose victims wait since, the queue that
// took most first. Kueue keeps one preemption of a Workload, the last.
func takesOf(s *store.Snapshot, f *chain.Finder, now time.Time) []capture {
	var out []capture
	for _, w := range s.Workloads {
		if w.State != world.Pending {
			continue
		}
		l, ok := f.Last(w)
		if !ok || l.History || l.At.IsZero() || now.Sub(l.At) > takenWithin {
			continue
		}
		by := l.PreemptorQueue
		from, _ := s.QueueOf(w)
		i := slices.IndexFunc(out, func(t capture) bool { return t.by == by })
		if i < 0 {
			out, i = append(out, capture{by: by}), len(out)
		}
		t := &out[i]
		t.n++
		if l.At.After(t.newest) {
			t.newest = l.At
		}
		j := slices.IndexFunc(t.from, func(x worded) bool { return x.word == from })
		if j < 0 {
			t.from, j = append(t.from, worded{from, 0}), len(t.from)
		}
		t.from[j].n++
	}
	for i := range out {
		slices.SortFunc(out[i].from, func(a, b worded) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.word, b.word)) })
	}
	slices.SortFunc(out, func(a, b capture) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.by, b.by)) })
	return out
}

// takesFigure says who was preempted lately and waits since, and who took the quota: the
// first sign of a bad quota or policy.
func (l outlook) takesFigure(e Env) figure {
	const name, drop = "PREEMPTED", 3
	if why := l.notRead(world.KindWorkload); why != "" {
		return oneLine(name, drop, unknownCell(why))
	}
	if len(l.takes) == 0 {
		return oneLine(name, drop, table.Cell{Text: "nobody waits since a preemption of the last hour"})
	}
	n, newest := 0, time.Time{}
	var parts []string
	for _, t := range l.takes {
		n += t.n
		if t.newest.After(newest) {
			newest = t.newest
		}
		var from []string
		for _, x := range t.from {
			word := or(x.word, "an unknown queue")
			if x.word == t.by && t.by != "" {
				word = "itself"
			}
			from = append(from, count(x.n)+" of "+word)
		}
		parts = append(parts, or(t.by, "an unknown queue")+" preempted "+few3(from))
	}
	verb := " wait"
	if n == 1 {
		verb = " waits"
	}
	return oneLine(name, drop, table.Cell{Text: plural(n, "Workload") + verb + " since: " + few3(parts) + "; newest " + age(l.at, newest) + " ago, see Chains", Role: theme.Warn})
}
