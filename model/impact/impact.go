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
	// Object is of version v1beta2 (convert.ToHub); nil: the object is deleted.
	Object runtime.Object
}

// Result is what will happen, what hurts most first. It is about what comes next
// and nothing later: running jobs do not end, no new ones come, admission checks
// stay as they are.
type Result struct {
	// NotComputed says why there is no answer ("creates a cycle: a > b > a"); empty:
	// there is one. All else is then empty but the labels.
	NotComputed string
	// ComputedWith is the version of Kueue whose code ran, ClusterRuns the cluster's;
	// empty where not known.
	ComputedWith, ClusterRuns string
	// Assumptions and Unknown are sentences.
	Assumptions, Unknown []string
	// Bounded says what cut the computation; empty: it came to its end.
	Bounded string
	// Timings is the number of runs that were compared.
	Timings int
	// Restless are Workloads that move without the edit. Nothing is certain then.
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
	// applied and everything above done, in the first of the timings.
	Before, After *store.Snapshot
}

// Workload names one with what people know it by.
type Workload struct {
	Ref      world.Ref
	Job      string
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
	// value ("withinClusterQueue: LowerPriority").
	Policy  string
	Certain bool
}

// Eviction is a Workload that loses its quota without a preemptor. Running is set
// when its pods run and will be stopped.
type Eviction struct {
	Workload Workload
	Reason   string
	Running  bool
	Certain  bool
}

// Admission is a Workload that gets quota. Flavors maps each resource to its
// flavor, over all pod sets. Checks are the admission checks that it then waits
// for; empty: it starts. Pods is less than asked for with partial admission.
type Admission struct {
	Workload    Workload
	Flavors     map[string]string
	Borrows     bool
	Checks      []string
	Pods, Asked int32
	Certain     bool
}

// Queue is a ClusterQueue or LocalQueue that becomes active or inactive.
type Queue struct {
	Ref                       world.Ref
	ActiveBefore, ActiveAfter bool
	Why                       string
}

// Over is a cell in which running Workloads hold more than they could get anew.
// Kueue does not evict them for it.
type Over struct {
	Ref world.Ref // ClusterQueue or Cohort
	world.FlavorResource
	By world.Amount
}

// Waiting is what still waits at the end.
type Waiting struct {
	Count   int
	Changed []Change
}

// Change is a Workload that waits before and after, for another reason.
type Change struct {
	Workload      Workload
	Before, After string // class and sentence
	Certain       bool
}

// Cell is one cell of quota before and after.
type Cell struct {
	Ref world.Ref // ClusterQueue or Cohort
	world.FlavorResource
	NominalBefore, NominalAfter   world.Amount
	UsedBefore, UsedAfter         world.Amount
	BorrowedBefore, BorrowedAfter world.Amount
}
