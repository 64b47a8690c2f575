package ui

import (
	"cmp"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// queueRow is a ClusterQueue, or a LocalQueue beneath its own; one of the two is
// set.
type queueRow struct {
	cluster *world.ClusterQueue
	local   *world.LocalQueue
}

func (r queueRow) ref() world.Ref {
	if r.cluster != nil {
		return r.cluster.Ref()
	}
	return r.local.Ref()
}

// queues lists ClusterQueues with their LocalQueues.
type queues = board[world.Ref, queueRow]

func newQueues() queues {
	return newBoard(&sheet[world.Ref, queueRow]{
		name: "Queues", noun: "queue", own: "need", of: []world.Kind{world.KindClusterQueue, world.KindLocalQueue},
		columns: queueColumns(), fields: []string{"ns", "name", "cohort", "state", "strategy"}, none: "There are no ClusterQueues and no LocalQueues.",
		key: queueRow.ref, list: listQueues,
		same: func(a, b *store.Snapshot, _ filter.Query) bool { return a.Seq == b.Seq },
		now:  queueNow,
		alive: func(e Env, r world.Ref) bool {
			_, _, ok := policyOf(e, r)
			return ok
		},
		cells: queueCells, strip: queueStrip, pane: queuePane,
		open: func(_ Env, r queueRow) Intent { return push{newQueue(r.ref())} }, yaml: true,
		keys: func(s queues) []Binding {
			if s.marking() {
				return severalActions(s, "queue", marked(s, queueRow.ref), queueRefusal, actions.Hold, actions.Resume, actions.Drain)
			}
			return queueActions(s, func(Env) (world.Ref, string) {
				r, why := s.picked()
				if why != "" {
					return world.Ref{}, why
				}
				return r.ref(), ""
			})
		},
		total: func(e Env) string {
			n := func(k world.Kind, n int) string {
				if word, ok := known(e, k); !ok {
					return word
				}
				return count(n)
			}
			return n(world.KindClusterQueue, len(e.Snap.ClusterQueues)) + " ClusterQueues, " + n(world.KindLocalQueue, len(e.Snap.LocalQueues)) + " LocalQueues"
		},
	})
}

// queueNow is the queue as it is now.
func queueNow(e Env, r queueRow) (queueRow, bool) {
	if r.cluster != nil {
		q := e.Snap.ClusterQueue(r.cluster.Name)
		if q == nil || q.UID != r.cluster.UID {
			return r, true
		}
		return queueRow{cluster: q}, false
	}
	q := e.Snap.LocalQueue(r.local.Key)
	if q == nil || q.UID != r.local.UID {
		return r, true
	}
	return queueRow{local: q}, false
}

func queueColumns() []column[queueRow] {
	counted := func(n func(store.Counts) int) func(look) func(a, b queueRow) int {
		return func(l look) func(a, b queueRow) int {
			return func(a, b queueRow) int { return cmp.Compare(n(countsOf(l.snap, a)), n(countsOf(l.snap, b))) }
		}
	}
	cluster := func(f func(*world.ClusterQueue) string) func(look) func(a, b queueRow) int {
		return by(func(r queueRow) string {
			if r.cluster == nil {
				return ""
			}
			return f(r.cluster)
		})
	}
	return []column[queueRow]{
		{Column: table.Column{Title: "CLUSTERQUEUE / LOCAL", Min: 20, Max: 44}, compare: by(func(r queueRow) string { return r.ref().Key.String() })},
		{Column: table.Column{Title: "COHORT", Min: 8, Max: 20, Drop: 4}, compare: cluster(func(q *world.ClusterQueue) string { return q.Cohort })},
		{Column: table.Column{Title: "STATE", Min: 10}},
		{Column: table.Column{Title: "STRATEGY", Min: 14, Max: 14, Drop: 3}, compare: cluster(func(q *world.ClusterQueue) string { return q.Strategy })},
		{Column: table.Column{Title: "PENDING", Right: true, Min: 7, Max: 9}, compare: counted(func(c store.Counts) int { return c.Pending }), falling: true},
		{Column: table.Column{Title: "RESERVING", Right: true, Min: 9, Max: 9, Drop: 5}, compare: counted(func(c store.Counts) int { return c.Reserving }), falling: true},
		{Column: table.Column{Title: "ADMITTED", Right: true, Min: 8, Max: 9, Drop: 2}, compare: counted(func(c store.Counts) int { return c.Admitted }), falling: true},
		{Column: table.Column{Title: "", Min: 26, Max: 80, Grow: 1, Drop: 1}},
	}
}

// stateColumn is the first column of what a queue is and has now.
const stateColumn = 2

func countsOf(s *store.Snapshot, r queueRow) store.Counts {
	if r.cluster != nil {
		return s.CountsOf(r.cluster.Name)
	}
	return s.CountsOfLocal(r.local.Key)
}

// listQueues lists ClusterQueues in the order, each with its LocalQueues in theirs; a
// filter keeps a ClusterQueue of which it keeps a LocalQueue. LocalQueues of
// ClusterQueues that are not known come last.
func listQueues(_ listing[queueRow], l look, q filter.Query, o order) listing[queueRow] {
	s := l.snap
	out := listing[queueRow]{of: s, query: q, order: o, all: len(s.ClusterQueues) + len(s.LocalQueues)}
	flat := make([]queueRow, 0, out.all)
	for _, cq := range s.ClusterQueues {
		flat = append(flat, queueRow{cluster: cq})
	}
	for _, lq := range s.LocalQueues {
		flat = append(flat, queueRow{local: lq})
	}
	var kept []queueRow
	kept, out.fuzzy = sift(flat, q, queueHas(s), func(r queueRow) string { return r.ref().Key.String() })
	var tops []queueRow
	beneath, there := map[string][]queueRow{}, map[string]bool{}
	for _, r := range kept {
		name := ""
		if r.cluster != nil {
			name = r.cluster.Name
		} else if name = r.local.ClusterQueue; s.ClusterQueue(name) != nil {
			beneath[name] = append(beneath[name], r)
		} else {
			continue
		}
		if cq := s.ClusterQueue(name); !there[name] {
			there[name] = true
			tops = append(tops, queueRow{cluster: cq})
		}
	}
	compare := compares(queueColumns(), l, o)
	own := compare == nil
	if own {
		compare = func(a, b queueRow) int {
			c := cmp.Or(cmp.Compare(need(s, a.cluster), need(s, b.cluster)), cmp.Compare(a.cluster.Name, b.cluster.Name))
			if o.turned {
				return -c
			}
			return c
		}
	}
	slices.SortStableFunc(tops, compare)
	for _, top := range tops {
		out.rows = append(out.rows, top)
		locals := beneath[top.cluster.Name]
		if !own {
			slices.SortStableFunc(locals, compare)
		}
		out.rows = append(out.rows, locals...)
	}
	for _, r := range kept {
		if r.local != nil && s.ClusterQueue(r.local.ClusterQueue) == nil {
			out.rows = append(out.rows, r)
		}
	}
	return out
}

func queueHas(s *store.Snapshot) func(r queueRow, field, text string) bool {
	return func(r queueRow, field, text string) bool {
		top, state := "", stateWord(s, r)
		if r.cluster != nil {
			top = r.cluster.Name
		} else {
			top = r.local.ClusterQueue
		}
		switch field {
		case "ns":
			return filter.Holds(r.ref().Namespace, text)
		case "name":
			return filter.Holds(r.ref().Name, text)
		case "cohort":
			return belowCohort(s, top, text)
		case "state":
			return strings.HasPrefix(state, text)
		case "strategy":
			return r.cluster != nil && strings.Contains(strings.ToLower(r.cluster.Strategy), text)
		}
		return strings.Contains(r.ref().Key.String(), text) || strings.HasPrefix(state, text) || r.cluster != nil && strings.Contains(r.cluster.Cohort, text)
	}
}

// need ranks what a person should look at: the least first.
func need(s *store.Snapshot, q *world.ClusterQueue) int {
	switch {
	case !q.StopPolicy.Stopped() && closed(s, q), cycleOf(s, q.Name) != nil:
		return 0
	case q.StopPolicy.Stopped(), q.Hold != nil:
		return 1
	}
	return 2
}

// queueCells are the queue's cells.
func queueCells(e Env, r queueRow, gone bool) []table.Cell {
	var cells []table.Cell
	if q := r.cluster; q != nil {
		text, role := clusterNote(e, q)
		cells = append([]table.Cell{{Text: q.Name, Role: theme.Strong}, {Text: q.Cohort}, clusterState(e.Snap, q), {Text: q.Strategy}},
			counts(e, e.Snap.CountsOf(q.Name))...)
		cells = append(cells, withOwner(text, role, q.ManagedBy))
	} else {
		q := r.local
		text, role := queueNote(e, q.Meta, q.StopPolicy, q.Hold, q.Conditions)
		indent := "  "
		if e.Snap.ClusterQueue(q.ClusterQueue) == nil {
			indent = "" // it belongs to none of the queues above it
		}
		above, r, state := localState(e.Snap, q)
		if above != "" {
			text, role = above, r
		}
		cells = append([]table.Cell{{Text: indent + q.Key.String()}, {}, state, {}},
			counts(e, e.Snap.CountsOfLocal(q.Key))...)
		cells = append(cells, withOwner(text, role, q.ManagedBy))
	}
	if gone {
		// A later object of its name may have some; it has nothing any more.
		for i := stateColumn; i < len(cells); i++ {
			cells[i] = table.Cell{}
		}
		cells[len(cells)-1] = table.Cell{Text: "does not exist any more"}
	}
	return cells
}

// queuePane is the page of the queue, without what has to be read for it.
func queuePane(e Env, r queueRow, _ int) []string {
	s, p := newQueue(r.ref()), newPaper(e)
	p.raw(e.Theme.Paint(theme.Strong, object(r.ref())))
	p.gap()
	if r.cluster != nil {
		s.clusterBody(p, r.cluster)
	} else {
		s.localBody(p, r.local)
	}
	return p.plainLines()
}

// queueStrip says all about the queue under the cursor.
func queueStrip(e Env, r queueRow, gone bool) strip {
	cells := queueCells(e, r, gone)
	last := cells[len(cells)-1]
	out := strip{head: object(r.ref()), text: last.Text, role: last.Role}
	switch {
	case r.local != nil:
		out.tail = " " + e.Theme.Glyph.Arrow + " " + r.local.ClusterQueue
	case r.cluster.Cohort != "":
		out.tail = " in cohort " + r.cluster.Cohort
	}
	if r.cluster != nil {
		out.tail += ", " + r.cluster.Strategy
	}
	return out
}
