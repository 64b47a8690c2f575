package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// grace is the time after a dialog appeared in which keys are not for it: they
// were typed for what was there before.
const grace = 400 * time.Millisecond

// armedMsg ends the grace of the dialog with the ticket.
type armedMsg struct{ ticket uint64 }

// answer is what a person types to confirm something: exactly the word, by hand, and
// not before the question could be read.
type answer struct {
	// ticket is the dialog's own; armed says that its grace is over.
	ticket uint64
	armed  bool
	typed  input
	wrong  string // what is said about what was typed
	pasted bool   // a paste was refused; its words stay until Enter
}

// arm begins the grace.
func (a answer) arm(e Env) tea.Cmd { return e.timer(grace, armedMsg{a.ticket}) }

// update takes a key or the end of the grace; expects is the word.
func (a answer) update(m tea.Msg, expects string) answer {
	switch m := m.(type) {
	case armedMsg:
		a.armed = a.armed || m.ticket == a.ticket
	case tea.KeyMsg:
		switch {
		case !a.armed:
		case m.Paste, len(m.Runes) > max(4, len(expects)/2):
			// A terminal without bracketed paste sends a paste as one run of characters.
			// A slow connection puts a few typed ones together, too, but not that many.
			a.typed, a.pasted = input{}, true
			a.wrong = "Pasted text does not confirm, and neither do many keys at once: type it."
		default:
			a.typed, _ = a.typed.key(m)
			if !a.pasted {
				a.wrong = ""
			}
		}
	}
	return a
}

// refuse says what is expected; shown is the word, safe to draw.
func (a answer) refuse(shown string) answer {
	a.wrong = "Not done: type " + shown + " first, then Enter."
	if a.pasted {
		a.typed, a.pasted = input{}, false
	}
	return a
}

// ask is the question and what was typed, w cells wide. Both are always whole: a long
// word puts the typing on a line of its own.
func (a answer) ask(e Env, question, shown string, role theme.Role, w int) []string {
	var out []string
	lines := term.Wrap(question, w)
	for _, l := range lines {
		out = append(out, e.Theme.Paint(role, l))
	}
	used := term.Width(lines[len(lines)-1]) + 1
	if need := term.Width(shown) + 2; w-used >= need {
		out[len(out)-1] += " " + a.typed.view(e.Theme, w-used)
		return out
	}
	return append(out, a.typed.view(e.Theme, w))
}

// last is the line below: what is wrong with what was typed, and how to leave.
func (a answer) last(e Env, leave string) string {
	out := e.Theme.Paint(theme.Dim, leave)
	if a.wrong != "" {
		out = e.Theme.Paint(theme.Warn, a.wrong) + "  " + out
	}
	return out
}
