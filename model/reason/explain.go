package reason

import (
	"fmt"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Who can act, as they are named on the screen.
const (
	jobOwner   = "job owner"
	queueAdmin = "platform admin"
	checkOwner = "owner of the admission check"
	holder     = "whoever holds the queue"
)

// Explain says why w stands where it stands. now is the clock's time; s must be
// the snapshot that w comes from. It does not block.
func Explain(s *store.Snapshot, w *world.Workload, now time.Time) Explanation {
	e := explain(s, w, now)
	if c, ok := w.Conditions.Get(world.CondQuotaReserved); ok && c.Status != "True" {
		e.Reason, e.Message = c.Reason, c.Message
	}
	switch w.State {
	case world.Evicting:
		c, _ := w.Conditions.Get(world.CondEvicted)
		e.Reason, e.Message = c.Reason, c.Message
	case world.Finished:
		c, _ := w.Conditions.Get(world.CondFinished)
		e.Reason, e.Message = c.Reason, c.Message
	case world.Deactivated:
		if c, ok := w.Conditions.Get(world.CondEvicted); ok {
			e.Reason, e.Message = c.Reason, c.Message
		}
	}
	return e
}

func explain(s *store.Snapshot, w *world.Workload, now time.Time) Explanation {
	switch w.State {
	case world.Finished:
		c, _ := w.Conditions.Get(world.CondFinished)
		return Explanation{Class: OK, Advice: AdviceNone, Sentence: "Finished: " + words(c.Reason, c.Message) + "."}
	case world.Deactivated:
		return deactivated(w)
	case world.Evicting:
		return evicting(w, now)
	case world.Admitted:
		return admitted(w)
	case world.Reserving:
		return reserving(s, w, now)
	}
	return pending(s, w, now)
}

func deactivated(w *world.Workload) Explanation {
	e := Explanation{
		Class: Deactivated, Advice: AdviceChange, Actor: jobOwner,
		Sentence:  "Deactivated (spec.active is false): nobody tries it again until it is set to true.",
		Obstacles: []Obstacle{{Kind: ObstacleDeactivated, Object: w.Ref().String(), Detail: "spec.active is false"}},
	}
	c, ok := w.Conditions.Get(world.CondEvicted)
	if cause, due := strings.CutPrefix(c.Reason, "DeactivatedDueTo"); ok && due {
		e.Sentence = fmt.Sprintf("Deactivated by Kueue because of %s: fix that, then set spec.active to true.", cause)
	}
	return e
}

// overdue is how long an eviction or retry may take before somebody should look.
const overdue = 5 * time.Minute

func evicting(w *world.Workload, now time.Time) Explanation {
	c, _ := w.Conditions.Get(world.CondEvicted)
	e := Explanation{Class: evictionClass(c.Reason), Advice: AdviceWait}
	age := now.Sub(c.At)
	e.Sentence = fmt.Sprintf("Being evicted (%s) for %s: its pods have not ended, the quota is still taken.", c.Reason, short(age))
	if age > overdue {
		e.Advice, e.Actor = AdviceEscalate, jobOwner
		e.Sentence = fmt.Sprintf("Eviction (%s) has not ended for %s: the job still has active pods and holds its quota.", c.Reason, short(age))
	}
	return e
}

func evictionClass(reason string) Class {
	switch reason {
	case "Preempted", "FlavorMigration":
		return Preempted
	case "PodsReadyTimeout":
		return PodsNotReady
	case "AdmissionCheck":
		return AdmissionCheck
	case "ClusterQueueStopped", "LocalQueueStopped":
		return Held
	case "NodeFailures":
		return NodeFailure
	}
	if strings.HasPrefix(reason, "Deactivated") {
		return Deactivated
	}
	return Unclear
}

func admitted(w *world.Workload) Explanation {
	if len(w.UnhealthyNodes) > 0 {
		return Explanation{
			Class: NodeFailure, Advice: AdviceWait, Actor: "infrastructure",
			Sentence: "Admitted; Kueue is replacing failed nodes: " + strings.Join(w.UnhealthyNodes, ", ") + ".",
		}
	}
	c, ok := w.Conditions.Get(world.CondPodsReady)
	switch {
	case !ok:
		return Explanation{Class: OK, Advice: AdviceNone, Sentence: "Admitted; whether its pods run is not known."}
	case c.Status == "True":
		return Explanation{Class: OK, Advice: AdviceNone, Sentence: "Admitted, and its pods are ready."}
	}
	return Explanation{
		Class: PodsNotReady, Advice: AdviceWait, Actor: jobOwner,
		Sentence: "Admitted, but its pods are not ready: " + words(c.Reason, c.Message) + ".",
	}
}

// words prefers a message over a reason and takes the full stop away.
func words(reason, message string) string {
	if message != "" {
		return strings.TrimSuffix(message, ".")
	}
	if reason != "" {
		return reason
	}
	return "no reason given"
}

// short writes a duration as a person says it: 45s, 12m, 3h, 5d.
func short(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
