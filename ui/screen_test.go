package ui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/vt"

	"cli.holdfast.dev/holdfast/model/store"
)

// terminal is a screen that a program draws on. x/vt is not safe for use from
// several goroutines.
type terminal struct {
	mu    sync.Mutex
	vt    *vt.Emulator
	bytes bytes.Buffer
}

func (s *terminal) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes.Write(p)
	return s.vt.Write(p)
}

func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.vt.String()
}

// waitFor polls until the screen has the text.
func (s *terminal) waitFor(t *testing.T, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(s.text(), text) {
		select {
		case <-ctx.Done():
			t.Fatalf("%q did not come:\n%s", text, s.text())
		case <-tick.C:
		}
	}
}

// TestOnATerminal runs the program as it is and looks at the screen.
func TestOnATerminal(t *testing.T) {
	st, c := scene()
	screen := &terminal{vt: vt.NewEmulator(100, 30)}
	ctx, cancel := context.WithCancel(t.Context())
	in, keyboard := io.Pipe()
	defer keyboard.Close()
	p, err := newProgram(ctx, ctx, Options{Source: &fakeSource{st, make(chan struct{}, 1)}, Desk: &fakeDesk{}, Clock: c, In: in, Out: screen, Start: TabCohorts})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := p.tea.Run()
		ended <- err
	}()
	p.tea.Send(tea.WindowSizeMsg{Width: 100, Height: 30})
	screen.waitFor(t, "team-a-cq")
	screen.waitFor(t, "● live")
	if _, err := keyboard.Write([]byte("4")); err != nil {
		t.Fatal(err)
	}
	screen.waitFor(t, "train-llm-7f2")
	if _, err := keyboard.Write([]byte("\x1b[200~q\x1b[201~")); err != nil { // a pasted q quits nothing
		t.Fatal(err)
	}
	if _, err := keyboard.Write([]byte("3")); err != nil {
		t.Fatal(err)
	}
	screen.waitFor(t, "CLUSTERQUEUE / LOCAL")
	cancel()
	if err := <-ended; !errors.Is(err, tea.ErrProgramKilled) {
		t.Errorf("ended with %v", err)
	}
	screen.mu.Lock()
	defer screen.mu.Unlock()
	for _, restore := range []string{"\x1b[?1049l", "\x1b[?25h", "\x1b[?2004l"} {
		if !strings.Contains(screen.bytes.String(), restore) {
			t.Errorf("%q was not sent at the end", restore)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	st, c := scene()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Options{Source: &fakeSource{st, nil}, Desk: &fakeDesk{}, Clock: c, In: strings.NewReader(""), Out: io.Discard}); err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, err := Run(t.Context(), Options{}); err == nil {
		t.Error("ran without a source")
	}
}

// waited is a source that says when somebody begins to wait for it.
type waited struct {
	*fakeSource
	begun func()
}

func (s waited) Changed() <-chan struct{} {
	s.begun()
	return s.changed
}

// TestRunLeavesNothingBehind: the console is left for another context again and again,
// and nothing may go on waiting for the cluster that was left: it would keep all that is
// known of it.
func TestRunLeavesNothingBehind(t *testing.T) {
	for range 3 {
		st, c := scene()
		in, keyboard := io.Pipe()
		source := waited{&fakeSource{st, make(chan struct{}, 1)}, func() { _, _ = keyboard.Write([]byte("\x03")) }}
		if _, err := Run(t.Context(), Options{Source: source, Desk: &fakeDesk{}, Clock: c, In: in, Out: &terminal{vt: vt.NewEmulator(100, 30)}}); err != nil {
			t.Fatal(err)
		}
		keyboard.Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	waits := regexp.MustCompile(`holdfast/ui\..*(wait|continued)\.func`)
	for {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		if !waits.Match(stacks) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("still there: %q", waits.FindAll(stacks, -1))
		case <-tick.C:
		}
	}
}

// Keys may be typed before the first snapshot is there, and a file has no second one.
func TestKeysBeforeTheFirstSnapshot(t *testing.T) {
	for _, tab := range []string{"1", "2", "3", "4", "7"} {
		st, c := scene()
		s := begin(t, 120, 40)
		first := store.New(c).Snapshot().Seq
		snap := *st.Snapshot()
		snap.Seq = first // as of a store that was never asked before
		s.root = newRoot(t.Context(), Options{Source: s.source, Desk: s.desk, Clock: c, File: "world.yaml"}.withDefaults(), s.root.theme, s.timer, fixedWhy)
		s.send(tea.WindowSizeMsg{Width: 120, Height: 40})
		s.press(tab)
		s.rest()
		s.send(snapshotMsg{&snap, now})
		s.sees("team-")
		if tab == "7" {
			s.sees("a100")
		}
	}
}
