//go:build linux || darwin || freebsd || netbsd || openbsd

package term

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stopGrace is how long a stop may take. It is noticed only where nothing stops: a
// program without a shell around it ignores the signal.
const stopGrace = 500 * time.Millisecond

// Jobs is the program's side of a shell's job control.
type Jobs struct {
	signals chan os.Signal
	redraw  chan struct{}
	tty     int // -1: not a terminal

	mu      sync.Mutex
	lent    bool          // another program has the terminal
	resumed chan struct{} // set while Stop waits
}

// NewJobs listens to the shell until ctx ends; in is where keys come from. It
// takes the signals for the whole process: there should be one.
//
// SIGTSTP is not among them. Go cannot restore a signal's default, and only that
// one knows when there is no shell that could say fg.
func NewJobs(ctx context.Context, in io.Reader) *Jobs {
	j := &Jobs{signals: make(chan os.Signal, 8), redraw: make(chan struct{}, 1), tty: -1}
	if f, ok := in.(File); ok {
		j.tty = int(f.Fd())
	}
	signal.Notify(j.signals, syscall.SIGCONT)
	go func() {
		defer signal.Stop(j.signals)
		for {
			select {
			case <-ctx.Done():
				return
			case <-j.signals:
				j.continued()
			}
		}
	}()
	return j
}

// Redraw gives a token when the program was stopped without being asked: the
// terminal is to be taken anew, since the shell has used it.
func (j *Jobs) Redraw() <-chan struct{} { return j.redraw }

func (j *Jobs) continued() {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.resumed != nil:
		close(j.resumed)
		j.resumed = nil
	case !j.lent:
		select {
		case j.redraw <- struct{}{}:
		default: // one is due already
		}
	}
}

// Lend runs f, which gives the terminal to another program: what becomes of the
// terminal meanwhile is that one's.
func (j *Jobs) Lend(f func() error) error {
	j.lend(true)
	defer j.lend(false)
	return f()
}

func (j *Jobs) lend(on bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lent = on
}

// Stop stops the program and those of its job, and returns when the shell lets it
// go on. The terminal must have been given back before. It fails where there is
// no shell to go back to.
func (j *Jobs) Stop(ctx context.Context) error {
	on := make(chan struct{})
	j.mu.Lock()
	j.resumed = on
	j.mu.Unlock()
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	again := within(stopGrace, on)
	if !again {
		again = within(stopGrace, on) // the first may have passed while it was stopped
	}
	var err error
	if !again {
		j.mu.Lock()
		j.resumed = nil
		j.mu.Unlock()
		err = errors.New("there is no shell to go back to")
	}
	// Taking the terminal from the background, or reading from it, stops the program
	// once more, as it should. But one that was told to end must be able to.
	if !j.foreground() && within(stopGrace, ctx.Done()) {
		signal.Ignore(syscall.SIGTTOU, syscall.SIGTTIN)
	}
	return err
}

// within reports whether the channel is closed before the time is over.
func within(d time.Duration, c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-time.After(d):
		return false
	}
}

func (j *Jobs) foreground() bool {
	group, err := unix.IoctlGetInt(j.tty, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
