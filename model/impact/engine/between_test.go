package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Several changes are several requests, and Kueue may act on the first before the
// second is there: a policy that reclaims preempts what a quota that comes after it
// would have made room for.
func TestSchedulerRunsBetweenChanges(t *testing.T) {
	build := func() (*scene, []Change) {
		s := newScene()
		s.queue("borrower", "pool", 2)
		// Its head is tried in every cycle.
		s.queue("owner", "pool", 4, func(q *kueue.ClusterQueue) { q.Spec.QueueingStrategy = kueue.StrictFIFO })
		s.queue("reserve", "pool", 0)
		s.running("borrows", "borrower", 4, 0)
		s.job("waits", "owner", 4, 0)
		reclaims := func(q *kueue.ClusterQueue) { q.Spec.Preemption.ReclaimWithinCohort = kueue.PreemptionPolicyAny }
		return s, []Change{s.edit("owner", reclaims), s.edit("reserve", quota(4))}
	}
	reclaimed := told{
		Status:    []string{"+waits"},
		Preempted: []string{"borrows<-waits InCohortReclamation"},
	}
	room := told{Status: []string{"+waits"}}
	for _, m := range Modes(2) {
		s, changes := build()
		want := room
		if m.Between != 0 {
			want = reclaimed
		}
		got := s.tell(s.run(t, m, changes...))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", m.Name, d)
		}
	}
	between := 0
	for _, m := range Modes(1) {
		if m.Between != 0 {
			between++
		}
	}
	if between > 0 {
		t.Errorf("%d timings wait between changes where there is one", between)
	}
}

// However many changes there are, the scheduler runs between them a bounded number
// of times.
func TestBetweenIsBounded(t *testing.T) {
	for _, n := range []int{2, 20, 21, 22, 500, 10_000} {
		pauses := 0
		for i := range n - 1 {
			if pausesAfter(i, n) {
				pauses++
			}
		}
		if pauses == 0 || pauses > mostBetween || n <= mostBetween && pauses != n-1 {
			t.Errorf("%d changes: %d pauses", n, pauses)
		}
		if pausesAfter(n-1, n) {
			t.Errorf("%d changes: a pause after the last", n)
		}
	}
}

// What the first change lets Kueue try again it tries when the batch is over, and the
// second change may come among those tries: who was tried just before it waits, and who
// is tried just after it takes the quota.
func TestChangeComesAmongTheTries(t *testing.T) {
	ends := map[string][]string{}
	for _, m := range Modes(2) {
		s := newScene()
		s.queue("owner", "pool", 0)
		s.queue("little", "pool", 0)
		s.queue("more", "pool", 0)
		s.job("large", "owner", 4, 0)
		s.job("small", "owner", 2, 0)
		got := s.tell(s.run(t, m, s.edit("little", quota(1)), s.edit("more", quota(4))))
		ends[strings.Join(got.Status, " ")] = append(ends[strings.Join(got.Status, " ")], m.Name)
	}
	if len(ends["+large"]) == 0 || len(ends["+small"]) == 0 || len(ends) != 2 {
		t.Errorf("the ends, with their timings: %q", ends)
	}
}
