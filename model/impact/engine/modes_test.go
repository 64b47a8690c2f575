package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// What a drain lets Kueue try again it tries when the batch is over, and the quota may
// come back among those tries: who was tried just before waits, who is tried just after
// takes it.
func TestEvictionEndsAmongTheTries(t *testing.T) {
	ends := map[string][]string{}
	for _, m := range Modes(1) {
		s := newScene()
		s.queue("owner", "pool", 4)
		s.queue("drained", "pool", 0)
		s.running("guest", "drained", 4, 0)
		for i := range 6 {
			s.job(fmt.Sprintf("job%d", i), "owner", 4, int32(-i))
		}
		got := s.tell(s.run(t, m, s.edit("drained", func(q *kueue.ClusterQueue) { q.Spec.StopPolicy = ptr(kueue.HoldAndDrain) })))
		ends[strings.Join(got.Status, " ")] = append(ends[strings.Join(got.Status, " ")], m.Name)
	}
	for i := range 6 {
		if len(ends[fmt.Sprintf("-guest +job%d", i)]) == 0 {
			t.Errorf("job%d never takes the quota; the ends, with their timings: %q", i, ends)
		}
	}
}

// A mode that is said not to differ ends as the other does.
func TestModesThatDoNotDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, changes, opts := randomScene(t)
		modes := Modes(len(changes))
		a, b := rapid.SampledFrom(modes).Draw(t, "mode"), rapid.SampledFrom(modes).Draw(t, "other")
		one, err := Run(context.Background(), s.Objects, changes, a, opts)
		if err != nil {
			t.Fatal(err)
		}
		two, err := Run(context.Background(), s.Objects, changes, b, opts)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s.tell(one), s.tell(two)); d != "" && !b.Differs(a, one) {
			t.Fatalf("(-%s +%s):\n%s", a.Name, b.Name, d)
		}
	})
}

func TestDiffers(t *testing.T) {
	second := Mode{Name: "a second", Latency: time.Second}
	tests := map[string]struct {
		m            Mode
		calm, moving bool
	}{
		"the same":               {second, false, false},
		"another latency":        {Mode{Latency: 2 * time.Second}, false, true},
		"another spread":         {Mode{Latency: time.Second, Spread: time.Second}, false, true},
		"another order of draws": {Mode{Latency: time.Second, Seed: 1}, true, true},
		"slow cycles":            {Mode{Latency: time.Second, Cycle: time.Second}, true, true},
		"a new manager":          {Mode{Latency: time.Second, Forgets: true}, true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.m.Differs(second, Outcome{}); got != tc.calm {
				t.Errorf("differs where nothing was evicted: %v", got)
			}
			if got := tc.m.Differs(second, Outcome{Evicts: true}); got != tc.moving {
				t.Errorf("differs after an eviction: %v", got)
			}
		})
	}
}
