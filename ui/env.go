package ui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/position"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/requests"
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
	Snap *store.Snapshot
	// Behind is set while there is a newer snapshot than Snap: the screen stands still.
	Behind bool
	// Still is set while nothing on the screen may move but what the person asks for: an
	// answer to anything else waits.
	Still bool
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
	places Places
	// sessions is nil where there are none, and so are events, journal and settings.
	sessions Sessions
	events   Events
	journal  Journal
	settings func(context.Context) manager.Settings
	// checkpoint and file are those of the Options.
	checkpoint, file string
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

// explainer begins to explain the Workloads of a snapshot at a time.
type explainer func(*store.Snapshot, time.Time) func(*world.Workload) reason.Explanation

// explain is reason's.
func explain(s *store.Snapshot, now time.Time) func(*world.Workload) reason.Explanation {
	return reason.New(s, now).Explain
}

// memo remembers what was worked out for the rows that are on the screen. The
// explanations speak of times, so all is kept for one snapshot and a few seconds
// only. It is used from the drawing loop alone.
type memo struct {
	begin   explainer
	explain func(*world.Workload) reason.Explanation
	queues  *reason.Explainer
	count   *requests.Counter
	chains  *chain.Finder
	seq     uint64
	until   int64
	rows    map[*world.Workload]reason.Explanation
	lines   lines
}

const memoSeconds = 5

func newMemo(f explainer) *memo { return &memo{begin: f, lines: newLines(position.In)} }

// fresh returns the memo of this snapshot.
func (e Env) fresh() *memo {
	m, until := e.memo, e.Now.Unix()/memoSeconds
	if m.rows == nil || m.seq != e.Snap.Seq || m.until != until {
		m.seq, m.until, m.rows = e.Snap.Seq, until, map[*world.Workload]reason.Explanation{}
		m.explain, m.queues, m.count = m.begin(e.Snap, e.Now), reason.New(e.Snap, e.Now), requests.New(e.Snap)
		m.chains = chain.New(e.Snap, chain.Options{})
	}
	return m
}

// why returns the explanation of the row.
func (e Env) why(w *world.Workload) reason.Explanation {
	m := e.fresh()
	x, ok := m.rows[w]
	if !ok {
		x = m.explain(w)
		m.rows[w] = x
	}
	return x
}

// asks returns what the pod set of the Workload asks for, as Kueue counts it.
func (e Env) asks(w *world.Workload, ps *world.PodSet) requests.Count {
	return e.fresh().count.Of(w.Namespace, ps)
}

// place says where a pending Workload stands among those that wait for its
// ClusterQueue, by Kueue's own word where it was read, else by an estimate;
// empty where it stands in no queue.
func (e Env) place(w *world.Workload) string {
	q, ok := e.Snap.QueueOf(w)
	if !ok || w.State != world.Pending {
		return ""
	}
	why := ""
	if e.places != nil {
		places, at, unread := e.places.Get(q)
		if n, ok := places[w.Key]; ok {
			return "number " + count(n) + " of " + count(len(places)) + " that wait for ClusterQueue " + q + ", said Kueue " + age(e.Now, at) + " ago"
		}
		why = unread
	}
	line, ok := e.memo.lines.of(e, q)
	if !ok {
		return "is being worked out" + e.Theme.Glyph.Ellipsis
	}
	n, ok := line[w.Key]
	if !ok {
		return ""
	}
	out := "number " + count(n) + " of " + count(len(line)) + " that wait for ClusterQueue " + q + ", estimated"
	if why != "" {
		out += " (Kueue's own order: " + why + ")"
	}
	return out
}
