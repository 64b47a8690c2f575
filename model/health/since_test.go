package health

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/world"
)

// An alert says since when the object is so only where an object says it, and how
// long those that it stops have waited.
func TestSince(t *testing.T) {
	queued := func(name string, ago time.Duration, message string) *world.Workload {
		w := waits(name, 1, message)
		w.Created = now.Add(-ago)
		return w
	}
	held := queued("a", 3*time.Hour, "ClusterQueue q is inactive")
	tests := map[string]struct {
		of             []*world.Workload
		change         func(*scene)
		class          Class
		object         string
		since, longest time.Duration // before now; 0: none
	}{
		"by the record of a hold": {
			[]*world.Workload{held, queued("b", time.Hour, "ClusterQueue q is inactive")},
			func(sc *scene) {
				sc.queue.StopPolicy, sc.queue.Hold = world.StopHold, &world.HoldRecord{Version: 1, By: "ann", At: now.Add(-20 * time.Minute)}
				sc.queue.Conditions = world.Conditions{cond("Active", "False", "Stopped", "", 19*time.Minute)}
			}, "held", "ClusterQueue/q", 20 * time.Minute, 3 * time.Hour,
		},
		"by Kueue, where there is no record": {
			nil, func(sc *scene) {
				sc.queue.StopPolicy = world.StopHold
				sc.queue.Conditions = world.Conditions{cond("Active", "False", "Stopped", "", 19*time.Minute)}
			}, "held", "ClusterQueue/q", 19 * time.Minute, 0,
		},
		"not by a record that cannot be read": {
			nil, func(sc *scene) {
				sc.queue.StopPolicy, sc.queue.Hold = world.StopHold, &world.HoldRecord{Problem: "odd", At: now.Add(-time.Minute)}
			}, "held", "ClusterQueue/q", 0, 0,
		},
		"not by a condition that speaks of another cause": {
			[]*world.Workload{held}, func(sc *scene) {
				sc.drop = []world.Ref{gone(world.KindResourceFlavor, "", "a")}
				sc.queue.Conditions = world.Conditions{cond("Active", "False", "Stopped", "", time.Hour)}
			}, "flavor", "ClusterQueue/q", 0, 3 * time.Hour,
		},
		"a check that went silent": {
			nil, func(sc *scene) {
				sc.queue.Checks = []world.CheckRule{{Name: "budget"}}
				k := activeCheck("budget")
				k.Conditions = world.Conditions{cond("Active", "False", "Lost", "", 2*time.Hour)}
				sc.put(k)
			}, "admissionCheck", "AdmissionCheck/budget", 2 * time.Hour, 0,
		},
		"the first of several that are stuck": {
			[]*world.Workload{evicting("a", "Preempted", 40*time.Minute), evicting("b", "Preempted", 50*time.Minute)}, func(*scene) {},
			Stuck, "ClusterQueue/q", 50 * time.Minute, 0,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := with(tc.of...)
			tc.change(sc)
			a := find(t, Alerts(sc.input()), tc.class, tc.object)
			var since, longest time.Duration
			if !a.Since.IsZero() {
				since = now.Sub(a.Since)
			}
			if a.Longest != nil {
				longest = *a.Longest
			}
			if d := cmp.Diff([]time.Duration{tc.since, tc.longest}, []time.Duration{since, longest}); d != "" {
				t.Errorf("since and longest wait (-want +got):\n%s", d)
			}
		})
	}
}
