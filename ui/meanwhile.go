package ui

import (
	"context"
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// What somebody changed while a person planned or edited: the three states of each
// field, one below the other, so that they fit however narrow the terminal is.

// meanwhileDoc writes the fields, those that both changed first. They are safe to
// draw. Without any it writes nothing.
func meanwhileDoc(e Env, fields []actions.Field, w int) []doc.Line {
	p := &planPaper{e: e, w: w}
	theirs, both := 0, 0
	for _, f := range fields {
		if f.Theirs() {
			theirs++
		}
		if f.Clash() {
			both++
		}
	}
	if len(fields) == 0 {
		return nil
	}
	p.gap()
	head, role := "Somebody else changed "+plural(theirs, "field")+" meanwhile, none that you change:", theme.Warn
	if both > 0 {
		head, role = "Somebody else changed "+plural(theirs, "field")+" meanwhile, "+count(both)+" of them to something else than you:", theme.Alarm
	}
	for _, l := range term.Wrap(head, w) {
		p.raw(e.Theme.Paint(role, l))
	}
	for _, clashes := range []bool{true, false} {
		for _, f := range fields {
			if f.Clash() == clashes {
				p.field(f)
			}
		}
	}
	return p.lines
}

// field writes the three states of a field.
func (p *planPaper) field(f actions.Field) {
	said, role := "changed by you", theme.Plain
	switch {
	case f.Clash():
		said, role = "CHANGED BY BOTH", theme.Alarm
	case f.Theirs() && f.Mine():
		said = "changed by both alike"
	case f.Theirs():
		said, role = "changed by somebody else", theme.Warn
	}
	for _, l := range term.Wrap(f.Path+"  "+said, p.w) {
		p.raw(p.e.Theme.Paint(role, l))
	}
	for _, x := range []struct {
		head, value string
		other       bool
		role        theme.Role
	}{{"  was", f.Was, false, theme.Dim}, {"  is now", f.Now, f.Theirs(), theme.Warn}, {"  yours", f.Yours, f.Mine(), theme.Strong}} {
		role := x.role
		if !x.other {
			role = theme.Dim
		}
		p.text(x.head, or(x.value, "not there"), role)
	}
}

// meanwhileOf are the fields that an error of the Desk brings.
func meanwhileOf(err error) []actions.Field {
	var p *actions.Problem
	if errors.As(err, &p) {
		return p.Meanwhile
	}
	return nil
}

// renew brings the text together with what the object is now and opens the editor.
func renew(e Env, draft actions.Draft, fix string) Dialog {
	desk, ticket := e.Desk, e.Ticket
	return busy{title: "Edit " + object(draft.Target.Ref), doing: "Bringing your text together with the object as it is now", ticket: ticket, draft: &draft, fix: fix,
		do: func(ctx context.Context) tea.Msg {
			d, err := desk.RenewDraft(ctx, draft)
			return openedMsg{ticket, d, err}
		}}
}
