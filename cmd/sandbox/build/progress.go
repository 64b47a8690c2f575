package main

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"
)

const (
	usually    = "usually about 8 min on 2 cores when cold"
	linesEvery = 30 * time.Second
)

// progress tells how long a step has been going on: on a terminal in one line that is written anew each second, else
// in a line every half minute.
type progress struct {
	w        io.Writer
	terminal bool
	every    time.Duration
}

func newProgress(f *os.File) *progress {
	p := &progress{w: f, terminal: isTerminal(f), every: linesEvery}
	if p.terminal {
		p.every = time.Second
	}
	return p
}

// isTerminal asks the kernel for the terminal settings of the file, which only a terminal has.
func isTerminal(f *os.File) bool {
	var settings syscall.Termios
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&settings)))
	return errno == 0
}

// start begins a step. The function it returns ends it and tells how it ended; it waits until nothing more is written.
func (p *progress) start(step string) (done func(ok bool)) {
	began := time.Now()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(p.every)
		defer tick.Stop()
		p.tell(step, began)
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				p.tell(step, began)
			}
		}
	}()
	return func(ok bool) {
		close(stop)
		<-stopped
		word := "done"
		if !ok {
			word = "failed"
		}
		p.write(fmt.Sprintf("sandbox build: %s: %s in %s", step, word, elapsed(began)), true)
	}
}

func (p *progress) tell(step string, began time.Time) {
	p.write(fmt.Sprintf("sandbox build: %s: %s (%s)", step, elapsed(began), usually), !p.terminal)
}

// write writes one line, over the last one on a terminal; nobody can be told when that fails.
func (p *progress) write(line string, end bool) {
	if p.terminal {
		line = "\r\x1b[K" + line
	}
	if end {
		line += "\n"
	}
	_, _ = io.WriteString(p.w, line)
}

func elapsed(since time.Time) string { return time.Since(since).Round(time.Second).String() }
