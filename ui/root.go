package ui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// The least size in which the console makes sense.
const (
	leastW = 40
	leastH = 10
)

// chrome is the number of lines around the body: header, tabs, title, footer.
const chrome = 4

// pace is the least time between two snapshots on the screen, and stillFor how long
// nothing moves after a key: what the next key meets is what the person saw.
const (
	pace     = 200 * time.Millisecond
	stillFor = 700 * time.Millisecond
)

// root is the program's model. It owns what is not a screen's: size, tabs,
// dialogs, the status line, and the snapshots. Like a screen it is a value.
type root struct {
	opt    Options
	theme  *theme.Theme
	base   context.Context
	timer  timer
	runner runner
	hands  hands
	memo   *memo
	// aside writes a sequence that draws nothing to the terminal.
	aside func(string) error

	// live is the newest snapshot; shown is the one that the screens are drawn
	// from, which stands still while a dialog is open, just after a key, and while the
	// person has frozen it.
	live, shown *store.Snapshot
	// shownAt is when shown was the newest last.
	shownAt time.Time
	// still is the ticket of the last key while it is fresh; 0: it is not.
	still uint64
	// frozen is when the person froze the screen; zero: it is not.
	frozen time.Time
	now    time.Time
	w, h   int

	tab     Tab
	stacks  [tabs][]Screen
	dialogs []Dialog
	status  say
	ticket  uint64
	// next is the context to go to when the program ends here; empty: none.
	next string
}

// Messages of the root itself.
type (
	tickMsg struct{ now time.Time }
	// tickDue and waitDue come when a timer is over.
	tickDue struct{}
	waitDue struct{}
	// stillDue ends the stillness after the key of the ticket.
	stillDue    struct{ ticket uint64 }
	snapshotMsg struct {
		snap *store.Snapshot
		now  time.Time
	}
)

// newRoot returns the model. The first snapshot is an empty one, of which
// nothing is known.
func newRoot(ctx context.Context, opt Options, th *theme.Theme, t timer, f explainer) root {
	r := root{opt: opt, theme: th, base: ctx, timer: t, hands: newHands(), memo: newMemo(f), aside: func(string) error { return nil }, now: opt.Clock.Now(), tab: min(opt.Start, tabs-1)}
	nothing := *store.New(opt.Clock).Snapshot()
	nothing.Seq = 0 // unlike the first one of a store that was never asked before
	r.live = &nothing
	r.status = say{text.Clean(opt.Notice), theme.Warn}
	r.shown = r.live
	for t := range tabs {
		r.stacks[t] = []Screen{t.open()}
	}
	return r
}

// Init is bubbletea's.
func (r root) Init() tea.Cmd {
	return tea.Batch(r.timer(time.Second, tickDue{}), r.fetch())
}

// fetch reads the newest snapshot.
func (r root) fetch() tea.Cmd {
	source, clock := r.opt.Source, r.opt.Clock
	return func() tea.Msg { return snapshotMsg{source.Snapshot(), clock.Now()} }
}

// wait waits for the source to change, then reads it.
func (r root) wait() tea.Cmd {
	ctx, source, clock := r.base, r.opt.Source, r.opt.Clock
	return func() tea.Msg {
		select {
		case <-ctx.Done():
			return nil
		case <-source.Changed():
			return snapshotMsg{source.Snapshot(), clock.Now()}
		}
	}
}

// Update is bubbletea's.
func (r root) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	r.ticket++
	line := r.memo.lines.ask(r.env())
	next, cmd := r.update(m)
	if line != nil {
		cmd = tea.Batch(cmd, line)
	}
	return next, cmd
}

func (r root) update(m tea.Msg) (tea.Model, tea.Cmd) {
	if r.shown == r.live {
		r.shownAt = r.now
	}
	switch m := m.(type) {
	case tea.WindowSizeMsg:
		r.w, r.h = m.Width, m.Height
		return r, nil
	case tickDue:
		clock := r.opt.Clock
		return r, func() tea.Msg { return tickMsg{clock.Now()} }
	case tickMsg:
		r.now = m.now
		r.askPlaces()
		s, want := r.top().Update(r.env(), beatMsg{})
		r, cmd := r.setTop(s).want(want)
		return r, tea.Batch(r.timer(time.Second, tickDue{}), cmd)
	case waitDue:
		return r, r.wait()
	case snapshotMsg:
		r.live, r.now = m.snap, m.now
		r, cmd := r.catchUp(shownMsg{})
		return r, tea.Batch(r.timer(pace, waitDue{}), cmd)
	case stillDue:
		if m.ticket != r.still {
			return r, nil
		}
		r.still = 0
		return r.catchUp(shownMsg{})
	case tea.KeyMsg:
		r.still = r.ticket
		next, cmd := r.press(m)
		return next, tea.Batch(cmd, r.timer(stillFor, stillDue{r.ticket}))
	case tea.MouseMsg:
		if m.Action != tea.MouseActionPress {
			return r, nil
		}
		r.still = r.ticket
		next, cmd := r.mouse(m)
		return next, tea.Batch(cmd, r.timer(stillFor, stillDue{r.ticket}))
	case toldMsg:
		r.status = m.say
		return r, nil
	case openedMsg:
		// Nobody waits for this draft any more: do not leave it on the disk.
		if b, ok := r.dialog().(busy); m.err == nil && (!ok || b.ticket != m.ticket) {
			return r, discard(r.env(), &m.draft)
		}
	case linedMsg:
		r.memo.lines.take(m)
		return r, nil
	case leftBehindMsg:
		r.status = say{"The draft's file is still there: " + m.why, theme.Warn}
		return r, nil
	}
	return r.tell(m)
}

// catchUp shows the newest snapshot to the top screen, unless a dialog is open; the one
// that it has while it stands still. Whoever comes to a screen sees it as it is now, since
// nothing that they looked at can move under the hand, and so does whoever comes back to
// it from a dialog that was open for long.
func (r root) catchUp(m shownMsg) (root, tea.Cmd) {
	if len(r.dialogs) > 0 {
		return r, nil
	}
	if !r.stands() || m.came && r.frozen.IsZero() {
		r.shown = r.live
	}
	s, want := r.top().Update(r.env(), m)
	r = r.setTop(s)
	r.askPlaces()
	return r.want(want)
}

// stands reports whether nothing on the screen may move but what the person asks for.
func (r root) stands() bool { return r.still != 0 || !r.frozen.IsZero() || len(r.dialogs) > 0 }

// tell gives a message to the top dialog and to every screen; those that did not
// ask for it do not know its ticket.
func (r root) tell(m tea.Msg) (root, tea.Cmd) {
	var cmds []tea.Cmd
	if n := len(r.dialogs); n > 0 {
		d, want := r.dialogs[n-1].Update(r.env(), m)
		r = r.setDialog(d)
		var cmd tea.Cmd
		r, cmd = r.want(want)
		cmds = append(cmds, cmd)
	}
	for t := range r.stacks {
		for i := range r.stacks[t] {
			s, want := r.stacks[t][i].Update(r.env(), m)
			stack := append([]Screen(nil), r.stacks[t]...)
			stack[i] = s
			r.stacks[t] = stack
			if w, ok := want.(run); ok {
				cmds = append(cmds, w.cmd)
			}
		}
	}
	return r, tea.Batch(cmds...)
}

// askPlaces names the ClusterQueues whose order is on the screen, so that no other
// is asked for.
func (r root) askPlaces() {
	if r.opt.Places == nil {
		return
	}
	var want []string
	if s, ok := r.top().(interface{ queues(Env) []string }); ok {
		want = s.queues(r.env())
	}
	r.opt.Places.SetQueues(want)
}

func (r root) env() Env {
	return Env{
		Snap: r.shown, Behind: r.shown != r.live, Still: r.stands(), Now: r.now, Theme: r.theme, Desk: r.opt.Desk, W: r.w, H: max(0, r.h-chrome),
		ReadOnly: r.opt.ReadOnly, Production: r.opt.Production, Ticket: r.ticket,
		base: r.base, timer: r.timer, runner: r.runner, hands: r.hands, memo: r.memo, log: r.opt.Log, places: r.opt.Places, sessions: r.opt.Sessions,
		events: r.opt.Events, journal: r.opt.Journal, settings: r.opt.Settings, checkpoint: r.opt.Checkpoint, file: r.opt.File,
	}
}

// dialog is the top dialog, or nil.
func (r root) dialog() Dialog {
	if len(r.dialogs) == 0 {
		return nil
	}
	return r.dialogs[len(r.dialogs)-1]
}

func (r root) top() Screen { return r.stacks[r.tab][len(r.stacks[r.tab])-1] }

func (r root) setTop(s Screen) root {
	stack := append([]Screen(nil), r.stacks[r.tab]...)
	stack[len(stack)-1] = s
	r.stacks[r.tab] = stack
	return r
}

func (r root) setDialog(d Dialog) root {
	ds := append([]Dialog(nil), r.dialogs...)
	ds[len(ds)-1] = d
	r.dialogs = ds
	return r
}

// want does what a screen or dialog asked for.
func (r root) want(i Intent) (root, tea.Cmd) {
	switch i := i.(type) {
	case push:
		r.stacks[r.tab] = append(append([]Screen(nil), r.stacks[r.tab]...), i.screen)
		return r.catchUp(shownMsg{first: true, came: true})
	case back:
		if n := len(r.stacks[r.tab]); n > 1 {
			r.stacks[r.tab] = r.stacks[r.tab][:n-1]
			return r.catchUp(shownMsg{came: true})
		}
	case open:
		r.dialogs = append(append([]Dialog(nil), r.dialogs...), i.dialog)
		return r.start(i.dialog)
	case swap:
		r = r.setDialog(i.dialog)
		next, cmd := r.start(i.dialog)
		return next, tea.Batch(i.cmd, cmd)
	case closeDialog:
		r.dialogs = r.dialogs[:len(r.dialogs)-1]
		r.status = say{text: i.say}
		next, cmd := r.catchUp(shownMsg{came: r.shown != r.live && r.now.Sub(r.shownAt) >= olderThan})
		return next, tea.Batch(i.cmd, cmd)
	case jump:
		r.tab = i.tab
		return r.catchUp(shownMsg{came: true})
	case visit:
		r.dialogs, r.tab = nil, i.tab
		if i.screen == nil {
			return r.catchUp(shownMsg{came: true})
		}
		if i.alone {
			r.stacks[r.tab] = []Screen{i.screen}
		} else {
			r.stacks[r.tab] = append(append([]Screen(nil), r.stacks[r.tab][:1]...), i.screen)
		}
		return r.catchUp(shownMsg{first: true, came: true})
	case press:
		r.dialogs = nil
		return r.pressScreen(i.key)
	case depart:
		r.next = i.context
		return r, tea.Quit
	case say:
		r.status = i
	case run:
		return r, i.cmd
	case quit:
		return r, tea.Quit
	}
	return r, nil
}

// start lets a dialog that is new on the screen begin its work.
func (r root) start(d Dialog) (root, tea.Cmd) {
	s, ok := d.(interface{ Start(Env) tea.Cmd })
	if !ok {
		return r, nil
	}
	return r, s.Start(r.env())
}
