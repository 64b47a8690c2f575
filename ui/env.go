package ui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// Deadlines of what is asked of the Desk.
const (
	askTimeout     = 30 * time.Second
	executeTimeout = 60 * time.Second
)

// Env is what screens and dialogs may look at. They change nothing through it.
type Env struct {
	Snap  *store.Snapshot
	Now   time.Time
	Theme *theme.Theme
	Desk  Desk
	// W and H are the size of the body: what lies between the title and the footer.
	W, H       int
	ReadOnly   bool
	Production bool
	// Ticket is another number for every message. A request takes it along and its
	// answer brings it back, so that an answer that nobody waits for any more is
	// not taken for another.
	Ticket uint64

	base   context.Context
	timer  timer
	runner runner
	hands  hands
	memo   *memo
	log    func() []string
}

// timer returns a command that waits and then gives the message. Tests put their
// own in its place.
type timer func(d time.Duration, m tea.Msg) tea.Cmd

func realTimer(d time.Duration, m tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return m })
}

// hands is held by what changes the cluster, so that the program can wait for it
// before it ends: a write that is under way is to be journaled.
type hands chan struct{}

func newHands() hands { return make(hands, 1) }

// ask runs f outside the drawing loop with a deadline; what it returns comes
// back as a message.
func (e Env) ask(f func(context.Context) tea.Msg) tea.Cmd {
	base := e.base
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(base, askTimeout)
		defer cancel()
		return f(ctx)
	}
}

// explainer is reason.Explain.
type explainer func(*store.Snapshot, *world.Workload, time.Time) reason.Explanation

// memo remembers explanations of the rows that are on the screen. They speak of
// times, so they are kept for one snapshot and a few seconds only. It is used
// from the drawing loop alone.
type memo struct {
	explain explainer
	seq     uint64
	until   int64
	rows    map[*world.Workload]reason.Explanation
}

const memoSeconds = 5

func newMemo(f explainer) *memo { return &memo{explain: f} }

// why returns the explanation of the row.
func (e Env) why(w *world.Workload) reason.Explanation {
	m, until := e.memo, e.Now.Unix()/memoSeconds
	if m.rows == nil || m.seq != e.Snap.Seq || m.until != until {
		m.seq, m.until, m.rows = e.Snap.Seq, until, map[*world.Workload]reason.Explanation{}
	}
	x, ok := m.rows[w]
	if !ok {
		x = m.explain(e.Snap, w, e.Now)
		m.rows[w] = x
	}
	return x
}
