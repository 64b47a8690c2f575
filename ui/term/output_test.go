package term

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// calls keeps what it was given, call by call.
type calls struct{ all []string }

func (c *calls) Write(p []byte) (int, error) {
	c.all = append(c.all, string(p))
	return len(p), nil
}

func TestOnlyFramesAreSynchronized(t *testing.T) {
	const frame = "\x1b[H\rfirst line\x1b[K\r\nsecond"
	tests := map[string]struct {
		sync bool
		in   string
		want string
	}{
		"a frame":                {true, frame, "\x1b[?2026h" + frame + "\x1b[?2026l"},
		"a frame, switched off":  {false, frame, frame},
		"a mode":                 {true, "\x1b[?25l", "\x1b[?25l"},
		"the corner alone":       {true, "\x1b[H", "\x1b[H"},
		"text outside the frame": {true, "Caught\n", "Caught\n"},
		"nothing":                {true, "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			to := &calls{}
			n, err := NewOutput(to, tc.sync).Write([]byte(tc.in))
			if n != len(tc.in) || err != nil {
				t.Errorf("wrote %d of %d bytes, %v", n, len(tc.in), err)
			}
			if d := cmp.Diff([]string{tc.want}, to.all); d != "" {
				t.Errorf("in one call (-want +got):\n%s", d)
			}
		})
	}
}

// short takes only so many bytes.
type short struct{ room int }

func (s short) Write(p []byte) (int, error) {
	if len(p) > s.room {
		return s.room, io.ErrShortWrite
	}
	return len(p), nil
}

func TestCountsItsOwnBytesOnly(t *testing.T) {
	const frame = "\x1b[Hframe"
	for room := range len(frame) + 2*len("\x1b[?2026h") {
		n, err := NewOutput(short{room}, true).Write([]byte(frame))
		want := max(0, min(room-len("\x1b[?2026h"), len(frame)))
		if n != want || !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("with room for %d: %d, %v; want %d", room, n, err, want)
		}
	}
}

func TestNothingLandsInsideAFrame(t *testing.T) {
	to := &calls{}
	o := NewOutput(to, true)
	frame, copied := "\x1b[H"+strings.Repeat("x", 4000), Clipboard("text", false)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(2)
		go func() { defer wg.Done(); _, _ = o.Write([]byte(frame)) }()
		go func() { defer wg.Done(); _ = o.Aside(copied) }()
	}
	wg.Wait()
	frames, asides := 0, 0
	for _, c := range to.all {
		switch c {
		case "\x1b[?2026h" + frame + "\x1b[?2026l":
			frames++
		case copied:
			asides++
		}
	}
	if frames != 4 || asides != 4 || len(to.all) != 8 {
		t.Errorf("%d whole frames and %d whole sequences in %d calls, want 4 and 4 in 8", frames, asides, len(to.all))
	}
}

func TestLeaveIsTheLastWord(t *testing.T) {
	var to bytes.Buffer
	o := NewOutput(&to, true)
	o.Leave()
	said := to.String()
	for _, want := range []string{"\x1b[?1049l", "\x1b[?25h", "\x1b[?2004l", "\x1b[?1002l", "\x1b[?1006l", "\x1b[?2026l", "\x1b[m"} {
		if strings.Count(said, want) != 1 {
			t.Errorf("%q is there %d times", want, strings.Count(said, want))
		}
	}
	o.Leave()
	if n, err := o.Write([]byte("\x1b[Hlate frame")); n != len("\x1b[Hlate frame") || err != nil {
		t.Errorf("a late frame: %d, %v", n, err)
	}
	if err := o.Aside("\x07"); err != nil {
		t.Error(err)
	}
	if to.String() != said {
		t.Errorf("written after it left: %q", strings.TrimPrefix(to.String(), said))
	}
}

func TestWhatIsNoTerminalLooksLikeNone(t *testing.T) {
	o := NewOutput(&bytes.Buffer{}, false)
	if o.File() != nil || o.Fd() != ^uintptr(0) {
		t.Errorf("file %v, descriptor %d", o.File(), o.Fd())
	}
	if _, err := o.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("reading: %v", err)
	}
}

// The bytes are those of the control sequences' specification of xterm:
// ESC ] 52 ; c ; BASE64 BEL.
func TestClipboardBytes(t *testing.T) {
	tests := map[string]struct {
		text string
		tmux bool
		want string
	}{
		"a name":         {"team-a/train-1", false, "\x1b]52;c;dGVhbS1hL3RyYWluLTE=\x07"},
		"a name in tmux": {"team-a/train-1", true, "\x1bPtmux;\x1b\x1b]52;c;dGVhbS1hL3RyYWluLTE=\x07\x1b\\"},
		"hostile":        {"\x07\x1b]0;x\x07", false, "\x1b]52;c;BxtdMDt4Bw==\x07"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, Clipboard(tc.text, tc.tmux)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestNoTextBreaksTheSequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "text")
		if err := holds(string(text)); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzClipboard(f *testing.F) {
	for _, s := range []string{"team-a/train-1", "\x1b\\", "\x07", "日本語", "\x00\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" {
			t.Skip("an empty text would clear the clipboard; nobody copies one")
		}
		if err := holds(s); err != nil {
			t.Fatal(err)
		}
	})
}

// holds checks that the sequence is one, carries the text, and is as bounded as
// MostCopied promises.
func holds(text string) error {
	s := Clipboard(text, false)
	body, ok := strings.CutPrefix(s, "\x1b]52;c;")
	if !ok {
		return fmt.Errorf("begins otherwise: %q", s)
	}
	body, ok = strings.CutSuffix(body, "\x07")
	if !ok {
		return fmt.Errorf("ends otherwise: %q", s)
	}
	if strings.Trim(body, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") != "" {
		return fmt.Errorf("is not base64: %q", body)
	}
	if got, err := base64.StdEncoding.DecodeString(body); err != nil || string(got) != text {
		return fmt.Errorf("carries %q, %w; want %q", got, err, text)
	}
	// Between the marks of tmux every ESC is doubled, and so none can end them.
	inner, ok := strings.CutPrefix(Clipboard(text, true), "\x1bPtmux;")
	inner, ended := strings.CutSuffix(inner, "\x1b\\")
	if !ok || !ended || strings.ReplaceAll(inner, "\x1b\x1b", "\x1b") != s || strings.Count(inner, "\x1b") != 2 {
		return fmt.Errorf("tmux is given %q", inner)
	}
	return nil
}

func TestLongestCopyFitsTheBound(t *testing.T) {
	if n := len(Clipboard(strings.Repeat("x", MostCopied), false)); n > 100_000 {
		t.Errorf("the longest sequence has %d bytes, more than 100,000", n)
	}
	if n := len(Clipboard(strings.Repeat("x", MostCopied+1), false)); n <= 100_000 {
		t.Errorf("a text that is one byte longer takes %d bytes: the bound is too low", n)
	}
	if MostCopied != 74_994 {
		t.Errorf("the bound is %d bytes; 74,994 is what terminals document", MostCopied)
	}
}
