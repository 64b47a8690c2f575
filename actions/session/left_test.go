package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// indebted are the queues a and b of cohort pool with 4 GPUs each, of which a uses 7 and b
// 3, so that a owes 2; and queue c, which is in no cohort and uses 3 of its 2.
func indebted() *store.Store {
	st := store.New(clock.RealClock{})
	for _, k := range world.WatchedKinds() {
		st.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	gpu := world.FlavorResource{Flavor: "a100", Resource: "gpu"}
	for _, q := range []struct {
		name, cohort string
		quota, use   world.Amount
	}{{"a", "pool", 4, 7}, {"b", "pool", 4, 3}, {"c", "", 2, 3}} {
		st.Put(&world.ClusterQueue{
			Meta: world.Meta{Key: world.Key{Name: q.name}}, Cohort: q.cohort, StopPolicy: world.StopNone,
			Quotas: []world.Quota{{FlavorResource: gpu, Nominal: q.quota}},
		})
		st.Put(&world.Workload{
			Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: q.name}, UID: types.UID(q.name)}, Active: true, ClusterQueue: q.name, State: world.Admitted,
			Conditions: world.Conditions{{Type: world.CondQuotaReserved, Status: "True"}}, Usage: []world.Use{{FlavorResource: gpu, Amount: q.use}},
		})
		st.Put(&world.LocalQueue{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: "of-" + q.name}}, ClusterQueue: q.name, StopPolicy: world.StopNone})
	}
	return st
}

const (
	owes    = "ClusterQueue a is 2 in debt of gpu a100: what runs there runs on, and nobody in its cohort gets that quota until it ends or is evicted (drain the queue)."
	aloneIn = "ClusterQueue c is 1 in debt of gpu a100: what runs there runs on, and nothing else starts there on that quota until it ends or is evicted (drain the queue)."
)

func TestLeft(t *testing.T) {
	all := []string{"a", "b"}
	hold := func(st *store.Store, names ...string) {
		for _, n := range names {
			q := *st.Snapshot().ClusterQueue(n)
			q.StopPolicy, q.Hold = world.StopHold, &world.HoldRecord{Version: 1, By: "kim"}
			st.Put(&q)
		}
	}
	for _, tt := range []struct {
		name   string
		target Target
		world  func(*store.Store)
		want   Left
	}{
		{"a queue in debt", Target{Kind: world.KindClusterQueue, Name: "a"}, nil, Left{Over: []string{owes}}},
		{"another one of its tree", Target{Kind: world.KindClusterQueue, Name: "b"}, nil, Left{Over: []string{owes}}},
		{"a cohort", Target{Kind: world.KindCohort, Name: "pool"}, nil, Left{Over: []string{owes}}},
		{"a LocalQueue", Target{Kind: world.KindLocalQueue, Namespace: "ns", Name: "of-a"}, nil, Left{Over: []string{owes}}},
		{"in no cohort", Target{Kind: world.KindClusterQueue, Name: "c"}, nil, Left{Over: []string{aloneIn}}},
		{"held again", Target{Kind: world.KindCohort, Name: "pool"}, func(st *store.Store) { hold(st, all...) }, Left{
			Stopped: []string{"ClusterQueue a is stopped (Hold, by kim).", "ClusterQueue b is stopped (Hold, by kim)."}, Over: []string{owes},
		}},
		{"only the session's own are said to be stopped", Target{Kind: world.KindClusterQueue, Name: "a"}, func(st *store.Store) { hold(st, "b") }, Left{Over: []string{owes}}},
		{"a LocalQueue that is stopped", Target{Kind: world.KindLocalQueue, Namespace: "ns", Name: "of-a"}, func(st *store.Store) {
			q := *st.Snapshot().LocalQueue(world.Key{Namespace: "ns", Name: "of-a"})
			q.StopPolicy = world.StopHoldAndDrain
			st.Put(&q)
		}, Left{Stopped: []string{"LocalQueue ns/of-a is stopped (HoldAndDrain)."}, Over: []string{owes}}},
		{"gone", Target{Kind: world.KindClusterQueue, Name: "d"}, nil, Left{Stopped: []string{"ClusterQueue d is not there any more."}}},
		{"lists that are old", Target{Kind: world.KindClusterQueue, Name: "a"}, func(st *store.Store) {
			st.SetFreshness(world.KindWorkload, world.Freshness{Feed: world.Delayed, Synced: true})
		}, Left{Unknown: []string{"Whether a queue of its tree uses more than it may is not known: the list of Workloads is delayed."}}},
		{"a cohort beyond its borrowing limit, without debt", Target{Kind: world.KindClusterQueue, Name: "b"}, func(st *store.Store) {
			none := world.Amount(1)
			pool := world.Cohort{Meta: world.Meta{Key: world.Key{Name: "pool"}}, Parent: "top", Quotas: []world.Quota{{FlavorResource: world.FlavorResource{Flavor: "a100", Resource: "gpu"}, BorrowingLimit: &none}}}
			top := world.Cohort{Meta: world.Meta{Key: world.Key{Name: "top"}}, Quotas: []world.Quota{{FlavorResource: world.FlavorResource{Flavor: "a100", Resource: "gpu"}, Nominal: 9}}}
			st.Put(&pool)
			st.Put(&top)
		}, Left{Over: []string{"Cohort pool is beyond its borrowing limit (1) of gpu a100: what runs there runs on, and nobody in its cohort gets that quota until it ends or is evicted (drain a queue below it)."}}},
		{"a queue that is not known", Target{Kind: world.KindClusterQueue, Name: "a"}, func(st *store.Store) {
			st.SetFreshness(world.KindClusterQueue, world.Freshness{Feed: world.Denied})
		}, Left{Unknown: []string{"ClusterQueue/a is not known as it is now: the list of ClusterQueues is denied"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := indebted()
			if tt.world != nil {
				tt.world(st)
			}
			if d := cmp.Diff(tt.want, LeftOf(st.Snapshot(), tt.target)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// The record of a rollback says what is not well in the cluster though each step is over.
func TestRecordSaysWhatIsLeft(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	r := runnerOf(t, f, t.TempDir())
	r.World = func() *store.Snapshot { return indebted().Snapshot() }
	s := begun(t, r)
	for range Names() {
		var err error
		if s, err = step(t.Context(), r, s); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{owes}, s.Left); d != "" || s.LeftAt.IsZero() {
		t.Errorf("kept (-want +got), at %s:\n%s", s.LeftAt, d)
	}
	for _, words := range []string{"| outcome | over; everything was kept, but not all is well: see Open |", "## Open\n\n- " + owes + " (as of 2026-12-02 12:"} {
		if text := Summary(s); !strings.Contains(text, words) {
			t.Errorf("the summary does not say %q:\n%s", words, text)
		}
	}
	if words := "over; everything was kept, but not all is well: " + owes; !strings.Contains(s.Checklist(), words) {
		t.Errorf("the checklist does not say %q:\n%s", words, s.Checklist())
	}
	r.World = f.world
	s, err := r.Attach(s, "queues.yaml", []byte("the fix"), false)
	if err != nil {
		t.Fatal(err)
	}
	if s.Left != nil || !s.LeftAt.IsZero() {
		t.Errorf("a session that goes on still has %q of %s", s.Left, s.LeftAt)
	}
}

// Each step stands in the history with what came of it, also one that is done again.
func TestHistoryHasEachStep(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	r := runnerOf(t, f, t.TempDir())
	s := begun(t, r)
	for range Names() {
		var err error
		if s, err = step(t.Context(), r, s); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, e := range s.History {
		what, _, _ := strings.Cut(e.Text, ":")
		got = append(got, what)
	}
	want := []string{"began it", "hold is done", "export is done", "attached queues.yaml", "evidence is done", "dry-run is done", "apply is done", "resume is done", "compare is done"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// That fields are taken over is one more thing of the fix, which stays what it was and
// whose it was.
func TestTakeOverKeepsTheFix(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	r := runnerOf(t, f, t.TempDir())
	s := begun(t, r)
	for range 4 {
		var err error
		if s, err = step(t.Context(), r, s); err != nil {
			t.Fatal(err)
		}
	}
	was := *s.Step(Fix)
	r.Who = func() string { return "lee" }
	s, err := r.TakeOver(s)
	if err != nil {
		t.Fatal(err)
	}
	want := was
	want.Detail += "; takes fields over from their owners, says lee"
	if d := cmp.Diff(want, *s.Step(Fix)); d != "" {
		t.Errorf("the fix (-want +got):\n%s", d)
	}
	if s.Step(DryRun).State != Todo || !s.TakeOver {
		t.Errorf("dry-run is %s, take over %v", s.Step(DryRun).State, s.TakeOver)
	}
}
