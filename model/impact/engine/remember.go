package engine

import (
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/workload"
)

// A ClusterQueue in Kueue's memory knows who of it preempted last, until that one
// is admitted: with BestEffortFIFO it stands before all others, whatever their
// priority (preemptorWorkload in pkg/cache/queue/cluster_queue.go). No object says
// so, but the victims name it; a manager that was started since has forgotten it.

// remember gives the queues this memory back.
func (r *run) remember() {
	for _, k := range r.lastPreemptors() {
		w := r.shelf.workload(k)
		info := workload.NewInfo(w.DeepCopy())
		info.LastEvaluatedGeneration = w.Generation
		// Taken out first: where it stands in the queue changes.
		r.queues.DeleteWorkload(r.log, workload.Key(w))
		r.queues.RequeueWorkload(r.ctx, info, qcache.RequeueReasonPendingPreemption, "")
	}
}

// lastPreemptors are those that their ClusterQueue still knows to have preempted
// last: they wait, and were not admitted since.
func (r *run) lastPreemptors() []types.NamespacedName {
	type mark struct {
		by types.NamespacedName
		at time.Time
	}
	last := map[kueue.ClusterQueueReference]mark{}
	for _, k := range r.shelf.keys() {
		p, at := preemptionOf(r.shelf.workload(k))
		by, known := r.uids[p.PreemptorUID]
		if at.IsZero() || !known {
			continue
		}
		q := r.shelf.locals[localOf(r.shelf.workload(types.NamespacedName(by)))]
		if q == nil {
			continue
		}
		if m, ok := last[q.Spec.ClusterQueue]; !ok || at.After(m.at) {
			last[q.Spec.ClusterQueue] = mark{types.NamespacedName(by), at}
		}
	}
	var out []types.NamespacedName
	for _, m := range last {
		w := r.shelf.workload(m.by)
		evicted := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
		if !held(w) && workload.IsAdmissible(w) && (evicted == nil || evicted.LastTransitionTime.Time.Before(m.at)) {
			out = append(out, client.ObjectKeyFromObject(w))
		}
	}
	return out
}
