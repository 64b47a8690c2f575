package health

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// randomCluster has a few queues, cohorts, flavors and checks, some of them only
// named, and Workloads in any state.
func randomCluster(t *rapid.T) *store.Snapshot {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	some := func(label string) bool { return rapid.IntRange(0, 3).Draw(t, label) == 0 }
	s := store.New(clocktesting.NewFakePassiveClock(now))
	for _, k := range append(world.WatchedKinds(), world.SideKinds()...) {
		f := world.Freshness{Feed: world.Live, Synced: true}
		if rapid.IntRange(0, 15).Draw(t, "blind") == 0 {
			f = world.Freshness{Feed: world.Denied}
		}
		s.SetFreshness(k, f)
	}
	stop := func() world.StopPolicy {
		if some("held") {
			return world.StopHold
		}
		return world.StopNone
	}
	for _, f := range []string{"a", "b"} {
		if !some("flavor missing") {
			s.Put(&world.Flavor{Meta: named("", f)})
		}
	}
	for _, k := range []string{"budget", "licence"} {
		if !some("check missing") {
			k := &world.Check{Meta: named("", k)}
			if !some("check inactive") {
				k.Conditions = world.Conditions{cond("Active", "True", "Active", "", 0)}
			}
			s.Put(k)
		}
	}
	for _, h := range []string{"x", "y"} {
		s.Put(&world.Cohort{Meta: named("", h), Parent: pick("parent", "", "", "x", "y", "z")})
	}
	for i := range 3 {
		q := &world.ClusterQueue{
			Meta: named("", fmt.Sprint("q", i)), Cohort: pick("cohort", "", "x", "y", "z"), StopPolicy: stop(), Namespaces: labels.Everything(),
			Groups: []world.ResourceGroup{{Resources: []string{"gpu"}, Flavors: []string{"a", "b"}}},
			Quotas: []world.Quota{{FlavorResource: gpu("a"), Nominal: world.Amount(rapid.IntRange(0, 6).Draw(t, "nominal"))}, {FlavorResource: gpu("b"), Nominal: 3}},
		}
		if some("checks") {
			q.Checks = []world.CheckRule{{Name: "budget"}, {Name: "licence"}}
		}
		s.Put(q)
		s.Put(&world.LocalQueue{Meta: named("team", fmt.Sprint("lq", i)), ClusterQueue: fmt.Sprint("q", rapid.IntRange(0, 3).Draw(t, "points to")), StopPolicy: stop()})
	}
	s.Put(&world.Namespace{Meta: named("", "team")})
	for i := range rapid.IntRange(0, 30).Draw(t, "workloads") {
		s.Put(randomWorkload(t, i))
	}
	return s.Snapshot()
}

func randomWorkload(t *rapid.T, i int) *world.Workload {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	w := &world.Workload{
		Meta: named("team", fmt.Sprint("w", i)), Active: rapid.IntRange(0, 5).Draw(t, "active") > 0,
		LocalQueue: fmt.Sprint("lq", rapid.IntRange(0, 3).Draw(t, "queue")),
		PodSets:    []world.PodSet{{Name: "main", Count: 1, Exact: true, Requests: []world.Request{{Resource: pick("resource", "gpu", "gpu", "tpu"), Amount: world.Amount(rapid.IntRange(1, 9).Draw(t, "asks"))}}}},
	}
	add := func(typ, status, why, message string) {
		w.Conditions = append(w.Conditions, cond(typ, status, why, message, time.Duration(rapid.IntRange(0, 5000).Draw(t, "ago"))*time.Second))
	}
	if rapid.Bool().Draw(t, "reserved") {
		add("QuotaReserved", "True", "QuotaReserved", "")
		w.ClusterQueue = fmt.Sprint("q", rapid.IntRange(0, 2).Draw(t, "in"))
		if rapid.Bool().Draw(t, "admitted") {
			add("Admitted", "True", "Admitted", "")
			w.Usage = []world.Use{{FlavorResource: gpu(pick("uses", "a", "b")), Amount: world.Amount(rapid.IntRange(0, 9).Draw(t, "amount"))}}
		}
	} else {
		add("QuotaReserved", "False", pick("reason", "Pending", "Inadmissible", "Waiting", "OnHold", "Surprise"),
			pick("message", noQuota, "ClusterQueue q0 is inactive", "Preempted to accommodate a workload (UID: x)", `topology "t" doesn't allow to fit`, "failed calling webhook", "resources validation failed: x", ""))
	}
	if rapid.IntRange(0, 3).Draw(t, "evicted") == 0 {
		add("Evicted", "True", pick("why", "Preempted", "PodsReadyTimeout", "AdmissionCheck", "ClusterQueueStopped", "LocalQueueStopped", "Deactivated", "DeactivatedDueToAdmissionCheck", "NodeFailures"), "")
	}
	if rapid.IntRange(0, 3).Draw(t, "checked") == 0 {
		w.Checks = []world.CheckState{{Name: pick("check", "budget", "licence"), State: pick("state", "Pending", "Ready", "Retry", "Rejected"), At: now}}
	}
	if rapid.IntRange(0, 5).Draw(t, "backoff") == 0 {
		w.RequeueAt = now.Add(time.Duration(rapid.IntRange(-3600, 3600).Draw(t, "due")) * time.Second)
	}
	if rapid.IntRange(0, 5).Draw(t, "preempted") == 0 {
		w.Preempted = &world.Preemption{PreemptorUID: types.UID("uid-team/w" + fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "by"))), Reason: "InClusterQueue", At: now}
	}
	w.State = world.StateOf(w.Active, w.Conditions)
	return w
}

// allowed are the severities of each class, after the report's own line.
var allowed = map[Class][]Severity{
	Controller: {Critical, Info}, Readiness: {Warning}, Debt: {Critical}, Stuck: {Critical}, PingPong: {Critical}, NeverFits: {Warning},
	StaleStatus: {Warning}, Strangers: {Info}, UnusedFlavor: {Info},
	Class(reason.Flavor): {Critical}, Class(reason.NamespaceSelector): {Critical}, Class(reason.Misconfigured): {Critical}, Class(reason.Webhook): {Critical},
	Class(reason.Held): {Warning}, Class(reason.Deactivated): {Warning, Info}, Class(reason.AdmissionCheck): {Critical, Warning, Info},
	Class(reason.Topology): {Critical, Info}, Class(reason.Quota): {Info}, Class(reason.PodsNotReady): {Info}, Class(reason.NodeFailure): {Info},
	Class(reason.Gated): {Info}, Class(reason.Unclear): {Info},
}

func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomCluster(t)
		in := inputOf(s)
		in.Chains = chain.All(s, chain.Options{})
		got := Alerts(in)
		seen := map[id]bool{}
		sums := map[Class]int{}
		for _, a := range got {
			k := idOf(a.Class, a.Object)
			if seen[k] {
				t.Errorf("two alerts of class %s on %s", a.Class, a.Object)
			}
			seen[k] = true
			sums[a.Class] += a.Count
			if !slices.Contains(allowed[a.Class], a.Severity) {
				t.Errorf("%s on %s is %s, the report allows %v", a.Class, a.Object, a.Severity, allowed[a.Class])
			}
			if a.Explanation == "" || a.Advice == "" || a.Object.Kind == "" || a.Object.Name == "" || a.Count < 0 {
				t.Errorf("something is missing in %+v", a)
			}
		}
		for class, n := range sums {
			if n > len(s.Workloads) {
				t.Errorf("%d Workloads in alerts of class %s, there are %d", n, class, len(s.Workloads))
			}
		}
		order := []Severity{Critical, Warning, Info}
		if !slices.IsSortedFunc(got, func(a, b Alert) int {
			if x, y := slices.Index(order, a.Severity), slices.Index(order, b.Severity); x != y {
				return x - y
			}
			return b.Count - a.Count
		}) {
			t.Errorf("not sorted: %+v", sayings(got))
		}
		if d := cmp.Diff(got, Alerts(in)); d != "" {
			t.Errorf("the same cluster, told twice (-first +second):\n%s", d)
		}
	})
}

// Every Workload that a person must do something for is in an alert of some
// weight: what the explanation says must reach somebody.
func TestNobodyIsForgotten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := randomWorkload(t, 0)
		sc := with(w)
		w.LocalQueue = "lq"
		if w.ClusterQueue != "" {
			w.ClusterQueue = "q"
		}
		for _, change := range []func(){
			func() { sc.queue.StopPolicy = world.StopHold },
			func() { sc.local.StopPolicy = world.StopHoldAndDrain },
			func() { sc.queue.Checks = []world.CheckRule{{Name: "budget"}} },
			func() { sc.ns.Labels = nil },
			func() { sc.queue.Groups[0].Flavors = []string{"a", "ghost"} },
			func() { sc.local.ClusterQueue = "gone" },
			func() { sc.drop = append(sc.drop, sc.local.Ref()) },
			func() { sc.queue.Deleting = true },
			func() { sc.put(&world.Cohort{Meta: named("", "co"), Parent: "co"}) },
			func() { sc.flavor.NodeTaints = []world.Taint{{Key: "k", Effect: "NoSchedule"}} },
			func() { sc.flavor.Topology = "t"; sc.queue.Conditions = nil },
			func() {
				sc.queue.Conditions = world.Conditions{cond("Active", "False", "Surprise", "Can't admit new workloads: surprise.", 0)}
			},
			func() { sc.queue.Quotas[0].Nominal = 0 },
		} {
			if rapid.IntRange(0, 7).Draw(t, "change") == 0 {
				change()
			}
		}
		in := sc.input()
		i := slices.IndexFunc(in.Snapshot.Workloads, func(x *world.Workload) bool { return x == w })
		e := in.Explanations[i]
		if e.Advice != reason.AdviceChange && e.Advice != reason.AdviceEscalate {
			return
		}
		n := 0
		for _, a := range Alerts(in) {
			if a.Class != Debt && a.Class != PingPong {
				n += a.Count
			}
		}
		if n != 1 {
			t.Errorf("%+v is counted in %d alerts", e, n)
		}
	})
}

func large() Input {
	sc := newScene()
	sc.holder.Usage[0].Amount = 1
	for i := range 1000 {
		q := *sc.queue
		q.Meta = named("", fmt.Sprint("q", i))
		sc.put(&q, &world.LocalQueue{Meta: named("team", fmt.Sprint("lq", i)), ClusterQueue: q.Name})
		if i%10 == 0 {
			q.StopPolicy = world.StopHold
		}
		for j := range 50 {
			var w *world.Workload
			name := fmt.Sprint("w", i, "-", j)
			switch j % 5 {
			case 0:
				w = waits(name, world.Amount(j), noQuota)
			case 1:
				w = waits(name, 1, "ClusterQueue q is inactive")
			case 2:
				w = reserving(name, check("budget", "Pending", ""))
			case 3:
				w = evicting(name, "Preempted", time.Hour)
			default:
				w = admitted(name, cond("PodsReady", "True", "Started", "", 0))
			}
			w.LocalQueue = fmt.Sprint("lq", i)
			if w.ClusterQueue != "" {
				w.ClusterQueue = q.Name
			}
			sc.put(w)
		}
	}
	return sc.input()
}

func BenchmarkAlerts50000(b *testing.B) {
	in := large()
	for b.Loop() {
		Alerts(in)
	}
}

func BenchmarkSLO50000(b *testing.B) {
	in := large()
	for b.Loop() {
		SLOOf(in.Snapshot, now)
	}
}
