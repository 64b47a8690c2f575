package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/compare"
	"cli.holdfast.dev/holdfast/model/world"
)

// step does the next step as a person would.
func step(ctx context.Context, r *Runner, s Session) (Session, error) {
	switch n := s.Next().Name; n {
	case Fix:
		return r.Attach(s, "queues.yaml", []byte("the fix"), false)
	case Evidence:
		return r.Attest(s, "every 10 minutes", "ckpt")
	default:
		p, err := r.Prepare(ctx, s, n)
		if err != nil {
			return s, err
		}
		typed := ""
		if p.Plan != nil {
			typed = p.Plan.Confirm.Expects
		}
		s, _, err = r.Do(ctx, s, p, typed)
		return s, err
	}
}

func states(s Session) []string {
	var out []string
	for i := range s.Steps {
		out = append(out, fmt.Sprintf("%s %s", s.Steps[i].Name, s.Steps[i].State))
	}
	return out
}

func TestFromBeginToEnd(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	dir := filepath.Join(t.TempDir(), "sessions")
	r := runnerOf(t, f, dir)
	s := begun(t, r)
	for range Names() {
		var err error
		if s, err = step(t.Context(), r, s); err != nil {
			t.Fatal(err)
		}
		again, err := NewStore(dir).Load(s.ID)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s, again); d != "" {
			t.Fatalf("what is on disk (-memory +disk):\n%s", d)
		}
	}
	if !s.Over() || !f.applied || f.held["a"] || s.Kept == nil || !*s.Kept {
		t.Errorf("%+v", s)
	}
	for _, p := range []string{dir, filepath.Join(dir, s.ID+".json")} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
	text := Summary(s)
	for _, words := range []string{
		"# Rollback of Cohort/pool", "context prod, https://server, kube-system uid-1", "| reason | bad quota |", "over; everything was kept", "kim attests: every 10 minutes",
		"ns/w (job w, priority 0, ClusterQueue a): ckpt = step 7", "ns/x (job x, priority 0, ClusterQueue b): checkpoint not known", "1 would be preempted", "    the fix", "| compare | done |",
	} {
		if !strings.Contains(text, words) {
			t.Errorf("the summary does not say %q:\n%s", words, text)
		}
	}
}

// Wherever the process is killed, the next one goes on, does nothing twice and leaves
// nothing out.
func TestKilledAnywhere(t *testing.T) {
	points := []string{""}
	for _, w := range []string{"hold a", "hold b", "export export", "apply pool", "resume a", "resume b"} {
		points = append(points, "before "+w, "after "+w)
	}
	for _, point := range points {
		t.Run("killed "+point, func(t *testing.T) {
			f := &exporter{fake: newFake(), dir: t.TempDir()}
			dir := t.TempDir()
			s := begun(t, runnerOf(t, f, dir))
			times := 0
			f.die = func(at string) {
				if at == point && times == 0 {
					times++
					panic(killed{at})
				}
			}
			for n := 0; !s.Over(); n++ {
				if n > 40 {
					t.Fatalf("it does not end: %v", states(s))
				}
				s = process(t, f, dir, s.ID)
			}
			if point != "" && times == 0 {
				t.Fatal("it was not killed")
			}
			want := map[string]int{"hold a": 1, "hold b": 1, "export export": 1, "apply pool": 1, "resume a": 1, "resume b": 1}
			if d := cmp.Diff(want, f.writes); d != "" {
				t.Errorf("writes (-want +got):\n%s", d)
			}
			if f.held["a"] || f.held["b"] || !f.applied || s.Kept == nil {
				t.Errorf("at last %+v, %v", f.held, states(s))
			}
		})
	}
}

// process is a run of the program: it loads the session, reads anew what was
// interrupted, and does steps until it ends or is killed.
func process(t *testing.T, f *exporter, dir, id string) (s Session) {
	t.Helper()
	r := runnerOf(t, f, dir)
	s, err := r.Store.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case killed:
			if s, err = r.Store.Load(id); err != nil { // as the next one will
				t.Fatal(err)
			}
		default:
			panic(p)
		}
	}()
	if s, err = r.Recover(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for !s.Over() {
		if s, err = step(t.Context(), r, s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Random steps, kills, refusals and colleagues: the file can always be read, a step is
// never done before those before it are over, and nothing is written unconfirmed.
func TestRandomSessions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "sessions-")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		f := &exporter{fake: newFake(), dir: dir}
		r := runnerOf(nil, f, filepath.Join(dir, "s"))
		s, err := New(world.Ref{Kind: world.KindCohort, Key: world.Key{Name: "pool"}}, "prod", "https://server", "", "kim", "", noon)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Start(s); err != nil {
			t.Fatal(err)
		}
		kill := ""
		f.die = func(at string) {
			if kill != "" && strings.HasPrefix(at, kill) {
				panic(killed{at})
			}
		}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			before := fmt.Sprint(f.writes)
			n := rapid.SampledFrom(Names()).Draw(t, "step")
			kill = rapid.SampledFrom([]string{"", "", "before", "after"}).Draw(t, "kill")
			confirmed := rapid.Bool().Draw(t, "confirmed")
			func() {
				defer func() {
					if p := recover(); p != nil {
						if _, ok := p.(killed); !ok {
							panic(p)
						}
					}
				}()
				switch rapid.IntRange(0, 5).Draw(t, "what") {
				case 0:
					s, _ = r.Skip(s, n, rapid.SampledFrom([]string{"", "why"}).Draw(t, "reason"))
				case 1:
					f.held[rapid.SampledFrom([]string{"a", "b"}).Draw(t, "colleague")] = rapid.Bool().Draw(t, "holds")
				case 2:
					s, _ = r.Attach(s, "f", []byte("the fix"), false)
				case 3:
					s, _ = r.Attest(s, "known", "")
				default:
					p, err := r.Prepare(context.Background(), s, n)
					if err != nil {
						return
					}
					typed := "no"
					if p.Plan != nil && confirmed {
						typed = p.Plan.Confirm.Expects
					}
					s, _, _ = r.Do(context.Background(), s, p, typed)
					if p.Plan != nil && !confirmed && fmt.Sprint(f.writes) != before {
						t.Fatalf("%s was done unconfirmed", n)
					}
				}
			}()
			kill = ""
			if s, err = r.Store.Load(s.ID); err != nil {
				t.Fatal(err)
			}
			if s, err = r.Recover(context.Background(), s); err != nil {
				t.Fatal(err)
			}
			open := ""
			for i := range s.Steps {
				switch x := &s.Steps[i]; {
				case x.State == Running:
					t.Fatalf("%s is running after it was read anew", x.Name)
				case x.State == Done && open != "" && i > 3 && s.Step(Fix).State == Todo:
					t.Fatalf("%s is done before %s: %v", x.Name, open, states(s))
				case !x.Over() && open == "":
					open = string(x.Name)
				}
			}
		}
	})
}

func TestStepsWait(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	r := runnerOf(t, f, t.TempDir())
	s := begun(t, r)
	for _, n := range Names()[1:] {
		var p *actions.Problem
		if _, err := r.Prepare(t.Context(), s, n); !errors.As(err, &p) || !strings.Contains(p.What, "waits for hold") {
			t.Errorf("%s: %v", n, err)
		}
	}
	var err error
	for _, n := range []Name{Hold, Export, Fix, Evidence} {
		if s, err = r.Skip(s, n, "not needed"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = r.Prepare(t.Context(), s, DryRun); err == nil || !strings.Contains(err.Error(), "needs a fix") {
		t.Errorf("%v", err)
	}
	if _, err := r.Skip(s, DryRun, " "); err == nil {
		t.Error("skipped without a reason")
	}
	if len(f.writes) > 0 {
		t.Errorf("writes %v", f.writes)
	}
}

// Two processes do not drive one session: the second is refused, and so is one that
// has not seen what the first did.
func TestTwoDrivers(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	dir := t.TempDir()
	r, other := runnerOf(t, f, dir), runnerOf(t, f, dir)
	s := begun(t, r)
	unlock, err := other.Store.Lock(s.ID)
	if err != nil {
		t.Fatal(err)
	}
	var p *actions.Problem
	if _, err := step(t.Context(), r, s); !errors.As(err, &p) || !strings.Contains(p.What, "another holdfast") {
		t.Errorf("%v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := step(t.Context(), other, s); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Skip(s, Export, "why"); !errors.As(err, &p) || !p.Conflict {
		t.Errorf("%v", err)
	}
}

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
		r.Compare = func(context.Context, string) (compare.Result, error) { return c.result, c.err }
		p, err := r.Prepare(t.Context(), s, Compare)
		if d := cmp.Diff(c.kept, p.Kept); d != "" || (c.kept == nil) != (err != nil) {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, d)
		}
	}
}
