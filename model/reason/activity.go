package reason

import (
	"fmt"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Activity is whether Kueue admits new Workloads through a queue.
type Activity struct {
	// Active is what the scheduler does, not what a status says; nil: not known.
	Active *bool
	// Causes are Kueue's reasons, every one that holds, in Kueue's order; empty
	// where it is active or nothing is known.
	Causes []string
	// Unknown says why Active is nil.
	Unknown string
}

// ActivityOf judges a ClusterQueue by the objects that it names. Kueue's
// condition, which gives the first cause only and may be old, speaks of what
// cannot be computed.
func ActivityOf(s *store.Snapshot, q *world.ClusterQueue) Activity {
	var a Activity
	add := func(cause string) {
		if !slices.Contains(a.Causes, cause) {
			a.Causes = append(a.Causes, cause)
		}
	}
	cond, ok := q.Conditions.Get(world.CondActive)
	current := ok && (cond.ObservedGeneration == 0 || cond.ObservedGeneration >= q.Generation)
	if q.Deleting {
		add("Terminating")
	}
	if q.StopPolicy.Stopped() {
		add("Stopped")
	}
	flavors, checks := s.Fresh(world.KindResourceFlavor).Usable(), s.Fresh(world.KindAdmissionCheck).Usable()
	if flavors && slices.ContainsFunc(q.Flavors(), func(f string) bool { return s.Flavor(f) == nil }) {
		add("FlavorNotFound")
	}
	if checks {
		for _, r := range q.Checks {
			if s.Check(r.Name) == nil {
				add("AdmissionCheckNotFound")
			}
		}
		for _, r := range q.Checks {
			if c := s.Check(r.Name); c != nil && !c.Conditions.True(world.CondActive) {
				add("AdmissionCheckInactive")
			}
		}
		for _, m := range misuses(s, q) {
			add(m.cause)
		}
	}
	if len(MissingTopologies(s, q)) > 0 {
		add("TopologyNotFound")
	}
	if n := s.Tree.ClusterQueue(q.Name); n != nil && n.Cycle != nil {
		add("CohortCycle")
	}
	if current && cond.Status == "False" && !computed(cond.Reason, flavors, checks) {
		add(cond.Reason)
	}
	switch {
	case len(a.Causes) > 0:
		a.Active = no()
	case flavors && (checks || len(q.Checks) == 0) && topologiesKnown(s, q) && (q.Cohort == "" || s.Fresh(world.KindCohort).Usable()), current && cond.Status == "True":
		a.Active = yes()
	case !current:
		a.Unknown = "Kueue has not said anything of its present spec, and not all that it names can be read"
	default:
		a.Unknown = "what it names cannot be read, and Kueue's condition is " + cond.Status
	}
	return a
}

// computed tells whether a reason of Kueue's is one that the objects answer.
func computed(reason string, flavors, checks bool) bool {
	switch reason {
	case "Stopped", "Terminating", "CohortCycleDetected":
		return true
	case "FlavorNotFound":
		return flavors
	case "AdmissionCheckNotFound", "AdmissionCheckInactive",
		kueue.ClusterQueueActiveReasonMultipleMultiKueueAdmissionChecks, kueue.ClusterQueueActiveReasonMultiKueueAdmissionCheckAppliedPerFlavor, kueue.ClusterQueueActiveReasonMultiKueueWithProvisioningRequest:
		return checks
	}
	return false
}

// MissingTopologies are the flavors of the queue whose Topology does not exist.
// Where Kueue says of the present spec that the queue is active it does not look
// at topologies, and neither is anything missing.
func MissingTopologies(s *store.Snapshot, q *world.ClusterQueue) []*world.Flavor {
	if !s.Fresh(world.KindTopology).Usable() || runsElsewhere(s, q) {
		return nil
	}
	if c, ok := q.Conditions.Get(world.CondActive); ok && c.Status == "True" && c.ObservedGeneration >= q.Generation {
		return nil
	}
	var out []*world.Flavor
	for _, name := range q.Flavors() {
		if f := s.Flavor(name); f != nil && f.Topology != "" && s.Topology(f.Topology) == nil {
			out = append(out, f)
		}
	}
	return out
}

// topologiesKnown reports whether the topologies that the queue's flavors name, if
// any, can be looked at.
func topologiesKnown(s *store.Snapshot, q *world.ClusterQueue) bool {
	return s.Fresh(world.KindTopology).Usable() || !slices.ContainsFunc(q.Flavors(), func(name string) bool {
		f := s.Flavor(name)
		return f != nil && f.Topology != ""
	})
}

// LocalActivityOf judges a LocalQueue by its own stop policy and its ClusterQueue.
func LocalActivityOf(s *store.Snapshot, q *world.LocalQueue) Activity {
	var a Activity
	if q.StopPolicy.Stopped() {
		a.Causes = append(a.Causes, "Stopped")
	}
	cq := s.ClusterQueue(q.ClusterQueue)
	switch {
	case cq == nil && s.Fresh(world.KindClusterQueue).Usable():
		a.Causes = append(a.Causes, "ClusterQueueDoesNotExist")
	case cq == nil:
		return ownWord(a, q)
	default:
		of := ActivityOf(s, cq)
		switch {
		case of.Active == nil:
			a.Unknown = of.Unknown
		case !*of.Active:
			a.Causes = append(a.Causes, "ClusterQueueIsInactive")
		default:
			a.Active = yes()
		}
	}
	if len(a.Causes) > 0 {
		a.Active, a.Unknown = no(), ""
	}
	return a
}

// ownWord is what the LocalQueue's status says, for readers who may not see its
// ClusterQueue.
func ownWord(a Activity, q *world.LocalQueue) Activity {
	if len(a.Causes) > 0 {
		a.Active = no()
		return a
	}
	c, ok := q.Conditions.Get(world.CondActive)
	switch {
	case !ok || c.ObservedGeneration != 0 && c.ObservedGeneration < q.Generation:
		a.Unknown = fmt.Sprintf("ClusterQueue %s cannot be read, and Kueue has said nothing of this LocalQueue's present spec", q.ClusterQueue)
	case c.Status == "True":
		a.Active = yes()
	default:
		a.Active = no()
		a.Causes = append(a.Causes, c.Reason)
	}
	return a
}
