package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/control"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/supervise"
)

const tailBytes = 2000

// DiedError says that a component ended although nobody asked for it.
type DiedError struct{ Name, Why, LogFile, Tail string }

func (e *DiedError) Error() string {
	msg := fmt.Sprintf("%s died (%s); the end of %s:\n%s", e.Name, e.Why, e.LogFile, e.Tail)
	if strings.Contains(e.Tail, "address already in use") {
		msg += "\nanother program took one of its ports meanwhile; start the sandbox again"
	}
	return msg
}

// watch ends the sandbox when a component dies, until it ends otherwise. The one death it makes good is that of a
// component that had been suspended: Kueue rightly gives up when it wakes to find its leader's lease gone, and kubelet
// would start its container again.
func (s *Sandbox) watch() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case exit := <-s.group.Exits():
			if exit.Suspended && s.group.Restart(exit.Name) == nil {
				continue
			}
			tail, err := supervise.LogTail(exit.LogFile, tailBytes)
			if err != nil {
				tail = err.Error()
			}
			s.cancel(&DiedError{Name: exit.Name, Why: exit.Why, LogFile: exit.LogFile, Tail: tail})
		}
	}
}

// Report tells what runs; it is part of the control endpoint.
func (s *Sandbox) Report() control.Report {
	return control.Report{
		Dir: s.folder.Path(), Ready: s.ready.Load() && s.ctx.Err() == nil, AgeSeconds: s.Age().Seconds(),
		Kubeconfigs: s.kubeconfigs(), Components: s.group.Status(),
	}
}

// Quit asks the sandbox to end and returns at once; it is part of the control endpoint.
func (s *Sandbox) Quit() { s.cancel(errAsked) }

// Act does one of the actions to a component and blocks until it is done; it is part of the control endpoint.
func (s *Sandbox) Act(ctx context.Context, action, name string) error {
	table := s.table()
	i := slices.IndexFunc(table, func(c component) bool { return c.name == name })
	if i < 0 || !slices.Contains(table[i].actions, action) {
		return fmt.Errorf("cannot %s %q; possible: %s", action, name, strings.Join(possible(table), ", "))
	}
	if !s.ready.Load() {
		return fmt.Errorf("the sandbox is still starting; try again when `holdfast-sandbox status` says ready")
	}
	began := time.Now()
	switch action {
	case ActionStop:
		return s.group.Suspend(name)
	case ActionContinue:
		if err := s.group.Resume(name); err != nil {
			return err
		}
	case ActionRestart:
		if err := s.group.Restart(name); err != nil {
			return err
		}
	}
	return s.waitReady(ctx, name, began)
}

// waitReady blocks until a component that was continued or started at the moment does its work again.
func (s *Sandbox) waitReady(ctx context.Context, name string, since time.Time) error {
	switch name {
	case kueue:
		return s.waitKueue(ctx, since)
	}
	return fmt.Errorf("no readiness check for %s", name)
}

func possible(table []component) []string {
	var out []string
	for _, c := range table {
		for _, a := range c.actions {
			out = append(out, a+" "+c.name)
		}
	}
	return out
}
