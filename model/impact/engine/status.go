package engine

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/constants"
	"sigs.k8s.io/kueue/pkg/workload"
)

// The status of a ClusterQueue, which is for people to read, moves Workloads all
// the same. A second after a Workload changed, Kueue's controller counts its
// ClusterQueue anew. If the status changed by that, the controller of cohorts
// looks at every cohort above the queue but the root; and for each that has an
// object it has everything that waits below the root tried again
// (pkg/controller/core/clusterqueue_controller.go, cohort_controller.go). In a tree
// of one level nothing follows.

// listener is told by Kueue's controllers what those of ClusterQueues and cohorts
// look at next. Not for use by several goroutines at once.
type listener struct {
	manager *qcache.Manager
	counted []string              // ClusterQueues of which a Workload changed
	queues  []*kueue.ClusterQueue // ClusterQueues that changed
}

// NotifyWorkloadUpdate implements core.WorkloadUpdateWatcher as the controller of
// ClusterQueues does (requestCQForWL).
func (l *listener) NotifyWorkloadUpdate(was, is *kueue.Workload) {
	switch {
	case was == nil:
		l.count(is)
	case is == nil || was.Spec.QueueName == is.Spec.QueueName:
		l.count(was)
	default:
		l.count(was)
		l.count(is)
	}
}

func (l *listener) count(w *kueue.Workload) {
	if workload.HasQuotaReservation(w) {
		l.counted = append(l.counted, string(w.Status.Admission.ClusterQueue))
	} else if name, ok := l.manager.ClusterQueueForWorkload(w); ok {
		l.counted = append(l.counted, string(name))
	}
}

// NotifyClusterQueueUpdate implements core.ClusterQueueUpdateWatcher as the
// controller of cohorts does.
func (l *listener) NotifyClusterQueueUpdate(was, is *kueue.ClusterQueue) {
	if is == nil {
		is = was
	}
	l.queues = append(l.queues, is)
}

// heed notes when the ClusterQueues of changed Workloads are counted anew, and lets
// the controller of cohorts follow the ClusterQueues that changed.
func (r *run) heed() error {
	for _, name := range r.listener.counted {
		if _, ok := r.counts[name]; !ok {
			r.counts[name] = r.after(constants.UpdatesBatchPeriod)
		}
	}
	r.listener.counted = r.listener.counted[:0]
	changed := r.listener.queues
	r.listener.queues = nil
	seen := map[kueue.CohortReference]bool{}
	for _, q := range changed {
		above, err := r.cache.ClusterQueueAncestors(q)
		if err != nil { // a cycle, which Kueue logs and lets be
			continue
		}
		for _, c := range above {
			if seen[c] {
				continue
			}
			seen[c] = true
			if _, err := r.cohorts.Reconcile(r.ctx, ctrl.Request{NamespacedName: types.NamespacedName{Name: string(c)}}); err != nil {
				return err
			}
			if r.shelf.cohorts[string(c)] != nil {
				r.cause()
			}
		}
	}
	return nil
}

// after is the time in d, or now where what waits is not waited for.
func (r *run) after(d time.Duration) time.Time {
	if r.mode.Eager {
		d = 0
	}
	return r.clock.Now().Add(d)
}

// count has Kueue's controller count the ClusterQueues whose time has come.
func (r *run) count() error {
	var names []string
	for n, t := range r.counts {
		if !t.After(r.clock.Now()) {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if c := r.counts[a].Compare(r.counts[b]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	for _, n := range names {
		delete(r.counts, n)
		if err := r.countOne(n); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) countOne(name string) error {
	was := r.shelf.queues[name]
	if _, err := r.cqs.Reconcile(r.ctx, ctrl.Request{NamespacedName: types.NamespacedName{Name: name}}); err != nil {
		return err
	}
	if is := r.shelf.queues[name]; is != was {
		r.cqs.Update(event.TypedUpdateEvent[*kueue.ClusterQueue]{ObjectOld: was, ObjectNew: is})
	}
	return r.heed()
}

// firstCount gives every ClusterQueue the quota in its status that Kueue counts
// for it, and leaves the numbers of Workloads as they are: those may be older than
// what they count, until the next Workload changes. Objects from elsewhere need
// not say more of the status.
func (r *run) firstCount() error {
	for _, name := range slices.Sorted(maps.Keys(r.shelf.queues)) {
		s := r.shelf.queues[name].Status
		if err := r.countOne(name); err != nil {
			return err
		}
		q := *r.shelf.queues[name]
		q.Status.PendingWorkloads, q.Status.ReservingWorkloads, q.Status.AdmittedWorkloads = s.PendingWorkloads, s.ReservingWorkloads, s.AdmittedWorkloads
		r.shelf.queues[name] = &q
	}
	return nil
}

// asCounted returns the ClusterQueue with the status that the shelf has for it: a
// change of the spec leaves that alone.
func (s *shelf) asCounted(q *kueue.ClusterQueue) *kueue.ClusterQueue {
	old := s.queues[q.Name]
	if old == nil {
		return q
	}
	n := *q
	n.Status = old.Status
	return &n
}

// putStatus stores the status of a ClusterQueue, in a copy. Kueue writes it whether
// it changed or not (updateCqStatusIfChanged compares a value with a pointer); the
// API server makes no new version of what is the same.
func (s *shelf) putStatus(q *kueue.ClusterQueue) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.queues[q.Name]
	if old == nil {
		return notFound(q, types.NamespacedName{Name: q.Name})
	}
	if equality.Semantic.DeepEqual(old.Status, q.Status) {
		return nil
	}
	n := *old
	n.Status = *q.Status.DeepCopy()
	s.version++
	n.ResourceVersion = strconv.Itoa(s.version)
	s.queues[q.Name] = &n
	return nil
}
