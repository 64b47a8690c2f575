package main

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/ui"
)

// still is a source whose only snapshot never changes.
type still struct{ snapshot *store.Snapshot }

// Snapshot implements ui.Source.
func (s still) Snapshot() *store.Snapshot { return s.snapshot }

// Changed implements ui.Source: nothing ever does.
func (s still) Changed() <-chan struct{} { return nil }

// offline opens the console on a file.
func (a *app) offline(ctx context.Context) error {
	if err := a.screen(); err != nil {
		return err
	}
	var c clock.PassiveClock = clock.RealClock{}
	in, now, err := a.from.open(c)
	if err != nil {
		return err
	}
	if m := in.Manifest; a.from.now != "" || m != nil && !m.Ended.IsZero() {
		c = fixed(now)
	}
	for _, n := range in.Notes {
		a.log.add(n)
	}
	desk := &actions.Offline{
		Name: a.from.world, Snapshot: in.Snapshot, Events: in.Events, Pods: in.Pods, Nodes: in.Nodes, HasPods: in.HasPods, HasNodes: in.HasNodes, HasEvents: len(in.Events) > 0, ReadAt: now,
	}
	opt := ui.Options{
		Source: still{in.Snapshot}, Desk: desk, Clock: c, Events: fileEvents{in, a.from.world, now}, Checkpoint: a.checkpoint, File: a.from.world,
		Settings: func(context.Context) manager.Settings { return a.manager.over(manager.Defaults()) },
	}
	if path, err := a.journalPath(); err == nil {
		opt.Journal = actions.NewJournal(path)
	}
	_, err = a.show(ctx, opt)
	return err
}

// fixed is a clock that stands.
type fixed time.Time

// Now implements clock.PassiveClock.
func (f fixed) Now() time.Time { return time.Time(f) }

// Since implements clock.PassiveClock.
func (f fixed) Since(t time.Time) time.Duration { return f.Now().Sub(t) }
