package actions

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// putJob stores the Job that owns the Workload, with these labels.
func putJob(s *apiServer, labels map[string]any, more map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	meta := map[string]any{"name": "train", "namespace": "ns", "uid": "uid-job", "generation": 1, "resourceVersion": s.next(), "labels": labels}
	for k, v := range more {
		meta[k] = v
	}
	s.objects[jobPath] = map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": map[string]any{"suspend": true}}
}

func putClass(s *apiServer, name string, value int) {
	s.put("workloadpriorityclasses/"+name, "WorkloadPriorityClass", map[string]any{}, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[base+"workloadpriorityclasses/"+name]["value"] = value
}

func classRef(name string) map[string]any {
	return map[string]any{"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": name}
}

// carries is Kueue's job reconciler: the Job's label becomes the Workload's class.
func carries(s *apiServer, value int) func(map[string]any) {
	return func(o map[string]any) {
		if o["kind"] != "Job" {
			return
		}
		w := s.objects[base+wlPath]
		spec := w["spec"].(map[string]any)
		spec["priorityClassRef"], spec["priority"] = classRef(metaOf(o)["labels"].(map[string]any)[priorityLabel].(string)), value
		metaOf(w)["resourceVersion"], metaOf(w)["generation"] = s.next(), asInt(metaOf(w)["generation"])+1
	}
}

func classed(name string, priority int) func(spec, status map[string]any) {
	return func(spec, _ map[string]any) { spec["priorityClassRef"], spec["priority"] = classRef(name), priority }
}

func TestPriority(t *testing.T) {
	reserved := []string{"QuotaReserved=True/QuotaReserved", "Admitted=True/Admitted"}
	tests := map[string]struct {
		conditions []string
		from       int
		preempts   bool
		confirm    Confirm
	}{
		"waits, higher": {from: 10, confirm: Confirm{ConfirmYes, "y"}},
		"waits, higher, in a queue that may preempt": {from: 10, preempts: true, confirm: Confirm{ConfirmName, "train"}},
		"waits, lower": {from: 1000, preempts: true, confirm: Confirm{ConfirmYes, "y"}},
		"runs, lower: it may be preempted by more":     {conditions: reserved, from: 1000, confirm: Confirm{ConfirmName, "train"}},
		"runs, higher: nobody is preempted because of": {conditions: reserved, from: 10, preempts: true, confirm: Confirm{ConfirmYes, "y"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putWorkload(s, classed("old", tt.from), tt.conditions...)
			putClass(s, "urgent", 500)
			putJob(s, map[string]any{priorityLabel: "old", "team": "a"}, nil)
			s.react = carries(s, 500)
			d := deskOn(t, s, func(st *store.Store) {
				if tt.preempts {
					st.Put(&world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: "q"}, UID: "uid-q"}, Preemption: world.PreemptionPolicy{WithinClusterQueue: "LowerPriority"}})
				}
			})
			p, err := d.PlanPriority(t.Context(), wlRef, "urgent", "the demo")
			if err != nil {
				t.Fatal(err)
			}
			if s.writes != 0 || p.Confirm != tt.confirm {
				t.Errorf("%d writes, confirm %+v", s.writes, p.Confirm)
			}
			// Chosen among several and left alone, it is asked for as by itself.
			one, err := d.PlanSeveral(t.Context(), Several{Action: Reprioritize, Refs: []world.Ref{wlRef}, Class: "urgent", Reason: "the demo"})
			if err != nil || one.Subject != p.Subject || one.Confirm != p.Confirm {
				t.Errorf("chosen alone: subject %s, confirm %+v, %v; by itself %s, %+v", one.Subject, one.Confirm, err, p.Subject, p.Confirm)
			}
			will := p.Edits[0].Object.(*kueue.Workload)
			if len(p.Edits) != 1 || *will.Spec.Priority != 500 || will.Spec.PriorityClassRef.Name != "urgent" || will.Spec.PriorityClassRef.Kind != kueue.WorkloadPriorityClassKind {
				t.Errorf("edits %+v", p.Edits)
			}
			if diff := strings.Join(p.Diff, "\n"); !strings.Contains(diff, "+    kueue.x-k8s.io/priority-class: urgent") {
				t.Errorf("difference:\n%s", diff)
			}
			r, err := d.Execute(t.Context(), p, p.Confirm.Expects)
			if err != nil || !r.OK() || !r.Objects[0].Verified || !strings.Contains(r.Objects[0].Detail, "has priority 500 of class urgent, and that has lasted 20ms") {
				t.Fatalf("%+v, %v", r, err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			want := map[string]any{priorityLabel: "urgent", "team": "a"}
			if diff := cmp.Diff(want, metaOf(s.objects[jobPath])["labels"]); diff != "" || s.writes != 1 {
				t.Errorf("labels after %d writes (-want +got):\n%s", s.writes, diff)
			}
		})
	}
}

func TestPriorityThatDoesNotLast(t *testing.T) {
	tests := map[string]struct {
		react   func(s *apiServer) func(map[string]any)
		during  func(s *apiServer)
		words   string
		outcome Outcome
	}{
		"Kueue does not follow": {
			react: func(*apiServer) func(map[string]any) { return func(map[string]any) {} },
			words: "did not follow in 100ms", outcome: Done,
		},
		"somebody undoes the label": {
			react: func(s *apiServer) func(map[string]any) {
				carry := carries(s, 500)
				return func(o map[string]any) {
					carry(o)
					// What is stored is this object: it goes another way at once.
					metaOf(o)["labels"].(map[string]any)[priorityLabel] = "old"
				}
			},
			words: "the label of Job/ns/train is not there any more", outcome: Done,
		},
		"a colleague changed the label meanwhile": {
			react: func(s *apiServer) func(map[string]any) { return carries(s, 500) },
			during: func(s *apiServer) {
				s.mu.Lock()
				defer s.mu.Unlock()
				metaOf(s.objects[jobPath])["labels"] = map[string]any{priorityLabel: "theirs"}
			},
			words: "the label kueue.x-k8s.io/priority-class of Job/ns/train changed", outcome: Refused,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putWorkload(s, classed("old", 10))
			putClass(s, "urgent", 500)
			putJob(s, map[string]any{priorityLabel: "old"}, nil)
			s.react = tt.react(s)
			d := deskOn(t, s, nil)
			d.opts.VerifyFor = 100 * time.Millisecond
			p, err := d.PlanPriority(t.Context(), wlRef, "urgent", "")
			if err != nil {
				t.Fatal(err)
			}
			if tt.during != nil {
				tt.during(s)
			}
			r, err := d.Execute(t.Context(), p, p.Confirm.Expects)
			if err != nil || r.OK() || r.Objects[0].Outcome != tt.outcome || !strings.Contains(r.Objects[0].Detail, tt.words) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestPriorityThatKueueWouldNotTake(t *testing.T) {
	owner := func(api, kind string) func(s *apiServer) {
		return func(s *apiServer) {
			s.mu.Lock()
			defer s.mu.Unlock()
			metaOf(s.objects[base+wlPath])["ownerReferences"] = []any{map[string]any{"apiVersion": api, "kind": kind, "name": "train", "uid": "uid-job", "controller": true}}
		}
	}
	job := func(label string) func(s *apiServer) {
		return func(s *apiServer) { putJob(s, map[string]any{priorityLabel: label}, nil) }
	}
	tests := map[string]struct {
		change     func(spec, status map[string]any)
		conditions []string
		then       func(s *apiServer)
		class      string
		words      string
	}{
		"no owner": {
			then: func(s *apiServer) {
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(metaOf(s.objects[base+wlPath]), "ownerReferences")
			},
			class: "urgent", words: "no job that owns it alone",
		},
		"an unknown kind":   {then: owner("example.com/v1", "Thing"), class: "urgent", words: "a Thing (example.com/v1)"},
		"a kind that rolls": {then: owner("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"), class: "urgent", words: "replaces its running pods"},
		"the class of its pods": {change: func(spec, _ map[string]any) {
			spec["priorityClassRef"], spec["priority"] = map[string]any{"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "high"}, 7
		}, then: job("old"), class: "urgent", words: "comes from PriorityClass high"},
		"quota and no class":       {conditions: []string{"QuotaReserved=True/QuotaReserved"}, then: job("old"), class: "urgent", words: "until the quota is gone"},
		"finished":                 {conditions: []string{"Finished=True/Succeeded"}, then: job("old"), class: "urgent", words: "it is finished"},
		"no such class":            {then: job("old"), class: "none", words: "workloadpriorityclasses/none"},
		"no class":                 {then: job("old"), class: "", words: "no priority class is named"},
		"the same class":           {change: classed("urgent", 500), then: job("urgent"), class: "urgent", words: "it has class urgent (500) already"},
		"the label is there":       {change: classed("old", 10), then: job("urgent"), class: "urgent", words: "Kueue has not followed"},
		"the class's value is new": {change: classed("urgent", 10), then: job("urgent"), class: "urgent", words: "with priority 10: Kueue itself brings that to the class's 500"},
		"a Workload brought along": {then: func(s *apiServer) { putJob(s, map[string]any{prebuiltLabel: "train"}, nil) }, class: "urgent", words: "brought its Workload along"},
		"the job is gone":          {then: func(*apiServer) {}, class: "urgent", words: "jobs/train"},
		"another job of that name": {then: func(s *apiServer) { putJob(s, nil, map[string]any{"uid": "another"}) }, class: "urgent", words: "was deleted and made again"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putWorkload(s, tt.change, tt.conditions...)
			putClass(s, "urgent", 500)
			tt.then(s)
			_, err := desk(t, s, nil).PlanPriority(t.Context(), wlRef, tt.class, "")
			if err == nil || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("got %v, want %q", err, tt.words)
			}
		})
	}
}
