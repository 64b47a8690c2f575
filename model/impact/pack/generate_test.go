package pack

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Random clusters: names come from few, so that objects meet each other.

func pick[T any](t *rapid.T, what string, from ...T) T { return rapid.SampledFrom(from).Draw(t, what) }

func maybe(t *rapid.T, what string) bool { return rapid.IntRange(0, 3).Draw(t, what) == 0 }

func some[T any](t *rapid.T, what string, v func() T) *T {
	if maybe(t, "some "+what) {
		return ptr.To(v())
	}
	return nil
}

func name(t *rapid.T, what string) string { return pick(t, what, "a", "b", "c") }

func amount(t *rapid.T, what string) resource.Quantity {
	return resource.MustParse(pick(t, what, "0", "1", "2", "500m", "1500m", "4", "1Gi", "100000", "1e3", "0.1", "9E"))
}

func list(t *rapid.T, what string) corev1.ResourceList {
	var out corev1.ResourceList
	for _, r := range []corev1.ResourceName{"cpu", "memory", "example.com/gpu"} {
		if rapid.Bool().Draw(t, what+" has "+string(r)) {
			if out == nil {
				out = corev1.ResourceList{}
			}
			out[r] = amount(t, what)
		}
	}
	return out
}

func containers(t *rapid.T, what string, least int) []corev1.Container {
	out := make([]corev1.Container, rapid.IntRange(least, 2).Draw(t, what))
	for i := range out {
		out[i] = corev1.Container{Name: fmt.Sprint("c", i), Image: "image", Resources: corev1.ResourceRequirements{Requests: list(t, what), Limits: list(t, what+" limits")}}
		if maybe(t, "ports") {
			out[i].Ports = []corev1.ContainerPort{{ContainerPort: rapid.Int32Range(1, 3).Draw(t, "port")}}
		}
		if what == "init" && maybe(t, "beside") {
			out[i].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
	}
	return out
}

func podSpec(t *rapid.T) corev1.PodSpec {
	s := corev1.PodSpec{
		Containers: containers(t, "container", 1), Volumes: []corev1.Volume{{Name: "scratch"}},
		Priority:         some(t, "pod priority", func() int32 { return rapid.Int32Range(0, 2).Draw(t, "pod priority") }),
		RuntimeClassName: some(t, "runtime class", func() string { return name(t, "runtime class") }),
	}
	if maybe(t, "init containers") {
		s.InitContainers = containers(t, "init", 0)
	}
	if maybe(t, "overhead") {
		s.Overhead = list(t, "overhead")
	}
	if maybe(t, "pod resources") {
		s.Resources = &corev1.ResourceRequirements{Requests: list(t, "pod requests"), Limits: list(t, "pod limits")}
	}
	if maybe(t, "node selector") {
		s.NodeSelector = map[string]string{"zone": name(t, "zone")}
	}
	if maybe(t, "affinity") {
		term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{name(t, "zone")}}}}
		s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}},
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: term}},
		}}
		if maybe(t, "pod affinity") {
			s.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: name(t, "key")}}}
		}
	}
	if maybe(t, "toleration") {
		s.Tolerations = []corev1.Toleration{{Key: name(t, "taint"), Operator: corev1.TolerationOpExists}}
	}
	if maybe(t, "spread") {
		s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: name(t, "key"), WhenUnsatisfiable: corev1.DoNotSchedule}}
	}
	if rapid.IntRange(0, 15).Draw(t, "devices") == 0 {
		s.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: some(t, "claim", func() string { return "one" })}}
	}
	return s
}

func topologyRequest(t *rapid.T) *kueue.PodSetTopologyRequest {
	r := &kueue.PodSetTopologyRequest{PodIndexLabel: some(t, "index", func() string { return "index" }), PodSetGroupName: some(t, "group", func() string { return "g" })}
	switch pick(t, "topology", "", "required", "preferred", "unconstrained", "slices", "layers") {
	case "required":
		r.Required = ptr.To("rack")
	case "preferred":
		r.Preferred = ptr.To("rack")
	case "unconstrained":
		r.Unconstrained = ptr.To(rapid.Bool().Draw(t, "unconstrained"))
	case "slices":
		r.PodSetSliceRequiredTopology, r.PodSetSliceSize = ptr.To("rack"), ptr.To[int32](2)
	case "layers":
		r.PodsetSliceRequiredTopologyConstraints = []kueue.PodsetSliceRequiredTopologyConstraint{{Topology: "rack", Size: 2}}
	}
	return r
}

func podSets(t *rapid.T) []kueue.PodSet {
	out := make([]kueue.PodSet, rapid.IntRange(1, 3).Draw(t, "pod sets"))
	for i := range out {
		out[i] = kueue.PodSet{Name: kueue.PodSetReference([]string{"main", "x", "y"}[i]), Count: rapid.Int32Range(0, 5).Draw(t, "count")}
		out[i].Template.Spec = podSpec(t)
		if i == 0 && maybe(t, "partial") {
			out[i].MinCount = ptr.To(rapid.Int32Range(1, 5).Draw(t, "least"))
		}
		if rapid.Bool().Draw(t, "topology request") {
			out[i].TopologyRequest = topologyRequest(t)
		}
	}
	return out
}

func admission(t *rapid.T, sets []kueue.PodSet) *kueue.Admission {
	a := &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(name(t, "admitted by"))}
	for _, ps := range sets {
		x := kueue.PodSetAssignment{Name: ps.Name, ResourceUsage: list(t, "usage"), Count: some(t, "assigned", func() int32 { return rapid.Int32Range(0, 5).Draw(t, "assigned") })}
		for r := range x.ResourceUsage {
			if x.Flavors == nil {
				x.Flavors = map[corev1.ResourceName]kueue.ResourceFlavorReference{}
			}
			x.Flavors[r] = kueue.ResourceFlavorReference(name(t, "flavor"))
		}
		if maybe(t, "topology assignment") {
			x.TopologyAssignment = &kueue.TopologyAssignment{Levels: []string{"kubernetes.io/hostname"}, Slices: []kueue.TopologyAssignmentSlice{{
				DomainCount: 1, ValuesPerLevel: []kueue.TopologyAssignmentSliceLevelValues{{Universal: ptr.To("node-a")}}, PodCounts: kueue.TopologyAssignmentSlicePodCounts{Universal: ptr.To[int32](1)},
			}}}
		}
		x.DelayedTopologyRequest = some(t, "delayed", func() kueue.DelayedTopologyRequestState { return kueue.DelayedTopologyRequestStatePending })
		a.PodSetAssignments = append(a.PodSetAssignments, x)
	}
	return a
}

func moment(t *rapid.T, what string) metav1.Time {
	return metav1.NewTime(at.Add(time.Duration(rapid.IntRange(-100, 100).Draw(t, what)) * time.Second).Local())
}

func words(t *rapid.T) string {
	return pick(t, "message", "", "plain", "two\nlines", "\x1b[2Jhostile", "Previously: Preempted to accommodate a workload (UID: u1, JobUID: UNKNOWN) due to prioritization in the ClusterQueue", "tag\u202e", `\n is not a line`)
}
