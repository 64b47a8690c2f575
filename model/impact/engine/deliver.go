package engine

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"
	"sigs.k8s.io/kueue/pkg/workload/patching"
)

// deliver tells Kueue's event handlers and the Workloads' controller of every
// change of a Workload, as watch and work queue do, until nothing follows from
// it. It reports whether a Workload was admitted, evicted or set free.
func (r *run) deliver() (moved bool, err error) {
	for round := 0; ; round++ {
		changes := r.shelf.take()
		// Kueue writes the preemptions of a cycle eight at a time, in any order.
		slices.SortStableFunc(changes, func(a, b event.TypedUpdateEvent[*kueue.Workload]) int {
			return byName(client.ObjectKeyFromObject(a.ObjectNew), client.ObjectKeyFromObject(b.ObjectNew))
		})
		for _, e := range changes {
			moved = r.note(e) || moved
			r.workloads.Update(e)
			if err := r.heed(); err != nil {
				return moved, err
			}
			r.touched = append(r.touched, client.ObjectKeyFromObject(e.ObjectNew))
		}
		if len(r.touched) == 0 {
			return moved, nil
		}
		if round > mostRounds {
			return moved, fmt.Errorf("the controller of Kueue goes on changing Workload %s", r.touched[0])
		}
		keys := r.touched
		r.touched = nil
		slices.SortStableFunc(keys, byName)
		for _, k := range slices.Compact(keys) {
			// What claims devices and waits stays as it is: its claims are not here.
			if w := r.shelf.workload(k); w != nil && !held(w) && workload.HasDRA(w) {
				continue
			}
			if _, err := r.workloads.Reconcile(r.ctx, ctrl.Request{NamespacedName: k}); err != nil {
				return moved, fmt.Errorf("the controller of Kueue failed on Workload %s: %w", k, err)
			}
		}
	}
}

// mostRounds bounds what may follow from one change of a Workload.
const mostRounds = 50

// note keeps account of a change: who was evicted and by whom, and what it is a
// cause for.
func (r *run) note(e event.TypedUpdateEvent[*kueue.Workload]) bool {
	w, k := e.ObjectNew, client.ObjectKeyFromObject(e.ObjectNew)
	moved := false
	was, is := workload.Status(e.ObjectOld), workload.Status(w)
	if was != is {
		moved = true
		if is == workload.StatusAdmitted || is == workload.StatusQuotaReserved && was == workload.StatusPending {
			r.admitted++
		}
	}
	if held(e.ObjectOld) && !held(w) {
		r.cause()
		delete(r.due, k)
		if !evict.IsEvicted(e.ObjectOld) { // a reservation that was taken back
			c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved)
			if c != nil {
				r.evicted(Eviction{Workload: keyOf(w), Reason: c.Reason, Message: c.Message})
			}
		}
	}
	if !evict.IsEvicted(e.ObjectOld) && evict.IsEvicted(w) {
		moved = true
		if evicting(w) {
			r.due[k] = r.evictionEnd()
		}
		r.noteEviction(w)
	}
	if moved && !r.edited {
		r.restless[keyOf(w)] = true
	}
	return moved
}

func held(w *kueue.Workload) bool { return workload.HasQuotaReservation(w) }

// preemptorUID is how Kueue names the preemptor in the message of Preempted.
var preemptorUID = regexp.MustCompile(`UID: ([^,)]+)`)

func (r *run) noteEviction(w *kueue.Workload) {
	c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
	if c.Reason != kueue.WorkloadEvictedByPreemption {
		r.evicted(Eviction{Workload: keyOf(w), Reason: c.Reason, Message: c.Message})
		return
	}
	p, _ := preemptionOf(w)
	p.Preemptor = r.uids[p.PreemptorUID]
	if r.edited {
		r.out.Preemptions = append(r.out.Preemptions, p)
	}
	if r.times[p.Victim]++; r.times[p.Victim] > mostTimes {
		r.forth = p.Victim
	}
}

// mostTimes is how often a run lets one Workload be preempted. Kueue has no end
// to that where two take their quota from each other.
const mostTimes = 8

// preemptionOf is the Workload's last preemption, without the preemptor's name, and
// when it was; the zero time where it says of none.
func preemptionOf(w *kueue.Workload) (Preemption, time.Time) {
	p := Preemption{Victim: keyOf(w)}
	c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadPreempted)
	if c == nil || c.Status != metav1.ConditionTrue {
		return p, time.Time{}
	}
	p.Reason = c.Reason
	if m := preemptorUID.FindStringSubmatch(c.Message); m != nil {
		p.PreemptorUID = types.UID(m[1])
	}
	return p, c.LastTransitionTime.Time
}

func (r *run) evicted(e Eviction) {
	if r.edited {
		r.out.Evictions = append(r.out.Evictions, e)
	}
}

// evictionEnd is when an eviction that is issued now will have ended.
func (r *run) evictionEnd() time.Time {
	r.out.Evicts = true
	d := r.mode.Latency
	if r.mode.Spread > 0 {
		d += time.Duration(r.rnd.Int63n(int64(r.mode.Spread)))
	}
	return r.clock.Now().Add(d)
}

// endEvictions does what the job's controller does once the pods of an evicted
// job are gone, for those whose time has come: it takes back the reservation
// (Kueue's pkg/controller/jobframework/reconciler.go, "handle eviction").
func (r *run) endEvictions() (bool, error) {
	var keys []types.NamespacedName
	for k, t := range r.due {
		if !t.After(r.clock.Now()) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int {
		if c := r.due[a].Compare(r.due[b]); c != 0 {
			return c
		}
		return byName(a, b)
	})
	moved := false
	for _, k := range keys {
		delete(r.due, k)
		w := r.shelf.workload(k)
		if w == nil || !evicting(w) {
			continue
		}
		if err := r.endEviction(w.DeepCopy()); err != nil {
			return moved, fmt.Errorf("the eviction of Workload %s: %w", k, err)
		}
		if _, err := r.deliver(); err != nil {
			return moved, err
		}
		moved = true
	}
	return moved, nil
}

// pendingReason is what Kueue writes without its finer reasons.
const pendingReason = "Pending"

func (r *run) endEviction(w *kueue.Workload) error {
	ev := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
	requeue := ev.Reason == kueue.WorkloadEvictedByPreemption || ev.Reason == kueue.WorkloadEvictedDueToNodeFailures
	if features.Enabled(features.SkipReassignmentForPodOwnedWorkloads) && workload.OwnedBySinglePod(w) {
		requeue = false
	}
	return patching.PatchAdmissionStatus(r.ctx, r.shelf, w, r.clock, func(w *kueue.Workload) (bool, error) {
		updated := workload.SetRequeuedCondition(w, ev.Reason, ev.Message, requeue)
		reason := workload.UnadmittedWorkloadReasonWithFallback(kueue.WorkloadQuotaReservedReasonPendingEvaluation, pendingReason)
		return workload.UnsetQuotaReservationWithCondition(w, reason, ev.Message, r.clock.Now()) || updated, nil
	})
}

// adopted gives an owner to the Workloads of jobs whose owner is not in the
// object at hand: Kueue ends orphans, and whether one is an orphan is not a
// matter of the preview.
func adopted(o Objects) Objects {
	out := slices.Clone(o.Workloads)
	for i, w := range out {
		if len(w.OwnerReferences) == 0 && (w.Labels["kueue.x-k8s.io/job-uid"] != "" || w.DeletionTimestamp != nil) {
			c := w.DeepCopy()
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Unknown", Name: cmp.Or(c.Name, "unknown"), UID: "unknown"}}
			out[i] = c
		}
	}
	o.Workloads = out
	return o
}
