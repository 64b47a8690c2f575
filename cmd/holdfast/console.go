package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"cli.holdfast.dev/holdfast/model/live"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui"
)

// accessEvery is how often the person's rights are asked for again.
const accessEvery = 5 * time.Minute

// The first time it is looked every accessLook whether there is something to ask about,
// for accessPatience at most.
const (
	accessLook     = 500 * time.Millisecond
	accessPatience = 2 * time.Minute
)

// console opens the screen and keeps it until the person leaves, in one context after
// another.
func (a *app) console(ctx context.Context) error {
	if err := a.screen(); err != nil {
		return err
	}
	was, notice := "", ""
	for {
		next, err := a.stay(ctx, notice)
		var door doorError
		switch {
		case errors.As(err, &door) && was != "":
			// The one that the person came from was good a moment ago.
			notice = "context " + *a.kube.Context + " was not opened: " + err.Error()
			a.kube, was = inContext(a.kube, was), ""
			continue
		case err != nil || next == "":
			return err
		}
		here, err := a.contextNow()
		if err != nil {
			return err
		}
		a.kube, was, notice = inContext(a.kube, next), here, ""
	}
}

// doorError is a context that could not be opened at all.
type doorError struct{ error }

func (e doorError) Unwrap() error { return e.error }

// stay is the console in one context; next is the one to go to, empty where the person
// left.
func (a *app) stay(ctx context.Context, notice string) (next string, err error) {
	s, err := a.connect(ctx, true)
	if err != nil {
		return "", doorError{err}
	}
	defer s.giveBack()
	signals := ctx
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	// All of them may run a credential plugin: the streams go back when none does any more.
	var beside sync.WaitGroup
	beside.Add(2)
	background(func() { defer beside.Done(); a.keepAccess(ctx, s) })
	places := live.NewPositions(s.reader, s.clock)
	background(func() { defer beside.Done(); places.Run(ctx) })
	background(func() {
		err := s.watcher.Run(ctx)
		beside.Wait()
		done <- err
	})
	r, err := a.runner(s)
	if err != nil {
		cancel()
		return "", errors.Join(err, s.settled(done))
	}
	keep := keeper{a, s, r}
	next, err = a.show(signals, ui.Options{
		Source: s.watcher, Desk: sessionDesk{s.desk, keep}, Sessions: keep, Clock: s.clock, Places: places, Contexts: a.contexts(), Notice: notice,
		Events: eventSource{s.reader, s.clock}, Journal: s.journal, Settings: s.settings, Checkpoint: a.checkpoint,
		ReadOnly: a.readOnly, Production: slices.Contains(a.production, s.contract.Context),
	})
	cancel()
	return next, errors.Join(err, s.settled(done))
}

// background runs f beside the console. A panic of it gives the terminal back
// before it ends the program.
func background(f func()) {
	go func() {
		defer utilruntime.HandleCrash()
		f()
	}()
}

// partingPatience is how long the program waits for its watches to end. A
// credential plugin that hangs cannot be told to stop.
const partingPatience = 2 * time.Second

// settled waits for the watcher to end, for a while.
func (s *session) settled(done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-s.clock.After(partingPatience):
		return nil
	}
}

// keepAccess asks for the person's rights as soon as the objects that they are about
// are listed, and again now and then.
func (a *app) keepAccess(ctx context.Context, s *session) {
	for wait := accessPatience; wait > 0 && !listed(s.watcher.Snapshot()); wait -= accessLook {
		select {
		case <-ctx.Done():
			return
		case <-s.clock.After(accessLook):
		}
	}
	for {
		ask, cancel := context.WithTimeout(ctx, 30*time.Second)
		s.desk.LoadAccess(ask)
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-s.clock.After(accessEvery):
		}
	}
}

// listed reports whether every kind that rights are asked about has been listed, or
// will not be.
func listed(s *store.Snapshot) bool {
	for _, k := range []world.Kind{world.KindClusterQueue, world.KindWorkload, world.KindResourceFlavor, world.KindWorkloadPriorityClass} {
		if f := s.Fresh(k); !f.Synced && f.Feed != world.Denied && f.Feed != world.Absent {
			return false
		}
	}
	return true
}
