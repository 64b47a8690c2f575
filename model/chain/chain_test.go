package chain

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

var t0 = time.Date(2026, 12, 2, 13, 0, 0, 0, time.UTC)

func workload(name string, uid, job types.UID, age time.Duration, by *world.Preemption) *world.Workload {
	return &world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: name}, UID: uid, Created: t0.Add(-age)}, Active: true, JobUID: job, Preempted: by}
}

func snapshot(ws ...*world.Workload) *store.Snapshot {
	s := store.New(clocktesting.NewFakePassiveClock(t0))
	for _, w := range ws {
		s.Put(w)
	}
	return s.Snapshot()
}

func TestBy(t *testing.T) {
	by := func(uid, job types.UID) *world.Preemption {
		return &world.Preemption{PreemptorUID: uid, PreemptorJobUID: job, Reason: "InClusterQueue", At: t0}
	}
	type answer struct {
		Known     bool
		Preemptor string
		Recreated bool
	}
	tests := map[string]struct {
		others []*world.Workload
		by     *world.Preemption
		want   answer
	}{
		"never preempted":  {nil, nil, answer{}},
		"still there":      {[]*world.Workload{workload("p", "p1", "j1", 0, nil)}, by("p1", "j1"), answer{true, "p", false}},
		"made again":       {[]*world.Workload{workload("old", "p2", "j1", time.Hour, nil), workload("new", "p3", "j1", time.Minute, nil)}, by("p1", "j1"), answer{true, "new", true}},
		"gone":             {nil, by("p1", "j1"), answer{true, "", false}},
		"UNKNOWN":          {[]*world.Workload{workload("plain", "", "", 0, nil)}, by("", ""), answer{true, "", false}},
		"by itself before": {nil, by("v", "jv"), answer{true, "victim", false}},
		"a job of its own": {nil, by("p1", "jv"), answer{true, "", false}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := workload("victim", "v", "jv", 0, tc.by)
			l, ok := By(snapshot(append(tc.others, v)...), v)
			got := answer{Known: ok, Recreated: l.Recreated}
			if l.Preemptor != nil {
				got.Preemptor = l.Preemptor.Name
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("link (-want +got):\n%s", d)
			}
		})
	}
}

func TestVictimsLatestFirst(t *testing.T) {
	p := workload("p", "p1", "", 0, nil)
	at := func(ago time.Duration) *world.Preemption {
		return &world.Preemption{PreemptorUID: "p1", At: t0.Add(-ago)}
	}
	s := snapshot(p, workload("a", "a", "", 0, at(time.Hour)), workload("b", "b", "", 0, at(time.Minute)), workload("c", "c", "", 0, &world.Preemption{PreemptorUID: "other", At: t0}))
	var got []string
	for _, l := range Victims(s, p) {
		got = append(got, l.Victim.Name)
	}
	if d := cmp.Diff([]string{"b", "a"}, got); d != "" {
		t.Errorf("victims (-want +got):\n%s", d)
	}
}
