package actions

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/world"
)

// foretold plans what do says and previews it with the answer. It returns both
// plans and what was asked.
func foretold(t *testing.T, d *Desk, answer impact.Result, do func(*Desk) (Plan, error)) (before, after Plan, asked []impact.Edit) {
	t.Helper()
	d.opts.Impact = func(_ context.Context, e []impact.Edit, _ func(impact.Progress)) impact.Result {
		asked = e
		return answer
	}
	p, err := do(d)
	if err != nil {
		t.Fatal(err)
	}
	return p, d.Preview(t.Context(), p, nil), asked
}

func TestPlansTellWhatWillBe(t *testing.T) {
	none, hold, drain := kueue.None, kueue.Hold, kueue.HoldAndDrain
	tests := map[string]struct {
		policy, record string
		do             func(*Desk) (Plan, error)
		want           *kueue.ClusterQueueSpec // nil: nothing that Kueue's scheduler reads changes
	}{
		"hold":   {"None", "", func(d *Desk) (Plan, error) { return d.PlanHold(t.Context(), queueRef, false, "") }, &kueue.ClusterQueueSpec{CohortName: "co", StopPolicy: &hold}},
		"drain":  {"None", "", func(d *Desk) (Plan, error) { return d.PlanHold(t.Context(), queueRef, true, "") }, &kueue.ClusterQueueSpec{CohortName: "co", StopPolicy: &drain}},
		"resume": {"Hold", "", func(d *Desk) (Plan, error) { return d.PlanResume(t.Context(), queueRef) }, &kueue.ClusterQueueSpec{CohortName: "co", StopPolicy: &none}},
		"resume of what flows": {"None", `{"version":1,"by":"lee","at":"2026-12-02T10:00:00Z","policy":"Hold","previous":"None"}`,
			func(d *Desk) (Plan, error) { return d.PlanResume(t.Context(), queueRef) }, nil},
		"edit": {"None", "", func(d *Desk) (Plan, error) {
			return d.PlanEdit(t.Context(), edited(t, d, "cohortName: co", "cohortName: other"))
		}, &kueue.ClusterQueueSpec{CohortName: "other", StopPolicy: &none}},
		"edit of a label": {"None", "", func(d *Desk) (Plan, error) {
			return d.PlanEdit(t.Context(), edited(t, d, "  name: q\n", "  name: q\n  labels: {x: \"1\"}\n"))
		}, nil},
		"apply": {"None", "", func(d *Desk) (Plan, error) {
			return d.PlanFile(t.Context(), fileOf(head+"}\nspec: {cohortName: other}\n"))
		}, &kueue.ClusterQueueSpec{CohortName: "other", StopPolicy: &none}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putQueue(s, tc.policy, tc.record)
			p, q, asked := foretold(t, desk(t, s, nil), impact.Result{}, tc.do)
			if tc.want == nil {
				if len(p.Edits) != 0 || asked != nil || q.Impact != nil || slices.Contains(p.Unknown, NotComputed) {
					t.Errorf("edits %+v, impact %+v, unknown %q", p.Edits, q.Impact, p.Unknown)
				}
				return
			}
			if len(asked) != 1 || asked[0].Kind != world.KindClusterQueue || asked[0].Key != queueRef.Key {
				t.Fatalf("asked about %+v", asked)
			}
			if d := cmp.Diff(*tc.want, asked[0].Object.(*kueue.ClusterQueue).Spec); d != "" {
				t.Errorf("spec (-want +got):\n%s", d)
			}
			if !slices.Contains(p.Unknown, NotComputed) || slices.Contains(q.Unknown, NotComputed) || q.Impact == nil || p.Impact != nil {
				t.Errorf("before: unknown %q, impact %v; after: %q, %v", p.Unknown, p.Impact, q.Unknown, q.Impact)
			}
		})
	}
}

func TestPreviewMakesTheQuestionStronger(t *testing.T) {
	yes, name := Confirm{ConfirmYes, "y"}, Confirm{ConfirmName, "q"}
	drain := Confirm{ConfirmContext, "prod 2"}
	tests := map[string]struct {
		action  Action
		confirm Confirm
		answer  impact.Result
		want    Confirm
		unknown []string
	}{
		"nobody is hurt":              {Resume, yes, impact.Result{Admitted: []impact.Admission{{}}}, yes, nil},
		"a preemption":                {Resume, yes, impact.Result{Preempted: []impact.Preemption{{}}}, name, nil},
		"an eviction by a hold":       {Hold, yes, impact.Result{Evicted: []impact.Eviction{{}}}, name, nil},
		"never weaker":                {Edit, name, impact.Result{}, name, nil},
		"not weaker for a drain":      {Drain, drain, impact.Result{Evicted: []impact.Eviction{{}}}, drain, nil},
		"cut":                         {Resume, yes, impact.Result{Bounded: "time is up"}, name, nil},
		"not at rest":                 {Resume, yes, impact.Result{Restless: []world.Ref{{}}}, name, nil},
		"a hold whose preview is cut": {Hold, yes, impact.Result{Bounded: "time is up"}, yes, nil},
		"no answer":                   {Resume, yes, impact.Result{NotComputed: "it creates a cycle\x1b"}, name, []string{NotComputed + ` it creates a cycle\x1b`}},
	}
	for what, tc := range tests {
		t.Run(what, func(t *testing.T) {
			d := &Desk{opts: Options{Impact: func(context.Context, []impact.Edit, func(impact.Progress)) impact.Result { return tc.answer }}}
			unknown := []string{NotComputed}
			p := Plan{Action: tc.action, Confirm: tc.confirm, Unknown: unknown, Edits: []impact.Edit{{}}, Subject: queueRef, Targets: []Target{{Ref: queueRef}}}
			got := d.Preview(t.Context(), p, nil)
			if diff := cmp.Diff(tc.want, got.Confirm); diff != "" {
				t.Errorf("confirm (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.unknown, got.Unknown); diff != "" && len(got.Unknown)+len(tc.unknown) > 0 {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
			if again := d.Preview(t.Context(), got, nil); !slices.Equal(again.Unknown, got.Unknown) || again.Confirm != got.Confirm {
				t.Errorf("asked once more: unknown %q, confirm %+v", again.Unknown, again.Confirm)
			}
			if unknown[0] != NotComputed {
				t.Error("the plan that was given in was changed")
			}
		})
	}
	d := &Desk{}
	p := Plan{Confirm: yes, Unknown: []string{NotComputed}, Edits: []impact.Edit{{}}}
	if got := d.Preview(t.Context(), p, nil); got.Impact != nil || !slices.Contains(got.Unknown, NotComputed) {
		t.Errorf("nobody computes it, and the plan has %+v, unknown %q", got.Impact, got.Unknown)
	}
}
