package reason

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/world"
)

// line is the queue of the scene with a status that is right: one Workload of it
// waits and one is admitted with 3 gpu of a, both long ago.
func line() (*scene, []*world.Workload) {
	sc := newScene()
	sc.queue.Generation, sc.local.Generation = 2, 2
	waits := asks(1, unused)
	waits.Conditions[0].At = now.Add(-time.Hour)
	runs := workload(world.Admitted, cond("QuotaReserved", "True", "QuotaReserved", "", time.Hour), cond("Admitted", "True", "Admitted", "", time.Hour))
	runs.Meta, runs.ClusterQueue, runs.Usage = named("team", "runs"), "q", []world.Use{{FlavorResource: gpu("a"), Amount: 3}}
	status := world.QueueStatus{Pending: 1, Reserving: 1, Admitted: 1, Reservation: runs.Usage, Usage: runs.Usage}
	sc.queue.Status, sc.local.Status = status, status
	sc.queue.Conditions, sc.local.Conditions = active("True", "Ready", 2), active("True", "Ready", 2)
	return sc, []*world.Workload{waits, runs}
}

func TestStaleOf(t *testing.T) {
	tests := map[string]struct {
		change func(sc *scene, ws []*world.Workload)
		blind  []world.Kind
		want   Stale
	}{
		"right": {nil, nil, Stale{}},
		"written for an older spec": {
			func(sc *scene, _ []*world.Workload) { sc.queue.Conditions = active("True", "Ready", 1) }, nil,
			Stale{true, "written for generation 1 of the spec, which is at 2"},
		},
		"a condition that says nothing of generations": {func(sc *scene, _ []*world.Workload) { sc.queue.Conditions = active("True", "Ready", 0) }, nil, Stale{}},
		"no condition at all":                          {func(sc *scene, _ []*world.Workload) { sc.queue.Conditions = nil }, nil, Stale{}},
		"too few pending":                              {func(sc *scene, _ []*world.Workload) { sc.queue.Status.Pending = 0 }, nil, Stale{true, "pending 0, really 1"}},
		"too many pending":                             {func(sc *scene, _ []*world.Workload) { sc.queue.Status.Pending = 2 }, nil, Stale{true, "pending 2, really 1"}},
		"other counts":                                 {func(sc *scene, _ []*world.Workload) { sc.queue.Status.Reserving, sc.queue.Status.Admitted = 0, 2 }, nil, Stale{true, "reserving 0, really 1; admitted 2, really 1"}},
		"other use":                                    {func(sc *scene, _ []*world.Workload) { sc.queue.Status.Reservation = nil }, nil, Stale{true, "gpu of a reserved 0, really 3"}},
		"use on a flavor that left the spec is left out on purpose": {
			func(sc *scene, ws []*world.Workload) {
				sc.queue.Status.Reservation = nil
				ws[1].Usage = []world.Use{{FlavorResource: gpu("gone"), Amount: 3}}
			}, nil, Stale{false, "3 of gpu in use on gone, which the spec no longer has"},
		},
		"of a held LocalQueue nothing pending is counted": {
			func(sc *scene, _ []*world.Workload) {
				sc.local.StopPolicy, sc.queue.Status.Pending = world.StopHold, 0
			}, nil, Stale{},
		},
		"one that is gated may be left out": {
			func(sc *scene, ws []*world.Workload) { ws[0].GatedBy, sc.queue.Status.Pending = "budget", 0 }, nil,
			Stale{false, "it counts 0 of 1 pending: without those that are held, gated or in backoff"},
		},
		"one that is gated may be counted": {func(sc *scene, ws []*world.Workload) { ws[0].GatedBy = "budget" }, nil, Stale{}},
		"one in backoff may be left out": {
			func(sc *scene, ws []*world.Workload) {
				ws[0].RequeueAt, sc.queue.Status.Pending = now.Add(time.Hour), 0
			}, nil, Stale{false, "it counts 0 of 1 pending: without those that are held, gated or in backoff"},
		},
		"a Workload changed 3 s ago": {
			func(sc *scene, ws []*world.Workload) {
				sc.queue.Status.Pending = 0
				ws[0].Conditions[0].At = now.Add(-3 * time.Second)
			}, nil, Stale{false, "a Workload changed 3s ago and the status does not show it yet"},
		},
		"a Workload changed 3 s ago, and the spec is newer": {
			func(sc *scene, ws []*world.Workload) {
				sc.queue.Status.Pending, sc.queue.Generation = 0, 3
				ws[0].Conditions[0].At = now.Add(-3 * time.Second)
			}, nil, Stale{true, "written for generation 2 of the spec, which is at 3; a Workload changed 3s ago and the status does not show it yet"},
		},
		"a Workload changed a minute ago": {
			func(sc *scene, ws []*world.Workload) {
				sc.queue.Status.Pending = 0
				ws[0].Conditions[0].At = now.Add(-time.Minute)
			}, nil, Stale{true, "pending 0, really 1"},
		},
		"it says active in a cycle": {
			func(sc *scene, _ []*world.Workload) { sc.queue.Cohort = "ring" }, nil,
			Stale{false, "it says active, but Kueue admits nothing: CohortCycle"},
		},
		"Workloads unreadable: only the spec is compared": {
			func(sc *scene, _ []*world.Workload) { sc.queue.Generation, sc.queue.Status.Pending = 3, 7 }, []world.Kind{world.KindWorkload},
			Stale{true, "written for generation 2 of the spec, which is at 3"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc, ws := line()
			if tc.change != nil {
				tc.change(sc, ws)
			}
			s := blindTo(tc.blind, world.Denied, sc.rows(ws[0], ws[1], &world.Cohort{Meta: named("", "ring"), Parent: "ring"})...)
			if d := cmp.Diff(tc.want, New(s, now).StaleOf(sc.queue)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestLocalStaleOf(t *testing.T) {
	tests := map[string]struct {
		change func(sc *scene, ws []*world.Workload)
		want   Stale
	}{
		"right":       {nil, Stale{}},
		"wrong":       {func(sc *scene, _ []*world.Workload) { sc.local.Status.Pending = 4 }, Stale{true, "pending 4, really 1"}},
		"older":       {func(sc *scene, _ []*world.Workload) { sc.local.Generation = 3 }, Stale{true, "written for generation 2 of the spec, which is at 3"}},
		"held, and 0": {func(sc *scene, _ []*world.Workload) { sc.local.StopPolicy, sc.local.Status.Pending = world.StopHold, 0 }, Stale{false, "Kueue counts no pending Workloads while the LocalQueue is held"}},
		"held, as it was before": {
			func(sc *scene, _ []*world.Workload) { sc.local.StopPolicy = world.StopHold },
			Stale{false, "Kueue counts no pending Workloads while the LocalQueue is held"},
		},
		"17 flavors and frozen": {
			func(sc *scene, _ []*world.Workload) {
				sc.local.Status.Admitted, sc.queue.Groups[0].Flavors = 0, flavorNames(17)
			},
			Stale{true, "admitted 0, really 1; ClusterQueue q has 17 flavors: Kueue before 0.17.5 and 0.18.1 cannot write a LocalQueue status with more than 16, so all of it stays as it was"},
		},
		"17 flavors and right": {func(sc *scene, _ []*world.Workload) { sc.queue.Groups[0].Flavors = flavorNames(17) }, Stale{}},
		"16 flavors and wrong": {
			func(sc *scene, _ []*world.Workload) {
				sc.local.Status.Admitted, sc.queue.Groups[0].Flavors = 0, flavorNames(16)
			}, Stale{true, "admitted 0, really 1"},
		},
		"gated, and left out": {
			func(sc *scene, ws []*world.Workload) { ws[0].GatedBy, sc.local.Status.Pending = "budget", 0 },
			Stale{false, "it counts 0 of 1 pending: without those that are held, gated or in backoff"},
		},
		"changed 3 s ago": {
			func(sc *scene, ws []*world.Workload) {
				sc.local.Status.Pending, ws[0].Conditions[0].At = 0, now.Add(-3*time.Second)
			}, Stale{false, "a Workload changed 3s ago and the status does not show it yet"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc, ws := line()
			if tc.change != nil {
				tc.change(sc, ws)
			}
			s := snapshotOf(sc.rows(ws[0], ws[1])...)
			if d := cmp.Diff(tc.want, New(s, now).LocalStaleOf(sc.local)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func flavorNames(n int) []string {
	out := []string{"a"}
	for i := 1; i < n; i++ {
		out = append(out, fmt.Sprint("f", i))
	}
	return out
}
