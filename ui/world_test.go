package ui

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

var (
	gpu = world.FlavorResource{Flavor: "a100", Resource: "nvidia.com/gpu"}
	cpu = world.FlavorResource{Flavor: "default", Resource: "cpu"}
)

func meta(ns, name string) world.Meta {
	return world.Meta{Key: world.Key{Namespace: ns, Name: name}, UID: types.UID("uid-" + ns + "-" + name), Generation: 1, Created: now.Add(-48 * time.Hour)}
}

func amount(n int64) *world.Amount { a := world.Amount(n); return &a }

func active() world.Conditions {
	return world.Conditions{{Type: world.CondActive, Status: "True", Reason: "Ready", Message: "Can admit new workloads", At: now.Add(-40 * time.Hour)}}
}

func clusterQueue(name, cohort string, nominal int64) *world.ClusterQueue {
	return &world.ClusterQueue{
		Meta: meta("", name), Cohort: cohort, StopPolicy: world.StopNone, Strategy: "BestEffortFIFO", Namespaces: labels.Everything(),
		Preemption: world.PreemptionPolicy{WithinClusterQueue: "LowerPriority", ReclaimWithinCohort: "Any", BorrowWithinCohort: "Never"},
		Groups:     []world.ResourceGroup{{Resources: []string{gpu.Resource}, Flavors: []string{gpu.Flavor}}, {Resources: []string{cpu.Resource}, Flavors: []string{cpu.Flavor}}},
		Quotas:     []world.Quota{{FlavorResource: gpu, Nominal: world.Amount(nominal)}, {FlavorResource: cpu, Nominal: world.Amount(nominal * 8000)}},
		Conditions: active(),
	}
}

func localQueue(ns, name, cq string) *world.LocalQueue {
	return &world.LocalQueue{Meta: meta(ns, name), ClusterQueue: cq, StopPolicy: world.StopNone, Conditions: active()}
}

func job(ns, name, lq string, prio int32, age time.Duration) *world.Workload {
	m := meta(ns, "job-"+name+"-x1y2z")
	m.Created = now.Add(-age)
	return &world.Workload{
		Meta: m, Owner: &world.Owner{APIVersion: "batch/v1", Kind: "Job", Name: name, UID: types.UID("job-" + name)}, JobUID: types.UID("job-" + name),
		LocalQueue: lq, Active: true, Priority: prio, PriorityClass: "gold", PriorityKind: world.KindWorkloadPriorityClass,
		PodSets: []world.PodSet{{Name: "main", Count: 2, Requests: []world.Request{{Resource: "cpu", Amount: 4000}, {Resource: gpu.Resource, Amount: 4}}}},
	}
}

func pendingJob(ns, name, lq string, prio int32, age time.Duration) *world.Workload {
	w := job(ns, name, lq, prio, age)
	w.Conditions = world.Conditions{{Type: world.CondQuotaReserved, Status: "False", Reason: "Pending", Message: "couldn't assign flavors", At: now.Add(-age)}}
	w.State = world.Pending
	return w
}

func runningJob(ns, name, lq, cq string, prio int32, gpus int64, age time.Duration) *world.Workload {
	w := job(ns, name, lq, prio, age)
	w.ClusterQueue = cq
	w.Conditions = world.Conditions{
		{Type: world.CondQuotaReserved, Status: "True", Reason: "QuotaReserved", At: now.Add(-age)},
		{Type: world.CondAdmitted, Status: "True", Reason: "Admitted", At: now.Add(-age)},
	}
	w.State = world.Admitted
	w.Usage = []world.Use{{FlavorResource: gpu, Amount: world.Amount(gpus)}, {FlavorResource: cpu, Amount: world.Amount(gpus * 1000)}}
	return w
}

// synced makes every kind known.
func synced(s *store.Store) {
	for _, k := range world.WatchedKinds() {
		s.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true, Heard: now.Add(-2 * time.Second), Count: 10})
	}
}

// scene is a cluster with one of everything that matters: borrowing, a limit
// reached, a hold, debt, a queue that is not active, a cohort cycle, and a chain
// of preemptions.
func scene() (*store.Store, *clocktesting.FakePassiveClock) {
	c := clocktesting.NewFakePassiveClock(now)
	s := store.New(c)
	s.SetContract(world.Contract{Context: "prod-eu", Server: "https://10.0.0.1:6443", User: "oncall@corp", UserFrom: "server",
		Used: "v1beta2", KueueVersion: "v0.19.2", Controller: world.Ready})
	synced(s)
	s.Put(&world.Cohort{Meta: meta("", "ai-shared"), Quotas: []world.Quota{{FlavorResource: gpu, Nominal: 2}}})
	s.Put(&world.Cohort{Meta: meta("", "research"), Parent: "ai-shared"})
	s.Put(&world.Cohort{Meta: meta("", "loop-a"), Parent: "loop-b"})
	s.Put(&world.Cohort{Meta: meta("", "loop-b"), Parent: "loop-a"})
	a := clusterQueue("team-a-cq", "ai-shared", 6)
	a.Quotas[0].BorrowingLimit = amount(4)
	b := clusterQueue("team-b-cq", "ai-shared", 8)
	held := clusterQueue("team-c-cq", "ai-shared", 4)
	held.StopPolicy = world.StopHold
	held.Hold = &world.HoldRecord{Version: 1, By: "kim", At: now.Add(-43 * time.Minute), Reason: "bad quota", Previous: world.StopNone}
	dead := clusterQueue("team-d-cq", "", 2)
	dead.Groups[0].Flavors = append(dead.Groups[0].Flavors, "a100-80g")
	dead.Conditions = world.Conditions{{Type: world.CondActive, Status: "False", Reason: "FlavorNotFound", Message: "references missing ResourceFlavor(s): a100-80g", At: now.Add(-2 * time.Hour)}}
	debt := clusterQueue("team-e-cq", "", 2)
	debt.ManagedBy = "Argo CD"
	for _, q := range []*world.ClusterQueue{a, b, held, dead, debt, clusterQueue("speech-cq", "research", 4), clusterQueue("vision-cq", "research", 4), clusterQueue("lost-cq", "loop-a", 1)} {
		s.Put(q)
	}
	s.Put(localQueue("team-a", "batch", "team-a-cq"))
	s.Put(localQueue("team-a", "night", "team-a-cq"))
	s.Put(localQueue("team-b", "batch", "team-b-cq"))
	s.Put(localQueue("team-c", "batch", "team-c-cq"))
	s.Put(localQueue("team-x", "batch", "nowhere-cq"))
	s.Put(localQueue("team-e", "batch", "team-e-cq"))
	for i := range 4 {
		s.Put(pendingJob("team-a", fmt.Sprintf("train-%d", i+1), "batch", 500-int32(i)*100, time.Duration(38-i)*time.Minute))
	}
	urgent := runningJob("team-b", "urgent-3", "batch", "team-b-cq", 900, 5, 42*time.Minute)
	victim := pendingJob("team-a", "train-llm-7f2", "batch", 500, 41*time.Minute)
	victim.Preempted = &world.Preemption{PreemptorUID: urgent.UID, PreemptorJobUID: urgent.JobUID, Reason: "InCohortReclamation", At: now.Add(-38 * time.Minute)}
	victim.Checks = []world.CheckState{{Name: "budget", State: "Pending", At: now.Add(-30 * time.Minute), Message: "waiting for the budget service"}}
	s.Put(urgent)
	s.Put(victim)
	s.Put(runningJob("team-a", "big-1", "batch", "team-a-cq", 100, 10, 3*time.Hour))
	s.Put(runningJob("team-c", "sweep-1", "batch", "team-c-cq", 100, 1, 5*time.Hour))
	s.Put(runningJob("team-e", "over-1", "batch", "team-e-cq", 0, 4, 90*time.Hour))
	out := runningJob("team-c", "stuck-2", "batch", "team-c-cq", 0, 1, 4*time.Hour)
	out.Conditions = append(out.Conditions, world.Condition{Type: world.CondEvicted, Status: "True", Reason: "Preempted", At: now.Add(-40 * time.Minute)})
	out.State = world.Evicting
	s.Put(out)
	done := runningJob("team-b", "eval-0", "batch", "team-b-cq", 0, 2, 20*time.Hour)
	done.Conditions = append(done.Conditions, world.Condition{Type: world.CondFinished, Status: "True", Reason: "Succeeded", At: now.Add(-time.Hour)})
	done.State, done.Usage = world.Finished, nil
	s.Put(done)
	s.Put(&world.PriorityClass{Meta: meta("", "gold"), Value: 500})
	s.Put(&world.PriorityClass{Meta: meta("", "urgent"), Value: 9000})
	s.Put(&world.PriorityClass{Meta: meta("", "bronze"), Value: -1})
	s.Put(&world.Flavor{Meta: meta("", gpu.Flavor)})
	s.Put(&world.Flavor{Meta: meta("", cpu.Flavor)})
	written(s)
	return s, c
}

// written gives every queue the status that Kueue would write.
func written(s *store.Store) {
	snap := s.Snapshot()
	for _, q := range snap.ClusterQueues {
		o, c := *q, snap.CountsOf(q.Name)
		o.Status = world.QueueStatus{Pending: int32(c.Pending), Reserving: int32(c.Reserving), Admitted: int32(c.Admitted)}
		for _, cell := range snap.Tree.ClusterQueue(q.Name).Cells {
			o.Status.Reservation = append(o.Status.Reservation, world.Use{FlavorResource: cell.FlavorResource, Amount: cell.Reserved})
		}
		s.Put(&o)
	}
	for _, q := range snap.LocalQueues {
		o, c := *q, snap.CountsOfLocal(q.Key)
		o.Status = world.QueueStatus{Pending: int32(c.Pending), Reserving: int32(c.Reserving), Admitted: int32(c.Admitted)}
		s.Put(&o)
	}
}
