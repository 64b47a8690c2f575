package ui

import (
	"strings"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

var cohortColumns = []table.Column{
	{Title: "COHORT / QUEUE", Min: 16, Max: 44},
	{Title: "USE", Min: barWidth, Drop: 3},
	{Title: "NOMINAL", Right: true, Min: 7, Max: 20},
	{Title: "USED", Right: true, Min: 5, Max: 20},
	{Title: "BORROWED", Right: true, Min: 8, Max: 20, Drop: 4},
	{Title: "FREE", Right: true, Min: 5, Max: 20},
	{Title: "PENDING", Right: true, Min: 7, Max: 9, Drop: 2},
	{Title: "", Min: 12, Max: 60, Grow: 1, Drop: 1},
}

const barWidth = 10

// treeKinds are the kinds without which it is not known what a Cohort has below it: sums
// would be too small.
var treeKinds = []world.Kind{world.KindCohort, world.KindClusterQueue}

// View is Screen's.
func (s cohorts) View(e Env) []string {
	notes := s.notes(e)
	if s.list.Len() == 0 {
		switch {
		case s.filter.text != "":
			notes = append(notes, " Nothing in the tree matches this filter.")
		case len(notes) == 0:
			notes = []string{" There are no ClusterQueues and no Cohorts."}
		}
		return notes
	}
	h := s.lines(e)
	from, to := s.list.Window(h)
	rows := make([]table.Row, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, s.row(e, s.list.At(i), s.list.Gone(i)))
	}
	out := append(notes, table.Draw(e.Theme, cohortColumns, rows, s.list.Cursor()-from, e.W)...)
	return withStrip(e, out, s.strip(e))
}

// Point is pointed's.
func (s cohorts) Point(e Env, _, line int) (Screen, bool, bool) {
	list, same, ok := s.list.Point(line-len(s.notes(e))-1, s.lines(e))
	s.list = list
	return s, same, ok
}

// strip says all about the row under the cursor, and what the bar is made of.
func (s cohorts) strip(e Env) strip {
	row, gone, _ := s.list.Selected()
	n := row.node
	c, has := n.Cell(s.choice)
	var q *world.ClusterQueue
	if n.Kind == world.KindClusterQueue {
		q = e.Snap.ClusterQueue(n.Name)
	}
	g := e.Theme.Glyph
	out := strip{legend: g.Own + " own " + g.Borrowed + " borrowed " + g.Lendable + " idle, lendable " + g.Private + " idle, private",
		head: string(n.Kind) + " " + n.Name}
	for p := n.Parent; p != nil && n.Cycle == nil; p = p.Parent {
		out.tail += " " + g.Arrow + " " + p.Name
	}
	cell := note(e, n, c, has, q)
	out.text, out.role = cell.Text, cell.Role
	if gone {
		out.text, out.role = "does not exist any more", theme.Plain
	}
	return out
}

// notes are the lines above the table: what is not known about all of it.
func (s cohorts) notes(e Env) []string {
	var out []string
	add := func(s string) {
		out = append(out, " "+e.Theme.Paint(theme.Warn, term.Clip(s, e.W-1, e.Theme.Glyph.Ellipsis)))
	}
	if word, gone := absence(e, world.KindClusterQueue); gone {
		add(word)
	}
	if _, ok := knownKind(e.Snap, world.KindCohort); !ok {
		word, _ := absence(e, world.KindCohort)
		add(word + ": the hierarchy and what is free in it are unknown.")
	}
	if s.typing || s.filter.text != "" {
		out = append(out, filterLine(e, s.filter, s.typing, s.query(), cohortFields))
	}
	return out
}

func (s cohorts) row(e Env, r treeRow, gone bool) table.Row {
	g := e.Theme.Glyph
	mark := " "
	if r.kids {
		mark = g.Open
		if r.fold {
			mark = g.Closed
		}
	}
	n := r.node
	name := table.Cell{Text: term.Spaces(2*r.depth) + mark + " " + n.Name}
	if n.Kind == world.KindCohort {
		name.Role = theme.Strong
	}
	var q *world.ClusterQueue
	if n.Kind == world.KindClusterQueue {
		q = e.Snap.ClusterQueue(n.Name)
	}
	c, has := n.Cell(s.choice)
	cells := []table.Cell{name, {}, {}, {}, {}, {}, pendingCell(e, n), {}}
	if n.Cycle == nil && has {
		s.numbers(e, cells, n, c, q)
	}
	if n.Cycle != nil {
		for i := 2; i < 6; i++ {
			cells[i] = table.Cell{Text: "?", Role: theme.Warn}
		}
	}
	cells[7] = note(e, n, c, has, q)
	if gone {
		cells[6] = table.Cell{} // a later object of its name may have some
		cells[7] = table.Cell{Text: "does not exist any more"}
	}
	return table.Row{Cells: cells, Gone: gone}
}

// numbers fills in bar, nominal, used, borrowed and free.
func (s cohorts) numbers(e Env, cells []table.Cell, n *quota.Node, c quota.Cell, q *world.ClusterQueue) {
	total := c.Nominal
	if n.Kind == world.KindCohort {
		// Its own quota and its children's are summed up here.
		if word, ok := known(e, treeKinds...); !ok {
			for i := 2; i < 6; i++ {
				cells[i].Text = word
			}
			return
		}
		total = c.Subtree
	}
	cells[2].Text = total.Text(c.Resource)
	use, useOK := known(e, world.KindWorkload)
	up, upOK := known(e, world.KindWorkload, world.KindCohort)
	if !useOK {
		cells[3].Text, cells[4].Text, cells[5].Text = use, use, use
		return
	}
	cells[3].Text = c.Reserved.Text(c.Resource)
	if n.Parent != nil || n.Kind == world.KindCohort {
		if !upOK {
			cells[4].Text, cells[5].Text = up, up
			return
		}
	}
	cells[1].Text = bar(e.Theme, barWidth, n, c)
	cells[4].Text = e.Theme.Glyph.Dash
	if c.Borrowed > 0 {
		cells[4].Text = c.Borrowed.Text(c.Resource)
	}
	switch {
	case c.Available < 0:
		cells[5] = table.Cell{Text: c.Available.Text(c.Resource), Role: theme.Alarm}
	case q != nil && closed(e.Snap, q):
		// Nothing can be admitted, whatever lies idle.
		cells[5].Text = e.Theme.Glyph.Dash
	default:
		cells[5].Text = c.Available.Text(c.Resource)
	}
}

// closed reports whether a ClusterQueue admits nothing now.
func closed(s *store.Snapshot, q *world.ClusterQueue) bool {
	a := reason.ActivityOf(s, q)
	return a.Active != nil && !*a.Active
}

func pendingCell(e Env, n *quota.Node) table.Cell {
	if word, ok := known(e, world.KindWorkload, world.KindLocalQueue); !ok {
		return table.Cell{Text: word}
	}
	if word, ok := known(e, treeKinds...); n.Kind == world.KindCohort && !ok {
		return table.Cell{Text: word}
	}
	return table.Cell{Text: count(pending(e, n))}
}

func pending(e Env, n *quota.Node) int {
	if n.Kind == world.KindClusterQueue {
		return e.Snap.CountsOf(n.Name).Pending
	}
	sum := 0
	for _, c := range n.Children {
		sum += pending(e, c)
	}
	return sum
}

// bar shows use in w cells: own, borrowed, and what lies idle, split into what
// the cohort may take and what it may not.
func bar(th *theme.Theme, w int, n *quota.Node, c quota.Cell) string {
	whole := max(c.Subtree, c.Reserved)
	if whole <= 0 || whole == world.Unlimited {
		return ""
	}
	lend := c.IdleLendable
	if n.Parent == nil {
		lend = max(0, c.Subtree.Sub(c.Reserved))
	}
	lend = min(lend, max(0, c.Subtree.Sub(c.Reserved)))
	own := min(c.Reserved, c.Subtree)
	if c.Borrowed == 0 {
		own = c.Reserved // at a root there is nobody to borrow from: what is over is debt
	}
	ends := []world.Amount{own, own.Add(c.Borrowed), own.Add(c.Borrowed).Add(lend), whole}
	signs := []string{th.Glyph.Own, th.Glyph.Borrowed, th.Glyph.Lendable, th.Glyph.Private}
	var b strings.Builder
	at := 0
	for i, end := range ends {
		to := int(float64(end)/float64(whole)*float64(w) + 0.5)
		// What is there is seen: a part is never rounded away.
		if i < 2 && to == at && (i == 0 && own > 0 || i == 1 && ends[1] > ends[0]) && to < w {
			to++
		}
		for ; at < to && at < w; at++ {
			b.WriteString(signs[i])
		}
	}
	return b.String()
}
