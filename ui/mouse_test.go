package ui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

func (s *stage) wheel(b tea.MouseButton) *stage {
	s.send(tea.MouseMsg{Button: b, Action: tea.MouseActionPress, X: 5, Y: 10})
	return s
}

func (s *stage) click(x, y int) *stage {
	s.send(tea.MouseMsg{Button: tea.MouseButtonLeft, Action: tea.MouseActionPress, X: x, Y: y})
	s.send(tea.MouseMsg{Button: tea.MouseButtonLeft, Action: tea.MouseActionRelease, X: x, Y: y})
	return s
}

// TestWheelIsTheKeys: turning the wheel leaves the same frame as the keys do, on a
// list, on a page and in a dialog.
func TestWheelIsTheKeys(t *testing.T) {
	for name, to := range map[string][]string{"list": {"4"}, "page": {"4", "enter"}, "help": {"?"}} {
		t.Run(name, func(t *testing.T) {
			st, c := scene()
			keys, wheel := newStage(t, st, c, 80, 16), newStage(t, st, c, 80, 16)
			keys.press(to...)
			wheel.press(to...)
			begin := keys.frame()
			keys.press("down", "down", "down", "down", "down", "down", "up", "up", "up")
			wheel.wheel(tea.MouseButtonWheelDown).wheel(tea.MouseButtonWheelDown).wheel(tea.MouseButtonWheelUp)
			if keys.frame() == begin {
				t.Fatal("the keys moved nothing: this test looks at nothing")
			}
			if keys.frame() != wheel.frame() {
				t.Errorf("keys:\n%s\nwheel:\n%s", keys.frame(), wheel.frame())
			}
		})
	}
}

// TestClickOnATab clicks on every cell of every label as it is drawn, at widths
// where the labels are whole and where they are keys alone.
func TestClickOnATab(t *testing.T) {
	for _, w := range []int{40, 60, 80, 120} {
		st, c := scene()
		s := newStage(t, st, c, w, 24)
		line := strings.Split(s.frame(), "\n")[tabRow]
		clicked := 0
		for tab := range tabs {
			if tab.key() == "" {
				continue
			}
			label := tab.key() + " " + tab.String()
			if !strings.Contains(line, label) {
				label = tab.key()
			}
			at := strings.Index(line, label)
			if at < 0 {
				t.Errorf("%d cells: tab %s is not on its line: %q", w, tab, line)
				continue
			}
			for x := at; x < at+len(label); x++ {
				st, c := scene()
				if s := newStage(t, st, c, w, 24).click(x, tabRow); s.root.tab != tab {
					t.Errorf("%d cells: a click on column %d of %q goes to %s, not to %s", w, x, line, s.root.tab, tab)
				}
				clicked++
			}
		}
		if clicked == 0 {
			t.Errorf("%d cells: no label was found: %q", w, line)
		}
	}
}

func TestClicksThatDoNothing(t *testing.T) {
	st, c := scene()
	s := newStage(t, st, c, 80, 24)
	before := s.frame()
	keysFrom := strings.Index(strings.Split(before, "\n")[tabRow], " ? help")
	for y := range 24 {
		for x := range 80 {
			if y == tabRow && x < keysFrom || y > bodyRow && y <= bodyRow+12 { // the tabs and the rows
				continue
			}
			s.click(x, y)
		}
	}
	s.send(tea.MouseMsg{Button: tea.MouseButtonRight, Action: tea.MouseActionPress, X: 14, Y: tabRow})
	s.send(tea.MouseMsg{Button: tea.MouseButtonLeft, Action: tea.MouseActionMotion, X: 14, Y: tabRow})
	if s.frame() != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, s.frame())
	}
	s.press("?").click(14, tabRow).sees("Keys:")
	if !strings.Contains(before, "COHORT / QUEUE") || s.press("esc").root.tab != TabCohorts {
		t.Error("a click behind a dialog went to a tab")
	}
}

// TestClickOnARow clicks on every row as it is drawn: the cursor is on it then, and a
// second click opens it.
func TestClickOnARow(t *testing.T) {
	for name, tc := range map[string]struct {
		tab  string
		w, h int
	}{"glance": {"1", 120, 40}, "low glance": {"1", 80, 14}, "cohorts": {"2", 80, 24}, "workloads": {"4", 80, 24}, "beside a pane": {"4", 200, 40}} {
		t.Run(name, func(t *testing.T) {
			fresh := func() *stage {
				st, c := scene()
				s := newStage(t, st, c, tc.w, tc.h)
				s.press(tc.tab)
				s.pass(leastPause + time.Second)
				return s
			}
			s := fresh()
			lines := strings.Split(s.frame(), "\n")
			first := 0
			for first < len(lines) && !strings.HasPrefix(lines[first], "▸") {
				first++
			}
			clicked := 0
			for y := first + 1; y < len(lines) && strings.HasPrefix(lines[y], "  ") && strings.TrimSpace(lines[y][:30]) != ""; y++ {
				want := strings.TrimSpace(lines[y][:30])
				s := fresh()
				if got := s.click(10, y).cursorLine(); !strings.Contains(got, want) {
					t.Fatalf("a click on line %d, %q: the cursor is on %q", y, want, got)
				}
				if before := len(s.root.stacks[s.root.tab]); len(s.click(10, y).root.stacks[s.root.tab]) != before+1 && tc.tab != "2" {
					t.Errorf("a second click on line %d, %q, opens nothing", y, want)
				}
				clicked++
			}
			if clicked < 2 {
				t.Errorf("%d rows were clicked on:\n%s", clicked, s.frame())
			}
			if at := s.cursorLine(); tc.w > 160 && s.click(190, first+1).cursorLine() != at {
				t.Error("a click on the pane moves the cursor")
			}
		})
	}
}

// TestNothingIsDoneByTheMouse: no turning and clicking executes a plan.
func TestNothingIsDoneByTheMouse(t *testing.T) {
	st, c := scene()
	s := newStage(t, st, c, 100, 30)
	s.desk.plan = editPlan()
	s.onTeamA().press("e")
	s.pass(2 * time.Second)
	for y := range 30 {
		for x := 0; x < 100; x += 2 {
			s.click(x, y)
		}
		s.wheel(tea.MouseButtonWheelDown).wheel(tea.MouseButtonWheelUp)
	}
	if len(s.desk.executed) > 0 || len(s.root.dialogs) != 1 {
		t.Errorf("executed %q, %d dialogs are open", s.desk.executed, len(s.root.dialogs))
	}
}

// TestMouseIsAsked: the terminal is asked for the mouse only where a person wants
// it, for its own selection goes with it.
func TestMouseIsAsked(t *testing.T) {
	const on = "\x1b[?1002h"
	for _, want := range []bool{false, true} {
		var out bytes.Buffer
		st, c := scene()
		p, err := newProgram(t.Context(), t.Context(), Options{Source: &fakeSource{st, nil}, Desk: &fakeDesk{}, Clock: c, In: strings.NewReader("\x03"), Out: &out, Mouse: want})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.tea.Run(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), on); got != want {
			t.Errorf("asked for the mouse: %v, want %v", got, want)
		}
	}
}
