package reason

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

// Everything in the way is named, the one that a person lifts first; what quota
// says comes with it.
func TestObstacles(t *testing.T) {
	gated := func(w *world.Workload) {
		w.GatedBy, w.Conditions[0].Reason = "budget", "AdmissionGated"
	}
	soon := func(w *world.Workload) { w.RequeueAt = now.Add(time.Minute) }
	tests := map[string]struct {
		change func(*scene)
		w      func(*world.Workload)
		n      world.Amount
		want   answer
		kinds  []ObstacleKind
	}{
		"a held LocalQueue under a held ClusterQueue with a missing check": {
			func(sc *scene) {
				sc.local.StopPolicy, sc.queue.StopPolicy = world.StopHold, world.StopHoldAndDrain
				sc.queue.Checks = []world.CheckRule{{Name: "budget"}}
			}, nil, 1,
			answer{Held, AdviceChange, "whoever holds the queue", "LocalQueue team/lq is held: nothing is admitted until it is resumed. Also: ClusterQueue q is held: nothing is admitted until it is resumed. (1 more in the way)"},
			[]ObstacleKind{ObstacleLocalQueueHeld, ObstacleClusterQueueHeld, ObstacleCheckMissing},
		},
		"held, and not enough quota when it is resumed": {
			func(sc *scene) { sc.queue.StopPolicy = world.StopHold }, nil, 5,
			answer{Held, AdviceChange, "whoever holds the queue", "ClusterQueue q is held: nothing is admitted until it is resumed."},
			[]ObstacleKind{ObstacleClusterQueueHeld, ObstacleQuota},
		},
		"held, and its resources are not valid": {
			func(sc *scene) { sc.queue.StopPolicy = world.StopHold }, func(w *world.Workload) { w.Conditions[0].Message = "resources validation failed: x" }, 5,
			answer{Held, AdviceChange, "whoever holds the queue", "ClusterQueue q is held: nothing is admitted until it is resumed."},
			[]ObstacleKind{ObstacleClusterQueueHeld, ObstacleJobSpec, ObstacleQuota},
		},
		"gated in a namespace that is not admitted": {
			func(sc *scene) { sc.ns.Labels = nil }, gated, 1,
			answer{Gated, AdviceChange, "budget", "Gated by budget: Kueue leaves it alone until that gate is cleared. Also: Namespace team is not one that ClusterQueue q admits (it wants kueue=on): have the namespace labelled, or use another queue."},
			[]ObstacleKind{ObstacleGate, ObstacleNamespaceSelector},
		},
		"a gate that Kueue does not know yet": {nil, func(w *world.Workload) { w.GatedBy = "budget" }, 2, answer{QueueOrder, AdviceWait, "", two}, nil},
		"a preemption gate": {
			nil, func(w *world.Workload) {
				w.Conditions = append(w.Conditions, cond("BlockedOnPreemptionGates", "True", "PreemptionGated", "Workload requires preemption, but it's gated", 0)...)
			}, 5, answer{Gated, AdviceChange, "owner of the preemption gate", "It may not preempt while a preemption gate is closed: Workload requires preemption, but it's gated."},
			[]ObstacleKind{ObstacleGate, ObstacleQuota},
		},
		"backoff": {nil, soon, 2, answer{Backoff, AdviceWait, "", "In backoff: Kueue puts it back into the queue in 60s."}, []ObstacleKind{ObstacleBackoff}},
		"backoff, then a flavor": {
			func(sc *scene) { sc.drop = []world.Ref{{Kind: world.KindResourceFlavor, Key: world.Key{Name: "b"}}} }, soon, 2,
			answer{Backoff, AdviceChange, "platform admin", "In backoff: Kueue puts it back into the queue in 60s. Then it still meets this: ClusterQueue q is inactive: ResourceFlavor b does not exist."},
			[]ObstacleKind{ObstacleBackoff, ObstacleFlavorMissing},
		},
		"backoff, and it never fits": {
			nil, soon, 9,
			answer{Backoff, AdviceChange, "job owner or platform admin", "In backoff: Kueue puts it back into the queue in 60s. Then it still meets this: Can never fit: needs 9 gpu in one flavor, and none of 2 has more than 8. Ask for less, or have the quota raised."},
			[]ObstacleKind{ObstacleBackoff, ObstacleQuota},
		},
		"backoff, held": {
			func(sc *scene) { sc.local.StopPolicy = world.StopHold }, soon, 2,
			answer{Held, AdviceChange, "whoever holds the queue", "LocalQueue team/lq is held: nothing is admitted until it is resumed. Also: In backoff: Kueue puts it back into the queue in 60s."},
			[]ObstacleKind{ObstacleLocalQueueHeld, ObstacleBackoff},
		},
		"a check rejected it": {
			nil, func(w *world.Workload) {
				w.Checks = []world.CheckState{{Name: "budget", State: "Rejected", Message: "no money."}}
			}, 2,
			answer{AdmissionCheck, AdviceChange, "owner of the admission check", "Admission check budget rejected it: no money."}, []ObstacleKind{ObstacleCheckRejected},
		},
		"a retry that a check asked for": {
			nil, func(w *world.Workload) {
				w.RequeueAt, w.RequeueCount = now.Add(-time.Minute), 3
				w.Checks = []world.CheckState{{Name: "budget", State: "Pending", Message: "Reset to Pending after eviction. Previously: Retry"}}
			}, 2, answer{Backoff, AdviceWait, "", "Its backoff after 3 tries (admission check budget asked for a retry) ended 60s ago: Kueue is about to put it back into the queue."}, []ObstacleKind{ObstacleBackoff},
		},
		"the queue is being deleted": {
			func(sc *scene) { sc.queue.Deleting = true }, nil, 2,
			answer{Misconfigured, AdviceChange, "platform admin", "ClusterQueue q is being deleted: nothing is admitted any more."}, []ObstacleKind{ObstacleClusterQueueMissing},
		},
		"a topology is missing": {
			func(sc *scene) { sc.drop = nil; sc.queue.Conditions = active("False", "TopologyNotFound", 0) }, nil, 2,
			answer{Topology, AdviceChange, "platform admin", "ClusterQueue q is inactive, says Kueue: words."}, []ObstacleKind{ObstacleTopology},
		},
		"Kueue follows its spec late": {
			func(sc *scene) {
				sc.queue.StopPolicy, sc.queue.Generation, sc.queue.Conditions = world.StopHold, 4, active("True", "Ready", 3)
			}, nil, 2,
			answer{Held, AdviceChange, "whoever holds the queue", "ClusterQueue q is held: nothing is admitted until it is resumed (asked for, not yet taken up by Kueue)."}, []ObstacleKind{ObstacleClusterQueueHeld},
		},
		"the record of a hold cannot be read": {
			func(sc *scene) {
				sc.queue.StopPolicy, sc.queue.Hold = world.StopHold, &world.HoldRecord{By: "kim", Problem: "not readable"}
			}, nil, 2,
			answer{Held, AdviceChange, "whoever holds the queue", "ClusterQueue q is held: nothing is admitted until it is resumed."}, []ObstacleKind{ObstacleClusterQueueHeld},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := newScene()
			if tc.change != nil {
				tc.change(sc)
			}
			w := asks(tc.n, unused)
			if tc.w != nil {
				tc.w(w)
			}
			e := explained(sc.snapshot(w), w, now)
			if d := cmp.Diff(tc.want, answer{e.Class, e.Advice, e.Actor, e.Sentence}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			var kinds []ObstacleKind
			for _, o := range e.Obstacles {
				if len(kinds) == 0 || kinds[len(kinds)-1] != o.Kind {
					kinds = append(kinds, o.Kind)
				}
			}
			if d := cmp.Diff(tc.kinds, kinds); d != "" {
				t.Errorf("obstacles (-want +got):\n%s", d)
			}
		})
	}
}

// What is missing is named with its numbers: every resource, all of a debt.
func TestShortfalls(t *testing.T) {
	cpu := func(flavor string) world.FlavorResource {
		return world.FlavorResource{Flavor: flavor, Resource: "cpu"}
	}
	both := func(sc *scene) {
		sc.queue.Groups[0].Resources = []string{"gpu", "cpu"}
		sc.queue.Quotas = append(sc.queue.Quotas, world.Quota{FlavorResource: cpu("a"), Nominal: 4000}, world.Quota{FlavorResource: cpu("b"), Nominal: 1000})
	}
	tests := map[string]struct {
		change func(*scene)
		sets   []kueue.PodSet
		want   string
		rows   []Shortfall
	}{
		"two resources of one flavor": {
			func(sc *scene) {
				both(sc)
				sc.queue.Quotas[2].Nominal, sc.queue.Quotas[2].BorrowingLimit = 4000, ptr.To[world.Amount](0)
			},
			[]kueue.PodSet{podSet("main", 1, "5", needs("cpu", "3"))},
			"Needs 3 cpu of a: 1500m free, 4 at most. Waits for 1500m to come back, and for 3 gpu of a.",
			[]Shortfall{{cpu("a"), 3000, 1500, 4000, 1500}, {gpu("a"), 5, 2, 8, 3}},
		},
		"the second resource is what is missing": {
			both, []kueue.PodSet{podSet("main", 1, "2", needs("cpu", "3"))},
			"Needs 3 cpu of a: 1500m free, 4 at most. Waits for 1500m to come back.",
			[]Shortfall{{cpu("a"), 3000, 1500, 4000, 1500}},
		},
		"in debt all of it": { // other holds 6, the quota is 4: 2 too much
			func(sc *scene) { sc.queue.Quotas[0].Nominal, sc.queue.Groups[0].Flavors = 4, []string{"a"} },
			[]kueue.PodSet{podSet("main", 1, "1")},
			"Needs 1 gpu of a: 0 free, 4 at most. Waits for 3 to come back.",
			[]Shortfall{{gpu("a"), 1, 0, 4, 3}},
		},
		"partial admission waits for the least": { // 4 go into b, 3 are left for a
			nil, []kueue.PodSet{podSet("a", 10, "2", atLeastPods(2)), podSet("b", 4, "1", atLeastPods(3))},
			"Needs 3 gpu of a: 2 free, 8 at most. Waits for 1 to come back.",
			[]Shortfall{{gpu("a"), 3, 2, 8, 1}},
		},
		"partial admission fits with the least": {
			nil, []kueue.PodSet{podSet("a", 10, "2", atLeastPods(2)), podSet("b", 4, "1", atLeastPods(2))},
			"Needs 4 gpu of b and 4 are free now: waits for its turn.", nil,
		},
		"partial admission, and not even that": {
			nil, []kueue.PodSet{podSet("a", 10, "2", atLeastPods(3)), podSet("b", 9, "1", atLeastPods(3))},
			"Needs 6 gpu of a: 2 free, 8 at most. Waits for 4 to come back.",
			[]Shortfall{{gpu("a"), 6, 2, 8, 4}},
		},
		"partial admission, never": {
			nil, []kueue.PodSet{podSet("a", 10, "2", atLeastPods(5)), podSet("b", 9, "1", atLeastPods(3))},
			"Can never fit: needs 10 gpu in one flavor, and none of 2 has more than 8. Ask for less, or have the quota raised.", nil,
		},
		"what is taken in turn leaves nothing": { // x goes into b, which is the only one for y
			func(sc *scene) { sc.queue.Quotas[0].Nominal, sc.queue.Quotas[1].Nominal = 7, 5 }, []kueue.PodSet{podSet("x", 1, "5"), podSet("y", 1, "5")},
			"Needs 5 gpu of a: 1 free, 7 at most. Waits for 4 to come back.",
			[]Shortfall{{gpu("a"), 5, 1, 7, 4}},
		},
		"one flavor for two pod sets": { // a alone could serve either; both together need 7 of it
			func(sc *scene) { sc.queue.Quotas[1].Nominal = 0 }, []kueue.PodSet{podSet("a", 1, "2"), podSet("b", 1, "5")},
			"Needs 7 gpu of a: 2 free, 8 at most. Waits for 5 to come back.",
			[]Shortfall{{gpu("a"), 7, 2, 8, 5}},
		},
		"quota without end": {
			func(sc *scene) { sc.queue.Quotas[0].Nominal = world.Unlimited }, []kueue.PodSet{podSet("a", 1, "1M")},
			"Needs 1M gpu of a and unlimited are free now: waits for its turn.", nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := newScene()
			if tc.change != nil {
				tc.change(sc)
			}
			w := waiting("couldn't assign flavors to pod set main: insufficient unused quota", tc.sets...)
			holder := &world.Workload{
				Meta: named("team", "more"), Active: true, ClusterQueue: "q", State: world.Admitted, Conditions: cond("QuotaReserved", "True", "QuotaReserved", "", 0),
				Usage: []world.Use{{FlavorResource: cpu("a"), Amount: 2500}, {FlavorResource: cpu("b"), Amount: 1000}},
			}
			e := explained(snapshotOf(sc.rows(w, holder)...), w, now)
			if d := cmp.Diff(tc.want, e.Sentence); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.rows, e.Shortfall, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("shortfall (-want +got):\n%s", d)
			}
		})
	}
}
