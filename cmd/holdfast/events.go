package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/file"
	"cli.holdfast.dev/holdfast/model/live"
	"cli.holdfast.dev/holdfast/model/text"
)

// eventSource reads the events of a cluster for the console.
type eventSource struct {
	reader *live.Reader
	clock  clock.PassiveClock
}

// Events implements ui.Events.
func (s eventSource) Events(ctx context.Context, scope actions.EventScope) (actions.EventList, error) {
	var l live.EventList
	var err error
	each := ""
	if scope.Every {
		l, err = s.reader.Events(ctx, scope.Namespace, "")
	} else {
		l, err = s.reader.KueueEvents(ctx, scope.Namespace)
		each = " of each kind"
	}
	return actions.EventList{
		Events: l.Events, Cut: l.Cut, ReadAt: s.clock.Now(),
		Reach: fmt.Sprintf("at most %d%s; the server keeps them for an hour unless told otherwise", live.MostEvents, each),
	}, err
}

// fileEvents are the events that a file holds.
type fileEvents struct {
	in   *file.World
	name string
	now  time.Time
}

// Events implements ui.Events.
func (s fileEvents) Events(_ context.Context, scope actions.EventScope) (actions.EventList, error) {
	out := actions.EventList{ReadAt: s.now, Reach: "those alone that the file " + text.Clean(s.name) + " holds"}
	for _, e := range s.in.Events {
		if (scope.Namespace == "" || e.Namespace == scope.Namespace) && (scope.Every || slices.Contains(live.Eventful(), e.Kind)) {
			out.Events = append(out.Events, e)
		}
	}
	return out, nil
}
