package ui

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/ui/theme"
)

// rested is a console on which nothing happens but the time: it counts what it does.
type rested struct {
	root    root
	clock   *clocktesting.FakePassiveClock
	asked   []time.Duration // every timer
	timers  []timed
	updates int
}

func newRested(t *testing.T, c *clocktesting.FakePassiveClock, o Options) *rested {
	t.Helper()
	th, err := theme.New("", false, false)
	if err != nil {
		t.Fatal(err)
	}
	o.Clock = c
	r := &rested{clock: c}
	r.root = newRoot(context.Background(), o.withDefaults(), th, func(d time.Duration, m tea.Msg) tea.Cmd {
		r.asked = append(r.asked, d)
		r.timers = append(r.timers, timed{c.Now().Add(d), m})
		return nil
	}, fixedWhy)
	r.update(tea.WindowSizeMsg{Width: 120, Height: 40})
	r.run(r.root.Init())
	return r
}

func (r *rested) run(c tea.Cmd) {
	if c == nil {
		return
	}
	switch m := c().(type) {
	case nil:
	case tea.BatchMsg:
		for _, x := range m {
			r.run(x)
		}
	default:
		r.update(m)
	}
}

func (r *rested) update(m tea.Msg) {
	r.updates++
	next, cmd := r.root.Update(m)
	r.root = next.(root)
	r.run(cmd)
}

// until lets the timers come that are due, and counts anew.
func (r *rested) until(end time.Time) {
	r.asked, r.updates = nil, 0
	for {
		at := -1
		for i, x := range r.timers {
			if !x.at.After(end) && (at < 0 || x.at.Before(r.timers[at].at)) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		x := r.timers[at]
		r.timers = append(r.timers[:at:at], r.timers[at+1:]...)
		r.clock.SetTime(x.at)
		if _, ok := x.msg.(waitDue); ok {
			continue // the source never changes: the command waits for ever
		}
		r.update(x.msg)
	}
	r.clock.SetTime(end)
}

// TestNothingHappensAtRest: where nothing changes, no timer is faster than a second
// on any screen and under any dialog, there is one at a time, and between two
// seconds nothing on the screen changes but what counts the time.
func TestNothingHappensAtRest(t *testing.T) {
	places := map[string]struct {
		keys []string
		sees string
	}{
		"glance": {nil, "NEEDS A PERSON"}, "cohorts": {keys("2"), "COHORT / QUEUE"}, "queues": {keys("3"), "CLUSTERQUEUE / LOCAL"}, "workloads": {keys("4"), "NAMESPACE"},
		"sessions": {keys("6"), "Begin one on a queue"}, "log": {keys(":", "l", "o", "g", "enter"), "Nothing was logged"},
		"queue": {keys("2", "down", "down", "down", "enter"), "STATE"}, "workload": {keys("4", "enter"), "TIMELINE"}, "yaml": {keys("4", "enter", "y"), "apiVersion"},
		"filter": {keys("4", "/", "t", "r"), "tr▏"}, "help": {keys("?"), "Keys:"}, "palette": {keys(":", "t"), "Go to"},
		"reason": {keys("2", "down", "down", "down", "down", "H"), "Why?"}, "plan": {keys("2", "down", "down", "down", "down", "H", "x", "enter"), "Type team-a-cq"},
	}
	for name, tc := range places {
		t.Run(name, func(t *testing.T) {
			st, c := scene()
			desk := &fakeDesk{plan: holdPlan()}
			desk.detail.YAML = []string{"apiVersion: kueue.x-k8s.io/v1beta2"}
			r := newRested(t, c, Options{Source: &fakeSource{st, nil}, Desk: desk, Sessions: &fakeKeep{}})
			for _, k := range tc.keys {
				r.update(keyMsg(k))
			}
			r.until(c.Now().Add(10 * time.Second)) // what the keys began is over
			if f := ansi.Strip(r.root.View()); !strings.Contains(f, tc.sees) {
				t.Fatalf("%q is not on the screen:\n%s", tc.sees, f)
			}
			const seconds = 60
			r.until(c.Now().Add(seconds * time.Second))
			each := 0
			for _, d := range r.asked {
				switch {
				case d < time.Second:
					t.Fatalf("a timer of %s while nothing changes", d)
				case d < 10*time.Second:
					each++
				}
			}
			if each != seconds {
				t.Errorf("%d timers in %d s, want one each second", each, seconds)
			}
			// Each second the timer, the time that it reads, and an answer of the screen's
			// own; and what has a slower pace.
			if most := 3*seconds + seconds/5; r.updates > most {
				t.Errorf("%d updates in %d s, more than %d", r.updates, seconds, most)
			}
			before := strings.Split(r.root.View(), "\n")
			r.until(c.Now().Add(time.Second))
			changed := 0
			for i, l := range strings.Split(r.root.View(), "\n") {
				if l != before[i] {
					changed++
				}
			}
			if changed != 1 {
				t.Errorf("%d lines changed within a second, want the clock's alone", changed)
			}
		})
	}
}
