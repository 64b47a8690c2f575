package chain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// sketch is a chain in a line: "victim<preemptor" for each link, "?" for nobody
// known, with ~ for History, ' for Recreated and @ for a link of a loop.
func sketch(c Chain) string {
	var out []string
	for _, s := range c.Links {
		by := "?"
		if s.Preemptor != nil {
			by = s.Preemptor.Name
		}
		t := s.Victim.Name
		if s.Recovery.State == Gone {
			t += "(gone)"
		}
		t += "<" + by
		if s.Recreated {
			t += "'"
		}
		if s.History {
			t += "~"
		}
		if s.Loop {
			t += "@"
		}
		out = append(out, t)
	}
	return strings.Join(append(out, string(c.End)), " ")
}

func sketches(cs []Chain) []string {
	var out []string
	for _, c := range cs {
		out = append(out, sketch(c))
	}
	return out
}

// lost is a victim, with the UID of its name, of the preemptor with the UID by; ~
// before that: it is over. ago orders preemptions.
func lost(name string, by types.UID, ago int) *world.Workload {
	p := &world.Preemption{Reason: "InClusterQueue", At: t0.Add(-time.Duration(ago) * time.Minute)}
	uid, over := strings.CutPrefix(string(by), "~")
	p.PreemptorUID, p.History = types.UID(uid), over
	return workload(name, types.UID(name), "", time.Hour, p)
}

func there(name string) *world.Workload { return workload(name, types.UID(name), "", time.Hour, nil) }

// job makes the Workload one of the job, and byJob its victim.
func job(uid types.UID, w *world.Workload) *world.Workload { w.JobUID = uid; return w }

func byJob(uid types.UID, w *world.Workload) *world.Workload {
	w.Preempted.PreemptorJobUID = uid
	return w
}

func TestShapes(t *testing.T) {
	tests := map[string]struct {
		workloads []*world.Workload
		events    []world.Event
		want      []string
	}{
		"nobody":                  {[]*world.Workload{there("a")}, nil, nil},
		"one link":                {[]*world.Workload{lost("a", "b", 0), there("b")}, nil, []string{"a<b root"}},
		"deleted":                 {[]*world.Workload{lost("a", "x", 0), there("b")}, nil, []string{"a<? unknown"}},
		"UNKNOWN":                 {[]*world.Workload{lost("a", "", 0), workload("plain", "", "", 0, nil)}, nil, []string{"a<? unknown"}},
		"recreated":               {[]*world.Workload{byJob("j", lost("a", "x", 0)), job("j", there("b"))}, nil, []string{"a<b' root"}},
		"recreated and preempted": {[]*world.Workload{byJob("j", lost("a", "x", 0)), job("j", lost("b", "c", 0)), there("c")}, nil, []string{"a<b' b<c root"}},
		"only the job is known":   {[]*world.Workload{byJob("j", lost("a", "", 0)), job("j", there("b"))}, nil, []string{"a<b' root"}},
		"its own job":             {[]*world.Workload{job("j", byJob("j", lost("a", "x", 0)))}, nil, []string{"a<? unknown"}},
		"itself":                  {[]*world.Workload{lost("a", "a", 0)}, nil, []string{"a<a@ loop"}},
		"a loop of two":           {[]*world.Workload{lost("a", "b", 9), lost("b", "a", 1)}, nil, []string{"b<a@ a<b@ loop"}},
		"a loop, half of it over": {[]*world.Workload{lost("a", "~b", 1), lost("b", "a", 9)}, nil, []string{"b<a@ a<b~@ loop"}},
		"a loop of three":         {[]*world.Workload{lost("a", "b", 9), lost("b", "c", 5), lost("c", "a", 7)}, nil, []string{"b<c@ c<a@ a<b@ loop"}},
		"a way into a loop":       {[]*world.Workload{lost("a", "b", 1), lost("b", "c", 1), lost("c", "b", 1)}, nil, []string{"a<b b<c@ c<b@ loop"}},
		"two loops":               {[]*world.Workload{lost("a", "b", 1), lost("b", "a", 2), lost("c", "d", 3), lost("d", "c", 2)}, nil, []string{"a<b@ b<a@ loop", "d<c@ c<d@ loop"}},
		"a loop with a recreated": {[]*world.Workload{byJob("j", lost("a", "x", 1)), job("j", lost("b", "a", 2))}, nil, []string{"a<b'@ b<a@ loop"}},
		"diamond":                 {[]*world.Workload{lost("a", "c", 1), lost("b", "c", 1), lost("c", "d", 1), there("d")}, nil, []string{"a<c c<d root", "b<c c<d root"}},
		"over for the first":      {[]*world.Workload{lost("a", "~b", 1), lost("b", "c", 1), there("c")}, nil, []string{"b<c root"}},
		"over in the middle":      {[]*world.Workload{lost("a", "b", 1), lost("b", "~c", 1), there("c")}, nil, []string{"a<b b<c~ root"}},
		"all over":                {[]*world.Workload{lost("a", "~b", 1), lost("b", "~a", 1)}, nil, nil},
		"sorted by name":          {[]*world.Workload{lost("b", "x", 1), lost("a", "x", 9), lost("c", "x", 5)}, nil, []string{"a<? unknown", "b<? unknown", "c<? unknown"}},

		"an event names the preemptor": {[]*world.Workload{lost("a", "x", 0)}, []world.Event{eventOn("ns/gone", "x", "Admitted", "Admitted by ClusterQueue q")}, []string{"a<gone unknown"}},
		"an event of an unknown one":   {[]*world.Workload{lost("a", "", 0)}, []world.Event{eventOn("ns/gone", "x", "PreemptedWorkload", "Preempted workload ns/a (UID: a) in ClusterQueue q")}, []string{"a<gone unknown"}},
		"an event leads to one that is there": {
			[]*world.Workload{lost("a", "", 0), lost("b", "c", 0), there("c")},
			[]world.Event{eventOn("ns/b", "b", "PreemptedWorkload", "Preempted workload ns/a (UID: a) in ClusterQueue q")}, []string{"a<b b<c root"},
		},
		"an event of an earlier preemption": {[]*world.Workload{lost("a", "", -1)}, []world.Event{eventOn("ns/gone", "x", "PreemptedWorkload", "Preempted workload ns/a (UID: a) in ClusterQueue q")}, []string{"a<? unknown"}},
		"an event of a namesake":            {[]*world.Workload{lost("a", "", 0)}, []world.Event{eventOn("ns/gone", "x", "PreemptedWorkload", "Preempted workload ns/a (UID: a-before) in ClusterQueue q")}, []string{"a<? unknown"}},
		"the condition goes before events":  {[]*world.Workload{lost("a", "b", 0), there("b")}, []world.Event{eventOn("ns/gone", "x", "PreemptedWorkload", "Preempted workload ns/a (UID: a) in ClusterQueue q")}, []string{"a<b root"}},
		"through one that is gone": {
			[]*world.Workload{lost("a", "x", 0), there("b")},
			[]world.Event{eventOn("ns/gone", "x", "Preempted", "Preempted to accommodate a workload (UID: b, JobUID: j) due to prioritization in the ClusterQueue")}, []string{"a<gone gone(gone)<b root"},
		},
		"through two that are gone": {
			[]*world.Workload{lost("a", "x", 0)},
			[]world.Event{eventOn("ns/late", "y", "PreemptedWorkload", "Preempted workload ns/gone (UID: x) in ClusterQueue q")}, []string{"a<gone gone(gone)<late unknown"},
		},
		"in a loop with one that is gone": {
			[]*world.Workload{lost("a", "x", 0)},
			[]world.Event{eventOn("ns/a", "a", "PreemptedWorkload", "Preempted workload ns/gone (UID: x) in ClusterQueue q")}, []string{"a<gone@ gone(gone)<a@ loop"},
		},
		"one that is gone was made again": {
			[]*world.Workload{lost("a", "x", 0), lost("gone", "b", 0), there("b")},
			[]world.Event{eventOn("ns/gone", "x", "Preempted", "Preempted to accommodate a workload (UID: b, JobUID: j)")}, []string{"a<gone gone(gone)<b root", "gone<b root"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, sketches(All(snapshot(tc.workloads...), Options{Events: tc.events}))); d != "" {
				t.Errorf("chains (-want +got):\n%s", d)
			}
		})
	}
}

// What is over is left out of All but answered when asked for.
func TestOfWhatIsOver(t *testing.T) {
	s := snapshot(lost("a", "~b", 1), lost("b", "~a", 1), there("c"))
	for name, want := range map[types.UID]string{"a": "a<b~@ b<a~@ loop", "b": "b<a~@ a<b~@ loop"} {
		if got := sketch(*Of(s, s.Workload(name), Options{})); got != want {
			t.Errorf("Of(%s) is %s, want %s", name, got, want)
		}
	}
	if c := Of(s, s.Workload("c"), Options{}); c != nil {
		t.Errorf("Of(c) is %s, want none", sketch(*c))
	}
}

func TestPingPong(t *testing.T) {
	s := snapshot(
		lost("a", "b", 1), lost("b", "c", 1), lost("c", "b", 1), lost("d", "b", 1), // two ways into one loop
		lost("e", "f", 1), lost("f", "~e", 1), lost("g", "h", 1), there("h"),
	)
	var got [][]string
	for _, loop := range PingPong(All(s, Options{})) {
		var names []string
		for _, l := range loop {
			names = append(names, l.Victim.Name)
		}
		got = append(got, names)
	}
	if d := cmp.Diff([][]string{{"b", "c"}, {"e", "f"}}, got); d != "" {
		t.Errorf("loops (-want +got):\n%s", d)
	}
}

func TestTimes(t *testing.T) {
	w := &world.Workload{Evictions: []world.Eviction{{Reason: "Preempted", Count: 3}, {Reason: "PodsReadyTimeout", Count: 5}, {Reason: "Preempted", Cause: "x", Count: 4}}}
	if got := Times(w); got != 7 {
		t.Errorf("preempted %d times, want 7", got)
	}
	if got := Times(&world.Workload{}); got != 0 {
		t.Errorf("never preempted, but %d times", got)
	}
}

func ladder(n int) *store.Snapshot {
	ws := []*world.Workload{there(fmt.Sprintf("w-%06d", n))}
	for i := range n {
		ws = append(ws, lost(fmt.Sprintf("w-%06d", i), types.UID(fmt.Sprintf("w-%06d", i+1)), 0))
	}
	return snapshot(ws...)
}

func TestLongChain(t *testing.T) {
	cs := All(ladder(10_000), Options{})
	if len(cs) != 1 || len(cs[0].Links) != 10_000 || cs[0].End != Root || cs[0].Links[0].Victim.Name != "w-000000" {
		t.Errorf("%d chains, want one of 10000 links from w-000000 to its root", len(cs))
	}
}

func BenchmarkAll(b *testing.B) {
	for _, n := range []int{5_000, 50_000} {
		var ws []*world.Workload
		for i := range n {
			switch by := types.UID(fmt.Sprintf("w-%06d", i-1)); i % 10 {
			case 1, 2, 3: // a tenth leads three
				ws = append(ws, lost(fmt.Sprintf("w-%06d", i), by, i))
			default:
				ws = append(ws, there(fmt.Sprintf("w-%06d", i)))
			}
		}
		s := snapshot(ws...)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				All(s, Options{})
			}
		})
	}
}
