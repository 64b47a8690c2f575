package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"cli.holdfast.dev/holdfast/model/text"
)

// ring keeps the last lines that would have gone to the terminal, for the log
// screen. It is safe for concurrent use and never blocks a writer for long.
type ring struct {
	mu    sync.Mutex
	lines []string
	next  int
	// last is the newest line without its stamp, which came times times, first at
	// since.
	last  string
	times int
	since string
}

const ringSize = 1000

func newRing() *ring { return &ring{lines: make([]string, 0, ringSize)} }

// add stores a line, made safe to draw and stamped with the time. The same line
// again only counts: what is said every second would push out all else.
func (r *ring) add(line string) {
	line = text.Clean(line)
	now := time.Now().Format(time.TimeOnly)
	r.mu.Lock()
	defer r.mu.Unlock()
	if line == r.last && len(r.lines) > 0 {
		r.times++
		at := (r.next + len(r.lines) - 1) % len(r.lines)
		r.lines[at] = fmt.Sprintf("%s %s (%d times since %s)", now, line, r.times, r.since)
		return
	}
	r.last, r.times, r.since = line, 1, now
	line = now + " " + line
	if len(r.lines) < ringSize {
		r.lines = append(r.lines, line)
		return
	}
	r.lines[r.next] = line
	r.next = (r.next + 1) % ringSize
}

// all returns the lines, oldest first.
func (r *ring) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(append([]string(nil), r.lines[r.next:]...), r.lines[:r.next]...)
}

// Write stores each line of p.
func (r *ring) Write(p []byte) (int, error) {
	for _, l := range strings.Split(strings.TrimRight(string(p), "\n"), "\n") {
		r.add(l)
	}
	return len(p), nil
}

// HandleWarningHeader implements rest.WarningHandler.
func (r *ring) HandleWarningHeader(_ int, _ string, message string) {
	if message != "" {
		r.add("API server warning: " + message)
	}
}

// silenced is what silence changed.
type silenced struct {
	ring *ring
	// err is the terminal's standard error, whatever os.Stderr is.
	err *os.File
}

// silence sends what libraries print to a ring, so that it can never smear the
// screen. It must run before anything else of the program: controller-runtime
// prints a stack trace half a minute after the start if nobody told it where to
// log.
func silence() *silenced {
	r := newRing()
	ctrllog.SetLogger(logr.Discard())
	klog.SetSlogLogger(slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{} // the ring stamps every line
		}
		return a
	}})))
	rest.SetDefaultWarningHandler(r)
	log.SetOutput(r)
	std := *os.Stderr
	return &silenced{ring: r, err: &std}
}

// takeStreams keeps credential plugins off the screen: what they print goes to the
// ring, and they get no keys. client-go gives a plugin the file that os.Stderr
// pointed to when its authenticator was made, so what it points to is exchanged;
// and it asks os.Stdin, each time, whether a person can be asked. So the plugin
// that has just logged in is not run a second time, as it would be by clients that
// differ in anything from the one that greeted. File descriptor 2 stays the
// terminal: a crash of the runtime must be seen. giveBack undoes it, for a plugin that
// may ask again.
func takeStreams(r *ring) (giveBack func(), err error) {
	pr, pw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, errors.Join(err, pr.Close(), pw.Close())
	}
	stderr, stdin := *os.Stderr, os.Stdin
	*os.Stderr, os.Stdin = *pw, null
	go func() {
		defer func() { _ = pr.Close() }() // it was only read
		s := bufio.NewScanner(pr)
		s.Buffer(make([]byte, 4096), 1<<20)
		for s.Scan() {
			r.add(s.Text())
		}
		_, _ = io.Copy(io.Discard, pr) // a line beyond the limit must not block its writer
	}()
	return func() {
		*os.Stderr, os.Stdin = stderr, stdin
		_, _ = pw.Close(), null.Close()
	}, nil
}

func (s *silenced) restore() { *os.Stderr = *s.err }
