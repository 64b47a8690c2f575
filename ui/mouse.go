package ui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// notch is how many lines the wheel scrolls.
const notch = 3

// tabRow is the line of the tabs.
const tabRow = 1

// bodyRow is the first line of a screen's body.
const bodyRow = 3

// pointed is a Screen with rows that can be clicked on.
type pointed interface {
	// Point puts the cursor on the row at the column and line of the body, counted from 0;
	// ok is false when no row is there, and same says that the cursor was on it already.
	Point(e Env, x, line int) (s Screen, same, ok bool)
}

// mouse does what a turn of the wheel and a click stand for: the keys up and down, going to
// a tab, and the cursor on a row; a click on the row under the cursor opens it. Everything
// else is for the keyboard.
func (r root) mouse(m tea.MouseMsg) (tea.Model, tea.Cmd) {
	if r.w < leastW || r.h < leastH {
		return r, nil
	}
	switch m.Button {
	case tea.MouseButtonWheelUp:
		return r.turn(tea.KeyUp)
	case tea.MouseButtonWheelDown:
		return r.turn(tea.KeyDown)
	case tea.MouseButtonLeft:
		if m.Action == tea.MouseActionPress && m.Y >= bodyRow && !r.taking() {
			return r.point(m.X, m.Y-bodyRow)
		}
		if m.Y == tabRow && len(r.dialogs) == 0 {
			if t, ok := r.tabAt(m.X); ok {
				r.status = say{}
				next, i := r.toTab(t)
				return next.want(i)
			}
		}
	}
	return r, nil
}

func (r root) point(x, line int) (tea.Model, tea.Cmd) {
	s, ok := r.top().(pointed)
	if !ok {
		return r, nil
	}
	next, same, ok := s.Point(r.env(), x, line)
	switch {
	case !ok:
		return r, nil
	case same:
		return r.press(tea.KeyMsg{Type: tea.KeyEnter})
	}
	r.status = say{}
	return r.setTop(next), nil
}

func (r root) turn(k tea.KeyType) (tea.Model, tea.Cmd) {
	var cmds []tea.Cmd
	for range notch {
		r.ticket++
		next, cmd := r.press(tea.KeyMsg{Type: k})
		r, cmds = next.(root), append(cmds, cmd)
	}
	return r, tea.Batch(cmds...)
}

// tabAt is the tab whose label is at the column.
func (r root) tabAt(x int) (Tab, bool) {
	for _, l := range r.tabLabels() {
		if x -= l.width(); x < 0 {
			return l.tab, true
		}
	}
	return 0, false
}
