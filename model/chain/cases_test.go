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

func clock(hour, minute, second int) time.Time {
	return time.Date(2026, 9, 14, hour, minute, second, 0, time.UTC)
}

func key(namespace, name string) world.Key { return world.Key{Namespace: namespace, Name: name} }

func ptr[T any](v T) *T { return &v }

// queued is a Workload of a LocalQueue that is called like its ClusterQueue.
func queued(k world.Key, uid, job types.UID, queue string, priority int32, state world.State, by *world.Preemption) *world.Workload {
	return &world.Workload{Meta: world.Meta{Key: k, UID: uid, Created: clock(8, 0, 0)}, Active: true, JobUID: job, LocalQueue: queue, Priority: priority, State: state, Preempted: by}
}

func within(rows ...any) *store.Snapshot {
	s := store.New(clocktesting.NewFakePassiveClock(clock(10, 0, 0)))
	for _, r := range rows {
		s.Put(r)
	}
	return s.Snapshot()
}

func clusterQueue(name string, p world.PreemptionPolicy) *world.ClusterQueue {
	return &world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: name}}, Preemption: p}
}

func localQueue(namespace, name string) *world.LocalQueue {
	return &world.LocalQueue{Meta: world.Meta{Key: key(namespace, name)}, ClusterQueue: name}
}

const (
	alto, bass, brass, opera, encore = types.UID("d0956aba"), types.UID("622f445d"), types.UID("e159ec4f"), types.UID("9c04aa8f"), types.UID("1069649e")
	never, lowerPriority             = "Never", "LowerPriority"
)

// theatre is a cohort in which a Workload that is gone preempted brass, which had
// preempted alto; bass was preempted by somebody unknown.
func theatre() *store.Snapshot {
	off := world.PreemptionPolicy{WithinClusterQueue: never, ReclaimWithinCohort: never, BorrowWithinCohort: never}
	return within(
		clusterQueue("top", world.PreemptionPolicy{WithinClusterQueue: lowerPriority, ReclaimWithinCohort: "Any", BorrowWithinCohort: never}), clusterQueue("mid", off), clusterQueue("low", off),
		localQueue("stage", "top"), localQueue("band", "mid"), localQueue("choir", "low"),
		queued(key("stage", "job-encore"), encore, "99f23eed", "top", 900, world.Admitted, nil),
		queued(key("band", "job-brass"), brass, "140661d0", "mid", 500, world.Pending,
			&world.Preemption{PreemptorUID: opera, PreemptorJobUID: "e6d770a5", Reason: "InCohortReclamation", PreemptorPath: "/hall/top", PreempteePath: "/hall/mid", At: clock(9, 50, 0)}),
		queued(key("choir", "job-alto"), alto, "28bfd7e4", "low", 0, world.Pending,
			&world.Preemption{PreemptorUID: brass, PreemptorJobUID: "140661d0", Reason: "InCohortFairSharing", PreemptorPath: "/hall/mid", PreempteePath: "/hall/low", At: clock(9, 29, 0)}),
		queued(key("choir", "job-bass"), bass, "18a64020", "low", 0, world.Pending, &world.Preemption{Reason: "InClusterQueue", At: clock(9, 56, 0)}),
	)
}

// Case 05: a preemptor that was deleted, and one that Kueue calls UNKNOWN.
func TestDeletedPreemptor(t *testing.T) {
	pending := Recovery{State: Pending}
	first := Step{
		Victim: key("choir", "job-alto"), VictimUID: alto, VictimPriority: ptr[int32](0), Preemptor: ptr(key("band", "job-brass")), PreemptorUID: brass, PreemptorPriority: ptr[int32](500),
		PreemptorQueue: "mid", Reason: "InCohortFairSharing", PolicyHolds: ptr(false), Recovery: pending, At: clock(9, 29, 0),
	}
	second := Step{
		Victim: key("band", "job-brass"), VictimUID: brass, VictimPriority: ptr[int32](500), PreemptorUID: opera,
		PreemptorQueue: "top", Reason: "InCohortReclamation", PolicyHolds: ptr(true), Recovery: pending, At: clock(9, 50, 0),
	}
	named := second
	named.Preemptor, named.PreemptorPriority = ptr(key("stage", "job-opera")), ptr[int32](900)
	numbered := second
	numbered.PreemptorPriority = ptr[int32](900)
	third := Step{
		Victim: key("choir", "job-bass"), VictimUID: bass, VictimPriority: ptr[int32](0),
		PreemptorQueue: "low", Reason: "InClusterQueue", PolicyHolds: ptr(false), Recovery: pending, At: clock(9, 56, 0),
	}
	onOpera := eventOn("stage/job-opera", opera, "PreemptedWorkload", "Preempted workload band/job-brass (UID: "+string(brass)+") in ClusterQueue mid"+priorities)
	onBrass := eventOn("band/job-brass", brass, "Preempted", "Preempted to accommodate a workload (UID: "+string(opera)+", JobUID: e6d770a5) due to reclamation within the cohort; preemptor path: /hall/top; preemptee path: /hall/mid"+priorities)

	for name, tc := range map[string]struct {
		events []world.Event
		want   []Chain
	}{
		"no events":            {nil, []Chain{{[]Step{first, second}, Unknown}, {[]Step{third}, Unknown}}},
		"events":               {[]world.Event{onOpera, onBrass}, []Chain{{[]Step{first, named}, Unknown}, {[]Step{third}, Unknown}}},
		"events of the victim": {[]world.Event{onBrass}, []Chain{{[]Step{first, numbered}, Unknown}, {[]Step{third}, Unknown}}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, All(theatre(), Options{Events: tc.events})); d != "" {
				t.Errorf("chains (-want +got):\n%s", d)
			}
		})
	}
	s := theatre()
	if c := Of(s, s.Workload(encore), Options{Events: []world.Event{onOpera, onBrass}}); c != nil {
		t.Errorf("job-encore was never preempted: %+v", c)
	}
	if d := cmp.Diff(&Chain{[]Step{named}, Unknown}, Of(s, s.Workload(brass), Options{Events: []world.Event{onOpera}})); d != "" {
		t.Errorf("chain of job-brass (-want +got):\n%s", d)
	}
}

// Case 06: a victim that is still being evicted.
func TestVictimStillRuns(t *testing.T) {
	express, tram := types.UID("13a405b2"), types.UID("6825ae40")
	s := within(
		clusterQueue("line", world.PreemptionPolicy{WithinClusterQueue: lowerPriority, ReclaimWithinCohort: never, BorrowWithinCohort: never}), localQueue("rail", "line"),
		queued(key("rail", "express"), express, "d060798c", "line", 100, world.Pending, nil),
		queued(key("rail", "tram"), tram, "0b9f3c9b", "line", 10, world.Evicting,
			&world.Preemption{PreemptorUID: express, PreemptorJobUID: "d060798c", Reason: "InClusterQueue", PreemptorPath: "/line", PreempteePath: "/line", At: clock(9, 59, 20)}),
	)
	want := []Chain{{[]Step{{
		Victim: key("rail", "tram"), VictimUID: tram, VictimPriority: ptr[int32](10), Preemptor: ptr(key("rail", "express")), PreemptorUID: express, PreemptorPriority: ptr[int32](100),
		PreemptorQueue: "line", Reason: "InClusterQueue", PolicyHolds: ptr(true), Recovery: Recovery{State: Running}, At: clock(9, 59, 20),
	}}, Root}}
	if d := cmp.Diff(want, All(s, Options{})); d != "" {
		t.Errorf("chains (-want +got):\n%s", d)
	}
}

func TestRecovery(t *testing.T) {
	past := int32(540)
	w := &world.Workload{
		RequeueAt: clock(10, 7, 0), RequeueCount: 3, PastExecutionSeconds: &past, PodSets: []world.PodSet{{Reclaimable: 2}, {Reclaimable: 3}},
		Annotations: map[string]string{"example.com/checkpoint": "step 1200", "": "no key"},
	}
	want := Recovery{State: Pending, RequeueAt: clock(10, 7, 0), RequeueCount: 3, PastExecutionSeconds: &past, ReclaimablePods: 5}
	for _, checkpoint := range []string{"", "example.com/other"} {
		if d := cmp.Diff(want, RecoveryOf(w, checkpoint)); d != "" {
			t.Errorf("checkpoint key %q (-want +got):\n%s", checkpoint, d)
		}
	}
	want.Checkpoint = &Checkpoint{"example.com/checkpoint", "step 1200"}
	if d := cmp.Diff(want, RecoveryOf(w, "example.com/checkpoint")); d != "" {
		t.Errorf("checkpoint (-want +got):\n%s", d)
	}
	for state, want := range map[world.State]State{
		world.Pending: Pending, world.Reserving: Running, world.Admitted: Running, world.Evicting: Running, world.Finished: Finished, world.Deactivated: Deactivated,
	} {
		if got := RecoveryOf(&world.Workload{State: state}, "").State; got != want {
			t.Errorf("%s: %s, want %s", state, got, want)
		}
	}
	if got := RecoveryOf(nil, "example.com/checkpoint"); got != (Recovery{State: Gone}) {
		t.Errorf("gone: %+v", got)
	}
}
