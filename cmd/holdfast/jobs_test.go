package main

import (
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"cli.holdfast.dev/holdfast/cmd/holdfast/internal/seat"
)

// shell is an interactive shell with the console as its job.
type shell struct {
	*seat.Seat
	pid int // of the console
}

// onShell opens the console as a person does it: at the prompt.
func onShell(t *testing.T, flags ...string) shell {
	t.Helper()
	s := seat.Sit(t, 80, 24, []string{"PS1=prompt> ", "ENV=", "HISTFILE="}, "sh", "-i")
	s.Sees("prompt>")
	s.Press("sh -c 'echo pid $$.; exec " + strings.Join(append([]string{holdfast(t), "--world", caseFile("05-preemption-chain"), "--now", clock0914}, flags...), " ") + "'\n")
	s.Sees("FILE", "help")
	s.Press("2").Sees("COHORT / QUEUE", "Cohort hall", "Enter fold") // a screen that is drawn at once and does not change
	pid, err := strconv.Atoi(regexp.MustCompile(`pid (\d+)\.`).FindStringSubmatch(s.Sent(0))[1])
	if err != nil {
		t.Fatal(err)
	}
	return shell{s, pid}
}

// suspended waits until the shell has the terminal again, as it was.
func (s shell) suspended(from int) {
	s.T.Helper()
	s.Until("the shell's prompt on the first screen", func() bool {
		raw := s.Sent(from)
		at := strings.LastIndex(raw, "\x1b[?1049l")
		return at >= 0 && strings.Contains(raw[at:], "prompt>") && seat.Left(s.Sent(0)) && s.Cooked()
	})
}

// whole fails unless every line of the frame was drawn since byte n, on a screen
// that was entered since.
func (s shell) whole(from int, frame string) {
	s.T.Helper()
	s.Until("the second screen, drawn whole", func() bool {
		raw := s.Sent(from)
		at := strings.LastIndex(raw, "\x1b[?1049h")
		if at < 0 || s.Cooked() {
			return false
		}
		for _, word := range strings.Fields(frame) {
			if !strings.Contains(raw[at:], word) {
				return false
			}
		}
		return s.Text() == frame
	})
}

func TestSuspendAndGoOn(t *testing.T) {
	s := onShell(t)
	frame := s.Text()
	for range 2 { // the second time it must not be another
		from := s.Count()
		s.Press("\x1a")
		s.suspended(from)
		from = s.Count()
		s.Press("fg\n")
		s.whole(from, frame)
	}
	from := s.Count()
	s.Press("q")
	s.suspended(from)
	s.Press("echo code $?.\n").Sees("code 0.")
}

// A program that is stopped without being asked cannot give the terminal back, but
// it can take it anew.
func TestStoppedUnasked(t *testing.T) {
	s := onShell(t)
	frame := s.Text()
	for _, stop := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGTSTP} {
		from := s.Count()
		_ = syscall.Kill(s.pid, stop)
		s.Until("the shell's prompt", func() bool { return strings.Contains(s.Sent(from), "prompt>") })
		from = s.Count()
		s.Press("fg\n")
		s.whole(from, frame)
	}
	s.Press("q")
	s.Until("the shell's prompt, in the end", func() bool { return seat.Left(s.Sent(0)) })
}

// A suspended console that is told to end must not wait for the terminal, which
// the shell has.
func TestSuspendedAndKilled(t *testing.T) {
	s := onShell(t)
	from := s.Count()
	s.Press("\x1a")
	s.suspended(from)
	_ = syscall.Kill(s.pid, syscall.SIGTERM)
	_ = syscall.Kill(s.pid, syscall.SIGCONT)
	s.Until("the shell's word on how it ended", func() bool {
		s.Press("\n") // it looks when it is about to prompt
		return strings.Contains(s.Sent(from), "Done(130)") || strings.Contains(s.Sent(from), "Exit 130")
	}).Restored()
}

// Where nobody could say fg, the console must come back by itself.
func TestSuspendedWithoutAShell(t *testing.T) {
	s := onFile(t, 80, 24, nil)
	s.Press("\x1a").Sees("Not suspended: there is no shell to go back to", "FILE")
	s.Press("?").Sees("Keys:").Press("\x03")
	if code := s.Ends(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	s.Restored()
}
