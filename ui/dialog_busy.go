package ui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// plannedMsg brings a plan, or why there is none.
type plannedMsg struct {
	ticket uint64
	plan   actions.Plan
	err    error
}

// busy waits for the Desk. Closing it forgets the answer.
type busy struct {
	title, doing string
	ticket       uint64
	do           func(context.Context) tea.Msg
	// draft is set while an edit is under way.
	draft *actions.Draft
	fix   string // as editing has it
}

func planHold(e Env, ref world.Ref, a actions.Action, reason string) Dialog {
	desk, ticket := e.Desk, e.Ticket
	return busy{title: verb(a) + " " + object(ref), doing: "Looking at who would be affected", ticket: ticket,
		do: func(ctx context.Context) tea.Msg {
			p, err := desk.PlanHold(ctx, ref, a == actions.Drain, reason)
			return plannedMsg{ticket, p, err}
		}}
}

func planResume(e Env, ref world.Ref) Dialog {
	desk, ticket := e.Desk, e.Ticket
	return busy{title: "Resume " + object(ref), doing: "Looking at who would be affected", ticket: ticket,
		do: func(ctx context.Context) tea.Msg {
			p, err := desk.PlanResume(ctx, ref)
			return plannedMsg{ticket, p, err}
		}}
}

func planExport(e Env, scope actions.Scope) Dialog {
	desk, ticket := e.Desk, e.Ticket
	return busy{title: "Export", doing: "Counting Workloads", ticket: ticket,
		do: func(ctx context.Context) tea.Msg {
			p, err := desk.PlanExport(ctx, scope)
			return plannedMsg{ticket, p, err}
		}}
}

// Start begins the work.
func (d busy) Start(e Env) tea.Cmd { return e.ask(d.do) }

// Title is Dialog's.
func (d busy) Title(Env) string { return d.title }

// Keys is Dialog's.
func (d busy) Keys() []Binding {
	return []Binding{{Keys: keys("esc"), Name: "cancel", Help: "nothing is changed", Do: func(e Env) (Dialog, Intent) {
		return d, closeDialog{say: unchanged, cmd: discard(e, d.draft)}
	}}}
}

// Update is Dialog's.
func (d busy) Update(e Env, m tea.Msg) (Dialog, Intent) {
	switch m := m.(type) {
	case plannedMsg:
		if m.ticket != d.ticket {
			return d, nil
		}
		switch {
		case m.err != nil && d.draft != nil:
			return d, swap{dialog: newRefusal(*d.draft, d.fix, refusalTitle(m.err), m.err)}
		case m.err != nil:
			return d, swap{dialog: newFailure(d.title, m.err)}
		case d.draft != nil && len(m.plan.Diff) == 0:
			return d, swap{dialog: notice{title: d.title, lines: []string{"The text has no changes: there is nothing to apply."}}, cmd: discard(e, d.draft)}
		case len(m.plan.Edits) > 0:
			return d, swap{dialog: newPreviewing(e, m.plan, d.draft)}
		}
		return d, swap{dialog: newPlan(e, m.plan, d.draft)}
	case openedMsg:
		if m.ticket != d.ticket {
			return d, nil
		}
		switch {
		case m.err != nil && d.draft != nil:
			return d, swap{dialog: newRefusal(*d.draft, d.fix, "The two could not be brought together", m.err)}
		case m.err != nil:
			return d, swap{dialog: newFailure(d.title, m.err)}
		}
		if m.draft.Left != nil {
			return d, swap{dialog: newLeftText(e, m.draft, d.fix)}
		}
		return d, swap{dialog: newEditing(e, m.draft, d.fix)}
	case annotatedMsg:
		if m.ticket != d.ticket || d.draft == nil {
			return d, nil
		}
		if m.err != nil {
			return d, swap{dialog: newRefusal(*d.draft, d.fix, "The draft could not be written", m.err)}
		}
		return d, swap{dialog: newEditing(e, *d.draft, d.fix)}
	}
	return d, nil
}

// View is Dialog's.
func (d busy) View(e Env, _, _ int) []string {
	return []string{d.doing + e.Theme.Glyph.Ellipsis, "", e.Theme.Paint(theme.Dim, "Esc: "+unchanged)}
}

// notice says something and is closed by a key.
type notice struct {
	title string
	lines []string
	role  theme.Role
	view  doc.View
	more  []Binding // beside closing it
}

// newFailure says why something could not even be planned.
func newFailure(title string, err error) notice {
	return notice{title: title + ": not possible", lines: append(problem(err), "", unchanged), role: theme.Warn}
}

// Title is Dialog's.
func (d notice) Title(Env) string { return text.Clean(d.title) }

// Keys is Dialog's.
func (d notice) Keys() []Binding {
	out := []Binding{{Keys: keys("enter", "esc", "q"), Name: "close", Help: "close", Do: func(Env) (Dialog, Intent) { return d, closeDialog{} }}}
	out = append(out, d.more...)
	return append(out, scrolling(func(e Env, m table.Motion) Dialog {
		w, h := inside(e)
		d.view = d.view.Move(m, d.doc(e, w), h)
		return d
	}, true)...)
}

// Update is Dialog's.
func (d notice) Update(Env, tea.Msg) (Dialog, Intent) { return d, nil }

func (d notice) doc(e Env, w int) []doc.Line {
	var out []doc.Line
	for _, l := range d.lines {
		for _, x := range term.Wrap(text.Clean(l), w) {
			out = append(out, doc.Line{Text: e.Theme.Paint(d.role, x)})
		}
	}
	return out
}

// View is Dialog's.
func (d notice) View(e Env, w, h int) []string {
	lines := d.doc(e, w)
	return pageOf(e.Theme, d.view, lines, w, min(len(lines), h))
}
