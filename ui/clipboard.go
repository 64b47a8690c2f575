package ui

import (
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	clean "cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// copier is a Screen from which something can be copied: the text, and what it is
// in the words of a person. Where the text is empty, what is a sentence why.
type copier interface {
	copies(Env) (text, what string)
}

// copyKey copies what is under the cursor.
func (r root) copyKey() Binding {
	return Binding{Keys: keys("c"), Help: "copy the name under the cursor, or the YAML that is shown, through the terminal (OSC 52)",
		Enabled: func(e Env) (bool, string) {
			_, _, why := r.copied(e)
			return why == "", why
		},
		Root: func(r root) (root, Intent) {
			text, what, _ := r.copied(r.env())
			return r, run{clip(r.aside, text, what, r.opt.Tmux)}
		},
	}
}

// copied is what would be copied now, or why nothing can be.
func (r root) copied(e Env) (text, what, why string) {
	s, ok := r.top().(copier)
	switch {
	case r.opt.NoCopy != "":
		return "", "", r.opt.NoCopy
	case !ok:
		return "", "", "nothing of this screen can be copied"
	}
	text, what = s.copies(e)
	switch {
	case text == "":
		return "", "", what
	case len(text) > term.MostCopied:
		return "", "", what + " has " + count(len(text)) + " bytes, and terminals take " + count(term.MostCopied) + ": export it (x on the list) or use kubectl get -o yaml"
	}
	return text, what, ""
}

// clip gives the text to the terminal.
func clip(aside func(string) error, text, what string, tmux bool) tea.Cmd {
	return func() tea.Msg {
		if err := aside(term.Clipboard(text, tmux)); err != nil {
			return toldMsg{say{what + " was not copied: " + err.Error(), theme.Alarm}}
		}
		doubt := "if nothing arrives your terminal does not allow it"
		if tmux {
			doubt = "if nothing arrives tmux (allow-passthrough) or your terminal does not allow it"
		}
		return toldMsg{say{text: "copied " + what + " (" + plural(utf8.RuneCountInString(text), "character") + ") with OSC 52; " + doubt}}
	}
}

// copies is copier's: the name under the cursor.
func (s cohorts) copies(Env) (text, what string) {
	row, _, ok := s.list.Selected()
	if !ok {
		return "", "there is no cohort and no ClusterQueue here"
	}
	return row.node.Name, row.node.Name
}

// copies is copier's: the name under the cursor, as it is shown.
func (s board[K, T]) copies(Env) (text, what string) {
	row, _, ok := s.list.Selected()
	if !ok {
		return "", "there is no " + s.sheet.noun + " here"
	}
	if text = rowName(row); text == "" {
		return "", "this " + s.sheet.noun + " has no name to copy"
	}
	return text, text
}

// rowName is what a row is called, or goes by in commands; empty where nobody knows.
func rowName(row any) string {
	switch x := row.(type) {
	case *world.Workload:
		return x.Namespace + "/" + x.JobName()
	case chainRow:
		if x.Row != nil {
			return rowName(x.Row)
		}
		return x.Key.String()
	case world.Event:
		return x.Object.String()
	case actions.Deed:
		return clean.Clean(x.Intent.ID)
	case interface{ ref() world.Ref }:
		return x.ref().Key.String()
	}
	return ""
}

// copies is copier's.
func (s onDemand[K, T, R]) copies(e Env) (text, what string) { return s.board.copies(e) }

// copies is copier's: the YAML where it is shown, else the name.
func (s card[T]) copies(Env) (text, what string) { return s.detail.copies(s.ref.Key.String()) }

// copies is copier's: the identifier, which commands take.
func (s deedPage) copies(Env) (text, what string) {
	id := clean.Clean(s.deed.Intent.ID)
	return id, id
}

// copies is copier's: the name of what the alert under the cursor is about.
func (s glance) copies(e Env) (text, what string) {
	a, _, ok := s.list.Selected()
	if !ok {
		return "", "there is no alert here"
	}
	name := a.Object.Key.String()
	if w := e.Snap.Workload(a.Object.UID); w != nil {
		name = rowName(w)
	}
	return name, name
}

// copies is copier's: the YAML where it is shown, else the name.
func (s queue) copies(Env) (text, what string) { return s.detail.copies(s.ref.Key.String()) }

// copies is copier's: the YAML where it is shown, else the name.
func (s workload) copies(Env) (text, what string) {
	return s.detail.copies(s.row.Namespace + "/" + s.row.JobName())
}

func (l loaded) copies(name string) (text, what string) {
	switch {
	case !l.yaml:
		return name, name
	case l.err != nil:
		return "", "the YAML of " + name + " could not be read"
	case !l.done || len(l.detail.YAML) == 0:
		return "", "the YAML of " + name + " was not read yet"
	}
	return strings.Join(l.detail.YAML, "\n") + "\n", "the YAML of " + name
}

// copies is copier's: the identifier, which commands take.
func (s sessions) copies(Env) (text, what string) {
	x, _, ok := s.list.Selected()
	if !ok {
		return "", "there is no session here"
	}
	return x.ID, "session " + x.ID
}

// copies is copier's: the identifier, which commands take.
func (s session) copies(Env) (text, what string) { return s.s.ID, "session " + s.s.ID }
