package reason

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/world"
)

// What a pod set uses without asking for it is counted nowhere, and is named.
func TestUnasked(t *testing.T) {
	ask := func(resources ...string) *world.Workload {
		w := asks(0, unused)
		w.PodSets[0].Exact, w.PodSets[0].Requests = true, nil
		for _, r := range resources {
			w.PodSets[0].Requests = append(w.PodSets[0].Requests, world.Request{Resource: r, Amount: 1})
		}
		return w
	}
	none := ask()
	none.PodSets[0].Count = 0
	tests := map[string]struct {
		covers []string
		w      *world.Workload
		want   map[string][]string
	}{
		"asks for all of it":           {[]string{"cpu", "memory", "gpu"}, ask("cpu", "memory", "gpu"), map[string][]string{}},
		"no memory":                    {[]string{"cpu", "memory"}, ask("cpu"), map[string][]string{"main": {"memory"}}},
		"a gpu need not be asked for":  {[]string{"cpu", "gpu"}, ask("cpu"), map[string][]string{}},
		"memory that nobody counts":    {[]string{"cpu"}, ask("cpu"), map[string][]string{}},
		"nothing that is counted":      {[]string{"gpu"}, ask("cpu"), map[string][]string{"main": nil}},
		"no pods use nothing":          {[]string{"cpu"}, none, map[string][]string{}},
		"pods are no request":          {[]string{"pods"}, ask("cpu"), map[string][]string{"main": nil}},
		"neither cpu nor memory asked": {[]string{"cpu", "memory", "gpu"}, ask("gpu"), map[string][]string{"main": {"cpu", "memory"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := newScene()
			sc.queue.Groups = []world.ResourceGroup{{Resources: tc.covers, Flavors: []string{"a"}}}
			if d := cmp.Diff(tc.want, New(sc.snapshot(tc.w), now).Unasked(tc.w)); d != "" {
				t.Errorf("unasked (-want +got):\n%s", d)
			}
		})
	}
}
