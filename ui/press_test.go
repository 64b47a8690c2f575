package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/actions"
)

// atOnce sends keys as they come over a slow line: in one piece.
func (s *stage) atOnce(keys string) *stage {
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(keys)})
	return s
}

func TestKeysThatComeAtOnce(t *testing.T) {
	st, c := scene()
	one := newStage(t, st, c, 100, 30)
	one.press("4", "j", "j")
	st, c = scene()
	newStage(t, st, c, 100, 30).press("4").atOnce("jj").cursorOn(strings.TrimSpace(one.cursorLine()))

	st, c = scene()
	newStage(t, st, c, 100, 30).atOnce("4/train-l").sees("train-llm", "train-l▏").atOnce("lm").sees("train-llm▏")

	st, c = scene()
	newStage(t, st, c, 100, 30).atOnce(":log").press("enter").sees("Nothing was logged.")
}

// TestKeysAtOnceConfirmNothing: whatever comes in one piece, it is executed only
// after its word was typed into the dialog by itself.
func TestKeysAtOnceConfirmNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st, c := scene()
		s := newStage(t, st, c, 100, 30)
		p := rapid.SampledFrom([]actions.Plan{holdPlan(), editPlan(), policyPlan()}).Draw(t, "plan")
		s.desk.plan, s.desk.impact = p, burst(st.Snapshot())
		s.press("down", "down", "down", "down")
		for i := range rapid.IntRange(1, 8).Draw(t, "pieces") {
			piece := rapid.StringMatching("[HRDex y]{1,4}").Draw(t, fmt.Sprint("piece ", i))
			if len(piece) == 1 {
				piece += " "
			}
			s.atOnce(piece + p.Confirm.Expects)
			if rapid.Bool().Draw(t, "enter") {
				s.press("enter")
			}
			s.pass(time.Duration(rapid.IntRange(0, 1500).Draw(t, "ms")) * time.Millisecond)
		}
		if len(s.desk.executed) > 0 {
			t.Fatalf("executed with %q:\n%s", s.desk.executed, s.frame())
		}
	})
}
