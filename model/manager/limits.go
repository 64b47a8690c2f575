package manager

import (
	"fmt"
	"strings"

	"k8s.io/component-base/featuregate"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
)

// disableWaitForPodsReady is features.DisableWaitForPodsReady, which goes in 0.21.
const disableWaitForPodsReady featuregate.Feature = "DisableWaitForPodsReady"

func (s Settings) enabled(gate featuregate.Feature) bool { return s.gates().Enabled(gate) }

// Limits are sentences on what a preview with these settings does not simulate or
// cannot see, beside what Unknown says already. What of the configuration it does
// simulate (transformations, prefixes, how undeclared resources are checked, fair
// sharing) is not named. They end with the version where the cluster's is not the
// linked one.
func (s Settings) Limits(snap *store.Snapshot) []string {
	var out []string
	limit := func(format string, a ...any) { out = append(out, text.Clean(fmt.Sprintf(format, a...))) }
	g := s.gates()
	if s.Config.AdmissionFairSharing != nil && g.Enabled(features.AdmissionFairSharing) {
		limit("admissionFairSharing orders the Workloads of a ClusterQueue by what their LocalQueues used before: Kueue's manager remembers that, and no preview can see it")
	}
	if s.blocks() {
		limit("waitForPodsReady.blockAdmission: Kueue admits nobody while pods of an admitted Workload are not ready, and when pods get ready is not foreseen")
	}
	if r := s.Config.Resources; r != nil && len(r.DeviceClassMappings) > 0 && g.Enabled(features.KueueDRAIntegration) {
		var names []string
		for _, m := range r.DeviceClassMappings {
			names = append(names, string(m.Name))
		}
		limit("resources.deviceClassMappings: what Workloads claim of devices (%s) is not counted", strings.Join(names, ", "))
	}
	for _, c := range snap.Checks {
		if c.Controller == kueue.MultiKueueControllerName {
			limit("MultiKueue (%s): what the worker clusters do is not simulated", c.Ref())
			break
		}
	}
	for _, b := range beyond() {
		if g.Enabled(b.gate) {
			limit("feature gate %s: %s", b.gate, b.what)
		}
	}
	switch runs := snap.Contract.KueueVersion; {
	case runs == "":
		limit("which version of Kueue the cluster runs is not known: the preview is that of %s", Linked)
	case strings.TrimPrefix(runs, "v") != strings.TrimPrefix(Linked, "v"):
		limit("the cluster runs Kueue %s, whose rules and defaults may differ from those of %s in the preview", runs, Linked)
	}
	return out
}

// beyond lists the gates, all of them off by default, that bring in what only
// other controllers, libraries or clusters do.
func beyond() []struct {
	gate featuregate.Feature
	what string
} {
	return []struct {
		gate featuregate.Feature
		what string
	}{
		{features.ConcurrentAdmission, "the variants of a Workload are made by a controller that a preview does not run"},
		{features.SchedulerLibraryIntegration, "the scheduling of pods that Kueue simulates then is not part of a preview"},
		{features.MultiKueueOrchestratedPreemption, "the preemption gates of Workloads are opened from another cluster"},
	}
}
