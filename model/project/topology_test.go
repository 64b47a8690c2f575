package project

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

// What counts as a request for a topology, and at which level, is Kueue's
// IsExplicitlyRequestingTAS and levelKey.
func TestTopologyRequest(t *testing.T) {
	slices := []kueue.PodsetSliceRequiredTopologyConstraint{{Topology: "block", Size: 8}, {Topology: "rack", Size: 2}}
	tests := map[string]struct {
		in   *kueue.PodSetTopologyRequest
		want *world.TopologyRequest
	}{
		"none":                      {nil, nil},
		"the pods' index alone":     {&kueue.PodSetTopologyRequest{PodIndexLabel: ptr.To("index")}, nil},
		"required":                  {&kueue.PodSetTopologyRequest{Required: ptr.To("rack")}, &world.TopologyRequest{Mode: "Required", Level: "rack"}},
		"preferred, in a group":     {&kueue.PodSetTopologyRequest{Preferred: ptr.To("rack"), PodSetGroupName: ptr.To("g")}, &world.TopologyRequest{Mode: "Preferred", Level: "rack", Group: "g"}},
		"unconstrained":             {&kueue.PodSetTopologyRequest{Unconstrained: ptr.To(true)}, &world.TopologyRequest{Mode: "Unconstrained"}},
		"unconstrained set to no":   {&kueue.PodSetTopologyRequest{Unconstrained: ptr.To(false)}, &world.TopologyRequest{Mode: world.NoLevel}},
		"slices alone":              {&kueue.PodSetTopologyRequest{PodSetSliceRequiredTopology: ptr.To("rack"), PodSetSliceSize: ptr.To[int32](2)}, &world.TopologyRequest{Mode: "Slices", Slices: []string{"rack"}}},
		"slices of several layers":  {&kueue.PodSetTopologyRequest{Required: ptr.To("hall"), PodsetSliceRequiredTopologyConstraints: slices}, &world.TopologyRequest{Mode: "Required", Level: "hall", Slices: []string{"block", "rack"}}},
		"slices, unconstrained too": {&kueue.PodSetTopologyRequest{Unconstrained: ptr.To(true), PodSetSliceRequiredTopology: ptr.To("rack")}, &world.TopologyRequest{Mode: "Slices", Slices: []string{"rack"}}},
		"a group alone":             {&kueue.PodSetTopologyRequest{PodSetGroupName: ptr.To("g")}, &world.TopologyRequest{Group: "g"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, topologyRequest(tc.in)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
