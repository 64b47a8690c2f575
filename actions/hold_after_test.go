package actions

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

const kimsRecord = `{"version":1,"by":"kim","at":"2026-12-02T10:00:00Z","policy":"Hold","previous":"None"}`

// setBy makes somebody the manager who last set the queue's stopPolicy.
func (s *apiServer) setBy(manager string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	metaOf(s.objects[base+queuePath])["managedFields"] = []any{
		map[string]any{"manager": "holdfast", "operation": "Update", "fieldsType": "FieldsV1", "time": "2026-12-02T10:00:00Z", "fieldsV1": map[string]any{"f:metadata": map[string]any{}}},
		map[string]any{"manager": manager, "operation": "Update", "fieldsType": "FieldsV1", "time": "2026-12-02T11:00:00Z", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:stopPolicy": map[string]any{}}}},
	}
}

// The less a record fits what is there, the more must be typed.
func TestResumeInDoubtAsksForTheName(t *testing.T) {
	tests := map[string]struct {
		policy, record, manager string
		confirm                 Level
		words                   string
	}{
		"as it was held":            {policy: "Hold", record: kimsRecord, manager: "holdfast", confirm: ConfirmYes, words: "Held by kim"},
		"without a record":          {policy: "Hold", confirm: ConfirmName, words: "None is assumed"},
		"a record of another":       {policy: "Hold", record: `{"version":9}`, confirm: ConfirmName, words: "None is assumed"},
		"another policy since":      {policy: "HoldAndDrain", record: kimsRecord, manager: "kubectl-edit", confirm: ConfirmName, words: "Its policy was changed since by kubectl-edit at "},
		"the policy by another":     {policy: "Hold", record: kimsRecord, manager: "argocd-controller", confirm: ConfirmName, words: "Its stopPolicy was last set by argocd-controller at "},
		"undone: the record is all": {policy: "None", record: kimsRecord, manager: "argocd-controller", confirm: ConfirmYes, words: "The hold was undone by argocd-controller at "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putQueue(s, tt.policy, tt.record)
			if tt.manager != "" {
				s.setBy(tt.manager)
			}
			p, err := desk(t, s, nil).PlanResume(t.Context(), queueRef)
			if err != nil {
				t.Fatal(err)
			}
			if p.Confirm.Level != tt.confirm || !strings.Contains(strings.Join(p.Notes, "\n"), tt.words) {
				t.Errorf("confirm %+v, notes %q", p.Confirm, p.Notes)
			}
		})
	}
}

func TestHoldOfWhatSomebodyLifted(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", kimsRecord)
	s.setBy("kustomize-controller")
	p, err := desk(t, s, nil).PlanHold(t.Context(), queueRef, false, "")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(p.Notes, "\n")
	for _, w := range []string{"It was held before. The hold was undone by kustomize-controller at ", "That may happen again."} {
		if !strings.Contains(all, w) {
			t.Errorf("notes %q lack %q", p.Notes, w)
		}
	}
}

func TestPlansSayWhoMayUndoThem(t *testing.T) {
	tests := map[string]struct {
		labels map[string]any
		want   string
	}{
		"nobody": {},
		"flux":   {map[string]any{"kustomize.toolkit.fluxcd.io/name": "queues", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}, "ClusterQueue/q is managed by Flux (Kustomization flux-system/queues): its controller may undo this change."},
		"helm":   {map[string]any{"app.kubernetes.io/managed-by": "Helm"}, "ClusterQueue/q is managed by Helm: the next upgrade of the release may undo this change."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			s.put(queuePath, "ClusterQueue", map[string]any{"labels": tt.labels}, map[string]any{})
			p, err := desk(t, s, nil).PlanHold(t.Context(), queueRef, false, "")
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if i := slices.IndexFunc(p.Notes, func(n string) bool { return strings.Contains(n, "managed by") }); i >= 0 {
				got = p.Notes[i]
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestWhatStillStopsAQueue(t *testing.T) {
	lqRef := world.Ref{Kind: world.KindLocalQueue, Key: world.Key{Namespace: "ns", Name: "lq"}}
	cq := func(change func(*world.ClusterQueue)) *world.ClusterQueue {
		q := &world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: "q"}, UID: "uid-q"}, StopPolicy: world.StopHold, Namespaces: labels.Everything()}
		if change != nil {
			change(q)
		}
		return q
	}
	lq := func(policy world.StopPolicy) *world.LocalQueue {
		return &world.LocalQueue{Meta: world.Meta{Key: lqRef.Key}, ClusterQueue: "q", StopPolicy: policy}
	}
	tests := map[string]struct {
		ref            world.Ref
		rows           []any
		denied         []world.Kind
		notes, unknown []string
	}{
		"nothing": {ref: queueRef, rows: []any{cq(nil), lq(world.StopNone)}},
		"missing flavor and check, an inactive one, LocalQueues held too": {
			ref: queueRef, rows: []any{lq(world.StopHold), &world.Check{Meta: world.Meta{Key: world.Key{Name: "dead"}}, Controller: "example.com/c"}, cq(func(q *world.ClusterQueue) {
				q.Groups = []world.ResourceGroup{{Resources: []string{"cpu"}, Flavors: []string{"gone"}}}
				q.Checks = []world.CheckRule{{Name: "none"}, {Name: "dead"}}
			})},
			notes: []string{
				"Resuming is not enough: ClusterQueue q is inactive: ResourceFlavor gone does not exist.",
				"Resuming is not enough: ClusterQueue q is inactive: AdmissionCheck none does not exist.",
				"Resuming is not enough: ClusterQueue q is inactive: AdmissionCheck dead has no active controller (example.com/c).",
				"Resuming is not enough: 1 of its LocalQueues are held themselves (ns/lq) and stay so.",
			},
		},
		"a cycle of cohorts": {
			ref: queueRef, rows: []any{
				cq(func(q *world.ClusterQueue) { q.Cohort = "a" }),
				&world.Cohort{Meta: world.Meta{Key: world.Key{Name: "a"}}, Parent: "b"}, &world.Cohort{Meta: world.Meta{Key: world.Key{Name: "b"}}, Parent: "a"},
			},
			notes: []string{"Resuming is not enough: The cohorts form a cycle (a > b > a): Kueue admits nothing in them."},
		},
		"what cannot be read": {
			ref: queueRef, denied: []world.Kind{world.KindResourceFlavor, world.KindAdmissionCheck, world.KindCohort},
			rows: []any{cq(func(q *world.ClusterQueue) { q.Checks = []world.CheckRule{{Name: "c"}} })},
			unknown: []string{
				"Whether one of the ResourceFlavors that ClusterQueue/q names keeps it closed: the list of them is denied.",
				"Whether one of the AdmissionChecks that ClusterQueue/q names keeps it closed: the list of them is denied.",
			},
		},
		"a LocalQueue of a held ClusterQueue": {
			ref: lqRef, rows: []any{cq(nil), lq(world.StopHold)},
			notes: []string{
				"Resuming is not enough: ClusterQueue q is held: nothing is admitted until it is resumed.",
			},
		},
		"a LocalQueue of none": {
			ref: lqRef, rows: []any{lq(world.StopHold)},
			notes: []string{"Resuming is not enough: ClusterQueue/q, to which it leads, does not exist."},
		},
		"a LocalQueue of one that cannot be read": {
			ref: lqRef, rows: []any{lq(world.StopHold)}, denied: []world.Kind{world.KindClusterQueue},
			unknown: []string{"Whether ClusterQueue/q, to which it leads, is open: it cannot be read."},
		},
		"not known at all": {
			ref: queueRef, unknown: []string{"What else keeps ClusterQueue/q closed: it is not among the ClusterQueues that are known."},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			st := store.New(ours{})
			for _, k := range world.WatchedKinds() {
				f := world.Freshness{Feed: world.Live, Synced: true}
				if slices.Contains(tt.denied, k) {
					f = world.Freshness{Feed: world.Denied}
				}
				st.SetFreshness(k, f)
			}
			st.SetFreshness(world.KindNamespace, world.Freshness{Feed: world.Denied}) // the selector is not what is looked at
			for _, r := range tt.rows {
				st.Put(r)
			}
			notes, unknown := stillStopped(st.Snapshot(), tt.ref)
			if d := cmp.Diff([][]string{tt.notes, tt.unknown}, [][]string{notes, unknown}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
