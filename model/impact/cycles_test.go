package impact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/world"
)

// Who starts once a cycle of cohorts is ended, by whichever of the objects on it,
// and nobody before.
func TestCycleEnds(t *testing.T) {
	tests := map[string]struct {
		edits func(*scene) []Edit
		want  map[string][]string
	}{
		"by a Cohort": {func(*scene) []Edit { return []Edit{parent("a", "")} }, map[string][]string{
			"admitted": {"waits", "wide"}, "queues": {"ClusterQueue/in opens", "ClusterQueue/near opens", "LocalQueue/ns/in opens", "LocalQueue/ns/near opens"},
		}},
		"by a Cohort that goes": {func(*scene) []Edit { return []Edit{{world.KindCohort, world.Key{Name: "a"}, nil}} }, map[string][]string{
			"admitted": {"waits", "wide"}, "queues": {"ClusterQueue/in opens", "ClusterQueue/near opens", "LocalQueue/ns/in opens", "LocalQueue/ns/near opens"},
		}},
		"for the one that leaves": {func(s *scene) []Edit { return []Edit{s.edited("in", into(""))} }, map[string][]string{
			"admitted": {"waits"}, "never": nil, "queues": {"ClusterQueue/in opens", "LocalQueue/ns/in opens"},
		}},
		"with more quota": {func(s *scene) []Edit { return []Edit{parent("b", ""), s.edited("in", nominal(5))} }, map[string][]string{
			"admitted": {"more", "waits", "wide"}, "queues": {"ClusterQueue/in opens", "ClusterQueue/near opens", "LocalQueue/ns/in opens", "LocalQueue/ns/near opens"},
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			cyclicPair(s) // in has 4
			s.queue("near", "b", 0)
			s.running("runs", "in", 1, 0)
			s.job("waits", "in", 1, 2)
			s.job("wide", "near", 2, 1) // borrows
			s.job("more", "in", 1, 3)
			if name != "with more quota" {
				delete(s.objects, world.Ref{Kind: world.KindWorkload, Key: key("more")})
			}
			r := s.real(t, tc.edits(s)...)
			delete(tc.want, "never")
			if d := cmp.Diff(tc.want, names(t, &r)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if all := strings.Join(r.Assumptions, "; "); !strings.Contains(all, "while their cohorts formed a cycle") {
				t.Errorf("assumptions: %s", all)
			}
			if n := r.After.Tree.ClusterQueue("in"); n.Cycle != nil {
				t.Errorf("still on %v", n.Cycle)
			}
			for _, c := range r.Quota {
				if c.Ref.Name == "in" || c.FlavorResource != a100 {
					t.Errorf("compared with a cell of which nothing is known: %+v", c)
				}
			}
		})
	}
}
