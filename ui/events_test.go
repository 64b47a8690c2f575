package ui

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/world"
)

// Events are read once when somebody looks, then on demand; what was read stays when
// the next reading fails.
func TestEventsAreReadOnDemand(t *testing.T) {
	s := begin(t, 120, 40)
	f := &fakeEvents{list: someEvents()}
	s.root.opt.Events = f
	s.to("events").sees("Read 0s ago.", "Pending", "Warning")
	s.pass(time.Minute)
	s.refresh()
	s.press("4").to("events").sees("Read 1m ago.")
	if n := len(f.scopes); n != 1 {
		t.Errorf("read %d times without being asked", n)
	}
	f.list, f.err = actions.EventList{}, errors.New("cannot list events in all namespaces: no answer in time")
	s.press("r").sees("no answer in time What follows is what was read before.", "Pending", "Read 1m ago.")
	f.list, f.err = actions.EventList{Events: someEvents().Events[:1], Cut: true}, nil
	s.press("r").sees("There are more, and those that are left out are not the oldest.", "Admitted").seesNot("no answer in time")
}

// What came before a failure is shown as what it is.
func TestSomeEventsBeforeAFailure(t *testing.T) {
	s := begin(t, 120, 40)
	s.root.opt.Events = &fakeEvents{list: someEvents(), err: errors.New("gone")}
	s.to("events").sees("gone What follows is what was read before.", "Inactive")
}

// No answer is no empty list.
func TestNoEventsAtAll(t *testing.T) {
	s := begin(t, 120, 40)
	s.to("events").sees("Nobody reads events here.", "not read").seesNot("There are no such events")
	f := &fakeEvents{}
	s.root.opt.Events = f
	s.press("4").to("events").sees("There are no such events.")
}

func TestScopeOfEvents(t *testing.T) {
	s := begin(t, 120, 40)
	f := &fakeEvents{list: someEvents()}
	s.root.opt.Events = f
	s.store.SetContract(world.Contract{Namespace: "team-a"})
	s.refresh()
	s.to("events").sees("namespace team-a alone (those of ClusterQueues are in another)")
	s.press("o").sees("Events of every kind", "Events of objects of every kind, namespace team-a alone")
	if d := cmp.Diff([]actions.EventScope{{Namespace: "team-a"}, {Namespace: "team-a", Every: true}}, f.scopes); d != "" {
		t.Errorf("asked for (-want +got):\n%s", d)
	}
}

func TestFilterOfEvents(t *testing.T) {
	for text, want := range map[string]struct{ yes, no string }{
		"type:warning":       {"2 of 4", "Admitted"},
		"kind:clusterq":      {"Inactive", "Pending"},
		"ns:team-b":          {"Admitted", "Inactive"},
		"reason:preempted":   {"1 of 4", "Inactive"},
		"name:flash":         {"Admitted", "Pending"},
		"insufficient quota": {"Pending", "Inactive"},
	} {
		s := begin(t, 120, 40)
		s.root.opt.Events = &fakeEvents{list: someEvents()}
		s.to("events").press("/").typeText(text).press("enter").sees(want.yes).seesNot(want.no + "  ")
	}
}

// Enter opens the object; one that is another by now is not opened in its place.
func TestObjectOfAnEvent(t *testing.T) {
	s := begin(t, 120, 40)
	list := someEvents()
	list.Events = append(list.Events, world.Event{Key: world.Key{Name: "x"}, Kind: "Pod", Object: world.Key{Namespace: "team-a", Name: "p"}, At: now, Type: "Normal"},
		world.Event{Key: world.Key{Name: "y"}, Kind: world.KindWorkload, Object: world.Key{Namespace: "team-a", Name: "job-train-1-x1y2z"}, At: now.Add(-time.Hour)})
	s.root.opt.Events = &fakeEvents{list: list}
	s.to("events").cursorOn("Pod team-a/p").press("enter").sees("there is no page of a Pod")
	s.press("down").cursorOn("Pending").press("enter").sees("Events › team-a/train-llm-7f2").press("esc")
	s.press("down").cursorOn("team-d-cq").press("enter").sees("Events › team-d-cq").press("esc")
	s.press("down", "down").cursorOn("flash").press("enter").sees("does not exist any more, or cannot be read")
	s.press("down").cursorOn("train-1").press("enter").sees("Events › team-a/train-1") // a file without UIDs
}

// What is listed is called what it is, also where the events of every kind are wanted
// and cannot be read: none of a pod is no word on pods.
func TestWiderEventsThatDoNotCome(t *testing.T) {
	s := begin(t, 120, 40)
	f := &fakeEvents{list: someEvents()}
	s.root.opt.Events = f
	s.to("events").sees("Events of Workloads, queues, cohorts and checks")
	f.err = errors.New("no answer in time")
	s.held = true
	s.press("o").sees("Events of Workloads, queues, cohorts and checks, all namespaces,", "Reading those of every kind…").seesNot("Events of every kind")
	s.release()
	s.sees("Events of Workloads, queues, cohorts and checks, all namespaces,", "Read 0s ago.", "no answer in time What follows is what was read before.").seesNot("Events of every kind")
	f.err = nil
	s.press("o").sees("Events of every kind", "Events of objects of every kind").seesNot("no answer")
	if n := len(f.scopes); n != 3 || !f.scopes[1].Every || !f.scopes[2].Every {
		t.Errorf("asked for %+v", f.scopes)
	}
}
