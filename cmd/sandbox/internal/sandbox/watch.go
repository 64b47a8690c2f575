package sandbox

import (
	"fmt"
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

// watch ends the sandbox when a component dies, until it ends otherwise. It makes good, as kubelet would, the death of
// one that had been suspended or that lost what it depends on: Kueue rightly gives up when its leader's lease is gone.
func (s *Sandbox) watch() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case exit := <-s.group.Exits():
			if exit.Suspended || s.faults.excuse(s.stage(exit.Name)) {
				s.watchers.Go(func() { s.revive(exit.Name) })
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

// revivePause keeps a component that dies at once from being started in a tight loop.
const revivePause = time.Second

// revive starts a component that died by another's fault again.
func (s *Sandbox) revive(name string) {
	select {
	case <-s.ctx.Done():
	case <-time.After(revivePause):
		if err := s.group.Restart(name); err != nil && s.ctx.Err() == nil {
			s.cancel(err)
		}
	}
}

// Report tells what runs; it is part of the control endpoint.
func (s *Sandbox) Report() control.Report {
	components := s.group.Status()
	if s.door != nil {
		components = append(components, supervise.Status{Name: kueueWebhook, State: doorState(s.door.State())})
	}
	return control.Report{
		Dir: s.folder.Path(), Ready: s.ready.Load() && s.ctx.Err() == nil, AgeSeconds: s.Age().Seconds(),
		Kubeconfigs: s.kubeconfigs(), Components: components,
	}
}

// Quit asks the sandbox to end and returns at once; it is part of the control endpoint.
func (s *Sandbox) Quit() { s.cancel(errAsked) }
