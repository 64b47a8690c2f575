package position

import (
	"cmp"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/util/priority"
	"sigs.k8s.io/kueue/pkg/workload"

	"cli.holdfast.dev/holdfast/model/project"
)

// Estimate takes the Workloads that Kueue calls admissible and whose backoff is
// over, by Kueue's priority, Kueue's queue timestamp and the UID.
func TestEstimateIsKueues(t *testing.T) {
	order := workload.Ordering{PodsReadyRequeuingTimestamp: config.EvictionTimestamp}
	rapid.Check(t, func(t *rapid.T) {
		s := cluster()
		var line []*kueue.Workload
		for i := range rapid.IntRange(0, 12).Draw(t, "workloads") {
			w := kueueWorkload(t, i)
			w.Namespace, w.Spec.QueueName = "ns", "a"
			s.Put(project.Workload(w))
			waits := apimeta.IsStatusConditionFalse(w.Status.Conditions, kueue.WorkloadRequeued) || w.Status.RequeueState != nil && w.Status.RequeueState.RequeueAt.After(t0)
			if workload.IsAdmissible(w) && !waits {
				line = append(line, w)
			}
		}
		slices.SortFunc(line, func(a, b *kueue.Workload) int {
			return cmp.Or(
				cmp.Compare(priority.EffectivePriority(logr.Discard(), b), priority.EffectivePriority(logr.Discard(), a)),
				order.GetQueueOrderTimestamp(a).Compare(order.GetQueueOrderTimestamp(b).Time),
				cmp.Compare(a.UID, b.UID),
			)
		})
		want := map[types.UID]int{}
		for i, w := range line {
			want[w.UID] = i + 1
		}
		if d := gocmp.Diff(want, Estimate(s.Snapshot()), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("positions (-Kueue +ours):\n%s", d)
		}
	})
}
