// Package seat puts a program on a terminal and looks at it as a person does. It is for
// tests.
package seat

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

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/term"
)

// Seat is a terminal with a program on it, as a person has it in front of them.
type Seat struct {
	T *testing.T
	// Cmd is the program; it has been started.
	Cmd    *exec.Cmd
	tty    *os.File // the person's side
	inside *os.File // the program's side, to look at its modes
	was    *term.State
	done   chan struct{}

	mu     sync.Mutex // the emulator is not safe for concurrent use
	screen *vt.Emulator
	raw    strings.Builder
}

// Sit starts a program on a terminal of w x h, of which it leads the session, with env
// beside the environment of the test. It ends with the test, whose log then has the screen
// if it failed.
func Sit(t *testing.T, w, h int, env []string, name string, args ...string) *Seat {
	t.Helper()
	tty, inside, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &Seat{T: t, Cmd: exec.Command(name, args...), tty: tty, inside: inside, screen: vt.NewEmulator(w, h), done: make(chan struct{})}
	s.Resize(w, h)
	if s.was, err = term.GetState(int(inside.Fd())); err != nil {
		t.Fatal(err)
	}
	s.Cmd.Env = append(append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=", "TMUX=", "XDG_STATE_HOME="+t.TempDir()), env...)
	s.Cmd.Stdin, s.Cmd.Stdout, s.Cmd.Stderr = inside, inside, inside
	s.Cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.read()
	// A terminal answers some questions; nobody reads the emulator's answers here.
	go func() { _, _ = io.Copy(io.Discard, s.screen) }()
	go func() { _ = s.Cmd.Wait(); close(s.done) }()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen at the end:\n%s", s.Text())
		}
		_ = syscall.Kill(-s.Cmd.Process.Pid, syscall.SIGKILL)
		<-s.done
		_, _ = tty.Close(), inside.Close()
	})
	return s
}

func (s *Seat) read() {
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

// Resize gives the terminal another size.
func (s *Seat) Resize(w, h int) {
	s.T.Helper()
	s.mu.Lock()
	s.screen.Resize(w, h)
	s.mu.Unlock()
	if err := pty.Setsize(s.tty, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}); err != nil {
		s.T.Fatal(err)
	}
}

// Text is the screen.
func (s *Seat) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.String()
}

// Cells lets f look at the screen's cells.
func (s *Seat) Cells(f func(w, h int, at func(x, y int) *uv.Cell)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.screen.Width(), s.screen.Height(), s.screen.CellAt)
}

// Sent is everything that the program has written from byte n on.
func (s *Seat) Sent(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()[n:]
}

// Count is how many bytes the program has written.
func (s *Seat) Count() int { return len(s.Sent(0)) }

// Patience is for a loaded machine; a healthy run never needs it.
const Patience = 60 * time.Second

// Until waits until cond holds.
func (s *Seat) Until(what string, cond func() bool) *Seat {
	s.T.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(Patience); time.Now().Before(end); <-tick.C {
		if cond() {
			return s
		}
	}
	s.T.Fatalf("not seen in %s: %s", Patience, what)
	return s
}

// Sees waits until every text stands on the screen. Line breaks of wrapped text and the
// frames of dialogs count as one space.
func (s *Seat) Sees(texts ...string) *Seat {
	s.T.Helper()
	return s.Until(strings.Join(texts, " | "), func() bool {
		now := Squeeze(s.Text())
		for _, x := range texts {
			if !strings.Contains(now, x) {
				return false
			}
		}
		return true
	})
}

// Squeeze is the text with its frames, line breaks and runs of blanks as one space each.
func Squeeze(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "│", " ")), " ")
}

// Press sends keys.
func (s *Seat) Press(keys string) *Seat {
	s.T.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.T.Fatal(err)
	}
	return s
}

// Signal sends the program a signal.
func (s *Seat) Signal(x syscall.Signal) *Seat {
	s.T.Helper()
	if err := s.Cmd.Process.Signal(x); err != nil {
		s.T.Fatal(err)
	}
	return s
}

// Ends waits for the program to end and returns its exit code.
func (s *Seat) Ends() int {
	s.T.Helper()
	s.Until("the end of the program", func() bool {
		select {
		case <-s.done:
			return true
		default:
			return false
		}
	})
	return s.Cmd.ProcessState.ExitCode()
}

// Cooked reports whether the terminal's modes are what they were at first.
func (s *Seat) Cooked() bool {
	now, err := term.GetState(int(s.inside.Fd()))
	return err == nil && reflect.DeepEqual(now, s.was)
}

// modes are those that a console switches on, by the end of what it switches them
// on with; the cursor is the one that it switches off.
var modes = []string{"?1049", "?2004", "?1002", "?1006", "?2026"}

// Left reports whether what was written leaves everything switched off that it had
// switched on, and the cursor shown.
func Left(raw string) bool {
	for _, m := range modes {
		if strings.LastIndex(raw, "\x1b["+m+"h") > strings.LastIndex(raw, "\x1b["+m+"l") {
			return false
		}
	}
	return strings.LastIndex(raw, "\x1b[?25h") >= strings.LastIndex(raw, "\x1b[?25l")
}

// Restored waits until the terminal is as it was before.
func (s *Seat) Restored() *Seat {
	s.T.Helper()
	s.Until("the modes of the terminal as they were", s.Cooked)
	return s.Until("the first screen, with its cursor", func() bool { return Left(s.Sent(0)) })
}
