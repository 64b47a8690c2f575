package main

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/cmd/holdfast/internal/seat"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui"
)

// onFile opens the console on a file of objects.
func onFile(t *testing.T, w, h int, env []string, flags ...string) *seat.Seat {
	t.Helper()
	args := append([]string{"--world", caseFile("05-preemption-chain"), "--now", clock0914}, flags...)
	return seat.Sit(t, w, h, env, holdfast(t), args...).Sees("FILE", "help")
}

func TestTheTerminalIsRestoredAtEveryEnd(t *testing.T) {
	tests := map[string]struct {
		end  func(*seat.Seat)
		code int
	}{
		"q":       {func(s *seat.Seat) { s.Press("q") }, exitOK},
		"ctrl+c":  {func(s *seat.Seat) { s.Press("\x03") }, exitOK},
		"SIGTERM": {func(s *seat.Seat) { s.Signal(syscall.SIGTERM) }, exitInterrupted},
		"SIGHUP":  {func(s *seat.Seat) { s.Signal(syscall.SIGHUP) }, exitInterrupted},
		"SIGINT":  {func(s *seat.Seat) { s.Signal(syscall.SIGINT) }, exitInterrupted},
		"ctrl+c in a dialog": {func(s *seat.Seat) {
			s.Press("?").Sees("Keys:").Press("\x03")
		}, exitOK},
	}
	for name, tc := range tests {
		for _, flags := range [][]string{nil, {"--mouse", "--sync-output=on"}} {
			t.Run(name+strings.Join(flags, " "), func(t *testing.T) {
				s := onFile(t, 80, 24, nil, flags...)
				if s.Cooked() {
					t.Fatal("the modes were not changed at all: this test looks at nothing")
				}
				tc.end(s)
				if code := s.Ends(); code != tc.code {
					t.Errorf("exit code %d, want %d", code, tc.code)
				}
				s.Restored()
				_, after, _ := strings.Cut(s.Sent(0), "\x1b[?1049l")
				if strings.Contains(after, "holdfast:") {
					t.Errorf("an end that was asked for is told as an error: %q", after)
				}
			})
		}
	}
}

// crashing is the first argument of the test's own program that makes it a console
// which fails; the second says where, the third is the file that it shows.
const crashing = "crashing-console"

// flawed panics where it is told to.
type flawed struct {
	*actions.Offline
	still
	at  string
	lit chan struct{}
}

// SetQueues is called by Update.
func (f flawed) SetQueues([]string) {
	if f.at == "update" {
		panic("the flare went off")
	}
	select {
	case f.lit <- struct{}{}:
	default:
	}
}

func (flawed) Get(string) (places map[world.Key]int, readAt time.Time, why string) {
	return nil, time.Time{}, ""
}

// May is called by View.
func (f flawed) May(r world.Ref, a actions.Action) (bool, string) {
	if f.at == "view" {
		panic("the flare went off")
	}
	return f.Offline.May(r, a)
}

// Snapshot is called by a command.
func (f flawed) Snapshot() *store.Snapshot {
	if f.at == "command" {
		panic("the flare went off")
	}
	return f.still.Snapshot()
}

// crash is a console that fails.
func crash() int {
	quiet := silence()
	a := &app{in: os.Stdin, out: os.Stdout, err: quiet.err, log: quiet.ring}
	a.command() // for what its flags are by default
	a.from.world = os.Args[3]
	in, _, err := a.from.open(clock.RealClock{})
	if err == nil {
		_, err = takeStreams(a.log)
	}
	if err != nil {
		return a.exit(context.Background(), err)
	}
	f := flawed{&actions.Offline{Snapshot: in.Snapshot}, still{in.Snapshot}, os.Args[2], make(chan struct{})}
	if f.at == "background" {
		background(func() { <-f.lit; panic("the flare went off") })
	}
	_, err = a.show(context.Background(), ui.Options{Source: f, Desk: f, Clock: clock.RealClock{}, Places: f})
	return a.exit(context.Background(), err)
}

// What went wrong must be readable afterwards, on the terminal as it was.
func TestTheTerminalIsRestoredAfterACrash(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		code int
		says string
	}{
		"update":     {exitMistake, "holdfast: a mistake in holdfast ended the console: the flare went off"},
		"view":       {exitMistake, "holdfast: a mistake in holdfast ended the console: the flare went off"},
		"command":    {exitMistake, "holdfast: a mistake in holdfast ended the console: the flare went off"},
		"background": {2, "panic: the flare went off"}, // Go's own code
	}
	for at, tc := range tests {
		t.Run(at, func(t *testing.T) {
			s := seat.Sit(t, 100, 30, nil, self, crashing, at, caseFile("05-preemption-chain"))
			if code := s.Ends(); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			s.Restored()
			raw := s.Sent(0)
			after := raw[strings.LastIndex(raw, "\x1b[?1049l"):]
			for _, want := range []string{tc.says, "goroutine ", "restore_test.go"} {
				if !strings.Contains(after, want) {
					t.Errorf("%q is not among what is left to read: %q", want, after)
				}
			}
			if strings.Contains(raw[:len(raw)-len(after)], "the flare") {
				t.Error("the screen that vanished told of it, too")
			}
		})
	}
}
