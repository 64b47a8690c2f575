package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/door"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/supervise"
)

// faultBook remembers what was done to components on purpose.
type faultBook struct {
	mu   sync.Mutex
	away map[string]bool // stopped or killed, and not back yet
	// lowest is the lowest stage that was ever disturbed: what is above it may die of it.
	lowest int
}

func newFaultBook() *faultBook { return &faultBook{away: map[string]bool{}, lowest: stageClients + 1} }

func (b *faultBook) note(name string, stage int, away bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away[name] = away
	b.lowest = min(b.lowest, stage)
}

// excuse reports whether a component of the stage may have died because one that it needs was disturbed.
func (b *faultBook) excuse(stage int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return stage > b.lowest
}

// isAway reports whether one of the components is stopped or dead on purpose.
func (b *faultBook) isAway(names ...string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(names, func(n string) bool { return b.away[n] })
}

// Act does one of the actions to a component and blocks until it is done; it is part of the control endpoint.
func (s *Sandbox) Act(ctx context.Context, action, name string) error {
	if !slices.Contains(s.possible(), action+" "+name) {
		return fmt.Errorf("cannot %s %q; possible: %s", action, name, strings.Join(s.possible(), ", "))
	}
	if !s.ready.Load() {
		return fmt.Errorf("the sandbox is still starting; try again when `holdfast-sandbox status` says ready")
	}
	began := time.Now()
	away := action == ActionStop || action == ActionKill
	do := s.actProcess
	if name == kueueWebhook {
		do = s.actDoor
	}
	s.faults.note(name, s.stage(name), away) // before: a death that follows at once is excused
	if err := do(action, name); err != nil || away {
		return err
	}
	return s.waitReady(ctx, name, began)
}

func (s *Sandbox) actProcess(action, name string) error {
	switch action {
	case ActionStop:
		return s.group.Suspend(name)
	case ActionContinue:
		return s.group.Resume(name)
	case ActionKill:
		return s.group.Kill(name)
	}
	return s.group.Restart(name)
}

func (s *Sandbox) actDoor(action, _ string) error {
	switch action {
	case ActionStop:
		return s.door.Set(door.Frozen)
	case ActionKill:
		return s.door.Set(door.Shut)
	case ActionRestart:
		if err := s.door.Set(door.Shut); err != nil {
			return err
		}
	}
	return s.door.Set(door.Open)
}

// doorState is a door's state in the words for a process.
func doorState(d door.State) supervise.State {
	switch d {
	case door.Frozen:
		return supervise.Stopped
	case door.Shut:
		return supervise.Dead
	}
	return supervise.Running
}

// stage is the component's stage; for what is no process, the last.
func (s *Sandbox) stage(name string) int {
	for _, c := range s.table() {
		if c.name == name {
			return c.stage
		}
	}
	return stageClients
}

// waitReady blocks until a component that was continued or started at the moment does its work again, and Kueue, where
// it can.
func (s *Sandbox) waitReady(ctx context.Context, name string, since time.Time) error {
	if s.faults.isAway(etcd, apiServer) {
		return nil // nothing can be asked
	}
	err := cluster.Poll(ctx, apiServerReadyFor, func(ctx context.Context) error { return s.client.Answers(ctx, "/readyz") })
	if err != nil {
		return fmt.Errorf("kube-apiserver is not ready after %s is back: %w (see %s)", name, err, s.folder.Log(apiServer))
	}
	if s.faults.isAway(kueue, kueueWebhook) {
		return nil
	}
	return s.waitKueue(ctx, since)
}

// possible lists what Act takes.
func (s *Sandbox) possible() []string {
	var out []string
	for _, c := range append(s.table(), component{name: kueueWebhook, actions: faults()}) {
		for _, a := range c.actions {
			out = append(out, a+" "+c.name)
		}
	}
	return out
}
