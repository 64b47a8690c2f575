package worker

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"

	"cli.holdfast.dev/holdfast/model/text"
)

// CrashError says that a child process ended before it was done.
type CrashError struct {
	// Reason is the first line of the panic, or what else its end tells; safe to draw.
	Reason string
}

func (e *CrashError) Error() string {
	return "Kueue's code, which ran in a process of its own, ended it: " + e.Reason
}

// SilentError says that nothing was heard of a child process for too long. It was
// ended.
type SilentError struct {
	// Limit is how long was waited, as text.
	Limit string
}

func (e *SilentError) Error() string {
	return "Kueue's code hangs: its process said nothing for " + e.Limit + " and was ended"
}

// remarks takes the standard error of a child and keeps of it what tells why it
// ended, in little memory. It is safe for concurrent use.
type remarks struct {
	mu     sync.Mutex
	line   []byte
	long   bool   // the line goes on beyond what is kept
	first  string // the first line of a panic or a fatal error
	stack  string // that a stack grew too large
	memory string // that there is no memory
	last   string // the last line that is not empty
}

// mostRemark bounds what is kept of a line.
const mostRemark = 1 << 10

// Write implements io.Writer and never fails.
func (r *remarks) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(p)
	for {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		if room := mostRemark - len(r.line); len(line) > room {
			r.line, r.long = append(r.line, line[:max(room, 0)]...), true
		} else {
			r.line = append(r.line, line...)
		}
		if !ended {
			return n, nil
		}
		r.note()
		p = rest
	}
}

// note looks at the line that has ended. The words are the Go runtime's
// (runtime/panic.go, stack.go, malloc.go).
func (r *remarks) note() {
	s := strings.TrimRight(string(r.line), "\r \t")
	if r.long {
		s += "..."
	}
	r.line, r.long = r.line[:0], false
	if s == "" {
		return
	}
	s = text.Clean(s)
	r.last = s
	switch {
	case strings.HasPrefix(s, "runtime: goroutine stack exceeds"):
		r.stack = s
	case strings.HasPrefix(s, "runtime: cannot allocate memory"), strings.HasPrefix(s, "fatal error: runtime: cannot allocate memory"), strings.Contains(s, "out of memory"):
		r.memory = s
	case r.first == "" && (strings.HasPrefix(s, "panic: ") || strings.HasPrefix(s, "fatal error: ")):
		r.first = s
	}
}

// reason is why the process ended, as far as can be told.
func (r *remarks) reason(state *os.ProcessState) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.line) > 0 {
		r.note()
	}
	switch {
	case r.stack != "":
		return fmt.Sprintf("its stack overflowed (%s)", r.stack)
	case r.memory != "":
		return fmt.Sprintf("it had no memory left (%s)", r.memory)
	case r.first != "":
		return r.first
	case killed(state):
		return "it was killed, perhaps for want of memory"
	case r.last != "":
		return fmt.Sprintf("%s (%s)", r.last, state)
	}
	return state.String()
}
