package ui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// lines are the estimated orders in which Workloads wait for their ClusterQueues. Those
// of a few Workloads are worked out where they are drawn. Of very many that takes too
// long: it is wanted there, done elsewhere, and drawn when it is there.
type lines struct {
	arrange func(s *store.Snapshot, clusterQueue string) []*world.Workload
	known   map[string]line
	// wanted is the ClusterQueue that was drawn last without a line that is good until
	// then; asked is the ticket of the one under way, 0 for none.
	wanted string
	until  int64
	asked  uint64
}

// line has the place of each Workload, from 1, and is good for a few seconds.
type line struct {
	places map[world.Key]int
	until  int64
}

// linedMsg brings a line.
type linedMsg struct {
	ticket       uint64
	clusterQueue string
	line         line
}

// mostLines bounds what is kept.
const mostLines = 50

func newLines(arrange func(*store.Snapshot, string) []*world.Workload) lines {
	return lines{arrange: arrange, known: map[string]line{}}
}

// of is the line of the ClusterQueue; ok is false where it is not known yet. One that
// has just become too old is shown until there is another.
func (l *lines) of(e Env, clusterQueue string) (places map[world.Key]int, ok bool) {
	x, ok := l.known[clusterQueue]
	until := e.Now.Unix() / memoSeconds
	if ok && x.until == until {
		return x.places, true
	}
	if len(e.Snap.Workloads) <= bigList {
		x = l.make(e.Snap, clusterQueue, until)
		l.keep(clusterQueue, x)
		return x.places, true
	}
	l.wanted, l.until = clusterQueue, until
	return x.places, ok
}

func (l *lines) make(s *store.Snapshot, clusterQueue string, until int64) line {
	out := line{map[world.Key]int{}, until}
	for i, w := range l.arrange(s, clusterQueue) {
		out.places[w.Key] = i + 1
	}
	return out
}

func (l *lines) keep(clusterQueue string, x line) {
	if len(l.known) >= mostLines {
		clear(l.known)
	}
	l.known[clusterQueue] = x
}

// ask begins to work out the line that is wanted, one at a time; nil where none is.
func (l *lines) ask(e Env) tea.Cmd {
	if l.wanted == "" || l.asked != 0 {
		return nil
	}
	snap, q, until, ticket, elsewhere := e.Snap, l.wanted, l.until, e.Ticket, *l
	l.wanted, l.asked = "", ticket
	return e.ask(func(context.Context) tea.Msg { return linedMsg{ticket, q, elsewhere.make(snap, q, until)} })
}

// take keeps the line that was asked for.
func (l *lines) take(m linedMsg) {
	if m.ticket == l.asked {
		l.asked = 0
		l.keep(m.clusterQueue, m.line)
	}
}
