package health

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

var now = time.Date(2026, 12, 2, 14, 0, 0, 0, time.UTC)

func named(ns, name string) world.Meta {
	return world.Meta{Key: world.Key{Namespace: ns, Name: name}, UID: types.UID("uid-" + ns + "/" + name), Created: now.Add(-time.Hour)}
}

func gpu(flavor string) world.FlavorResource {
	return world.FlavorResource{Flavor: flavor, Resource: "gpu"}
}

// scene is ClusterQueue q with 8 gpu of flavor a, to which LocalQueue team/lq
// points, in cohort co with ClusterQueue other, of which team/holder uses 6.
// Every row may be changed or dropped before the snapshot is made.
type scene struct {
	queue, other *world.ClusterQueue
	local        *world.LocalQueue
	ns           *world.Namespace
	flavor       *world.Flavor
	holder       *world.Workload
	rows         []any
	drop         []world.Ref
	blind        []world.Kind // kinds that cannot be read
	contract     world.Contract
}

func newScene() *scene {
	sel, _ := labels.Parse("kueue=on")
	group := func() []world.ResourceGroup {
		return []world.ResourceGroup{{Resources: []string{"gpu"}, Flavors: []string{"a"}}}
	}
	active := func() world.Conditions { return world.Conditions{cond("Active", "True", "Ready", "", time.Hour)} }
	return &scene{
		queue: &world.ClusterQueue{
			Meta: named("", "q"), Cohort: "co", Namespaces: sel, Groups: group(), Conditions: active(),
			Quotas: []world.Quota{{FlavorResource: gpu("a"), Nominal: 8}},
		},
		other: &world.ClusterQueue{
			Meta: named("", "other"), Cohort: "co", Namespaces: sel, Groups: group(), Conditions: active(),
			Quotas: []world.Quota{{FlavorResource: gpu("a"), Nominal: 0}},
		},
		local:  &world.LocalQueue{Meta: named("team", "lq"), ClusterQueue: "q", Conditions: active()},
		ns:     &world.Namespace{Meta: named("", "team"), Labels: map[string]string{"kueue": "on"}},
		flavor: &world.Flavor{Meta: named("", "a")},
		holder: &world.Workload{
			Meta: named("team", "holder"), Active: true, ClusterQueue: "other", State: world.Admitted,
			Conditions: world.Conditions{cond("QuotaReserved", "True", "QuotaReserved", "", time.Hour), cond("Admitted", "True", "Admitted", "", time.Hour)},
			Usage:      []world.Use{{FlavorResource: gpu("a"), Amount: 6}},
		},
	}
}

func (sc *scene) put(rows ...any) { sc.rows = append(sc.rows, rows...) }

func (sc *scene) snapshot() *store.Snapshot {
	s := store.New(clocktesting.NewFakePassiveClock(now))
	for _, k := range append(world.WatchedKinds(), world.SideKinds()...) {
		s.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	for _, k := range sc.blind {
		s.SetFreshness(k, world.Freshness{Feed: world.Denied})
	}
	s.SetContract(sc.contract)
	for _, row := range append([]any{sc.queue, sc.other, sc.local, sc.ns, sc.flavor, sc.holder}, sc.rows...) {
		s.Put(row)
	}
	for _, r := range sc.drop {
		s.Delete(r.Kind, r.Key)
	}
	return s.Snapshot()
}

func (sc *scene) input() Input { return inputOf(sc.snapshot()) }

func inputOf(s *store.Snapshot) Input {
	in := Input{Snapshot: s, Now: now}
	x := reason.New(s, now)
	for _, w := range s.Workloads {
		in.Explanations = append(in.Explanations, x.Explain(w))
	}
	return in
}

// true statuses: without them every queue would be said to be stale.
func (sc *scene) settle() *scene {
	s := sc.snapshot()
	for _, q := range []*world.ClusterQueue{sc.queue, sc.other} {
		c := s.CountsOf(q.Name)
		q.Status = world.QueueStatus{Pending: int32(c.Pending), Reserving: int32(c.Reserving), Admitted: int32(c.Admitted)}
		if n := s.Tree.ClusterQueue(q.Name); n != nil {
			for _, x := range n.Cells {
				q.Status.Reservation = append(q.Status.Reservation, world.Use{FlavorResource: x.FlavorResource, Amount: x.Reserved})
			}
		}
	}
	c := s.CountsOfLocal(sc.local.Key)
	sc.local.Status = world.QueueStatus{Pending: int32(c.Pending), Reserving: int32(c.Reserving), Admitted: int32(c.Admitted)}
	return sc
}

func cond(typ, status, why, message string, ago time.Duration) world.Condition {
	return world.Condition{Type: typ, Status: status, Reason: why, Message: message, At: now.Add(-ago)}
}

// job is a Workload of LocalQueue team/lq in the state.
func job(name string, state world.State, conds ...world.Condition) *world.Workload {
	return &world.Workload{
		Meta: named("team", name), Active: state != world.Deactivated, LocalQueue: "lq", State: state, Conditions: conds,
		PodSets: []world.PodSet{{Name: "main", Count: 1, Exact: true, Requests: []world.Request{{Resource: "gpu", Amount: 1}}}},
	}
}

// waits is a pending one of which Kueue said the message.
func waits(name string, n world.Amount, message string) *world.Workload {
	w := job(name, world.Pending, cond("QuotaReserved", "False", "Pending", message, time.Minute))
	w.PodSets[0].Requests[0].Amount = n
	return w
}

const noQuota = "couldn't assign flavors to pod set main: insufficient unused quota for gpu in flavor a, 1 more needed"

// with returns a scene with the Workloads, whose statuses are true.
func with(ws ...*world.Workload) *scene {
	sc := newScene()
	for _, w := range ws {
		sc.put(w)
	}
	return sc
}

func find(t *testing.T, all []Alert, class Class, object string) Alert {
	t.Helper()
	for _, a := range all {
		if a.Class == class && a.Object.String() == object {
			return a
		}
	}
	t.Fatalf("no alert of class %s on %s among %+v", class, object, all)
	return Alert{}
}

// said is an alert without its words.
type said struct {
	Class    string
	Severity string
	Object   string
	Count    int
	Advice   reason.Advice
	Actor    string
}

func sayings(all []Alert) []said {
	out := []said{}
	for _, a := range all {
		out = append(out, said{string(a.Class), string(a.Severity), a.Object.String(), a.Count, a.Advice, a.Actor})
	}
	return out
}

func reserving(name string, checks ...world.CheckState) *world.Workload {
	w := job(name, world.Reserving, cond("QuotaReserved", "True", "QuotaReserved", "", time.Hour))
	w.ClusterQueue, w.Checks = "q", checks
	return w
}

func check(name, state, message string) world.CheckState {
	return world.CheckState{Name: name, State: state, Message: message, At: now.Add(-time.Hour)}
}

func activeCheck(name string) *world.Check {
	return &world.Check{Meta: named("", name), Controller: "x.example.com/y", Conditions: world.Conditions{cond("Active", "True", "Active", "", 0)}}
}

func evicting(name, why string, ago time.Duration) *world.Workload {
	w := job(name, world.Evicting, cond("Evicted", "True", why, "", ago), cond("QuotaReserved", "True", "QuotaReserved", "", time.Hour))
	w.ClusterQueue = "q"
	return w
}

func admitted(name string, conds ...world.Condition) *world.Workload {
	w := job(name, world.Admitted, append(conds, cond("QuotaReserved", "True", "QuotaReserved", "", time.Hour), cond("Admitted", "True", "Admitted", "", time.Hour))...)
	w.ClusterQueue = "q"
	return w
}

func gone(kind world.Kind, ns, name string) world.Ref {
	return world.Ref{Kind: kind, Key: world.Key{Namespace: ns, Name: name}}
}

const (
	admin  = "platform admin"
	owner  = "job owner"
	either = "job owner or platform admin"
	checks = "owner of the admission check"
)
