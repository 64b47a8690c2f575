package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/world"
)

// files is a Desk that remembers the files that it plans, and answers as told.
type files struct {
	*exporter
	planned []actions.File
	err     error
}

func (f *files) PlanFile(_ context.Context, file actions.File) (actions.Plan, error) {
	f.planned = append(f.planned, file)
	return actions.Plan{Action: actions.ApplyFile, Confirm: question, Targets: []actions.Target{{Ref: world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: "a"}}, Change: "as in the difference"}}}, f.err
}

// draftOf is what the editor leaves behind of an object.
func draftOf(t *testing.T, kind, name, was, is string) actions.Draft {
	t.Helper()
	path := filepath.Join(t.TempDir(), "draft")
	body := "apiVersion: kueue.x-k8s.io/v1beta2\nkind: " + kind + "\nmetadata: {name: " + name + "}\nspec: " + is + "\n"
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return actions.Draft{Path: path, Target: actions.Target{
		Base: []byte(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"` + kind + `","metadata":{"name":"` + name + `","uid":"u","generation":3},"spec":` + was + `}`),
	}}
}

func documentOf(kind, name, spec string) string {
	return "apiVersion: kueue.x-k8s.io/v1beta2\nkind: " + kind + "\nmetadata:\n  generation: 3\n  name: " + name + "\n  uid: u\nspec:\n  " + spec + "\n"
}

// What is edited is what the dry-run tries and what apply sends, object by object.
func TestAttachEdit(t *testing.T) {
	f := &files{exporter: &exporter{fake: newFake(), dir: t.TempDir()}}
	r := runnerOf(t, f.exporter, t.TempDir())
	r.Desk, r.Namespace = f, "ns"
	s := begun(t, r)
	var err error
	edit := func(d actions.Draft) {
		t.Helper()
		if s, err = r.AttachEdit(t.Context(), s, d); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []Name{Hold, Export, Evidence} {
		if s, err = r.Skip(s, n, "not needed"); err != nil {
			t.Fatal(err)
		}
	}
	edit(draftOf(t, "ClusterQueue", "a", `{"cohortName":"pool","x":1}`, "{cohortName: b, x: 1}"))
	if d := cmp.Diff([]actions.File{{Name: "the edited text", Content: []byte(documentOf("ClusterQueue", "a", "cohortName: b")), Namespace: "ns", TakeOver: true}}, f.planned); d != "" {
		t.Errorf("tried (-want +got):\n%s", d)
	}
	if x := s.Step(Fix); x.State != Done || x.Detail != "edited ClusterQueue a: spec.cohortName" || s.TakeOver {
		t.Errorf("%+v, take over %v", x, s.TakeOver)
	}
	if d := cmp.Diff([]string{"ClusterQueue a: spec.cohortName: pool -> b"}, s.Step(Fix).Lines); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}

	// A second object stands beside it; the first edited again takes its own place.
	edit(draftOf(t, "Cohort", "pool", `{"parentName":"top"}`, "{parentName: root}"))
	edit(draftOf(t, "ClusterQueue", "a", `{"cohortName":"pool","x":1}`, "{cohortName: c, x: 2}"))
	if got, want := s.Step(Fix).Detail, "edited ClusterQueue a: spec.cohortName, spec.x; edited Cohort pool: spec.parentName"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	want := documentOf("ClusterQueue", "a", "cohortName: c\n  x: 2") + "---\n" + documentOf("Cohort", "pool", "parentName: root")

	// What is to be taken over, and nothing else, changes with taking over.
	if s, err = r.TakeOver(s); err != nil {
		t.Fatal(err)
	}
	for _, n := range []Name{DryRun, Apply} {
		f.planned = nil
		p, err := r.Prepare(t.Context(), s, n)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]actions.File{{Name: "edited objects", Content: []byte(want), Namespace: "ns", TakeOver: true}}, f.planned); d != "" {
			t.Errorf("%s plans (-want +got):\n%s", n, d)
		}
		if s, _, err = r.Do(t.Context(), s, p, "pool"); err != nil {
			t.Fatal(err)
		}
	}
	again, err := r.Store.Load(s.ID)
	if d := cmp.Diff(s, again); d != "" || err != nil {
		t.Errorf("on disk (-memory +disk): %v\n%s", err, d)
	}
	for _, words := range []string{"edited Cohort pool: spec.parentName", "Cohort pool: spec.parentName: top -> root", "      cohortName: c", "had the fix take fields over"} {
		if !strings.Contains(Summary(s), words) {
			t.Errorf("the summary does not say %q:\n%s", words, Summary(s))
		}
	}

	// An edit after that has to be tried and asked for anew; a file replaces all of it.
	edit(draftOf(t, "Cohort", "pool", `{"parentName":"top"}`, "{parentName: other}"))
	if s.TakeOver || s.Step(DryRun).State != Todo || s.Step(Apply).State != Todo {
		t.Errorf("take over %v, %v", s.TakeOver, states(s))
	}
	if s, err = r.Attach(s, "q.yaml", []byte(documentOf("ResourceFlavor", "f", "x: 1")), false); err != nil || len(s.Fix.Edited) > 0 || len(s.Step(Fix).Lines) > 0 {
		t.Errorf("%+v, %v", s.Fix, err)
	}
	edit(draftOf(t, "Cohort", "pool", `{"parentName":"top"}`, "{parentName: other}"))
	if d := cmp.Diff(documentOf("ResourceFlavor", "f", "x: 1")+"---\n"+documentOf("Cohort", "pool", "parentName: other"), s.Fix.Text); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got, want := s.Step(Fix).Detail, "q.yaml, edited; edited Cohort pool: spec.parentName"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What cannot be taken leaves the session as it was.
func TestAttachEditRefused(t *testing.T) {
	const was = `{"cohortName":"pool"}`
	tests := map[string]struct {
		is                 string
		err                error
		words              string
		rejected, conflict bool
	}{
		"nothing changed":       {is: "{cohortName: pool}", words: actions.ErrNoChange.Error()},
		"a field left out":      {is: "{}", words: "your text leaves out spec.cohortName (pool)", rejected: true},
		"not YAML":              {is: "{", words: "not one YAML object", rejected: true},
		"refused by the server": {is: "{cohortName: b}", err: &actions.Problem{What: "the webhook refuses it", Rejected: true}, words: "the webhook refuses it", rejected: true},
		"another one by now":    {is: "{cohortName: b}", err: &actions.Problem{What: "taken at generation 3, the object is at 4", Conflict: true}, words: "ClusterQueue/a is not what you opened any more", conflict: true},
		"so already":            {is: "{cohortName: b}", err: actions.ErrNoChange, words: actions.ErrNoChange.Error()},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := &files{exporter: &exporter{fake: newFake(), dir: t.TempDir()}, err: tc.err}
			r := runnerOf(t, f.exporter, t.TempDir())
			r.Desk = f
			s := begun(t, r)
			got, err := r.AttachEdit(t.Context(), s, draftOf(t, "ClusterQueue", "a", was, tc.is))
			if err == nil || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("%v, want %q", err, tc.words)
			}
			var p *actions.Problem
			if errors.As(err, &p); (p != nil && p.Rejected) != tc.rejected || (p != nil && p.Conflict) != tc.conflict {
				t.Errorf("%+v", p)
			}
			if d := cmp.Diff(s, got); d != "" {
				t.Errorf("the session (-was +is):\n%s", d)
			}
		})
	}
}

// A text that is as the cluster has it does not take back what the fix says of the object,
// and that is said.
func TestAnEditIsNotTakenBack(t *testing.T) {
	f := &files{exporter: &exporter{fake: newFake(), dir: t.TempDir()}}
	r := runnerOf(t, f.exporter, t.TempDir())
	r.Desk = f
	s := begun(t, r)
	for _, n := range []Name{Hold, Export} {
		var err error
		if s, err = r.Skip(s, n, "not needed"); err != nil {
			t.Fatal(err)
		}
	}
	draft := func(is string) actions.Draft {
		d := draftOf(t, "ClusterQueue", "a", `{"cohortName":"pool"}`, is)
		d.Target.Ref = world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: "a"}}
		return d
	}
	if _, err := r.AttachEdit(t.Context(), s, draft("{cohortName: pool}")); !errors.Is(err, actions.ErrNoChange) {
		t.Errorf("without a fix: %v", err)
	}
	s, err := r.AttachEdit(t.Context(), s, draft("{cohortName: b}"))
	if err != nil {
		t.Fatal(err)
	}
	var p *actions.Problem
	after, err := r.AttachEdit(t.Context(), s, draft("{cohortName: pool}"))
	if !errors.As(err, &p) || !p.Rejected || !strings.Contains(p.What, "the fix still changes it") || after.Fix.Text != s.Fix.Text {
		t.Errorf("%v, fix %q", err, after.Fix.Text)
	}
}
