package reason

import (
	"fmt"
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// misuse is a rule of MultiKueue that a ClusterQueue breaks: Kueue holds it for
// inactive.
type misuse struct{ cause, words string }

// misuses checks the rules in Kueue's order (pkg/cache/scheduler/clusterqueue.go,
// inactiveReason). AdmissionChecks must be readable.
func misuses(s *store.Snapshot, q *world.ClusterQueue) []misuse {
	var multi, perFlavor, provisioning []string
	for _, r := range q.Checks {
		c := s.Check(r.Name)
		switch {
		case c == nil:
		case c.Controller == kueue.ProvisioningRequestControllerName:
			provisioning = append(provisioning, r.Name)
		case c.Controller == kueue.MultiKueueControllerName:
			multi = append(multi, r.Name)
			if len(r.OnFlavors) > 0 && !onAll(r, q) {
				perFlavor = append(perFlavor, r.Name)
			}
		}
	}
	var out []misuse
	if len(multi) > 1 {
		out = append(out, misuse{kueue.ClusterQueueActiveReasonMultipleMultiKueueAdmissionChecks, "it may have one MultiKueue AdmissionCheck and has " + strings.Join(multi, ", ")})
	}
	if len(perFlavor) > 0 {
		out = append(out, misuse{kueue.ClusterQueueActiveReasonMultiKueueAdmissionCheckAppliedPerFlavor, "the MultiKueue AdmissionCheck " + strings.Join(perFlavor, ", ") + " must be for all flavors and is for some"})
	}
	if len(multi) > 0 && len(provisioning) > 0 {
		out = append(out, misuse{kueue.ClusterQueueActiveReasonMultiKueueWithProvisioningRequest, fmt.Sprintf("the MultiKueue AdmissionCheck %s and the ProvisioningRequest AdmissionCheck %s do not go together", strings.Join(multi, ", "), strings.Join(provisioning, ", "))})
	}
	return out
}

func onAll(r world.CheckRule, q *world.ClusterQueue) bool {
	all := q.Flavors()
	same := func(a, b []string) bool {
		return !slices.ContainsFunc(a, func(x string) bool { return !slices.Contains(b, x) })
	}
	return same(all, r.OnFlavors) && same(r.OnFlavors, all)
}

// runsElsewhere reports whether the queue hands its Workloads to other clusters:
// Kueue then looks at no topology here.
func runsElsewhere(s *store.Snapshot, q *world.ClusterQueue) bool {
	return slices.ContainsFunc(q.Checks, func(r world.CheckRule) bool {
		c := s.Check(r.Name)
		return c != nil && c.Controller == kueue.MultiKueueControllerName
	})
}
