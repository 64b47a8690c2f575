package ui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
)

// logs shows what libraries and the server said beside their answers.
type logs struct {
	lines []doc.Line
	view  doc.View
	moved bool // the person scrolled: stop following the end
}

type logMsg struct{ lines []doc.Line }

func newLog() logs { return logs{} }

// Title is Screen's.
func (s logs) Title(Env) (string, string) { return "Log", plural(len(s.lines), "line") }

// Keys is Screen's.
func (s logs) Keys() []Binding {
	return moving(func(e Env, m table.Motion) Screen {
		s.view = s.view.Move(m, s.lines, e.H)
		_, below := s.view.More(s.lines, e.H)
		s.moved = below
		return s
	})
}

// Update is Screen's.
func (s logs) Update(e Env, m tea.Msg) (Screen, Intent) {
	switch m := m.(type) {
	case shownMsg, beatMsg:
		read := e.log
		return s, run{e.ask(func(context.Context) tea.Msg {
			var out []doc.Line
			for _, l := range read() {
				out = append(out, doc.Line{Text: text.Clean(l)})
			}
			return logMsg{out}
		})}
	case logMsg:
		s.lines = m.lines
		if !s.moved {
			s.view = s.view.Move(table.Bottom, s.lines, e.H)
		}
	}
	return s, nil
}

// View is Screen's.
func (s logs) View(e Env) []string {
	if len(s.lines) == 0 {
		return []string{" Nothing was logged."}
	}
	return s.view.Lines(e.Theme, s.lines, e.W, e.H)
}
