//go:build sandbox

package e2e

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// console is the real program on a terminal of its own, as a person has it.
type console struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	done chan error

	mu     sync.Mutex // the emulator is not safe for concurrent use
	screen *vt.Emulator
	raw    strings.Builder
}

// open starts the program with a terminal of w x h and goes to the cohorts.
func open(t *testing.T, w, h int, env []string, args ...string) *console {
	t.Helper()
	c := &console{t: t, cmd: exec.Command(world.holdfast, args...), screen: vt.NewEmulator(w, h), done: make(chan error, 1)}
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Env = append(c.cmd.Env, "TERM=xterm-256color")
	tty, err := pty.StartWithSize(c.cmd, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)})
	if err != nil {
		t.Fatal(err)
	}
	c.tty = tty
	go c.read()
	// A terminal answers some questions; nobody reads the emulator's answers here.
	go func() { _, _ = io.Copy(io.Discard, c.screen) }()
	go func() { c.done <- c.cmd.Wait() }()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = tty.Close()
		if t.Failed() {
			t.Logf("the screen at the end:\n%s", c.text())
		}
	})
	c.sees("1 Glance") // keys before the first frame are lost
	c.press("2")
	return c
}

func (c *console) read() {
	buf := make([]byte, 1<<15)
	for {
		n, err := c.tty.Read(buf)
		c.mu.Lock()
		_, _ = c.screen.Write(buf[:n])
		c.raw.Write(buf[:n])
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *console) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.screen.String()
}

// patience is for a loaded machine; a healthy run never needs it.
const patience = 60 * time.Second

// eventually waits until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if cond() {
			return
		}
	}
	t.Fatalf("not seen in %s: %s", patience, what)
}

// sees waits until every text stands on the screen. Line breaks of wrapped text
// and the frames of dialogs count as one space.
func (c *console) sees(texts ...string) {
	c.t.Helper()
	eventually(c.t, strings.Join(texts, " | "), func() bool {
		s := squeeze(c.text())
		for _, x := range texts {
			if !strings.Contains(s, x) {
				return false
			}
		}
		return true
	})
}

func squeeze(s string) string {
	s = strings.NewReplacer("│", " ", "\n", " ").Replace(s)
	return strings.Join(strings.Fields(s), " ")
}

// Keys by name.
const (
	enter  = "\r"
	escape = "\x1b"
	up     = "\x1b[A"
	down   = "\x1b[B"
	ctrlC  = "\x03"
)

// press sends keys one by one, as fingers do: some belong to a dialog that the
// key before has opened.
func (c *console) press(keys ...string) {
	c.t.Helper()
	for _, k := range keys {
		if _, err := c.tty.WriteString(k); err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(60 * time.Millisecond)
	}
}

// types sends text letter by letter.
func (c *console) types(text string) {
	c.t.Helper()
	for _, r := range text {
		c.press(string(r))
	}
}

// confirms types what a plan asks for until it is taken: letters that come
// before a dialog can be read are ignored on purpose, and a person types again.
func (c *console) confirms(text, seen string) {
	c.t.Helper()
	time.Sleep(time.Second) // the dialog's own grace period
	c.types(text)
	c.press(enter)
	c.sees(seen)
}

// closes presses Enter until the text is gone from the screen: a dialog takes no
// key before it could be read.
func (c *console) closes(text string) {
	c.t.Helper()
	eventually(c.t, "closing of "+text, func() bool {
		if !strings.Contains(squeeze(c.text()), text) {
			return true
		}
		c.press(enter)
		return false
	})
}

// cursorOn moves the cursor down from the top until its row begins with the
// text.
func (c *console) cursorOn(text string) {
	c.t.Helper()
	c.press("g")
	for range 60 {
		for _, l := range strings.Split(c.text(), "\n") {
			if strings.HasPrefix(l, "▸") && strings.Contains(squeeze(l), text) {
				return
			}
		}
		c.press(down)
	}
	c.t.Fatalf("no row with %q under the cursor", text)
}

// ends waits for the program to end and returns its exit code.
func (c *console) ends() int {
	c.t.Helper()
	select {
	case <-c.done:
		return c.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		c.t.Fatal("the program does not end")
		return -1
	}
}

// restored reports whether the program left the terminal as it found it: the
// alternate screen left and the cursor shown, in this order after the last use.
func (c *console) restored() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	raw := c.raw.String()
	return strings.LastIndex(raw, "\x1b[?1049l") > strings.LastIndex(raw, "\x1b[?1049h") &&
		strings.LastIndex(raw, "\x1b[?25h") > strings.LastIndex(raw, "\x1b[?25l")
}

func (c *console) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}
