package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// input is one line of text that a person types at its end.
type input struct{ text string }

// inputLimit is more than anybody types into one line.
const inputLimit = 300

// key takes a key; ok is false when it is not one that edits the line.
func (i input) key(k tea.KeyMsg) (_ input, ok bool) {
	switch k.Type {
	case tea.KeyRunes, tea.KeySpace:
		if k.Alt {
			return i, false
		}
		s := strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(string(k.Runes))
		s = i.text + text.Clean(s)
		if len(s) > inputLimit {
			return i, true
		}
		i.text = s
		return i, true
	case tea.KeyBackspace, tea.KeyCtrlH:
		r := []rune(i.text)
		if len(r) > 0 {
			i.text = string(r[:len(r)-1])
		}
		return i, true
	case tea.KeyCtrlU:
		i.text = ""
		return i, true
	case tea.KeyCtrlW:
		s := strings.TrimRight(i.text, " ")
		i.text = s[:strings.LastIndex(s, " ")+1]
		return i, true
	}
	return i, false
}

// view draws the line with a caret in w cells, its end in sight.
func (i input) view(th *theme.Theme, w int) string {
	s := i.text
	for term.Width(s) > w-1 && s != "" {
		r := []rune(s)
		s = string(r[1:])
	}
	return s + th.Glyph.Caret
}
