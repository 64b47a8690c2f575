package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// figure is a group of figures under one name. When there is no room all its lines but
// the first go, then those with the highest drop go whole.
type figure struct {
	name  string
	lines []figureLine
	drop  int
}

// figureLine is a line of a figure, with a curve in what room is left.
type figureLine struct {
	cells []table.Cell
	curve curve
}

// curve is how a figure went since the console was opened.
type curve struct {
	name string
	of   samples
	f    func(health.SLO) (v float64, known bool)
}

// figureMargin is the room for the names at the left, where there is any.
const figureMargin = 14

// leastCurve is the least width of a curve that tells anything, mostCurve half an hour
// of it.
const (
	leastCurve = 4
	mostCurve  = int(30 * time.Minute / samplePace)
)

func (f figure) draw(e Env) []string {
	out := make([]string, 0, len(f.lines))
	for i, l := range f.lines {
		name := f.name
		if i > 0 {
			name = ""
		}
		margin := figureMargin
		if e.W < 60 {
			margin = term.Width(f.name) + 2
		}
		text, used := phrase(e, l.cells, e.W-1-margin)
		line := " " + e.Theme.Paint(theme.Strong, term.Fit(name, margin, "")) + text
		out = append(out, line+l.curve.draw(e, e.W-2-margin-used))
	}
	return out
}

// draw writes the curve and how long it is into w cells, or nothing.
func (c curve) draw(e Env, w int) string {
	if c.f == nil {
		return ""
	}
	head := term.Spaces(3) + strings.TrimLeft(c.name+" ", " ")
	const tail = len(" 30m")
	of := c.of.until(e.Now) // later ones are not of a frozen screen
	text, long := of.spark(e.Theme, min(mostCurve, w-len(head)-tail), c.f)
	if term.Width(text) < min(leastCurve, len(of)) || text == "" {
		return ""
	}
	return e.Theme.Paint(theme.Dim, head) + text + e.Theme.Paint(theme.Dim, " "+span(long))
}

// figures are those that fit into the room, with so many lines more than one each.
func (s glance) figures(e Env, room, more int) []string {
	l := s.last
	all := []figure{l.helpsFigure(e), l.queuesFigure(e), l.waitFigure(e, s.curve), l.borrowingFigure(e, s.curve), l.takesFigure(e), l.evictedFigure(e), kueueFigure(e)}
	height := func() int {
		n := 0
		for _, f := range all {
			n += len(f.lines)
		}
		return n
	}
	room = min(room, len(all)+more)
	for i := len(all) - 1; i >= 0; i-- {
		over := max(0, height()-room)
		all[i].lines = all[i].lines[:max(1, len(all[i].lines)-over)]
	}
	for height() > room && len(all) > 0 {
		worst := 0
		for i := range all {
			if all[i].drop > all[worst].drop {
				worst = i
			}
		}
		all = slices.Delete(all, worst, worst+1)
	}
	var out []string
	for _, f := range all {
		out = append(out, f.draw(e)...)
	}
	return out
}

// oneLine is a figure of one line.
func oneLine(name string, drop int, cells ...table.Cell) figure {
	return figure{name: name, drop: drop, lines: []figureLine{{cells: cells}}}
}

// unknownCell stands where a figure would be: why it is not known.
func unknownCell(why string) table.Cell { return table.Cell{Text: "? " + why, Role: theme.Warn} }

// notRead says that a kind was not read when the figures were made; empty where it was.
func (l outlook) notRead(kinds ...world.Kind) string {
	for _, k := range kinds {
		if word, ok := l.unread[k]; ok {
			if word == "" {
				word = "they are still coming in"
			}
			if word == "?" {
				word = "they were not read"
			}
			return kindNames(k) + ": " + word
		}
	}
	return ""
}

func (l outlook) helpsFigure(e Env) figure {
	const name, drop = "WAITING HELPS", 1
	h := l.helps
	if why := l.notRead(world.KindWorkload, world.KindLocalQueue); why != "" {
		return oneLine(name, drop, unknownCell(why))
	}
	if h.total == 0 {
		return oneLine(name, drop, table.Cell{Text: "no Workload waits for what comes by itself"})
	}
	text := plural(h.total, "Workload") + " wait"
	if h.total == 1 {
		text += "s"
	}
	if len(h.by) == 1 {
		text += " " + h.by[0].word
	} else {
		var parts []string
		for _, x := range h.by {
			parts = append(parts, count(x.n)+" "+x.word)
		}
		text += ": " + strings.Join(parts, ", ")
	}
	if h.oldest != nil {
		where := ""
		if q, ok := e.Snap.QueueOf(h.oldest); ok {
			where = " (" + q + ")"
		}
		text += "; the oldest " + span(h.wait) + ", " + h.oldest.Namespace + "/" + h.oldest.JobName() + where
	}
	return oneLine(name, drop, table.Cell{Text: text})
}

func (l outlook) queuesFigure(e Env) figure {
	const name, drop = "QUEUES", 3
	cells := l.stateCells(world.KindClusterQueue, l.queues)
	if _, unread := l.unread[world.KindLocalQueue]; unread || len(l.locals) > 0 {
		cells = append(cells, l.stateCells(world.KindLocalQueue, l.locals)...)
	}
	return oneLine(name, drop, cells...)
}

// stateCells say how many queues of the kind there are and how many of them are not
// open.
func (l outlook) stateCells(k world.Kind, in []worded) []table.Cell {
	if why := l.notRead(k); why != "" {
		return []table.Cell{unknownCell(why)}
	}
	text := plural(sum(in), string(k))
	for i, x := range in {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		text += sep + count(x.n) + " " + x.word
	}
	return []table.Cell{{Text: text}}
}

func (l outlook) waitFigure(e Env, over samples) figure {
	const name, drop = "WAIT", 2
	slo := l.slo
	switch {
	case slo.Pending == nil:
		return oneLine(name, drop, unknownCell(or(l.notRead(world.KindWorkload), slo.Unknown)))
	case slo.Unknown != "":
		return oneLine(name, drop, table.Cell{Text: count(*slo.Pending) + " pending by the queues' statuses"}, unknownCell(l.notRead(world.KindWorkload)))
	}
	f := oneLine(name, drop, waitCells(slo)...)
	f.lines[0].curve = curve{"p95", over, func(x health.SLO) (float64, bool) {
		switch {
		case x.Unknown != "" || x.Pending == nil:
			return 0, false
		case x.Wait == nil:
			return 0, *x.Pending == 0
		}
		return float64(x.Wait.P95), true
	}}
	return f
}

// waitCells are the waits of those that are pending, of which the number is known.
func waitCells(slo health.SLO) []table.Cell {
	cells := []table.Cell{{Text: count(*slo.Pending) + " pending"}}
	switch {
	case slo.Wait != nil:
		cells = append(cells, table.Cell{Text: "p50 " + span(slo.Wait.P50)}, table.Cell{Text: "p95 " + span(slo.Wait.P95)}, table.Cell{Text: "oldest " + span(*slo.OldestWait)})
	case *slo.Pending > 0:
		cells = append(cells, unknownCell("no Workload says since when it waits"))
	}
	return cells
}

func (l outlook) borrowingFigure(e Env, over samples) figure {
	const name, drop = "BORROWING", 5
	if why := l.notRead(world.KindWorkload, world.KindClusterQueue); why != "" {
		return oneLine(name, drop, unknownCell(why))
	}
	most := borrowed(l.slo)
	if len(most) == 0 {
		none := "none: no ClusterQueue borrows from its cohort"
		if slices.ContainsFunc(l.queues, func(x worded) bool { return x.word == inACycle }) {
			none += ", as far as is known" // no sums are made of cohorts in a cycle
		}
		return oneLine(name, drop, table.Cell{Text: none})
	}
	f := figure{name: name, drop: drop}
	for _, b := range most[:min(len(most), mostBorrowing)] {
		f.lines = append(f.lines, figureLine{[]table.Cell{{Text: borrowingText(b)}}, curve{"", over, func(x health.SLO) (float64, bool) {
			for _, y := range x.Borrowing {
				if y.FlavorResource == b.FlavorResource {
					return y.Ratio, true
				}
			}
			return 0, x.Borrowing != nil
		}}})
	}
	if left := len(most) - 1; left > 0 {
		f.lines[0].cells = append(f.lines[0].cells, table.Cell{Text: "and " + count(left) + " more", Role: theme.Dim})
	}
	return f
}

// mostBorrowing is how many flavors and resources have a line.
const mostBorrowing = 4

// borrowed are the flavors and resources of which something is borrowed, that with the
// greatest share first.
func borrowed(slo health.SLO) []health.Borrowing {
	out := slices.DeleteFunc(slices.Clone(slo.Borrowing), func(b health.Borrowing) bool { return b.Borrowed <= 0 })
	slices.SortStableFunc(out, func(a, b health.Borrowing) int { return cmp.Compare(b.Ratio, a.Ratio) })
	return out
}

func borrowingText(b health.Borrowing) string {
	return showCell(b.FlavorResource) + " " + b.Borrowed.Text(b.Resource) + " of " + b.Reserved.Text(b.Resource) + " reserved (" + percent(b.Ratio) + ")"
}

// percent writes a share; what is there is never rounded away.
func percent(ratio float64) string {
	if ratio > 0 && ratio < 0.01 {
		return "<1 %"
	}
	return strconv.Itoa(int(ratio*100+0.5)) + " %"
}

func (l outlook) evictedFigure(e Env) figure {
	const name, drop = "EVICTED", 6
	if why := l.notRead(world.KindWorkload); why != "" {
		return oneLine(name, drop, unknownCell(why))
	}
	if l.workloads == 0 {
		return oneLine(name, drop, unknownCell("there is no Workload that could tell"))
	}
	text := "life of " + plural(l.workloads, "visible Workload") + ": "
	if e.W >= 100 {
		text = "over the " + text
	}
	most := slices.Clone(l.slo.Evictions)
	slices.SortStableFunc(most, func(a, b health.Evictions) int { return cmp.Compare(b.Count, a.Count) })
	var parts []string
	for _, x := range most {
		parts = append(parts, x.Reason+" "+count(x.Count))
	}
	return oneLine(name, drop, table.Cell{Text: text + or(strings.Join(parts, ", "), "none")})
}
