package ui

import (
	"context"
	"errors"
	"os/exec"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// Messages of an edit.
type (
	openedMsg struct {
		ticket uint64
		draft  actions.Draft
		err    error
	}
	editedMsg struct {
		ticket uint64
		err    error
	}
	annotatedMsg struct {
		ticket uint64
		err    error
	}
)

// runner gives the terminal to another program. Tests put their own in its
// place.
type runner func(*exec.Cmd, func(error) tea.Msg) tea.Cmd

func openEdit(e Env, ref world.Ref) Dialog {
	desk, ticket := e.Desk, e.Ticket
	return busy{title: "Edit " + object(ref), doing: "Reading the object", ticket: ticket,
		do: func(ctx context.Context) tea.Msg {
			d, err := desk.OpenEdit(ctx, ref)
			return openedMsg{ticket, d, err}
		}}
}

// discard removes the draft's file; a nil draft is nothing.
func discard(e Env, d *actions.Draft) tea.Cmd {
	if d == nil {
		return nil
	}
	desk, draft := e.Desk, *d
	return e.ask(func(context.Context) tea.Msg {
		if err := desk.CloseDraft(draft); err != nil {
			return leftBehindMsg{problem(err)[0]}
		}
		return nil
	})
}

// leave keeps the draft's file for another edit of the object.
func leave(e Env, d actions.Draft) tea.Cmd {
	desk := e.Desk
	return e.ask(func(context.Context) tea.Msg {
		desk.LeaveDraft(d)
		return nil
	})
}

// leftBehindMsg says that a draft's file could not be removed.
type leftBehindMsg struct{ why string }

// editing is on the screen while the editor has the terminal.
type editing struct {
	draft  actions.Draft
	fix    string // the session whose fix it becomes; empty: it is planned by itself
	ticket uint64
}

func newEditing(e Env, d actions.Draft, fix string) editing {
	return editing{draft: d, fix: fix, ticket: e.Ticket}
}

// Start gives the terminal to the editor.
func (d editing) Start(e Env) tea.Cmd {
	ticket := d.ticket
	return e.runner(e.Desk.EditorCommand(d.draft), func(err error) tea.Msg { return editedMsg{ticket, err} })
}

// Title is Dialog's.
func (d editing) Title(Env) string { return "Edit " + object(d.draft.Target.Ref) }

// Keys is Dialog's.
func (d editing) Keys() []Binding { return nil }

// Update is Dialog's.
func (d editing) Update(e Env, m tea.Msg) (Dialog, Intent) {
	x, ok := m.(editedMsg)
	if !ok || x.ticket != d.ticket {
		return d, nil
	}
	if x.err != nil {
		return d, swap{dialog: newRefusal(d.draft, d.fix, "The editor ended with an error", x.err)}
	}
	if d.fix != "" {
		return d, swap{dialog: newAttaching(e, d.draft, d.fix)}
	}
	desk, draft, ticket := e.Desk, d.draft, e.Ticket
	return d, swap{dialog: busy{title: d.Title(e), doing: "Asking the server for a dry-run", ticket: ticket, draft: &draft,
		do: func(ctx context.Context) tea.Msg {
			p, err := desk.PlanEdit(ctx, draft)
			return plannedMsg{ticket, p, err}
		}}}
}

// View is Dialog's.
func (d editing) View(Env, int, int) []string { return []string{"The editor has the terminal."} }

// refusal shows why an edit was not taken, in the server's own words; the text
// is kept.
type refusal struct {
	draft actions.Draft
	fix   string
	title string
	err   error
	view  doc.View
}

// refusalTitle says what kind of obstacle a planned edit met.
func refusalTitle(err error) string {
	var p *actions.Problem
	switch {
	case errors.Is(err, actions.ErrNoChange):
		return "There is nothing to apply"
	case errors.As(err, &p) && p.Rejected:
		return "This edit is refused"
	case errors.As(err, &p) && p.Conflict:
		return "The object changed while you edited"
	}
	return "There is no dry-run of this edit"
}

// stale reports whether the draft was made from an object that is not so any more:
// the text has to be brought together with what it is now.
func stale(err error) bool {
	var p *actions.Problem
	return errors.As(err, &p) && p.Conflict
}

func newRefusal(d actions.Draft, fix, title string, err error) refusal {
	return refusal{draft: d, fix: fix, title: title, err: err}
}

// Title is Dialog's.
func (d refusal) Title(Env) string { return d.title }

// Keys is Dialog's.
func (d refusal) Keys() []Binding {
	if stale(d.err) {
		// The person's text is worth more than a tidy folder.
		return append([]Binding{
			{Keys: keys("e"), Name: "edit on", Help: "edit on, with your changes made to the object as it is now", Do: func(e Env) (Dialog, Intent) {
				return d, swap{dialog: renew(e, d.draft, d.fix)}
			}},
			{Keys: keys("esc"), Name: "close", Help: "close; the text stays in its file", Do: func(e Env) (Dialog, Intent) {
				return d, closeDialog{say: unchanged + " Your text stays in " + text.Clean(d.draft.Path) + "; the next edit offers it", cmd: leave(e, d.draft)}
			}}}, d.scroll()...)
	}
	out := []Binding{
		{Keys: keys("e"), Name: "edit again", Help: "edit again, with your text and this message on top", Do: func(e Env) (Dialog, Intent) {
			return d, swap{dialog: editAgain(e, d.draft, d.fix, d.err)}
		}},
		{Keys: keys("esc"), Name: "discard", Help: "discard the text", Do: func(e Env) (Dialog, Intent) {
			return d, closeDialog{say: "Discarded. " + unchanged, cmd: discard(e, &d.draft)}
		}},
	}
	return append(out, d.scroll()...)
}

func (d refusal) scroll() []Binding {
	return scrolling(func(e Env, m table.Motion) Dialog {
		w, h := inside(e)
		d.view = d.view.Move(m, d.doc(e, w), h-2)
		return d
	}, true)
}

// editAgain writes the problem on top of the text and opens the editor.
func editAgain(e Env, draft actions.Draft, fix string, problem error) Dialog {
	desk, ticket := e.Desk, e.Ticket
	return busy{title: "Edit " + object(draft.Target.Ref), doing: "Writing the message into the draft", ticket: ticket, draft: &draft, fix: fix,
		do: func(context.Context) tea.Msg { return annotatedMsg{ticket, desk.AnnotateDraft(draft, problem)} }}
}

// Update is Dialog's.
func (d refusal) Update(Env, tea.Msg) (Dialog, Intent) { return d, nil }

func (d refusal) doc(e Env, w int) []doc.Line {
	var out []doc.Line
	for _, l := range problem(d.err) {
		for _, x := range term.Wrap(l, w-3) {
			out = append(out, doc.Line{Text: e.Theme.Paint(theme.Alarm, x)})
		}
	}
	return append(out, meanwhileDoc(e, meanwhileOf(d.err), w-3)...)
}

// View is Dialog's.
func (d refusal) View(e Env, w, h int) []string {
	lines := d.doc(e, w)
	out := pageOf(e.Theme, d.view, lines, w, min(len(lines), h-2))
	if stale(d.err) {
		return append(out, "", "Nothing is changed. e: edit on, on the object as it is now   Esc: close; your text stays")
	}
	return append(out, "", "Nothing is changed. e: edit again, your text is kept   Esc: discard it")
}
