package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
)

// gate lets Scheduler.Start, Kueue's own loop, do one cycle at a time with
// nothing but what Kueue exports: closed, it calls every ClusterQueue inactive,
// so that the loop finds no heads and waits; and the line that Kueue logs, under
// its queues' lock, whenever it has looked for heads tells when it waits.
type gate struct {
	cache     *schdcache.Cache
	open, ran bool
	idle      chan struct{}
}

// ClusterQueueActive implements qcache.StatusChecker.
func (g *gate) ClusterQueueActive(c kueue.ClusterQueueReference) bool {
	return g.open && g.cache.ClusterQueueActive(c)
}

type gateLog struct{ g *gate }

func (gateLog) Init(logr.RuntimeInfo)            {}
func (gateLog) Enabled(level int) bool           { return level <= 3 }
func (gateLog) Error(error, string, ...any)      {}
func (l gateLog) WithValues(...any) logr.LogSink { return l }
func (l gateLog) WithName(string) logr.LogSink   { return l }
func (l gateLog) Info(_ int, msg string, kv ...any) {
	if msg != "Obtained ClusterQueue heads" {
		return
	}
	switch {
	case kv[1].(int) > 0:
		l.g.open, l.g.ran = false, true
	case l.g.ran:
		l.g.ran = false
		l.g.idle <- struct{}{}
	}
}

// step lets the loop do one cycle and waits until it waits again.
func (g *gate) step(q *qcache.Manager) {
	q.Lock()
	g.open = true
	q.Broadcast()
	q.Unlock()
	<-g.idle
}

// randomScene draws a cluster that is at rest or not, and changes of it. No two
// Workloads of it are equal in priority and time of creation: Kueue tosses a coin
// then.
func randomScene(t *rapid.T) (*scene, []Change, Options) {
	s := newScene()
	n := rapid.IntRange(2, 4).Draw(t, "queues")
	policies := []kueue.PreemptionPolicy{kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny}
	room := map[string]int64{}
	for i := range n {
		name, cohort := fmt.Sprintf("q%d", i), rapid.SampledFrom([]string{"", "co", "co", "other"}).Draw(t, "cohort")
		nominal := rapid.Int64Range(0, 8).Draw(t, "nominal")
		room[name] = nominal
		s.queue(name, cohort, nominal, func(q *kueue.ClusterQueue) {
			cell := &q.Spec.ResourceGroups[0].Flavors[0].Resources[0]
			if cohort != "" && rapid.Bool().Draw(t, "limited") {
				cell.BorrowingLimit = ptr(*resource.NewQuantity(rapid.Int64Range(0, 4).Draw(t, "borrowing"), resource.DecimalSI))
			}
			if cohort != "" && rapid.IntRange(0, 3).Draw(t, "lends") == 0 {
				cell.LendingLimit = ptr(*resource.NewQuantity(rapid.Int64Range(0, nominal).Draw(t, "lending"), resource.DecimalSI))
			}
			if rapid.IntRange(0, 3).Draw(t, "strict") == 0 {
				q.Spec.QueueingStrategy = kueue.StrictFIFO
			}
			if rapid.IntRange(0, 5).Draw(t, "held") == 0 {
				q.Spec.StopPolicy = ptr(kueue.Hold)
			}
			q.Spec.Preemption = &kueue.ClusterQueuePreemption{
				ReclaimWithinCohort: rapid.SampledFrom(policies).Draw(t, "reclaim"),
				WithinClusterQueue:  rapid.SampledFrom([]kueue.PreemptionPolicy{kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyLowerOrNewerEqualPriority}).Draw(t, "within"),
			}
			if q.Spec.Preemption.ReclaimWithinCohort != kueue.PreemptionPolicyNever && rapid.Bool().Draw(t, "borrows to preempt") {
				q.Spec.Preemption.BorrowWithinCohort = &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyLowerPriority}
			}
			q.Spec.FairSharing = &kueue.FairSharing{Weight: ptr(resource.MustParse(rapid.SampledFrom([]string{"1", "2", "0.5"}).Draw(t, "weight")))}
			if rapid.IntRange(0, 3).Draw(t, "second flavor") == 0 {
				q.Spec.ResourceGroups[0].Flavors = append(q.Spec.ResourceGroups[0].Flavors, kueue.FlavorQuotas{Name: "h100", Resources: []kueue.ResourceQuota{{
					Name: gpu, NominalQuota: *resource.NewQuantity(rapid.Int64Range(0, 3).Draw(t, "h100"), resource.DecimalSI),
				}}})
			}
		})
	}
	s.Flavors = append(s.Flavors, &kueue.ResourceFlavor{})
	s.Flavors[1].Name = "h100"
	for i := range rapid.IntRange(1, 12).Draw(t, "jobs") {
		q := fmt.Sprintf("q%d", rapid.IntRange(0, n-1).Draw(t, "queue"))
		name, gpus, priority := fmt.Sprintf("j%02d", i), rapid.Int64Range(1, 5).Draw(t, "gpus"), rapid.SampledFrom([]int32{0, 10, 20}).Draw(t, "priority")
		switch {
		case room[q] >= gpus && rapid.Bool().Draw(t, "runs"):
			room[q] -= gpus
			s.running(name, q, gpus, priority)
		case rapid.IntRange(0, 3).Draw(t, "parts") == 0:
			w := s.job(name, q, gpus, priority)
			w.Spec.PodSets[0].Count, w.Spec.PodSets[0].MinCount = 3, ptr(int32(1))
		default:
			s.job(name, q, gpus, priority)
		}
	}
	var changes []Change
	edited := map[string]bool{}
	for range rapid.IntRange(1, 2).Draw(t, "edits") {
		name := fmt.Sprintf("q%d", rapid.IntRange(0, n-1).Draw(t, "edited"))
		if edited[name] {
			continue
		}
		edited[name] = true
		changes = append(changes, s.edit(name, func(q *kueue.ClusterQueue) {
			switch rapid.IntRange(0, 4).Draw(t, "edit") {
			case 0:
				quota(rapid.Int64Range(0, 14).Draw(t, "new nominal"))(q)
				q.Spec.ResourceGroups[0].Flavors[0].Resources[0].LendingLimit = nil
			case 1:
				q.Spec.Preemption = &kueue.ClusterQueuePreemption{ReclaimWithinCohort: kueue.PreemptionPolicyAny, WithinClusterQueue: kueue.PreemptionPolicyLowerPriority}
			case 2:
				q.Spec.CohortName = "co"
			case 3:
				q.Spec.StopPolicy = ptr(kueue.None)
			case 4:
				q.Spec.StopPolicy = ptr(rapid.SampledFrom([]kueue.StopPolicy{kueue.Hold, kueue.HoldAndDrain}).Draw(t, "stop"))
			}
		}))
	}
	opts := Options{At: noon}
	if rapid.Bool().Draw(t, "fair sharing") {
		opts.Config.FairSharing = &configapi.FairSharing{PreemptionStrategies: []configapi.PreemptionStrategy{configapi.LessThanOrEqualToFinalShare, configapi.LessThanInitialShare}}
	}
	return s, changes, opts
}

// What a run does cycle by cycle is what Kueue's own scheduler does in its loop:
// admissions, preemptions with preemptor and reason, and their order.
func TestCyclesAreKueues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, changes, opts := randomScene(t)
		m := rapid.SampledFrom(Modes(len(changes))).Draw(t, "mode")
		ours, err := Run(context.Background(), s.Objects, changes, m, opts)
		if err != nil {
			t.Fatal(err)
		}
		kueues, err := started(s.Objects, changes, m, opts)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s.tell(kueues), s.tell(ours)); d != "" {
			t.Fatalf("Kueue's loop differs (-Kueue +run):\n%s", d)
		}
	})
}

// started is a run in which Kueue's own loop does the cycles.
func started(o Objects, changes []Change, m Mode, opts Options) (Outcome, error) {
	if err := SetGates(nil); err != nil {
		return Outcome{}, err
	}
	g := &gate{idle: make(chan struct{}, 1)}
	p := assemble(newShelf(adopted(o)), opts, func(c *schdcache.Cache) qcache.StatusChecker { g.cache = c; return g })
	ctx, cancel := context.WithCancel(ctrl.LoggerInto(context.Background(), logr.New(gateLog{g})))
	cleaned := make(chan struct{})
	go func() { defer close(cleaned); p.queues.CleanUpOnContext(ctx) }()
	defer func() { cancel(); <-cleaned }()
	if err := p.scheduler.Start(ctx); err != nil {
		return Outcome{}, err
	}
	return newRun(p, func() { g.step(p.queues) }, o, m, opts).run(ctx, o, changes)
}
