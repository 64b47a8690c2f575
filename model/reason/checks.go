package reason

import (
	"fmt"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// reserving explains a Workload that holds quota and waits for its checks.
func reserving(s *store.Snapshot, w *world.Workload, now time.Time) Explanation {
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
			e.Advice = AdviceEscalate
		}
	}
	switch {
	case len(waiting) == 0:
		e.Class, e.Actor = QueueOrder, ""
		e.Sentence = "Quota is reserved; Kueue has yet to admit it."
	case e.Advice == AdviceEscalate:
		e.Sentence = fmt.Sprintf("Quota is reserved, but %s: %s.", noun("admission check", waiting), e.Obstacles[0].Detail)
	default:
		c, _ := w.Conditions.Get(world.CondQuotaReserved)
		e.Sentence = fmt.Sprintf("Quota has been reserved for %s; waits for %s.", short(now.Sub(c.At)), noun("admission check", waiting))
	}
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
			o.Kind, o.Detail = ObstacleCheckInactive, fmt.Sprintf("the AdmissionCheck %s is not active (controller %s), nobody will answer", c.Name, obj.Controller)
			return o, true
		}
	}
	o.Kind = ObstacleCheckPending
	o.Detail = strings.ToLower(c.State) + " for " + short(now.Sub(c.At))
	if c.Message != "" {
		o.Detail += ": " + strings.TrimSuffix(c.Message, ".")
	}
	return o, false
}
