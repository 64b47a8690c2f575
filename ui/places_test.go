package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/world"
)

// fakePlaces knows the order of one queue and remembers what was wanted.
type fakePlaces struct {
	places map[world.Key]int
	why    string
	wanted [][]string
}

func (p *fakePlaces) SetQueues(q []string) { p.wanted = append(p.wanted, q) }

func (p *fakePlaces) Get(string) (map[world.Key]int, time.Time, string) {
	return p.places, now.Add(-4 * time.Second), p.why
}

// Kueue's own word on a place is shown as such, an estimate as such; and only the
// queue on the screen is asked for.
func TestPlaceInTheQueue(t *testing.T) {
	victim := world.Key{Namespace: "team-a", Name: "job-train-llm-7f2-x1y2z"}
	tests := map[string]struct {
		places *fakePlaces
		want   string
	}{
		"Kueue says":     {&fakePlaces{places: map[world.Key]int{victim: 2, {Namespace: "x", Name: "y"}: 1}}, "number 2 of 2 that wait for ClusterQueue team-a-cq, said Kueue 4s ago"},
		"Kueue does not": {&fakePlaces{why: "no access"}, "number 1 of 5 that wait for ClusterQueue team-a-cq, estimated (Kueue's own order: no access)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, c := scene()
			st := newStage(t, s, c, 160, 40)
			st.root.opt.Places = tc.places
			st.press("4", "/").typeText("train-llm").press("enter", "enter")
			if frame := st.frame(); !strings.Contains(frame, tc.want) {
				t.Errorf("no %q in\n%s", tc.want, frame)
			}
			if d := cmp.Diff([]string{"team-a-cq"}, tc.places.wanted[len(tc.places.wanted)-1]); d != "" {
				t.Errorf("on the page, asked for (-want +got):\n%s", d)
			}
			st.press("esc")
			if last := tc.places.wanted[len(tc.places.wanted)-1]; len(last) > 0 {
				t.Errorf("off the page, still asked for %v", last)
			}
		})
	}
}
