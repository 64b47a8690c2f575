package ui

import (
	"cmp"
	"maps"
	"slices"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// classState is what is to be said first of a priority class.
type classState uint8

const (
	classMissing classState = iota // named, and there is no such object
	classUnknown                   // whether it exists, or is used, cannot be read
	classUsed
	classUnused
)

// String is the word in the column of states.
func (s classState) String() string { return [...]string{"missing", "?", "used", "unused"}[s] }

// classRow is a WorkloadPriorityClass, a PriorityClass that Workloads have, or the name
// of one that there is not. meta is nil where there is no object.
type classRow struct {
	kind  world.Kind
	name  string
	meta  *world.Meta
	value int32
	state classState
	// The Workloads that have it and are not over: pending, holding quota, deactivated.
	pending, running, off int
	queues                []classUse
	// odd are those of them whose priority is not the value.
	odd []*world.Workload
}

// classUse are the Workloads of a class in a ClusterQueue; the name is empty for those
// whose LocalQueue is not known.
type classUse struct {
	queue            string
	pending, running int
}

func (r classRow) ref() world.Ref {
	out := world.Ref{Kind: r.kind, Key: world.Key{Name: r.name}}
	if r.meta != nil {
		out.UID = r.meta.UID
	}
	return out
}

func (r classRow) there() bool { return r.meta != nil }

var classKinds = []world.Kind{world.KindWorkloadPriorityClass, world.KindPriorityClass}

func sameClasses(a, b *store.Snapshot) bool {
	return same(a.PriorityClasses, b.PriorityClasses) && same(a.PodPriorityClasses, b.PodPriorityClasses) &&
		same(a.Workloads, b.Workloads) && same(a.LocalQueues, b.LocalQueues) &&
		sameKnown(a, b, world.KindWorkloadPriorityClass, world.KindPriorityClass, world.KindWorkload, world.KindLocalQueue)
}

// classRows joins the classes with the Workloads that have them, in one pass over these.
func classRows(l look) []classRow {
	s := l.snap
	type key struct {
		kind world.Kind
		name string
	}
	rows, queues := map[key]*classRow{}, map[key]map[string]*classUse{}
	for _, p := range s.PriorityClasses {
		rows[key{world.KindWorkloadPriorityClass, p.Name}] = &classRow{kind: world.KindWorkloadPriorityClass, name: p.Name, meta: &p.Meta, value: p.Value}
	}
	for _, w := range s.Workloads {
		k := key{w.PriorityKind, w.PriorityClass}
		if k.name == "" || w.State == world.Finished || !slices.Contains(classKinds, k.kind) {
			continue
		}
		r := rows[k]
		if r == nil {
			r = namedClass(s, k.kind, k.name)
			rows[k] = r
		}
		if queues[k] == nil {
			queues[k] = map[string]*classUse{}
		}
		q, _ := s.QueueOf(w)
		u := queues[k][q]
		if u == nil {
			u = &classUse{queue: q}
			queues[k][q] = u
		}
		r.take(u, w)
	}
	out := make([]classRow, 0, len(rows))
	for k, r := range rows {
		for _, name := range slices.Sorted(maps.Keys(queues[k])) {
			r.queues = append(r.queues, *queues[k][name])
		}
		r.settle(s)
		out = append(out, *r)
	}
	slices.SortFunc(out, classesByValue)
	return out
}

// namedClass is the row of a class that a Workload names and that is not listed.
func namedClass(s *store.Snapshot, kind world.Kind, name string) *classRow {
	r := &classRow{kind: kind, name: name}
	if p := s.PodPriorityClass(name); kind == world.KindPriorityClass && p != nil {
		r.meta, r.value = &p.Meta, p.Value
	}
	return r
}

// take counts a Workload of the class.
func (r *classRow) take(u *classUse, w *world.Workload) {
	switch w.State {
	case world.Pending:
		r.pending++
		u.pending++
	case world.Deactivated:
		r.off++
	default:
		r.running++
		u.running++
	}
	if r.meta != nil && w.Priority != r.value {
		r.odd = append(r.odd, w)
	}
}

func (r *classRow) settle(s *store.Snapshot) {
	_, listed := knownKind(s, r.kind)
	_, read := knownKind(s, world.KindWorkload)
	switch {
	case r.meta == nil && !listed:
		r.state = classUnknown
	case r.meta == nil:
		r.state = classMissing
	case r.pending+r.running+r.off > 0:
		r.state = classUsed
	case !read || s.Contract.Limit() != "":
		r.state = classUnknown
	default:
		r.state = classUnused
	}
}

// classesByValue is the own order: those that there are not, then the highest first.
func classesByValue(a, b classRow) int {
	none := func(r classRow) int {
		if r.meta == nil {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(none(a), none(b)), cmp.Compare(b.value, a.value), cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
}
