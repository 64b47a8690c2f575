package ui

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// stage plays a console without a terminal: keys go in, frames come out, and
// time passes only when the test says so.
type stage struct {
	t      failer
	root   root
	clock  *clocktesting.FakePassiveClock
	store  *store.Store
	source *fakeSource
	desk   *fakeDesk
	timers []timed
	edited int // times the editor was run
	quit   bool
	// held keeps the answers of the Desk back while it is set.
	held    bool
	waiting []tea.Cmd
}

// failer is what tests, benchmarks and properties have in common.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

type timed struct {
	at  time.Time
	msg tea.Msg
}

type fakeSource struct {
	store   *store.Store
	changed chan struct{}
}

func (s *fakeSource) Snapshot() *store.Snapshot { return s.store.Snapshot() }
func (s *fakeSource) Changed() <-chan struct{}  { return s.changed }

// now is when every test takes place.
var now = time.Date(2026, 12, 2, 14, 3, 22, 0, time.FixedZone("", 3600))

// fixedWhy explains by the state alone, so that frames do not depend on how
// explanations are worded.
func fixedWhy(*store.Snapshot, time.Time) func(*world.Workload) reason.Explanation {
	return fixedReason
}

func fixedReason(w *world.Workload) reason.Explanation {
	switch w.State {
	case world.Pending:
		return reason.Explanation{Class: reason.Quota, Advice: reason.AdviceWait, Sentence: "Needs 4 nvidia.com/gpu of a100: 2 are free, 10 at most. Waits for 2 to come back.",
			Reason: "Pending", Message: "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 2 more needed",
			Shortfall: []reason.Shortfall{{FlavorResource: gpu, Need: 4, Free: 2, Most: 10, Missing: 2}},
			Obstacles: []reason.Obstacle{{Kind: reason.ObstacleFlavorMismatch, Object: "ResourceFlavor/h100", Detail: "taint gpu=h100 is not tolerated"}}}
	case world.Evicting:
		return reason.Explanation{Class: reason.Preempted, Advice: reason.AdviceEscalate, Actor: "platform admin", Stuck: true, Sentence: "Is being evicted; its pods have not stopped for 40 min."}
	case world.Admitted, world.Reserving:
		return reason.Explanation{Class: reason.OK, Sentence: "Nothing in Kueue stops it."}
	}
	return reason.Explanation{Class: reason.OK}
}

func newStage(t failer, s *store.Store, c *clocktesting.FakePassiveClock, w, h int) *stage {
	t.Helper()
	st := &stage{t: t, clock: c, store: s, source: &fakeSource{s, make(chan struct{}, 1)}, desk: &fakeDesk{}}
	st.desk.detail = actions.Detail{ReadAt: now, Timeline: []actions.Entry{
		{At: now.Add(-41 * time.Minute), Kind: "condition", Type: "QuotaReserved=True", Reason: "QuotaReserved", Text: "Quota reserved in ClusterQueue team-a-cq"},
		{At: now.Add(-38 * time.Minute), Kind: "event", Type: "Warning", Reason: "Preempted", Text: "Preempted to accommodate a higher priority Workload", Count: 3},
	}, YAML: []string{"apiVersion: kueue.x-k8s.io/v1beta2", "kind: Workload", "metadata:", "  name: x"}}
	th, err := theme.New("", false, false)
	if err != nil {
		t.Fatal(err)
	}
	st.root = newRoot(context.Background(), Options{Source: st.source, Desk: st.desk, Clock: c, Start: TabCohorts}.withDefaults(), th, st.timer, fixedWhy)
	st.root.runner = func(_ *exec.Cmd, done func(error) tea.Msg) tea.Cmd {
		st.edited++
		return func() tea.Msg { return done(nil) }
	}
	st.send(tea.WindowSizeMsg{Width: w, Height: h})
	st.run(st.root.Init())
	return st
}

func (s *stage) timer(d time.Duration, m tea.Msg) tea.Cmd {
	if _, ok := m.(waitDue); !ok {
		s.timers = append(s.timers, timed{s.clock.Now().Add(d), m})
	}
	return nil
}

func (s *stage) run(c tea.Cmd) {
	if c == nil {
		return
	}
	if s.held {
		s.waiting = append(s.waiting, c)
		return
	}
	switch m := c().(type) {
	case nil:
	case tea.BatchMsg:
		for _, x := range m {
			s.run(x)
		}
	case tea.QuitMsg:
		s.quit = true
	default:
		s.send(m)
	}
}

// release lets held answers come.
func (s *stage) release() {
	s.held = false
	cs := s.waiting
	s.waiting = nil
	for _, c := range cs {
		s.run(c)
	}
}

func (s *stage) send(m tea.Msg) {
	next, cmd := s.root.Update(m)
	s.root = next.(root)
	s.run(cmd)
}

// refresh makes a snapshot and shows it, as if the last key were long ago.
func (s *stage) refresh() {
	s.rest()
	s.run(s.root.fetch())
}

// rest ends the stillness after the last key, without any time going by.
func (s *stage) rest() {
	for i, x := range s.timers {
		if m, ok := x.msg.(stillDue); ok {
			s.timers = append(s.timers[:i:i], s.timers[i+1:]...)
			s.send(m)
			s.rest()
			return
		}
	}
}

// pass lets time go by.
func (s *stage) pass(d time.Duration) {
	end := s.clock.Now().Add(d)
	for {
		at := -1
		for i, x := range s.timers {
			if !x.at.After(end) && (at < 0 || x.at.Before(s.timers[at].at)) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		x := s.timers[at]
		s.timers = append(s.timers[:at:at], s.timers[at+1:]...)
		s.clock.SetTime(x.at)
		s.send(x.msg)
	}
	s.clock.SetTime(end)
}

// press types keys by their names: "enter", "esc", "ctrl+e", or single letters.
func (s *stage) press(keys ...string) *stage {
	for _, k := range keys {
		s.send(keyMsg(k))
	}
	return s
}

// typeText types text letter by letter.
func (s *stage) typeText(text string) *stage {
	for _, r := range text {
		s.send(keyMsg(string(r)))
	}
	return s
}

func keyMsg(k string) tea.KeyMsg {
	for t, name := range map[tea.KeyType]string{
		tea.KeyEnter: "enter", tea.KeyEsc: "esc", tea.KeyUp: "up", tea.KeyDown: "down", tea.KeyLeft: "left", tea.KeyRight: "right",
		tea.KeyPgUp: "pgup", tea.KeyPgDown: "pgdown", tea.KeyHome: "home", tea.KeyEnd: "end", tea.KeyTab: "tab", tea.KeyShiftTab: "shift+tab",
		tea.KeyCtrlP: "ctrl+p", tea.KeyBackspace: "backspace", tea.KeyCtrlC: "ctrl+c", tea.KeyCtrlE: "ctrl+e", tea.KeyCtrlD: "ctrl+d", tea.KeyCtrlU: "ctrl+u",
	} {
		if k == name {
			return tea.KeyMsg{Type: t}
		}
	}
	if k == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune(k)}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
}

func paste(text string) tea.KeyMsg {
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true}
}

// frame is what is on the screen, without colours.
func (s *stage) frame() string { return ansi.Strip(s.root.View()) }

// sees fails unless every text is on the screen.
func (s *stage) sees(texts ...string) *stage {
	s.t.Helper()
	f := s.frame()
	for _, x := range texts {
		if !strings.Contains(f, x) {
			s.t.Fatalf("%q is not on the screen:\n%s", x, f)
		}
	}
	return s
}

// seesNot fails when the text is on the screen.
func (s *stage) seesNot(text string) *stage {
	s.t.Helper()
	if f := s.frame(); strings.Contains(f, text) {
		s.t.Fatalf("%q is on the screen:\n%s", text, f)
	}
	return s
}

// cursorOn fails unless the line under the cursor has the text.
func (s *stage) cursorOn(text string) *stage {
	s.t.Helper()
	l := s.cursorLine()
	if !strings.Contains(l, text) {
		s.t.Fatalf("the cursor is on %q, not on %q:\n%s", l, text, s.frame())
	}
	return s
}

func (s *stage) cursorLine() string {
	for l := range strings.SplitSeq(s.root.View(), "\n") {
		if g := s.root.theme.Glyph; strings.Contains(l, "\x1b[7m"+g.Cursor) || strings.Contains(l, "\x1b[7m"+g.Gone) { // a mark may follow
			return ansi.Strip(l)
		}
	}
	return ""
}

// checkFrame reports what breaks the rules of a frame.
func checkFrame(f string, w, h int) error {
	lines := strings.Split(f, "\n")
	if len(lines) != h {
		return fmt.Errorf("%d lines instead of %d", len(lines), h)
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			return fmt.Errorf("line %d is %d cells wide, more than %d: %q", i, n, w, l)
		}
		plain := ansi.Strip(l)
		for _, r := range plain {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
				return fmt.Errorf("line %d has the control character %U: %q", i, r, l)
			}
		}
		// What Strip takes away must be colours and nothing else.
		rest := l
		for {
			_, after, ok := strings.Cut(rest, "\x1b")
			if !ok {
				break
			}
			end := strings.IndexByte(after, 'm')
			if !strings.HasPrefix(after, "[") || end < 0 || strings.Trim(after[1:end], "0123456789;") != "" {
				return fmt.Errorf("line %d has an escape sequence that is no colour: %q", i, l)
			}
			rest = after[end+1:]
		}
	}
	return nil
}
