package compare

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

type change func(*world.Workload)

// job is a pending Workload.
func job(name string, cs ...change) *world.Workload {
	w := &world.Workload{
		Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: name}, UID: types.UID("uid-" + name)}, Active: true, LocalQueue: "lq", State: world.Pending,
		Owner: &world.Owner{Kind: "Job", Name: "job-" + name, UID: types.UID("job-" + name)},
	}
	for _, c := range cs {
		c(w)
	}
	w.State = world.StateOf(w.Active, w.Conditions)
	return w
}

func since0(at time.Duration, flavor string) change {
	return func(w *world.Workload) {
		w.ClusterQueue, w.PodSets = "q", []world.PodSet{{Name: "main", Flavors: map[string]string{"cpu": flavor}}}
		w.Conditions = append(w.Conditions, world.Condition{Type: world.CondQuotaReserved, Status: "True", At: noon.Add(at)}, world.Condition{Type: world.CondAdmitted, Status: "True", At: noon.Add(at)})
	}
}

func is(typ, reason string, at time.Duration) change {
	return func(w *world.Workload) {
		w.Conditions = append(w.Conditions, world.Condition{Type: typ, Status: "True", Reason: reason, At: noon.Add(at)})
	}
}

// was is a condition that is False by now, as Kueue leaves it after an eviction.
func was(typ, reason string, at time.Duration) change {
	return func(w *world.Workload) {
		w.Conditions = append(w.Conditions, world.Condition{Type: typ, Status: "False", Reason: reason, At: noon.Add(at)})
	}
}

func inactive(w *world.Workload) { w.Active = false }

func snapshot(put ...any) *store.Snapshot {
	st := store.New(clock.RealClock{})
	for _, k := range append(world.WatchedKinds(), world.SideKinds()...) {
		st.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	st.Put(&world.LocalQueue{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: "lq"}}, ClusterQueue: "q", Spec: `{"clusterQueue":"q"}`})
	for _, o := range put {
		st.Put(o)
	}
	return st.Snapshot()
}

// of compares with an export of the scope.
func of(then, now *store.Snapshot, scope bundle.Scope, belongs bundle.Queues) Result {
	return Of(then, &bundle.Manifest{Scope: scope}, now, belongs)
}

func queue(name, spec string) *world.ClusterQueue {
	return &world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: name}}, Spec: spec}
}

var whole = bundle.Queues{Of: func(world.Key) string { return "q" }, Below: func(string) bool { return true }}

// told is the result in short.
func told(r Result) map[string][]string {
	out := map[string][]string{}
	refs := func(what string, l []world.Ref) {
		for _, x := range l {
			out[what] = append(out[what], x.Name)
		}
	}
	changes := func(what string, l []Change) {
		for _, x := range l {
			out[what] = append(out[what], strings.TrimSpace(fmt.Sprintf("%s %s->%s %s", x.Ref.Name, x.Before, x.After, x.Note)))
		}
	}
	refs("same", r.Same)
	refs("finished", r.Finished)
	refs("new", r.New)
	changes("evicted", r.Evicted)
	changes("readmitted", r.Readmitted)
	changes("started", r.Started)
	changes("stopped", r.Stopped)
	changes("lost", r.Lost)
	for _, s := range r.Specs {
		out["specs"] = append(out["specs"], s.Object+" "+s.Note)
	}
	return out
}

func TestWhatBecameOfThem(t *testing.T) {
	const h = time.Hour
	then := snapshot(
		queue("q", `{"cohortName":"c"}`), queue("old", `{}`),
		job("waits"), job("starts"), job("is-stopped"), job("runs", since0(-h, "spot")), job("moves", since0(-h, "spot")), job("same-time", since0(-h, "spot")), job("again", since0(-h, "spot")),
		job("out", since0(-h, "spot")), job("leaves", since0(-h, "spot")), job("ends", since0(-h, "spot")), job("ends-late", since0(-h, "spot")), job("gone", since0(-h, "spot")), job("remade", since0(-h, "spot")), job("gone-waiting"),
		job("was-over", is(world.CondFinished, "Succeeded", -h)), job("over", is(world.CondFinished, "Succeeded", -h)), job("off", inactive), job("off-gone", inactive),
	)
	now := snapshot(
		queue("q", `{"cohortName":"d"}`), queue("fresh", `{}`),
		job("waits"), job("starts", since0(h, "spot")), job("is-stopped", inactive), job("runs", since0(-h, "spot")), job("moves", since0(h, "on-demand")), job("same-time", since0(-h, "on-demand")),
		job("again", since0(h, "spot"), was(world.CondEvicted, "Preempted", h/2)),
		job("out", is(world.CondEvicted, "Preempted", h/2)), job("leaves", since0(-h, "spot"), is(world.CondEvicted, "Preempted", h)), job("ends", since0(-h, "spot"), is(world.CondFinished, "Succeeded", h)), job("ends-late", since0(h/2, "spot"), was(world.CondEvicted, "Preempted", h/3), is(world.CondFinished, "Succeeded", h)),
		job("remade-2", func(w *world.Workload) { w.Owner = &world.Owner{Kind: "Job", Name: "job-remade", UID: "job-remade"} }),
		job("over", is(world.CondFinished, "Succeeded", -h)), job("off", inactive),
	)
	r := of(then, now, bundle.Scope{}, whole)
	want := map[string][]string{
		"same":       {"off", "runs", "waits"},
		"finished":   {"ends"},
		"new":        {"remade-2"},
		"started":    {"starts ->cpu: spot"},
		"stopped":    {"is-stopped -> it is deactivated now"},
		"evicted":    {"leaves cpu: spot->cpu: spot it is evicting now (evicted 2026-12-02T13:00:00Z: Preempted)", "out cpu: spot-> it is pending now (evicted 2026-12-02T12:30:00Z: Preempted)"},
		"readmitted": {"again cpu: spot->cpu: spot it lost its quota in between (evicted 2026-12-02T12:30:00Z: Preempted)", "ends-late cpu: spot-> it lost its quota in between (evicted 2026-12-02T12:20:00Z: Preempted), and finished", "moves cpu: spot->cpu: on-demand it lost its quota in between", "same-time cpu: spot->cpu: on-demand its flavors are others"},
		"lost": {
			"gone cpu: spot-> it is gone, and its job has no other one", "gone-waiting -> it is gone, and its job has no other one", "off-gone -> it is gone, and its job has no other one",
			"remade cpu: spot-> it is gone; its job has Workload ns/remade-2 now, which is pending",
		},
		"specs": {"ClusterQueue/fresh new", "ClusterQueue/old gone", "ClusterQueue/q changed"},
	}
	if d := cmp.Diff(want, told(r)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if r.Running != 1 || r.Verdict() != NotKept {
		t.Errorf("%d run on, verdict %d", r.Running, r.Verdict())
	}
	if d := strings.Join(r.Specs[2].Diff, "\n"); !strings.Contains(d, "-cohortName: c") || !strings.Contains(d, "+cohortName: d") {
		t.Errorf("diff:\n%s", d)
	}
}

func TestNothingChanged(t *testing.T) {
	s := snapshot(queue("q", `{"b":1,"a":2}`), job("a", since0(0, "x")), job("b"))
	other := snapshot(queue("q", `{"a":2,"b":1}`), job("a", since0(0, "x")), job("b"))
	for _, now := range []*store.Snapshot{s, other} {
		if r := of(s, now, bundle.Scope{}, whole); r.Verdict() != Kept || r.Running != 1 || len(r.Same) != 2 {
			t.Errorf("%+v", r)
		}
	}
}

func TestScopeOfWhatIsNew(t *testing.T) {
	r := of(snapshot(), snapshot(job("a"), job("b", func(w *world.Workload) { w.Namespace = "elsewhere" })), bundle.Scope{Namespace: "ns"}, whole)
	if d := cmp.Diff(map[string][]string{"new": {"a"}}, told(r)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// What is not read now is not lost, but unknown.
func TestUnknownIsNotLost(t *testing.T) {
	st := store.New(clock.RealClock{})
	r := of(snapshot(job("a", since0(0, "x"))), st.Snapshot(), bundle.Scope{}, whole)
	if len(r.Lost) > 0 || len(r.Unknown) == 0 || r.Verdict() != Unknown {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsUnknown(t *testing.T) {
	ran := snapshot(queue("q", "{}"), job("a", since0(0, "x")))
	feed := func(s *store.Snapshot, k world.Kind, f world.Feed) *store.Snapshot {
		st := store.New(clock.RealClock{})
		for _, k := range append(world.WatchedKinds(), world.SideKinds()...) {
			st.SetFreshness(k, s.Fresh(k))
		}
		st.SetFreshness(k, world.Freshness{Feed: f, Detail: "because"})
		for _, q := range s.ClusterQueues {
			st.Put(q)
		}
		for _, q := range s.LocalQueues {
			st.Put(q)
		}
		for _, w := range s.Workloads {
			st.Put(w)
		}
		for _, n := range s.Namespaces {
			st.Put(n)
		}
		st.SetContract(s.Contract)
		return st.Snapshot()
	}
	limited := func(c world.Contract, put ...any) *store.Snapshot {
		s := *snapshot(put...)
		s.Contract = c
		return &s
	}
	kubeSystem := func(uid types.UID) *world.Namespace {
		return &world.Namespace{Meta: world.Meta{Key: world.Key{Name: "kube-system"}, UID: uid}}
	}
	for name, tc := range map[string]struct {
		then, now *store.Snapshot
		m         bundle.Manifest
		verdict   Verdict
		unknown   string // in the only sentence; empty: there is none
		told      map[string][]string
	}{
		"all known":                            {ran, ran, bundle.Manifest{}, Kept, "", map[string][]string{"same": {"a"}}},
		"Workloads denied now":                 {ran, feed(ran, world.KindWorkload, world.Denied), bundle.Manifest{}, Unknown, "Workloads: those of now are not known, their list is denied: because", nil},
		"Workloads old now":                    {ran, feed(ran, world.KindWorkload, world.Disconnected), bundle.Manifest{}, Unknown, "their list is disconnected", nil},
		"Workloads of the export broken":       {feed(ran, world.KindWorkload, world.Failing), ran, bundle.Manifest{}, Unknown, "not all of the export can be read: because", nil},
		"queues denied now":                    {ran, feed(ran, world.KindClusterQueue, world.Denied), bundle.Manifest{}, Unknown, "specs of kind ClusterQueue: their list is denied now: because", map[string][]string{"same": {"a"}}},
		"queues not exported":                  {feed(snapshot(job("a", since0(0, "x"))), world.KindClusterQueue, world.Absent), ran, bundle.Manifest{}, Unknown, "specs of kind ClusterQueue: the export does not hold all: because", map[string][]string{"same": {"a"}}},
		"queues denied, one lost":              {ran, feed(snapshot(queue("q", "{}")), world.KindClusterQueue, world.Denied), bundle.Manifest{}, NotKept, "specs of kind ClusterQueue", map[string][]string{"lost": {"a cpu: x-> it is gone, and its job has no other one"}}},
		"no cohorts in either":                 {feed(ran, world.KindCohort, world.Absent), feed(ran, world.KindCohort, world.Absent), bundle.Manifest{}, Kept, "", map[string][]string{"same": {"a"}}},
		"LocalQueues denied now, of a queue":   {ran, feed(ran, world.KindLocalQueue, world.Denied), bundle.Manifest{Scope: bundle.Scope{Namespace: "ns"}}, Unknown, "specs of kind LocalQueue: their list is denied now", map[string][]string{"same": {"a"}}},
		"one namespace read now, all exported": {ran, limited(world.Contract{Namespace: "ns"}, queue("q", "{}"), job("a", since0(0, "x"))), bundle.Manifest{}, Unknown, "only those of namespace ns are known now, the export is of all Workloads", nil},
		"one namespace read now, and exported": {
			snapshot(queue("q", "{}"), job("a", since0(0, "x")), &world.LocalQueue{Meta: world.Meta{Key: world.Key{Namespace: "other", Name: "lq"}}, Spec: "{}"}),
			limited(world.Contract{Namespace: "ns"}, queue("q", "{}"), job("a", since0(0, "x"))), bundle.Manifest{Scope: bundle.Scope{Namespace: "ns"}}, Kept, "", map[string][]string{"same": {"a"}},
		},
		"two exports of one part": {ran, limited(world.Contract{Part: "ClusterQueue q"}, queue("q", "{}"), job("a", since0(0, "x"))), bundle.Manifest{Scope: bundle.Scope{ClusterQueue: "q"}}, Kept, "", map[string][]string{"same": {"a"}}},
		"exports of two parts":    {ran, limited(world.Contract{Part: "ClusterQueue r"}, queue("q", "{}")), bundle.Manifest{Scope: bundle.Scope{ClusterQueue: "q"}}, Unknown, "only those of ClusterQueue r are known now, the export is of ClusterQueue q", nil},
		"the same cluster":        {ran, snapshot(queue("q", "{}"), job("a", since0(0, "x")), kubeSystem("1")), bundle.Manifest{ClusterUID: "1"}, Kept, "", map[string][]string{"same": {"a"}}},
		"another cluster":         {ran, snapshot(kubeSystem("2")), bundle.Manifest{ClusterUID: "1", Context: "prod\x1b"}, Unknown, `the export is of another cluster (context prod\x1b, server , kube-system's UID 1; here it is 2)`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := Of(tc.then, &tc.m, tc.now, whole)
			switch {
			case tc.unknown == "" && len(r.Unknown) > 0, tc.unknown != "" && (len(r.Unknown) != 1 || !strings.Contains(r.Unknown[0], tc.unknown)):
				t.Errorf("unknown: %q, want %q", r.Unknown, tc.unknown)
			}
			if tc.told == nil {
				tc.told = map[string][]string{}
			}
			if d := cmp.Diff(tc.told, told(r)); d != "" || r.Verdict() != tc.verdict {
				t.Errorf("verdict %d, want %d (-want +got):\n%s", r.Verdict(), tc.verdict, d)
			}
		})
	}
}

// Each Workload of then is in one list at most, and only what finished before is in
// none; nothing that runs on is called lost.
func TestEachIsInOneList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SampledFrom([][]change{nil, {since0(-time.Hour, "x")}, {since0(time.Hour, "y")}, {inactive}, {is(world.CondFinished, "Succeeded", 0)}, {since0(-time.Hour, "x"), is(world.CondEvicted, "Preempted", 0)}})
		var a, b []any
		names := map[string]int{}
		for i := range rapid.IntRange(0, 8).Draw(t, "n") {
			name := fmt.Sprint("w", i)
			w := job(name, some.Draw(t, "was")...)
			a = append(a, w)
			gone := rapid.Bool().Draw(t, "gone")
			if !gone {
				b = append(b, job(name, some.Draw(t, "is")...))
			}
			names[name] = 1
			if gone && w.State == world.Finished {
				names[name] = 0
			}
			if !gone && w.State == world.Finished && b[len(b)-1].(*world.Workload).State == world.Finished {
				names[name] = 0
			}
		}
		got := map[string]int{}
		for name := range names {
			got[name] = 0
		}
		r := of(snapshot(a...), snapshot(b...), bundle.Scope{}, whole)
		for _, l := range told(r) {
			for _, x := range l {
				got[strings.Fields(x)[0]]++
			}
		}
		delete(got, "specs")
		if d := cmp.Diff(names, got); d != "" {
			t.Fatalf("lists each is in (-want +got):\n%s", d)
		}
	})
}
