package ui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// notch is how many lines the wheel scrolls.
const notch = 3

// tabRow is the line of the tabs.
const tabRow = 1

// mouse does what a turn of the wheel and a click stand for: the keys up and down, and going
// to a tab. Everything else is for the keyboard.
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
