package reason_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/workload"

	"cli.holdfast.dev/holdfast/model/reason"
)

// TestSeveralPodSetsAreJudgedTogether holds the verdicts on several pod sets
// against Kueue's assigner told which flavor to try for which pod set: the
// assigner alone takes for each the first that fits, and only with the next try
// another one.
func TestSeveralPodSetsAreJudgedTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := clusters(t)
		k := kueueSide{c, configapi.QuotaCheckBlockUndeclared}
		w := c.pending(t, rapid.IntRange(2, 3).Draw(t, "pod sets"))
		// What is gone of a pod set that may start smaller Kueue counts again when it
		// tries smaller numbers.
		w.Status.ReclaimablePods = nil
		info := k.info(w)
		if k.asksUncovered(info) || k.stopsEarly(info) {
			t.Skip("judged elsewhere")
		}
		k.speaks(t, w, info)
		got := ours(t, c, w)
		pins := k.pins(w)
		// A flavor that is pinned behind one at which Kueue gives up is not reached.
		if len(pins) > 60 || strings.Contains(fmt.Sprint(w.Spec.PodSets), unreadable) {
			t.Skip("too many ways, or not all of them open")
		}
		if fits := k.anyWay(k.snapshot(t, nil), info, pins); got.NeverFits == nil || *got.NeverFits == fits {
			t.Errorf("never fits %s, says %q; that Kueue assigns some flavors when idle is %v", text(got.NeverFits), got.Sentence, fits)
		}
		free := got.Class == reason.QueueOrder && len(got.Shortfall) == 0
		if fits := k.anyWay(k.snapshot(t, c.holders), info, pins); free != fits {
			t.Errorf("%s %q with shortfall %v; that Kueue assigns some flavors is %v", got.Class, got.Sentence, got.Shortfall, fits)
		}
		if len(got.Shortfall) > 0 {
			snap := k.snapshot(t, c.holders)
			snap.ClusterQueue("q0").RemoveUsage(back(got.Shortfall))
			if !k.anyWay(snap, info, pins) {
				t.Errorf("%q: with %v given back Kueue assigns no flavors", got.Sentence, got.Shortfall)
			}
		}
	})
}

// pins lists every way to give each pod set one flavor of each group; those of
// one group of pod sets get the same.
func (k kueueSide) pins(w *kueue.Workload) []workload.PodSetResourcesToFlavors {
	out := []workload.PodSetResourcesToFlavors{{}}
	together := false
	for _, ps := range w.Spec.PodSets {
		grouped := ps.TopologyRequest != nil
		follows := grouped && together
		together = together || grouped
		for _, g := range k.c.groups {
			var next []workload.PodSetResourcesToFlavors
			for _, pin := range out {
				for _, f := range g.flavors {
					x, of := maps.Clone(pin), workload.ResourceToFlavor{}
					maps.Copy(of, pin[ps.Name])
					for _, r := range g.resources {
						of[r] = kueue.ResourceFlavorReference(f)
					}
					x[ps.Name] = of
					next = append(next, x)
					if follows {
						break
					}
				}
			}
			out = next
		}
	}
	// Those that follow take the first one's flavors.
	for _, pin := range out {
		var first workload.ResourceToFlavor
		for _, ps := range w.Spec.PodSets {
			switch {
			case ps.TopologyRequest == nil:
			case first == nil:
				first = pin[ps.Name]
			default:
				pin[ps.Name] = first
			}
		}
	}
	return out
}

func (k kueueSide) anyWay(snap *schdcache.Snapshot, info *workload.Info, pins []workload.PodSetResourcesToFlavors) bool {
	defer func() { info.NominationMapping = nil }()
	return slices.ContainsFunc(pins, func(pin workload.PodSetResourcesToFlavors) bool {
		info.NominationMapping = pin
		a := k.assign(snap, info)
		return a.RepresentativeMode() == flavorassigner.Fit
	})
}

// back is the use that is missing.
func back(missing []reason.Shortfall) workload.Usage {
	out := workload.Usage{Quota: resources.FlavorResourceQuantities{}}
	for _, s := range missing {
		out.Quota[resources.FlavorResource{Flavor: kueue.ResourceFlavorReference(s.Flavor), Resource: corev1.ResourceName(s.Resource)}] = resources.NewAmount(int64(s.Missing))
	}
	return out
}
