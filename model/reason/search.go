package reason

import (
	"slices"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

// steps bounds the search for an assignment; a Workload has at most 18 pod sets.
const steps = 50_000

// amounts are what is taken or needed of cells.
type amounts map[world.FlavorResource]world.Amount

// assignable reports whether every ask can get one flavor so that no cell is
// asked for more than room gives. sure is false when the search was cut short.
func (f fit) assignable(room func(quota.Cell) world.Amount, options func(ask) []string) (ok, sure bool) {
	_, ok, sure = f.assign(room, options)
	return ok, sure
}

// assign is assignable with what the first assignment that was found takes. No two
// resource groups have a flavor in common, so each is searched by itself.
func (f fit) assign(room func(quota.Cell) world.Amount, options func(ask) []string) (taken amounts, ok, sure bool) {
	taken, sure = amounts{}, true
	for from := 0; from < len(f.asks); {
		to := from + 1
		for to < len(f.asks) && f.asks[to].group == f.asks[from].group {
			to++
		}
		found, searched := f.search(taken, f.asks[from:to], room, options)
		if !found && searched {
			return nil, false, true
		}
		sure = sure && searched
		from = to
	}
	if !sure {
		return nil, false, false
	}
	return taken, true, true
}

// search looks for an assignment of the asks of one group.
func (f fit) search(taken amounts, asks []ask, room func(quota.Cell) world.Amount, options func(ask) []string) (found, searched bool) {
	if f.tooMuch(asks, room, options) {
		return false, true
	}
	left := steps
	var try func(i int) bool
	try = func(i int) bool {
		if i == len(asks) {
			return true
		}
		a := asks[i]
		for _, name := range options(a) {
			if left--; left < 0 {
				return false
			}
			if !f.take(taken, a, name, room) {
				continue
			}
			if try(i + 1) {
				return true
			}
			for _, n := range a.needs {
				fr := world.FlavorResource{Flavor: name, Resource: n.Resource}
				taken[fr] = taken[fr].Sub(n.Amount)
			}
		}
		return false
	}
	found = try(0)
	return found, found || left >= 0
}

// tooMuch reports whether all asks together need more of a resource than all their
// flavors have, which needs no search.
func (f fit) tooMuch(asks []ask, room func(quota.Cell) world.Amount, options func(ask) []string) bool {
	if len(asks) < 2 {
		return false
	}
	var flavors []string
	need := map[string]world.Amount{}
	for _, a := range asks {
		for _, name := range options(a) {
			if !slices.Contains(flavors, name) {
				flavors = append(flavors, name)
			}
		}
		for _, n := range a.needs {
			need[n.Resource] = need[n.Resource].Add(n.Amount)
		}
	}
	for resource, n := range need {
		var have world.Amount
		for _, name := range flavors {
			c, _ := f.node.Cell(world.FlavorResource{Flavor: name, Resource: resource})
			have = have.Add(max(0, room(c)))
		}
		if n > have {
			return true
		}
	}
	return false
}

// take books the ask on the flavor if there is room for all of it.
func (f fit) take(taken amounts, a ask, flavor string, room func(quota.Cell) world.Amount) bool {
	if !f.fits(taken, a, flavor, room) {
		return false
	}
	for _, n := range a.needs {
		fr := world.FlavorResource{Flavor: flavor, Resource: n.Resource}
		taken[fr] = taken[fr].Add(n.Amount)
	}
	return true
}

// fits reports whether there is room for all of the ask beside what is taken.
func (f fit) fits(taken amounts, a ask, flavor string, room func(quota.Cell) world.Amount) bool {
	for _, n := range a.needs {
		fr := world.FlavorResource{Flavor: flavor, Resource: n.Resource}
		c, _ := f.node.Cell(fr)
		if taken[fr].Add(n.Amount) > room(c) {
			return false
		}
	}
	return true
}

// free is what may be taken now, potential what could ever be.
func free(c quota.Cell) world.Amount      { return max(0, c.Available) }
func potential(c quota.Cell) world.Amount { return c.Potential }

func serving(a ask) []string { return a.serve }

// everything is also the flavors that refuse for another reason than quota.
func everything(a ask) []string {
	out := slices.Clone(a.serve)
	for _, r := range a.refused {
		out = append(out, r.flavor)
	}
	return out
}
