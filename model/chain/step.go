package chain

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/world"
)

// Chain runs from the last victim up to the first preemptor that is known. It has
// at least one link.
type Chain struct {
	Links []Step
	End   End
}

// End says how a chain ends.
type End string

// The ends of a chain. Root: the last preemptor is there and was not preempted
// itself. Unknown: it is deleted, cannot be read or was written as UNKNOWN. Loop:
// it is the victim of an earlier link.
const (
	Root    End = "root"
	Unknown End = "unknown"
	Loop    End = "loop"
)

// Step is one link of a chain: a preemption, with what both sides are worth now.
// Pointers are nil where nothing is known.
type Step struct {
	Victim    world.Key
	VictimUID types.UID
	// VictimPriority is the victim's spec.priority now (0 where it has none). A
	// boost by annotation is left out: its feature gate, PriorityBoost, is off by
	// default and does not show in the objects.
	VictimPriority *int32

	// Preemptor is the Workload that took the quota, or with Recreated a later one
	// of its job, or what an event calls it when it is gone.
	Preemptor *world.Key
	// PreemptorUID is what Kueue wrote, also with Recreated; empty for UNKNOWN.
	PreemptorUID types.UID
	// PreemptorPriority is as VictimPriority; of a preemptor that is gone, what an
	// event says it was.
	PreemptorPriority *int32
	// PreemptorQueue is the ClusterQueue for whose Workload the quota was taken;
	// empty where not known.
	PreemptorQueue string

	// Reason is Kueue's; empty where it is not known.
	Reason string
	// PolicyHolds says whether the policy that the reason names, as it is now on
	// PreemptorQueue, allows this preemption by the priorities of now.
	PolicyHolds *bool
	Recovery    Recovery

	// At is as Link.At; with History an event may still know it.
	At time.Time
	// Recreated and History are as in Link.
	Recreated, History bool
	// Loop is set on the links that a Loop goes round, not on those that lead to it.
	Loop bool
}

// State is where a victim stands now.
type State string

// The states of a victim. One that is still being evicted is Running: its pods
// have not ended, and it holds its quota. Gone is a victim of which only events
// tell.
const (
	Pending     State = "pending"
	Running     State = "running"
	Finished    State = "finished"
	Deactivated State = "deactivated"
	Gone        State = "gone"
)

// Recovery is what is known of how the victim goes on: Kueue has no checkpoints of
// its own.
type Recovery struct {
	State        State
	RequeueAt    time.Time // zero: not in backoff
	RequeueCount int32
	// PastExecutionSeconds is how long it ran before it was stopped; nil where Kueue
	// does not say.
	PastExecutionSeconds *int32
	// ReclaimablePods are the pods that finished for good.
	ReclaimablePods int
	// Checkpoint is the annotation that the operator configured; nil where none is
	// configured, or the victim has none of that key.
	Checkpoint *Checkpoint
}

// Checkpoint is an annotation in which a job records how far it got.
type Checkpoint struct{ Key, Value string }

// RecoveryOf is what is known of the Workload now; nil is one that is gone.
// checkpoint is as in Options.
func RecoveryOf(w *world.Workload, checkpoint string) Recovery {
	if w == nil {
		return Recovery{State: Gone}
	}
	r := Recovery{State: stateOf(w), RequeueAt: w.RequeueAt, RequeueCount: w.RequeueCount, PastExecutionSeconds: w.PastExecutionSeconds}
	for _, ps := range w.PodSets {
		r.ReclaimablePods += int(ps.Reclaimable)
	}
	if v, ok := w.Annotations[checkpoint]; ok && checkpoint != "" {
		r.Checkpoint = &Checkpoint{checkpoint, v}
	}
	return r
}

func stateOf(w *world.Workload) State {
	switch w.State {
	case world.Reserving, world.Admitted, world.Evicting:
		return Running
	case world.Finished:
		return Finished
	case world.Deactivated:
		return Deactivated
	}
	return Pending
}
