package ui

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// workloadOrder is an order of Workloads.
type workloadOrder uint8

const (
	// byState: pending, evicting, reserving, admitted, deactivated, finished; in
	// each the highest priority first, then the oldest.
	byState workloadOrder = iota
	byOldest
	byNewest
	byJobName
	workloadOrders
)

func (o workloadOrder) String() string {
	return [...]string{"state, priority, age", "oldest", "newest", "namespace and job"}[o]
}

var stateRank = [...]int{world.Pending: 0, world.Evicting: 1, world.Reserving: 2, world.Admitted: 3, world.Deactivated: 4, world.Finished: 5}

func (o workloadOrder) compare(a, b *world.Workload) int {
	c := 0
	switch o {
	case byState:
		c = cmp.Or(cmp.Compare(stateRank[a.State], stateRank[b.State]), cmp.Compare(b.Priority, a.Priority), a.Created.Compare(b.Created))
	case byOldest:
		c = a.Created.Compare(b.Created)
	case byNewest:
		c = b.Created.Compare(a.Created)
	case byJobName:
		c = cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.JobName(), b.JobName()))
	}
	if c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// term is one word of a filter.
type filterTerm struct {
	field string // ns, queue, state, job or name; empty: any
	text  string
	not   bool
}

// parseFilter reads a filter: words that must all be found; "!word" must not;
// "ns:", "queue:", "state:", "job:" and "name:" look in one field only.
func parseFilter(s string) []filterTerm {
	var out []filterTerm
	for w := range strings.FieldsSeq(strings.ToLower(s)) {
		t := filterTerm{text: w}
		if rest, ok := strings.CutPrefix(w, "!"); ok {
			t.not, t.text = true, rest
		}
		if k, v, ok := strings.Cut(t.text, ":"); ok && slices.Contains([]string{"ns", "queue", "state", "job", "name"}, k) {
			t.field, t.text = k, v
		}
		if t.text != "" {
			out = append(out, t)
		}
	}
	return out
}

// listing is the answer to a filter and order.
type listing struct {
	// of, filter and order are what it answers.
	of     *store.Snapshot
	filter string
	order  workloadOrder
	rows   []*world.Workload
	// fuzzy says that nothing had the words and the rows are those that resemble
	// them.
	fuzzy bool
}

// listWorkloads filters and sorts. It may take a while and is called outside the
// drawing loop. last is an earlier answer, or the zero value: where it is to the
// same question, only the rows that changed since are looked at.
func listWorkloads(last listing, s *store.Snapshot, filter string, o workloadOrder) listing {
	terms := parseFilter(filter)
	l := listing{of: s, filter: filter, order: o}
	if last.of != nil && last.filter == filter && last.order == o && !last.fuzzy && len(last.rows) > 0 && same(last.of.LocalQueues, s.LocalQueues) {
		if rows, ok := amended(last, s, terms); ok {
			l.rows = rows
			return l
		}
	}
	if len(terms) == 0 {
		l.rows = slices.Clone(s.Workloads)
	} else {
		l.rows = matching(s, terms)
		if len(l.rows) == 0 {
			l.rows, l.fuzzy = resembling(s, terms), true
		}
	}
	slices.SortFunc(l.rows, o.compare)
	return l
}

// amended is the list of last with the rows that came and went since. ok is false
// when nothing is left, which asks for another kind of answer.
func amended(last listing, s *store.Snapshot, terms []filterTerm) (rows []*world.Workload, ok bool) {
	gone, come := changes(last.of.Workloads, s.Workloads)
	var fresh []*world.Workload
	for _, w := range come {
		if queue, _ := s.QueueOf(w); all(terms, w, queue) {
			fresh = append(fresh, w)
		}
	}
	slices.SortFunc(fresh, last.order.compare)
	rows = make([]*world.Workload, 0, len(last.rows)+len(fresh))
	for _, w := range last.rows {
		if gone[w] {
			continue
		}
		for len(fresh) > 0 && last.order.compare(fresh[0], w) < 0 {
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

func matching(s *store.Snapshot, terms []filterTerm) []*world.Workload {
	var out []*world.Workload
	for _, w := range s.Workloads {
		queue, _ := s.QueueOf(w)
		if all(terms, w, queue) {
			out = append(out, w)
		}
	}
	return out
}

func all(terms []filterTerm, w *world.Workload, queue string) bool {
	for _, t := range terms {
		if t.in(w, queue) == t.not {
			return false
		}
	}
	return true
}

func (t filterTerm) in(w *world.Workload, queue string) bool {
	switch t.field {
	case "ns":
		return strings.Contains(w.Namespace, t.text)
	case "queue":
		return strings.Contains(w.LocalQueue, t.text) || strings.Contains(queue, t.text)
	case "state":
		return strings.HasPrefix(w.State.String(), t.text)
	case "job":
		return strings.Contains(w.JobName(), t.text)
	case "name":
		return strings.Contains(w.Name, t.text)
	}
	if before, after, ok := strings.Cut(t.text, "/"); ok && strings.HasSuffix(w.Namespace, before) &&
		(strings.HasPrefix(w.JobName(), after) || strings.HasPrefix(w.Name, after)) {
		return true
	}
	return strings.Contains(w.JobName(), t.text) || strings.Contains(w.Name, t.text) || strings.Contains(w.Namespace, t.text) ||
		strings.Contains(w.LocalQueue, t.text) || strings.Contains(queue, t.text) || strings.HasPrefix(w.State.String(), t.text)
}

// resembling finds rows whose letters hold those of the plain words in order.
// The other terms hold as they are.
func resembling(s *store.Snapshot, terms []filterTerm) []*world.Workload {
	var strict []filterTerm
	var loose []string
	for _, t := range terms {
		if t.field != "" || t.not {
			strict = append(strict, t)
			continue
		}
		loose = append(loose, t.text)
	}
	if len(loose) == 0 {
		return nil
	}
	h := haystack{s, matching(s, strict)}
	out := make([]*world.Workload, 0)
	for _, m := range fuzzy.FindFromNoSort(strings.Join(loose, " "), h) {
		out = append(out, h.rows[m.Index])
	}
	return out
}

// haystack is what sahilm/fuzzy searches.
type haystack struct {
	s    *store.Snapshot
	rows []*world.Workload
}

func (h haystack) Len() int { return len(h.rows) }

func (h haystack) String(i int) string {
	w := h.rows[i]
	queue, _ := h.s.QueueOf(w)
	return w.Namespace + "/" + w.JobName() + " " + w.Name + " " + w.LocalQueue + " " + queue + " " + w.State.String()
}
