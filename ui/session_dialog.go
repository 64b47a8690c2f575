package ui

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// prompt asks for a line of text.
type prompt struct {
	title string
	// first stands above lines, in its role; it may be empty.
	first string
	role  theme.Role
	lines []string
	// name is that of Enter in the footer, help what it does.
	name, help string
	empty      bool // nothing may be typed
	text       input
	next       func(e Env, text string) Dialog
}

// Title is Dialog's.
func (d prompt) Title(Env) string { return d.title }

// Typing is typer's.
func (d prompt) Typing() bool { return true }

// Keys is Dialog's.
func (d prompt) Keys() []Binding {
	return []Binding{
		{Keys: keys("enter"), Name: d.name, Help: d.help, Enabled: func(Env) (bool, string) {
			if !d.empty && strings.TrimSpace(d.text.text) == "" {
				return false, "type something first"
			}
			return true, ""
		}, Do: func(e Env) (Dialog, Intent) { return d, swap{dialog: d.next(e, strings.TrimSpace(d.text.text))} }},
		{Keys: keys("esc"), Name: "cancel", Help: "nothing is changed", Do: func(Env) (Dialog, Intent) { return d, closeDialog{say: unchanged} }},
	}
}

// Update is Dialog's.
func (d prompt) Update(_ Env, m tea.Msg) (Dialog, Intent) {
	if k, ok := m.(tea.KeyMsg); ok {
		d.text, _ = d.text.key(k)
	}
	return d, nil
}

// View is Dialog's.
func (d prompt) View(e Env, w, _ int) []string {
	var out []string
	if d.first != "" {
		for _, l := range term.Wrap(d.first, w) {
			out = append(out, e.Theme.Paint(d.role, l))
		}
	}
	for _, l := range d.lines {
		out = append(out, term.Wrap(l, w)...)
	}
	return append(out, d.text.view(e.Theme, w))
}

// stepping waits for a step of a session that is prepared, or done at once.
type stepping struct {
	title  string
	step   rollback.Name // empty: the session begins
	id     string        // of the session whose step is prepared; empty for what a person says
	ticket uint64
	do     func(context.Context) (rollback.Session, *actions.Plan, error)
}

type steppedMsg struct {
	ticket uint64
	s      rollback.Session
	plan   *actions.Plan
	err    error
}

// asked is a prompt whose answer a session is told of, as step n.
func asked(p prompt, n rollback.Name, tell func(ctx context.Context, keep Sessions, words string) (rollback.Session, error)) prompt {
	p.next = func(e Env, words string) Dialog {
		keep := e.sessions
		return newStepping(e, p.title, func(ctx context.Context) (rollback.Session, *actions.Plan, error) {
			x, err := tell(ctx, keep, words)
			return x, nil, err
		}, n)
	}
	return p
}

func newStepping(e Env, title string, do func(context.Context) (rollback.Session, *actions.Plan, error), n rollback.Name) stepping {
	return stepping{title: title, step: n, ticket: e.Ticket, do: do}
}

// Start begins the work.
func (d stepping) Start(e Env) tea.Cmd {
	do, ticket := d.do, d.ticket
	return e.ask(func(ctx context.Context) tea.Msg {
		s, p, err := do(ctx)
		return steppedMsg{ticket, s, p, err}
	})
}

// Title is Dialog's.
func (d stepping) Title(Env) string { return d.title }

// Keys is Dialog's.
func (d stepping) Keys() []Binding {
	return []Binding{{Keys: keys("esc"), Name: "leave", Help: "do not wait", Do: func(Env) (Dialog, Intent) {
		return d, closeDialog{say: "Not waited for: the checklist shows what came of it."}
	}}}
}

// Update is Dialog's.
func (d stepping) Update(e Env, m tea.Msg) (Dialog, Intent) {
	x, ok := m.(steppedMsg)
	switch {
	case !ok || x.ticket != d.ticket:
		return d, nil
	case len(foreignOf(x.err)) > 0 && d.id != "":
		return d, swap{dialog: newOwners(e, d.title, foreignOf(x.err), d.takeOver())}
	case x.err != nil:
		n := newFailure(d.title, x.err)
		if x.s.Fix != nil && (d.step == rollback.DryRun || d.step == rollback.Apply) {
			n = fixAgain(n, x.s)
		}
		return d, swap{dialog: n}
	case x.plan != nil && len(x.plan.Edits) > 0:
		return d, swap{dialog: newPreviewing(e, *x.plan, nil)}
	case x.plan != nil:
		return d, swap{dialog: newPlan(e, *x.plan, nil)}
	case d.step == "":
		return d, visit{tab: TabSessions, screen: newSession(x.s)}
	}
	lines := []string{string(d.step) + " is " + string(x.s.Step(d.step).State) + "."}
	step := x.s.Step(d.step)
	n := notice{title: d.title, lines: append(append(lines, step.Detail, ""), step.Lines...)}
	if d.step == rollback.DryRun {
		n = fixAgain(n, x.s)
	}
	return d, swap{dialog: n}
}

// takeOver is the way on from a fix of which others own fields. The dry-run that shows
// what comes of it is a step of its own, and applying it the next.
func (d stepping) takeOver() takeOver {
	id := d.id
	return takeOver{
		then: "The fix stays in the session, from now on with taking over; its dry-run is made again and shown before apply asks.",
		next: func(e Env) Dialog {
			keep := e.sessions
			return newStepping(e, "Dry-run", func(ctx context.Context) (rollback.Session, *actions.Plan, error) { return keep.TakeOver(ctx, id) }, rollback.DryRun)
		},
		again: func(e Env) Dialog { return prepare(e, d.title, id, d.step) },
	}
}

// prepare has a step of the session prepared.
func prepare(e Env, title, id string, n rollback.Name) stepping {
	keep := e.sessions
	out := newStepping(e, title, func(ctx context.Context) (rollback.Session, *actions.Plan, error) { return keep.Prepare(ctx, id, n) }, n)
	out.id = id
	return out
}

// View is Dialog's.
func (d stepping) View(e Env, _, _ int) []string {
	return []string{"Working" + e.Theme.Glyph.Ellipsis, "", e.Theme.Paint(theme.Dim, "Esc: do not wait")}
}
