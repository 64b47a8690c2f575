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
func (c *console) press(keys ...string) *console {
	c.T.Helper()
	for _, k := range keys {
		c.Press(k)
		time.Sleep(60 * time.Millisecond)
	}
	return c
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

// closes answers with Enter until the text is gone from the screen.
func (c *console) closes(text string) {
	c.T.Helper()
	if strings.Contains(seat.Squeeze(c.Text()), text) {
		c.press(enter)
		c.gone(text)
	}
}

// gone waits until the text is gone after an Enter, and presses it again where that came
// too early: a dialog takes no key before it could be read, however late its frame.
func (c *console) gone(text string) {
	c.T.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); c.press(enter) {
		for again := time.Now().Add(3 * time.Second); time.Now().Before(again); time.Sleep(20 * time.Millisecond) {
			if !strings.Contains(seat.Squeeze(c.Text()), text) {
				return
			}
		}
	}
	c.T.Fatalf("not gone in %s: %s", patience, text)
}

// row is the line under the cursor, empty where there is none.
func (c *console) row() string {
	for l := range strings.Lines(c.Text()) {
		if strings.HasPrefix(l, "▸") {
			return seat.Squeeze(l)
		}
	}
	return ""
}

// on reports whether the row under the cursor has the text.
func (c *console) on(text string) bool { return strings.Contains(c.row(), text) }

// cursorOn moves the cursor down from the top until its row has the text. It looks after
// every key, however late the frame comes, and begins again at the end of the list.
func (c *console) cursorOn(text string) {
	c.T.Helper()
	eventually(c.T, "the cursor on "+text, func() bool {
		c.press("g")
		for !c.on(text) {
			if before := c.row(); !c.press(down).leaves(before) {
				return false
			}
		}
		time.Sleep(100 * time.Millisecond) // a frame from before the first key is gone then
		return c.on(text)
	})
}

// leaves waits until the cursor is not on that row any more, and is false at the end of a
// list.
func (c *console) leaves(row string) bool {
	for end := time.Now().Add(time.Second); c.row() == row; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
