package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
)

// workloadFields are what a filter of Workloads may name.
func workloadFields() []string {
	return []string{"ns", "queue", "cohort", "state", "class", "advice", "prio", "job", "name"}
}

// explained are the fields that need every Workload explained, which takes seconds
// where there are very many, and which other objects have a say in.
func explained(q filter.Query) bool { return q.Names("class") || q.Names("advice") }

// samePlaces reports that no other object moved a Workload in the list.
func samePlaces(a, b *store.Snapshot, q filter.Query) bool {
	return same(a.LocalQueues, b.LocalQueues) && (!q.Names("cohort") || same(a.ClusterQueues, b.ClusterQueues) && same(a.Cohorts, b.Cohorts))
}

var stateRank = [...]int{world.Pending: 0, world.Evicting: 1, world.Reserving: 2, world.Admitted: 3, world.Deactivated: 4, world.Finished: 5}

// workloadsByNeed is the own order of Workloads: pending, evicting, reserving, admitted,
// deactivated, finished; in each the highest priority first, then the oldest.
func workloadsByNeed(a, b *world.Workload) int {
	return cmp.Or(cmp.Compare(stateRank[a.State], stateRank[b.State]), cmp.Compare(b.Priority, a.Priority), a.Created.Compare(b.Created))
}

// compareWorkloads is the comparison of the order, with the name to tell equals apart.
func compareWorkloads(l look, o order) func(a, b *world.Workload) int {
	by := compares(workloadColumns(), l, o)
	if by == nil {
		by = workloadsByNeed
		if o.turned {
			by = func(a, b *world.Workload) int { return workloadsByNeed(b, a) }
		}
	}
	return func(a, b *world.Workload) int {
		return cmp.Or(by(a, b), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}
}

// listWorkloads filters and sorts. Where last answers the same question, only the rows
// that changed since are looked at.
func listWorkloads(last listing[*world.Workload], l look, q filter.Query, o order) listing[*world.Workload] {
	s := l.snap
	out := listing[*world.Workload]{of: s, query: q, order: o, all: len(s.Workloads)}
	compare, has := compareWorkloads(l, o), workloadHas(l)
	if last.of != nil && last.query.Text == q.Text && last.order == o && !last.fuzzy && len(last.rows) > 0 && !explained(q) && samePlaces(last.of, s, q) {
		if rows, ok := amended(last, l, q, compare, has); ok {
			out.rows = rows
			return out
		}
	}
	if q.Empty() {
		out.rows = slices.Clone(s.Workloads)
	} else {
		out.rows, out.fuzzy = sift(s.Workloads, q, has, workloadLetters(l))
	}
	slices.SortFunc(out.rows, compare)
	return out
}

// workloadHas begins to look into Workloads.
func workloadHas(l look) func(w *world.Workload, field, text string) bool {
	var explain func(*world.Workload) reason.Explanation
	why := func(w *world.Workload) reason.Explanation {
		if explain == nil {
			explain = l.explain(l.snap, l.now)
		}
		return explain(w)
	}
	return func(w *world.Workload, field, text string) bool {
		queue, _ := l.snap.QueueOf(w)
		switch field {
		case "ns":
			return filter.Holds(w.Namespace, text)
		case "queue":
			return filter.Holds(w.LocalQueue, text) || filter.Holds(queue, text)
		case "cohort":
			return belowCohort(l.snap, queue, text)
		case "state":
			return strings.HasPrefix(w.State.String(), text)
		case "prio":
			return w.PriorityClass == text || strconv.Itoa(int(w.Priority)) == text
		case "job":
			return filter.Holds(w.JobName(), text)
		case "name":
			return filter.Holds(w.Name, text)
		case "class":
			return strings.HasPrefix(strings.ToLower(string(why(w).Class)), text)
		case "advice":
			return strings.HasPrefix(string(why(w).Advice), text)
		}
		if before, after, ok := strings.Cut(text, "/"); ok && strings.HasSuffix(w.Namespace, before) &&
			(strings.HasPrefix(w.JobName(), after) || strings.HasPrefix(w.Name, after)) {
			return true
		}
		return strings.Contains(w.JobName(), text) || strings.Contains(w.Name, text) || strings.Contains(w.Namespace, text) ||
			strings.Contains(w.LocalQueue, text) || strings.Contains(queue, text) || strings.HasPrefix(w.State.String(), text)
	}
}

// belowCohort reports whether the text of a filter finds a cohort above the ClusterQueue.
func belowCohort(s *store.Snapshot, clusterQueue, text string) bool {
	n := s.Tree.ClusterQueue(clusterQueue)
	if n == nil {
		return false
	}
	if n.Cycle != nil { // its cohorts have no end
		q := s.ClusterQueue(clusterQueue)
		return q != nil && filter.Holds(q.Cohort, text)
	}
	for c := n.Parent; c != nil; c = c.Parent {
		if filter.Holds(c.Name, text) {
			return true
		}
	}
	return false
}

func workloadLetters(l look) func(*world.Workload) string {
	return func(w *world.Workload) string {
		queue, _ := l.snap.QueueOf(w)
		return w.Namespace + "/" + w.JobName() + " " + w.Name + " " + w.LocalQueue + " " + queue + " " + w.State.String()
	}
}

// amended is the list of last with the rows that came and went since. ok is false
// when nothing is left, which asks for another kind of answer.
func amended(last listing[*world.Workload], l look, q filter.Query, compare func(a, b *world.Workload) int, has func(w *world.Workload, field, text string) bool) (rows []*world.Workload, ok bool) {
	gone, come := changes(last.of.Workloads, l.snap.Workloads)
	var fresh []*world.Workload
	for _, w := range come {
		if q.Match(func(field, text string) bool { return has(w, field, text) }) {
			fresh = append(fresh, w)
		}
	}
	slices.SortFunc(fresh, compare)
	rows = make([]*world.Workload, 0, len(last.rows)+len(fresh))
	for _, w := range last.rows {
		if gone[w] {
			continue
		}
		for len(fresh) > 0 && compare(fresh[0], w) < 0 {
			rows, fresh = append(rows, fresh[0]), fresh[1:]
		}
		rows = append(rows, w)
	}
	rows = append(rows, fresh...)
	return rows, len(rows) > 0
}

// changes compares two lists that are sorted by key: the rows that are only in
// the one, and those only in the other. Rows never change, so a changed one is
// in both results.
func changes(before, after []*world.Workload) (gone map[*world.Workload]bool, come []*world.Workload) {
	gone = map[*world.Workload]bool{}
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(before) > 0 && len(after) > 0 && before[0] == after[0]:
			before, after = before[1:], after[1:]
		case len(after) == 0 || len(before) > 0 && !after[0].Key.Less(before[0].Key):
			gone[before[0]] = true
			before = before[1:]
		default:
			come = append(come, after[0])
			after = after[1:]
		}
	}
	return gone, come
}
