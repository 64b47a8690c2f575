package reason

import (
	"fmt"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// reserving explains a Workload that holds quota and waits for its checks.
func (x *Explainer) reserving(w *world.Workload) Explanation {
	if c, ok := w.Conditions.Get("DeactivationTarget"); ok && c.Status == "True" {
		return beingDeactivated(w, c)
	}
	s, now := x.s, x.now
	e := Explanation{Class: AdmissionCheck, Advice: AdviceWait, Actor: checkOwner}
	var waiting []string
	for _, c := range w.Checks {
		o, silent := checkObstacle(s, c, now)
		if o.Kind == "" {
			continue
		}
		e.Obstacles = append(e.Obstacles, o)
		waiting = append(waiting, c.Name)
		if silent {
			e.Advice, e.Stuck = AdviceEscalate, true
		}
	}
	admitted, _ := w.Conditions.Get(world.CondAdmitted)
	switch {
	case len(waiting) == 0 && admitted.Reason == "PendingDelayedTopologyRequests":
		e.Class, e.Actor = Topology, ""
		e.Sentence = "Quota is reserved; Kueue has yet to place its pods in the topology."
	case len(waiting) == 0:
		e.Class, e.Actor = QueueOrder, ""
		e.Sentence = "Quota is reserved; Kueue has yet to admit it."
	case e.Advice == AdviceEscalate:
		e.Sentence = "Quota is reserved, but " + silentWords(e.Obstacles) + "."
	default:
		c, _ := w.Conditions.Get(world.CondQuotaReserved)
		e.Sentence = fmt.Sprintf("Quota has been reserved for %s; waits for %s.", since(now, c.At), noun("admission check", waiting))
	}
	return e
}

// silentWords speaks of the checks that nobody will answer.
func silentWords(obstacles []Obstacle) string {
	var out []string
	for _, o := range obstacles {
		if o.Kind == ObstacleCheckMissing || o.Kind == ObstacleCheckInactive {
			out = append(out, o.Detail)
		}
	}
	return strings.Join(out, "; ")
}

// beingDeactivated explains a Workload that Kueue is about to give up.
func beingDeactivated(w *world.Workload, c world.Condition) Explanation {
	e := Explanation{Class: Deactivated, Advice: AdviceChange, Actor: jobOwner}
	for _, k := range w.Checks {
		if k.State == "Rejected" {
			e.Class, e.Actor = AdmissionCheck, checkOwner
			e.Sentence = fmt.Sprintf("Admission check %s rejected it: %s. Kueue is deactivating it: settle that, then set spec.active to true.", k.Name, words("", k.Message))
			e.Obstacles = append(e.Obstacles, Obstacle{ObstacleCheckRejected, "AdmissionCheck/" + k.Name, words("", k.Message)})
		}
	}
	if e.Sentence == "" {
		e.Sentence = fmt.Sprintf("Kueue is deactivating it: %s. Fix that, then set spec.active to true.", words(c.Reason, c.Message))
	}
	e.Obstacles = append(e.Obstacles, Obstacle{ObstacleDeactivated, w.Ref().String(), "about to be deactivated: " + words(c.Reason, c.Message)})
	return e
}

func noun(one string, names []string) string {
	if len(names) == 1 {
		return one + " " + names[0]
	}
	return one + "s " + strings.Join(names, ", ")
}

// checkObstacle says what is wrong with a check of a Workload; an obstacle
// without a kind means nothing. silent is set when nobody will answer.
func checkObstacle(s *store.Snapshot, c world.CheckState, now time.Time) (o Obstacle, silent bool) {
	o.Object = "AdmissionCheck/" + c.Name
	switch c.State {
	case "Ready":
		return Obstacle{}, false
	case "Rejected":
		o.Kind, o.Detail = ObstacleCheckRejected, "rejected: "+words("", c.Message)
		return o, false
	}
	if s.Fresh(world.KindAdmissionCheck).Usable() {
		obj := s.Check(c.Name)
		if obj == nil {
			o.Kind, o.Detail = ObstacleCheckMissing, "the AdmissionCheck "+c.Name+" does not exist, nobody will answer"
			return o, true
		}
		if !obj.Conditions.True(world.CondActive) {
			o.Kind, o.Detail = ObstacleCheckInactive, fmt.Sprintf("the AdmissionCheck %s has been %s for %s and is not active (controller %s): nobody will answer", c.Name, strings.ToLower(c.State), since(now, c.At), obj.Controller)
			return o, true
		}
	}
	o.Kind = ObstacleCheckPending
	o.Detail = strings.ToLower(c.State) + " for " + since(now, c.At)
	if !s.Fresh(world.KindAdmissionCheck).Usable() {
		o.Detail += " (AdmissionChecks cannot be read: whether anybody answers is not known)"
	}
	if c.Message != "" {
		o.Detail += ": " + strings.TrimSuffix(c.Message, ".")
	}
	return o, false
}
