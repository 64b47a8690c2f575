package reason_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// The labels that flavors and pods speak of. No flavor has "rack": it is the
// nodes' business.
var labelValues = map[string][]string{"zone": {"a", "b"}, "tier": {"1", "5"}, "rack": {"r1", "r2"}}

// unreadable is no number, where a number must stand.
const unreadable = "three"

var taintKeys = []string{"spot", "owner"}

func flavor(t *rapid.T, name string) *kueue.ResourceFlavor {
	f := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	for _, k := range []string{"zone", "tier"} {
		if one(t, 3, "has label "+k) {
			if f.Spec.NodeLabels == nil {
				f.Spec.NodeLabels = map[string]string{}
			}
			f.Spec.NodeLabels[k] = rapid.SampledFrom(labelValues[k]).Draw(t, k)
		}
	}
	for _, k := range taintKeys {
		if one(t, 4, "tainted "+k) {
			f.Spec.NodeTaints = append(f.Spec.NodeTaints, corev1.Taint{
				Key: k, Value: rapid.SampledFrom([]string{"", "yes"}).Draw(t, "value"),
				Effect: rapid.SampledFrom([]corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule}).Draw(t, "effect"),
			})
		}
	}
	if one(t, 6, "tolerates itself") {
		f.Spec.Tolerations = []corev1.Toleration{toleration(t)}
	}
	return f
}

func toleration(t *rapid.T) corev1.Toleration {
	out := corev1.Toleration{
		Key:    rapid.SampledFrom(append([]string{""}, taintKeys...)).Draw(t, "tolerated"),
		Effect: rapid.SampledFrom([]corev1.TaintEffect{"", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute}).Draw(t, "tolerated effect"),
	}
	if out.Key == "" || one(t, 2, "whatever the value") {
		out.Operator = corev1.TolerationOpExists
	} else {
		out.Operator, out.Value = corev1.TolerationOpEqual, "yes"
	}
	return out
}

func requirement(t *rapid.T) corev1.NodeSelectorRequirement {
	k := rapid.SampledFrom([]string{"zone", "tier", "rack"}).Draw(t, "key")
	out := corev1.NodeSelectorRequirement{Key: k}
	value := rapid.SampledFrom(labelValues[k])
	switch op := rapid.SampledFrom([]corev1.NodeSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}).Draw(t, "operator"); op {
	case "Gt", "Lt":
		// The API server takes what is no number, and Kueue then gives the pod set up.
		out.Key, out.Operator, out.Values = "tier", op, []string{rapid.SampledFrom([]string{"3", "3", "3", unreadable}).Draw(t, "bound")}
	case "In", "NotIn":
		out.Operator, out.Values = op, []string{value.Draw(t, "value")}
	default:
		out.Operator = op
	}
	return out
}

// placement draws where the pods may go.
func placement(t *rapid.T, spec *corev1.PodSpec) {
	for _, k := range []string{"zone", "rack"} {
		if one(t, 4, "selects "+k) {
			if spec.NodeSelector == nil {
				spec.NodeSelector = map[string]string{}
			}
			spec.NodeSelector[k] = rapid.SampledFrom(labelValues[k]).Draw(t, k)
		}
	}
	for one(t, 3, "tolerates") {
		spec.Tolerations = append(spec.Tolerations, toleration(t))
	}
	if !one(t, 3, "affinity") {
		return
	}
	term := rapid.Custom(func(t *rapid.T) corev1.NodeSelectorTerm {
		out := corev1.NodeSelectorTerm{MatchExpressions: rapid.SliceOfN(rapid.Custom(requirement), 0, 2).Draw(t, "expressions")}
		if one(t, 6, "fields") {
			out.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"n1"}}}
		}
		return out
	})
	spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: rapid.SliceOfN(term, 1, 2).Draw(t, "terms")},
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: corev1.NodeSelectorTerm{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: "In", Values: []string{"nowhere"}}},
		}}},
	}}
}

func (c *cluster) container(t *rapid.T) corev1.Container {
	var names []corev1.ResourceName
	for _, g := range c.groups {
		for _, r := range g.resources {
			if r != corev1.ResourcePods {
				names = append(names, r)
			}
		}
	}
	out := corev1.Container{Name: "c", Resources: corev1.ResourceRequirements{Requests: some(t, 2, names...)}}
	if one(t, 3, "limits") {
		out.Resources.Limits = some(t, 2, names...)
	}
	return out
}

// pending draws a Workload that waits in LocalQueue lq of q0. Mostly small, so
// that all outcomes are met.
func (c *cluster) pending(t *rapid.T, podSets int) *kueue.Workload {
	w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: "ns", UID: "w"}}
	w.Spec.QueueName = "lq"
	for i := range podSets {
		ps := kueue.PodSet{Name: kueue.NewPodSetReference(fmt.Sprint("ps", i)), Count: rapid.SampledFrom([]int32{1, 1, 1, 2, 3, 4, 0}).Draw(t, "count")}
		if ps.Count > 1 && one(t, 4, "partial") {
			ps.MinCount = ptr.To(rapid.Int32Range(1, ps.Count).Draw(t, "at least"))
		}
		spec := &ps.Template.Spec
		spec.Containers = []corev1.Container{c.container(t)}
		if one(t, 3, "two containers") {
			spec.Containers = append(spec.Containers, c.container(t))
		}
		if one(t, 4, "init container") {
			init := c.container(t)
			if one(t, 2, "sidecar") {
				init.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
			}
			spec.InitContainers = append(spec.InitContainers, init)
		}
		if c.class != nil && one(t, 2, "in the class") {
			spec.RuntimeClassName = ptr.To(kata)
		}
		if one(t, 8, "uncovered") {
			spec.Containers[0].Resources.Requests[uncovered] = amount(t, asked, uncovered)
		}
		if one(t, 8, "in a group") {
			ps.TopologyRequest = &kueue.PodSetTopologyRequest{PodSetGroupName: ptr.To("together")}
		}
		placement(t, spec)
		w.Spec.PodSets = append(w.Spec.PodSets, ps)
		if done := rapid.SampledFrom([]int32{0, 0, 0, 1, 2}).Draw(t, "done"); done > 0 && done <= ps.Count {
			w.Status.ReclaimablePods = append(w.Status.ReclaimablePods, kueue.ReclaimablePod{Name: ps.Name, Count: done})
		}
	}
	return w
}
