package ui

import (
	"strconv"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

var workloadColumns = []table.Column{
	{Title: "NAMESPACE", Min: 10, Max: 18, Drop: 4},
	{Title: "JOB", Min: 14, Max: 30},
	{Title: "WORKLOAD", Min: 16, Max: 34, Drop: 7},
	{Title: "QUEUE", Min: 18, Max: 34, Drop: 6},
	{Title: "PRIO", Right: true, Min: 4, Max: 11, Drop: 5},
	{Title: "STATE", Min: 9, Max: 11},
	{Title: "AGE", Right: true, Min: 5, Max: 6},
	{Title: "WHY", Min: 20, Max: 20, Grow: 1, Drop: 2},
}

const (
	workloadColumn = 2
	queueColumn    = 3
)

// lines is the number of lines for rows: the body less heads, strip and filter.
func (s workloads) lines(e Env) int { return max(1, e.H-1-stripHeight(e)-len(s.above(e))) }

// above are the lines above the table: why it may be old, and the filter.
func (s workloads) above(e Env) []string {
	var out []string
	if word, gone := absence(e, world.KindWorkload); gone && s.list.Len() > 0 && e.Snap.Fresh(world.KindWorkload).Feed != world.Syncing {
		out = append(out, " "+e.Theme.Paint(theme.Warn, term.Clip(word+". What follows is from before.", e.W-1, e.Theme.Glyph.Ellipsis)))
	}
	if s.typing || s.filter.text != "" {
		out = append(out, s.filterView(e))
	}
	return out
}

// View is Screen's.
func (s workloads) View(e Env) []string {
	out := s.above(e)
	if s.list.Len() == 0 {
		return append(out, s.empty(e))
	}
	from, to := s.list.Window(s.lines(e))
	rows := make([]table.Row, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, s.row(e, s.list.At(i), s.list.Gone(i)))
	}
	cols := append([]table.Column(nil), workloadColumns...)
	// The queue is in the strip below: the room is better spent on why.
	if e.W < 100 {
		cols[queueColumn].Max, cols[queueColumn].Min = 0, 0
		cols[queueColumn].Title = ""
	}
	if e.W < 150 {
		cols[workloadColumn].Max, cols[workloadColumn].Min = 0, 0
		cols[workloadColumn].Title = ""
	}
	out = append(out, table.Draw(e.Theme, cols, rows, s.list.Cursor()-from, e.W)...)
	return withStrip(e, out, s.strip(e))
}

func (s workloads) filterView(e Env) string {
	if s.typing {
		return " " + e.Theme.Paint(theme.Info, "/") + s.filter.view(e.Theme, e.W-3)
	}
	return e.Theme.Paint(theme.Info, term.Fit(" /"+s.filter.text+"   (Esc clears)", e.W, e.Theme.Glyph.Ellipsis))
}

func (s workloads) empty(e Env) string {
	switch word, gone := absence(e, world.KindWorkload); {
	case gone:
		return " " + e.Theme.Paint(theme.Warn, word)
	case s.asked != 0:
		return " reading" + e.Theme.Glyph.Ellipsis
	case s.filter.text != "":
		return " None of " + plural(s.total, "Workload") + " matches this filter."
	}
	return " There are no Workloads."
}

// current is the row as it is now: the list may be a moment older.
func (s workloads) current(e Env, w *world.Workload) (*world.Workload, bool) {
	if now := e.Snap.Workload(w.UID); now != nil {
		return now, false
	}
	return w, true
}

func (s workloads) row(e Env, w *world.Workload, gone bool) table.Row {
	w, left := s.current(e, w)
	gone = gone || left
	why := table.Cell{Text: "does not exist any more"}
	if !gone {
		x := e.why(w)
		why = table.Cell{Text: sentence(x), Role: adviceRole(x)}
	}
	return table.Row{Gone: gone, Cells: []table.Cell{
		{Text: w.Namespace}, {Text: w.JobName(), Role: theme.Strong}, {Text: w.Name}, {Text: queuePath(e, w)},
		{Text: strconv.Itoa(int(w.Priority))}, {Text: w.State.String(), Role: stateRole(w.State)}, {Text: age(e.Now, w.Created)}, why,
	}}
}

// queuePath is the way of a Workload: LocalQueue, then ClusterQueue.
func queuePath(e Env, w *world.Workload) string {
	q, ok := e.Snap.QueueOf(w)
	switch {
	case w.LocalQueue == "" && !ok:
		return "no queue"
	case !ok:
		return w.LocalQueue + " " + e.Theme.Glyph.Arrow + " ?"
	}
	return w.LocalQueue + " " + e.Theme.Glyph.Arrow + " " + q
}

func stateRole(s world.State) theme.Role {
	switch s {
	case world.Evicting, world.Deactivated:
		return theme.Warn
	case world.Finished:
		return theme.Dim
	}
	return theme.Plain
}

// sentence is the explanation, or Kueue's own words, or that nothing is known.
func sentence(x reason.Explanation) string {
	switch {
	case x.Sentence != "":
		return x.Sentence
	case x.Message != "":
		return "Kueue: " + x.Message
	case x.Reason != "":
		return "Kueue: " + x.Reason
	}
	return "unknown: Kueue has said nothing yet"
}

func adviceRole(x reason.Explanation) theme.Role {
	switch x.Advice {
	case reason.AdviceEscalate:
		return theme.Alarm
	case reason.AdviceChange:
		return theme.Warn
	}
	return theme.Plain
}

// advice says what to do and who must.
func advice(x reason.Explanation) string {
	word := map[reason.Advice]string{
		reason.AdviceWait: "WAIT", reason.AdviceChange: "CHANGE", reason.AdviceEscalate: "ESCALATE",
	}[x.Advice]
	if word == "" {
		return ""
	}
	if x.Actor != "" {
		word += ": " + x.Actor
	}
	return word
}

// strip says who is under the cursor, and why in full.
func (s workloads) strip(e Env) strip {
	w, gone, _ := s.list.Selected()
	w, left := s.current(e, w)
	out := strip{head: w.Namespace + "/" + w.JobName(), tail: "  " + queuePath(e, w) + "  priority " + strconv.Itoa(int(w.Priority))}
	if gone || left {
		out.text = "does not exist any more"
		return out
	}
	x := e.why(w)
	out.text, out.role, out.call = sentence(x), adviceRole(x), advice(x)
	return out
}
