package impact

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
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
	if r.Waiting.Count != 1 || !r.Waiting.Certain {
		t.Errorf("%d wait, certain %v; want 1 for certain", r.Waiting.Count, r.Waiting.Certain)
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
