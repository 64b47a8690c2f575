package reason

import (
	"fmt"
	"strings"

	"cli.holdfast.dev/holdfast/model/world"
)

// special explains what neither waiting in the queue nor quota decides.
func (x *Explainer) special(w *world.Workload, c world.Condition) (Explanation, bool) {
	m := c.Message
	switch {
	case webhookText.MatchString(m):
		return Explanation{
			Class: Webhook, Advice: AdviceEscalate, Actor: queueAdmin, Sentence: "A webhook stands in the way: " + words("", m) + ".",
			Obstacles: []Obstacle{{ObstacleWebhook, w.Ref().String(), words("", m)}},
		}, true
	case strings.Contains(strings.ToLower(m), "namespace doesn't match clusterqueue selector"):
		return x.otherNamespace(w, c), true
	case strings.Contains(m, "resources validation failed"), strings.Contains(m, "didn't satisfy LimitRange"):
		return Explanation{
			Class: Misconfigured, Advice: AdviceChange, Actor: jobOwner, Sentence: "The job's resources are not valid: " + words("", m) + ".",
			Obstacles: []Obstacle{{Kind: ObstacleJobSpec, Object: w.Ref().String(), Detail: m}},
		}, true
	case c.Reason == "Misconfigured" && !queueText.MatchString(m):
		return Explanation{
			Class: Misconfigured, Advice: AdviceChange, Actor: jobOwner + " or " + queueAdmin, Sentence: "Misconfigured, says Kueue: " + words("", m) + ".",
			Obstacles: []Obstacle{{Kind: ObstacleJobSpec, Object: w.Ref().String(), Detail: words("", m)}},
		}, true
	case c.Reason == "Waiting", c.Reason == "WaitingForPodsReady", strings.Contains(m, "waiting for all admitted workloads to be in PodsReady"):
		return Explanation{
			Class: PodsNotReady, Advice: AdviceWait, Actor: "owners of the jobs whose pods are not ready",
			Sentence: fmt.Sprintf("For %s Kueue has admitted nothing until the pods of all admitted Workloads are ready; escalate if they never are.", since(x.now, c.At)),
		}, true
	case c.Reason == "OnHold":
		return Explanation{
			Class: Gated, Advice: AdviceChange, Actor: jobOwner, Sentence: "On hold by its own job: " + words("", m) + ".",
			Obstacles: []Obstacle{{ObstacleGate, w.Ref().String(), words("", m)}},
		}, true
	case c.Reason == "AdmissionGated" && w.GatedBy == "":
		return Explanation{Class: Unclear, Advice: AdviceWait, Sentence: "Its gate was cleared; Kueue has yet to look at it again."}, true
	case strings.HasPrefix(m, "Failed to admit workload"):
		return Explanation{Class: Unclear, Advice: AdviceEscalate, Actor: queueAdmin, Sentence: "Kueue tried to admit it and failed: " + words("", m) + "."}, true
	}
	return Explanation{}, false
}

// otherNamespace explains Kueue's word that the queue does not admit the
// namespace, where nothing was found that keeps the namespace out.
func (x *Explainer) otherNamespace(w *world.Workload, c world.Condition) Explanation {
	name, _ := x.s.QueueOf(w)
	if q := x.s.ClusterQueue(name); q != nil {
		if match, known := SelectorMatches(x.s, q, w.Namespace); match && known {
			e, ok := x.quotaOrFlavor(w, "")
			if ok && e.Class != QueueOrder {
				return e
			}
			return Explanation{
				Class: Unclear, Advice: AdviceWait, NeverFits: e.NeverFits,
				Sentence: fmt.Sprintf("Kueue said %s ago that the ClusterQueue does not admit this namespace; by its labels it does now.", since(x.now, c.At)),
			}
		}
	}
	return Explanation{Class: NamespaceSelector, Advice: AdviceChange, Actor: queueAdmin, Sentence: "Kueue says that the ClusterQueue does not admit this namespace."}
}
