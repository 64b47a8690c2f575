package chain

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/model/world"
)

// named are the Workloads that there can be or have been.
var named = []types.UID{"w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "gone0", "gone1", "gone2"}

// anyWorld draws Workloads that preempted each other in any way, Workloads that are
// gone, jobs that were made again, and events of all of them.
func anyWorld(t *rapid.T) ([]*world.Workload, []world.Event) {
	uid := rapid.SampledFrom(append([]types.UID{""}, named...))
	job := rapid.SampledFrom([]types.UID{"", "", "j0", "j1", "j2"})
	var ws []*world.Workload
	for i := range rapid.IntRange(0, 8).Draw(t, "workloads") {
		name := fmt.Sprintf("w%d", i)
		w := workload(name, types.UID(name), job.Draw(t, "job"), time.Duration(rapid.IntRange(0, 2).Draw(t, "age"))*time.Minute, nil)
		if rapid.IntRange(0, 3).Draw(t, "preempted") > 0 {
			w.Preempted = &world.Preemption{
				PreemptorUID: uid.Draw(t, "by"), PreemptorJobUID: job.Draw(t, "by job"), At: t0.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "at")) * time.Minute),
				History: rapid.IntRange(0, 3).Draw(t, "history") == 3,
			}
		}
		ws = append(ws, w)
	}
	var events []world.Event
	for range rapid.IntRange(0, 6).Draw(t, "events") {
		on, other := uid.Draw(t, "event on"), uid.Draw(t, "event of")
		e := eventOn("ns/"+string(on), on, "PreemptedWorkload", "Preempted workload ns/"+string(other)+" (UID: "+string(other)+") in ClusterQueue q"+priorities)
		if rapid.Bool().Draw(t, "event on the victim") {
			e = eventOn("ns/"+string(on), on, "Preempted", "Preempted to accommodate a workload (UID: "+string(other)+", JobUID: UNKNOWN) due to prioritization in the ClusterQueue")
		}
		e.At = t0.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "event at")) * time.Minute)
		events = append(events, e)
	}
	return ws, events
}

func TestChainsAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ws, events := anyWorld(t)
		s, o := snapshot(ws...), Options{Events: events}
		cs := All(s, o)
		inside := map[member]bool{} // beyond the first link of a chain, loops aside
		firsts := map[member]bool{}
		covered := map[member]bool{}
		for _, c := range cs {
			checkChain(t, c, len(named))
			if c.Links[0].History {
				t.Errorf("begins with what is over: %s", sketch(c))
			}
			if firsts[c.Links[0].victim()] {
				t.Errorf("two begin with %s", c.Links[0].Victim)
			}
			firsts[c.Links[0].victim()] = true
			for i := range c.Links {
				v := c.Links[i].victim()
				covered[v] = true
				if i > 0 && !c.Links[0].Loop {
					inside[v] = true
				}
				// The rest of a chain is the chain of who stands there.
				if w := s.WorkloadByKey(v.Key); w != nil && w.UID == v.uid && !c.Links[i].Loop {
					if d := cmp.Diff(Chain{c.Links[i:], c.End}, *Of(s, w, o)); d != "" {
						t.Errorf("chain of %s (-rest of %s +Of):\n%s", v.Key, sketch(c), d)
					}
				}
			}
		}
		for f := range firsts {
			if inside[f] {
				t.Errorf("%s begins a chain and is inside another", f.Key)
			}
		}
		for _, w := range ws {
			if v := (member{w.Key, w.UID}); w.Preempted != nil && !w.Preempted.History && !covered[v] {
				t.Errorf("%s waits and is on no chain of %v", w.Key, sketches(cs))
			}
			if c := Of(s, w, o); (c != nil) != (w.Preempted != nil) {
				t.Errorf("Of(%s) answers %t, want %t", w.Key, c != nil, w.Preempted != nil)
			}
		}
		var loops int
		for _, loop := range PingPong(cs) {
			loops += len(loop)
		}
		all := map[member]bool{}
		for _, c := range cs {
			for i := range c.Links {
				if c.Links[i].Loop {
					all[c.Links[i].victim()] = true
				}
			}
		}
		if loops != len(all) {
			t.Errorf("%d Workloads are on loops, PingPong has %d", len(all), loops)
		}
	})
}

// checkChain holds a chain to what every chain is.
func checkChain(t *rapid.T, c Chain, most int) {
	if len(c.Links) == 0 || len(c.Links) > most {
		t.Fatalf("%d links of at most %d", len(c.Links), most)
	}
	var victims []member
	for i := range c.Links {
		l := &c.Links[i]
		if slices.Contains(victims, l.victim()) {
			t.Errorf("%s is twice in %s", l.Victim, sketch(c))
		}
		victims = append(victims, l.victim())
		if i+1 < len(c.Links) && (l.Preemptor == nil || *l.Preemptor != c.Links[i+1].Victim) {
			t.Errorf("link %d does not lead to the next: %s", i, sketch(c))
		}
		if l.Preemptor != nil && l.Preemptor.Name == "" {
			t.Errorf("a preemptor without a name: %s", sketch(c))
		}
	}
	last := c.Links[len(c.Links)-1]
	from := slices.IndexFunc(c.Links, func(s Step) bool { return s.Loop })
	if (c.End == Loop) != (from >= 0) {
		t.Errorf("loop marks and end differ: %s", sketch(c))
	}
	if c.End == Loop && *last.Preemptor != c.Links[from].Victim {
		t.Errorf("the loop does not close: %s", sketch(c))
	}
	if c.End == Root && last.Preemptor == nil {
		t.Errorf("nobody is the root: %s", sketch(c))
	}
}
