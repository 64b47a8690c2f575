package health

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
)

// taken is a Workload of q that the other preempted so long ago, and that waits since.
func taken(name, by string, ago time.Duration) *world.Workload {
	w := preempted(name, by, 1, false)
	w.Preempted.At = now.Add(-ago)
	return w
}

func written(by string, ago time.Duration, fields ...string) []world.SpecWrite {
	return []world.SpecWrite{{Manager: by, At: now.Add(-ago), Fields: fields}}
}

func TestPreemptionsAfterAChange(t *testing.T) {
	const text = "other preempted 2 Workloads (2 of q) within 31s of a change of ClusterQueue other by kubectl-edit; they wait since. " +
		"Of its spec kubectl-edit has set preemption.reclaimWithinCohort. If this was not meant, hold the queue that preempts, and put the spec back."
	alert := func(object, by string, n int) said {
		return said{"preemptions", "warning", object, n, reason.AdviceChange, "whoever changed it (" + by + ")"}
	}
	policy := "preemption.reclaimWithinCohort"
	cohort := func(w []world.SpecWrite) *world.Cohort { return &world.Cohort{Meta: named("", "co"), Writes: w} }
	tests := map[string]struct {
		other, own []world.SpecWrite
		of         []*world.Workload
		cohort     *world.Cohort
		want       []said
		text       string
		policy     world.PreemptionPolicy
	}{
		"of the queue that preempts": {
			other: written("kubectl-edit", 3*time.Minute, policy),
			of:    []*world.Workload{taken("a", "holder", 170*time.Second), taken("b", "holder", 150*time.Second)},
			want:  []said{alert("ClusterQueue/other", "kubectl-edit", 2)}, text: text,
		},
		"of the victims' queue, and later of the Cohort: the last speaks": {
			own: written("early", 4*time.Minute, "resourceGroups"), cohort: cohort(written("late", 3*time.Minute, "resourceGroups")),
			of:   []*world.Workload{taken("a", "holder", 2*time.Minute)},
			want: []said{alert("Cohort/co", "late", 1)},
		},
		"one for each change": {
			other: written("x", 30*time.Minute, policy), cohort: cohort(written("y", 10*time.Minute, "resourceGroups")),
			of:   []*world.Workload{taken("a", "holder", 29*time.Minute), taken("b", "holder", 9*time.Minute)},
			want: []said{alert("ClusterQueue/other", "x", 1), alert("Cohort/co", "y", 1)},
		},
		"of the same second":         {other: written("x", time.Minute, policy), of: []*world.Workload{taken("a", "holder", time.Minute)}, want: []said{alert("ClusterQueue/other", "x", 1)}},
		"after the preemption":       {other: written("x", time.Minute, policy), of: []*world.Workload{taken("a", "holder", 2*time.Minute)}, want: []said{}},
		"long before the preemption": {other: written("x", 20*time.Minute, policy), of: []*world.Workload{taken("a", "holder", 2*time.Minute)}, want: []said{}},
		"when the queue was created": {other: written("x", time.Hour, policy), of: []*world.Workload{taken("a", "holder", time.Hour-time.Minute)}, want: []said{}},
		"nobody knows of a change":   {of: []*world.Workload{taken("a", "holder", 2*time.Minute)}, want: []said{}},
		"the victim has quota again": {other: written("x", time.Minute, policy), of: []*world.Workload{preempted("a", "holder", 1, true)}, want: []said{}},
		"the preemption is old news": {other: written("x", 62*time.Minute, policy), of: []*world.Workload{taken("a", "holder", 61*time.Minute)}, want: []said{}},
		"the preemptor is not known": {own: written("x", 3*time.Minute, policy), of: []*world.Workload{taken("a", "nobody", 2*time.Minute)}, want: []said{alert("ClusterQueue/q", "x", 1)}},
	}
	back := tests["of the queue that preempts"]
	back.other = append(slices.Clone(back.other), written("holdfast", time.Minute, "stopPolicy")...)
	tests["held since, which puts nothing right"] = back
	back.other = append(slices.Clone(back.other), written("argocd", time.Minute, "preemption.withinClusterQueue", "resourceGroups")...)
	back.text = strings.Replace(text, " If this was not meant,", " It was changed again since, by argocd (preemption.withinClusterQueue, resourceGroups). If this was not meant and that did not put it right,", 1)
	tests["changed again since, and the policy still allows it"] = back
	back.policy = world.PreemptionPolicy{WithinClusterQueue: "Never", ReclaimWithinCohort: "Never", BorrowWithinCohort: "Never"}
	back.text = strings.Replace(text, " If this was not meant, hold the queue that preempts, and put the spec back.",
		" It was changed again since, by argocd (preemption.withinClusterQueue, resourceGroups). The policy as it is now allows no such preemption any more.", 1)
	back.want = []said{{"preemptions", "info", "ClusterQueue/other", 2, reason.AdviceWait, ""}}
	tests["put back"] = back
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := with(tc.of...)
			sc.other.Writes, sc.queue.Writes = tc.other, tc.own
			sc.other.Created = now.Add(-time.Hour)
			if tc.policy != (world.PreemptionPolicy{}) {
				sc.other.Preemption = tc.policy
			}
			if tc.cohort != nil {
				sc.put(tc.cohort)
			}
			got := Alerts(sc.settle().input())
			if d := cmp.Diff(tc.want, sayings(got)); d != "" {
				t.Fatalf("alerts (-want +got):\n%s", d)
			}
			if tc.text != "" && got[0].Explanation != tc.text {
				t.Errorf("%q\nwant %q", got[0].Explanation, tc.text)
			}
			if len(got) > 0 && (got[0].Since.IsZero() || got[0].Object.UID == "") {
				t.Errorf("since %v of %q", got[0].Since, got[0].Object.UID)
			}
		})
	}
}

func TestTakings(t *testing.T) {
	unknown := taken("d", "nobody", 4*time.Minute)
	unknown.Preempted.Reason = "InCohortReclamation"
	s := with(taken("a", "holder", 2*time.Minute), taken("b", "holder", time.Minute), taken("c", "a", 3*time.Minute), unknown, taken("e", "holder", 2*time.Hour)).snapshot()
	want := []Taking{
		{By: "other", From: []QueueCount{{"q", 2}}, N: 2, Newest: now.Add(-time.Minute)},
		{By: "", From: []QueueCount{{"q", 1}}, N: 1, Newest: now.Add(-4 * time.Minute)},
		{By: "q", From: []QueueCount{{"q", 1}}, N: 1, Newest: now.Add(-3 * time.Minute)},
	}
	if d := cmp.Diff(want, Takings(s, chain.New(s, chain.Options{}), now)); d != "" {
		t.Errorf("takings (-want +got):\n%s", d)
	}
}
