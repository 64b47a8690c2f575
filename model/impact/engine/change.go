package engine

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/core"
)

// apply stores the changed objects and tells Kueue's handlers of them, in their
// order, and lets the scheduler run between them where the mode says so. Where
// Kueue's controller looks anew at the Workloads of a queue (its
// workloadQueueHandler), so does this.
func (r *run) apply(ctx context.Context, changes []Change) error {
	for i, c := range changes {
		if err := r.applyOne(c); err != nil {
			return err
		}
		r.cause()
		if err := r.heed(); err != nil {
			return err
		}
		if _, err := r.deliver(); err != nil {
			return err
		}
		if r.mode.Between == 0 || !pausesAfter(i, len(changes)) {
			continue
		}
		if err := r.settle(ctx, r.mode.Between); err != nil || r.out.Bound != "" {
			return err
		}
	}
	return nil
}

// mostBetween bounds how often the scheduler runs between changes: a priority
// class changes every Workload that has it.
const mostBetween = 20

// pausesAfter reports whether the scheduler runs after change i of n, in a mode
// in which it does so at all.
func pausesAfter(i, n int) bool { return i < n-1 && i%((n-2)/mostBetween+1) == 0 }

func (r *run) applyOne(c Change) error {
	switch kind := firstOf(c.New, c.Old).(type) {
	case *kueue.ClusterQueue:
		if q, ok := c.New.(*kueue.ClusterQueue); ok {
			c.New = r.shelf.asCounted(q)
		}
		r.counts[kind.Name] = r.clock.Now()
		return change(c, r.shelf.queues, nil, r.cqs, func(o, n *kueue.ClusterQueue) {
			if o == nil || n == nil || !equality.Semantic.DeepEqual(o.Spec.StopPolicy, n.Spec.StopPolicy) ||
				!equality.Semantic.DeepEqual(o.Spec.AdmissionChecksStrategy, n.Spec.AdmissionChecksStrategy) {
				r.touchQueue(kind.Name)
			}
		})
	case *kueue.LocalQueue:
		return r.changeLocal(c)
	case *kueue.Cohort:
		if c.New == nil {
			delete(r.shelf.cohorts, kind.Name)
		} else {
			r.shelf.cohorts[kind.Name] = kind
		}
		_, err := r.cohorts.Reconcile(r.ctx, ctrl.Request{NamespacedName: types.NamespacedName{Name: kind.Name}})
		return err
	case *kueue.ResourceFlavor:
		return change(c, r.shelf.flavors, nil, r.flavors, nil)
	case *kueue.AdmissionCheck:
		return change(c, r.shelf.checks, nil, r.checks, nil)
	case *kueue.Workload:
		if c.New == nil || c.Old == nil {
			return fmt.Errorf("a preview cannot make or delete Workload %s/%s", kind.Namespace, kind.Name)
		}
		r.shelf.mu.Lock()
		defer r.shelf.mu.Unlock()
		r.shelf.store(kind.DeepCopy())
		return nil
	default:
		return fmt.Errorf("a preview cannot change a %T", kind)
	}
}

func firstOf(a, b client.Object) client.Object {
	if a != nil {
		return a
	}
	return b
}

// handlers are the event handlers of one of Kueue's controllers.
type handlers[T client.Object] interface {
	Create(event.TypedCreateEvent[T]) bool
	Update(event.TypedUpdateEvent[T]) bool
	Delete(event.TypedDeleteEvent[T]) bool
}

var (
	_ handlers[*kueue.ClusterQueue]   = (*core.ClusterQueueReconciler)(nil)
	_ handlers[*kueue.ResourceFlavor] = (*core.ResourceFlavorReconciler)(nil)
	_ handlers[*kueue.AdmissionCheck] = (*core.AdmissionCheckReconciler)(nil)
	_ handlers[*kueue.LocalQueue]     = (*core.LocalQueueReconciler)(nil)
)

// change stores the object and calls the handler of what happened to it, then
// after with the object before and now.
func change[T client.Object](c Change, shelf map[string]T, put func(T), h handlers[T], after func(o, n T)) error {
	o, okOld := c.Old.(T)
	n, okNew := c.New.(T)
	if c.Old != nil && !okOld || c.New != nil && !okNew {
		return fmt.Errorf("a change of a %T to a %T", c.Old, c.New)
	}
	switch {
	case c.New == nil:
		if shelf != nil {
			delete(shelf, o.GetName())
		}
		h.Delete(event.TypedDeleteEvent[T]{Object: o})
	case c.Old == nil:
		store(shelf, put, n)
		h.Create(event.TypedCreateEvent[T]{Object: n})
	default:
		store(shelf, put, n)
		h.Update(event.TypedUpdateEvent[T]{ObjectOld: o, ObjectNew: n})
	}
	if after != nil {
		after(o, n)
	}
	return nil
}

func store[T client.Object](shelf map[string]T, put func(T), n T) {
	if put != nil {
		put(n)
		return
	}
	shelf[n.GetName()] = n
}

func (r *run) changeLocal(c Change) error {
	q, _ := firstOf(c.New, c.Old).(*kueue.LocalQueue)
	k := client.ObjectKeyFromObject(q)
	if c.New == nil {
		r.shelf.dropLocal(k)
	}
	return change(c, nil, r.shelf.putLocal, r.lqs, func(o, n *kueue.LocalQueue) {
		if o == nil || n == nil || !equality.Semantic.DeepEqual(o.Spec.StopPolicy, n.Spec.StopPolicy) {
			r.touchLocal(k)
		}
	})
}

// touchQueue has the controller look at every Workload of the ClusterQueue.
func (r *run) touchQueue(name string) {
	for _, k := range slices.Clone(r.shelf.ofQueue[name]) {
		r.touchLocal(k)
	}
}

func (r *run) touchLocal(k types.NamespacedName) {
	r.touched = append(r.touched, r.shelf.byLocal[k]...)
}
