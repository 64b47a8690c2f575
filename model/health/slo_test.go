package health

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// waited is a pending Workload that has been in the queue for the time.
func waited(name string, d time.Duration) *world.Workload {
	w := job(name, world.Pending)
	w.Created = now.Add(-d)
	return w
}

func evicted(w *world.Workload, es ...world.Eviction) *world.Workload {
	w.Evictions = es
	return w
}

func TestSLO(t *testing.T) {
	ptr := func(n int) *int { return &n }
	dur := func(d time.Duration) *time.Duration { return &d }
	ratio := func(r float64) *float64 { return &r }
	use := []Borrowing{{FlavorResource: gpu("a"), Borrowed: 6, Reserved: 6, Ratio: 1}} // holder uses 6 of a nominal 0
	tests := map[string]struct {
		of     []*world.Workload
		change func(*scene)
		want   SLO
	}{
		"nobody waits": {nil, nil, SLO{Pending: ptr(0), Borrowing: use, EvictionRatio: ratio(0)}},
		"held and gated ones count": {
			[]*world.Workload{waited("a", time.Minute), waited("b", 3*time.Minute), func() *world.Workload {
				w := waited("c", 2*time.Minute)
				w.GatedBy = "x"
				return w
			}(), admitted("d"), reserving("e"), job("f", world.Deactivated)},
			func(sc *scene) { sc.local.StopPolicy = world.StopHold },
			SLO{Pending: ptr(3), OldestWait: dur(3 * time.Minute), Wait: &Spread{P50: 2 * time.Minute, P95: 3 * time.Minute}, Borrowing: use, EvictionRatio: ratio(0)},
		},
		"a wait begins anew with a requeue": {
			[]*world.Workload{func() *world.Workload {
				w := waited("a", time.Hour)
				w.Conditions = world.Conditions{cond("Requeued", "False", "PodsReadyTimeout", "", time.Minute)}
				return w
			}()}, nil,
			SLO{Pending: ptr(1), OldestWait: dur(time.Minute), Wait: &Spread{P50: time.Minute, P95: time.Minute}, Borrowing: use, EvictionRatio: ratio(0)},
		},
		"clocks that disagree do not make a wait negative": {
			[]*world.Workload{waited("a", -time.Minute)}, nil,
			SLO{Pending: ptr(1), OldestWait: dur(0), Wait: &Spread{}, Borrowing: use, EvictionRatio: ratio(0)},
		},
		"evictions by reason, finished ones too": {
			[]*world.Workload{
				evicted(admitted("a"), world.Eviction{Reason: "Preempted", Count: 2}, world.Eviction{Reason: "PodsReadyTimeout", Cause: "WaitForStart", Count: 1}),
				evicted(job("b", world.Finished, cond("Finished", "True", "Succeeded", "", 0)), world.Eviction{Reason: "Preempted", Count: 1}),
				evicted(admitted("c"), world.Eviction{Reason: "PodsReadyTimeout", Cause: "WaitForRecovery", Count: 4}, world.Eviction{Reason: "Nothing", Count: 0}),
				evicting("before counts were kept", "NodeFailures", time.Second), admitted("e"), admitted("f"),
			}, nil,
			SLO{Pending: ptr(0), Borrowing: use, Evictions: []Evictions{{"PodsReadyTimeout", 5}, {"Preempted", 3}}, EvictionRatio: ratio(0.5714)}, // 4 of 7
		},
		"borrowed of all that is reserved, by cell": {
			nil, func(sc *scene) {
				sc.other.Quotas = []world.Quota{{FlavorResource: gpu("a"), Nominal: 5}, {FlavorResource: gpu("b"), Nominal: 9}}
				sc.holder.Usage = []world.Use{{FlavorResource: gpu("a"), Amount: 6}, {FlavorResource: gpu("b"), Amount: 2}}
				w := admitted("mine")
				w.Usage = []world.Use{{FlavorResource: gpu("a"), Amount: 1}}
				sc.put(w)
			},
			SLO{
				Pending: ptr(0), EvictionRatio: ratio(0),
				Borrowing: []Borrowing{{gpu("a"), 1, 7, 0.1429}, {gpu("b"), 0, 2, 0}},
			},
		},
		"a queue in a cycle has no numbers": {
			nil, func(sc *scene) { sc.put(&world.Cohort{Meta: named("", "co"), Parent: "co"}) },
			SLO{Pending: ptr(0), EvictionRatio: ratio(0)},
		},
		"no Workload": {
			nil, func(sc *scene) { sc.drop = []world.Ref{gone(world.KindWorkload, "team", "holder")} },
			SLO{Pending: ptr(0)},
		},
		"Workloads that cannot be read: the statuses give a number": {
			nil, func(sc *scene) {
				sc.blind, sc.queue.Status.Pending, sc.other.Status.Pending = []world.Kind{world.KindWorkload}, 3, 4
			},
			SLO{Pending: ptr(7), Unknown: "Workloads cannot be read: waits, evictions and borrowing are not known, and pendingCount is what the ClusterQueues' statuses say"},
		},
		"neither": {
			nil, func(sc *scene) { sc.blind = []world.Kind{world.KindWorkload, world.KindClusterQueue} },
			SLO{Unknown: "Workloads cannot be read: waits, evictions and borrowing are not known"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := with(tc.of...)
			if tc.change != nil {
				tc.change(sc)
			}
			tc.want.Scope = "workloads visible now"
			got := SLOOf(sc.snapshot(), now)
			if len(got.Borrowing) == 0 {
				got.Borrowing = nil
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("figures (-want +got):\n%s", d)
			}
		})
	}
}

// A percentile is the least value that so many of a hundred do not exceed, and
// the waits are Kueue's own.
func TestWaitsAreKueuesAndPercentilesAreNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := store.New(clocktesting.NewFakePassiveClock(now))
		s.SetFreshness(world.KindWorkload, world.Freshness{Feed: world.Live, Synced: true})
		var waits []time.Duration
		for i := range rapid.IntRange(0, 60).Draw(t, "workloads") {
			o := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: fmt.Sprint("w", i)}}
			at := func(label string) metav1.Time {
				return metav1.NewTime(now.Add(-time.Duration(rapid.IntRange(0, 5000).Draw(t, label)) * time.Second))
			}
			o.CreationTimestamp = at("created")
			if rapid.Bool().Draw(t, "requeued") {
				o.Status.Conditions = append(o.Status.Conditions, metav1.Condition{
					Type: kueue.WorkloadRequeued, Status: rapid.SampledFrom([]metav1.ConditionStatus{"True", "False"}).Draw(t, "status"), LastTransitionTime: at("requeue"),
				})
			}
			waits = append(waits, workload.QueuedWaitTime(o, clocktesting.NewFakeClock(now)))
			s.Put(project.Workload(o))
		}
		got := SLOOf(s.Snapshot(), now)
		if len(waits) == 0 {
			if got.Wait != nil || got.OldestWait != nil {
				t.Fatalf("waits of nobody: %v, %v", got.Wait, got.OldestWait)
			}
			return
		}
		naive := func(percent int) time.Duration {
			best := slices.Max(waits)
			for _, v := range waits {
				within := 0
				for _, x := range waits {
					if x <= v {
						within++
					}
				}
				if within*100 >= percent*len(waits) && v < best {
					best = v
				}
			}
			return best
		}
		want := Spread{P50: naive(50), P95: naive(95)}
		if *got.Wait != want || *got.OldestWait != slices.Max(waits) {
			t.Errorf("%+v oldest %s, want %+v oldest %s, of %v", *got.Wait, *got.OldestWait, want, slices.Max(waits), waits)
		}
	})
}

// Nobody who borrows is told from nobody knows who borrows.
func TestWhoBorrowsIsKnown(t *testing.T) {
	for name, tc := range map[string]struct {
		blind []world.Kind
		want  bool
	}{
		"all is read":    {nil, true},
		"no Workload is": {[]world.Kind{world.KindWorkload}, false},
		"no queue is":    {[]world.Kind{world.KindClusterQueue}, false},
	} {
		t.Run(name, func(t *testing.T) {
			sc := with(waited("a", time.Minute))
			sc.blind = tc.blind
			if got := SLOOf(sc.snapshot(), now); (got.Borrowing != nil) != tc.want {
				t.Errorf("known: %v, want %v", got.Borrowing != nil, tc.want)
			}
		})
	}
}
