package worker

import (
	"context"

	"cli.holdfast.dev/holdfast/model/impact/engine"
)

// InProcess runs previews in this process. Nothing can end it while Kueue's code
// hangs, and a stack overflow ends the program.
type InProcess struct{}

// Run runs the task once for each of its modes, but for those that cannot end
// otherwise than one before, and blocks until it is done or the context ends, which it
// looks at between scheduling cycles. It calls each with
// every outcome as it is there, and progress, which may be nil, now and then, both
// from the caller's goroutine. Errors are engine.Run's, and that of a world that
// cannot be unpacked.
func (InProcess) Run(ctx context.Context, t Task, each func(engine.Outcome), progress func(engine.Progress)) error {
	objects, err := t.World.Objects()
	if err != nil {
		return err
	}
	changes := t.changes()
	var done []engine.Outcome
	for n, m := range t.Modes {
		if same, ok := already(m, t.Modes[:n], done); ok {
			same.Mode = m.Name
			done = append(done, same)
			each(same)
			continue
		}
		out, err := engine.Run(ctx, objects, changes, m, engine.Options{Config: t.Config, At: t.At, MostCycles: t.MostCycles, Progress: progress})
		if err != nil {
			return err
		}
		done = append(done, out)
		each(out)
	}
	return nil
}

// already is the outcome of one of the modes before, if m cannot end otherwise.
func already(m engine.Mode, before []engine.Mode, done []engine.Outcome) (engine.Outcome, bool) {
	for i, o := range before {
		if !m.Differs(o, done[i]) {
			return done[i], true
		}
	}
	return engine.Outcome{}, false
}
