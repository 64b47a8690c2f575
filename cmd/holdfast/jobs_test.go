package main

import (
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// shell is an interactive shell with the console as its job.
type shell struct {
	*seat
	pid int // of the console
}

// onShell opens the console as a person does it: at the prompt.
func onShell(t *testing.T, flags ...string) shell {
	t.Helper()
	s := sit(t, 80, 24, []string{"PS1=prompt> ", "ENV=", "HISTFILE="}, "sh", "-i")
	s.sees("prompt>")
	s.press("sh -c 'echo pid $$.; exec " + strings.Join(append([]string{holdfast(t), "--world", caseFile("05-preemption-chain"), "--now", clock0914}, flags...), " ") + "'\n")
	s.sees("FILE", "help")
	s.press("2").sees("COHORT / QUEUE", "Cohort hall", "Enter fold") // a screen that is drawn at once and does not change
	pid, err := strconv.Atoi(regexp.MustCompile(`pid (\d+)\.`).FindStringSubmatch(s.sent(0))[1])
	if err != nil {
		t.Fatal(err)
	}
	return shell{s, pid}
}

// suspended waits until the shell has the terminal again, as it was.
func (s shell) suspended(from int) {
	s.t.Helper()
	s.until("the shell's prompt on the first screen", func() bool {
		raw := s.sent(from)
		at := strings.LastIndex(raw, "\x1b[?1049l")
		return at >= 0 && strings.Contains(raw[at:], "prompt>") && left(s.sent(0)) && s.cooked()
	})
}

// whole fails unless every line of the frame was drawn since byte n, on a screen
// that was entered since.
func (s shell) whole(from int, frame string) {
	s.t.Helper()
	s.until("the second screen, drawn whole", func() bool {
		raw := s.sent(from)
		at := strings.LastIndex(raw, "\x1b[?1049h")
		if at < 0 || s.cooked() {
			return false
		}
		for _, word := range strings.Fields(frame) {
			if !strings.Contains(raw[at:], word) {
				return false
			}
		}
		return s.text() == frame
	})
}

func TestSuspendAndGoOn(t *testing.T) {
	s := onShell(t)
	frame := s.text()
	for range 2 { // the second time it must not be another
		from := s.count()
		s.press("\x1a")
		s.suspended(from)
		from = s.count()
		s.press("fg\n")
		s.whole(from, frame)
	}
	from := s.count()
	s.press("q")
	s.suspended(from)
	s.press("echo code $?.\n").sees("code 0.")
}

// A program that is stopped without being asked cannot give the terminal back, but
// it can take it anew.
func TestStoppedUnasked(t *testing.T) {
	s := onShell(t)
	frame := s.text()
	for _, stop := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGTSTP} {
		from := s.count()
		_ = syscall.Kill(s.pid, stop)
		s.until("the shell's prompt", func() bool { return strings.Contains(s.sent(from), "prompt>") })
		from = s.count()
		s.press("fg\n")
		s.whole(from, frame)
	}
	s.press("q")
	s.until("the shell's prompt, in the end", func() bool { return left(s.sent(0)) })
}

// A suspended console that is told to end must not wait for the terminal, which
// the shell has.
func TestSuspendedAndKilled(t *testing.T) {
	s := onShell(t)
	from := s.count()
	s.press("\x1a")
	s.suspended(from)
	_ = syscall.Kill(s.pid, syscall.SIGTERM)
	_ = syscall.Kill(s.pid, syscall.SIGCONT)
	s.until("the shell's word on how it ended", func() bool {
		s.press("\n") // it looks when it is about to prompt
		return strings.Contains(s.sent(from), "Done(130)") || strings.Contains(s.sent(from), "Exit 130")
	}).restored()
}

// Where nobody could say fg, the console must come back by itself.
func TestSuspendedWithoutAShell(t *testing.T) {
	s := onFile(t, 80, 24, nil)
	s.press("\x1a").sees("Not suspended: there is no shell to go back to", "FILE")
	s.press("?").sees("Keys:").press("\x03")
	if code := s.ends(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	s.restored()
}
