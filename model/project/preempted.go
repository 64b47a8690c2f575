package project

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/world"
)

// Kueue's text, pkg/scheduler/preemption (preemptionMessage). Older versions
// write no paths, still older ones no JobUID; both are optional here.
var (
	preemptorIDs  = regexp.MustCompile(`\(UID: ([^,) ]+)(?:, JobUID: ([^,) ]+))?\)`)
	preemptorPath = regexp.MustCompile(`preemptor path: ([^; ]+)`)
	preempteePath = regexp.MustCompile(`preemptee path: ([^; ]+)`)
)

// preempted reads the last preemption out of the Preempted condition; nil where
// there is none. After a readmission Kueue keeps the text behind "Previously: "
// with status False.
func preempted(conds world.Conditions) *world.Preemption {
	c, ok := conds.Get(world.CondPreempted)
	if !ok || c.Status != "True" && !strings.HasPrefix(c.Message, "Previously: ") {
		return nil
	}
	p := &world.Preemption{Reason: c.Reason, At: c.At, History: c.Status != "True"}
	if p.History {
		// The reason of the condition is now that of the readmission; the old one
		// can be told from the prose.
		p.Reason = reasonOf(c.Message)
	}
	if m := preemptorIDs.FindStringSubmatch(c.Message); m != nil {
		p.PreemptorUID, p.PreemptorJobUID = known(m[1]), known(m[2])
	}
	if m := preemptorPath.FindStringSubmatch(c.Message); m != nil {
		p.PreemptorPath = string(known(m[1]))
	}
	if m := preempteePath.FindStringSubmatch(c.Message); m != nil {
		p.PreempteePath = string(known(m[1]))
	}
	return p
}

func known(s string) types.UID {
	if s == "UNKNOWN" {
		return ""
	}
	return types.UID(s)
}

// reasonOf maps the prose of Kueue's message back to its reason; empty when the
// prose is not one that is known. The longest prose is looked for first, since
// one begins like another.
func reasonOf(message string) string {
	for _, r := range [...]struct{ prose, reason string }{
		{"reclamation within the cohort while borrowing", "InCohortReclaimWhileBorrowing"},
		{"reclamation within the cohort", "InCohortReclamation"},
		{"Fair Sharing within the cohort", "InCohortFairSharing"},
		{"prioritization in the ClusterQueue", "InClusterQueue"},
	} {
		if strings.Contains(message, "due to "+r.prose) {
			return r.reason
		}
	}
	return ""
}
