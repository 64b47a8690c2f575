package ui

import (
	"strings"

	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// Heights of the body from which there is room for a head over the alerts and a strip,
// and for a large strip.
const (
	roomyH = 16
	tallH  = 30
)

// alertStep is the number of lines by which the list of alerts grows, so that what is
// below it does not move with every alert.
const alertStep = 6

// plan of the body: the lines above the alerts, the number of those for alerts, and
// the figures.
type glanceLayout struct {
	above, figures []string
	rows           int // for alerts
	area           int // the lines that the alerts take, which may be more
	strip          int // lines of the strip's text, 0 for no strip
}

func (s glance) layout(e Env) glanceLayout {
	l := glanceLayout{above: s.above(e)}
	least, room := 3, e.H-len(l.above)
	if e.H >= roomyH {
		least = alertStep
		room-- // between alerts and figures
		if s.list.Len() > 0 {
			l.strip = stripLines - 2
			if e.H >= tallH {
				l.strip += 2
			}
			room -= l.strip + 2 + 1 // the head over the alerts
		}
	}
	// What lies below the first line of a figure is shown when every alert is.
	l.figures = s.figures(e, room-min(s.list.Len(), least), max(0, room-s.list.Len()-alertStep))
	l.rows = max(1, room-len(l.figures))
	l.area = l.rows
	if e.H >= roomyH {
		l.area = min(l.rows, (s.list.Len()+alertStep-1)/alertStep*alertStep)
	}
	return l
}

// View is Screen's.
func (s glance) View(e Env) []string {
	if !s.done {
		return s.waiting(e)
	}
	l := s.layout(e)
	out := l.above
	if n := s.list.Len(); n > 0 {
		from, to := s.list.Window(l.rows)
		rows := make([]table.Row, 0, to-from)
		for i := from; i < to; i++ {
			rows = append(rows, s.row(e, s.list.At(i), s.list.Gone(i)))
		}
		cols := append([]table.Column(nil), alertColumns...)
		switch {
		case e.W < 110:
			cols[whoColumn] = table.Column{} // it is in the strip
		case e.W >= 160:
			cols[whoColumn].Max = 40
		}
		seen := ""
		if n > l.rows {
			seen = count(from+1) + " to " + count(to) + " of " + count(n)
			cols[0].Title = seen
		}
		drawn := table.Draw(e.Theme, cols, rows, s.list.Cursor()-from, e.W)
		if e.H < roomyH {
			drawn = drawn[1:]
			out[0] = s.heading(e, len(s.last.notes(e)) > 0, seen)
		}
		out = append(out, drawn...)
		for range l.area - len(rows) {
			out = append(out, "")
		}
	}
	if e.H >= roomyH {
		out = append(out, "")
	}
	out = append(out, l.figures...)
	if l.strip == 0 {
		return out
	}
	x := s.strip(e)
	x.room = l.strip
	return withStrip(e, out, x)
}

// Point is pointed's.
func (s glance) Point(e Env, _, line int) (Screen, bool, bool) {
	if !s.done {
		return s, false, false
	}
	l := s.layout(e)
	head := len(l.above)
	if e.H >= roomyH {
		head++
	}
	list, same, ok := s.list.Point(line-head, l.rows)
	s.list = list
	return s, same, ok
}

// above are the heading and what could not be looked at.
func (s glance) above(e Env) []string {
	notes := s.last.notes(e)
	most := 3
	if e.H < roomyH {
		most = 1
	}
	out := []string{s.heading(e, len(notes) > 0, "")}
	if len(notes) > most {
		notes = append(notes[:most-1:most-1], notes[most-1]+"; and "+count(len(notes)-most)+" lists more (f: figures)")
	}
	for _, n := range notes {
		out = append(out, " "+e.Theme.Paint(theme.Warn, term.Clip(n, e.W-1, e.Theme.Glyph.Ellipsis)))
	}
	if needs(s.last.alerts) == 0 && e.H >= roomyH {
		for _, l := range term.Wrap(s.last.lookedAt(e), e.W-2) {
			out = append(out, " "+l)
		}
	}
	return out
}

// notes say of each list that was not read why.
func (l outlook) notes(e Env) []string {
	var out []string
	for _, k := range world.WatchedKinds() {
		if sentence, gone := absence(e, k); gone {
			if k == world.KindWorkload && l.workloads > 0 {
				sentence += ". What is said of " + plural(l.workloads, "Workload") + " is of those alone that are known"
			}
			out = append(out, sentence)
		} else if _, unread := l.unread[k]; unread {
			out = append(out, kindNames(k)+" were read a moment ago and are looked at next")
		}
	}
	return out
}

// needs is the number of alerts that ask for a person.
func needs(all []health.Alert) int {
	n := 0
	for _, a := range all {
		if a.Severity != health.Info {
			n++
		}
	}
	return n
}

// heading counts the alerts, and says which are seen where no head of theirs does.
func (s glance) heading(e Env, blind bool, seen string) string {
	n, critical := needs(s.last.alerts), 0
	for _, a := range s.last.alerts {
		if a.Severity == health.Critical {
			critical++
		}
	}
	cells := []table.Cell{{Text: "NEEDS A PERSON", Role: theme.Strong}}
	switch {
	case n == 0 && blind:
		cells[0] = table.Cell{Text: "Nothing that can be seen needs a person; not all can be seen.", Role: theme.Warn}
	case n == 0 && len(s.last.queues) == 0:
		cells[0] = table.Cell{Text: "There is no ClusterQueue: nothing is queued here.", Role: theme.Warn}
	case n == 0:
		cells[0] = table.Cell{Text: e.Theme.Glyph.Tick + " Nothing needs a person.", Role: theme.Good}
	default:
		if seen != "" {
			cells = append(cells, table.Cell{Text: seen})
		}
		if critical > 0 {
			cells = append(cells, table.Cell{Text: count(critical) + " critical", Role: theme.Alarm})
		}
		if n > critical {
			cells = append(cells, table.Cell{Text: plural(n-critical, "warning"), Role: theme.Warn})
		}
	}
	if info := len(s.last.alerts) - n; info > 0 {
		cells = append(cells, table.Cell{Text: count(info) + " to know", Role: theme.Dim})
	}
	out, _ := phrase(e, cells, e.W-1)
	return " " + out
}

// phrase writes the cells one after the other, as far as they fit into w with a mark
// where some do not, and says how much they take.
func phrase(e Env, cells []table.Cell, w int) (string, int) {
	gap := 3
	if e.W < 100 {
		gap = 2
	}
	whole := -gap
	for _, c := range cells {
		whole += gap + term.Width(c.Text)
	}
	end, room := "", w
	if whole > w {
		end, room = e.Theme.Glyph.Ellipsis, w-term.Width(e.Theme.Glyph.Ellipsis)
	}
	var b strings.Builder
	used := 0
	for i, c := range cells {
		if i > 0 {
			n := max(0, min(gap, room-used))
			b.WriteString(term.Spaces(n))
			used += n
		}
		text := term.Clip(c.Text, room-used, "")
		b.WriteString(e.Theme.Paint(c.Role, text))
		used += term.Width(text)
	}
	return b.String() + end, used + term.Width(end)
}

// lookedAt says what "nothing" rests on.
func (l outlook) lookedAt(e Env) string {
	n := func(k world.Kind, n int) string {
		if _, unread := l.unread[k]; unread {
			return ""
		}
		return plural(n, string(k))
	}
	var parts []string
	for _, p := range []string{
		n(world.KindClusterQueue, sum(l.queues)), n(world.KindLocalQueue, sum(l.locals)),
		n(world.KindWorkload, l.workloads), plural(l.chains, "chain") + " of preemptions",
	} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if c := &e.Snap.Contract; c.Asked && c.Server != "" {
		parts = append(parts, "Kueue's own parts")
	}
	return "Looked at " + strings.Join(parts, ", ") + "; not at pods outside Kueue."
}

// waiting is what there is to see before the first look: how far the lists are.
func (s glance) waiting(e Env) []string {
	head := "Looking at what there is" + e.Theme.Glyph.Ellipsis
	if !settled(e) {
		head = "The lists come in" + e.Theme.Glyph.Ellipsis + " What there is so far:"
	}
	out := []string{" " + e.Theme.Paint(theme.Strong, head)}
	for _, k := range world.WatchedKinds() {
		f := e.Snap.Fresh(k)
		n, rest, role := count(f.Count), "", theme.Plain
		if word, ok := knownKind(e.Snap, k); !ok {
			role, rest = theme.Warn, "so far"
			if f.Feed != world.Syncing {
				if word == "?" {
					word = f.Feed.String()
				}
				n, rest = "?", strings.TrimSuffix(word+": "+f.Detail, ": ")
			}
		}
		line := term.Fit(kindNames(k), 23, "") + term.Right(n, 9, "?") + " " + rest
		out = append(out, "   "+e.Theme.Paint(role, term.Clip(line, e.W-3, e.Theme.Glyph.Ellipsis)))
	}
	if len(out)+3 < e.H {
		out = append(out, "")
	}
	return append(out, kueueFigure(e).draw(e)[0])
}
