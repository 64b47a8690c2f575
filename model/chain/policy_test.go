package chain

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/common"
	kueueworkload "sigs.k8s.io/kueue/pkg/workload"

	"cli.holdfast.dev/holdfast/model/position"
	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/world"
)

// What is known of both sides is judged as Kueue's SatisfiesPreemptionPolicy does.
func TestSatisfiesIsKueues(t *testing.T) {
	order := kueueworkload.Ordering{PodsReadyRequeuingTimestamp: config.EvictionTimestamp}
	policies := []kueue.PreemptionPolicy{kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyLowerOrNewerEqualPriority, kueue.PreemptionPolicyAny}
	rapid.Check(t, func(t *rapid.T) {
		side := func(name string) (*kueue.Workload, party) {
			p := int32(rapid.IntRange(-1, 1).Draw(t, name+" priority"))
			second := func(what string) metav1.Time {
				return metav1.NewTime(t0.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, name+what)) * time.Second))
			}
			w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: second(" created")}, Spec: kueue.WorkloadSpec{Priority: &p}}
			if reason := rapid.SampledFrom([]string{"", "PodsReadyTimeout", "AdmissionCheck", "Preempted"}).Draw(t, name+" evicted"); reason != "" {
				w.Status.Conditions = []metav1.Condition{{Type: kueue.WorkloadEvicted, Status: "True", Reason: reason, LastTransitionTime: second(" evicted at")}}
			}
			queued := position.QueuedAt(project.Workload(w))
			return w, party{&p, &queued}
		}
		policy := rapid.SampledFrom(policies).Draw(t, "policy")
		preemptor, a := side("preemptor")
		victim, b := side("victim")
		want := common.SatisfiesPreemptionPolicy(logr.Discard(), preemptor, victim, order, policy)
		if d := cmp.Diff(&want, satisfies(string(policy), a, b)); d != "" {
			t.Errorf("%s (-Kueue +ours):\n%s", policy, d)
		}
	})
}

func TestHolds(t *testing.T) {
	yes, no := answer(true), answer(false)
	low, high, limit := int32(1), int32(9), int32(5)
	early, late := t0, t0.Add(time.Second)
	is := func(p *int32) party { return party{priority: p} }
	tests := map[string]struct {
		policy            world.PreemptionPolicy
		reason            string
		preemptor, victim party
		want              *bool
	}{
		"within: lower":                    {world.PreemptionPolicy{WithinClusterQueue: "LowerPriority", ReclaimWithinCohort: "Never"}, "InClusterQueue", is(&high), is(&low), yes},
		"within: equal":                    {world.PreemptionPolicy{WithinClusterQueue: "LowerPriority"}, "InClusterQueue", is(&low), is(&low), no},
		"within: changed to Never":         {world.PreemptionPolicy{WithinClusterQueue: "Never", ReclaimWithinCohort: "Any"}, "InClusterQueue", is(&high), is(&low), no},
		"within: Never, nobody known":      {world.PreemptionPolicy{WithinClusterQueue: "Never"}, "InClusterQueue", party{}, party{}, no},
		"within: preemptor unknown":        {world.PreemptionPolicy{WithinClusterQueue: "LowerPriority"}, "InClusterQueue", party{}, is(&low), nil},
		"within: equal and newer":          {world.PreemptionPolicy{WithinClusterQueue: "LowerOrNewerEqualPriority"}, "InClusterQueue", party{&low, &early}, party{&low, &late}, yes},
		"within: equal and of one time":    {world.PreemptionPolicy{WithinClusterQueue: "LowerOrNewerEqualPriority"}, "InClusterQueue", party{&low, &early}, party{&low, &early}, no},
		"within: equal, times not known":   {world.PreemptionPolicy{WithinClusterQueue: "LowerOrNewerEqualPriority"}, "InClusterQueue", is(&low), party{&low, &late}, nil},
		"within: lower, times not known":   {world.PreemptionPolicy{WithinClusterQueue: "LowerOrNewerEqualPriority"}, "InClusterQueue", is(&high), is(&low), yes},
		"reclaim: any":                     {world.PreemptionPolicy{WithinClusterQueue: "Never", ReclaimWithinCohort: "Any"}, "InCohortReclamation", party{}, party{}, yes},
		"reclaim: higher":                  {world.PreemptionPolicy{ReclaimWithinCohort: "LowerPriority"}, "InCohortReclamation", is(&low), is(&high), no},
		"fair: reclaim decides":            {world.PreemptionPolicy{WithinClusterQueue: "Never", ReclaimWithinCohort: "LowerPriority"}, "InCohortFairSharing", is(&high), is(&low), yes},
		"borrow: lower":                    {world.PreemptionPolicy{ReclaimWithinCohort: "Any", BorrowWithinCohort: "LowerPriority"}, "InCohortReclaimWhileBorrowing", is(&high), is(&low), yes},
		"borrow: never":                    {world.PreemptionPolicy{ReclaimWithinCohort: "Any", BorrowWithinCohort: "Never"}, "InCohortReclaimWhileBorrowing", is(&high), is(&low), no},
		"borrow: any does not reach it":    {world.PreemptionPolicy{ReclaimWithinCohort: "Any", BorrowWithinCohort: "LowerPriority"}, "InCohortReclaimWhileBorrowing", is(&low), is(&low), no},
		"borrow: reclaim is off":           {world.PreemptionPolicy{ReclaimWithinCohort: "Never", BorrowWithinCohort: "LowerPriority"}, "InCohortReclaimWhileBorrowing", is(&high), is(&low), no},
		"borrow: victim at the threshold":  {world.PreemptionPolicy{ReclaimWithinCohort: "Any", BorrowWithinCohort: "LowerPriority", BorrowMaxPriority: &limit}, "InCohortReclaimWhileBorrowing", is(&high), is(&limit), yes},
		"borrow: victim above it":          {world.PreemptionPolicy{ReclaimWithinCohort: "Any", BorrowWithinCohort: "LowerPriority", BorrowMaxPriority: &low}, "InCohortReclaimWhileBorrowing", is(&high), is(&limit), no},
		"borrow: above it, preemptor gone": {world.PreemptionPolicy{ReclaimWithinCohort: "Any", BorrowWithinCohort: "LowerPriority", BorrowMaxPriority: &low}, "InCohortReclaimWhileBorrowing", party{}, is(&limit), no},
		"a policy of tomorrow":             {world.PreemptionPolicy{WithinClusterQueue: "Sometimes", ReclaimWithinCohort: "Any", BorrowWithinCohort: "Sometimes"}, "InClusterQueue", is(&high), is(&low), nil},
		"borrow: a policy of tomorrow":     {world.PreemptionPolicy{ReclaimWithinCohort: "Any", BorrowWithinCohort: "Sometimes"}, "InCohortReclaimWhileBorrowing", is(&high), is(&low), nil},
		"a reason of tomorrow":             {world.PreemptionPolicy{WithinClusterQueue: "Never", ReclaimWithinCohort: "Never"}, "InOuterSpace", is(&high), is(&low), nil},
		"no reason":                        {world.PreemptionPolicy{WithinClusterQueue: "Never", ReclaimWithinCohort: "Never"}, "", is(&high), is(&low), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, holds(tc.policy, tc.reason, tc.preemptor, tc.victim)); d != "" {
				t.Errorf("holds (-want +got):\n%s", d)
			}
		})
	}
}
