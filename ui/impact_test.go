package ui

import (
	"context"
	"fmt"
	"time"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// fated is a Workload of the scene as a preview names it.
func fated(ns, name, cq string, prio int32) impact.Workload {
	return impact.Workload{
		Ref: world.Ref{Kind: world.KindWorkload, Key: world.Key{Namespace: ns, Name: "job-" + name + "-x1y2z"}}, Job: name, Priority: prio, ClusterQueue: cq,
	}
}

func queueRef(name string) world.Ref {
	return world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: name}}
}

// quietImpact is a preview in which nothing happens.
func quietImpact(s *store.Snapshot) *impact.Result {
	return &impact.Result{
		ComputedWith: "v0.19.2", ClusterRuns: "v0.19.2", Timings: 8, Before: s, After: s, Waiting: impact.Waiting{Count: 5, Queues: 1, Certain: true},
		Assumptions: []string{"running jobs do not end, no new ones come, and admission checks stay as they are",
			"the manager runs with the configuration of ConfigMap kueue-system/kueue-manager-config"},
	}
}

// burst is what a bad policy of team-a-cq sets off.
func burst(s *store.Snapshot) *impact.Result {
	r := quietImpact(s)
	yes := true
	hit := func(v, p impact.Workload, reason, policy string, certain bool) impact.Preemption {
		return impact.Preemption{Victim: v, Preemptor: p, Reason: reason, Policy: policy, PolicyHolds: &yes, Runs: true, Certain: certain}
	}
	train1, train2 := fated("team-a", "train-1", "team-a-cq", 500), fated("team-a", "train-2", "team-a-cq", 400)
	reclaim := "reclaimWithinCohort: Any"
	r.Preempted = []impact.Preemption{
		hit(fated("team-b", "urgent-3", "team-b-cq", 900), train1, "InCohortReclamation", reclaim, true),
		hit(fated("team-a", "big-1", "team-a-cq", 100), train1, "InClusterQueue", "withinClusterQueue: LowerPriority", true),
		hit(fated("team-c", "sweep-1", "team-c-cq", 100), train1, "InCohortReclamation", reclaim, true),
		hit(fated("team-c", "sweep-2", "team-c-cq", 100), train2, "InCohortReclamation", reclaim, false),
		hit(fated("team-c", "sweep-3", "team-c-cq", 50), train2, "InCohortReclamation", reclaim, false),
	}
	on := map[string]string{"nvidia.com/gpu": "a100", "cpu": "default"}
	for i := range 4 {
		r.Admitted = append(r.Admitted, impact.Admission{Workload: fated("team-a", fmt.Sprintf("train-%d", i+1), "team-a-cq", int32(500-100*i)), Flavors: on, Borrows: i == 0, Pods: 2, Asked: 2, Certain: i < 2})
	}
	r.Admitted[1].Checks = []string{"budget"}
	r.Admitted[2].Pods = 1
	r.Waiting = impact.Waiting{Count: 3, Queues: 4, Certain: false, Changed: []impact.Change{
		{Workload: fated("team-a", "train-llm-7f2", "team-a-cq", 500), Before: "quota: Needs 4 nvidia.com/gpu of a100: 2 are free.", After: "queueOrder: Fits, and 2 Workloads stand before it.", Certain: true}}}
	r.OverQuota = []impact.Over{{Ref: queueRef("team-c-cq"), FlavorResource: gpu, By: 2, Certain: true}}
	r.Quota = []impact.Cell{{Ref: queueRef("team-a-cq"), FlavorResource: gpu, NominalBefore: 6, NominalAfter: 20, UsedBefore: 10, UsedAfter: 16, BorrowedBefore: 4, Certain: true}}
	return r
}

// everything is a preview with one of everything that can be said.
func everything(s *store.Snapshot) *impact.Result {
	r := burst(s)
	r.ClusterRuns = "v0.18.1"
	r.Unknown = []string{"the cluster runs Kueue v0.18.1, whose rules and defaults may differ from those of v0.19.2 in the preview", "the LimitRanges cannot be read: Workloads may ask for more than is counted, or not be allowed"}
	r.Bounded = "after 4000 scheduling cycles Workloads still moved"
	r.Restless = []world.Ref{fated("team-a", "train-llm-7f2", "", 0).Ref, fated("team-c", "stuck-2", "", 0).Ref}
	r.Preempted = append(r.Preempted, impact.Preemption{Victim: fated("team-d", "new-1", "team-d-cq", 5), Reason: "Strange", Back: true})
	r.Evicted = []impact.Eviction{{Workload: fated("team-e", "over-1", "team-e-cq", 0), Reason: "ClusterQueue team-e-cq is drained", Running: true}, {Workload: fated("team-a", "train-9", "team-a-cq", 0), Reason: "its reservation is taken back"}}
	r.Queues = []impact.Queue{
		{Ref: queueRef("team-d-cq"), ActiveBefore: true, Why: "ResourceFlavor a100-80g does not exist."},
		{Ref: queueRef("lost-cq"), Why: "the cohorts form a cycle"}, {Ref: queueRef("team-b-cq"), ActiveAfter: true},
	}
	r.NeverFits = []impact.Workload{fated("team-a", "train-4", "team-a-cq", 200)}
	for i := range r.Preempted {
		r.Preempted[i].Certain = false
	}
	for i := range r.Admitted {
		r.Admitted[i].Certain = false
	}
	r.OverQuota[0].Certain, r.Waiting.Changed[0].Certain, r.Quota[0].Certain = false, false, false
	return r
}

// changing gives a plan the edits that make it one to preview.
func changing(p actions.Plan) actions.Plan {
	p.Edits = []impact.Edit{{Kind: p.Targets[0].Ref.Kind, Key: p.Targets[0].Ref.Key}}
	p.Unknown = append(p.Unknown, actions.NotComputed)
	return p
}

// policyPlan is the edit that lets team-a-cq take back what it lent.
func policyPlan() actions.Plan {
	p := changing(editPlan())
	p.Targets[0].Change, p.Warnings = "spec as in the difference", nil
	p.Diff = []string{"--- live", "+++ dry-run", "@@ -31,5 +31,5 @@", "   preemption:", "     borrowWithinCohort:", "       policy: Never", "-    reclaimWithinCohort: Never", "+    reclaimWithinCohort: Any"}
	return p
}

// previewOf plays an edit up to its plan.
func previewOf(r func(*store.Snapshot) *impact.Result) func(*stage) {
	return func(s *stage) {
		s.desk.plan = policyPlan()
		s.desk.impact, s.desk.impactConfirm = r(s.store.Snapshot()), actions.Confirm{Level: actions.ConfirmName, Expects: "team-a-cq"}
		s.onTeamA().press("e")
		s.pass(time.Second)
	}
}

// previews are the frames of plans with a preview.
var previews = map[string]func(*stage){
	"impact-burst": previewOf(burst),
	"impact-burst-down": func(s *stage) {
		previewOf(burst)(s)
		s.press("pgdown")
	},
	"impact-everything": previewOf(everything),
	"impact-nothing":    previewOf(quietImpact),
	"impact-refused": previewOf(func(*store.Snapshot) *impact.Result {
		return &impact.Result{NotComputed: "creates a cycle: ai-shared > research > ai-shared", ComputedWith: "v0.19.2"}
	}),
	"impact-skipped": func(s *stage) {
		s.desk.plan = policyPlan()
		s.onTeamA()
		s.desk.computing = func(context.Context, func(impact.Progress)) { s.press("s") }
		s.press("e")
		s.pass(time.Second)
	},
	"impact-drain": func(s *stage) {
		s.desk.plan = changing(holdPlan())
		s.desk.plan.Action, s.desk.plan.Evicts, s.desk.plan.RunsOn = actions.Drain, s.desk.plan.RunsOn, nil
		s.desk.plan.Targets[0].Change = "stopPolicy None -> HoldAndDrain"
		s.desk.plan.Evicts[0].Ref.Name = "job-big-1-x1y2z"
		s.desk.plan.LosesReservation[0].Ref.Name = "job-train-9-x1y2z"
		s.desk.plan.Confirm = actions.Confirm{Level: actions.ConfirmContext, Expects: "prod-eu 1"}
		r := quietImpact(s.store.Snapshot())
		r.Evicted = []impact.Eviction{{Workload: fated("team-a", "big-1", "team-a-cq", 100), Running: true, Certain: true}, {Workload: fated("team-a", "train-9", "team-a-cq", 500), Certain: true}}
		r.Admitted = []impact.Admission{{Workload: fated("team-b", "eval-1", "team-b-cq", 50), Flavors: map[string]string{"nvidia.com/gpu": "a100"}, Borrows: true, Certain: true}}
		r.Queues = []impact.Queue{{Ref: queueRef("team-a-cq"), ActiveBefore: true, Why: "ClusterQueue team-a-cq is held: nothing is admitted until it is resumed."}}
		s.desk.impact = r
		s.onTeamA().press("D", "enter")
		s.pass(time.Second)
	},
	"impact-busy": func(s *stage) {
		previewOf(quietImpact)(s)
		s.held = true
		s.press("ctrl+p")
		s.send(progressMsg{s.root.dialog().(previewing).ticket, &impact.Progress{Timing: 2, Timings: 8, Progress: engine.Progress{Edited: true, Cycles: 35, Admitted: 12, Preempted: 3}}})
		s.pass(3 * time.Second)
	},
}
