package health

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/world"
)

// preempted is a Workload that was preempted so often, last by the other; after
// says how often Kueue counted it.
func preempted(name, by string, times int32, history bool) *world.Workload {
	w := job(name, world.Pending)
	if history {
		w = admitted(name)
	}
	w.Preempted = &world.Preemption{PreemptorUID: types.UID("uid-team/" + by), Reason: "InClusterQueue", At: now.Add(-time.Minute), History: history}
	if times > 0 {
		w.Evictions = []world.Eviction{{Reason: "Preempted", Count: times}}
	}
	return w
}

func TestPingPong(t *testing.T) {
	tests := map[string]struct {
		of   []*world.Workload
		want []said
		text string
	}{
		"in turn, again and again": {
			[]*world.Workload{preempted("b", "a", 7, false), preempted("a", "b", 6, true)},
			[]said{{"pingPong", "critical", "Workload/team/a", 2, "change", "owner of the preemption policy"}},
			"team/a (6 times), team/b (7 times) preempt each other in turn: none gets to its end until a priority or a preemption policy changes (ClusterQueues: q).",
		},
		"in turn, and a third that one of them pushed out": {
			[]*world.Workload{preempted("b", "a", 2, false), preempted("a", "b", 2, true), preempted("c", "a", 9, false)},
			[]said{{"pingPong", "critical", "Workload/team/a", 2, "change", "owner of the preemption policy"}}, "",
		},
		"round a circle of three": {
			[]*world.Workload{preempted("c", "b", 2, false), preempted("b", "a", 2, false), preempted("a", "c", 1, true)},
			[]said{{"pingPong", "critical", "Workload/team/a", 3, "change", "owner of the preemption policy"}}, "",
		},
		"counts were not kept": {
			[]*world.Workload{preempted("b", "a", 0, false), preempted("a", "b", 0, true)},
			[]said{{"pingPong", "critical", "Workload/team/a", 2, "change", "owner of the preemption policy"}},
			"team/a, team/b preempt each other in turn: none gets to its end until a priority or a preemption policy changes (ClusterQueues: q).",
		},
		"each took the other's place once":      {[]*world.Workload{preempted("b", "a", 1, false), preempted("a", "b", 1, true)}, []said{}, ""},
		"both run now: it is over":              {[]*world.Workload{preempted("b", "a", 5, true), preempted("a", "b", 5, true)}, []said{}, ""},
		"often preempted, by one that stays on": {[]*world.Workload{preempted("b", "a", 50, false), admitted("a")}, []said{}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := with(tc.of...).settle().input()
			in.Chains = chain.All(in.Snapshot, chain.Options{})
			got := Alerts(in)
			if d := cmp.Diff(tc.want, sayings(got)); d != "" {
				t.Fatalf("alerts (-want +got):\n%s", d)
			}
			if tc.text != "" && (got[0].Explanation != tc.text || got[0].Object.UID != "uid-team/a") {
				t.Errorf("%q on %q, want %q", got[0].Explanation, got[0].Object.UID, tc.text)
			}
		})
	}
}

// An event may tell of a preemption by one that is gone: nothing goes on there.
func TestALoopThatEnded(t *testing.T) {
	in := with(preempted("b", "a", 7, false)).settle().input()
	in.Chains = []chain.Chain{{End: chain.Loop, Links: []chain.Step{
		{Victim: world.Key{Namespace: "team", Name: "b"}, VictimUID: "uid-team/b", Loop: true},
		{Victim: world.Key{Namespace: "team", Name: "a"}, VictimUID: "uid-team/a", Loop: true, Recovery: chain.Recovery{State: chain.Gone}},
	}}}
	if got := Alerts(in); len(got) > 0 {
		t.Errorf("%+v", sayings(got))
	}
}
