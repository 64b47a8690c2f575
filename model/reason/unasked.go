package reason

import (
	corev1 "k8s.io/api/core/v1"

	"cli.holdfast.dev/holdfast/model/world"
)

// Unasked names the pod sets that ask for no cpu or memory though their
// ClusterQueue has quota for it, or for nothing at all that it has quota for:
// what they use is counted nowhere. The keys are pod sets, the values resources.
func (x *Explainer) Unasked(w *world.Workload) map[string][]string {
	name, ok := x.s.QueueOf(w)
	q := x.s.ClusterQueue(name)
	if !ok || q == nil || w.State == world.Finished {
		return nil
	}
	out := map[string][]string{}
	for i := range w.PodSets {
		ps := &w.PodSets[i]
		n := x.requests.Of(w.Namespace, ps)
		if n.Pods == 0 || n.Unknown != "" {
			continue
		}
		var nothing []string
		asks := false
		for _, g := range q.Groups {
			for _, r := range g.Resources {
				switch {
				case n.Of(r) > 0:
					asks = asks || r != string(corev1.ResourcePods)
				case r == world.CPU || r == string(corev1.ResourceMemory):
					nothing = append(nothing, r)
				}
			}
		}
		if !asks || len(nothing) > 0 {
			out[ps.Name] = nothing
		}
	}
	return out
}
