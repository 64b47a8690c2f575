package actions

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/model/world"
)

// edited opens the queue and replaces text in the draft.
func edited(t *testing.T, d *Desk, replace ...string) Draft {
	t.Helper()
	dr, err := d.OpenEdit(t.Context(), queueRef)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dr.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("draft file: %v, %v", info, err)
	}
	body := strings.NewReplacer(replace...).Replace(dr.Original)
	if err := os.WriteFile(dr.Path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return dr
}

func TestEdit(t *testing.T) {
	const record = `{"version":1,"by":"lee","at":"2026-12-02T10:00:00Z","policy":"Hold","previous":"None"}`
	tests := map[string]struct {
		replace  []string
		patch    string // what is sent; empty: there is no plan
		problem  string
		notes    string
		noChange bool
	}{
		"a field":                   {replace: []string{"cohortName: co", "cohortName: other"}, patch: `{"spec":{"cohortName":"other"}}`},
		"a field removed":           {replace: []string{"  cohortName: co\n", ""}, patch: `{"spec":{"cohortName":null}}`},
		"a label added":             {replace: []string{"  name: q\n", "  name: q\n  labels: {x: \"1\"}\n"}, patch: `{"metadata":{"labels":{"x":"1"}}}`},
		"all annotations removed":   {replace: []string{"  annotations:\n    team: a\n", ""}, patch: `{"metadata":{"annotations":{"team":null}}}`},
		"a large number":            {replace: []string{"cohortName: co", "cohortName: co\n  size: 9007199254740993"}, patch: `{"spec":{"size":9007199254740993}}`},
		"nothing":                   {noChange: true},
		"only a comment":            {replace: []string{"spec:", "# hm\nspec:"}, noChange: true},
		"the hold lifted":           {replace: []string{"stopPolicy: Hold", "stopPolicy: None"}, noChange: true},
		"two documents":             {replace: []string{"spec:", "---\nspec:"}, problem: "2 documents"},
		"the hold lifted, and more": {replace: []string{"stopPolicy: Hold", "stopPolicy: None", "cohortName: co", "cohortName: other"}, patch: `{"spec":{"cohortName":"other"}}`, notes: "stopPolicy in the text was set aside"},
		"the record forged":         {replace: []string{"team: a", "team: b\n    holdfast.dev/hold: x"}, patch: `{"metadata":{"annotations":{"team":"b"}}}`, notes: "holdfast.dev/hold in the text was set aside"},
		"another name":              {replace: []string{"name: q", "name: r"}, problem: `metadata.name is "r", it must stay "q"`},
		"another kind":              {replace: []string{"kind: ClusterQueue", "kind: Cohort"}, problem: "kind is"},
		"the spec emptied":          {replace: []string{"spec:\n  cohortName: co\n", "spec:\nx:\n"}, problem: "spec is not a map"},
		"the spec gone":             {replace: []string{"spec:\n", "other:\n"}, problem: "spec is not a map"},
		"labels made a word":        {replace: []string{"  annotations:\n    team: a\n", "  annotations: none\n"}, problem: "metadata.annotations is not a map"},
		"not YAML":                  {replace: []string{"spec:", "spec: ["}, problem: "not one YAML object"},
		"a key twice":               {replace: []string{"cohortName: co", "cohortName: co\n  cohortName: b"}, problem: "already set"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putQueue(s, "Hold", record)
			d := desk(t, s, nil)
			before := s.get(queuePath)
			dr := edited(t, d, tc.replace...)
			if strings.Contains(dr.Original, "holdfast.dev/") || strings.Contains(dr.Original, "status:") {
				t.Errorf("the text shows what an edit may not change:\n%s", dr.Original)
			}
			p, err := d.PlanEdit(t.Context(), dr)
			if diff := cmp.Diff(before, s.get(queuePath)); diff != "" {
				t.Errorf("a plan changed the object:\n%s", diff)
			}
			var problem *Problem
			switch {
			case tc.noChange:
				if !errors.Is(err, ErrNoChange) {
					t.Errorf("%v, want ErrNoChange", err)
				}
				return
			case tc.problem != "":
				if !errors.As(err, &problem) || !problem.Rejected || !strings.Contains(problem.What, tc.problem) {
					t.Errorf("%v, want a refusal with %q", err, tc.problem)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.patch, string(p.Targets[0].Patch)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			if !strings.Contains(strings.Join(p.Notes, "\n"), tc.notes) {
				t.Errorf("notes %q lack %q", p.Notes, tc.notes)
			}
			r, err := d.Execute(t.Context(), p, "q")
			if err != nil || !r.OK() {
				t.Fatalf("%+v, %v", r, err)
			}
			after := s.get(queuePath)
			if got := metaOf(after)["annotations"].(map[string]any)[world.HoldAnnotation]; got != record || after["spec"].(map[string]any)["stopPolicy"] != "Hold" {
				t.Errorf("the hold did not survive the edit: %s", dump(after))
			}
		})
	}
}

func TestEditOfWhatMovedMeanwhile(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	d := desk(t, s, nil)
	dr := edited(t, d, "cohortName: co", "cohortName: other")
	s.touch(queuePath) // a status write does not matter
	if _, err := d.PlanEdit(t.Context(), dr); err != nil {
		t.Errorf("after a status write: %v", err)
	}
	lifted := edited(t, d, "stopPolicy: None", "stopPolicy: Hold")
	if _, err := d.PlanEdit(t.Context(), lifted); !errors.Is(err, ErrNoChange) || !strings.Contains(err.Error(), "use hold and resume") {
		t.Errorf("a text that only sets stopPolicy: %v", err)
	}
	s.edit(queuePath, "queueingStrategy", "StrictFIFO")
	_, err := d.PlanEdit(t.Context(), dr)
	var problem *Problem
	if !errors.As(err, &problem) || !problem.Conflict || s.writes != 0 {
		t.Errorf("after a colleague's edit: %v, %d writes", err, s.writes)
	}
}

// An edit that was broken off is found again by whoever edits the object next.
func TestDraftsThatAreLeft(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	first := desk(t, s, nil)
	again := func() *Desk { return desk(t, s, func(o *Options) { o.DraftDir = first.opts.DraftDir }) }
	files := func() []string {
		all, _ := filepath.Glob(filepath.Join(first.opts.DraftDir, "*"))
		return all
	}
	mine := edited(t, first, "cohortName: co", "cohortName: mine")
	same := edited(t, first)
	if err := first.AnnotateDraft(same, errors.New("a message of the program is no text of the person")); err != nil {
		t.Fatal(err)
	}
	for _, f := range files() {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
	}
	other := again()
	if dr := edited(t, other); dr.Left != nil {
		t.Errorf("what another console is editing is offered: %+v", dr.Left)
	} else if err := other.CloseDraft(dr); err != nil {
		t.Fatal(err)
	}
	// The first console is killed: its locks end.
	first.LeaveDraft(mine)
	first.LeaveDraft(same)
	s.edit(queuePath, "queueingStrategy", "StrictFIFO")
	dr := edited(t, again())
	if dr.Left == nil || dr.Left.Path != mine.Path || dr.Left.At.IsZero() {
		t.Fatalf("left: %+v", dr.Left)
	}
	if third := edited(t, again()); third.Left != nil {
		t.Errorf("a text is offered twice: %+v", third.Left)
	}
	if _, err := os.Stat(same.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a text in which nothing was edited stays: %v", err)
	}
	if p, err := other.RenewDraft(t.Context(), *dr.Left); err != nil {
		t.Error(err)
	} else if plan, err := other.PlanEdit(t.Context(), p); err != nil || string(plan.Targets[0].Patch) != `{"spec":{"cohortName":"mine"}}` {
		t.Errorf("%+v, %v", plan.Targets, err)
	} else if err := other.CloseDraft(p); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mine.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}

	// Of another object with this name, it is nobody's business.
	gone := edited(t, other, "cohortName: co", "cohortName: gone")
	other.LeaveDraft(gone)
	s.put(queuePath, "ClusterQueue", map[string]any{"uid": "another"}, map[string]any{})
	ref := queueRef
	ref.UID = ""
	if dr, err := other.OpenEdit(t.Context(), ref); err != nil || dr.Left != nil {
		t.Errorf("%+v, %v", dr.Left, err)
	}
	if raw, err := os.ReadFile(gone.Path); err != nil || !strings.Contains(string(raw), "cohortName: gone") {
		t.Errorf("the text is lost: %v", err)
	}
}

func TestAnnotateDraftKeepsTheText(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	d := desk(t, s, nil)
	dr := edited(t, d, "cohortName: co", "cohortName: mine")
	for _, words := range []string{"first\nproblem\x1b[2J", "second"} {
		if err := d.AnnotateDraft(dr, errors.New(words)); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(dr.Path)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(raw); !strings.HasPrefix(got, "#! second\n") || strings.Contains(got, "first") || !strings.Contains(got, "cohortName: mine") {
		t.Errorf("the file:\n%s", got)
	}
	if err := d.CloseDraft(dr); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dr.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the draft is left behind: %v", err)
	}
}

// drawJSON draws a JSON object without nulls: a merge patch cannot express them.
func drawJSON(t *rapid.T, depth int) map[string]any {
	out := map[string]any{}
	for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 4, func(s string) string { return s }).Draw(t, "keys") {
		switch n := rapid.IntRange(0, 3).Draw(t, "kind"); {
		case n == 0 && depth > 0:
			out[k] = drawJSON(t, depth-1)
		case n == 1:
			out[k] = []any{rapid.Int64().Draw(t, "item")}
		case n == 2:
			out[k] = rapid.Int64().Draw(t, "number")
		default:
			out[k] = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "text")
		}
	}
	return out
}

func TestMergePatchRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := drawJSON(t, 3), drawJSON(t, 3)
		was := dump(before)
		patch := mergeDiff(before, after)
		// An empty object inside a patch cannot be told from "no change" when the key
		// was not an object before; everything else must come out exactly.
		if got := mergeApply(before, patch); dump(got) != dump(after) {
			t.Fatalf("before %s, after %s, patch %s, got %s", was, dump(after), dump(patch), dump(got))
		}
		if dump(before) != was {
			t.Fatalf("before was changed: %s, now %s", was, dump(before))
		}
		if len(patch) == 0 && was != dump(after) {
			t.Fatalf("an empty patch for %s -> %s", was, dump(after))
		}
	})
}

func FuzzParseOne(f *testing.F) {
	for _, s := range []string{"", "a: 1", "a: 1\na: 2", "- x", "{", "a: &x [*x]", "\x00", "a: 9007199254740993", "---\na: 1\n---\nb: 2"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, err := parseOne(raw)
		if err != nil {
			var p *Problem
			if !errors.As(err, &p) || p.Do == "" {
				t.Errorf("an error without advice: %v", err)
			}
			return
		}
		if _, err := json.Marshal(out); err != nil {
			t.Errorf("%q was read as something that is not JSON: %v", raw, err)
		}
	})
}
