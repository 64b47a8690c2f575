package ui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/store"
)

// joined is what a page makes of the whole snapshot. It is made outside the drawing
// loop, is not made anew while the page has to stand still, and at most once a second
// where there are many Workloads.
type joined[R any] struct {
	value R
	done  bool // there was an answer

	asked uint64          // the ticket of the question under way, 0 for none
	from  *store.Snapshot // of which the last question was asked
	late  bool            // a refresh waits for the next second, or until the page may move
	came  bool            // the person came here after the last answer
}

// joiner is how it is made; from any goroutine.
type joiner[R any] struct {
	// same says that two snapshots give the same.
	same func(a, b *store.Snapshot) bool
	of   func(look) R
}

// joinedMsg brings what was made.
type joinedMsg[R any] struct {
	ticket uint64
	value  R
}

// stands reports whether what the person reads here may not change now.
func (j joined[R]) stands(e Env) bool { return e.Still && j.done && !j.came }

// shown asks for it anew when something of it changed.
func (j joined[R]) shown(e Env, came bool, by joiner[R]) (joined[R], tea.Cmd) {
	if j.from != nil && !j.late && by.same(j.from, e.Snap) {
		return j, nil
	}
	j.came = j.came || came
	if j.asked != 0 || j.stands(e) || j.from != nil && len(e.Snap.Workloads) > bigList {
		j.late = true
		return j, nil
	}
	return j.ask(e, by)
}

// beat asks for what was put off.
func (j joined[R]) beat(e Env, by joiner[R]) (joined[R], tea.Cmd) {
	if !j.late || j.asked != 0 || j.stands(e) {
		return j, nil
	}
	return j.ask(e, by)
}

func (j joined[R]) ask(e Env, by joiner[R]) (joined[R], tea.Cmd) {
	j.asked, j.from, j.late = e.Ticket, e.Snap, false
	of, ticket, l := by.of, e.Ticket, look{e.Snap, e.Now, e.memo.begin}
	return j, e.ask(func(context.Context) tea.Msg { return joinedMsg[R]{ticket, of(l)} })
}

// take takes an answer, unless the page has to stand still, and says whether it did.
func (j joined[R]) take(e Env, m joinedMsg[R]) (joined[R], bool) {
	switch {
	case m.ticket != j.asked:
		return j, false
	case j.stands(e):
		j.asked, j.late = 0, true
		return j, false
	}
	j.asked, j.came, j.value, j.done = 0, false, m.value, true
	return j, true
}
