package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"k8s.io/utils/clock"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/text"
)

// DefaultSilence is how long a child may say nothing. It does while it reads a
// large state and while it gives it to Kueue.
const DefaultSilence = 30 * time.Second

// Child runs each task in a child process, which lives as long as the task. A
// Child may be used by several goroutines at once.
type Child struct {
	// Path is the program, usually this one, and Args are what make it call Serve.
	Path string
	Args []string
	// Env is its whole environment: nothing is handed down.
	Env []string
	// Silence is how long it may say nothing; 0 is DefaultSilence.
	Silence time.Duration
	// Clock is nil for the real one.
	Clock clock.WithTicker
}

// Run starts the process, hands it the task and blocks until it is done, fails,
// has been silent for too long, or the context ends. The process is gone then, and
// with it all that it held. each gets every outcome as it is there, and progress,
// which may be nil, is told now and then, both in the caller's goroutine.
//
// Errors: a *CrashError, a *SilentError, the context's cause, what engine.Run
// returned in the child (as text), or that it could not be started.
func (c Child) Run(ctx context.Context, t Task, each func(engine.Outcome), progress func(engine.Progress)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p, err := c.start(t)
	if err != nil {
		return err
	}
	defer p.end()
	limit, clk := c.Silence, c.Clock
	if limit == 0 {
		limit = DefaultSilence
	}
	if clk == nil {
		clk = clock.RealClock{}
	}
	silence := clk.NewTimer(limit)
	defer silence.Stop()
	var changed []*kueue.Workload
	for {
		m, err := p.next(ctx, silence, limit)
		if err != nil {
			return err
		}
		changed = append(changed, m.Changed...)
		switch {
		case m.Error != "":
			return errors.New(text.Clean(m.Error))
		case m.End:
			return nil
		case m.Outcome != nil:
			m.Outcome.Changed = changed
			changed = nil
			each(*m.Outcome)
		case m.Progress != nil && progress != nil:
			progress(*m.Progress)
		}
		// Not earlier: while the caller is busy the child may have to wait for it.
		silence.Reset(limit)
		select {
		case <-silence.C():
		default:
		}
	}
}

// process is a child that was started.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser
	remarks *remarks

	lines  chan message   // closed where there are no more
	broken error          // why there are no more; only after lines is closed
	stop   chan struct{}  // closed: nobody takes lines any more
	pipes  sync.WaitGroup // the goroutines at the two pipes
	waited chan struct{}  // closed when the process was waited for; nil: nobody waits yet
}

func (c Child) start(t Task) (*process, error) {
	p := &process{cmd: exec.Command(c.Path, c.Args...), remarks: &remarks{}, lines: make(chan message), stop: make(chan struct{})}
	p.cmd.Env = append(make([]string, 0, len(c.Env)), c.Env...) // nil would hand everything down
	p.cmd.Stderr = p.remarks
	p.cmd.WaitDelay = time.Second // for a grandchild that holds the standard error
	ownGroup(p.cmd)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		if p.out, err = p.cmd.StdoutPipe(); err == nil {
			err = p.cmd.Start()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the process for the preview cannot be started: %s", text.Clean(err.Error()))
	}
	p.pipes.Go(func() {
		// A child that does not read it says why, or is silent. The pipe stays open:
		// its end tells the child that nobody waits for it any more.
		_ = writeTask(p.in, t, true)
	})
	p.pipes.Go(func() {
		defer close(p.lines)
		p.broken = lines(p.out, mostLine, func(m message) bool {
			select {
			case p.lines <- m:
				return true
			case <-p.stop:
				return false
			}
		})
	})
	return p, nil
}

// next returns the next message, or why there is none.
func (p *process) next(ctx context.Context, silence clock.Timer, limit time.Duration) (message, error) {
	select {
	case m, ok := <-p.lines:
		if !ok {
			return message{}, p.crash(ctx, silence, limit)
		}
		return m, nil
	case <-ctx.Done():
		return message{}, context.Cause(ctx)
	case <-silence.C():
	}
	select {
	case m, ok := <-p.lines: // it did say something, and nobody had the time to look
		if ok {
			return m, nil
		}
	default:
	}
	return message{}, &SilentError{Limit: limit.String()}
}

// crash says why the process has nothing more to say: it waits for its end.
func (p *process) crash(ctx context.Context, silence clock.Timer, limit time.Duration) error {
	if p.broken != nil {
		return fmt.Errorf("the process for the preview wrote what is no answer: %s", text.Clean(p.broken.Error()))
	}
	p.waited = make(chan struct{})
	go func() {
		defer close(p.waited)
		_ = p.cmd.Wait() // its ProcessState tells
	}()
	select {
	case <-p.waited:
		return &CrashError{Reason: p.remarks.reason(p.cmd.ProcessState)}
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-silence.C():
		return &SilentError{Limit: limit.String()}
	}
}

// end ends the process, whatever it does, and blocks until nothing of it is left.
func (p *process) end() {
	close(p.stop)
	if p.waited == nil {
		killGroup(p.cmd.Process)
		_, _ = p.in.Close(), p.out.Close()
		p.pipes.Wait()
		_ = p.cmd.Wait() // what it did is known
		return
	}
	_ = p.cmd.Process.Kill() // not by its number, which may be somebody else's by now
	<-p.waited
	p.pipes.Wait() // Wait has closed the pipes
}
