package ui

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// flavorState is what is to be said first of a flavor; the least needs a person most.
type flavorState uint8

const (
	flavorMissing    flavorState = iota // named, and there is no such object
	flavorNoTopology                    // its Topology does not exist
	flavorUnknown                       // whether it exists, or is used, cannot be read
	flavorUsed
	flavorUnused
)

// String is the word in the column of states.
func (s flavorState) String() string {
	return [...]string{"missing", "no topology", "?", "used", "unused"}[s]
}

// flavorRow is a ResourceFlavor, or the name of one that there is not, with all that
// hangs on it. flavor is nil where there is no object.
type flavorRow struct {
	name   string
	flavor *world.Flavor
	state  flavorState
	uses   []flavorUse // by ClusterQueue
	lent   []flavorUse // by Cohort that has quota of it itself
	sums   []flavorSum
	// loads is the number of Workloads that hold quota of it.
	loads int
}

// flavorUse is what a ClusterQueue or Cohort has to do with a flavor.
type flavorUse struct {
	of world.Ref
	// named says that the spec has the flavor; where not, Workloads still hold some.
	named bool
	cells []quota.Cell
	// torn says that the queue is in a cycle of cohorts: what is used is not known.
	torn  bool
	loads int
}

// flavorSum is a resource of a flavor summed over all ClusterQueues and Cohorts.
type flavorSum struct {
	resource                    string
	nominal, reserved, admitted world.Amount
	torn                        bool
}

func (r flavorRow) ref() world.Ref {
	if r.flavor != nil {
		return r.flavor.Ref()
	}
	return world.Ref{Kind: world.KindResourceFlavor, Key: world.Key{Name: r.name}}
}

func (r flavorRow) there() bool { return r.flavor != nil }

// queues counts the ClusterQueues that name it.
func (r flavorRow) queues() int {
	n := 0
	for _, u := range r.uses {
		if u.named {
			n++
		}
	}
	return n
}

var flavorKinds = []world.Kind{world.KindResourceFlavor, world.KindClusterQueue, world.KindCohort, world.KindWorkload, world.KindTopology}

func sameFlavors(a, b *store.Snapshot) bool {
	return same(a.Flavors, b.Flavors) && same(a.ClusterQueues, b.ClusterQueues) && same(a.Cohorts, b.Cohorts) &&
		same(a.Workloads, b.Workloads) && same(a.Topologies, b.Topologies) && sameKnown(a, b, flavorKinds...)
}

// flavorRows joins the flavors with what uses them, in one pass over all that there is.
func flavorRows(l look) []flavorRow {
	s := l.snap
	rows := map[string]*flavorRow{}
	row := func(name string) *flavorRow {
		if rows[name] == nil {
			rows[name] = &flavorRow{name: name}
		}
		return rows[name]
	}
	for _, f := range s.Flavors {
		row(f.Name).flavor = f
	}
	holders := flavorHolders(s)
	for k, n := range holders {
		row(k.flavor).loads += n
	}
	stuck := map[string]bool{}
	for _, q := range s.ClusterQueues {
		for _, f := range reason.MissingTopologies(s, q) {
			stuck[f.Name] = true
		}
		for name, u := range usesIn(s, q) {
			u.loads = holders[holder{name, q.Name}]
			r := row(name)
			r.uses = append(r.uses, u)
		}
	}
	for _, c := range s.Cohorts {
		for name, cells := range byFlavor(specCells(c.Quotas)) {
			r := row(name)
			r.lent = append(r.lent, flavorUse{of: c.Ref(), named: true, cells: cells})
		}
	}
	_, listed := knownKind(s, world.KindResourceFlavor)
	_, read := knownKind(s, world.KindClusterQueue)
	_, readToo := knownKind(s, world.KindCohort)
	out := make([]flavorRow, 0, len(rows))
	for _, r := range rows {
		r.sums = sumsOf(append(slices.Clone(r.uses), r.lent...))
		switch {
		case r.flavor == nil && !listed:
			r.state = flavorUnknown
		case r.flavor == nil:
			r.state = flavorMissing
		case stuck[r.name]:
			r.state = flavorNoTopology
		case len(r.uses)+len(r.lent)+r.loads > 0:
			r.state = flavorUsed
		case !read || !readToo:
			r.state = flavorUnknown
		default:
			r.state = flavorUnused
		}
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b flavorRow) int { return cmp.Or(cmp.Compare(a.state, b.state), cmp.Compare(a.name, b.name)) })
	return out
}

// holder is a flavor in a ClusterQueue.
type holder struct{ flavor, queue string }

// flavorHolders counts the Workloads that hold quota of a flavor, each once.
func flavorHolders(s *store.Snapshot) map[holder]int {
	out := map[holder]int{}
	for _, w := range s.Workloads {
		if !w.HoldsQuota() {
			continue
		}
		for i, u := range w.Usage {
			if !slices.ContainsFunc(w.Usage[:i], func(x world.Use) bool { return x.Flavor == u.Flavor }) {
				out[holder{u.Flavor, w.ClusterQueue}]++
			}
		}
	}
	return out
}

// usesIn is what the ClusterQueue has to do with each flavor.
func usesIn(s *store.Snapshot, q *world.ClusterQueue) map[string]flavorUse {
	var cells []quota.Cell
	torn := true
	if n := s.Tree.ClusterQueue(q.Name); n != nil && n.Cycle == nil {
		cells, torn = n.Cells, false
	} else {
		cells = specCells(q.Quotas)
	}
	out := map[string]flavorUse{}
	for name, cells := range byFlavor(cells) {
		out[name] = flavorUse{of: q.Ref(), cells: cells, torn: torn}
	}
	for _, name := range q.Flavors() {
		u := out[name]
		u.of, u.named, u.torn = q.Ref(), true, torn
		out[name] = u
	}
	return out
}

// specCells are the cells of a spec, of which nothing is said to be used.
func specCells(quotas []world.Quota) []quota.Cell {
	at := map[world.FlavorResource]quota.Cell{}
	for i := range quotas { // named twice: the last one counts, as in Kueue
		at[quotas[i].FlavorResource] = quota.Cell{FlavorResource: quotas[i].FlavorResource, InSpec: true, Nominal: quotas[i].Nominal}
	}
	return slices.SortedFunc(maps.Values(at), func(a, b quota.Cell) int { return cmp.Compare(a.Resource, b.Resource) })
}

func byFlavor(cells []quota.Cell) map[string][]quota.Cell {
	out := map[string][]quota.Cell{}
	for _, c := range cells {
		out[c.Flavor] = append(out[c.Flavor], c)
	}
	return out
}

// sumsOf adds the cells up by resource.
func sumsOf(uses []flavorUse) []flavorSum {
	at := map[string]flavorSum{}
	for _, u := range uses {
		for _, c := range u.cells {
			x := at[c.Resource]
			x.resource, x.torn = c.Resource, x.torn || u.torn
			x.nominal, x.reserved, x.admitted = x.nominal.Add(c.Nominal), x.reserved.Add(c.Reserved), x.admitted.Add(c.Admitted)
			at[c.Resource] = x
		}
	}
	return slices.SortedFunc(maps.Values(at), func(a, b flavorSum) int { return compareResources(a.resource, b.resource) })
}

// compareResources puts those first that are scarce: devices before what every node has.
func compareResources(a, b string) int {
	common := func(r string) int {
		if strings.Contains(r, "/") {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(common(a), common(b)), cmp.Compare(a, b))
}
