package position

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

var t0 = time.Date(2026, 9, 14, 10, 0, 0, 0, time.UTC)

type change func(*world.Workload)

// pending is a Workload in the LocalQueue a of the namespace ns, made so many
// minutes before t0.
func pending(name string, age int, changes ...change) *world.Workload {
	w := &world.Workload{
		Meta:   world.Meta{Key: world.Key{Namespace: "ns", Name: name}, UID: types.UID(name), Created: t0.Add(-time.Duration(age) * time.Minute)},
		Active: true, LocalQueue: "a",
	}
	for _, c := range changes {
		c(w)
	}
	return w
}

func prio(p int32) change { return func(w *world.Workload) { w.Priority = p } }

func at(namespace, localQueue string) change {
	return func(w *world.Workload) { w.Namespace, w.LocalQueue = namespace, localQueue }
}

func cond(typ, status, reason, message string, ago int) change {
	return func(w *world.Workload) {
		w.Conditions = append(w.Conditions, world.Condition{Type: typ, Status: status, Reason: reason, Message: message, At: t0.Add(-time.Duration(ago) * time.Minute)})
	}
}

func requeueAt(in int) change {
	return func(w *world.Workload) { w.RequeueAt = t0.Add(time.Duration(in) * time.Minute) }
}

func cluster(rows ...any) *store.Store {
	s := store.New(clocktesting.NewFakePassiveClock(t0))
	for _, k := range world.WatchedKinds() {
		s.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	for name, q := range map[string]world.ClusterQueue{"main": {Strategy: "BestEffortFIFO"}, "strict": {Strategy: "StrictFIFO"}, "stopped": {StopPolicy: world.StopHold}} {
		q.Key = world.Key{Name: name}
		s.Put(&q)
	}
	for key, q := range map[world.Key]world.LocalQueue{
		{Namespace: "ns", Name: "a"}: {ClusterQueue: "main"}, {Namespace: "ns", Name: "b"}: {ClusterQueue: "main"}, {Namespace: "other", Name: "a"}: {ClusterQueue: "main"},
		{Namespace: "ns", Name: "held"}:   {ClusterQueue: "main", StopPolicy: world.StopHold},
		{Namespace: "ns", Name: "strict"}: {ClusterQueue: "strict"}, {Namespace: "ns", Name: "stopped"}: {ClusterQueue: "stopped"}, {Namespace: "ns", Name: "lost"}: {ClusterQueue: "nowhere"},
	} {
		q.Key = key
		s.Put(&q)
	}
	for _, r := range rows {
		s.Put(r)
	}
	return s
}

const preempting = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor std, 5 more needed. Pending the preemption of 1 workload(s)"

func TestEstimate(t *testing.T) {
	tests := map[string]struct {
		workloads []*world.Workload
		want      map[types.UID]int
	}{
		"priority, then age, then UID": {
			[]*world.Workload{pending("young", 1), pending("old", 9), pending("b", 5), pending("a", 5), pending("high", 0, prio(10)), pending("low", 99, prio(-1))},
			map[types.UID]int{"high": 1, "old": 2, "a": 3, "b": 4, "young": 5, "low": 6},
		},
		"the LocalQueues of a ClusterQueue in one line": {
			[]*world.Workload{pending("x", 1), pending("y", 2, at("ns", "b")), pending("z", 3, at("other", "a"))},
			map[types.UID]int{"z": 1, "y": 2, "x": 3},
		},
		// Case 05: two Workloads without priority that were preempted; the time of
		// that does not matter.
		"preempted ones keep their age": {
			[]*world.Workload{
				pending("bass", 300, cond("Evicted", "True", "Preempted", "", 4), cond("Preempted", "True", "InClusterQueue", "", 4), cond("Requeued", "True", "Preempted", "", 3)),
				pending("alto", 200, cond("Evicted", "True", "Preempted", "", 31), cond("Preempted", "True", "InCohortFairSharing", "", 31), cond("Requeued", "True", "Preempted", "", 30)),
			},
			map[types.UID]int{"bass": 1, "alto": 2},
		},
		"evicted for pods or by a check: the age of the eviction": {
			[]*world.Workload{
				pending("pods", 300, cond("Evicted", "True", "PodsReadyTimeout", "", 4), cond("Requeued", "True", "BackoffFinished", "", 1)),
				pending("check", 300, cond("Evicted", "True", "AdmissionCheck", "", 5), cond("Requeued", "True", "BackoffFinished", "", 1)),
				pending("over", 6, cond("Evicted", "False", "QuotaReserved", "Previously: ", 1)), pending("new", 3),
			},
			map[types.UID]int{"over": 1, "check": 2, "pods": 3, "new": 4},
		},
		// Case 06.
		"in backoff": {
			[]*world.Workload{
				pending("express", 3, prio(100)), pending("later", 2),
				pending("sleeper", 400, prio(500), cond("Evicted", "True", "PodsReadyTimeout", "", 10), cond("Requeued", "False", "PodsReadyTimeout", "", 9), requeueAt(7)),
				pending("alone", 400, prio(500), requeueAt(1)), pending("due", 1, requeueAt(0)),
			},
			map[types.UID]int{"express": 1, "later": 2, "due": 3},
		},
		"put aside until something is undone": {
			[]*world.Workload{
				pending("drained", 9, cond("Requeued", "False", "ClusterQueueStopped", "", 1)),
				pending("gated", 9, func(w *world.Workload) { w.GatedBy = "audit" }, cond("QuotaReserved", "False", "AdmissionGated", "Admission is gated by: audit", 1)),
				pending("hold", 9, cond("QuotaReserved", "False", "OnHold", "", 1)), pending("pods", 9, cond("WaitingForReplacementPods", "True", "x", "", 1)),
				pending("unheeded", 8, func(w *world.Workload) { w.GatedBy = "audit" }), pending("cleared", 7, cond("QuotaReserved", "False", "AdmissionGated", "", 1)),
			},
			map[types.UID]int{"unheeded": 1, "cleared": 2},
		},
		// Case 04: a namespace that is not selected keeps its place.
		"tried in vain": {
			[]*world.Workload{
				pending("big", 33, cond("QuotaReserved", "False", "Pending", "insufficient quota", 1)),
				pending("guest", 27, at("other", "a"), cond("QuotaReserved", "False", "Inadmissible", "Workload namespace doesn't match ClusterQueue selector", 1)), pending("new", 1),
			},
			map[types.UID]int{"big": 1, "guest": 2, "new": 3},
		},
		"not pending": {
			[]*world.Workload{
				pending("running", 9, cond("QuotaReserved", "True", "", "", 1), cond("Admitted", "True", "", "", 1)), pending("evicting", 9, cond("QuotaReserved", "True", "", "", 1), cond("Evicted", "True", "Preempted", "", 1)),
				pending("done", 9, cond("Finished", "True", "", "", 1)), pending("off", 9, func(w *world.Workload) { w.Active = false }), pending("one", 1),
			},
			map[types.UID]int{"one": 1},
		},
		// Case 08: a held LocalQueue, and another of its name.
		"queues that are held or missing": {
			[]*world.Workload{
				pending("rally", 40, at("ns", "held")), pending("lost", 40, at("ns", "lost")), pending("nobody", 40, at("ns", "none")),
				pending("drop", 10), pending("waits", 10, at("ns", "stopped")), pending("waits-too", 9, at("ns", "stopped")),
			},
			map[types.UID]int{"drop": 1, "waits": 1, "waits-too": 2},
		},
		"a preemptor stays at the head": {
			[]*world.Workload{pending("rush", 1, prio(900)), pending("preemptor", 2, prio(100), cond("QuotaReserved", "False", "Pending", preempting, 1)), pending("old", 9, prio(100))},
			map[types.UID]int{"preemptor": 1, "rush": 2, "old": 3},
		},
		"a preemptor does not where the order is strict": {
			[]*world.Workload{pending("rush", 1, prio(900), at("ns", "strict")), pending("preemptor", 2, at("ns", "strict"), cond("QuotaReserved", "False", "Pending", preempting, 1))},
			map[types.UID]int{"rush": 1, "preemptor": 2},
		},
		"two who say that they preempt": {
			[]*world.Workload{pending("rush", 1, prio(900)), pending("p", 2, cond("QuotaReserved", "False", "Pending", preempting, 1)), pending("q", 3, cond("QuotaReserved", "False", "Pending", preempting, 1))},
			map[types.UID]int{"rush": 1, "q": 2, "p": 3},
		},
		"no UID, no entry": {
			[]*world.Workload{pending("", 9), pending("second", 1)},
			map[types.UID]int{"second": 2},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := cluster()
			for _, w := range tc.workloads {
				s.Put(w)
			}
			if d := cmp.Diff(tc.want, Estimate(s.Snapshot())); d != "" {
				t.Errorf("positions (-want +got):\n%s", d)
			}
		})
	}
}

// What cannot be seen makes every place unknown.
func TestEstimateOfAPart(t *testing.T) {
	tests := map[string]struct {
		hide func(*store.Store)
		want map[types.UID]int
	}{
		"everything seen":              {func(*store.Store) {}, map[types.UID]int{"one": 1}},
		"first list of Workloads":      {func(s *store.Store) { s.SetFreshness(world.KindWorkload, world.Freshness{Feed: world.Syncing}) }, map[types.UID]int{}},
		"LocalQueues cannot be listed": {func(s *store.Store) { s.SetFreshness(world.KindLocalQueue, world.Freshness{Feed: world.Denied}) }, map[types.UID]int{}},
		"one namespace":                {func(s *store.Store) { s.SetContract(world.Contract{Namespace: "ns"}) }, map[types.UID]int{}},
		"ClusterQueues cannot be listed": {func(s *store.Store) {
			s.SetFreshness(world.KindClusterQueue, world.Freshness{Feed: world.Denied})
			s.Delete(world.KindClusterQueue, world.Key{Name: "main"})
		}, map[types.UID]int{"one": 1}},
		"the ClusterQueue is gone": {func(s *store.Store) { s.Delete(world.KindClusterQueue, world.Key{Name: "main"}) }, map[types.UID]int{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := cluster(pending("one", 1))
			tc.hide(s)
			if d := cmp.Diff(tc.want, Estimate(s.Snapshot())); d != "" {
				t.Errorf("positions (-want +got):\n%s", d)
			}
		})
	}
}

func TestIn(t *testing.T) {
	s := cluster(pending("b", 1), pending("a", 2, at("other", "a")), pending("c", 9, at("ns", "strict")), pending("d", 3, prio(-1))).Snapshot()
	for queue, want := range map[string][]string{"main": {"other/a", "ns/b", "ns/d"}, "strict": {"ns/c"}, "stopped": nil, "none": nil} {
		var got []string
		for _, w := range In(s, queue) {
			got = append(got, w.Key.String())
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", queue, d)
		}
	}
}

func BenchmarkEstimate(b *testing.B) {
	for _, n := range []int{5_000, 50_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := cluster()
			for i := range n {
				s.Put(pending(fmt.Sprintf("w-%06d", i), i%5000, prio(int32(i%7)), cond("QuotaReserved", "False", "Pending", "insufficient unused quota for cpu in flavor std, 2 more needed", 1)))
			}
			snap := s.Snapshot()
			b.ReportAllocs()
			for b.Loop() {
				Estimate(snap)
			}
		})
	}
}
