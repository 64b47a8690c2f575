package ui

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/ui/term"
)

// copying plays a script and returns what the terminal was given.
func copying(t *testing.T, script func(*stage)) (*stage, []string) {
	t.Helper()
	st, c := scene()
	s := newStage(t, st, c, 140, 30)
	var given []string
	s.root.aside = func(x string) error { given = append(given, x); return nil }
	script(s)
	return s, given
}

// sequence is what the terminal is to be given for a text, by the specification.
func sequence(text string) string {
	return "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\x07"
}

func TestCopy(t *testing.T) {
	const doubt = " with OSC 52; if nothing arrives your terminal does not allow it"
	tests := map[string]struct {
		script     func(*stage)
		text, says string
	}{
		"a ClusterQueue of the tree": {func(s *stage) { s.onTeamA().press("c") }, "team-a-cq", "copied team-a-cq (9 characters)" + doubt},
		"a cohort":                   {func(s *stage) { s.press("g", "c") }, "ai-shared", "copied ai-shared (9 characters)" + doubt},
		"a LocalQueue":               {func(s *stage) { s.press(":").typeText("team-a/batch").press("enter", "c") }, "team-a/batch", "copied team-a/batch (12 characters)" + doubt},
		"a Workload of the list":     {func(s *stage) { s.press("4", "down", "c") }, "team-a/train-1", "copied team-a/train-1 (14 characters)" + doubt},
		"a Workload's page":          {func(s *stage) { s.press("4", "down", "enter", "c") }, "team-a/train-1", "copied team-a/train-1 (14 characters)" + doubt},
		"its YAML": {func(s *stage) { s.press("4", "down", "enter", "y", "c") },
			"apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata:\n  name: x\n", "copied the YAML of team-a/train-1 (70 characters)" + doubt},
		"the name again, without the YAML": {func(s *stage) { s.press("4", "down", "enter", "y", "y", "c") }, "team-a/train-1", "copied team-a/train-1 (14"},
		"characters, not bytes": {func(s *stage) {
			s.desk.detail.YAML = []string{"kind: 日本"}
			s.press("4", "enter", "y", "c")
		}, "kind: 日本\n", "(9 characters)"},
		"the longest text": {func(s *stage) {
			s.desk.detail.YAML = []string{strings.Repeat("x", term.MostCopied-1)}
			s.press("4", "down", "enter", "y", "c")
		}, strings.Repeat("x", term.MostCopied-1) + "\n", "(74,994 characters)"},
		"one byte more": {func(s *stage) {
			s.desk.detail.YAML = []string{strings.Repeat("x", term.MostCopied)}
			s.press("4", "down", "enter", "y", "c")
		}, "", "the YAML of team-a/train-1 has 74,995 bytes, and terminals take 74,994: export it (x on the list) or use kubectl get -o yaml"},
		"a YAML that is not there": {func(s *stage) {
			s.desk.detailErr = errors.New("no")
			s.press("4", "down", "enter", "y", "c")
		}, "", "the YAML of team-a/train-1 could not be read"},
		"a screen of nothing": {func(s *stage) { s.press(":").typeText("log").press("enter", "c") }, "", "nothing of this screen can be copied"},
		"no sessions":         {func(s *stage) { s.press("6", "c") }, "", "there is no session here"},
		"a terminal that cannot": {func(s *stage) {
			s.root.opt.NoCopy = "the Linux console has no clipboard"
			s.press("c")
		}, "", "the Linux console has no clipboard"},
		"c is a letter in a filter": {func(s *stage) { s.press("4", "/", "c") }, "", "c▏"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, given := copying(t, tc.script)
			var want []string
			if tc.text != "" {
				want = []string{sequence(tc.text)}
			}
			if d := cmp.Diff(want, given); d != "" {
				t.Errorf("the terminal was given (-want +got):\n%s", d)
			}
			s.sees(tc.says)
			if err := checkFrame(s.root.View(), 140, 30); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCopyInTmux(t *testing.T) {
	s, given := copying(t, func(s *stage) {
		s.root.opt.Tmux = true
		s.onTeamA().press("c")
	})
	want := "\x1bPtmux;\x1b" + sequence("team-a-cq") + "\x1b\\"
	if d := cmp.Diff([]string{want}, given); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	s.sees("if nothing arrives tmux (allow-passthrough) or your terminal does not allow it")
}

func TestCopyThatFails(t *testing.T) {
	s, _ := copying(t, func(s *stage) {
		s.root.aside = func(string) error { return errors.New("input/output error") }
		s.onTeamA().press("c")
	})
	s.sees("team-a-cq was not copied: input/output error")
}

// TestCopyOnEveryList: on every tab with a row under the cursor, what is copied is
// what that row shows.
func TestCopyOnEveryList(t *testing.T) {
	looked := 0
	for tab := range tabs {
		s, given := copying(t, func(s *stage) {
			for s.root.tab != tab {
				s.press("tab")
			}
			s.press("c")
		})
		line := s.cursorLine()
		if line == "" {
			continue
		}
		looked++
		if len(given) != 1 {
			t.Errorf("%s: %d sequences for the row %q:\n%s", tab, len(given), line, s.frame())
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(strings.TrimPrefix(given[0], "\x1b]52;c;"), "\x07"))
		name := string(raw)
		if err != nil || !strings.Contains(line, name[strings.LastIndex(name, "/")+1:]) {
			t.Errorf("%s: copied %q, %v; the row is %q", tab, name, err, line)
		}
	}
	if looked < 5 {
		t.Errorf("only %d tabs have a row under the cursor", looked)
	}
}
