package term

import (
	"io"
	"sync"
)

// File is a terminal as bubbletea looks for it.
type File interface {
	io.ReadWriteCloser
	Fd() uintptr
}

// Output writes to a terminal one call at a time, so that nothing lands inside
// a frame. It shows the terminal's descriptor, by which bubbletea recognises
// one.
type Output struct {
	mu sync.Mutex
	to io.Writer
}

// NewOutput returns an Output to w. Where w is a terminal, so is the result.
func NewOutput(w io.Writer) io.Writer {
	o := &Output{to: w}
	if f, ok := w.(File); ok {
		return &terminal{Output: o, file: f}
	}
	return o
}

// Write writes p whole.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.to.Write(p)
}

type terminal struct {
	*Output
	file File
}

func (t *terminal) Read(p []byte) (int, error) { return t.file.Read(p) }
func (t *terminal) Close() error               { return t.file.Close() }
func (t *terminal) Fd() uintptr                { return t.file.Fd() }
