package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// leftText offers what the person wrote about the object before: the console or
// the connection ended, or the dialog was closed with the text kept.
type leftText struct {
	fresh, left actions.Draft
	fix         string
	ticket      uint64
	armed       bool
}

func newLeftText(e Env, fresh actions.Draft, fix string) leftText {
	left := *fresh.Left
	fresh.Left = nil
	return leftText{fresh: fresh, left: left, fix: fix, ticket: e.Ticket}
}

// Start begins the grace: a key that was typed before throws nothing away.
func (d leftText) Start(e Env) tea.Cmd { return e.timer(grace, armedMsg{d.ticket}) }

// Title is Dialog's.
func (d leftText) Title(Env) string {
	return "Edit " + object(d.fresh.Target.Ref) + ": there is a text of yours"
}

// Keys is Dialog's.
func (d leftText) Keys() []Binding {
	armed := func(do func(Env) (Dialog, Intent)) func(Env) (Dialog, Intent) {
		return func(e Env) (Dialog, Intent) {
			if !d.armed {
				return d, nil
			}
			return do(e)
		}
	}
	return []Binding{
		{Keys: keys("e"), Name: "edit on", Help: "edit on with that text, on the object as it is now", Do: armed(func(e Env) (Dialog, Intent) {
			return d, swap{dialog: renew(e, d.left, d.fix), cmd: discard(e, &d.fresh)}
		})},
		{Keys: keys("n"), Name: "begin anew", Help: "begin anew; that text stays in its file", Do: armed(func(e Env) (Dialog, Intent) {
			return d, swap{dialog: newEditing(e, d.fresh, d.fix), cmd: leave(e, d.left)}
		})},
		{Keys: keys("X"), Name: "throw away", Help: "throw that text away and begin anew", Do: armed(func(e Env) (Dialog, Intent) {
			return d, swap{dialog: newEditing(e, d.fresh, d.fix), cmd: discard(e, &d.left)}
		})},
		{Keys: keys("esc"), Name: "close", Help: "nothing is changed; that text stays in its file", Do: func(e Env) (Dialog, Intent) {
			return d, closeDialog{say: unchanged, cmd: tea.Batch(leave(e, d.left), discard(e, &d.fresh))}
		}},
	}
}

// Update is Dialog's.
func (d leftText) Update(_ Env, m tea.Msg) (Dialog, Intent) {
	if x, ok := m.(armedMsg); ok {
		d.armed = d.armed || x.ticket == d.ticket
	}
	return d, nil
}

// View is Dialog's.
func (d leftText) View(e Env, w, _ int) []string {
	var out []string
	for _, l := range term.Wrap("It was saved "+stamp(e.Now, d.left.At)+" and neither applied nor thrown away: "+text.Clean(d.left.Path), w) {
		out = append(out, e.Theme.Paint(theme.Strong, l))
	}
	return append(out, "", "e: edit on with it   n: begin anew, it stays   X: throw it away   Esc: close")
}
