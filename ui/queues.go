package ui

import (
	"cmp"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
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

// queueOrder is an order of ClusterQueues; LocalQueues go with theirs, by name.
type queueOrder uint8

const (
	byNeed    queueOrder = iota // not active, held, the rest; each by name
	byPending                   // the most pending first
	byName
	queueOrders
)

func (o queueOrder) String() string {
	return [...]string{"need", "most pending", "name"}[o]
}

// queues lists ClusterQueues with their LocalQueues.
type queues struct {
	list  table.List[world.Ref, queueRow]
	order queueOrder
}

func newQueues() queues { return queues{list: table.NewList(queueRow.ref)} }

// Title is Screen's.
func (s queues) Title(e Env) (string, string) {
	n := func(k world.Kind, n int) string {
		if word, ok := known(e, k); !ok {
			return word
		}
		return count(n)
	}
	return "Queues", n(world.KindClusterQueue, len(e.Snap.ClusterQueues)) + " ClusterQueues, " +
		n(world.KindLocalQueue, len(e.Snap.LocalQueues)) + " LocalQueues, by " + s.order.String()
}

// Keys is Screen's.
func (s queues) Keys() []Binding {
	out := []Binding{
		{Keys: keys("enter", "right", "l"), Name: "open", Help: "open the queue", Run: s.enter},
		{Keys: keys("s"), Name: "sort", Help: "sort by what needs a person, most pending, or name", Run: s.sort},
	}
	out = append(out, queueActions(s, s.target)...)
	return append(out, moving(func(e Env, m table.Motion) Screen {
		s.list = s.list.Move(m, s.lines(e))
		return s
	})...)
}

func (s queues) lines(e Env) int { return max(1, e.H-1-stripHeight(e)-len(s.notes(e))) }

func (s queues) target(Env) (world.Ref, string) {
	row, gone, ok := s.list.Selected()
	switch {
	case !ok:
		return world.Ref{}, "there is no queue here"
	case gone:
		return world.Ref{}, row.ref().String() + " does not exist any more"
	}
	return row.ref(), ""
}

func (s queues) enter(Env) (Screen, Intent) {
	row, gone, ok := s.list.Selected()
	if !ok || gone {
		return s, nil
	}
	return s, push{newQueue(row.ref())}
}

func (s queues) sort(e Env) (Screen, Intent) {
	s.order = (s.order + 1) % queueOrders
	s.list = s.list.Reset(queueRows(e.Snap, s.order))
	return s, say{"sorted by " + s.order.String(), theme.Plain}
}

// Update is Screen's.
func (s queues) Update(e Env, m tea.Msg) (Screen, Intent) {
	if _, ok := m.(shownMsg); !ok {
		return s, nil
	}
	rows := queueRows(e.Snap, s.order)
	if _, synced := known(e, world.KindClusterQueue, world.KindLocalQueue); !synced && !s.list.Moved() {
		s.list = s.list.Reset(rows)
		return s, nil
	}
	s.list = s.list.Refresh(rows)
	return s, nil
}

// queueRows lists the queues in the order; LocalQueues of ClusterQueues that are
// not known come last.
func queueRows(s *store.Snapshot, o queueOrder) []queueRow {
	locals := map[string][]*world.LocalQueue{}
	for _, lq := range s.LocalQueues {
		locals[lq.ClusterQueue] = append(locals[lq.ClusterQueue], lq)
	}
	cqs := slices.Clone(s.ClusterQueues)
	slices.SortStableFunc(cqs, func(a, b *world.ClusterQueue) int {
		switch o {
		case byNeed:
			return cmp.Compare(need(s, a), need(s, b))
		case byPending:
			return cmp.Compare(s.CountsOf(b.Name).Pending, s.CountsOf(a.Name).Pending)
		}
		return 0
	})
	out := make([]queueRow, 0, len(cqs)+len(s.LocalQueues))
	for _, q := range cqs {
		out = append(out, queueRow{cluster: q})
		for _, lq := range locals[q.Name] {
			out = append(out, queueRow{local: lq})
		}
	}
	for _, lq := range s.LocalQueues {
		if s.ClusterQueue(lq.ClusterQueue) == nil {
			out = append(out, queueRow{local: lq})
		}
	}
	return out
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

// notes are the lines above the table.
func (s queues) notes(e Env) []string {
	var out []string
	for _, k := range []world.Kind{world.KindClusterQueue, world.KindLocalQueue} {
		if word, gone := absence(e, k); gone {
			out = append(out, " "+e.Theme.Paint(theme.Warn, word))
		}
	}
	return out
}

var queueColumns = []table.Column{
	{Title: "CLUSTERQUEUE / LOCAL", Min: 20, Max: 44},
	{Title: "COHORT", Min: 8, Max: 20, Drop: 4},
	{Title: "STATE", Min: 10},
	{Title: "STRATEGY", Min: 14, Max: 14, Drop: 3},
	{Title: "PENDING", Right: true, Min: 7, Max: 9},
	{Title: "RESERVING", Right: true, Min: 9, Max: 9, Drop: 5},
	{Title: "ADMITTED", Right: true, Min: 8, Max: 9, Drop: 2},
	{Title: "", Min: 26, Max: 80, Grow: 1, Drop: 1},
}

// View is Screen's.
func (s queues) View(e Env) []string {
	notes := s.notes(e)
	if s.list.Len() == 0 {
		if len(notes) == 0 {
			notes = []string{" There are no ClusterQueues and no LocalQueues."}
		}
		return notes
	}
	from, to := s.list.Window(s.lines(e))
	rows := make([]table.Row, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, s.row(e, s.list.At(i), s.list.Gone(i)))
	}
	return withStrip(e, append(notes, table.Draw(e.Theme, queueColumns, rows, s.list.Cursor()-from, e.W)...), s.strip(e))
}

// strip says all about the queue under the cursor.
func (s queues) strip(e Env) strip {
	r, gone, _ := s.list.Selected()
	row := s.row(e, r, gone)
	last := row.Cells[len(row.Cells)-1]
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

func (s queues) row(e Env, r queueRow, gone bool) table.Row {
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
		state := stateCell(q.Meta, q.StopPolicy, q.Conditions)
		if above, r := aboveNote(e, q); above != "" && text == "" {
			text, role, state = above, r, table.Cell{Text: "blocked", Role: r}
		}
		cells = append([]table.Cell{{Text: indent + q.Key.String()}, {}, state, {}},
			counts(e, e.Snap.CountsOfLocal(q.Key))...)
		cells = append(cells, withOwner(text, role, q.ManagedBy))
	}
	if gone {
		cells[len(cells)-1] = table.Cell{Text: "does not exist any more"}
	}
	return table.Row{Cells: cells, Gone: gone}
}

// aboveNote says what keeps a LocalQueue from admitting that is not its own: its
// ClusterQueue.
func aboveNote(e Env, q *world.LocalQueue) (string, theme.Role) {
	cq := e.Snap.ClusterQueue(q.ClusterQueue)
	_, ok := knownKind(e.Snap, world.KindClusterQueue)
	switch {
	case cq == nil && ok:
		return "its ClusterQueue " + q.ClusterQueue + " does not exist", theme.Alarm
	case cq == nil:
		return "its ClusterQueue " + q.ClusterQueue + " is not known", theme.Warn
	}
	if c := clusterState(e.Snap, cq); c.Role != theme.Plain {
		return "its ClusterQueue is " + c.Text, c.Role
	}
	if match, known := reason.SelectorMatches(e.Snap, cq, q.Namespace); known && !match {
		return "ClusterQueue " + cq.Name + " does not admit its namespace", theme.Alarm
	}
	return "", theme.Plain
}

// clusterState is stateCell for a ClusterQueue, which may also be caught in a
// cycle of cohorts.
func clusterState(s *store.Snapshot, q *world.ClusterQueue) table.Cell {
	if cycleOf(s, q.Name) != nil {
		return table.Cell{Text: "in a cycle", Role: theme.Alarm}
	}
	a := reason.ActivityOf(s, q)
	switch {
	case q.StopPolicy.Stopped():
	case a.Active == nil:
		return table.Cell{Text: "unknown", Role: theme.Warn}
	case !*a.Active:
		return table.Cell{Text: "not active", Role: theme.Alarm}
	}
	return stateCell(q.Meta, q.StopPolicy, q.Conditions)
}

func withOwner(text string, role theme.Role, owner string) table.Cell {
	if text == "" && owner != "" {
		return table.Cell{Text: "managed by " + owner, Role: theme.Dim}
	}
	return table.Cell{Text: text, Role: role}
}

// stateCell is one word for whether a queue admits.
func stateCell(m world.Meta, p world.StopPolicy, c world.Conditions) table.Cell {
	a, ok := c.Get(world.CondActive)
	switch {
	case p.Stopped() && behind(m, c):
		return table.Cell{Text: "held?", Role: theme.Alarm}
	case behind(m, c):
		return table.Cell{Text: "unknown", Role: theme.Warn}
	case p == world.StopHoldAndDrain:
		return table.Cell{Text: "drained", Role: theme.Warn}
	case p.Stopped():
		return table.Cell{Text: "held", Role: theme.Warn}
	case ok && a.Status == "False":
		return table.Cell{Text: "not active", Role: theme.Alarm}
	case !ok || a.Status != "True":
		return table.Cell{Text: "unknown", Role: theme.Warn}
	}
	return table.Cell{Text: openQueue}
}

// counts are the cells of pending, reserving and admitted.
func counts(e Env, c store.Counts) []table.Cell {
	out := make([]table.Cell, 3)
	if word, ok := known(e, world.KindWorkload, world.KindLocalQueue); ok {
		out[0].Text = count(c.Pending)
	} else {
		out[0].Text = word
	}
	if word, ok := known(e, world.KindWorkload); ok {
		out[1].Text, out[2].Text = count(c.Reserving), count(c.Admitted)
	} else {
		out[1].Text, out[2].Text = word, word
	}
	return out
}
