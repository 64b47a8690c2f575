package term

import (
	"io"
	"os"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// File is a terminal as bubbletea looks for it.
type File interface {
	io.ReadWriteCloser
	Fd() uintptr
}

// Output writes to a terminal one call at a time, so that nothing lands inside
// a frame. It shows the terminal's descriptor, by which bubbletea recognises
// one. It is safe for concurrent use.
type Output struct {
	mu   sync.Mutex
	to   io.Writer
	sync bool
	shut bool
}

// NewOutput returns an Output to w. Where w is a terminal, so is the result. With
// sync set every frame is put between the marks of a synchronized update (mode
// 2026): a terminal that knows them shows it at once and whole.
func NewOutput(w io.Writer, sync bool) *Output { return &Output{to: w, sync: sync} }

// Write writes p whole, or drops it after Leave. bubbletea gives one whole frame
// to a call, and it begins at the top left corner.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shut {
		return len(p), nil
	}
	const home = ansi.CursorHomePosition
	if !o.sync || len(p) <= len(home) || string(p[:len(home)]) != home {
		return o.to.Write(p)
	}
	const begin, end = ansi.SetModeSynchronizedOutput, ansi.ResetModeSynchronizedOutput
	frame := make([]byte, 0, len(begin)+len(p)+len(end))
	n, err := o.to.Write(append(append(append(frame, begin...), p...), end...))
	return max(0, min(n-len(begin), len(p))), err
}

// Aside writes a sequence that draws nothing, between two frames.
func (o *Output) Aside(sequence string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shut {
		return nil
	}
	_, err := io.WriteString(o.to, sequence)
	return err
}

// Leave ends what the console switched on in the terminal, and drops what is
// written later. It is for a program that is about to crash: one that ends in
// order has left already.
func (o *Output) Leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shut {
		return
	}
	o.shut = true
	_, _ = io.WriteString(o.to, strings.Join([]string{
		ansi.ResetModeSynchronizedOutput, ansi.ResetModeBracketedPaste, ansi.ResetModeMouseButtonEvent, ansi.ResetModeMouseAnyEvent,
		ansi.ResetModeMouseExtSgr, ansi.ResetStyle, ansi.ResetModeAltScreenSaveCursor, ansi.ShowCursor,
	}, ""))
}

// File is the terminal itself, for a program that is given it for a while; nil
// where the Output leads elsewhere.
func (o *Output) File() *os.File {
	f, _ := o.to.(*os.File)
	return f
}

// Read reads from the terminal; from anything else it reads nothing.
func (o *Output) Read(p []byte) (int, error) {
	if f, ok := o.to.(File); ok {
		return f.Read(p)
	}
	return 0, io.EOF
}

// Close closes the terminal.
func (o *Output) Close() error {
	if f, ok := o.to.(File); ok {
		return f.Close()
	}
	return nil
}

// Fd is the terminal's descriptor; where the Output leads elsewhere, one that is
// no file's.
func (o *Output) Fd() uintptr {
	if f, ok := o.to.(File); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}
