package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/workload/evict"

	"cli.holdfast.dev/holdfast/model/world"
)

// Run lets Kueue's scheduler run on the objects until nothing moves, applies the
// changes as events and lets it run again. It blocks until then, or until the
// context ends, which it looks at between cycles; an endless loop within Kueue's
// code is for the caller to end (package worker). The objects and changes are
// not written to. Only one Run goes on at a time in a process; others wait.
//
// Errors: a gate that cannot be set or ErrGates, objects that Kueue refuses, the
// context's, and whatever of Kueue's code failed or panicked.
func Run(ctx context.Context, o Objects, changes []Change, m Mode, opts Options) (out Outcome, err error) {
	process.Lock()
	defer process.Unlock()
	if err := setGates(opts.Config.FeatureGates); err != nil {
		return Outcome{}, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the code of Kueue panicked: %v", p)
		}
	}()
	p := assemble(newShelf(adopted(o)), opts, byCache)
	return newRun(p, func() { schedule(p.scheduler, p.ctx) }, o, m, opts).run(ctx, o, changes)
}

// newRun returns a run of the parts in which cycle does one scheduling cycle.
func newRun(p *parts, cycle func(), o Objects, m Mode, opts Options) *run {
	r := &run{
		parts: p, cycle: cycle, mode: m, opts: opts, rnd: rand.New(rand.NewSource(m.Seed)), patience: patience(o),
		due: map[types.NamespacedName]time.Time{}, counts: map[string]time.Time{}, uids: map[types.UID]world.Key{}, times: map[world.Key]int{}, restless: map[world.Key]bool{},
		out: Outcome{Mode: m.Name},
	}
	if r.most = opts.MostCycles; r.most == 0 {
		r.most = mostCycles(len(o.Workloads))
	}
	return r
}

// cycleTime is how long a scheduling cycle takes in a run's own time. Kueue's
// own pause after a cycle that achieves nothing grows to about as much.
const cycleTime = 10 * time.Millisecond

// mostCycles bounds the cycles of a run: preemptions can go back and forth.
func mostCycles(workloads int) int { return 20*workloads + 1000 }

// patience is how many cycles in a row may achieve nothing before the queues
// count as at rest, when the same Workloads stand in them after each. A Workload
// stays and goes on with its next flavor in the next cycle, so that there must be
// more than the flavors of any group.
func patience(o Objects) int {
	most := 0
	for _, q := range o.ClusterQueues {
		for _, g := range q.Spec.ResourceGroups {
			most = max(most, len(g.Flavors))
		}
	}
	return most + 2
}

type run struct {
	*parts
	cycle    func()
	mode     Mode
	opts     Options
	rnd      *rand.Rand
	patience int
	most     int

	due       map[types.NamespacedName]time.Time // when open evictions end
	counts    map[string]time.Time               // when ClusterQueues are counted anew
	requeueAt time.Time                          // when what waits is tried again; zero: no cause yet
	touched   []types.NamespacedName             // Workloads that their controller has not seen yet
	uids      map[types.UID]world.Key
	times     map[world.Key]int // how often each was preempted
	forth     world.Key         // one that goes back and forth
	restless  map[world.Key]bool
	admitted  int
	cycles    int // since the changes or the start
	edited    bool
	out       Outcome
}

func (r *run) run(ctx context.Context, o Objects, changes []Change) (Outcome, error) {
	before := r.shelf.keys()
	first := make(map[types.NamespacedName]*kueue.Workload, len(before))
	for _, k := range before {
		w := r.shelf.work[k]
		first[k] = w
		r.uids[w.UID] = keyOf(w)
		if evicting(w) {
			r.due[k] = r.evictionEnd()
		}
	}
	if err := r.load(o); err != nil {
		return Outcome{}, err
	}
	if !r.mode.Forgets {
		r.remember()
	}
	if err := r.firstCount(); err != nil {
		return Outcome{}, err
	}
	r.cause() // every queue was new to Kueue, and must not be so any more at the changes
	if err := r.settle(ctx, untilRest); err != nil {
		return Outcome{}, err
	}
	names := r.queueNames()
	ready := r.readiness(names)
	r.edited, r.cycles, r.admitted = true, 0, 0
	if r.out.Bound == "" {
		r.report()
		if err := r.apply(ctx, changes); err != nil {
			return Outcome{}, err
		}
		for _, c := range changes {
			if w, ok := c.New.(*kueue.Workload); ok {
				r.uids[w.UID] = keyOf(w)
			}
		}
		if err := r.settle(ctx, untilRest); err != nil {
			return Outcome{}, err
		}
	}
	r.out.Queues = compare(ready, r.readiness(r.queueNames()))
	for k := range r.restless {
		r.out.Restless = append(r.out.Restless, k)
	}
	slices.SortFunc(r.out.Restless, world.Key.Compare)
	for _, k := range r.shelf.keys() {
		w := r.shelf.work[k]
		if old := first[k]; old != w && (old == nil || !equality.Semantic.DeepEqual(old.Status, w.Status) || !equality.Semantic.DeepEqual(old.Spec.Active, w.Spec.Active)) {
			r.out.Changed = append(r.out.Changed, w)
		}
	}
	return r.out, nil
}

func (r *run) queueNames() []string {
	names := make([]string, 0, len(r.shelf.queues))
	for n := range r.shelf.queues {
		names = append(names, n)
	}
	return names
}

// untilRest has settle go on until nothing moves.
const untilRest time.Duration = -1

// settle runs cycles until nothing moves: no Workload is admitted or evicted, no
// eviction is open, and everything that waits was tried since the last change. It
// comes back after at most the time given, by the run's clock, if that is not
// less than 0.
func (r *run) settle(ctx context.Context, most time.Duration) error {
	end := r.clock.Now().Add(most)
	over := func(t time.Time) bool { return most >= 0 && !t.Before(end) }
	calm, waiting := 0, -1
	for n := 0; !over(r.clock.Now()); n++ {
		if err := errors.Join(ctx.Err(), r.shelf.err()); err != nil {
			return err
		}
		if n > r.most {
			r.out.Bound = fmt.Sprintf("after %d scheduling cycles Workloads still moved", r.most)
			return nil
		}
		if r.forth != (world.Key{}) {
			r.out.Bound = fmt.Sprintf("Workload %s is preempted and admitted again and again: it was left at %d times", r.forth, mostTimes+1)
			return nil
		}
		moved, err := r.endEvictions()
		if err != nil {
			return err
		}
		if err := r.count(); err != nil {
			return err
		}
		if again := r.tryAgain(); moved || again || waiting < 0 {
			calm, waiting = 0, r.waiting()
		}
		if waiting > 0 && calm < r.patience {
			r.cycle()
			r.clock.Step(max(cycleTime, r.mode.Cycle))
			r.cycles++
			r.out.Cycles++
			if moved, err = r.deliver(); err != nil {
				return err
			}
			left := r.waiting()
			if calm++; moved || left != waiting {
				calm = 0
			}
			waiting = left
			r.tell()
			continue
		}
		next := r.next()
		if next.IsZero() && most < 0 {
			return nil
		}
		if next.IsZero() || over(next) {
			r.clock.SetTime(end)
			return nil
		}
		if next.After(r.clock.Now()) {
			r.clock.SetTime(next)
		}
	}
	return nil
}

// requeueDelay is getRequeueBatchPeriod of Kueue's pkg/cache/queue.
func requeueDelay() time.Duration {
	if features.Enabled(features.SchedulerLongRequeueInterval) {
		return 10 * time.Second
	}
	return time.Second
}

// cause notes that Kueue was told of something which may let in what waits. It
// tries those after a delay; further causes within the delay add nothing.
func (r *run) cause() {
	if !r.requeueAt.IsZero() {
		return
	}
	r.requeueAt = r.after(requeueDelay())
}

// tryAgain puts what waits back into the queues when it is time for it.
func (r *run) tryAgain() bool {
	if r.requeueAt.IsZero() || r.requeueAt.After(r.clock.Now()) {
		return false
	}
	r.requeueAt = time.Time{}
	r.requeuer.ProcessRequeues(r.ctx)
	return true
}

// next is the time of the next thing that is due; zero: there is none.
func (r *run) next() time.Time {
	next := r.requeueAt
	for _, t := range slices.AppendSeq(slices.Collect(maps.Values(r.due)), maps.Values(r.counts)) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	return next
}

// tell reports progress: often in the beginning, then now and then.
func (r *run) tell() {
	if r.cycles < 4 || r.cycles%16 == 0 {
		r.report()
	}
}

func (r *run) report() {
	if r.opts.Progress == nil {
		return
	}
	r.opts.Progress(Progress{Mode: r.mode.Name, Edited: r.edited, Cycles: r.out.Cycles, Admitted: r.admitted, Preempted: len(r.out.Preemptions)})
}

func keyOf(o client.Object) world.Key {
	return world.Key{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// evicting reports whether the Workload is being evicted and still holds quota.
func evicting(w *kueue.Workload) bool {
	return evict.IsEvicted(w) && w.Status.Admission != nil
}
