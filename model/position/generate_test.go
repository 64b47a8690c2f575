package position

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

var (
	namespaces  = []string{"blue", "red"}
	localQueues = []string{"main", "side", "none"} // the last does not exist
)

// one draws an element that need not be the first.
func one[T any](t *rapid.T, from []T, label string) T { return rapid.SampledFrom(from).Draw(t, label) }

func seconds(t *rapid.T, label string) metav1.Time {
	return metav1.NewTime(t0.Add(time.Duration(rapid.IntRange(-5, 0).Draw(t, label)) * time.Second))
}

func kueueWorkload(t *rapid.T, i int) *kueue.Workload {
	w := &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: one(t, namespaces, "namespace"), Name: fmt.Sprintf("w-%02d", i), UID: types.UID(rapid.StringMatching(`[a-c]{2}`).Draw(t, "uid") + fmt.Sprint(i)),
			CreationTimestamp: seconds(t, "created"), Generation: 1,
		},
		Spec: kueue.WorkloadSpec{
			QueueName: kueue.LocalQueueName(one(t, localQueues, "localQueue")),
			// Unlike requests keep Kueue from treating Workloads as alike, which would
			// move them together.
			PodSets: []kueue.PodSet{{Name: "main", Count: int32(i + 1)}},
		},
	}
	if rapid.Bool().Draw(t, "has priority") {
		p := int32(rapid.IntRange(-1, 2).Draw(t, "priority"))
		w.Spec.Priority = &p
	}
	if rapid.IntRange(0, 9).Draw(t, "deactivated") == 9 {
		off := false
		w.Spec.Active = &off
	}
	// A random condition of each type that bears on the order, or none.
	drawn := func(typ string, options ...metav1.Condition) {
		k := rapid.IntRange(-len(options), len(options)-1).Draw(t, typ)
		if k < 0 {
			return
		}
		c := options[k]
		c.Type, c.LastTransitionTime = typ, seconds(t, typ+" at")
		w.Status.Conditions = append(w.Status.Conditions, c)
		if c.Reason == kueue.WorkloadAdmissionGated {
			w.Annotations = map[string]string{"kueue.x-k8s.io/admission-gated-by": "audit"}
		}
	}
	drawn(kueue.WorkloadQuotaReserved,
		metav1.Condition{Status: "False", Reason: "Pending"}, metav1.Condition{Status: "False", Reason: "Inadmissible"}, metav1.Condition{Status: "False", Reason: "Waiting"},
		metav1.Condition{Status: "False", Reason: kueue.WorkloadOnHold}, metav1.Condition{Status: "False", Reason: kueue.WorkloadAdmissionGated}, metav1.Condition{Status: "True", Reason: "QuotaReserved"},
	)
	drawn(kueue.WorkloadEvicted,
		metav1.Condition{Status: "True", Reason: "PodsReadyTimeout"}, metav1.Condition{Status: "True", Reason: "AdmissionCheck"}, metav1.Condition{Status: "True", Reason: "Preempted"},
		metav1.Condition{Status: "False", Reason: "PodsReadyTimeout"}, metav1.Condition{Status: "False", Reason: "QuotaReserved"},
	)
	drawn(kueue.WorkloadRequeued, metav1.Condition{Status: "True", Reason: "Preempted"}, metav1.Condition{Status: "True", Reason: "BackoffFinished"}, metav1.Condition{Status: "False", Reason: "PodsReadyTimeout"})
	drawn(kueue.WorkloadPreempted, metav1.Condition{Status: "True", Reason: "InCohortReclaimWhileBorrowing"}, metav1.Condition{Status: "True", Reason: "InClusterQueue"})
	drawn(kueue.WorkloadWaitingForReplacementPods, metav1.Condition{Status: "False"}, metav1.Condition{Status: "False"}, metav1.Condition{Status: "True"})
	if rapid.IntRange(0, 9).Draw(t, "finished") == 9 {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kueue.WorkloadFinished, Status: "True"})
	}
	// Kueue's queues look at the real clock: far before and far after it.
	if years := rapid.SampledFrom([]int{0, 0, 0, -100, 100}).Draw(t, "requeueAt"); years != 0 {
		at := metav1.NewTime(t0.AddDate(years, 0, 0))
		w.Status.RequeueState = &kueue.RequeueState{RequeueAt: &at}
	}
	return w
}
