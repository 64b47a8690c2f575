// Package position estimates the order in which Kueue tries the pending Workloads
// of each ClusterQueue, where the Visibility API is not asked or does not answer.
// Pure: values in, values out.
//
// The order is that of Kueue's baseCompareFunc (pkg/cache/queue/cluster_queue.go):
// the Workload that preempts others now, then the higher priority, then the
// earlier queue timestamp, then the lower UID. What the objects do not show is not
// in it: with admission fair sharing Kueue sorts by the use of the LocalQueue
// first; the gate PriorityBoost, off by default, adds to priorities; and a
// configuration may order PodsReady timeouts by creation.
package position

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Estimate returns the place of each Workload, by UID, among those of its
// ClusterQueue; the first is 1. A Workload that is not in the map stands in no
// queue (see standing), or has no UID. The map is empty where not every Workload
// or LocalQueue can be seen, since then nobody's place is known. It may be called
// from any goroutine and costs one look at every Workload and a sort of the
// pending ones.
func Estimate(s *store.Snapshot) map[types.UID]int {
	all, n := lines(s, nil), 0
	for _, line := range all {
		n += len(line)
	}
	out := make(map[types.UID]int, n)
	for name, line := range all {
		arrange(s, name, line)
		for i, p := range line {
			if p.w.UID != "" {
				out[p.w.UID] = i + 1
			}
		}
	}
	return out
}

// In returns the pending Workloads of one ClusterQueue in the estimated order;
// empty where Estimate would be.
func In(s *store.Snapshot, clusterQueue string) []*world.Workload {
	line := lines(s, &clusterQueue)[clusterQueue]
	arrange(s, clusterQueue, line)
	out := make([]*world.Workload, 0, len(line))
	for _, p := range line {
		out = append(out, p.w)
	}
	return out
}

// QueuedAt is the time by which Kueue orders Workloads of equal priority
// (Ordering.GetQueueOrderTimestamp in pkg/workload): that of the eviction while
// the Workload is evicted for pods that were not ready or by an admission check,
// else that of its creation.
func QueuedAt(w *world.Workload) time.Time {
	c, ok := w.Conditions.Get(world.CondEvicted)
	if ok && c.Status == "True" && (c.Reason == "PodsReadyTimeout" || c.Reason == "AdmissionCheck") {
		return c.At
	}
	return w.Created
}

// place is a Workload with the second of its QueuedAt: Kueue's times have no parts
// of a second.
type place struct {
	w      *world.Workload
	queued int64
}

// lines collects the Workloads that stand in each ClusterQueue's queue, unsorted;
// with only, those of that ClusterQueue alone.
func lines(s *store.Snapshot, only *string) map[string][]place {
	if !s.Fresh(world.KindWorkload).Usable() || !s.Fresh(world.KindLocalQueue).Usable() || s.Contract.Limit() != "" {
		return nil
	}
	open := map[world.Key]string{}
	for _, q := range s.LocalQueues {
		if only != nil && q.ClusterQueue != *only || q.StopPolicy.Stopped() {
			continue // Kueue's queues forget a stopped LocalQueue with all that is in it
		}
		if s.Fresh(world.KindClusterQueue).Usable() && s.ClusterQueue(q.ClusterQueue) == nil {
			continue
		}
		open[q.Key] = q.ClusterQueue
	}
	out := map[string][]place{}
	for _, w := range s.Workloads {
		if !standing(w, s.At) {
			continue
		}
		if name, ok := open[world.Key{Namespace: w.Namespace, Name: w.LocalQueue}]; ok {
			out[name] = append(out[name], place{w, QueuedAt(w).Unix()})
		}
	}
	return out
}

// standing reports whether Kueue would try the Workload if its turn came: it is
// admissible (IsAdmissible in pkg/workload) and its backoff is over
// (backoffWaitingTimeExpired in pkg/cache/queue). Kueue keeps a Workload in
// backoff beside the queue, and the Visibility API may list it there or not; one
// that was tried in vain stays where it stands, as does one of a held or inactive
// ClusterQueue, whose queue waits as it is. A namespace that the ClusterQueue does
// not select takes nobody out either.
func standing(w *world.Workload, now time.Time) bool {
	if !w.Active || w.Conditions.True(world.CondFinished) || w.Conditions.True(world.CondQuotaReserved) || w.Conditions.True("WaitingForReplacementPods") {
		return false
	}
	c, ok := w.Conditions.Get(world.CondQuotaReserved)
	// The annotation alone gates nothing where the feature is off, as it was by
	// default before 0.19; Kueue writes the reason once it heeds it.
	if ok && (c.Reason == "OnHold" || c.Reason == "AdmissionGated" && w.GatedBy != "") {
		return false
	}
	r, ok := w.Conditions.Get(world.CondRequeued)
	return !(ok && r.Status == "False") && !w.RequeueAt.After(now)
}

// arrange sorts the line of the ClusterQueue.
func arrange(s *store.Snapshot, clusterQueue string, line []place) {
	first := sticky(s, clusterQueue, line)
	slices.SortFunc(line, func(a, b place) int {
		switch {
		case a.w == b.w:
			return 0
		case a.w == first:
			return -1
		case b.w == first:
			return 1
		case a.w.Priority != b.w.Priority:
			return cmp.Compare(b.w.Priority, a.w.Priority)
		case a.queued != b.queued:
			return cmp.Compare(a.queued, b.queued)
		case a.w.UID != b.w.UID:
			return cmp.Compare(a.w.UID, b.w.UID)
		case a.w.Key.Less(b.w.Key):
			return -1
		}
		return 1
	})
}

// pendingPreemption is what Kueue's scheduler writes on a Workload that waits for
// the quota of those it preempted (markPreemptionOutcome, and the deferred fit of
// 0.19, in pkg/scheduler/scheduler.go).
func pendingPreemption(message string) bool {
	return strings.Contains(message, ". Pending the preemption of ") || strings.Contains(message, "but will fit after these preemptions complete")
}

// sticky finds the Workload that a BestEffortFIFO ClusterQueue keeps at its head
// because it preempts others, also when one of higher priority comes. Kueue
// remembers one, in memory; the message is its trace. Nil for none, and where more
// than one bear it.
func sticky(s *store.Snapshot, clusterQueue string, line []place) *world.Workload {
	if q := s.ClusterQueue(clusterQueue); q == nil || q.Strategy == "StrictFIFO" {
		return nil
	}
	var found *world.Workload
	for _, p := range line {
		c, _ := p.w.Conditions.Get(world.CondQuotaReserved)
		if !pendingPreemption(c.Message) {
			continue
		}
		if found != nil {
			return nil
		}
		found = p.w
	}
	return found
}
