package main

import (
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/term"
)

// seat is a terminal with a program on it, as a person has it in front of them.
type seat struct {
	t      *testing.T
	cmd    *exec.Cmd
	tty    *os.File // the person's side
	inside *os.File // the program's side, to look at its modes
	was    *term.State
	done   chan struct{}

	mu     sync.Mutex // the emulator is not safe for concurrent use
	screen *vt.Emulator
	raw    strings.Builder
}

// sit starts a program on a terminal of w x h, of which it leads the session.
func sit(t *testing.T, w, h int, env []string, name string, args ...string) *seat {
	t.Helper()
	tty, inside, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &seat{t: t, cmd: exec.Command(name, args...), tty: tty, inside: inside, screen: vt.NewEmulator(w, h), done: make(chan struct{})}
	s.size(w, h)
	if s.was, err = term.GetState(int(inside.Fd())); err != nil {
		t.Fatal(err)
	}
	s.cmd.Env = append(append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=", "TMUX=", "XDG_STATE_HOME="+t.TempDir()), env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = inside, inside, inside
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.read()
	// A terminal answers some questions; nobody reads the emulator's answers here.
	go func() { _, _ = io.Copy(io.Discard, s.screen) }()
	go func() { _ = s.cmd.Wait(); close(s.done) }()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen at the end:\n%s", s.text())
		}
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.done
		_, _ = tty.Close(), inside.Close()
	})
	return s
}

func (s *seat) read() {
	buf := make([]byte, 1<<15)
	for {
		n, err := s.tty.Read(buf)
		s.mu.Lock()
		_, _ = s.screen.Write(buf[:n])
		s.raw.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *seat) size(w, h int) {
	s.t.Helper()
	s.mu.Lock()
	s.screen.Resize(w, h)
	s.mu.Unlock()
	if err := pty.Setsize(s.tty, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}); err != nil {
		s.t.Fatal(err)
	}
}

// text is the screen.
func (s *seat) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.String()
}

// sent is everything that the program has written from byte n on.
func (s *seat) sent(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()[n:]
}

func (s *seat) count() int { return len(s.sent(0)) }

// patient is for a loaded machine; a healthy run never needs it.
const patient = 60 * time.Second

// until waits until cond holds.
func (s *seat) until(what string, cond func() bool) *seat {
	s.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patient); time.Now().Before(end); <-tick.C {
		if cond() {
			return s
		}
	}
	s.t.Fatalf("not seen in %s: %s", patient, what)
	return s
}

// sees waits until every text stands on the screen.
func (s *seat) sees(texts ...string) *seat {
	s.t.Helper()
	return s.until(strings.Join(texts, " | "), func() bool {
		now := strings.Join(strings.Fields(s.text()), " ")
		for _, x := range texts {
			if !strings.Contains(now, x) {
				return false
			}
		}
		return true
	})
}

// press sends keys.
func (s *seat) press(keys string) *seat {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
	return s
}

func (s *seat) signal(x syscall.Signal) *seat {
	s.t.Helper()
	if err := s.cmd.Process.Signal(x); err != nil {
		s.t.Fatal(err)
	}
	return s
}

// ends waits for the program to end and returns its exit code.
func (s *seat) ends() int {
	s.t.Helper()
	s.until("the end of the program", func() bool {
		select {
		case <-s.done:
			return true
		default:
			return false
		}
	})
	return s.cmd.ProcessState.ExitCode()
}

// cooked reports whether the terminal's modes are what they were at first.
func (s *seat) cooked() bool {
	now, err := term.GetState(int(s.inside.Fd()))
	return err == nil && reflect.DeepEqual(now, s.was)
}

// modes are those that a console switches on, by the end of what it switches them
// on with; the cursor is the one that it switches off.
var modes = []string{"?1049", "?2004", "?1002", "?1006", "?2026"}

// left reports whether what was written leaves everything switched off that it had
// switched on, and the cursor shown.
func left(raw string) bool {
	for _, m := range modes {
		if strings.LastIndex(raw, "\x1b["+m+"h") > strings.LastIndex(raw, "\x1b["+m+"l") {
			return false
		}
	}
	return strings.LastIndex(raw, "\x1b[?25h") >= strings.LastIndex(raw, "\x1b[?25l")
}

// restored waits until the terminal is as it was before.
func (s *seat) restored() *seat {
	s.t.Helper()
	s.until("the modes of the terminal as they were", s.cooked)
	return s.until("the first screen, with its cursor", func() bool { return left(s.sent(0)) })
}
