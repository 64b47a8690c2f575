package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/scheduler"
	preemptexpectations "sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/fairsharing"
)

// parts are Kueue's, put together as cmd/kueue does it.
type parts struct {
	ctx       context.Context
	log       logr.Logger
	shelf     *shelf
	clock     *testclock.FakeClock
	cache     *schdcache.Cache
	queues    *qcache.Manager
	requeuer  interface{ ProcessRequeues(context.Context) int }
	scheduler *scheduler.Scheduler
	listener  *listener

	workloads *core.WorkloadReconciler
	cqs       *core.ClusterQueueReconciler
	lqs       *core.LocalQueueReconciler
	cohorts   *core.CohortReconciler
	flavors   *core.ResourceFlavorReconciler
	checks    *core.AdmissionCheckReconciler
}

// assemble makes Kueue's parts on the shelf. The queues are notified of what may
// be tried again, but nothing is until requeuer is called: Kueue waits a second
// for it (pkg/cache/queue/inadmissible_workloads.go).
//
// checker tells the queues which ClusterQueues are active.
func assemble(s *shelf, o Options, checker func(*schdcache.Cache) qcache.StatusChecker) *parts {
	log := logr.Discard()
	p := &parts{
		ctx: ctrl.LoggerInto(context.Background(), log), log: log, shelf: s, clock: testclock.NewFakeClock(o.At),
	}
	expect := preemptexpectations.New()
	cfg := &o.Config
	fair := fairsharing.Enabled(cfg.FairSharing)
	cacheOptions := []schdcache.Option{schdcache.WithFairSharing(fair)}
	queueOptions := []qcache.Option{
		qcache.WithPreemptionExpectations(expect), qcache.WithClock(p.clock),
		qcache.WithPodsReadyRequeuingTimestamp(requeuingTimestamp(cfg)),
	}
	if r := cfg.Resources; r != nil {
		cacheOptions = append(cacheOptions, schdcache.WithExcludedResourcePrefixes(r.ExcludeResourcePrefixes), schdcache.WithResourceTransformations(r.Transformations))
		queueOptions = append(queueOptions, qcache.WithExcludedResourcePrefixes(r.ExcludeResourcePrefixes), qcache.WithResourceTransformations(r.Transformations))
	}
	p.cache = schdcache.New(s, cacheOptions...)
	p.queues, p.requeuer = qcache.NewManagerForUnitTestsWithRequeuer(s, checker(p.cache), queueOptions...)
	schedulerOptions := []scheduler.Option{
		scheduler.WithPreemptionExpectations(expect), scheduler.WithClock(nil, p.clock), scheduler.WithQuotaCheckStrategy(quotaCheck(cfg)),
		scheduler.WithPodsReadyRequeuingTimestamp(requeuingTimestamp(cfg)),
	}
	if fair {
		schedulerOptions = append(schedulerOptions, scheduler.WithFairSharing(cfg.FairSharing))
	}
	p.scheduler = scheduler.New(p.queues, p.cache, s, noEvents{}, schedulerOptions...)
	p.listener = &listener{manager: p.queues}
	p.workloads = core.NewWorkloadReconciler(s, p.queues, p.cache, noEvents{}, core.WithPreemptionExpectations(expect), core.WithWorkloadUpdateWatchers(p.listener))
	p.cqs = core.NewClusterQueueReconciler(s, p.queues, p.cache, core.WithFairSharing(fair), core.WithWatchers(p.listener))
	p.lqs = core.NewLocalQueueReconciler(s, p.queues, p.cache, core.WithClock(p.clock))
	p.cohorts = core.NewCohortReconciler(s, p.cache, p.queues, core.CohortReconcilerWithFairSharing(fair))
	p.flavors = core.NewResourceFlavorReconciler(s, p.queues, p.cache, nil)
	p.checks = core.NewAdmissionCheckReconciler(s, p.queues, p.cache, nil)
	return p
}

// byCache has Kueue's cache tell which ClusterQueues are active, as it is in
// Kueue's manager.
func byCache(c *schdcache.Cache) qcache.StatusChecker { return c }

// load gives Kueue the objects in the order in which it would meet them after a
// restart.
func (p *parts) load(o Objects) error {
	for _, f := range o.Flavors {
		p.cache.AddOrUpdateResourceFlavor(p.log, f)
	}
	for _, t := range o.Topologies {
		p.cache.AddOrUpdateTopology(p.log, t)
	}
	for _, c := range o.Checks {
		p.cache.AddOrUpdateAdmissionCheck(p.log, c)
	}
	for _, c := range o.Cohorts {
		if err := p.cache.AddOrUpdateCohort(c); err != nil {
			return fmt.Errorf("cohort %s: %w", c.Name, err)
		}
		p.queues.AddOrUpdateCohort(p.ctx, c)
	}
	for _, q := range o.ClusterQueues {
		if err := p.cache.AddClusterQueue(p.ctx, q); err != nil {
			return fmt.Errorf("ClusterQueue %s: %w", q.Name, err)
		}
		if err := p.queues.AddClusterQueue(p.ctx, q); err != nil {
			return fmt.Errorf("ClusterQueue %s: %w", q.Name, err)
		}
		if q.DeletionTimestamp != nil { // as its controller finds it
			p.cache.TerminateClusterQueue(kueue.ClusterQueueReference(q.Name))
		}
	}
	for _, q := range o.LocalQueues {
		// The cache found its LocalQueues and Workloads with the ClusterQueue.
		if stopped(q.Spec.StopPolicy) { // Kueue does not queue what waits there
			continue
		}
		if err := p.queues.AddLocalQueue(p.ctx, q); err != nil {
			return fmt.Errorf("LocalQueue %s/%s: %w", q.Namespace, q.Name, err)
		}
	}
	return nil
}

func stopped(p *kueue.StopPolicy) bool { return p != nil && *p != kueue.None && *p != "" }

// requeuingTimestamp is podsReadyRequeuingTimestamp of cmd/kueue.
func requeuingTimestamp(cfg *configapi.Configuration) configapi.RequeuingTimestamp {
	if w := cfg.WaitForPodsReady; w != nil && w.RequeuingStrategy != nil && w.RequeuingStrategy.Timestamp != nil {
		return *w.RequeuingStrategy.Timestamp
	}
	return configapi.EvictionTimestamp
}

// quotaCheck is quotaCheckStrategy of cmd/kueue.
func quotaCheck(cfg *configapi.Configuration) configapi.QuotaCheckStrategy {
	if features.Enabled(features.QuotaCheckStrategy) && cfg.Resources != nil && cfg.Resources.QuotaCheckStrategy != nil {
		return *cfg.Resources.QuotaCheckStrategy
	}
	return configapi.QuotaCheckBlockUndeclared
}

// waiting returns how many Workloads stand in the queues of active ClusterQueues,
// those left out that wait for something to change.
func (p *parts) waiting() int {
	n := 0
	for cq, keys := range p.queues.Dump() {
		if p.cache.ClusterQueueActive(cq) {
			n += len(keys)
		}
	}
	return n
}

// readiness is what Kueue's cache says of each of the ClusterQueues.
func (p *parts) readiness(names []string) map[string]Readiness {
	out := make(map[string]Readiness, len(names))
	for _, n := range names {
		status, reason, message := p.cache.ClusterQueueReadiness(kueue.ClusterQueueReference(n))
		out[n] = Readiness{ClusterQueue: n, After: status == "True", ReasonAfter: reason, MessageAfter: message}
	}
	return out
}

// compare returns those that differ, by name.
func compare(before, after map[string]Readiness) []Readiness {
	var out []Readiness
	for n, a := range after {
		b, ok := before[n]
		if ok && b.After == a.After && b.ReasonAfter == a.ReasonAfter {
			continue
		}
		a.Before, a.ReasonBefore, a.MessageBefore = b.After, b.ReasonAfter, b.MessageAfter
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b Readiness) int { return strings.Compare(a.ClusterQueue, b.ClusterQueue) })
	return out
}

// noEvents drops Kueue's events.
type noEvents struct{}

// Eventf implements events.EventRecorder.
func (noEvents) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) {}
