package session

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/compare"
	"cli.holdfast.dev/holdfast/model/world"
)

// until does the steps before the named one; an empty name is all of them.
func until(t *testing.T, r *Runner, s Session, n Name) Session {
	t.Helper()
	for next := s.Next(); next != nil && next.Name != n; next = s.Next() {
		var err error
		if s, err = step(t.Context(), r, s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// again does a step once more, as a person would who confirms what they see.
func again(t *testing.T, r *Runner, s Session, n Name) (Session, error) {
	t.Helper()
	p, err := r.Prepare(t.Context(), s, n)
	if err != nil {
		return s, err
	}
	typed := ""
	if p.Plan != nil {
		typed = p.Plan.Confirm.Expects
	}
	s, _, err = r.Do(t.Context(), s, p, typed)
	return s, err
}

// A step that is done again makes what rests on it to be done again: an old answer of
// compare says nothing of what was changed since.
func TestWhatRestsOnAStep(t *testing.T) {
	for n, want := range map[Name][]string{
		Hold:   {"resume todo", "compare todo"},
		Apply:  {"compare todo"},
		Resume: {"compare todo"},
		DryRun: nil,
	} {
		f := &exporter{fake: newFake(), dir: t.TempDir()}
		r := runnerOf(t, f, t.TempDir())
		s := until(t, r, begun(t, r), "")
		s, err := again(t, r, s, n)
		if err != nil {
			t.Fatalf("%s: %v", n, err)
		}
		var open []string
		for _, x := range states(s) {
			if !strings.HasSuffix(x, " done") {
				open = append(open, x)
			}
		}
		if d := cmp.Diff(want, open); d != "" {
			t.Errorf("%s (-want +got):\n%s", n, d)
		}
		if (s.Kept != nil) != (want == nil) {
			t.Errorf("%s: kept %v", n, s.Kept)
		}
	}
}

// The hold that was left out and done after all is to be resumed, even where the
// resume had been left out with it.
func TestHoldAfterAll(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	r := runnerOf(t, f, t.TempDir())
	s := begun(t, r)
	for _, n := range Names() {
		var err error
		if s, err = r.Skip(s, n, "not needed"); err != nil {
			t.Fatal(err)
		}
	}
	s, err := again(t, r, s, Hold)
	if err != nil || !f.held["a"] || s.Step(Resume).State != Todo {
		t.Errorf("%v: %v", err, states(s))
	}
}

// The export is the state before the fix: none is made of the state behind it.
func TestNoExportOfTheStateBehind(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	r := runnerOf(t, f, t.TempDir())
	s := until(t, r, begun(t, r), Resume)
	first := s.Bundle
	var p *actions.Problem
	if _, err := again(t, r, s, Export); !errors.As(err, &p) || !strings.Contains(p.What, "before the fix") {
		t.Errorf("%v", err)
	}
	if s.Bundle != first || f.n != 1 {
		t.Errorf("bundle %s after %d exports", s.Bundle, f.n)
	}
}

// A second export that came to nothing leaves the session the first one.
func TestTheFirstExportStays(t *testing.T) {
	for _, how := range []string{"refused", "killed"} {
		f := &exporter{fake: newFake(), dir: t.TempDir()}
		r := runnerOf(t, f, t.TempDir())
		s := until(t, r, begun(t, r), Fix)
		first := s.Bundle
		f.die = func(at string) {
			if at == "before export export" {
				panic(killed{at})
			}
		}
		if how == "refused" {
			f.fails = errors.New("no space left on the disk")
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = again(t, r, s, Export)
		}()
		f.fails, f.die = nil, func(string) {}
		s, err := r.Store.Load(s.ID)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = r.Recover(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if s.Bundle != first || s.Step(Export).Over() {
			t.Errorf("%s: bundle %q, want %q: %v", how, s.Bundle, first, states(s))
		}
		if s = until(t, r, s, ""); s.Bundle == first {
			t.Errorf("%s: the bundle is still the first one", how)
		}
	}
}

// What the server refuses for good must not keep the session from being read: the step
// failed, and a person says how it goes on.
func TestRecoverARefusedFix(t *testing.T) {
	for _, refused := range []*actions.Problem{{What: "the server refuses it", Rejected: true}, {What: "argocd owns the field", Conflict: true}} {
		f := &exporter{fake: newFake(), dir: t.TempDir()}
		r := runnerOf(t, f, t.TempDir())
		s := until(t, r, begun(t, r), Apply)
		f.die = func(at string) {
			if at == "before apply pool" {
				panic(killed{at})
			}
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = again(t, r, s, Apply)
		}()
		s, err := r.Store.Load(s.ID)
		if err != nil {
			t.Fatal(err)
		}
		f.refuses = refused
		if s, err = r.Recover(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if x := s.Step(Apply); x.State != Failed || !strings.Contains(x.Detail, refused.What) {
			t.Errorf("%+v", x)
		}
		f.refuses = &actions.Problem{What: "no answer"} // not for good: it may have been written
		s.Step(Apply).State = Running
		if err := r.Store.Save(s); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Recover(t.Context(), s); err == nil {
			t.Error("what became of it is not known, and it was said")
		}
	}
}

// From lists that are not live nothing is said of what is held.
func TestNothingIsSaidFromOldLists(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	r := runnerOf(t, f, t.TempDir())
	s := begun(t, r)
	f.held["a"], f.held["b"] = true, true
	f.feed = world.Disconnected
	if p, err := r.Prepare(t.Context(), s, Hold); err == nil && p.Plan == nil {
		t.Errorf("from a dead list: %s", p.Detail)
	}
	s.begin(Hold, "kim", noon)
	if err := r.Store.Save(s); err != nil {
		t.Fatal(err)
	}
	var p *actions.Problem
	if _, err := r.Recover(t.Context(), s); !errors.As(err, &p) || !strings.Contains(p.What, "not known") {
		t.Errorf("recovered from a dead list: %v", err)
	}
	if lines := Checkpoints(r.World(), s.Target, "ckpt"); !strings.Contains(lines[0], "Not all Workloads may be listed") {
		t.Errorf("%q", lines)
	}
	f.feed = world.Live
	if s, err := r.Recover(t.Context(), s); err != nil || s.Step(Hold).State != Done {
		t.Errorf("%v, %v", err, states(s))
	}
}

// An export of another target or cluster is not the one of this session, whatever its
// file is called.
func TestTheBundleIsOfThisSession(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	r := runnerOf(t, f, t.TempDir())
	s := until(t, r, begun(t, r), Compare)
	for words, m := range map[string]bundle.Manifest{
		"is of Cohort other":    {Scope: bundle.Scope{Cohort: "other"}, ClusterUID: "uid-1"},
		"is of another cluster": {Scope: bundle.Scope{Cohort: "pool"}, ClusterUID: "uid-2"},
	} {
		r.Verify = func(string) (Exported, error) { return Exported{Manifest: m}, nil }
		r.Compare = func(context.Context, string) (compare.Result, Exported, error) {
			return compare.Result{Same: []world.Ref{{}}}, Exported{Manifest: m}, nil
		}
		if _, err := r.Bundle(s, "x.tar.gz"); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("named: %v, want %q", err, words)
		}
		if _, err := r.Prepare(t.Context(), s, Compare); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("compared: %v, want %q", err, words)
		}
	}
}

// A plan of a step is carried out only while the session is as it was when the person
// saw the plan.
func TestATicketIsOfWhatWasSeen(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	r := runnerOf(t, f, t.TempDir())
	s := until(t, r, begun(t, r), Export)
	p, err := r.Prepare(t.Context(), s, Export)
	if err != nil {
		t.Fatal(err)
	}
	if p.Plan.Session, err = Ticket(s, Export); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Skip(s, Compare, "a colleague goes on"); err != nil {
		t.Fatal(err)
	}
	var conflict *actions.Problem
	if _, err := r.Redeem(t.Context(), *p.Plan, "y"); !errors.As(err, &conflict) || !conflict.Conflict || f.writes["export export"] > 0 {
		t.Errorf("%v, writes %v", err, f.writes)
	}
	if s, err = r.Store.Load(s.ID); err != nil {
		t.Fatal(err)
	}
	if p.Plan.Session, err = Ticket(s, Export); err != nil {
		t.Fatal(err)
	}
	if res, err := r.Redeem(t.Context(), *p.Plan, "y"); err != nil || !res.OK() || f.writes["export export"] != 1 {
		t.Errorf("%v, writes %v", err, f.writes)
	}
	for _, bad := range []string{"", "x", s.ID + "/export", s.ID + "/export/0000"} {
		p.Plan.Session = bad
		if _, err := r.Redeem(t.Context(), *p.Plan, "y"); err == nil {
			t.Errorf("%q was carried out", bad)
		}
	}
}

// A session's file that cannot be read is not overwritten by a colleague's.
func TestImportOverwritesNothing(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	r := runnerOf(t, f, t.TempDir())
	s := begun(t, r)
	path, err := r.Store.path(s.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Import(s, "uid-1", "https://server"); err == nil {
		t.Error("imported over a file that cannot be read")
	}
	if raw, _ := os.ReadFile(path); string(raw) != "{half" {
		t.Errorf("the file is now %s", raw)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	unlock, err := r.Store.Lock(s.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Import(s, "uid-1", "https://server"); err == nil {
		t.Error("imported while another process has it")
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}
