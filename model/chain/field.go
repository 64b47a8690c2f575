package chain

import (
	"fmt"

	"cli.holdfast.dev/holdfast/model/world"
)

// Policy names the fields of a ClusterQueue's spec.preemption that let its
// Workloads preempt for Kueue's reason, with their values: "withinClusterQueue:
// LowerPriority". They are those at which Holds looks. Empty for a reason that is
// not known.
func Policy(p world.PreemptionPolicy, reason string) string {
	reclaim := "reclaimWithinCohort: " + p.ReclaimWithinCohort
	switch reason {
	case "InClusterQueue":
		return "withinClusterQueue: " + p.WithinClusterQueue
	case "InCohortReclamation", "InCohortFairSharing":
		return reclaim
	case "InCohortReclaimWhileBorrowing":
		out := reclaim + ", borrowWithinCohort: " + p.BorrowWithinCohort
		if p.BorrowMaxPriority != nil {
			out += fmt.Sprintf(" up to priority %d", *p.BorrowMaxPriority)
		}
		return out
	}
	return ""
}
