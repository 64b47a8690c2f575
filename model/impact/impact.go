// Package impact answers what Kueue will do when objects change: who starts, who
// is preempted and by whom, who goes on waiting and why. The answer comes from
// Kueue's own scheduler (package engine), run several times with different
// timing: what all runs agree on is certain, the rest depends on timing.
package impact

import (
	"k8s.io/apimachinery/pkg/runtime"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Edit is an object as it will be.
type Edit struct {
	Kind world.Kind
	Key  world.Key
	// Object is of version v1beta2 (convert.ToHub); nil: the object is deleted. Its
	// status is not looked at: an edit changes none.
	Object runtime.Object
}

// Result is what will happen, what hurts most first. It is about what comes next
// and nothing later: running jobs do not end, no new ones come, admission checks
// stay as they are.
//
// Preempted and Evicted are steps, Admitted is the state at the end. So that the
// two do not contradict each other, each says of a Workload how it began and how
// it ends:
//
//	before   steps               end     where it is listed
//	runs     preempted           waits   Preempted {Runs}
//	runs     preempted, admitted runs    Preempted {Runs, Back}, Admitted {Again}
//	waits    admitted            runs    Admitted
//	waits    admitted, preempted waits   Preempted {}: it starts first, and was in nobody's way before
//	waits    adm., pre., adm.    runs    Preempted {Back}, Admitted
//
// and the same with Evicted. A Workload in Admitted holds quota at the end, so it
// is never one of those in Waiting, and whoever of Preempted and Evicted is not
// Back holds none. With several timings, each of them may list it otherwise: the
// entries are then not Certain, and Back and Again say what is so in any of them.
type Result struct {
	// NotComputed says why there is no answer ("creates a cycle: a > b > a"); empty:
	// there is one. All else is then empty but the labels.
	NotComputed string
	// ComputedWith is the version of Kueue whose code ran, ClusterRuns the cluster's;
	// empty where not known.
	ComputedWith, ClusterRuns string
	// Assumptions and Unknown are sentences.
	Assumptions, Unknown []string
	// Bounded says what cut the computation; empty: it came to its end. What a cut
	// run did is listed, and may be certain; how it ends is not.
	Bounded string
	// Timings is the number of runs that were compared.
	Timings int
	// Restless are Workloads that move without the edit. Nothing is certain then; what
	// they lose before the edit is not in Preempted and Evicted.
	Restless []world.Ref

	Preempted []Preemption
	// Evicted are those that lose their quota otherwise: a drain, a deactivation, a
	// reservation that a hold takes back.
	Evicted   []Eviction
	Queues    []Queue
	NeverFits []Workload // can never be admitted any more, and could before
	OverQuota []Over
	Waiting   Waiting
	Admitted  []Admission
	Quota     []Cell

	// Before is the snapshot that was asked about and After the same with the edit
	// applied and everything above done, in the first of the timings; nil where
	// nothing was computed. A Workload's row in After has what the scheduler wrote.
	Before, After *store.Snapshot
}

// Workload names one with what people know it by.
type Workload struct {
	Ref world.Ref
	Job string
	// Priority is that after the edit.
	Priority int32
	// ClusterQueue is where it is or waits.
	ClusterQueue string
}

// Preemption is one preemption that will happen. Certain is set when it happens
// in every timing.
type Preemption struct {
	Victim    Workload
	Preemptor Workload // Ref.Name empty: unknown
	Reason    string
	// Policy is the field of the preemptor's ClusterQueue that allows it, with its
	// value ("withinClusterQueue: LowerPriority"); empty where not known.
	Policy string
	// PolicyHolds reports whether that policy, as edited, lets the preemptor take the
	// victim's quota by the priorities after the edit; nil: not known.
	PolicyHolds *bool
	// Runs is set when the victim runs now; one that waits now is admitted first, and
	// one that only holds a reservation has no pods to lose. Back is set when it holds
	// quota again at the end, in any timing.
	Runs, Back bool
	Certain    bool
}

// Eviction is a Workload that loses its quota without a preemptor. Running is set
// when it is admitted now: its pods will be stopped. Back is as in Preemption.
type Eviction struct {
	Workload Workload
	Reason   string
	Running  bool
	Back     bool
	Certain  bool
}

// Admission is a Workload that gets quota, or that is admitted on the quota that
// it has reserved, and has it at the end.
type Admission struct {
	Workload Workload
	// Flavors maps each resource to its flavor; where pod sets get different ones,
	// to all of them, joined with "+" in the order of their names.
	Flavors map[string]string
	// Borrows is set when its ClusterQueue uses more than the nominal quota of one of
	// the flavors that it was given, once everything has been done, in any timing.
	Borrows bool
	// Checks are the admission checks that it then waits for; empty: it starts.
	Checks []string
	// Pods is less than Asked with partial admission, and where pods have finished.
	Pods, Asked int32
	// Again is set when it holds quota now and loses it first (Preempted, Evicted), in
	// any timing.
	Again   bool
	Certain bool
}

// Queue is a ClusterQueue or LocalQueue that becomes active or inactive, or an
// edited ClusterQueue that stays inactive for another reason. Why says what keeps
// it inactive; empty where it is active after.
type Queue struct {
	Ref                       world.Ref
	ActiveBefore, ActiveAfter bool
	Why                       string
}

// Over is a cell in which Workloads hold more than they could get anew. Kueue
// does not evict them for it.
type Over struct {
	Ref world.Ref // ClusterQueue or Cohort
	world.FlavorResource
	By world.Amount
	// Before is by how much it was over before the edit.
	Before  world.Amount
	Certain bool
}

// Waiting is what still waits at the end in the cohort trees of the edit.
type Waiting struct {
	Count int
	// Queues is the number of ClusterQueues in those trees.
	Queues int
	// Certain is set when so many wait in every timing.
	Certain bool
	Changed []Change
}

// Change is a Workload that waits before and after, for another reason: its
// class differs, or what stands in its way. Numbers alone are no other reason.
type Change struct {
	Workload      Workload
	Before, After string // class and sentence ("quota: ..."), of package reason
	Certain       bool
}

// Cell is one cell of quota before and after, in the first of the timings;
// Certain: in all of them.
type Cell struct {
	Ref world.Ref // ClusterQueue or Cohort
	world.FlavorResource
	NominalBefore, NominalAfter   world.Amount
	UsedBefore, UsedAfter         world.Amount
	BorrowedBefore, BorrowedAfter world.Amount
	Certain                       bool
}
