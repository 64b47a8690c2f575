package actions

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authv1 "k8s.io/api/authorization/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

const (
	wlPath  = "namespaces/ns/workloads/train"
	jobPath = "/apis/batch/v1/namespaces/ns/jobs/train"
)

var wlRef = world.Ref{Kind: world.KindWorkload, Key: world.Key{Namespace: "ns", Name: "train"}, UID: "uid-train"}

// cond is a condition as "Type=Status/Reason".
func cond(s string) any {
	typ, rest, _ := strings.Cut(s, "=")
	status, reason, _ := strings.Cut(rest, "/")
	return map[string]any{"type": typ, "status": status, "reason": reason, "message": "m of " + typ, "lastTransitionTime": "2026-12-02T13:00:00Z"}
}

// putWorkload stores a Workload of Job train in LocalQueue lq. change may be nil.
func putWorkload(s *apiServer, change func(spec, status map[string]any), conditions ...string) {
	var conds []any
	for _, c := range conditions {
		conds = append(conds, cond(c))
	}
	spec := map[string]any{
		"queueName": "lq", "active": true, "futureField": "keep",
		"podSets": []any{map[string]any{"name": "main", "count": 1, "template": map[string]any{"spec": map[string]any{"containers": []any{}}}}},
	}
	status := map[string]any{"conditions": conds}
	for _, c := range conditions {
		if c == "QuotaReserved=True/QuotaReserved" {
			status["admission"] = map[string]any{"clusterQueue": "q", "podSetAssignments": []any{map[string]any{"name": "main", "count": 1}}}
		}
	}
	if change != nil {
		change(spec, status)
	}
	s.react = func(map[string]any) {}
	meta := map[string]any{"namespace": "ns", "ownerReferences": []any{map[string]any{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "uid-job", "controller": true}}}
	s.put(wlPath, "Workload", meta, spec)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[base+wlPath]["status"] = status
}

// evicts is Kueue's Workload controller and the Job's: what is not active is evicted
// at once, and what is active again is requeued.
func evicts(o map[string]any) {
	spec, _ := o["spec"].(map[string]any)
	if o["kind"] != "Workload" || spec == nil {
		return
	}
	status, _ := o["status"].(map[string]any)
	if status == nil {
		return
	}
	if spec["active"] == false {
		status["conditions"] = []any{cond("Evicted=True/Deactivated"), cond("Requeued=False/Deactivated")}
	} else {
		status["conditions"] = []any{cond("Requeued=True/Reactivated")}
	}
}

func TestDeactivate(t *testing.T) {
	tests := map[string]struct {
		conditions    []string
		change        func(spec, status map[string]any)
		confirm       Confirm
		evicts, loses int
		words         []string
	}{
		"running": {
			conditions: []string{"QuotaReserved=True/QuotaReserved", "Admitted=True/Admitted"},
			change:     func(spec, _ map[string]any) { spec["maximumExecutionTimeSeconds"] = 7200 },
			confirm:    Confirm{ConfirmName, "train"}, evicts: 1,
			words: []string{"Kueue evicts it", "its maximum execution time of 2h0m0s goes on from there"},
		},
		"with a reservation": {
			conditions: []string{"QuotaReserved=True/QuotaReserved"}, confirm: Confirm{ConfirmName, "train"}, loses: 1,
			words: []string{"It loses its reservation"},
		},
		"waiting": {
			change:  func(_, status map[string]any) { status["requeueState"] = map[string]any{"count": 3} },
			confirm: Confirm{ConfirmYes, "y"},
			words:   []string{"It leaves the queue", "Its count of requeues (3)"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putWorkload(s, tt.change, tt.conditions...)
			s.react = evicts
			d := desk(t, s, nil)
			p, err := d.PlanDeactivate(t.Context(), wlRef, "leaks memory")
			if err != nil {
				t.Fatal(err)
			}
			if s.writes != 0 {
				t.Error("a plan wrote")
			}
			if p.Confirm != tt.confirm || len(p.Evicts) != tt.evicts || len(p.LosesReservation) != tt.loses || len(p.StaysPending) != 0 {
				t.Errorf("confirm %+v, evicts %v, loses %v, stays %v", p.Confirm, p.Evicts, p.LosesReservation, p.StaysPending)
			}
			for _, a := range p.Evicts {
				if !strings.Contains(a.Note, "admitted for ") || !strings.Contains(a.Note, "checkpoint not known") {
					t.Errorf("what it costs: %q", a.Note)
				}
			}
			for _, w := range tt.words {
				if !strings.Contains(strings.Join(p.Notes, "\n"), w) {
					t.Errorf("notes %q lack %q", p.Notes, w)
				}
			}
			if len(p.Edits) != 1 || p.Edits[0].Kind != world.KindWorkload || *p.Edits[0].Object.(*kueue.Workload).Spec.Active {
				t.Errorf("edits %+v", p.Edits)
			}
			r, err := d.Execute(t.Context(), p, p.Confirm.Expects)
			if err != nil || !r.OK() || !r.Objects[0].Verified || !strings.Contains(r.Objects[0].Detail, "Evicted: Deactivated") {
				t.Fatalf("%+v, %v", r, err)
			}
			spec := s.get(wlPath)["spec"].(map[string]any)
			if spec["active"] != false || spec["futureField"] != "keep" || s.writes != 1 {
				t.Errorf("after %d writes: %v", s.writes, spec)
			}
			entries, _, err := d.opts.Journal.Read()
			if err != nil || len(entries) != 2 || entries[0].Reason != "leaks memory" {
				t.Errorf("journal %+v, %v", entries, err)
			}
		})
	}
}

func TestReactivate(t *testing.T) {
	off := func(more func(spec, status map[string]any)) func(spec, status map[string]any) {
		return func(spec, status map[string]any) {
			spec["active"] = false
			if more != nil {
				more(spec, status)
			}
		}
	}
	tests := map[string]struct {
		conditions []string
		more       func(spec, status map[string]any)
		world      func(*store.Store)
		words      []string
		verified   bool
	}{
		"by a person": {
			conditions: []string{"Evicted=True/Deactivated", "Requeued=False/Deactivated"},
			words:      []string{"Kueue queues it again"}, verified: true,
		},
		"by Kueue": {
			conditions: []string{"Evicted=True/DeactivatedDueToRequeuingLimitExceeded", "Requeued=False/DeactivatedDueToRequeuingLimitExceeded"},
			words:      []string{"Kueue deactivated it (RequeuingLimitExceeded: m of Evicted). Unless that was put right, it will do so again."},
		},
		"its time is used up": {
			conditions: []string{"Evicted=True/Deactivated", "Requeued=False/Deactivated"},
			more: func(spec, status map[string]any) {
				spec["maximumExecutionTimeSeconds"], status["accumulatedPastExecutionTimeSeconds"] = 60, 61
			},
			words: []string{"is used up (it ran 1m1s)"}, verified: true,
		},
		"some time is left": {
			conditions: []string{"Evicted=True/Deactivated", "Requeued=False/Deactivated"},
			more: func(spec, status map[string]any) {
				spec["maximumExecutionTimeSeconds"], status["accumulatedPastExecutionTimeSeconds"] = 60, 20
			},
			words: []string{"Of its maximum execution time of 1m0s, 40s are left"}, verified: true,
		},
		"its LocalQueue is held": {
			conditions: []string{"Evicted=True/Deactivated", "Requeued=False/Deactivated"},
			world: func(st *store.Store) {
				st.Put(&world.LocalQueue{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: "lq"}}, ClusterQueue: "q", StopPolicy: world.StopHold})
			},
			words: []string{"Reactivating is not enough: LocalQueue/ns/lq"}, verified: true,
		},
		"its job still stops": {
			conditions: []string{"Evicted=True/Deactivated", "QuotaReserved=True/QuotaReserved"},
			words:      []string{"Its job has not stopped yet"}, verified: true,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putWorkload(s, off(tt.more), tt.conditions...)
			if tt.verified {
				s.react = evicts
			}
			d := deskOn(t, s, tt.world)
			p, err := d.PlanReactivate(t.Context(), wlRef, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range tt.words {
				if !strings.Contains(strings.Join(p.Notes, "\n"), w) {
					t.Errorf("notes %q lack %q", p.Notes, w)
				}
			}
			if len(p.Edits) != 1 || !*p.Edits[0].Object.(*kueue.Workload).Spec.Active {
				t.Errorf("edits %+v", p.Edits)
			}
			r, err := d.Execute(t.Context(), p, p.Confirm.Expects)
			if err != nil || !r.OK() || r.Objects[0].Verified != tt.verified {
				t.Fatalf("%+v, %v", r, err)
			}
			if s.get(wlPath)["spec"].(map[string]any)["active"] != true {
				t.Error("it is not active")
			}
		})
	}
}

// deskOn is desk with a world that change has added to.
func deskOn(t *testing.T, s *apiServer, change func(*store.Store)) *Desk {
	t.Helper()
	return desk(t, s, func(o *Options) {
		o.LastsFor = 20 * time.Millisecond
		if change == nil {
			return
		}
		st := store.New(ours{})
		was := o.World()
		for _, k := range world.WatchedKinds() {
			st.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
		}
		st.SetContract(was.Contract)
		for _, q := range was.ClusterQueues {
			st.Put(q)
		}
		for _, q := range was.LocalQueues {
			st.Put(q)
		}
		change(st)
		snap := st.Snapshot()
		o.World = func() *store.Snapshot { return snap }
	})
}

func TestWhatCannotBeDoneWithAWorkload(t *testing.T) {
	s := newAPIServer(t)
	d := desk(t, s, nil)
	putWorkload(s, nil, "Finished=True/Succeeded")
	if _, err := d.PlanDeactivate(t.Context(), wlRef, ""); err == nil || !strings.Contains(err.Error(), "it is finished") {
		t.Errorf("finished: %v", err)
	}
	putWorkload(s, nil)
	if _, err := d.PlanReactivate(t.Context(), wlRef, ""); err == nil || !strings.Contains(err.Error(), "it is active") {
		t.Errorf("active: %v", err)
	}
	if _, err := d.PlanDeactivate(t.Context(), queueRef, ""); err == nil || !strings.Contains(err.Error(), "is no Workload") {
		t.Errorf("a queue: %v", err)
	}
	if _, err := desk(t, s, func(o *Options) { o.ReadOnly = true }).PlanDeactivate(t.Context(), wlRef, ""); err == nil || !strings.Contains(err.Error(), "--read-only") {
		t.Errorf("read-only: %v", err)
	}
	if s.writes != 0 {
		t.Errorf("%d writes", s.writes)
	}
}

// Rights on Workloads and jobs are asked for once for all, and by namespace where
// that is refused.
func TestRightsOnWorkloads(t *testing.T) {
	s := newAPIServer(t)
	asked := reviewed(t, s, func(a *authv1.ResourceAttributes) bool {
		return a.Resource == "clusterqueues" || a.Namespace == "mine" && a.Resource == "workloads"
	})
	row := func(ns, name string) *world.Workload {
		return &world.Workload{Meta: world.Meta{Key: world.Key{Namespace: ns, Name: name}, UID: "u-" + wlRef.UID}, Active: true, Owner: &world.Owner{APIVersion: "batch/v1", Kind: "Job", Name: "j"}}
	}
	d := deskOn(t, s, func(st *store.Store) { st.Put(row("mine", "a")); st.Put(row("theirs", "a")) })
	d.LoadAccess(t.Context())
	want := []string{
		"patch clusterqueues.kueue.x-k8s.io /", "patch workloads.kueue.x-k8s.io /", "patch workloads.kueue.x-k8s.io mine/",
		"patch jobs.batch /", "patch jobs.batch mine/", "patch workloads.kueue.x-k8s.io theirs/", "patch jobs.batch theirs/",
	}
	if diff := cmp.Diff(want, *asked); diff != "" {
		t.Errorf("reviews (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		ns     string
		action Action
		why    string
	}{
		{"mine", Deactivate, ""},
		{"mine", Reactivate, "it is active"},
		{"mine", Reprioritize, "your account may not patch jobs.batch in namespace mine"},
		{"theirs", Deactivate, "your account may not patch workloads.kueue.x-k8s.io in namespace theirs"},
		{"gone", Deactivate, "does not exist any more"},
	} {
		ok, why := d.May(world.Ref{Kind: world.KindWorkload, Key: world.Key{Namespace: tt.ns, Name: "a"}}, tt.action)
		if ok != (tt.why == "") || !strings.Contains(why, tt.why) {
			t.Errorf("%s of %s/a: %v %q, want %q", tt.action, tt.ns, ok, why, tt.why)
		}
	}
}
