package ui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// awayFor is how long a screen is not seen before it counts as left: what is on top
// hears of every second.
const awayFor = 3 * time.Second

// onDemand is a board with something that is read when a person asks for it: its rows,
// or what tells more of them. R is what is read.
type onDemand[K comparable, T, R any] struct {
	of    *demand[K, T, R]
	board board[K, T]
	// wide says that the person wants more than what is listed at first; of what must be
	// read for it, got says whether it is there.
	wide  bool
	got   got[R]
	asked uint64 // the ticket of the reading under way; 0: none
	seen  time.Time
}

// got is what was read, and when; done is set once there was an answer, good once
// there was one without an error. err is that of the last reading.
type got[R any] struct {
	value      R
	at         time.Time
	done, good bool
	err        error
	wide       bool // what the person wanted when it was read
}

// demand says what an onDemand reads and lists. It never changes.
type demand[K comparable, T, R any] struct {
	sheet func(wide bool, value R) *sheet[K, T]
	// read returns how it is read; nil: it cannot be, and head says why.
	read func(e Env, wide bool) func(context.Context) (R, error)
	// needs says that without it there are no rows: it is read as soon as the screen is
	// seen. again says that it is read whenever the screen is come back to.
	needs, again bool
	// reload and widen are bindings without what they do; a widen without keys is none.
	reload, widen Binding
	// head are the lines above the rows.
	head func(e Env, s onDemand[K, T, R]) []string
}

type gotMsg[R any] struct {
	ticket uint64
	value  R
	err    error
}

func newOnDemand[K comparable, T, R any](d *demand[K, T, R]) onDemand[K, T, R] {
	var none R
	return onDemand[K, T, R]{of: d, board: newBoard(d.sheet(false, none))}
}

// bare reports whether nothing was read yet of what the rows are.
func (s onDemand[K, T, R]) bare() bool { return s.of.needs && !s.got.done }

// none reports whether no rows are known: not even that there are none.
func (s onDemand[K, T, R]) none() bool {
	return s.bare() || s.of.needs && !s.got.good && s.board.last.all == 0
}

// Title is Screen's.
func (s onDemand[K, T, R]) Title(e Env) (string, string) {
	name, right := s.board.Title(e)
	if s.none() {
		right = "not read"
	}
	return name, right
}

// Typing is typer's.
func (s onDemand[K, T, R]) Typing() bool { return s.board.Typing() }

// heads are the lines above the rows, as many as there is room for.
func (s onDemand[K, T, R]) heads(e Env) []string {
	all := s.of.head(e, s)
	return all[:min(len(all), max(1, e.H-3))]
}

// inner is what the board sees of e.
func (s onDemand[K, T, R]) inner(e Env) Env {
	e.H -= len(s.heads(e))
	return e
}

// Keys is Screen's.
func (s onDemand[K, T, R]) Keys() []Binding {
	var out []Binding
	for _, b := range s.board.Keys() {
		enabled, do := b.Enabled, b.Run
		if enabled != nil {
			b.Enabled = func(e Env) (bool, string) { return enabled(s.inner(e)) }
		}
		b.Run = func(e Env) (Screen, Intent) { return s.with(do(s.inner(e))) }
		out = append(out, b)
	}
	if !s.bare() && len(s.of.widen.Keys) > 0 {
		b := s.of.widen
		b.Run = func(e Env) (Screen, Intent) {
			s.wide = !s.wide
			if s.of.needs {
				return s.read(e)
			}
			s.board.sheet = s.of.sheet(s.wide, s.got.value)
			return s.with(s.board.ask(s.inner(e), true))
		}
		out = append(out, b)
	}
	b := s.of.reload
	b.Enabled = func(e Env) (bool, string) {
		if s.of.read(e, s.wide) == nil {
			return false, "there is nothing to read from"
		}
		return s.asked == 0, "it is being read"
	}
	b.Run = s.read
	return append(out, b)
}

// with is the screen with the board as it has become.
func (s onDemand[K, T, R]) with(next Screen, want Intent) (Screen, Intent) {
	s.board = next.(board[K, T])
	return s, want
}

// read begins to read.
func (s onDemand[K, T, R]) read(e Env) (Screen, Intent) {
	f := s.of.read(e, s.wide)
	if f == nil {
		return s, nil
	}
	s.asked = e.Ticket
	ticket := e.Ticket
	return s, run{e.ask(func(ctx context.Context) tea.Msg {
		v, err := f(ctx)
		return gotMsg[R]{ticket, v, err}
	})}
}

// Update is Screen's.
func (s onDemand[K, T, R]) Update(e Env, m tea.Msg) (Screen, Intent) {
	switch m := m.(type) {
	case gotMsg[R]:
		if m.ticket != s.asked {
			return s, nil
		}
		return s.take(e, m)
	case shownMsg, beatMsg:
		away := e.Now.Sub(s.seen) > awayFor
		s.seen = e.Now
		next, want := s.with(s.board.Update(s.inner(e), m))
		s = next.(onDemand[K, T, R])
		if s.asked == 0 && (s.bare() || s.of.again && away) {
			read, more := s.read(e)
			return read, both(want, more)
		}
		return s, want
	}
	return s.with(s.board.Update(s.inner(e), m))
}

// take takes what was read. A failure does not throw away what was read before.
func (s onDemand[K, T, R]) take(e Env, m gotMsg[R]) (Screen, Intent) {
	s.asked = 0
	if m.err != nil && s.got.good {
		s.got.err = m.err
		if s.of.needs {
			s.wide = s.got.wide // of the rest nothing is there
		}
		return s, nil
	}
	s.got = got[R]{value: m.value, at: e.Now, done: true, good: m.err == nil, err: m.err, wide: s.wide}
	s.board.sheet = s.of.sheet(s.wide, m.value)
	s.board.came = true // it is what the person waits for
	return s.with(s.board.ask(s.inner(e), false))
}

// both runs the commands of two intents.
func both(a, b Intent) Intent {
	x, ok := a.(run)
	y, and := b.(run)
	switch {
	case ok && and:
		return run{tea.Batch(x.cmd, y.cmd)}
	case ok:
		return a
	}
	return b
}

// View is Screen's.
func (s onDemand[K, T, R]) View(e Env) []string {
	head := s.heads(e)
	if s.none() {
		return head
	}
	return append(head, s.board.View(s.inner(e))...)
}
