package ui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
)

// logs shows what libraries and the server said beside their answers.
type logs struct {
	lines []doc.Line // wrapped
	total int        // before they were wrapped
	view  doc.View
	moved bool // the person scrolled: stop following the end
}

type logMsg struct {
	lines []doc.Line
	total int
}

func newLog() logs { return logs{} }

// Title is Screen's.
func (s logs) Title(Env) (string, string) { return "Log", plural(s.total, "line") }

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
		read, w := e.log, e.W-2
		return s, run{e.ask(func(context.Context) tea.Msg {
			var out []doc.Line
			all := read()
			for _, l := range all {
				for _, part := range term.Wrap(text.Clean(l), w) {
					out = append(out, doc.Line{Text: part})
				}
			}
			return logMsg{out, len(all)}
		})}
	case logMsg:
		s.lines, s.total = m.lines, m.total
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
