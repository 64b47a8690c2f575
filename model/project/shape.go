package project

import (
	"encoding/json"
	"fmt"
	"unique"

	corev1 "k8s.io/api/core/v1"
	resourcehelpers "k8s.io/component-helpers/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/util/tas"
	"sigs.k8s.io/kueue/pkg/workload"

	"cli.holdfast.dev/holdfast/model/world"
)

// shape keeps of a pod template what bears on quota and placement, and what else
// Kueue's hash of alike Workloads covers (SpecShape in Kueue's pkg/util/pod), as
// JSON that equal templates share. Names, images, commands and volumes are left
// out.
func shape(in *corev1.PodSpec) string {
	return faithful(&corev1.PodSpec{
		InitContainers: containers(in.InitContainers), Containers: containers(in.Containers),
		Resources: in.Resources, Overhead: in.Overhead, RuntimeClassName: in.RuntimeClassName,
		NodeSelector: in.NodeSelector, Affinity: in.Affinity, Tolerations: in.Tolerations, SchedulingGates: in.SchedulingGates,
		Priority: in.Priority, TopologySpreadConstraints: in.TopologySpreadConstraints, ResourceClaims: in.ResourceClaims,
	})
}

// faithful writes what Kueue's own code will read again as JSON that equal values
// share. It is not cleaned: nothing of it may be drawn.
func faithful(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "" // a typed value that was decoded always encodes
	}
	return unique.Make(string(raw)).Value()
}

// containers keeps the resources and ports, and of init containers whether they
// go on beside the others.
func containers(in []corev1.Container) []corev1.Container {
	if in == nil {
		return nil
	}
	out := make([]corev1.Container, len(in))
	for i := range in {
		out[i] = corev1.Container{Resources: in[i].Resources, RestartPolicy: in[i].RestartPolicy, Ports: in[i].Ports}
	}
	return out
}

// PodSpec reads a Shape back: a pod spec with the fields that bear on quota and
// placement and nothing else.
func PodSpec(shape string) (corev1.PodSpec, error) {
	var s corev1.PodSpec
	if shape == "" {
		return s, nil
	}
	if err := json.Unmarshal([]byte(shape), &s); err != nil {
		return s, fmt.Errorf("a pod shape cannot be read: %w", err)
	}
	return s, nil
}

// PerPod returns what Kueue counts for one pod of the spec, in Kueue's units and
// sorted by resource: containers, init containers and overhead, with limits
// taken as requests where none stand. Defaults from LimitRanges and a
// RuntimeClass's overhead must be in the spec already (model/requests).
func PerPod(spec corev1.PodSpec) []world.Request {
	spec.InitContainers, spec.Containers = containers(spec.InitContainers), containers(spec.Containers)
	spec.Resources = spec.Resources.DeepCopy()
	workload.UseLimitsAsMissingRequestsInPod(&spec)
	pod := corev1.Pod{Spec: spec}
	return requests(resourcehelpers.PodRequests(&pod, resourcehelpers.PodResourcesOptions{}))
}

func topologyRequest(in *kueue.PodSetTopologyRequest) *world.TopologyRequest {
	if in == nil {
		return nil
	}
	out := world.TopologyRequest{}
	for _, c := range tas.PodSetSliceRequiredTopologyConstraints(in) {
		out.Slices = append(out.Slices, intern(c.Topology))
	}
	// The order is that of levelKey in Kueue's pkg/cache/scheduler.
	switch {
	case in.Required != nil:
		out.Mode, out.Level = "Required", intern(*in.Required)
	case in.Preferred != nil:
		out.Mode, out.Level = "Preferred", intern(*in.Preferred)
	case len(out.Slices) > 0:
		out.Mode = "Slices"
	case in.Unconstrained != nil && *in.Unconstrained:
		out.Mode = "Unconstrained"
	case workload.IsExplicitlyRequestingTAS(kueue.PodSet{TopologyRequest: in}):
		out.Mode = world.NoLevel
	}
	if in.PodSetGroupName != nil {
		out.Group = intern(*in.PodSetGroupName)
	}
	if out.Mode == "" && out.Group == "" {
		return nil // Kueue writes one with the pods' index label alone
	}
	return &out
}
