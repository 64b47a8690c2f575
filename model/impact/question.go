package impact

import (
	"context"
	"time"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/impact/worker"
	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/store"
)

// Question is what is asked: what will Kueue do when the edits are applied, one
// after the other, to what the snapshot holds?
type Question struct {
	Snapshot *store.Snapshot
	Edits    []Edit
	// Settings are the manager's (package manager); what the snapshot shows against
	// them is found here.
	Settings manager.Settings
	// Now is the time at which ages are measured.
	Now time.Time
}

// Progress is how far the computation is: Timing is the run that goes on, the
// first is 1, of Timings.
type Progress struct {
	Timing, Timings int
	engine.Progress
}

// Runner runs Kueue's scheduler on a task, once for each of its modes, and blocks
// until it is done or the context ends. It calls each with every outcome as it is
// there, and progress now and then; neither is called by two goroutines at once,
// nor after Run has returned. An error says what happened and what to do.
type Runner interface {
	Run(ctx context.Context, t worker.Task, each func(engine.Outcome), progress func(engine.Progress)) error
}
