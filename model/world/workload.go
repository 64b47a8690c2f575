package world

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// State is where a Workload stands, read from its spec and conditions in a
// fixed order (StateOf).
type State uint8

// The states.
const (
	Pending State = iota
	Reserving
	Admitted
	Evicting
	Finished
	Deactivated
)

// String is the word that is shown and reported.
func (s State) String() string {
	return [...]string{"pending", "reserving", "admitted", "evicting", "finished", "deactivated"}[s]
}

// Condition types of a Workload, as Kueue spells them.
const (
	CondQuotaReserved = "QuotaReserved"
	CondAdmitted      = "Admitted"
	CondEvicted       = "Evicted"
	CondPreempted     = "Preempted"
	CondRequeued      = "Requeued"
	CondFinished      = "Finished"
	CondPodsReady     = "PodsReady"
	CondActive        = "Active" // of queues and checks
)

// StateOf reads the state from spec.active and the conditions. The order
// matters: QuotaReserved and Admitted usually stay True on finished Workloads,
// and an eviction holds its quota until the job has stopped.
func StateOf(active bool, c Conditions) State {
	switch {
	case c.True(CondFinished):
		return Finished
	case !active:
		return Deactivated
	case c.True(CondEvicted) && c.True(CondQuotaReserved):
		return Evicting
	case c.True(CondAdmitted):
		return Admitted
	case c.True(CondQuotaReserved):
		return Reserving
	}
	return Pending
}

// Owner is the controller of a Workload: the Job that people know by name.
type Owner struct {
	APIVersion, Kind, Name string
	UID                    types.UID
}

// PodSet is one set of equal pods of a Workload.
type PodSet struct {
	Name        string
	Count       int32
	MinCount    *int32 // partial admission: may start with as few
	Admitted    *int32 // pods that were admitted; nil while nothing is assigned
	Reclaimable int32  // pods that finished and whose quota is free again
	// Flavors assigns a flavor to each resource; empty while nothing is assigned.
	Flavors map[string]string
	// Requests is what the whole pod set asks for now, in Kueue's units. Exact says
	// whether Kueue itself published it (status.resourceRequests); otherwise it is
	// the sum over containers, init containers and overhead, to which LimitRanges,
	// RuntimeClasses and resource transformations may add.
	Requests []Request
	Exact    bool
	// Shape is what of the pod template bears on quota and placement, and on which
	// Workloads Kueue takes for alike, as project.PodSpec reads it back; equal shapes
	// share one string. Empty where the template has nothing of it.
	Shape string
	// Topology is what the pod set asks of a topology; nil: nothing.
	Topology *TopologyRequest
	// TopologyJSON is spec.podSets[].topologyRequest as JSON, for Kueue's own code: as
	// it came, never to be drawn. Empty for none.
	TopologyJSON string
}

// TopologyRequest is spec.podSets[].topologyRequest. Mode is Required, Preferred,
// Unconstrained or Slices, NoLevel where what it says asks for no level, empty
// where only a group is named; Level is the node label of the level, Slices those
// of the slices. Pod sets of one Group get the same flavor.
type TopologyRequest struct {
	Mode, Level, Group string
	Slices             []string
}

// NoLevel is the mode of a request for a topology that no flavor can meet, since
// it names no level ("unconstrained" set to false).
const NoLevel = "NoLevel"

// Request is an amount of a resource.
type Request struct {
	Resource string
	Amount   Amount
}

// CheckState is status.admissionChecks of one check.
type CheckState struct {
	Name, State, Message string
	At                   time.Time
	RetryCount           int32
	// RequeueAfter is how many seconds after At a check in state Retry wants the next
	// try at the earliest; 0: at once.
	RequeueAfter int32
}

// Eviction is a count out of status.schedulingStats.
type Eviction struct {
	Reason, Cause string
	Count         int32
}

// Preemption is what the Preempted condition says of the last preemption.
type Preemption struct {
	// PreemptorUID and PreemptorJobUID name the Workload that took the quota and
	// its job; empty where Kueue wrote UNKNOWN or an older version wrote nothing.
	PreemptorUID, PreemptorJobUID types.UID
	Reason                        string // Kueue's: InClusterQueue, InCohortReclamation, ...
	PreemptorPath, PreempteePath  string // "/cohort/.../clusterqueue"; empty where not written
	At                            time.Time
	// History is set when the Workload has been admitted again since.
	History bool
}

// Workload is the row of a Workload.
type Workload struct {
	Meta
	Owner      *Owner
	JobUID     types.UID // label kueue.x-k8s.io/job-uid
	LocalQueue string
	// ClusterQueue is status.admission.clusterQueue; empty while nothing is
	// assigned. The queue that a pending Workload waits for is its LocalQueue's.
	ClusterQueue  string
	Active        bool
	Priority      int32 // nil in the spec counts as 0, as in Kueue
	PriorityClass string
	// PriorityKind is the class's kind: WorkloadPriorityClass or PriorityClass.
	PriorityKind Kind
	State        State
	Conditions   Conditions
	PodSets      []PodSet
	// Usage is what the Workload takes from its ClusterQueue's quota now; empty
	// when it holds none (HoldsQuota).
	Usage                []Use
	Checks               []CheckState
	Preempted            *Preemption // nil: no Preempted condition, or its message says nothing
	Evictions            []Eviction
	RequeueAt            time.Time // zero: not in backoff
	RequeueCount         int32
	PastExecutionSeconds *int32
	UnhealthyNodes       []string
	// Grace is the longest time that its pods may take to end when told to.
	Grace time.Duration
	// GatedBy is the annotation kueue.x-k8s.io/admission-gated-by.
	GatedBy string
	// Annotations are the short ones that are neither Kueue's nor kubectl's: a
	// checkpoint may be recorded in one. Nil for none.
	Annotations map[string]string
	// Assigned is status.admission.podSetAssignments as JSON and Rest what else
	// Kueue's scheduler reads of the object (project.Rest), both for Kueue's own code:
	// as they came, never to be drawn. Equal ones share one string; empty for none.
	Assigned, Rest string
}

// Ref names the row.
func (w *Workload) Ref() Ref { return Ref{KindWorkload, w.Key, w.UID} }

// JobName is the name that people use: the owner's, or the Workload's own where
// it has none.
func (w *Workload) JobName() string {
	if w.Owner != nil {
		return w.Owner.Name
	}
	return w.Name
}

// HoldsQuota reports whether the Workload counts against its ClusterQueue
// (Kueue's HasActiveQuotaReservation).
func (w *Workload) HoldsQuota() bool {
	return w.Active && w.ClusterQueue != "" && w.Conditions.True(CondQuotaReserved) && !w.Conditions.True(CondFinished)
}
