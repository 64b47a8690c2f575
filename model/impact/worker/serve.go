package worker

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"cli.holdfast.dev/holdfast/model/impact/engine"
)

// mostStack bounds the stack of a goroutine: Kueue needs little of it, and a
// recursion without an end would take a gigabyte before the runtime ends it.
const mostStack = 128 << 20

// orphaned is the exit code of a child whose parent has gone.
const orphaned = 70

// Serve is what a child process does: it reads one task from in, runs it, and
// writes JSON lines to out: progress, each outcome as it is there, then the end or
// an error, which it also returns. It blocks until then. A parent that is a Child
// leaves in open while it waits: when in ends, the process exits. Serve is meant
// for a process of its own, whose stack it bounds.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	debug.SetMaxStack(mostStack)
	s := newSender(out)
	err := serve(ctx, in, s)
	if err != nil {
		s.send(message{Error: err.Error()})
	} else {
		s.send(message{End: true})
	}
	if s.err != nil {
		return fmt.Errorf("the answer cannot be written: %w", s.err)
	}
	return err
}

func serve(ctx context.Context, in io.Reader, s *sender) error {
	t, watched, rest, err := readTask(in)
	if err != nil {
		return err
	}
	if watched {
		go watch(rest, os.Exit)
	}
	s.send(message{Read: true})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	return InProcess{}.Run(ctx, t, s.outcome, func(p engine.Progress) {
		if s.send(message{Progress: &p}); s.err != nil {
			cancel(s.err) // nobody listens any more
		}
	})
}

// watch ends the process when the input ends: nobody waits for it any more, and
// Kueue's code may hang.
func watch(in io.Reader, exit func(int)) {
	_, _ = io.Copy(io.Discard, in) // its end is all that counts
	exit(orphaned)
}
