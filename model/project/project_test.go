package project

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/world"
)

// The files in testdata were recorded from a real Kueue v0.19.2.
func recorded[T any](t testing.TB, name string) *T {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	out := new(T)
	if err := yaml.Unmarshal(raw, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStateOfRecordedWorkloads(t *testing.T) {
	tests := map[string]struct {
		state world.State
		holds bool
	}{
		"workload-admitted":                    {world.Admitted, true},
		"workload-preemptor":                   {world.Admitted, true},
		"workload-finished":                    {world.Finished, false},
		"workload-deactivated":                 {world.Deactivated, false},
		"workload-pending-over-limit":          {world.Pending, false},
		"workload-inadmissible-hold":           {world.Pending, false},
		"workload-evicted-cq-stopped":          {world.Pending, false},
		"workload-evicted-preempted-reclaim":   {world.Pending, false},
		"workload-inadmissible-namespace":      {world.Pending, false},
		"workload-evicted-preempted-within-cq": {world.Pending, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := Workload(recorded[kueue.Workload](t, name))
			if w.State != tc.state || w.HoldsQuota() != tc.holds {
				t.Errorf("state %s, holds quota %v; want %s, %v", w.State, w.HoldsQuota(), tc.state, tc.holds)
			}
		})
	}
}

func TestPreemptedRow(t *testing.T) {
	w := Workload(recorded[kueue.Workload](t, "workload-evicted-preempted-reclaim"))
	past := int32(5)
	want := &world.Workload{
		Owner:      &world.Owner{APIVersion: "batch/v1", Kind: "Job", Name: "borrow", UID: "32393d14-c2be-4089-aa3d-d2d2f1088384"},
		JobUID:     "32393d14-c2be-4089-aa3d-d2d2f1088384",
		LocalQueue: "main", Active: true, Priority: 100, PriorityClass: "low", PriorityKind: "WorkloadPriorityClass", Grace: 30 * time.Second, State: world.Pending,
		PodSets: []world.PodSet{{
			Name: "main", Count: 1, Exact: true,
			Requests:     []world.Request{{Resource: "cpu", Amount: 4000}, {Resource: "memory", Amount: 16 << 30}, {Resource: "nvidia.com/gpu", Amount: 2}},
			TopologyJSON: `{"podIndexLabel":"batch.kubernetes.io/job-completion-index"}`,
		}},
		Preempted: &world.Preemption{
			PreemptorUID: "614b7b8a-048f-46d9-89cc-6cdacb20c266", PreemptorJobUID: "7d7d0d61-811a-42ff-a82a-8aabc2ffa5b3", Reason: "InCohortReclamation",
			PreemptorPath: "/ai-shared/team-b", PreempteePath: "/ai-shared/team-a", At: time.Date(2026, 12, 2, 4, 38, 11, 0, time.UTC),
		},
		Evictions:            []world.Eviction{{Reason: "Preempted", Count: 1}},
		PastExecutionSeconds: &past,
	}
	ignore := cmpopts.IgnoreFields(world.Workload{}, "Meta", "Conditions")
	noShape := cmpopts.IgnoreFields(world.PodSet{}, "Shape") // see TestShape
	if d := cmp.Diff(want, w, ignore, noShape); d != "" {
		t.Errorf("row (-want +got):\n%s", d)
	}
	if got := w.JobName(); got != "borrow" {
		t.Errorf("the name that people use is %q, want borrow", got)
	}
}

func TestAdmittedUsage(t *testing.T) {
	w := Workload(recorded[kueue.Workload](t, "workload-admitted"))
	raw := recorded[kueue.Workload](t, "workload-admitted")
	a := raw.Status.Admission.PodSetAssignments[0]
	var want []world.Use
	for _, r := range []string{"cpu", "memory", "nvidia.com/gpu"} {
		for name, q := range a.ResourceUsage {
			if string(name) == r {
				want = append(want, world.Use{FlavorResource: world.FlavorResource{Flavor: string(a.Flavors[name]), Resource: r}, Amount: world.ParseAmount(r, q)})
			}
		}
	}
	if len(want) == 0 {
		t.Fatal("the recorded Workload uses nothing")
	}
	if d := cmp.Diff(want, w.Usage); d != "" {
		t.Errorf("usage (-want +got):\n%s", d)
	}
}

func TestReclaimedPodsFreeQuota(t *testing.T) {
	// 10 pods of 3 cpu each were admitted; integer division comes first, as in Kueue.
	o := recorded[kueue.Workload](t, "workload-admitted")
	ten := int32(10)
	o.Spec.PodSets[0].Count = 10
	a := &o.Status.Admission.PodSetAssignments[0]
	a.Count = &ten
	for r := range a.ResourceUsage {
		q := a.ResourceUsage[r]
		q.Set(30)
		a.ResourceUsage[r] = q
	}
	o.Status.ReclaimablePods = []kueue.ReclaimablePod{{Name: o.Spec.PodSets[0].Name, Count: 4}}
	for _, u := range Workload(o).Usage {
		want := world.Amount(18)
		if u.Resource == "cpu" {
			want = 18000
		}
		if u.Amount != want {
			t.Errorf("%s: %d, want %d (6 of 10 pods)", u.Resource, u.Amount, want)
		}
	}
}

func TestHeldClusterQueue(t *testing.T) {
	q := ClusterQueue(recorded[kueue.ClusterQueue](t, "clusterqueue-hold"))
	two := world.Amount(2)
	gpu := world.FlavorResource{Flavor: "a100", Resource: "nvidia.com/gpu"}
	if q.StopPolicy != world.StopHold || q.Cohort != "ai-shared" || q.Hold != nil {
		t.Errorf("policy %s, cohort %s, record %v", q.StopPolicy, q.Cohort, q.Hold)
	}
	if d := cmp.Diff(world.Quota{FlavorResource: gpu, Nominal: 8, BorrowingLimit: &two}, q.Quotas[0]); d != "" {
		t.Errorf("quota (-want +got):\n%s", d)
	}
	if d := cmp.Diff(world.PreemptionPolicy{WithinClusterQueue: "LowerPriority", ReclaimWithinCohort: "LowerPriority", BorrowWithinCohort: "LowerPriority"}, q.Preemption); d != "" {
		t.Errorf("preemption (-want +got):\n%s", d)
	}
	if q.Namespaces == nil || q.Namespaces.String() != "platform.example.com/kueue=enabled" {
		t.Errorf("namespace selector %v", q.Namespaces)
	}
	if q.Status.Reserving != 1 || len(q.Status.Reservation) != 3 {
		t.Errorf("status %+v", q.Status)
	}
}

func TestParseHold(t *testing.T) {
	at := time.Date(2026, 12, 2, 13, 20, 0, 0, time.UTC)
	tests := map[string]struct {
		raw  string
		want world.HoldRecord
	}{
		"good":            {`{"version":1,"by":"kim","at":"2026-12-02T13:20:00Z","reason":"bad\u001b[2J quota","policy":"Hold","previous":"None"}`, world.HoldRecord{Version: 1, By: "kim", At: at, Reason: `bad\x1b[2J quota`, Policy: "Hold", Previous: "None"}},
		"another version": {`{"version":2,"by":"kim"}`, world.HoldRecord{Version: 2, Problem: "the hold record has version 2, this program reads version 1"}},
		"unknown policy":  {`{"version":1,"previous":"Sometimes"}`, world.HoldRecord{Version: 1, Problem: `the hold record names a previous stopPolicy "Sometimes" that Kueue does not know`}},
		"not JSON":        {`held by kim`, world.HoldRecord{Problem: "the hold record is not readable: invalid character 'h' looking for beginning of value"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(&tc.want, ParseHold(tc.raw)); d != "" {
				t.Errorf("record (-want +got):\n%s", d)
			}
		})
	}
}

func TestPreemptedMessages(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cond := func(status, reason, message string) world.Conditions {
		return world.Conditions{{Type: "Preempted", Status: status, Reason: reason, Message: message, At: at}}
	}
	full := "Preempted to accommodate a workload (UID: u1, JobUID: j1) due to reclamation within the cohort while borrowing; preemptor path: /a/b; preemptee path: /a/c"
	tests := map[string]struct {
		in   world.Conditions
		want *world.Preemption
	}{
		"none":        {nil, nil},
		"never":       {cond("False", "QuotaReserved", "Quota reserved"), nil},
		"full":        {cond("True", "InCohortReclaimWhileBorrowing", full), &world.Preemption{PreemptorUID: "u1", PreemptorJobUID: "j1", Reason: "InCohortReclaimWhileBorrowing", PreemptorPath: "/a/b", PreempteePath: "/a/c", At: at}},
		"history":     {cond("False", "QuotaReserved", "Previously: "+full), &world.Preemption{PreemptorUID: "u1", PreemptorJobUID: "j1", Reason: "InCohortReclaimWhileBorrowing", PreemptorPath: "/a/b", PreempteePath: "/a/c", At: at, History: true}},
		"unknown":     {cond("True", "InClusterQueue", "Preempted to accommodate a workload (UID: UNKNOWN, JobUID: UNKNOWN) due to prioritization in the ClusterQueue; preemptor path: UNKNOWN; preemptee path: UNKNOWN"), &world.Preemption{Reason: "InClusterQueue", At: at}},
		"no paths":    {cond("True", "InClusterQueue", "Preempted to accommodate a workload (UID: u1, JobUID: j1) due to prioritization in the ClusterQueue"), &world.Preemption{PreemptorUID: "u1", PreemptorJobUID: "j1", Reason: "InClusterQueue", At: at}},
		"no JobUID":   {cond("True", "InClusterQueue", "Preempted to accommodate a workload (UID: u1) due to prioritization in the ClusterQueue"), &world.Preemption{PreemptorUID: "u1", Reason: "InClusterQueue", At: at}},
		"other words": {cond("True", "InClusterQueue", "something new"), &world.Preemption{Reason: "InClusterQueue", At: at}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, preempted(tc.in)); d != "" {
				t.Errorf("preemption (-want +got):\n%s", d)
			}
		})
	}
}
