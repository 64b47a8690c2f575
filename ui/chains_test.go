package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
)

// rowsOf are the rows for a filter and an order, each below its trail.
func rowsOf(s *stage, over bool, text string, o order) []string {
	q := filter.Parse(text, chainSheet(false, actions.EventList{}).fields)
	var out []string
	for _, r := range listChains(over, nil)(listing[chainRow]{}, look{snap: s.store.Snapshot(), now: now}, q, o).rows {
		name := chainName(r.Member)
		if r.Row != nil {
			name = r.Row.JobName()
		}
		out = append(out, r.trail+name)
	}
	return out
}

const (
	goneUID = "uid 0b6e2f7c-gone"
	noName  = "not named by Kueue"
)

// Ping-pong first, then the latest preemption: 37 minutes, 3 hours and 4 hours ago; the
// victims of one the latest first.
func TestOrderOfChains(t *testing.T) {
	s := grove(begin(t, 120, 40))
	flip := []string{"flop", "`flip"}
	urgent := []string{"urgent-3", "+sweep-9", "`train-llm-7f2", " `tiny-2"}
	gone, odd := []string{goneUID, "`night-2"}, []string{noName, "`odd-1"}
	for name, tc := range map[string]struct {
		over bool
		o    order
		want [][]string
	}{
		"own":       {false, order{}, [][]string{flip, urgent, gone, odd}},
		"turned":    {false, order{turned: true}, [][]string{odd, gone, urgent, flip}},
		"priority":  {false, order{column: 2}, [][]string{urgent, flip, gone, odd}},
		"with over": {true, order{}, [][]string{flip, {"urgent-3", "+sweep-9", "+train-llm-7f2", "|`tiny-2", "`eval-9"}, gone, odd}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(slices.Concat(tc.want...), rowsOf(s, tc.over, "", tc.o)); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
		})
	}
}

// A filter keeps a Workload and those above it, and draws the tree of what is left.
func TestFilterOfChains(t *testing.T) {
	s := grove(begin(t, 120, 40))
	for text, want := range map[string][]string{
		"tiny":                 {"urgent-3", "`train-llm-7f2", " `tiny-2"},
		"job:urgent":           {"urgent-3"},
		"by:urgent":            {"urgent-3", "+sweep-9", "`train-llm-7f2"},
		"state:running":        {"flop", "urgent-3", "`train-llm-7f2", " `tiny-2"},
		"state:gone":           {goneUID, noName},
		"ns:team-c":            {"urgent-3", "`sweep-9"},
		"queue:night":          {goneUID, "`night-2"},
		"reason:borrowing":     {"urgent-3", "`sweep-9"},
		"!ns:team-a by:urgent": {"urgent-3", "`sweep-9"},
		"colour:red":           nil,
	} {
		if d := cmp.Diff(want, rowsOf(s, false, text, order{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

// The way to a row says which of those above it have more below; of a deep tree only
// the last levels are drawn.
func TestTrails(t *testing.T) {
	m := func(name string, victims ...*chain.Member) *chain.Member {
		return &chain.Member{Key: world.Key{Name: name}, Victims: victims}
	}
	draw := func(root *chain.Member) (out []string) {
		for _, r := range grown([]chainRow{{Member: root}}, func(*chain.Member) bool { return true }) {
			out = append(out, r.trail+r.Key.Name)
		}
		return out
	}
	want := []string{"a", "+b", "|+c", "||`d", "|`e", "`f", " `g"}
	if d := cmp.Diff(want, draw(m("a", m("b", m("c", m("d")), m("e")), m("f", m("g"))))); d != "" {
		t.Errorf("trails (-want +got):\n%s", d)
	}
	deep := m("z")
	for range 40 {
		deep = m("y", deep)
	}
	rows := draw(deep)
	if got, want := rows[len(rows)-1], "~"+strings.Repeat(" ", deepest-2)+"`z"; got != want {
		t.Errorf("the deepest is %q, want %q", got, want)
	}
}

// p and Enter go where they go on the page of the Workload.
func TestKeysOfChains(t *testing.T) {
	s := grove(begin(t, 120, 40))
	s.press("5", "down").cursorOn("team-a/flip")
	s.press("p").sees("Chains › team-b/flop", "ADMITTED 2m").press("esc").cursorOn("team-a/flip")
	s.press("enter").sees("Chains › team-a/flip", "preempted by team-b/flop").press("esc")
	s.press("down").cursorOn("team-b/urgent-3").press("p").sees("preemptor: no preemption of this Workload is known")
	s.press("end").cursorOn("odd-1").press("p").sees("preemptor: the preemptor is not known (deleted, or not readable)")
	s.press("up").cursorOn(noName).press("enter").sees("there is no page of it: it is not known: Kueue wrote neither name nor UID")
	s.press("up", "up").cursorOn(goneUID).press("enter").sees("there is no page of it: it is deleted, or in a namespace that may not be read")
}

// The cursor is on a Workload, wherever its line goes.
func TestCursorOfChains(t *testing.T) {
	s := grove(begin(t, 120, 40))
	s.press("5", "down", "down", "down").cursorOn("sweep-9")
	s.store.Put(preemptedBy(pendingJob("team-c", "new-1", "batch", 1, time.Hour), "uid-team-b-job-urgent-3-x1y2z", "InClusterQueue", "team-b-cq", time.Second))
	s.refresh()
	s.sees("new-1").cursorOn("sweep-9")
	s.store.Delete(world.KindWorkload, world.Key{Namespace: "team-c", Name: "job-sweep-9-x1y2z"})
	s.refresh()
	s.cursorOn("sweep-9").sees("does not exist any more").press("enter").sees("open: it does not exist any more")
}

// Of very many Workloads the chains are found outside the drawing loop and once a
// second.
func TestManyChains(t *testing.T) {
	st, c := scene()
	for i := range bigList {
		st.Put(pendingJob("team-a", fmt.Sprintf("w%05d", i), "batch", 0, time.Hour))
	}
	s := newStage(t, st, c, 120, 40)
	s.press("5").sees("train-llm-7f2")
	grove(s).seesNot("sweep-9")
	s.pass(time.Second)
	s.sees("sweep-9")
}

// What events add, and why they add nothing.
func TestEventsOfChains(t *testing.T) {
	s := grove(begin(t, 120, 40))
	s.press("5").sees("Not known by name: 2 preemptors").press("r").sees("events: there is nothing to read from")
	f := &fakeEvents{err: adviser{errors.New("cannot list events in all namespaces: no\x1b[2J")}}
	s.root.opt.Events = f
	s.press("r").sees(`Events are not known: cannot list events in all namespaces: no\x1b[2J`, goneUID)
	f.list, f.err = someEvents(), nil
	s.press("r").sees("team-b/job-flash-1-abcde", "They do not name 1 preemptor")
	s.press("o").sees("eval-9", "team-b/job-flash-1-abcde", "also those that are over") // they stay
	f.err = adviser{errors.New("the second page: connection refused")}
	s.press("r").sees("Not all events were read: the second page: connection refused. Names are from those read", "team-b/job-flash-1-abcde").seesNot("Events are not known")
	if d := cmp.Diff([]actions.EventScope{{}, {}, {}}, f.scopes); d != "" {
		t.Errorf("asked for (-want +got):\n%s", d)
	}
}

// What cannot be read is no chain that is not there.
func TestChainsNotReadable(t *testing.T) {
	s := grove(begin(t, 100, 30))
	s.store.SetFreshness(world.KindWorkload, world.Freshness{Feed: world.Denied, Detail: "cannot list workloads.kueue.x-k8s.io"})
	s.refresh()
	s.press("5").sees("no access", "No access to Workloads (--namespace reads one namespace): cannot list workloads.kueue.x-k8s.io")
	s.store.SetFreshness(world.KindWorkload, world.Freshness{Feed: world.Syncing, Count: 12})
	s.refresh()
	s.sees("so far")
}

// Who took the other's place once is not called ping-pong.
func TestOnceIsNoPingPong(t *testing.T) {
	s := grove(begin(t, 120, 40))
	for _, name := range []string{"flip", "flop"} {
		k := world.Key{Namespace: map[string]string{"flip": "team-a", "flop": "team-b"}[name], Name: "job-" + name + "-x1y2z"}
		w := *s.store.Snapshot().WorkloadByKey(k)
		w.Evictions = []world.Eviction{{Reason: "Preempted", Count: 1}}
		s.store.Put(&w)
	}
	s.refresh()
	s.press("5").seesNot("ping-pong, 2").sees("took each other's place")
}

// A preemption that the policy of now would not let be says so, on the page of its victim
// and though the preemptor is gone.
func TestPolicyThatChangedSince(t *testing.T) {
	s := grove(begin(t, 120, 40))
	q := *s.store.Snapshot().ClusterQueue("team-b-cq")
	q.Preemption.ReclaimWithinCohort = "Never"
	s.store.Put(&q)
	s.store.Put(preemptedBy(pendingJob("team-c", "late-1", "batch", 100, time.Hour), "nobody-any-more", "InCohortReclamation", "team-b-cq", time.Minute))
	s.refresh()
	for _, job := range []string{"flip", "late-1"} {
		s.onWorkload(job).press("enter").sees("ClusterQueue team-b-cq has reclaimWithinCohort: Never, which does NOT allow it now").press("esc")
	}
}
