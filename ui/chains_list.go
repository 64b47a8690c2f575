package ui

import (
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
)

// deepest is how many levels of a tree are drawn; of a deeper one the last.
const deepest = 8

// listChains lists preemptors with their victims below them. A filter keeps a Workload
// with those above it; an order other than the own one is that of the trees.
func listChains(over bool, events []world.Event) func(listing[chainRow], look, filter.Query, order) listing[chainRow] {
	return func(_ listing[chainRow], l look, q filter.Query, o order) listing[chainRow] {
		trees := chain.New(l.snap, chain.Options{Events: events}).Forest(over)
		var tops []chainRow
		sum := &chainSum{}
		for i := range trees {
			t := &chainTree{Tree: &trees[i], again: trees[i].PingPong(), on: map[*chain.Member]bool{}}
			for _, m := range t.Loop {
				t.on[m] = true
			}
			if t.Root.Key == (world.Key{}) {
				sum.nameless++
			}
			tops = append(tops, chainRow{Member: t.Root, tree: t, sum: sum})
		}
		if c := compares(chainColumns(), l, o); c != nil {
			slices.SortStableFunc(tops, c)
		} else if o.turned {
			slices.Reverse(tops)
		}
		flat := grown(tops, func(*chain.Member) bool { return true })
		out := listing[chainRow]{of: l.snap, query: q, order: o, all: len(flat), rows: flat}
		if q.Empty() {
			return out
		}
		var kept []chainRow
		kept, out.fuzzy = sift(flat, q, chainHas(l.snap), func(r chainRow) string { return chainName(r.Member) })
		keep := map[*chain.Member]bool{}
		for _, r := range kept {
			for m := r.Member; !keep[m]; m = m.By {
				keep[m] = true
				if m == r.tree.Root {
					break
				}
			}
		}
		out.rows = grown(tops, func(m *chain.Member) bool { return keep[m] })
		return out
	}
}

// grown are the rows of the trees, of those Workloads alone that are kept: nobody
// below one that is not.
func grown(tops []chainRow, kept func(*chain.Member) bool) []chainRow {
	var out []chainRow
	var next []chainRow // the last one comes first
	for i := len(tops) - 1; i >= 0; i-- {
		if kept(tops[i].Member) {
			next = append(next, tops[i])
		}
	}
	for len(next) > 0 {
		r := next[len(next)-1]
		next = next[:len(next)-1]
		out = append(out, r)
		sign := "`"
		for i := len(r.Victims) - 1; i >= 0; i-- {
			if v := r.Victims[i]; kept(v) {
				next = append(next, chainRow{Member: v, tree: r.tree, trail: below(r.trail) + sign, sum: r.sum})
				sign = "+"
			}
		}
	}
	return out
}

// below is the trail of a row as those below it have it.
func below(trail string) string {
	out := strings.NewReplacer("+", "|", "`", " ").Replace(trail)
	if len(out) >= deepest {
		out = "~" + out[len(out)-deepest+2:]
	}
	return out
}

// chainHas looks into Workloads that preempted or were preempted.
func chainHas(s *store.Snapshot) func(r chainRow, field, text string) bool {
	return func(r chainRow, field, text string) bool {
		name := strings.ToLower(chainName(r.Member))
		switch field {
		case "ns":
			return filter.Holds(r.Key.Namespace, text)
		case "queue":
			return filter.Holds(chainQueue(s, r), text) || r.Row != nil && filter.Holds(r.Row.LocalQueue, text)
		case "state":
			return strings.HasPrefix(chainState(r.Row), text)
		case "job":
			_, job, _ := strings.Cut(name, "/")
			return filter.Holds(job, text)
		case "by":
			return r.By != nil && strings.Contains(strings.ToLower(chainName(r.By)), text)
		case "reason":
			return strings.Contains(strings.ToLower(r.step().Reason), text)
		}
		return strings.Contains(name, text) || strings.Contains(r.Key.Name, text) || strings.Contains(chainQueue(s, r), text)
	}
}
