package reason

import (
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// refusal is why a flavor cannot take a pod set whatever the quota.
type refusal struct {
	flavor string
	kind   ObstacleKind // ObstacleFlavorMismatch, ObstacleFlavorMissing or ObstacleTopology
	why    string
	// told is set where only Kueue's message says so.
	told bool
	// gaveUp is set where Kueue looks at no flavor after this one: it cannot read
	// what the pods want.
	gaveUp bool
}

// refuse says why the flavor, one of the group's, cannot take the pod set; an empty
// kind means that it can. The order and the rules are those of Kueue's
// pkg/scheduler/flavorassigner (checkFlavorForPodSets), its words too. known is
// false where the flavor or the pod template cannot be seen.
func (x *Explainer) refuse(q *world.ClusterQueue, namespace string, g world.ResourceGroup, ps *world.PodSet, name string) (r refusal, known bool) {
	if ps.Shape == "" || !x.s.Fresh(world.KindResourceFlavor).Usable() {
		return refusal{}, false
	}
	f := x.s.Flavor(name)
	if f == nil {
		return refusal{flavor: name, kind: ObstacleFlavorMissing, why: fmt.Sprintf("flavor %s not found", name)}, true
	}
	if why := x.topologyRefuses(q, namespace, g, ps, f); why != "" {
		return refusal{flavor: name, kind: ObstacleTopology, why: why}, true
	}
	k := match{flavor: name, shape: ps.Shape}
	r, done := x.matches[k]
	if !done {
		r = x.placementRefuses(ps.Shape, f)
		x.matches[k] = r
	}
	return r, true
}

// match is a question that many pod sets ask alike.
type match struct{ flavor, shape string }

func (x *Explainer) placementRefuses(shape string, f *world.Flavor) refusal {
	spec, ok := x.specs[shape]
	if !ok {
		read, err := project.PodSpec(shape)
		if err == nil {
			spec = &read
		}
		x.specs[shape] = spec
	}
	if spec == nil {
		return refusal{}
	}
	no := refusal{flavor: f.Name, kind: ObstacleFlavorMismatch}
	if t, bad := untolerated(f.NodeTaints, append(append([]corev1.Toleration(nil), spec.Tolerations...), f.Tolerations...)); bad {
		no.why = fmt.Sprintf("untolerated taint %s in flavor %s", t, f.Name)
		return no
	}
	ok, err := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: relevant(spec, f.NodeLabels)}).Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: f.NodeLabels}})
	switch {
	case err != nil:
		no.why, no.gaveUp = "its node affinity cannot be read: "+text.Clean(err.Error()), true
	case !ok:
		no.why = fmt.Sprintf("flavor %s doesn't match node affinity", f.Name)
	default:
		return refusal{}
	}
	return no
}

// untolerated returns the first of the taints that keeps pods with the tolerations
// away, and whether there is one. A taint that only prefers others keeps nobody away.
func untolerated(all []world.Taint, by []corev1.Toleration) (world.Taint, bool) {
	taints := make([]corev1.Taint, 0, len(all))
	for _, t := range all {
		taints = append(taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	keeps := func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}
	t, bad := corev1helpers.FindMatchingUntoleratedTaint(logr.Discard(), taints, by, keeps, true)
	return world.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)}, bad
}

// MustTolerate lists the taints of the flavor that pods must tolerate themselves to
// get it: those that the flavor adds no toleration for.
func MustTolerate(f *world.Flavor) []world.Taint {
	return slices.DeleteFunc(slices.Clone(f.NodeTaints), func(t world.Taint) bool {
		_, bad := untolerated([]world.Taint{t}, f.Tolerations)
		return !bad
	})
}

// relevant keeps of a pod's node selector and affinity what speaks of the labels
// that the flavor sets; other keys are the nodes' business. Terms are
// alternatives, so one that is left with nothing makes all of them match
// (Kueue's flavorSelector).
func relevant(spec *corev1.PodSpec, labels map[string]string) corev1.PodSpec {
	var out corev1.PodSpec
	for k, v := range spec.NodeSelector {
		if _, ok := labels[k]; ok {
			if out.NodeSelector == nil {
				out.NodeSelector = map[string]string{}
			}
			out.NodeSelector[k] = v
		}
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return out
	}
	var terms []corev1.NodeSelectorTerm
	for _, t := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		var left []corev1.NodeSelectorRequirement
		for _, e := range t.MatchExpressions {
			if _, ok := labels[e.Key]; ok {
				left = append(left, e)
			}
		}
		if len(left) == 0 {
			return out
		}
		terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: left})
	}
	if len(terms) > 0 {
		out.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
	}
	return out
}

// topologyRefuses holds the pod set's wish for a topology against the flavor's
// (Kueue's checkPodSetAndFlavorMatchForTAS).
func (x *Explainer) topologyRefuses(q *world.ClusterQueue, namespace string, g world.ResourceGroup, ps *world.PodSet, f *world.Flavor) string {
	asked := wantsPlace(ps)
	switch {
	case !asked && f.Topology != "" && !x.topologyOnly(q):
		return fmt.Sprintf("Flavor %q supports only TopologyAwareScheduling", f.Name)
	case !asked:
		return ""
	case f.Topology == "":
		// Kueue looks at the template: what transformations make of it may come from
		// a flavor without a topology.
		template := *ps
		template.Exact = false
		n := x.requests.Of(namespace, &template)
		if !slices.ContainsFunc(n.PerPod, func(r world.Request) bool { return slices.Contains(g.Resources, r.Resource) }) {
			return ""
		}
		return fmt.Sprintf("Flavor %q does not support TopologyAwareScheduling", f.Name)
	}
	t := x.s.Topology(f.Topology)
	lacks := func(level string) bool { return level != "" && t != nil && !slices.Contains(t.Levels, level) }
	if ps.Topology.Mode == world.NoLevel || lacks(ps.Topology.Level) || slices.ContainsFunc(ps.Topology.Slices, lacks) {
		return fmt.Sprintf("Flavor %q does not contain the requested level", f.Name)
	}
	return ""
}

// wantsPlace reports whether the pod set asks for a place in a topology (Kueue's
// IsExplicitlyRequestingTAS).
func wantsPlace(ps *world.PodSet) bool { return ps.Topology != nil && ps.Topology.Mode != "" }

// topologyOnly reports whether every flavor of the queue has a topology: then
// each of its Workloads is placed by one, asked for or not.
func (x *Explainer) topologyOnly(q *world.ClusterQueue) bool {
	for _, name := range q.Flavors() {
		if f := x.s.Flavor(name); f == nil || f.Topology == "" {
			return false
		}
	}
	return true
}
