package reason

import (
	"maps"
	"slices"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

// shortfalls lists for each flavor that could serve what is missing in it now, debt
// included: one row for each cell, sorted.
func (f fit) shortfalls() []Shortfall {
	all, _ := f.leftOver()
	return f.missing(all)
}

// blocking lists what is missing in the flavors that are nearest to serving, and
// must come back together.
func (f fit) blocking() []Shortfall {
	_, nearest := f.leftOver()
	return f.missing(nearest)
}

// missing holds the needs against their cells: those that miss something, sorted.
func (f fit) missing(needs amounts) []Shortfall {
	var out []Shortfall
	for fr, n := range needs {
		c, _ := f.node.Cell(fr)
		if s := shortfall(c, n); s.Missing > 0 {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Shortfall) int {
		if a.Less(b.FlavorResource) {
			return -1
		}
		return 1
	})
	return out
}

// leftOver gives each ask in turn the first flavor with room, as Kueue does. For
// those that get none it returns what they need of each flavor that could serve
// them, all, and of the nearest one, which they are given then; in both with what
// others took before.
func (f fit) leftOver() (all, nearest amounts) {
	taken := amounts{}
	all, nearest = amounts{}, amounts{}
	for _, a := range f.asks {
		if slices.ContainsFunc(a.serve, func(name string) bool { return f.take(taken, a, name, free) }) {
			continue
		}
		var best amounts
		var fewest []Shortfall
		for _, name := range f.couldServe(taken, a) {
			needs := amounts{}
			for _, n := range a.needs {
				fr := world.FlavorResource{Flavor: name, Resource: n.Resource}
				needs[fr] = taken[fr].Add(n.Amount)
				all[fr] = max(all[fr], needs[fr])
			}
			cells := f.missing(needs)
			if best == nil || len(cells) < len(fewest) || len(cells) == len(fewest) && missingOf(cells) < missingOf(fewest) {
				best, fewest = needs, cells
			}
		}
		if best == nil {
			// Taken in turn the others leave it nothing, so it is all of them that must
			// be placed anew.
			placed, _, _ := f.assign(potential, serving)
			return placed, placed
		}
		maps.Copy(taken, best)
		maps.Copy(nearest, best)
	}
	return all, nearest
}

// couldServe are the flavors that have room for the ask beside what is taken when
// nothing is in use.
func (f fit) couldServe(taken amounts, a ask) []string {
	var out []string
	for _, name := range a.serve {
		if f.fits(taken, a, name, potential) {
			out = append(out, name)
		}
	}
	return out
}

// shortfall holds the need against one cell. In debt what is free is negative,
// and all of it must come back.
func shortfall(c quota.Cell, need world.Amount) Shortfall {
	return Shortfall{FlavorResource: c.FlavorResource, Need: need, Free: max(0, c.Available), Most: c.Potential, Missing: max(0, need.Sub(c.Available))}
}

// nearest returns for the ask the flavor that is nearest to serving and its cells:
// one that can ever serve before one that cannot; among the first the one with
// the fewest cells missing anything, then Kueue's order; among the others the one
// with the most.
func (f fit) nearest(a ask) []Shortfall {
	var best []Shortfall
	score := func(cells []Shortfall) (never, missing int, most world.Amount) {
		for _, c := range cells {
			if c.Need > c.Most {
				never++
			}
			if c.Missing > 0 {
				missing++
			}
			most = most.Add(c.Most)
		}
		return never, missing, most
	}
	for _, name := range a.serve {
		var cells []Shortfall
		for _, n := range a.needs {
			c, _ := f.node.Cell(world.FlavorResource{Flavor: name, Resource: n.Resource})
			cells = append(cells, shortfall(c, n.Amount))
		}
		if best == nil {
			best = cells
			continue
		}
		n1, m1, most1 := score(cells)
		n0, m0, most0 := score(best)
		switch {
		case n1 != n0:
			if n1 < n0 {
				best = cells
			}
		case n1 > 0:
			if most1 > most0 {
				best = cells
			}
		case m1 < m0, m1 == m0 && missingOf(cells) < missingOf(best):
			best = cells
		}
	}
	return best
}

func missingOf(cells []Shortfall) world.Amount {
	var sum world.Amount
	for _, c := range cells {
		sum = sum.Add(c.Missing)
	}
	return sum
}
