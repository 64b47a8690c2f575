package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testclock "k8s.io/utils/clock/testing"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

var readAt = time.Date(2026, 9, 14, 10, 0, 0, 0, time.UTC)

func workloadOf(ns, name, job, queue string, priority int32) impact.Workload {
	return impact.Workload{Ref: world.Ref{Kind: world.KindWorkload, Key: world.Key{Namespace: ns, Name: name}}, Job: job, Priority: priority, ClusterQueue: queue}
}

// burst is the preview of a quota that was set too high.
func burst() *impact.Result {
	gpu := world.FlavorResource{Flavor: "a100", Resource: "gpu"}
	queue := func(name string) world.Ref {
		return world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: name}}
	}
	yes := true
	taker := workloadOf("team-b", "job-pretrain-1-aaaaa", "pretrain-1", "b-cq", 10)
	s := store.New(testclock.NewFakePassiveClock(readAt)).Snapshot()
	return &impact.Result{
		Before: s, After: s,
		ComputedWith: "v0.19.2", ClusterRuns: "v0.18.3", Timings: 4,
		Assumptions: []string{"default configuration of the manager"}, Unknown: []string{"whether fair sharing is on"},
		Preempted: []impact.Preemption{
			{Victim: workloadOf("team-a", "job-sweep-1-bbbbb", "sweep-1", "a-cq", 5), Preemptor: taker, Reason: "InCohortReclamation", Policy: "reclaimWithinCohort: Any", PolicyHolds: &yes, Runs: true, Certain: true},
			{Victim: workloadOf("team-a", "eval", "eval", "a-cq", 6), Reason: "InCohortReclamation", Policy: "reclaimWithinCohort: Any", Back: true},
		},
		Evicted:   []impact.Eviction{{Workload: workloadOf("team-c", "w", "w", "c-cq", 0), Reason: "ClusterQueueStopped", Running: true, Certain: true}},
		Queues:    []impact.Queue{{Ref: queue("c-cq"), ActiveBefore: true, Why: "Stopped"}},
		NeverFits: []impact.Workload{workloadOf("team-a", "giant", "giant", "a-cq", 0)},
		OverQuota: []impact.Over{
			{Ref: queue("a-cq"), FlavorResource: gpu, By: 2, Certain: true},
			{Ref: world.Ref{Kind: world.KindCohort, Key: world.Key{Name: "ai"}}, FlavorResource: world.FlavorResource{Flavor: "a100", Resource: "cpu"}, By: 1500, Before: 1000},
		},
		Waiting: impact.Waiting{Count: 3, Certain: true, Changed: []impact.Change{{Workload: workloadOf("team-a", "late", "late", "a-cq", 0), Before: "quota: 2 short", After: "held: a-cq is held", Certain: true}}},
		Admitted: []impact.Admission{
			{Workload: taker, Flavors: map[string]string{"gpu": "a100", "cpu": "a100"}, Borrows: true, Pods: 3, Asked: 4, Again: true, Certain: true},
			{Workload: workloadOf("team-b", "x", "x", "b-cq", 0), Flavors: map[string]string{"gpu": "a100", "cpu": "plain"}, Checks: []string{"budget"}, Pods: 1, Asked: 1},
		},
		Quota: []impact.Cell{{Ref: queue("b-cq"), FlavorResource: gpu, NominalBefore: 4, NominalAfter: 20, UsedBefore: 4, UsedAfter: 16, Certain: true}},
	}
}

func badEdit() []impact.Edit {
	return []impact.Edit{{Kind: world.KindClusterQueue, Key: world.Key{Name: "b-cq"}, Object: &kueue.ClusterQueue{}}}
}

func document(r *impact.Result, edits []impact.Edit) *ImpactResult {
	return Preview(Input{Now: readAt.Add(time.Second), Source: Source{Type: "file", Name: "w.yaml", ReadAt: readAt}}, r, edits)
}

func TestImpactText(t *testing.T) {
	var out bytes.Buffer
	if err := document(burst(), badEdit()).Text(&out); err != nil {
		t.Fatal(err)
	}
	// In this order, each after the one before.
	rest := out.String()
	for _, want := range []string{
		"file w.yaml at 2026-09-14T10:00:01Z\n",
		"supposed: ClusterQueue/b-cq made\n",
		"2 PREEMPTIONS (1 of them depending on timing); 1 EVICTION; 1 Workload can never fit any more; 2 Workloads get quota (1 of them depending on timing); 3 wait then\n",
		"computed with Kueue v0.19.2's own scheduler on the state of 2026-09-14T10:00:00Z; the cluster runs v0.18.3\n",
		"certain is what all of 4 timings agree on; the rest depends on timing\n",
		"assumed: default configuration of the manager\n",
		"unknown: whether fair sharing is on\n",
		"\nPREEMPTED\n", "team-a/job-sweep-1-bbbbb (sweep-1)  5", "a-cq", "team-b/job-pretrain-1-aaaaa (pretrain-1)  10", "b-cq", "runs, is stopped  InCohortReclamation  reclaimWithinCohort: Any\n",
		"\nPREEMPTED - DEPENDS ON TIMING\n", "team-a/eval", "unknown  ?", "does not run yet, comes back  InCohortReclamation",
		"\nEVICTED\n", "team-c/w", "runs, is stopped  ClusterQueueStopped\n",
		"\nQUEUES\n", "ClusterQueue/c-cq  BECOMES INACTIVE  Stopped\n",
		"\nCAN NEVER FIT ANY MORE\n", "team-a/giant\n",
		"\nRUN ON BEYOND THE QUOTA (Kueue does not evict them for it)\n", "ClusterQueue/a-cq  a100    gpu       2   0\n",
		"\nRUN ON BEYOND THE QUOTA (Kueue does not evict them for it) - DEPENDS ON TIMING\n", "Cohort/ai  a100    cpu       1500m  1\n",
		"\nWAIT FOR ANOTHER REASON\n", "team-a/late  a-cq          held: a-cq is held BEFORE: quota: 2 short\n",
		"\nGET QUOTA\n", "team-b/job-pretrain-1-aaaaa (pretrain-1)  10        b-cq          a100     again; borrows; 3 of 4 pods\n",
		"\nGET QUOTA - DEPENDS ON TIMING\n", "a100 (gpu), plain (cpu)  waits for budget\n",
		"\nQUOTA\n", "ClusterQueue/b-cq  a100    gpu       4 -> 20  4 -> 16   0\n",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q is not in what comes then:\n%s\nin all:\n%s", want, rest, out.String())
		}
		rest = after
	}
	if rest != "" {
		t.Errorf("more than expected: %q", rest)
	}
}

func TestImpactJSON(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJSON(&out, document(burst(), badEdit())); err != nil {
		t.Fatal(err)
	}
	const want = `{
		"apiVersion": "holdfast.dev/v1alpha1", "kind": "ImpactResult",
		"source": {"type": "file", "name": "w.yaml", "readAt": "2026-09-14T10:00:00Z", "now": "2026-09-14T10:00:01Z", "notes": []},
		"impact": {
			"notComputed": "", "computedWith": "v0.19.2", "clusterRuns": "v0.18.3", "stateOf": "2026-09-14T10:00:00Z",
			"edits": [{"object": "ClusterQueue/b-cq", "change": "made"}],
			"assumptions": ["default configuration of the manager"], "unknown": ["whether fair sharing is on"], "bounded": "", "timings": 4, "restless": [],
			"preempted": [
				{"victim": "team-a/job-sweep-1-bbbbb", "victimJob": "sweep-1", "victimClusterQueue": "a-cq", "victimPriority": 5,
				 "preemptor": "team-b/job-pretrain-1-aaaaa", "preemptorJob": "pretrain-1", "preemptorClusterQueue": "b-cq", "preemptorPriority": 10,
				 "reason": "InCohortReclamation", "policy": "reclaimWithinCohort: Any", "policyHolds": true, "runs": true, "back": false, "certain": true},
				{"victim": "team-a/eval", "victimJob": "eval", "victimClusterQueue": "a-cq", "victimPriority": 6,
				 "preemptor": null, "preemptorJob": null, "preemptorClusterQueue": null, "preemptorPriority": null,
				 "reason": "InCohortReclamation", "policy": "reclaimWithinCohort: Any", "policyHolds": null, "runs": false, "back": true, "certain": false,
				 "unknown": "preemptor: it is not among the Workloads that were read; policyHolds: not enough is known of both sides and of the policy"}],
			"evicted": [{"workload": "team-c/w", "job": "w", "clusterQueue": "c-cq", "priority": 0, "reason": "ClusterQueueStopped", "running": true, "back": false, "certain": true}],
			"queues": [{"kind": "ClusterQueue", "namespace": "", "name": "c-cq", "activeBefore": true, "activeAfter": false, "held": false, "why": "Stopped"}],
			"neverFits": ["team-a/giant"],
			"overQuota": [{"clusterQueue": "a-cq", "cohort": null, "flavor": "a100", "resource": "gpu", "by": "2", "before": "0", "worse": true, "certain": true},
				{"clusterQueue": null, "cohort": "ai", "flavor": "a100", "resource": "cpu", "by": "1500m", "before": "1", "worse": true, "certain": false}],
			"waiting": {"count": 3, "certain": true, "changed": [{"workload": "team-a/late", "job": "late", "clusterQueue": "a-cq", "before": "quota: 2 short", "after": "held: a-cq is held", "certain": true}]},
			"admitted": [
				{"workload": "team-b/job-pretrain-1-aaaaa", "job": "pretrain-1", "clusterQueue": "b-cq", "priority": 10, "flavors": {"gpu": "a100", "cpu": "a100"},
				 "borrows": true, "checks": [], "pods": 3, "podsAsked": 4, "again": true, "certain": true},
				{"workload": "team-b/x", "job": "x", "clusterQueue": "b-cq", "priority": 0, "flavors": {"gpu": "a100", "cpu": "plain"},
				 "borrows": false, "checks": ["budget"], "pods": 1, "podsAsked": 1, "again": false, "certain": false}],
			"quota": [{"kind": "ClusterQueue", "name": "b-cq", "flavor": "a100", "resource": "gpu",
				"before": {"nominal": "4", "reserved": "4", "borrowed": "0"}, "after": {"nominal": "20", "reserved": "16", "borrowed": "0"}, "certain": true}]
		}}`
	var a, b any
	if err := json.Unmarshal([]byte(want), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &b); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if d := cmp.Diff(a, b); d != "" {
		t.Errorf("document (-want +got):\n%s", d)
	}
}

// A preview that is not there says so, and none of its numbers is taken for one.
func TestImpactThatIsNotComputed(t *testing.T) {
	d := document(&impact.Result{NotComputed: "it creates a cycle: a > b > a\x1b[2J"}, badEdit())
	var text, raw bytes.Buffer
	if err := d.Text(&text); err != nil {
		t.Fatal(err)
	}
	if want := `NOT COMPUTED: it creates a cycle: a > b > a\x1b[2J`; !strings.Contains(text.String(), want) || strings.Contains(text.String(), "nobody") {
		t.Errorf("%q is not in:\n%s", want, text.String())
	}
	if err := WriteJSON(&raw, d); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(raw.String(), `"count": null`) || strings.Count(raw.String(), "null") != 3 { // and clusterRuns, stateOf
		t.Errorf("nulls:\n%s", raw.String())
	}
	if !d.Impact.NeedsPerson() {
		t.Error("nobody is told to look")
	}
}

func TestImpactNeedsPerson(t *testing.T) {
	queue := func(active bool) impact.Queue { return impact.Queue{ActiveBefore: !active, ActiveAfter: active} }
	for name, tc := range map[string]struct {
		result impact.Result
		want   bool
	}{
		"nothing":          {impact.Result{Timings: 4}, false},
		"only admissions":  {impact.Result{Admitted: []impact.Admission{{}}, Waiting: impact.Waiting{Count: 7}}, false},
		"a preemption":     {impact.Result{Preempted: []impact.Preemption{{}}}, true},
		"an eviction":      {impact.Result{Evicted: []impact.Eviction{{}}}, true},
		"one can never":    {impact.Result{NeverFits: []impact.Workload{{}}}, true},
		"over its quota":   {impact.Result{OverQuota: []impact.Over{{By: 1}}}, true},
		"as before over":   {impact.Result{OverQuota: []impact.Over{{By: 1, Before: 1}}}, false},
		"a queue stops":    {impact.Result{Queues: []impact.Queue{queue(true), queue(false)}}, true},
		"a queue begins":   {impact.Result{Queues: []impact.Queue{queue(true)}}, false},
		"not at rest":      {impact.Result{Restless: []world.Ref{{}}}, true},
		"not to its end":   {impact.Result{Bounded: "after 100 cycles"}, true},
		"unknown settings": {impact.Result{Unknown: []string{"x"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := ImpactOf(&tc.result, nil)
			if got.NeedsPerson() != tc.want {
				t.Errorf("%v, want %v", got.NeedsPerson(), tc.want)
			}
			if hit := len(tc.result.Preempted)+len(tc.result.Evicted) > 0; hit == strings.Contains(got.Summary(), "nobody is preempted or evicted") {
				t.Errorf("summary %q", got.Summary())
			}
		})
	}
}

func TestImpactSaysWhatIsNotWhole(t *testing.T) {
	r := impact.Result{Bounded: "stopped after 5000 cycles", Timings: 4, ComputedWith: "v0.19.2"}
	for range 12 {
		r.Restless = append(r.Restless, workloadOf("n", "w", "w", "q", 0).Ref)
	}
	var out bytes.Buffer
	if err := document(&r, nil).Text(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"NOTHING IS CERTAIN: the queues are not at rest, 12 Workloads move without any change: n/w, " + strings.Join(slices.Repeat([]string{"n/w"}, 7), ", ") + " and 4 more\n",
		"NOT TO ITS END: stopped after 5000 cycles\n", "which version the cluster runs is unknown\n", "nobody is preempted or evicted",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out.String())
		}
	}
}

// That a queue stops which somebody stops on purpose needs nobody.
func TestImpactOfAHold(t *testing.T) {
	st := store.New(testclock.NewFakePassiveClock(readAt))
	lq := world.Key{Namespace: "n", Name: "lq"}
	st.Put(&world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: "q"}}, StopPolicy: world.StopHold})
	st.Put(&world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: "open"}}})
	st.Put(&world.LocalQueue{Meta: world.Meta{Key: lq}, ClusterQueue: "q"})
	s := st.Snapshot()
	for name, tc := range map[string]struct {
		ref  world.Ref
		held bool
	}{
		"itself": {s.ClusterQueue("q").Ref(), true}, "below it": {s.LocalQueue(lq).Ref(), true}, "another": {s.ClusterQueue("open").Ref(), false},
		"gone": {world.Ref{Kind: world.KindLocalQueue, Key: world.Key{Namespace: "n", Name: "gone"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			x := ImpactOf(&impact.Result{Before: s, After: s, Queues: []impact.Queue{{Ref: tc.ref, ActiveBefore: true}}}, nil)
			if x.Queues[0].Held != tc.held || x.NeedsPerson() == tc.held {
				t.Errorf("held %v, needs a person %v", x.Queues[0].Held, x.NeedsPerson())
			}
		})
	}
}
