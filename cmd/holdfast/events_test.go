package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/file"
	"cli.holdfast.dev/holdfast/model/world"
)

// A file has the events that it holds and no others, and says so.
func TestEventsOfAFile(t *testing.T) {
	event := func(ns, name string, k world.Kind) world.Event {
		return world.Event{Key: world.Key{Namespace: ns, Name: name}, Kind: k}
	}
	src := fileEvents{&file.World{Events: []world.Event{
		event("a", "w", world.KindWorkload), event("b", "w", world.KindWorkload), event("a", "p", "Pod"), event("default", "q", world.KindClusterQueue), event("a", "n", world.KindNamespace),
	}}, "w\x1b.json", time.Time{}}
	for name, tc := range map[string]struct {
		scope actions.EventScope
		want  []string
	}{
		"Kueue's":        {actions.EventScope{}, []string{"a/w", "b/w", "default/q"}},
		"of a namespace": {actions.EventScope{Namespace: "a"}, []string{"a/w"}},
		"of every kind":  {actions.EventScope{Namespace: "a", Every: true}, []string{"a/w", "a/p", "a/n"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := src.Events(t.Context(), tc.scope)
			var got []string
			for _, e := range l.Events {
				got = append(got, e.Key.String())
			}
			if d := cmp.Diff(tc.want, got); d != "" || err != nil || l.Cut {
				t.Errorf("error %v, cut %v (-want +got):\n%s", err, l.Cut, d)
			}
			if !strings.Contains(l.Reach, `those alone that the file w\x1b.json holds`) {
				t.Errorf("reach %q", l.Reach)
			}
		})
	}
}
