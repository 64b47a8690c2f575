package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

var epoch = time.Date(2026, 12, 2, 7, 0, 0, 0, time.UTC)

func newStore() *Store { return New(clocktesting.NewFakePassiveClock(epoch)) }

func conds(types ...string) world.Conditions {
	var out world.Conditions
	for _, t := range types {
		out = append(out, world.Condition{Type: t, Status: "True"})
	}
	return out
}

// drawWorkload makes one of a few names again and again, so that updates,
// re-creations under the same name and deletions all happen.
func drawWorkload(t *rapid.T) *world.Workload {
	n := rapid.IntRange(0, 7).Draw(t, "n")
	w := &world.Workload{Meta: world.Meta{Key: world.Key{Namespace: fmt.Sprintf("ns-%d", n%2), Name: fmt.Sprintf("w-%d", n)}}, Active: true}
	w.UID = types.UID(fmt.Sprintf("u-%d-%d", n, rapid.IntRange(0, 1).Draw(t, "life")))
	w.LocalQueue = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "lq")
	w.JobUID = types.UID(rapid.SampledFrom([]string{"", "j1", "j2"}).Draw(t, "job"))
	if by := rapid.SampledFrom([]string{"", "u-1-0", "u-2-0"}).Draw(t, "by"); by != "" {
		w.Preempted = &world.Preemption{PreemptorUID: types.UID(by)}
	}
	w.Active = rapid.IntRange(0, 5).Draw(t, "active") > 0
	w.Conditions = conds(rapid.SliceOfDistinct(rapid.SampledFrom([]string{"QuotaReserved", "Admitted", "Evicted", "Finished"}), func(s string) string { return s }).Draw(t, "conds")...)
	w.State = world.StateOf(w.Active, w.Conditions)
	w.ClusterQueue = rapid.SampledFrom([]string{"", "cq-a", "cq-b"}).Draw(t, "cq")
	if w.HoldsQuota() {
		w.Usage = []world.Use{{FlavorResource: world.FlavorResource{Flavor: "f", Resource: "cpu"}, Amount: world.Amount(rapid.IntRange(1, 9).Draw(t, "use"))}}
	}
	return w
}

// view is all that a snapshot says, in a form that can be compared.
type view struct {
	Workloads       []*world.Workload
	Queues          map[string]Counts
	Locals          map[world.Key]Counts
	Jobs, Victims   map[string]map[string]bool
	ByUID           map[string]string
	Reserved, Admit map[string]world.Amount
}

func viewOf(s *Snapshot) view {
	v := view{Workloads: s.Workloads, Queues: s.byQueue, Locals: map[world.Key]Counts{}, Jobs: map[string]map[string]bool{}, Victims: map[string]map[string]bool{}, ByUID: map[string]string{}, Reserved: map[string]world.Amount{}, Admit: map[string]world.Amount{}}
	for k, c := range s.byLocal {
		v.Locals[k] = c
	}
	set := func(ws []*world.Workload) map[string]bool {
		out := map[string]bool{}
		for _, w := range ws {
			out[string(w.UID)] = true
		}
		return out
	}
	for _, j := range []types.UID{"j1", "j2"} {
		v.Jobs[string(j)] = set(s.WorkloadsOfJob(j))
	}
	for _, p := range []types.UID{"u-1-0", "u-2-0"} {
		v.Victims[string(p)] = set(s.Victims(p))
	}
	for n := range 8 {
		for life := range 2 {
			uid := types.UID(fmt.Sprintf("u-%d-%d", n, life))
			if w := s.Workload(uid); w != nil {
				v.ByUID[string(uid)] = w.Key.String()
			}
		}
	}
	for _, q := range s.ClusterQueues {
		if c, ok := s.Tree.ClusterQueue(q.Name).Cell(world.FlavorResource{Flavor: "f", Resource: "cpu"}); ok {
			v.Reserved[q.Name], v.Admit[q.Name] = c.Reserved, c.Admitted
		}
	}
	return v
}

func seed(s *Store) {
	for _, cq := range []string{"cq-a", "cq-b"} {
		s.Put(&world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: cq}}, Cohort: "co"})
	}
	for _, ns := range []string{"ns-0", "ns-1"} {
		for _, q := range []string{"a", "b"} {
			s.Put(&world.LocalQueue{Meta: world.Meta{Key: world.Key{Namespace: ns, Name: q}}, ClusterQueue: "cq-" + q})
		}
	}
}

// same compares rows by identity: a snapshot hands out the rows it was given.
var same = cmp.Comparer(func(a, b *world.Workload) bool { return a == b })

// After any history of changes a snapshot says the same as one of a store that
// was filled once with what is left; and no earlier snapshot has changed.
func TestIncrementalEqualsFresh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStore()
		seed(s)
		left := map[world.Key]*world.Workload{}
		var old []*Snapshot
		var said []view
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			w := drawWorkload(t)
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1, 2:
				s.Delete(world.KindWorkload, w.Key)
				delete(left, w.Key)
			case 3:
				s.Replace(world.KindWorkload, []any{w})
				clear(left)
				left[w.Key] = w
			default:
				s.Put(w)
				left[w.Key] = w
			}
			if rapid.Bool().Draw(t, "publish") {
				old = append(old, s.Snapshot())
				said = append(said, viewOf(old[len(old)-1]))
			}
		}
		fresh := newStore()
		seed(fresh)
		for _, w := range left {
			fresh.Put(w)
		}
		if d := cmp.Diff(viewOf(fresh.Snapshot()), viewOf(s.Snapshot()), same, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("a fresh store and one with a history differ (-fresh +history):\n%s", d)
		}
		for i, o := range old {
			if d := cmp.Diff(said[i], viewOf(o), same, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("snapshot %d changed after it was published:\n%s", i, d)
			}
		}
	})
}

func TestCountsAreKueues(t *testing.T) {
	s := newStore()
	seed(s)
	put := func(name, cq string, cs ...string) {
		w := &world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns-0", Name: name}, UID: types.UID(name)}, Active: true, LocalQueue: "a", ClusterQueue: cq, Conditions: conds(cs...)}
		w.State = world.StateOf(true, w.Conditions)
		s.Put(w)
	}
	put("waits", "")
	put("reserves", "cq-a", "QuotaReserved")
	put("runs", "cq-a", "QuotaReserved", "Admitted")
	put("leaves", "cq-a", "QuotaReserved", "Admitted", "Evicted")
	put("over", "cq-a", "QuotaReserved", "Admitted", "Finished")
	want := Counts{Pending: 1, Reserving: 3, Admitted: 2, Evicting: 1, Finished: 1}
	snap := s.Snapshot()
	if d := cmp.Diff(want, snap.CountsOf("cq-a")); d != "" {
		t.Errorf("of the ClusterQueue (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, snap.CountsOfLocal(world.Key{Namespace: "ns-0", Name: "a"})); d != "" {
		t.Errorf("of the LocalQueue (-want +got):\n%s", d)
	}
}

// With one namespace's Workloads only, a sum over them is not what the queue holds.
func TestNamespaceLimit(t *testing.T) {
	fr := world.FlavorResource{Flavor: "f", Resource: "cpu"}
	s := newStore()
	s.Put(&world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: "q"}}, Cohort: "co", Quotas: []world.Quota{{FlavorResource: fr, Nominal: 9000}}, Status: world.QueueStatus{
		Pending: 4, Reserving: 3, Admitted: 2,
		Reservation: []world.Use{{FlavorResource: fr, Amount: 7000}}, Usage: []world.Use{{FlavorResource: fr, Amount: 5000}},
	}})
	s.Put(&world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: "w"}, UID: "w"}, Active: true, State: world.Admitted, ClusterQueue: "q", Conditions: conds("QuotaReserved", "Admitted"), Usage: []world.Use{{FlavorResource: fr, Amount: 1000}}})
	cell := func() quota.Cell { c, _ := s.Snapshot().Tree.ClusterQueue("q").Cell(fr); return c }
	if c := cell(); c.Reserved != 1000 || c.Admitted != 1000 {
		t.Errorf("all namespaces: %d reserved, %d admitted", c.Reserved, c.Admitted)
	}
	s.SetContract(world.Contract{Namespace: "ns"})
	if c := cell(); c.Reserved != 7000 || c.Admitted != 5000 || c.Available != 2000 {
		t.Errorf("one namespace: %d reserved, %d admitted, %d available; want the status's 7000 and 5000, and 2000", c.Reserved, c.Admitted, c.Available)
	}
	if d := cmp.Diff(Counts{Pending: 4, Reserving: 3, Admitted: 2}, s.Snapshot().CountsOf("q")); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
}

func TestFreshness(t *testing.T) {
	s := newStore()
	if f := s.Snapshot().Fresh(world.KindWorkload); f.Feed != world.Syncing || f.Usable() {
		t.Errorf("before anything was heard: %+v", f)
	}
	for _, k := range world.WatchedKinds() {
		s.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	s.SetFreshness(world.KindCohort, world.Freshness{Feed: world.Denied, Detail: "no"})
	if k, f := s.Snapshot().Worst(); k != world.KindCohort || f.Feed != world.Denied {
		t.Errorf("the worst is %s %s, want Cohort denied", k, f.Feed)
	}
	if s.Dirty() {
		t.Error("dirty right after a snapshot")
	}
	s.SetFreshness(world.KindCohort, world.Freshness{Feed: world.Denied, Detail: "no"})
	s.SetContract(world.Contract{})
	if s.Dirty() {
		t.Error("setting what is set already makes the store dirty")
	}
}

func fill(b *testing.B, n int) *Store {
	b.Helper()
	s := newStore()
	seed(s)
	for i := range n {
		s.Put(&world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns-0", Name: fmt.Sprintf("w-%06d", i)}, UID: types.UID(fmt.Sprint(i))}, Active: true, LocalQueue: "a"})
	}
	s.Snapshot()
	return s
}

// The cost of a snapshot after 200 changes, at sizes that differ tenfold: it
// should grow by far less than that.
func BenchmarkSnapshotAfter200Changes(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := fill(b, n)
			b.ReportAllocs()
			for b.Loop() {
				for i := range 200 {
					k := i * (n / 200)
					s.Put(&world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns-0", Name: fmt.Sprintf("w-%06d", k)}, UID: types.UID(fmt.Sprint(k))}, Active: true, LocalQueue: "a"})
				}
				s.Snapshot()
			}
		})
	}
}

// What rebuilding everything costs, for comparison.
func BenchmarkFillAndSnapshot(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		fill(b, 100_000)
	}
}
