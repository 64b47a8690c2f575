package reason_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/workload"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

var now = time.Date(2026, 12, 2, 14, 0, 0, 0, time.UTC)

// TestMain lets every property be tried on 4,000 clusters, not rapid's 100; the
// flag still decides where it is given.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", "4000"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// ours is what the console says of the Workload; rows are there too.
func ours(t *rapid.T, c *cluster, w *kueue.Workload, rows ...any) reason.Explanation {
	s := store.New(clocktesting.NewFakePassiveClock(now))
	for _, k := range slices.Concat(world.WatchedKinds(), world.SideKinds()) {
		s.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	put := func(o any) {
		switch o := o.(type) {
		case *kueue.Workload:
			s.Put(project.Workload(o))
		case *kueue.ClusterQueue:
			s.Put(project.ClusterQueue(o))
		case *kueue.Cohort:
			s.Put(project.Cohort(o))
		case *kueue.ResourceFlavor:
			s.Put(project.Flavor(o))
		}
	}
	for _, o := range c.flavors {
		put(o)
	}
	for _, o := range c.cohorts {
		put(o)
	}
	for _, o := range c.queues {
		put(o)
	}
	for _, o := range c.holders {
		put(o)
	}
	for _, o := range c.ranges {
		row, err := project.Row(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Put(row)
	}
	if c.class != nil {
		row, err := project.Row(c.class)
		if err != nil {
			t.Fatal(err)
		}
		s.Put(row)
	}
	for _, row := range rows {
		s.Put(row)
	}
	put(w)
	s.Put(project.LocalQueue(&kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lq"}, Spec: kueue.LocalQueueSpec{ClusterQueue: "q0"}}))
	snap := s.Snapshot()
	return reason.New(snap, now).Explain(snap.Workload("w"))
}

// TestKueuesAssignerJudges holds the verdicts, never fits and fits now, against
// Kueue's flavor assigner.
func TestKueuesAssignerJudges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := clusters(t)
		k := kueueSide{c, rapid.SampledFrom([]configapi.QuotaCheckStrategy{configapi.QuotaCheckBlockUndeclared, configapi.QuotaCheckBlockUndeclared, configapi.QuotaCheckIgnoreUndeclared}).Draw(t, "strategy")}
		w := c.pending(t, rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "pod sets"))
		info := k.info(w)
		if k.stopsEarly(info) {
			t.Skip("Kueue does not judge it")
		}
		said := k.speaks(t, w, info)
		empty, present := k.snapshot(t, nil), k.snapshot(t, c.holders)
		idle, full := k.assign(empty, info), k.assign(present, info)
		got := ours(t, c, w)

		never := got.NeverFits != nil && *got.NeverFits
		if never && (idle.RepresentativeMode() != flavorassigner.NoFit || full.RepresentativeMode() != flavorassigner.NoFit) {
			t.Fatalf("never fits, says %q; Kueue assigns %v when idle and %v now", got.Sentence, idle.RepresentativeMode(), full.RepresentativeMode())
		}
		if never && got.Advice != reason.AdviceChange && got.Advice != reason.AdviceEscalate {
			t.Errorf("it never fits, and the advice is %s: %s", got.Advice, got.Sentence)
		}
		if k.asksUncovered(info) {
			switch {
			case strings.Contains(said, " unavailable in ClusterQueue") && !never:
				t.Fatalf("Kueue says that a resource is not covered, and the answer is %+v", got)
			case got.NeverFits != nil && !*got.NeverFits:
				t.Fatalf("whether Kueue counts what the queue does not cover is not known, and the answer is %+v", got)
			}
			return
		}
		single := len(w.Spec.PodSets) == 1
		if fits := idle.RepresentativeMode() == flavorassigner.Fit; got.NeverFits == nil || *got.NeverFits == fits && (single || fits) {
			t.Fatalf("never fits %v, says %q; Kueue, idle, assigns %v: %s", text(got.NeverFits), got.Sentence, idle.RepresentativeMode(), idle.Message())
		}
		free := got.Class == reason.QueueOrder && len(got.Shortfall) == 0
		if fits := full.RepresentativeMode() == flavorassigner.Fit; free != fits && (single || fits) {
			t.Fatalf("%s %q with shortfall %v; Kueue assigns %v: %s", got.Class, got.Sentence, got.Shortfall, full.RepresentativeMode(), full.Message())
		}
		if single && len(got.Shortfall) > 0 {
			k.comesBack(t, present, info, got.Shortfall)
		}
	})
}

// comesBack holds the shortfall against Kueue: with all of it given back Kueue
// assigns, whichever flavor of a group it is given back in, and with one unit less
// in every flavor it does not.
func (k kueueSide) comesBack(t *rapid.T, snap *schdcache.Snapshot, info *workload.Info, missing []reason.Shortfall) {
	give := func(of func(reason.Shortfall) world.Amount) flavorassigner.FlavorAssignmentMode {
		usage := workload.Usage{Quota: resources.FlavorResourceQuantities{}}
		for _, s := range missing {
			usage.Quota[resources.FlavorResource{Flavor: kueue.ResourceFlavorReference(s.Flavor), Resource: corev1.ResourceName(s.Resource)}] = resources.NewAmount(int64(of(s)))
		}
		revert := snap.ClusterQueue("q0").SimulateUsageRemoval(usage)
		defer revert()
		a := k.assign(snap, info)
		return a.RepresentativeMode()
	}
	for _, pick := range missing {
		mode := give(func(s reason.Shortfall) world.Amount {
			if s.Flavor == pick.Flavor || s.Flavor[0] != pick.Flavor[0] {
				return s.Missing
			}
			return 0
		})
		if mode != flavorassigner.Fit {
			t.Errorf("with %v given back in %s Kueue assigns %v", missing, pick.Flavor, mode)
		}
	}
	if mode := give(func(s reason.Shortfall) world.Amount { return s.Missing - 1 }); mode == flavorassigner.Fit {
		t.Errorf("with less than %v given back Kueue assigns all the same", missing)
	}
}

func text(b *bool) string {
	switch {
	case b == nil:
		return "unknown"
	case *b:
		return "true"
	}
	return "false"
}

// speaks writes into the status what Kueue found when it last looked, which may
// be when others held quota that is free now; mostly it has looked. It returns
// the message.
func (k kueueSide) speaks(t *rapid.T, w *kueue.Workload, info *workload.Info) string {
	if one(t, 4, "not looked at") {
		return ""
	}
	then := k.assign(k.snapshot(t, slices.Concat(k.c.holders, k.c.left)), info)
	m := then.Message()
	if then.RepresentativeMode() == flavorassigner.Fit {
		m = "Workload no longer fits after processing another workload"
	}
	workload.PropagateResourceRequests(w, info, resources.NewResourceFormatter())
	w.Status.Conditions = []metav1.Condition{{Type: kueue.WorkloadQuotaReserved, Status: "False", Reason: "Pending", Message: m, LastTransitionTime: metav1.NewTime(now.Add(-time.Minute))}}
	return m
}
