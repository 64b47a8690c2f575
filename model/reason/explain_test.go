package reason

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

var now = time.Date(2026, 12, 2, 14, 0, 0, 0, time.UTC)

func named(ns, name string) world.Meta {
	return world.Meta{Key: world.Key{Namespace: ns, Name: name}, UID: types.UID(ns + "/" + name)}
}

func gpu(flavor string) world.FlavorResource {
	return world.FlavorResource{Flavor: flavor, Resource: "gpu"}
}

// scene is a ClusterQueue q with 8 gpu of flavor a and 4 of flavor b in a cohort
// with a queue that holds 6 of a; LocalQueue team/lq points to q.
type scene struct {
	queue  *world.ClusterQueue
	local  *world.LocalQueue
	ns     *world.Namespace
	checks []*world.Check
	drop   []world.Ref
	blind  []world.Kind // kinds that cannot be read
}

func newScene() *scene {
	sel, _ := labels.Parse("kueue=on")
	return &scene{
		queue: &world.ClusterQueue{
			Meta: named("", "q"), Cohort: "co", StopPolicy: world.StopNone, Namespaces: sel,
			Groups: []world.ResourceGroup{{Resources: []string{"gpu"}, Flavors: []string{"a", "b"}}},
			Quotas: []world.Quota{{FlavorResource: gpu("a"), Nominal: 8}, {FlavorResource: gpu("b"), Nominal: 4}},
		},
		local: &world.LocalQueue{Meta: named("team", "lq"), ClusterQueue: "q", StopPolicy: world.StopNone},
		ns:    &world.Namespace{Meta: named("", "team"), Labels: map[string]string{"kueue": "on"}},
	}
}

func (sc *scene) snapshot(ws ...*world.Workload) *store.Snapshot {
	s := store.New(clocktesting.NewFakePassiveClock(now))
	for _, k := range world.WatchedKinds() {
		s.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	for _, k := range sc.blind {
		s.SetFreshness(k, world.Freshness{Feed: world.Denied})
	}
	s.Put(sc.queue)
	s.Put(&world.ClusterQueue{Meta: named("", "other"), Cohort: "co"})
	s.Put(sc.local)
	s.Put(sc.ns)
	for _, f := range []string{"a", "b"} {
		s.Put(&world.Flavor{Meta: named("", f)})
	}
	for _, c := range sc.checks {
		s.Put(c)
	}
	holder := &world.Workload{
		Meta: named("team", "holder"), Active: true, ClusterQueue: "other", State: world.Admitted,
		Conditions: cond("QuotaReserved", "True", "QuotaReserved", "", 0), Usage: []world.Use{{FlavorResource: gpu("a"), Amount: 6}},
	}
	s.Put(holder)
	for _, w := range ws {
		s.Put(w)
	}
	for _, r := range sc.drop {
		s.Delete(r.Kind, r.Key)
	}
	return s.Snapshot()
}

func cond(typ, status, reason, message string, ago time.Duration) world.Conditions {
	return world.Conditions{{Type: typ, Status: status, Reason: reason, Message: message, At: now.Add(-ago)}}
}

func workload(state world.State, c ...world.Conditions) *world.Workload {
	w := &world.Workload{Meta: named("team", "w"), Active: true, LocalQueue: "lq", State: state, PodSets: []world.PodSet{{Name: "main", Count: 1}}}
	for _, x := range c {
		w.Conditions = append(w.Conditions, x...)
	}
	return w
}

func asks(n world.Amount, message string) *world.Workload {
	w := workload(world.Pending, cond("QuotaReserved", "False", "Pending", message, time.Minute))
	w.PodSets[0].Requests = []world.Request{{Resource: "gpu", Amount: n}}
	return w
}

const unused = "couldn't assign flavors to pod set main: insufficient unused quota for gpu in flavor a, 3 more needed, insufficient unused quota for gpu in flavor b, 1 more needed"

// explained is what one Explainer says of one Workload.
func explained(s *store.Snapshot, w *world.Workload, at time.Time) Explanation {
	return New(s, at).Explain(w)
}

type answer struct {
	Class    Class
	Advice   Advice
	Actor    string
	Sentence string
}

func TestExplain(t *testing.T) {
	tests := map[string]struct {
		change func(*scene)
		w      *world.Workload
		want   answer
	}{
		"admitted, pods unknown": {nil, workload(world.Admitted), answer{OK, AdviceNone, "", "Admitted; whether its pods run is not known."}},
		"admitted, pods ready":   {nil, workload(world.Admitted, cond("PodsReady", "True", "Started", "", 0)), answer{OK, AdviceNone, "", "Admitted, and its pods are ready."}},
		"admitted, pods not ready": {
			nil, workload(world.Admitted, cond("PodsReady", "False", "WaitForStart", "Not all pods are ready or succeeded", 0)),
			answer{PodsNotReady, AdviceWait, "job owner", "Admitted, but its pods are not ready: Not all pods are ready or succeeded."},
		},
		"finished": {nil, workload(world.Finished, cond("Finished", "True", "Succeeded", "Reached expected number of succeeded pods", 0)), answer{OK, AdviceNone, "", "Finished: Reached expected number of succeeded pods."}},
		"deactivated by a limit": {
			nil, workload(world.Deactivated, cond("Evicted", "True", "DeactivatedDueToRequeuingLimitExceeded", "", 0)),
			answer{Deactivated, AdviceChange, "job owner", "Deactivated by Kueue because of RequeuingLimitExceeded: fix that, then set spec.active to true."},
		},
		"eviction under way": {
			nil, workload(world.Evicting, cond("Evicted", "True", "Preempted", "", 20*time.Second)),
			answer{Preempted, AdviceWait, "", "Being evicted (Preempted) for 20s: its pods have not ended, the quota is still taken."},
		},
		"eviction that does not end": {
			nil, workload(world.Evicting, cond("Evicted", "True", "Preempted", "", time.Hour)),
			answer{Preempted, AdviceEscalate, "job owner or platform admin", "Eviction (Preempted) has not ended for 60m: the job still has active pods and holds its quota."},
		},
		"never looked at": {nil, workload(world.Pending), answer{QueueOrder, AdviceWait, "", "Kueue has not looked at it yet: it is new, or others are before it in the queue."}},
		"waits for quota, by the arithmetic and not by the message": {
			nil, asks(5, unused),
			answer{Quota, AdviceWait, "", "Needs 5 gpu of a: 2 free, 8 at most. Waits for 3 to come back."},
		},
		"the flavor that can serve is chosen": {
			nil, asks(8, "couldn't assign flavors to pod set main: insufficient unused quota for gpu in flavor a, 6 more needed, insufficient quota for gpu in flavor b, previously considered podsets requests (0) + current podset request (8) > maximum capacity (4)"),
			answer{Quota, AdviceWait, "", "Needs 8 gpu of a: 2 free, 8 at most. Waits for 6 to come back."},
		},
		"never fits": {
			nil, asks(9, "couldn't assign flavors to pod set main: insufficient quota for gpu in flavor a"),
			answer{Quota, AdviceChange, "job owner or platform admin", "Can never fit: needs 9 gpu in one flavor, and none of 2 has more than 8. Ask for less, or have the quota raised."},
		},
		"in debt all of it must come back": {
			func(sc *scene) { sc.queue.Quotas[0].Nominal = 4; sc.queue.Quotas[1].Nominal = 0 }, asks(1, unused),
			answer{Quota, AdviceWait, "", "Needs 1 gpu of a: 0 free, 4 at most. Waits for 3 to come back."},
		},
		"fits now": {nil, asks(2, unused), answer{QueueOrder, AdviceWait, "", "Needs 2 gpu of a and 2 are free now: waits for its turn."}},
		"a taint on every flavor": {
			nil, asks(1, "couldn't assign flavors to pod set main: flavor b doesn't match node affinity, untolerated taint {gpu h NoSchedule <nil>} in flavor a"),
			answer{Flavor, AdviceChange, "job owner", "No flavor can serve its gpu: untolerated taint {gpu h NoSchedule <nil>} in flavor a; flavor b doesn't match node affinity."},
		},
		"a resource without quota": {
			nil, asks(1, "couldn't assign flavors to pod set main: resource tpu unavailable in ClusterQueue"),
			answer{Quota, AdviceChange, "job owner or platform admin", "ClusterQueue q has no quota for tpu: ask for another resource, or use another queue."},
		},
		"preempted and not tried since": {
			nil, workload(world.Pending, cond("QuotaReserved", "False", "Pending", "Preempted to accommodate a workload (UID: x)", time.Minute)),
			answer{Preempted, AdviceWait, "", "Preempted 60s ago and not tried again since."},
		},
		"preempted, and what must come back": {
			nil, asks(5, "Preempted to accommodate a workload (UID: x)"),
			answer{Preempted, AdviceWait, "", "Preempted 60s ago and not tried again since. Needs 5 gpu of a: 2 free, 8 at most. Waits for 3 to come back."},
		},
		"lost its place, and what must come back": {
			nil, asks(5, "Workload no longer fits after processing another workload"),
			answer{Quota, AdviceWait, "", "Needs 5 gpu of a: 2 free, 8 at most. Waits for 3 to come back. (It lost its place to another Workload when Kueue last tried, 60s ago.)"},
		},
		"ClusterQueue held": {
			func(sc *scene) {
				sc.queue.StopPolicy, sc.queue.Hold = world.StopHold, &world.HoldRecord{Version: 1, By: "kim", Reason: "bad quota"}
			}, asks(5, unused),
			answer{Held, AdviceChange, "whoever holds the queue", `ClusterQueue q is held by kim ("bad quota"): nothing is admitted until it is resumed.`},
		},
		"both queues held": {
			func(sc *scene) {
				sc.queue.StopPolicy, sc.local.StopPolicy = world.StopHold, world.StopHoldAndDrain
			}, asks(5, unused),
			answer{Held, AdviceChange, "whoever holds the queue", "LocalQueue team/lq is held: nothing is admitted until it is resumed. Also: ClusterQueue q is held: nothing is admitted until it is resumed."},
		},
		"LocalQueue missing": {
			func(sc *scene) {
				sc.drop = []world.Ref{{Kind: world.KindLocalQueue, Key: world.Key{Namespace: "team", Name: "lq"}}}
			}, asks(5, unused),
			answer{Misconfigured, AdviceChange, "job owner", "LocalQueue lq does not exist in namespace team: name one that does, or have it created."},
		},
		"LocalQueues unreadable is not missing": {
			func(sc *scene) {
				sc.drop = []world.Ref{{Kind: world.KindLocalQueue, Key: world.Key{Namespace: "team", Name: "lq"}}}
				sc.blind = []world.Kind{world.KindLocalQueue}
			}, asks(5, unused),
			answer{Quota, AdviceWait, "", "Kueue found no quota for it: " + unused + "."},
		},
		"cohorts unreadable: no arithmetic": {
			func(sc *scene) { sc.blind = []world.Kind{world.KindCohort} }, asks(99, unused),
			answer{Quota, AdviceWait, "", "Kueue found no quota for it: " + unused + "."},
		},
		"ClusterQueue missing": {
			func(sc *scene) { sc.local.ClusterQueue = "gone" }, asks(5, unused),
			answer{Misconfigured, AdviceChange, "platform admin", "ClusterQueue gone, which LocalQueue team/lq names, does not exist."},
		},
		"flavor missing": {
			func(sc *scene) { sc.drop = []world.Ref{{Kind: world.KindResourceFlavor, Key: world.Key{Name: "b"}}} }, asks(5, unused),
			answer{Flavor, AdviceChange, "platform admin", "ClusterQueue q is inactive: ResourceFlavor b does not exist."},
		},
		"namespace without the label": {
			func(sc *scene) { sc.ns.Labels = nil }, asks(1, "Workload namespace doesn't match ClusterQueue selector"),
			answer{NamespaceSelector, AdviceChange, "platform admin", "Namespace team is not one that ClusterQueue q admits (it wants kueue=on): have the namespace labelled, or use another queue."},
		},
		"namespaces unreadable: Kueue's word stands": {
			func(sc *scene) { sc.ns.Labels = nil; sc.blind = []world.Kind{world.KindNamespace} }, asks(1, "Workload namespace doesn't match ClusterQueue selector"),
			answer{NamespaceSelector, AdviceChange, "platform admin", "Kueue says that the ClusterQueue does not admit this namespace."},
		},
		"check without a controller": {
			func(sc *scene) {
				sc.queue.Checks = []world.CheckRule{{Name: "budget"}}
				sc.checks = []*world.Check{{Meta: named("", "budget"), Controller: "x.example.com/y"}}
			}, workload(world.Pending, cond("QuotaReserved", "False", "Inadmissible", "ClusterQueue q is inactive", time.Minute)),
			answer{AdmissionCheck, AdviceEscalate, "owner of the admission check", "ClusterQueue q is inactive: AdmissionCheck budget has no active controller (x.example.com/y)."},
		},
		"an unknown reason is shown raw": {
			nil, workload(world.Pending, cond("QuotaReserved", "False", "SomethingNew", "the moon is full", 0)),
			answer{Unclear, AdviceWait, "", "Kueue gives a reason that is not known here, SomethingNew: the moon is full."},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := newScene()
			if tc.change != nil {
				tc.change(sc)
			}
			e := explained(sc.snapshot(tc.w), tc.w, now)
			if d := cmp.Diff(tc.want, answer{e.Class, e.Advice, e.Actor, e.Sentence}); d != "" {
				t.Errorf("explanation (-want +got):\n%s", d)
			}
		})
	}
}

// A flavor that one pod set cannot use may serve another.
func TestPodSetsAreJudgedApart(t *testing.T) {
	w := asks(0, "couldn't assign flavors to pod set driver: insufficient unused quota for gpu in flavor a, 1 more needed, untolerated taint {spot true NoSchedule <nil>} in flavor b; couldn't assign flavors to pod set workers: insufficient unused quota for gpu in flavor b, 1 more needed")
	w.PodSets = []world.PodSet{
		{Name: "driver", Count: 1, Requests: []world.Request{{Resource: "gpu", Amount: 3}}},
		{Name: "workers", Count: 1, Requests: []world.Request{{Resource: "gpu", Amount: 4}}},
	}
	sc := newScene()
	sc.queue.Quotas[0].Nominal = 3 // only the driver fits into a, the workers need b
	e := explained(sc.snapshot(w), w, now)
	if e.NeverFits == nil || *e.NeverFits || e.Class != Quota {
		t.Errorf("%+v", e)
	}
}

func TestPodsAreAResource(t *testing.T) {
	sc := newScene()
	pods := world.FlavorResource{Flavor: "a", Resource: "pods"}
	sc.queue.Groups = append(sc.queue.Groups, world.ResourceGroup{Resources: []string{"pods"}, Flavors: []string{"a"}})
	sc.queue.Quotas = append(sc.queue.Quotas, world.Quota{FlavorResource: pods, Nominal: 10})
	w := asks(1, "couldn't assign flavors to pod set main: insufficient quota for pods in flavor a")
	w.PodSets[0].Count = 100
	if e := explained(sc.snapshot(w), w, now); e.NeverFits == nil || !*e.NeverFits || e.Sentence != "Can never fit: needs 100 pods of a, 10 at most. Ask for less, or have the quota raised." {
		t.Errorf("%+v", e)
	}
}

func TestKueuesWordOnAQueue(t *testing.T) {
	sc := newScene()
	w := workload(world.Pending, cond("QuotaReserved", "False", "Inadmissible", "ClusterQueue q is inactive", time.Minute))
	sc.queue.Conditions = cond("Active", "False", "TopologyNotFound", `Can't admit new workloads: there is no Topology "t" for TAS flavor "a".`, 0)
	want := answer{Topology, AdviceChange, "platform admin", `ClusterQueue q is inactive, says Kueue: Can't admit new workloads: there is no Topology "t" for TAS flavor "a".`}
	e := explained(sc.snapshot(w), w, now)
	if d := cmp.Diff(want, answer{e.Class, e.Advice, e.Actor, e.Sentence}); d != "" {
		t.Errorf("explanation (-want +got):\n%s", d)
	}
	sc.queue.Generation = 1 // the condition is of an older spec: it proves nothing now
	if e := explained(sc.snapshot(w), w, now); e.Class != Unclear {
		t.Errorf("with an old condition: %+v", e)
	}
}

func TestBackoff(t *testing.T) {
	w := workload(world.Pending, cond("QuotaReserved", "False", "Pending", "x", 0))
	w.RequeueAt, w.RequeueCount = now.Add(90*time.Second), 2
	sc := newScene()
	if e := explained(sc.snapshot(w), w, now); e.Class != Backoff || e.Advice != AdviceWait || e.Sentence != "In backoff after 2 tries: Kueue puts it back into the queue in 90s." {
		t.Errorf("%+v", e)
	}
	if e := explained(sc.snapshot(w), w, now.Add(time.Hour)); e.Advice != AdviceEscalate {
		t.Errorf("a backoff that ended long ago: %+v", e)
	}
}

func TestChecksOfAReservation(t *testing.T) {
	check := func(state string) *world.Workload {
		w := workload(world.Reserving, cond("QuotaReserved", "True", "QuotaReserved", "", time.Hour))
		w.Checks = []world.CheckState{{Name: "budget", State: state, At: now.Add(-time.Hour)}}
		return w
	}
	active := &world.Check{Meta: named("", "budget"), Conditions: cond("Active", "True", "Active", "", 0)}
	tests := map[string]struct {
		checks []*world.Check
		w      *world.Workload
		want   answer
		kind   ObstacleKind
	}{
		"pending": {[]*world.Check{active}, check("Pending"), answer{AdmissionCheck, AdviceWait, "owner of the admission check", "Quota has been reserved for 60m; waits for admission check budget."}, ObstacleCheckPending},
		"missing": {nil, check("Pending"), answer{AdmissionCheck, AdviceEscalate, "owner of the admission check", "Quota is reserved, but the AdmissionCheck budget does not exist, nobody will answer."}, ObstacleCheckMissing},
		"ready":   {[]*world.Check{active}, check("Ready"), answer{QueueOrder, AdviceWait, "", "Quota is reserved; Kueue has yet to admit it."}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := newScene()
			sc.checks = tc.checks
			e := explained(sc.snapshot(tc.w), tc.w, now)
			if d := cmp.Diff(tc.want, answer{e.Class, e.Advice, e.Actor, e.Sentence}); d != "" {
				t.Errorf("explanation (-want +got):\n%s", d)
			}
			var kind ObstacleKind
			if len(e.Obstacles) > 0 {
				kind = e.Obstacles[0].Kind
			}
			if kind != tc.kind {
				t.Errorf("obstacle %q, want %q", kind, tc.kind)
			}
		})
	}
}

func TestPartialAdmissionIsJudgedByItsMinimum(t *testing.T) {
	w := asks(20, unused)
	least := int32(4)
	w.PodSets[0].Count, w.PodSets[0].MinCount = 10, &least // 2 gpu a pod
	e := explained(newScene().snapshot(w), w, now)
	if e.NeverFits == nil || *e.NeverFits {
		t.Errorf("10 pods of 2 gpu never fit in 8, but 4 of them do: %+v", e)
	}
}

func TestCohortCycle(t *testing.T) {
	sc := newScene()
	w := asks(1, unused)
	s := store.New(clocktesting.NewFakePassiveClock(now))
	for _, k := range world.WatchedKinds() {
		s.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	for _, row := range []any{sc.queue, sc.local, sc.ns, &world.Flavor{Meta: named("", "a")}, &world.Flavor{Meta: named("", "b")}, w,
		&world.Cohort{Meta: named("", "co"), Parent: "up"}, &world.Cohort{Meta: named("", "up"), Parent: "co"}} {
		s.Put(row)
	}
	e := explained(s.Snapshot(), w, now)
	if e.Class != Misconfigured || e.Sentence != "The cohorts form a cycle (co > up > co): Kueue admits nothing in them." {
		t.Errorf("%+v", e)
	}
}

// Whatever stands in a message, an explanation comes out: no panic, a class and
// a sentence.
func FuzzExplain(f *testing.F) {
	for _, m := range []string{unused, "", "insufficient", "resource  unavailable in ClusterQueue", "flavor , doesn't match node affinity", "Preempted to accommodate", "untolerated taint {} in flavor a"} {
		f.Add("Pending", m, int64(3))
	}
	sc := newScene()
	f.Fuzz(func(t *testing.T, reason, message string, n int64) {
		w := asks(world.Amount(n), message)
		w.Conditions[0].Reason = reason
		e := explained(sc.snapshot(w), w, now)
		if e.Class == "" || e.Advice == "" || e.Sentence == "" {
			t.Errorf("%q %q: %+v", reason, message, e)
		}
	})
}
