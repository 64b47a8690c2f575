package worker

import (
	"context"

	"cli.holdfast.dev/holdfast/model/impact/engine"
)

// InProcess runs previews in this process. Nothing can end it while Kueue's code
// hangs, and a stack overflow ends the program.
type InProcess struct{}

// Run runs the task once for each of its modes and blocks until it is done or the
// context ends, which it looks at between scheduling cycles. It calls each with
// every outcome as it is there, and progress, which may be nil, now and then, both
// from the caller's goroutine. Errors are engine.Run's, and that of a world that
// cannot be unpacked.
func (InProcess) Run(ctx context.Context, t Task, each func(engine.Outcome), progress func(engine.Progress)) error {
	objects, err := t.World.Objects()
	if err != nil {
		return err
	}
	changes := t.changes()
	for _, m := range t.Modes {
		out, err := engine.Run(ctx, objects, changes, m, engine.Options{Config: t.Config, At: t.At, MostCycles: t.MostCycles, Progress: progress})
		if err != nil {
			return err
		}
		each(out)
	}
	return nil
}
