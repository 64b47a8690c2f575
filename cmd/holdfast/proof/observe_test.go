//go:build sandbox

package proof

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"
)

const (
	// calm is how long no Workload may move (moving) for a world to be settled. The
	// longest pause within what goes on is the second after which Kueue tries again
	// what waits; an open eviction is waited for.
	calm = 4 * time.Second
	// settleWithin bounds how long one may go on.
	settleWithin = 90 * time.Second
)

// errRestless is a world in which Workloads go on changing.
var errRestless = errors.New("the world did not come to rest")

// observer sees every change of the Workloads of a namespace, from its begin.
type observer struct {
	mu    sync.Mutex
	work  map[string]*kueue.Workload // by name
	moved time.Time                  // the last change of a status
	err   error

	marked  time.Time
	truth   facts // since mark; Admitted is not kept here
	told    []string
	began   map[string]time.Time
	lasted  []time.Duration
	stopped func()
}

// observe watches the namespace, which must be new, until stop.
func observe(ctx context.Context, c client.WithWatch, namespace string) (*observer, error) {
	ctx, cancel := context.WithCancel(ctx)
	w, err := c.Watch(ctx, &kueue.WorkloadList{}, client.InNamespace(namespace))
	if err != nil {
		cancel()
		return nil, err
	}
	o := &observer{work: map[string]*kueue.Workload{}, began: map[string]time.Time{}, moved: time.Now()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range w.ResultChan() {
			x, ok := e.Object.(*kueue.Workload)
			if !ok {
				o.fail(fmt.Errorf("the watch of %s says %v", namespace, e.Object))
				return
			}
			o.see(x, e.Type == "DELETED")
		}
		if ctx.Err() == nil {
			o.fail(fmt.Errorf("the watch of %s ended", namespace))
		}
	}()
	o.stopped = func() { cancel(); <-done }
	return o, nil
}

func (o *observer) stop() { o.stopped() }

func (o *observer) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
}

func (o *observer) see(x *kueue.Workload, gone bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	was := o.work[x.Name]
	if gone {
		delete(o.work, x.Name)
		o.moved = time.Now()
		return
	}
	x.ManagedFields = nil
	o.work[x.Name] = x
	if was == nil || was.Generation != x.Generation || !equality.Semantic.DeepEqual(moving(was), moving(x)) {
		o.moved = time.Now()
	}
	if was == nil || was.Generation != x.Generation || !equality.Semantic.DeepEqual(was.Status, x.Status) {
		o.told = append(o.told, fmt.Sprintf("%7.3f %s %s", time.Since(o.marked).Seconds(), x.Name, stand(x)))
	}
	c := apimeta.FindStatusCondition(x.Status.Conditions, kueue.WorkloadEvicted)
	if evict.IsEvicted(x) && (was == nil || !evict.IsEvicted(was) || apimeta.FindStatusCondition(was.Status.Conditions, kueue.WorkloadEvicted).Reason != c.Reason) {
		o.began[x.Name] = time.Now()
		o.evicted(x, c)
	}
	if began, ok := o.began[x.Name]; ok && !evicting(x) {
		o.lasted = append(o.lasted, time.Since(began))
		delete(o.began, x.Name)
	}
}

// moving is the Workload's status without the words of its conditions. Kueue tries
// the head of a StrictFIFO queue without end and may put two messages in turns, many
// times a second; nobody moves by that.
func moving(w *kueue.Workload) kueue.WorkloadStatus {
	s := *w.Status.DeepCopy()
	for i := range s.Conditions {
		s.Conditions[i].Message = ""
	}
	return s
}

// stand is where a Workload stands, in a few words.
func stand(w *kueue.Workload) string {
	out := workload.Status(w)
	if w.Status.Admission != nil {
		out += " " + placement(w)
	}
	for _, typ := range []string{kueue.WorkloadEvicted, kueue.WorkloadPreempted, kueue.WorkloadQuotaReserved} {
		if c := apimeta.FindStatusCondition(w.Status.Conditions, typ); c != nil {
			out += fmt.Sprintf(", %s=%s %s: %.200s", typ, c.Status, c.Reason, c.Message)
		}
	}
	return out
}

// preemptorUID is how Kueue names the preemptor in the message of Preempted.
var preemptorUID = regexp.MustCompile(`\(UID: ([^,)]+)`)

func (o *observer) evicted(x *kueue.Workload, c *metav1.Condition) {
	if c.Reason != kueue.WorkloadEvictedByPreemption {
		o.truth.Evicted = append(o.truth.Evicted, evicted(x.Name, c.Reason))
		return
	}
	by, reason := "?", "?"
	if p := apimeta.FindStatusCondition(x.Status.Conditions, kueue.WorkloadPreempted); p != nil && p.Status == metav1.ConditionTrue {
		reason = p.Reason
		if m := preemptorUID.FindStringSubmatch(p.Message); m != nil {
			by = o.named(types.UID(m[1]))
		}
	}
	o.truth.Preempted = append(o.truth.Preempted, preempted(x.Name, by, reason))
}

func (o *observer) named(uid types.UID) string {
	for name, w := range o.work {
		if w.UID == uid {
			return name
		}
	}
	return "?"
}

// mark forgets what was seen of evictions: the edit comes now.
func (o *observer) mark() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.truth, o.told, o.lasted, o.moved = facts{}, nil, nil, time.Now()
	o.marked = o.moved
}

// settle waits until there are n Workloads and none moves any more. That none moved
// for a while is not enough: on a busy machine Kueue may pause, or still be trying one
// Workload after the other in vain. tried blocks until it has done something that was
// asked of it after the calm began, and reports whether it has nothing left to try.
func (o *observer) settle(ctx context.Context, n int, tried func(context.Context) (bool, error)) error {
	for end := time.Now().Add(settleWithin); time.Now().Before(end); {
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
		since, rest, err := o.rests(n)
		if err != nil {
			return err
		}
		if !rest {
			continue
		}
		if done, err := tried(ctx); err != nil {
			return err
		} else if !done {
			continue
		}
		if still, rest, err := o.rests(n); err != nil || rest && still.Equal(since) {
			return err
		}
	}
	return errRestless
}

// rests reports whether nothing moves, and since when.
func (o *observer) rests(n int) (time.Time, bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range o.work {
		if evicting(w) {
			return o.moved, false, o.err
		}
	}
	return o.moved, len(o.work) == n && time.Since(o.moved) > calm, o.err
}

// workloads are copies of the Workloads as they are, by name.
func (o *observer) workloads() map[string]*kueue.Workload {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.work) // the objects themselves are not written to
}

// admitted is where the admitted Workloads are.
func (o *observer) admitted() map[string]string {
	out := map[string]string{}
	for name, w := range o.workloads() {
		if admitted(w) {
			out[name] = placement(w)
		}
	}
	return out
}

// report tells the record what happened since mark.
func (o *observer) report(r *record) {
	r.Truth.Admitted = o.admitted()
	o.mu.Lock()
	defer o.mu.Unlock()
	r.Truth.Preempted, r.Truth.Evicted = set(o.truth.Preempted), set(o.truth.Evicted)
	r.Latencies, r.Story = o.lasted, o.told
}
