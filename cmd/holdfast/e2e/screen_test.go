//go:build sandbox

package e2e

import (
	"strings"
	"testing"
	"time"

	"cli.holdfast.dev/holdfast/cmd/holdfast/internal/seat"
)

// console is the real program on a terminal of its own, as a person has it.
type console struct{ *seat.Seat }

// open starts the program with a terminal of w x h and goes to the cohorts.
func open(t *testing.T, w, h int, env []string, args ...string) *console {
	t.Helper()
	c := &console{seat.Sit(t, w, h, env, world.holdfast, args...)}
	c.Sees("1 Glance") // keys before the first frame are lost
	c.press("2")
	return c
}

// patience is the seat's.
const patience = seat.Patience

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
	c.T.Helper()
	for _, k := range keys {
		c.Press(k)
		time.Sleep(60 * time.Millisecond)
	}
}

// types sends text letter by letter.
func (c *console) types(text string) {
	c.T.Helper()
	for _, r := range text {
		c.press(string(r))
	}
}

// confirms types what a plan asks for until it is taken: letters that come
// before a dialog can be read are ignored on purpose, and a person types again.
func (c *console) confirms(text, seen string) {
	c.T.Helper()
	time.Sleep(time.Second) // the dialog's own grace period
	c.types(text)
	c.press(enter)
	c.Sees(seen)
}

// closes presses Enter until the text is gone from the screen: a dialog takes no
// key before it could be read.
func (c *console) closes(text string) {
	c.T.Helper()
	eventually(c.T, "closing of "+text, func() bool {
		if !strings.Contains(seat.Squeeze(c.Text()), text) {
			return true
		}
		c.press(enter)
		return false
	})
}

// on reports whether the row under the cursor has the text.
func (c *console) on(text string) bool {
	for l := range strings.Lines(c.Text()) {
		if strings.HasPrefix(l, "▸") && strings.Contains(seat.Squeeze(l), text) {
			return true
		}
	}
	return false
}

// cursorOn moves the cursor down from the top until its row begins with the
// text.
func (c *console) cursorOn(text string) {
	c.T.Helper()
	c.press("g")
	for range 60 {
		if c.on(text) {
			return
		}
		c.press(down)
	}
	c.T.Fatalf("no row with %q under the cursor", text)
}
