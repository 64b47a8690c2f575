package actions

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

const record = `{"version":1,"by":"kim","at":"2026-12-01T00:00:00Z","policy":"Hold","previous":"None"}`

var cohortRef = world.Ref{Kind: world.KindCohort, Key: world.Key{Name: "root"}}

// treeDesk has ClusterQueues a to e: a and b in root, c in a cohort below, d in one
// that is only named below that, e elsewhere.
func treeDesk(t *testing.T, s *apiServer, policies map[string]string) *Desk {
	t.Helper()
	return desk(t, s, func(o *Options) {
		st := store.New(ours{})
		for _, k := range world.WatchedKinds() {
			st.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
		}
		st.SetContract(world.Contract{Used: "v1beta2", User: "kim", Server: s.URL})
		for name, parent := range map[string]string{"root": "", "mid": "root", "loop": "mid", "other": ""} {
			st.Put(&world.Cohort{Meta: world.Meta{Key: world.Key{Name: name}}, Parent: parent})
		}
		for name, cohort := range map[string]string{"a": "root", "b": "root", "c": "mid", "d": "loop", "e": "other"} {
			uid := types.UID("uid-" + name)
			row := &world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: name}, UID: uid}, Cohort: cohort}
			meta, spec := map[string]any{}, map[string]any{"cohortName": cohort}
			if p := policies[name]; p != "" {
				held, _ := strings.CutSuffix(p, "+record")
				spec["stopPolicy"], row.StopPolicy = held, world.StopPolicy(held)
				if held != p {
					meta["annotations"], row.Hold = map[string]any{world.HoldAnnotation: record}, &world.HoldRecord{Version: 1, Policy: world.StopHold, Previous: world.StopNone}
				}
			}
			st.Put(row)
			s.put("clusterqueues/"+name, "ClusterQueue", meta, spec)
			st.Put(&world.LocalQueue{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: name}}, ClusterQueue: name})
			st.Put(&world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: "runs-" + name}, UID: types.UID("w-" + name)}, Active: true, LocalQueue: name, ClusterQueue: name, State: world.Admitted})
		}
		snap := st.Snapshot()
		o.World = func() *store.Snapshot { return snap }
	})
}

func targets(p Plan) []string {
	out := []string{}
	for _, t := range p.Targets {
		out = append(out, t.Ref.Name+": "+t.Change)
	}
	return out
}

func TestCohortIsHeldAndResumed(t *testing.T) {
	s := newAPIServer(t)
	d := treeDesk(t, s, map[string]string{"b": "Hold"})
	p, err := d.PlanHold(t.Context(), cohortRef, false, "why")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a: stopPolicy None -> Hold", "c: stopPolicy None -> Hold", "d: stopPolicy None -> Hold"}, targets(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if p.Confirm != (Confirm{ConfirmName, "root"}) || s.writes != 0 {
		t.Errorf("confirm %+v, %d writes", p.Confirm, s.writes)
	}
	if diff := cmp.Diff([]string{"runs-a", "runs-c", "runs-d"}, names(p.RunsOn)); diff != "" {
		t.Errorf("runs on (-want +got):\n%s", diff)
	}
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "ClusterQueue/b is already stopped with Hold") || strings.Count(notes, "stays lendable") != 1 {
		t.Errorf("notes:\n%s", notes)
	}
	r, err := d.Execute(t.Context(), p, "root")
	if err != nil || !r.OK() || len(r.Objects) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	for name, want := range map[string]any{"a": "Hold", "b": "Hold", "c": "Hold", "d": "Hold", "e": nil} {
		if got := s.get("clusterqueues/" + name)["spec"].(map[string]any)["stopPolicy"]; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}

	// b was held by somebody else, without a record: it stays.
	d = treeDesk(t, s, map[string]string{"a": "Hold+record", "b": "Hold", "c": "Hold+record", "d": "Hold+record"})
	if p, err = d.PlanResume(t.Context(), cohortRef); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a: stopPolicy Hold -> None", "c: stopPolicy Hold -> None", "d: stopPolicy Hold -> None"}, targets(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "ClusterQueue/b is stopped (Hold), but not with holdfast") || p.Confirm != (Confirm{ConfirmName, "root"}) {
		t.Errorf("confirm %+v, notes:\n%s", p.Confirm, notes)
	}
}

func TestCohortIsDrained(t *testing.T) {
	s := newAPIServer(t)
	d := treeDesk(t, s, map[string]string{"c": "HoldAndDrain"})
	p, err := d.PlanHold(t.Context(), cohortRef, true, "")
	if err != nil {
		t.Fatal(err)
	}
	if p.Confirm != (Confirm{ConfirmContext, "prod 3"}) || len(p.Targets) != 3 {
		t.Errorf("confirm %+v of %v", p.Confirm, targets(p))
	}
}

// What stops in the middle leaves the rest as it was, and a new plan is of the rest.
func TestCohortStopsAndGoesOn(t *testing.T) {
	s := newAPIServer(t)
	d := treeDesk(t, s, nil)
	p, err := d.PlanHold(t.Context(), cohortRef, false, "")
	if err != nil {
		t.Fatal(err)
	}
	s.before = func(r *http.Request, _ int) int {
		if strings.HasSuffix(r.URL.Path, "/c") {
			return 403
		}
		return 0
	}
	r, err := d.Execute(t.Context(), p, "root")
	if err != nil {
		t.Fatal(err)
	}
	var got []Outcome
	for _, o := range r.Objects {
		got = append(got, o.Outcome)
	}
	if diff := cmp.Diff([]Outcome{Done, Done, Refused, NotDone}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.before = nil
	if p, err = d.PlanHold(t.Context(), cohortRef, false, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c: stopPolicy None -> Hold", "d: stopPolicy None -> Hold"}, targets(p)); diff != "" {
		t.Errorf("the rest (-want +got):\n%s", diff)
	}
}

func TestCohortThatCannotBePlanned(t *testing.T) {
	s := newAPIServer(t)
	for words, c := range map[string]struct {
		ref      world.Ref
		policies map[string]string
		resume   bool
	}{
		"no ClusterQueue is below Cohort/nope":                 {ref: world.Ref{Kind: world.KindCohort, Key: world.Key{Name: "nope"}}},
		"nothing to hold below Cohort/root":                    {ref: cohortRef, policies: map[string]string{"a": "Hold", "b": "Hold", "c": "HoldAndDrain", "d": "Hold"}},
		"nothing to resume below Cohort/root":                  {ref: cohortRef, resume: true},
		"is stopped and carries a hold record that this progr": {ref: cohortRef, policies: map[string]string{"a": "Hold+record"}},
	} {
		d := treeDesk(t, s, c.policies)
		if strings.HasPrefix(words, "is stopped") {
			// Held with a record of a version to come; only a drain would touch it.
			s.put("clusterqueues/a", "ClusterQueue", map[string]any{"annotations": map[string]any{world.HoldAnnotation: `{"version":99}`}}, map[string]any{"stopPolicy": "Hold"})
		}
		var err error
		if c.resume {
			_, err = d.PlanResume(t.Context(), c.ref)
		} else {
			_, err = d.PlanHold(t.Context(), c.ref, strings.HasPrefix(words, "is stopped"), "")
		}
		var p *Problem
		if !errors.As(err, &p) || !strings.Contains(p.What, words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	if s.writes != 0 {
		t.Errorf("%d writes", s.writes)
	}
}
