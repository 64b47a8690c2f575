package actions

import (
	"strings"
	"testing"
	"time"

	"cli.holdfast.dev/holdfast/model/world"
)

// Whoever drains sees of each Workload how long it has run and from where it could go
// on, or that this is not known.
func TestRecoveryPoint(t *testing.T) {
	ran := world.Conditions{{Type: world.CondAdmitted, Status: "True", At: tick.Add(-90 * time.Minute)}}
	for name, c := range map[string]struct {
		key  string
		w    world.Workload
		want string
	}{
		"no key":        {"", world.Workload{Conditions: ran, Annotations: map[string]string{"": "x"}}, "admitted for 1h30m0s, checkpoint not known"},
		"no annotation": {"ckpt", world.Workload{Conditions: ran}, "admitted for 1h30m0s, checkpoint not known: no annotation ckpt"},
		"one":           {"ckpt", world.Workload{Conditions: ran, Annotations: map[string]string{"ckpt": "step 7"}}, "admitted for 1h30m0s, checkpoint step 7"},
		"no time":       {"ckpt", world.Workload{Annotations: map[string]string{"ckpt": "step 7"}}, "runtime not known, checkpoint step 7"},
	} {
		d := &Desk{opts: Options{Clock: ours{}, Checkpoint: c.key}}
		if got := d.recovery(&c.w); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	s := newAPIServer(t)
	putQueue(s, "None", "")
	p, err := desk(t, s, nil).PlanHold(t.Context(), queueRef, true, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range p.Evicts {
		if !strings.Contains(a.Note, "checkpoint not known") {
			t.Errorf("%s: %q", a.Ref, a.Note)
		}
	}
}
