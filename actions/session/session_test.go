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
	why := "bad quota (session " + s.ID + ")"
	if d := cmp.Diff(map[actions.Action]string{actions.Hold: "", actions.Export: why, actions.ApplyFile: why, actions.Resume: why}, f.reasons); d != "" {
		t.Errorf("reasons, that of the hold being PlanHold's (-want +got):\n%s", d)
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
