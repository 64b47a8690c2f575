package engine

import (
	"context"
	_ "unsafe" // go:linkname

	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/util/wait"
)

// schedule is one scheduling cycle of Kueue, which its scheduler calls in a loop
// and does not export. Start would call it too, but a cycle cannot be told to be
// over then, and Kueue waits between cycles that achieve nothing. A test compares
// the two (TestCyclesAreKueues) and fails with a Kueue that has another one.
//
//go:linkname schedule sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).schedule
func schedule(s *scheduler.Scheduler, ctx context.Context) wait.SpeedSignal
