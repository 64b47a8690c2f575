package reason

import (
	"slices"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

// shortfalls lists for each flavor that could ever serve what is missing in it
// now, debt included: one row for each cell, sorted. Asks that can only go to one
// flavor come together there.
func (f fit) shortfalls() []Shortfall {
	forced, most := map[world.FlavorResource]world.Amount{}, map[world.FlavorResource]world.Amount{}
	for _, a := range f.asks {
		could := f.couldServe(a)
		for _, name := range could {
			for _, n := range a.needs {
				fr := world.FlavorResource{Flavor: name, Resource: n.Resource}
				most[fr] = max(most[fr], n.Amount)
				if len(could) == 1 {
					forced[fr] = forced[fr].Add(n.Amount)
				}
			}
		}
	}
	for fr := range most {
		most[fr] = max(most[fr], forced[fr])
	}
	if out := f.missing(most); len(out) > 0 {
		return out
	}
	return f.missing(f.leftOver())
}

// missing holds the needs against their cells: those that miss something, sorted.
func (f fit) missing(needs map[world.FlavorResource]world.Amount) []Shortfall {
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

// leftOver gives each ask in turn the first flavor with room, as Kueue does, and
// returns what the first one that gets none would need of each flavor that could
// serve it, with what the others took before it.
func (f fit) leftOver() map[world.FlavorResource]world.Amount {
	taken := map[world.FlavorResource]world.Amount{}
	for _, a := range f.asks {
		if slices.ContainsFunc(a.serve, func(name string) bool { return f.take(taken, a, name, free) }) {
			continue
		}
		out := map[world.FlavorResource]world.Amount{}
		for _, name := range f.couldServe(a) {
			for _, n := range a.needs {
				fr := world.FlavorResource{Flavor: name, Resource: n.Resource}
				out[fr] = taken[fr].Add(n.Amount)
			}
		}
		return out
	}
	return nil
}

// couldServe are the flavors that have room for the ask when nothing is in use.
func (f fit) couldServe(a ask) []string {
	var out []string
	for _, name := range a.serve {
		if f.take(map[world.FlavorResource]world.Amount{}, a, name, potential) {
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
