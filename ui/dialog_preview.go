package ui

import (
	"context"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// Messages of a preview. lookMsg is due when its progress is to be looked at.
type (
	previewedMsg struct {
		ticket uint64
		plan   actions.Plan
	}
	lookMsg     struct{ ticket uint64 }
	progressMsg struct {
		ticket   uint64
		progress *impact.Progress
	}
)

// previewing is on the screen while what Kueue will do is computed. The
// computation ends with it.
type previewing struct {
	plan   actions.Plan
	draft  *actions.Draft
	file   *actions.File // of a file's plan
	ticket uint64
	since  time.Time
	run    tea.Cmd
	cancel context.CancelFunc
	// latest is written by the computation, as often as it likes, and read at the
	// pace of the screen; seen is what was read last.
	latest *atomic.Pointer[impact.Progress]
	seen   *impact.Progress
}

// newPreviewing asks for the preview of a plan that has none.
func newPreviewing(e Env, p actions.Plan, draft *actions.Draft) previewing {
	ctx, cancel := context.WithCancel(e.base)
	desk, ticket, latest := e.Desk, e.Ticket, new(atomic.Pointer[impact.Progress])
	return previewing{plan: p, draft: draft, ticket: ticket, since: e.Now, cancel: cancel, latest: latest, run: func() tea.Msg {
		defer cancel()
		return previewedMsg{ticket, desk.Preview(ctx, p, func(x impact.Progress) { latest.Store(&x) })}
	}}
}

// Start begins the computation and the looking.
func (d previewing) Start(e Env) tea.Cmd { return tea.Batch(d.run, d.look(e)) }

func (d previewing) look(e Env) tea.Cmd { return e.timer(pace, lookMsg{d.ticket}) }

// Title is Dialog's.
func (d previewing) Title(e Env) string { return planTitle(e, cleanPlan(d.plan)) }

// Keys is Dialog's.
func (d previewing) Keys() []Binding {
	esc := unchanged
	if d.draft != nil {
		esc = "Discarded. " + unchanged
	}
	out := []Binding{
		{Keys: keys("s"), Name: "skip the preview", Help: "go on without it: the plan does not say then who is preempted", Do: func(e Env) (Dialog, Intent) {
			d.cancel()
			next := newPlan(e, d.plan, d.draft)
			next.file, next.skipped = d.file, true
			return d, swap{dialog: next}
		}},
		{Keys: keys("esc"), Name: "cancel", Help: "nothing is changed", Do: func(e Env) (Dialog, Intent) {
			d.cancel()
			return d, closeDialog{say: esc, cmd: discard(e, d.draft)}
		}},
	}
	if d.draft != nil {
		out = append(out, editAgainKey(func(e Env) (Dialog, Intent) {
			d.cancel()
			return d, swap{dialog: newEditing(e, *d.draft, "")}
		}))
	}
	return out
}

// Update is Dialog's.
func (d previewing) Update(e Env, m tea.Msg) (Dialog, Intent) {
	switch m := m.(type) {
	case previewedMsg:
		if m.ticket == d.ticket {
			next := newPlan(e, m.plan, d.draft)
			next.file, next.bare, next.asked = d.file, d.plan, d.since
			return d, swap{dialog: next}
		}
	case lookMsg:
		if m.ticket == d.ticket {
			ticket, latest := d.ticket, d.latest
			return d, run{tea.Batch(func() tea.Msg { return progressMsg{ticket, latest.Load()} }, d.look(e))}
		}
	case progressMsg:
		if m.ticket == d.ticket {
			d.seen = m.progress
		}
	}
	return d, nil
}

// View is Dialog's.
func (d previewing) View(e Env, w, _ int) []string {
	var out []string
	say := func(s string, role theme.Role) {
		for _, l := range term.Wrap(s, w) {
			out = append(out, e.Theme.Paint(role, l))
		}
	}
	say("Asking Kueue's own scheduler what it will do"+e.Theme.Glyph.Ellipsis, theme.Plain)
	say(farther(d.seen)+" ("+span(e.Now.Sub(d.since))+")", theme.Strong)
	out = append(out, "")
	say("s: go on without the answer. The plan does not say then who is preempted.", theme.Dim)
	leave := "Esc: nothing is changed."
	if d.draft != nil {
		leave = "Esc: nothing is changed and your text is discarded. ctrl+e: edit again"
	}
	say(leave, theme.Dim)
	return out
}

// farther says how far the computation is.
func farther(p *impact.Progress) string {
	if p == nil {
		return "getting the cluster's state together"
	}
	out := "timing " + count(p.Timing) + " of " + count(p.Timings) + ", " + plural(p.Cycles, "cycle")
	if !p.Edited {
		return out + ", still without the change"
	}
	return out + ", admits " + count(p.Admitted) + ", preempts " + count(p.Preempted) + " so far"
}
