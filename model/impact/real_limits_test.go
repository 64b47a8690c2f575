package impact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

func TestDeactivatedWorkload(t *testing.T) {
	s := newScene()
	s.queue("a", "", 2)
	w := s.running("runs", "a", 2, 0)
	s.job("waits", "a", 2, 0)
	off := w.DeepCopy()
	off.Spec.Active = ptr(false)
	r := s.real(t, editOf(off))
	if d := cmp.Diff(map[string][]string{"admitted": {"waits"}, "evicted": {"runs"}}, names(t, &r)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	if e := r.Evicted[0]; !e.Running || e.Reason != "it is deactivated" {
		t.Errorf("%+v", e)
	}
}

func TestLocalQueueDrain(t *testing.T) {
	s := newScene()
	s.queue("a", "", 2)
	s.running("runs", "a", 2, 0)
	q := s.objects[world.Ref{Kind: world.KindLocalQueue, Key: world.Key{Namespace: "ns", Name: "a"}}].(*kueue.LocalQueue).DeepCopy()
	q.Spec.StopPolicy = ptr(kueue.HoldAndDrain)
	r := s.real(t, editOf(q))
	if d := cmp.Diff(map[string][]string{"evicted": {"runs"}, "queues": {"LocalQueue/ns/a closes"}}, names(t, &r)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	if e := r.Evicted[0]; !e.Running || e.Reason != "LocalQueue ns/a is drained" {
		t.Errorf("%+v", e)
	}
}

// A LocalQueue that is made takes in what names it already.
func TestLocalQueueMade(t *testing.T) {
	s := newScene()
	s.queue("a", "", 2)
	s.job("waits", "new", 2, 0)
	q := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "new"}, Spec: kueue.LocalQueueSpec{ClusterQueue: "a"}}
	r := s.real(t, editOf(q))
	if d := cmp.Diff(map[string][]string{"admitted": {"waits"}}, names(t, &r)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestClusterQueueMade(t *testing.T) {
	s := newScene()
	s.queue("a", "pool", 2)
	s.job("wide", "a", 4, 0)
	fresh := newScene().queue("b", "pool", 2)
	fresh.UID, fresh.Status = "", kueue.ClusterQueueStatus{}
	r := s.real(t, editOf(fresh))
	want := map[string][]string{"admitted": {"wide"}, "queues": {"ClusterQueue/b opens"}}
	if d := cmp.Diff(want, names(t, &r)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestCohortQuota(t *testing.T) {
	s := newScene()
	s.cohort("pool", "")
	s.queue("a", "pool", 1)
	s.job("wide", "a", 3, 0)
	c := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}
	c.Spec.ResourceGroups = newScene().queue("x", "", 2).Spec.ResourceGroups
	r := s.real(t, editOf(c))
	if d := cmp.Diff(map[string][]string{"admitted": {"wide"}}, names(t, &r)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A check that a ClusterQueue asks for no more lets in what only waited for it.
func TestCheckTakenAway(t *testing.T) {
	s := newScene()
	s.put(check("safe", true))
	s.queue("a", "", 2, checks("safe"))
	w := s.job("reserves", "a", 1, 0)
	reserve(w, "a")
	w.Status.AdmissionChecks = []kueue.AdmissionCheckState{{Name: "safe", State: kueue.CheckStatePending, LastTransitionTime: metav1.NewTime(noon)}}
	r := s.real(t, s.edited("a", func(q *kueue.ClusterQueue) { q.Spec.AdmissionChecksStrategy = nil }))
	if d := cmp.Diff(map[string][]string{"admitted": {"reserves"}}, names(t, &r)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	if a := r.Admitted[0]; a.Again || len(a.Checks) > 0 {
		t.Errorf("%+v", a)
	}
}

// A check that is made with the queue that asks for it has no controller yet.
func TestCheckMade(t *testing.T) {
	s := newScene()
	s.queue("a", "", 1)
	r := s.real(t, editOf(check("safe", true)), s.edited("a", checks("safe")))
	if d := cmp.Diff(map[string][]string{"queues": {"ClusterQueue/a closes", "LocalQueue/ns/a closes"}}, names(t, &r)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if all := strings.Join(r.Assumptions, "; "); !strings.Contains(all, "AdmissionCheck/safe is new") {
		t.Errorf("assumptions: %s", all)
	}
}

func changedNames(r *Result) []string {
	var out []string
	for _, c := range r.Waiting.Changed {
		out = append(out, c.Workload.Ref.Key.String())
	}
	return out
}

func check(name string, active bool) *kueue.AdmissionCheck {
	c := &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.AdmissionCheckSpec{ControllerName: "example.com/safe"}}
	if active {
		c.Status.Conditions = []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue, Reason: "Active", LastTransitionTime: metav1.NewTime(noon)}}
	}
	return c
}

func checks(name kueue.AdmissionCheckReference) func(*kueue.ClusterQueue) {
	return func(q *kueue.ClusterQueue) {
		q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: name}}}
	}
}

func classed(w *kueue.Workload, kind, group, name string) {
	w.Spec.PriorityClassRef = &kueue.PriorityClassRef{Group: kueue.PriorityClassGroup(group), Kind: kueue.PriorityClassKind(kind), Name: name}
}
