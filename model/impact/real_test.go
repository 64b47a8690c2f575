package impact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

// Whole previews by Kueue's own scheduler, of worlds whose right answer follows
// from the quotas on a piece of paper.

func names(t *testing.T, r *Result) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	add := func(what, who string, certain bool) {
		if !certain {
			who += "?"
		}
		out[what] = append(out[what], who)
	}
	for _, p := range r.Preempted {
		add("preempted", p.Victim.Ref.Name+" by "+p.Preemptor.Ref.Name+" "+p.Reason, p.Certain)
	}
	for _, e := range r.Evicted {
		add("evicted", e.Workload.Ref.Name, e.Certain)
	}
	for _, a := range r.Admitted {
		add("admitted", a.Workload.Ref.Name, a.Certain)
	}
	for _, w := range r.NeverFits {
		add("never", w.Ref.Name, true)
	}
	for _, q := range r.Queues {
		who := q.Ref.String() + " closes"
		if q.ActiveAfter {
			who = q.Ref.String() + " opens"
		}
		add("queues", who, true)
	}
	return out
}

func TestQuotaUpAdmits(t *testing.T) {
	s := newScene()
	s.queue("a", "", 2)
	s.running("runs", "a", 2, 0)
	s.job("waits", "a", 2, 0)
	s.job("large", "a", 9, 0)
	r := s.real(t, s.edited("a", nominal(4)))
	if d := cmp.Diff(map[string][]string{"admitted": {"waits"}}, names(t, &r)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if r.Waiting.Count != 1 || r.Waiting.Queues != 1 || !r.Waiting.Certain {
		t.Errorf("%d wait in %d queues, certain %v; want 1 in 1 for certain", r.Waiting.Count, r.Waiting.Queues, r.Waiting.Certain)
	}
	want := []Cell{{Ref: r.Before.ClusterQueue("a").Ref(), FlavorResource: a100, NominalBefore: 2, NominalAfter: 4, UsedBefore: 2, UsedAfter: 4, Certain: true}}
	if d := cmp.Diff(want, r.Quota); d != "" {
		t.Errorf("quota (-want +got):\n%s", d)
	}
}

func TestPolicyPreemptsTheLowest(t *testing.T) {
	s := newScene()
	s.queue("a", "", 3)
	s.running("low", "a", 1, 1)
	s.running("mid", "a", 1, 5)
	s.running("high", "a", 1, 9)
	s.job("urgent", "a", 1, 7)
	r := s.real(t, s.edited("a", within(kueue.PreemptionPolicyLowerPriority)))
	if d := cmp.Diff(map[string][]string{"admitted": {"urgent"}, "preempted": {"low by urgent InClusterQueue"}}, names(t, &r)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	p := r.Preempted[0]
	if p.Policy != "withinClusterQueue: LowerPriority" || p.PolicyHolds == nil || !*p.PolicyHolds || !p.Runs || p.Back {
		t.Errorf("%+v", p)
	}
}

func TestCohortMoveLends(t *testing.T) {
	s := newScene()
	s.queue("a", "pool", 2)
	s.queue("b", "", 2)
	s.job("wide", "a", 4, 0)
	r := s.real(t, s.edited("b", func(q *kueue.ClusterQueue) { q.Spec.CohortName = "pool" }))
	if d := cmp.Diff(map[string][]string{"admitted": {"wide"}}, names(t, &r)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	a := r.Admitted[0]
	if !a.Borrows || a.Flavors[string(gpu)] != "a100" || a.Pods != 1 || a.Asked != 1 || len(a.Checks) > 0 || a.Workload.ClusterQueue != "a" || a.Workload.Job != "job-wide" {
		t.Errorf("%+v", a)
	}
	// The cohort comes with the move to 4; ClusterQueue a borrows 2 of them.
	want := []Cell{
		{Ref: r.Before.ClusterQueue("a").Ref(), FlavorResource: a100, NominalBefore: 2, NominalAfter: 2, UsedAfter: 4, BorrowedAfter: 2, Certain: true},
		{Ref: world.Ref{Kind: world.KindCohort, Key: world.Key{Name: "pool"}}, FlavorResource: a100, UsedAfter: 4, Certain: true},
	}
	if d := cmp.Diff(want, r.Quota); d != "" {
		t.Errorf("quota (-want +got):\n%s", d)
	}
}

func TestHoldFreesNothing(t *testing.T) {
	s := newScene()
	s.queue("a", "pool", 2)
	s.queue("b", "pool", 0)
	s.running("runs", "a", 2, 0)
	s.job("waits", "b", 2, 0)
	r := s.real(t, s.edited("a", stop(kueue.Hold)))
	if d := cmp.Diff(map[string][]string{"queues": {"ClusterQueue/a closes", "LocalQueue/ns/a closes"}}, names(t, &r)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if r.Waiting.Count != 1 || len(r.Quota) > 0 || r.After.Workload("uid-Workload-runs").State != world.Admitted {
		t.Errorf("%d wait, quota %v", r.Waiting.Count, r.Quota)
	}
}

func TestDrainEvicts(t *testing.T) {
	s := newScene()
	s.queue("a", "pool", 2)
	s.queue("b", "pool", 0)
	s.running("runs", "a", 2, 0)
	s.job("waits", "b", 2, 0)
	r := s.real(t, s.edited("a", stop(kueue.HoldAndDrain)))
	want := map[string][]string{"admitted": {"waits"}, "evicted": {"runs"}, "queues": {"ClusterQueue/a closes", "LocalQueue/ns/a closes"}}
	if d := cmp.Diff(want, names(t, &r)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	if e := r.Evicted[0]; !e.Running || e.Back || e.Reason != "ClusterQueue a is drained" {
		t.Errorf("%+v", e)
	}
	if !r.Admitted[0].Borrows {
		t.Error("what runs on the quota of a drained neighbour does not borrow")
	}
}

// Whoever only reserves quota loses it at once when its queue is held, and was not
// running.
func TestHoldTakesReservationsBack(t *testing.T) {
	s := newScene()
	s.put(check("safe", true))
	s.queue("a", "", 2, checks("safe"))
	w := s.job("reserves", "a", 1, 0)
	reserve(w, "a")
	w.Status.AdmissionChecks = []kueue.AdmissionCheckState{{Name: "safe", State: kueue.CheckStatePending, LastTransitionTime: metav1.NewTime(noon)}}
	r := s.real(t, s.edited("a", stop(kueue.Hold)))
	want := map[string][]string{"evicted": {"reserves"}, "queues": {"ClusterQueue/a closes", "LocalQueue/ns/a closes"}}
	if d := cmp.Diff(want, names(t, &r)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	if e := r.Evicted[0]; e.Running || e.Reason != "ClusterQueue a is held: its reservation is taken back" {
		t.Errorf("%+v", e)
	}
}

func TestAdmittedThenWaitsForItsChecks(t *testing.T) {
	s := newScene()
	s.put(check("safe", true))
	s.queue("a", "", 0, checks("safe"))
	s.job("waits", "a", 1, 0)
	r := s.real(t, s.edited("a", nominal(1)))
	if d := cmp.Diff(map[string][]string{"admitted": {"waits"}}, names(t, &r)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"safe"}, r.Admitted[0].Checks); d != "" {
		t.Errorf("checks (-want +got):\n%s", d)
	}
}

// A check that nobody answers for closes the queue that comes to ask for it.
func TestInactiveCheckClosesTheQueue(t *testing.T) {
	s := newScene()
	s.put(check("safe", false))
	s.queue("a", "", 2)
	s.job("waits", "a", 3, 0)
	r := s.real(t, s.edited("a", checks("safe"), nominal(3)))
	if d := cmp.Diff(map[string][]string{"queues": {"ClusterQueue/a closes", "LocalQueue/ns/a closes"}}, names(t, &r)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	if !strings.Contains(r.Queues[0].Why, "AdmissionCheck safe") {
		t.Errorf("why: %s", r.Queues[0].Why)
	}
	if d := cmp.Diff([]string{"ns/waits"}, changedNames(&r)); d != "" {
		t.Fatalf("waits for another reason (-want +got):\n%s", d)
	}
	if c := r.Waiting.Changed[0]; !strings.HasPrefix(c.Before, "quota: ") || !strings.HasPrefix(c.After, "admissionCheck: ") || !c.Certain {
		t.Errorf("%+v", c)
	}
}

// Lifting a hold reclaims what others borrowed meanwhile; that a queue opens and
// who is preempted is said before anyone says yes.
func TestResumeReclaims(t *testing.T) {
	s := newScene()
	s.queue("a", "pool", 2, stop(kueue.Hold), reclaim(kueue.PreemptionPolicyAny))
	s.queue("b", "pool", 0)
	s.running("borrows", "b", 2, 9)
	s.job("owner", "a", 2, 1)
	r := s.real(t, s.edited("a", stop(kueue.None)))
	want := map[string][]string{
		"admitted": {"owner"}, "preempted": {"borrows by owner InCohortReclamation"}, "queues": {"ClusterQueue/a opens", "LocalQueue/ns/a opens"},
	}
	if d := cmp.Diff(want, names(t, &r)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	if p := r.Preempted[0]; p.Policy != "reclaimWithinCohort: Any" || !p.Runs || p.Back || p.Victim.ClusterQueue != "b" || p.Preemptor.ClusterQueue != "a" {
		t.Errorf("%+v", p)
	}
	if r.Queues[0].Why != "" || r.Waiting.Count != 1 {
		t.Errorf("why %q, %d wait", r.Queues[0].Why, r.Waiting.Count)
	}
}

// Lowering a quota stops nobody; what is too large for it now waits for ever.
func TestQuotaCut(t *testing.T) {
	s := newScene()
	s.queue("a", "", 4)
	s.running("one", "a", 2, 0)
	s.running("two", "a", 2, 0)
	s.job("small", "a", 1, 0)
	s.job("large", "a", 4, 0)
	r := s.real(t, s.edited("a", nominal(3)))
	if d := cmp.Diff(map[string][]string{"never": {"large"}}, names(t, &r)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Over{{Ref: r.Before.ClusterQueue("a").Ref(), FlavorResource: a100, By: 1, Certain: true}}, r.OverQuota); d != "" {
		t.Errorf("over quota (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"ns/large"}, changedNames(&r)); d != "" {
		t.Errorf("waits for another reason (-want +got):\n%s", d)
	}
}

func TestTaintTurnsTheWaitingAway(t *testing.T) {
	s := newScene()
	s.queue("a", "", 2)
	s.running("runs", "a", 2, 0)
	s.job("waits", "a", 1, 0)
	f := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "a100"}}
	f.Spec.NodeTaints = []corev1.Taint{{Key: "spot", Effect: corev1.TaintEffectNoSchedule}}
	r := s.real(t, editOf(f))
	if len(r.Preempted)+len(r.Evicted)+len(r.Admitted) > 0 {
		t.Errorf("%v", names(t, &r))
	}
	if d := cmp.Diff([]string{"ns/waits"}, changedNames(&r)); d != "" {
		t.Fatalf("waits for another reason (-want +got):\n%s", d)
	}
	if c := r.Waiting.Changed[0]; !strings.HasPrefix(c.After, "flavor: ") {
		t.Errorf("%+v", c)
	}
}

// Kueue writes a class's new value into the Workloads that have it; those of a
// PriorityClass of the same name keep theirs.
func TestPriorityClassPreempts(t *testing.T) {
	s := newScene()
	s.queue("a", "", 2, within(kueue.PreemptionPolicyLowerPriority))
	s.put(&kueue.WorkloadPriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}, Value: 5})
	classed(s.running("first", "a", 1, 5), "WorkloadPriorityClass", "kueue.x-k8s.io", "gold")
	s.running("other", "a", 1, 7)
	classed(s.job("waits", "a", 1, 5), "WorkloadPriorityClass", "kueue.x-k8s.io", "gold")
	classed(s.job("pod", "a", 1, 5), "PriorityClass", "scheduling.k8s.io", "gold")
	gold := &kueue.WorkloadPriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}, Value: 9}
	r := s.real(t, editOf(gold))
	if d := cmp.Diff(map[string][]string{"admitted": {"waits"}, "preempted": {"other by waits InClusterQueue"}}, names(t, &r)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	if p := r.Preempted[0]; p.Preemptor.Priority != 9 || p.PolicyHolds == nil || !*p.PolicyHolds {
		t.Errorf("%+v", p)
	}
	for name, want := range map[string]int32{"first": 9, "waits": 9, "pod": 5, "other": 7} {
		if got := r.After.WorkloadByKey(world.Key{Namespace: "ns", Name: name}).Priority; got != want {
			t.Errorf("%s has priority %d after, want %d", name, got, want)
		}
	}
}
