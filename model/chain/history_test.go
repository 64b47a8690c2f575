package chain

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kueueworkload "sigs.k8s.io/kueue/pkg/workload"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/world"
)

// When Kueue reserves quota for a victim again, the time of the preemption is lost
// from the condition; only an event may still have it.
func TestTimeOfAPreemptionThatIsOver(t *testing.T) {
	o := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "v", UID: "v"}}
	kueueworkload.SetPreemptedCondition(o, t0, "InClusterQueue", "Preempted to accommodate a workload (UID: p, JobUID: UNKNOWN) due to prioritization in the ClusterQueue")
	before := project.Workload(o)
	kueueworkload.SetQuotaReservation(o, &kueue.Admission{ClusterQueue: "main"}, clocktesting.NewFakeClock(t0.Add(time.Hour)))
	after := project.Workload(o)
	event := world.Event{Kind: world.KindWorkload, Object: before.Key, ObjectUID: "v", Reason: "EvictedDueToPreempted", Message: "Preempted to accommodate a workload (UID: p, JobUID: UNKNOWN)", At: t0}

	type answer struct {
		At      time.Time
		History bool
	}
	for name, tc := range map[string]struct {
		w      *world.Workload
		events []world.Event
		want   answer
	}{
		"not over":            {before, nil, answer{t0, false}},
		"over":                {after, nil, answer{time.Time{}, true}},
		"over, with an event": {after, []world.Event{event}, answer{t0, true}},
	} {
		c := Of(snapshot(tc.w), tc.w, Options{Events: tc.events})
		if d := cmp.Diff(tc.want, answer{c.Links[0].At, c.Links[0].History}); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if got := c.Links[0].Reason; got != "InClusterQueue" {
			t.Errorf("%s: reason %q", name, got)
		}
	}
}
