package impact

import (
	"strings"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// clean makes text that came through Kueue's code safe to draw.
func clean(s string) string { return text.Clean(s) }

// deactivation reports whether the reason of an eviction is that the Workload is
// given up.
func deactivation(reason string) bool { return strings.HasPrefix(reason, "Deactivated") }

// words is the reason of an eviction as a person says it. What Kueue's words for
// the loss of a reservation are about, its message tells
// (pkg/controller/core/workload_controller.go, reconcileOnClusterQueueActiveState
// and reconcileOnLocalQueueActiveState).
func (c *composer) words(e *engine.Eviction, w *world.Workload) string {
	queue, _ := c.st.from.QueueOf(w)
	local := w.Namespace + "/" + w.LocalQueue
	switch e.Reason {
	case "ClusterQueueStopped":
		return "ClusterQueue " + queue + " is drained"
	case "LocalQueueStopped":
		return "LocalQueue " + local + " is drained"
	case "AdmissionCheck":
		return "an admission check asks for another try"
	case "PodsReadyTimeout":
		return "its pods were not ready in time"
	case "NodeFailures":
		return "nodes failed"
	case "Deactivated":
		return "it is deactivated"
	case "FlavorMigration":
		return "it moves to another flavor"
	}
	if cause, ok := strings.CutPrefix(e.Reason, "DeactivatedDueTo"); ok {
		return "Kueue deactivates it because of " + clean(cause)
	}
	switch m := clean(strings.TrimSuffix(e.Message, ".")); {
	case strings.HasPrefix(m, "ClusterQueue ") && strings.HasSuffix(m, " is stopped"):
		return "ClusterQueue " + queue + " is held: its reservation is taken back"
	case strings.HasPrefix(m, "LocalQueue ") && strings.HasSuffix(m, " is stopped"):
		return "LocalQueue " + local + " is held: its reservation is taken back"
	case m != "":
		return "its reservation is taken back: " + m
	}
	return clean(e.Reason)
}
