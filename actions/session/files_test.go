package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/compare"
	"cli.holdfast.dev/holdfast/model/world"
)

func TestAColleagueTakesOver(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	r := runnerOf(t, f, t.TempDir())
	s, err := step(t.Context(), r, begun(t, r))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := encode(s)
	if err != nil {
		t.Fatal(err)
	}
	theirs := runnerOf(t, f, t.TempDir())
	theirs.Who = func() string { return "sam" }
	got, err := Decode(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for words, where := range map[string][2]string{"is of another cluster": {"uid-2", "https://server"}, "is not known": {"", "https://elsewhere"}} {
		if _, err := theirs.Import(got, where[0], where[1]); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	if got, err = theirs.Import(got, "uid-1", "https://another-name"); err != nil {
		t.Fatal(err)
	}
	if _, err := theirs.Import(got, "uid-1", "https://server"); err == nil || !strings.Contains(err.Error(), "is here already") {
		t.Errorf("twice: %v", err)
	}
	for !got.Over() {
		if got, err = step(t.Context(), theirs, got); err != nil {
			t.Fatal(err)
		}
	}
	if text := Summary(got); !strings.Contains(text, "sam: took it over from kim") || f.writes["hold a"] != 1 {
		t.Errorf("%v\n%s", f.writes, text)
	}
}

func TestFilesFromAnybody(t *testing.T) {
	s, err := New(world.Ref{Kind: world.KindCohort, Key: world.Key{Name: "pool"}}, "prod", "s", "", "kim", "", noon)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := encode(s)
	if err != nil {
		t.Fatal(err)
	}
	good := string(raw)
	if _, err := Decode(strings.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	for words, text := range map[string]string{
		"cannot be read":         good[:len(good)/2],
		"more behind":            good + good,
		"not the ID":             strings.Replace(good, s.ID, "../../../etc/x", 1),
		"which no step can be":   strings.Replace(good, `"todo"`, `"won"`, 1),
		"not those of a session": strings.Replace(good, `"hold"`, `"drain"`, 1),
		"no session can be of":   strings.Replace(good, `"Cohort"`, `"Secret"`, 1),
		"use the version":        strings.Replace(good, "v1alpha1", "v9", 1),
		"unknown field":          strings.Replace(good, `"context"`, `"command"`, 1),
		"longer than":            strings.Repeat(" ", longest+1),
	} {
		if _, err := Decode(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	odd, err := Decode(strings.NewReader(strings.Replace(good, `"kim"`, `"kim\u001b[2J"`, 1)))
	if err != nil || strings.ContainsRune(odd.By, 0x1b) || strings.ContainsRune(Summary(odd), 0x1b) {
		t.Errorf("%q, %v", odd.By, err)
	}
}

func FuzzDecode(f *testing.F) {
	s, err := New(world.Ref{Kind: world.KindCohort, Key: world.Key{Name: "pool"}}, "prod", "s", "", "kim", "", noon)
	if err != nil {
		f.Fatal(err)
	}
	raw, err := encode(s)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(raw))
	f.Add("{}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Decode(strings.NewReader(text))
		if err != nil {
			return
		}
		if strings.ContainsRune(Summary(s), 0x1b) || len(s.Steps) != len(Names()) {
			t.Errorf("%q", text)
		}
	})
}

func TestUnreadableSessionsAreNamed(t *testing.T) {
	r := runnerOf(t, &exporter{fake: newFake(), dir: t.TempDir()}, t.TempDir())
	s := begun(t, r)
	if err := os.WriteFile(filepath.Join(r.Store.dir, "20260101-000000-0123abcd.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, bad, err := r.Store.List()
	if err != nil || len(all) != 1 || all[0].ID != s.ID || len(bad) != 1 {
		t.Errorf("%v, %v, %v", all, bad, err)
	}
	if got, err := r.Store.Load(s.ID[:10]); err != nil || got.ID != s.ID {
		t.Errorf("by its beginning: %v, %v", got.ID, err)
	}
	for _, id := range []string{"", "9", "../x"} {
		if _, err := r.Store.Load(id); err == nil {
			t.Errorf("%q is a session", id)
		}
	}
}

// What was evicted makes the answer no, whatever else is unknown.
func TestComparisonOfASession(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	r := runnerOf(t, f, t.TempDir())
	s := begun(t, r)
	for s.Next().Name != Compare {
		var err error
		if s, err = step(t.Context(), r, s); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		result compare.Result
		err    error
		kept   *bool
	}{
		"kept, the spec is another": {result: compare.Result{Specs: []compare.SpecChange{{Object: "Cohort/pool", Note: "changed"}}}, kept: new(true)},
		"evicted":                   {result: compare.Result{Evicted: []compare.Change{{}}, Unknown: []string{"x"}}, kept: new(false)},
		"unknown":                   {result: compare.Result{Unknown: []string{"the Workloads"}}},
		"no bundle":                 {err: os.ErrNotExist},
	} {
		r.Compare = func(context.Context, string) (compare.Result, Exported, error) {
			return c.result, Exported{ofPool, s.BundleSHA256}, c.err
		}
		p, err := r.Prepare(t.Context(), s, Compare)
		if d := cmp.Diff(c.kept, p.Kept); d != "" || (c.kept == nil) != (err != nil) {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, d)
		}
	}
}
