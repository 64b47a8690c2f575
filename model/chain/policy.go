package chain

import (
	"time"

	"cli.holdfast.dev/holdfast/model/position"
	"cli.holdfast.dev/holdfast/model/world"
)

// party is a side of a preemption as a policy sees it; nil for what is not known.
type party struct {
	priority *int32
	queued   *time.Time // position.QueuedAt
}

// Holds reports whether the policy that Kueue's reason names lets the preemptor
// take the victim's quota, with the priorities and times of the two as they are;
// nil where that cannot be told.
func Holds(p world.PreemptionPolicy, reason string, preemptor, victim *world.Workload) *bool {
	of := func(w *world.Workload) party {
		queued := position.QueuedAt(w)
		return party{priority: &w.Priority, queued: &queued}
	}
	return holds(p, reason, of(preemptor), of(victim))
}

// holds reports whether the policy that Kueue's reason names lets the preemptor
// take the victim's quota: classifyPreemptionVariant and, for fair sharing,
// findCandidates in pkg/scheduler/preemption. Nil: the reason or the policy is not
// one that is known, or a side is not known well enough.
func holds(p world.PreemptionPolicy, reason string, preemptor, victim party) *bool {
	switch reason {
	case "InClusterQueue":
		return satisfies(p.WithinClusterQueue, preemptor, victim)
	case "InCohortReclamation", "InCohortFairSharing":
		return satisfies(p.ReclaimWithinCohort, preemptor, victim)
	case "InCohortReclaimWhileBorrowing":
		return and(satisfies(p.ReclaimWithinCohort, preemptor, victim), borrows(p, preemptor, victim))
	}
	return nil
}

// satisfies is Kueue's SatisfiesPreemptionPolicy (pkg/scheduler/preemption/common)
// without the gates that are off by default.
func satisfies(policy string, preemptor, victim party) *bool {
	switch policy {
	case "Any":
		return answer(true)
	case "Never":
		return answer(false)
	case "LowerPriority", "LowerOrNewerEqualPriority":
	default:
		return nil
	}
	if preemptor.priority == nil || victim.priority == nil {
		return nil
	}
	if policy == "LowerPriority" || *preemptor.priority != *victim.priority {
		return answer(*preemptor.priority > *victim.priority)
	}
	if preemptor.queued == nil || victim.queued == nil {
		return nil
	}
	return answer(preemptor.queued.Before(*victim.queued))
}

// borrows reports whether the preemptor may borrow what it takes:
// IsBorrowingWithinCohortForbidden and isAboveBorrowingThreshold in
// pkg/scheduler/preemption/classical.
func borrows(p world.PreemptionPolicy, preemptor, victim party) *bool {
	switch p.BorrowWithinCohort {
	case "Never":
		return answer(false)
	case "LowerPriority":
	default:
		return nil
	}
	lower := satisfies("LowerPriority", preemptor, victim)
	if p.BorrowMaxPriority == nil || victim.priority == nil {
		return lower
	}
	return and(lower, answer(*victim.priority <= *p.BorrowMaxPriority))
}

func and(a, b *bool) *bool {
	switch {
	case a != nil && !*a:
		return a
	case b != nil && !*b:
		return b
	case a == nil:
		return nil
	}
	return b
}

func answer(b bool) *bool { return &b }
