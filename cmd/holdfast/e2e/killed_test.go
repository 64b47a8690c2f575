//go:build sandbox

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// killed runs the program, which dies where the hooks of on call die, and returns whether
// it died.
func killed(t *testing.T, l *lane, env []string, on func(die func()) hooks, args ...string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	c := exec.CommandContext(ctx, world.holdfast, args...)
	c.Env = append(os.Environ(), env...)
	died := make(chan struct{})
	l.around(on(func() { _ = c.Process.Kill(); <-died })) // what it would do with the answer is not done
	defer l.around(hooks{})
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = c.Wait(); close(died) }()
	<-died
	return c.ProcessState.ExitCode() < 0
}

// atFirstWrite has the program die at its first write: once it was sent, or before.
func atFirstWrite(wasSent bool) func(die func()) hooks {
	return func(die func()) hooks {
		first := func(n int, _ sent) {
			if n == 1 {
				die()
			}
		}
		if wasSent {
			return hooks{after: first}
		}
		return hooks{before: first}
	}
}

// policyOf is the stop policy of a ClusterQueue, and whether a record stands on it.
func policyOf(t *testing.T, name string) string {
	t.Helper()
	q := clusterQueue(t, name)
	p := "None"
	if q.Spec.StopPolicy != nil {
		p = string(*q.Spec.StopPolicy)
	}
	if _, ok := q.Annotations["holdfast.dev/hold"]; ok {
		p += " with a record"
	}
	return p
}

// A program that is killed while it writes leaves an object as it was or as it is
// meant to be, an intent in its journal that has no result, and can simply be run
// again: each action that writes, there and back.
func TestKilledWhileItWrites(t *testing.T) {
	l := newLane(t, "oncall")
	const job = "job/team-a/train-giant" // can never fit: it stays where it is
	weigh := func(weight string) []string {
		return []string{"apply", "-f", written(t, "q.yaml", `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: team-c-cq}, spec: {fairSharing: {weight: "`+weight+`"}}}`), "--yes"}
	}
	for name, tc := range map[string]struct {
		state        func() string
		there, back  []string
		before, then string
	}{
		"hold and resume": {
			func() string { return policyOf(t, "team-c-cq") },
			[]string{"hold", "cq/team-c-cq", "--yes", "--reason", "a test"}, []string{"resume", "cq/team-c-cq", "--yes"},
			"None", "Hold with a record",
		},
		"deactivate and reactivate": {
			func() string {
				w := workloadOf(t, "team-a", "train-giant")
				return fmt.Sprint(w.Spec.Active == nil || *w.Spec.Active)
			},
			[]string{"deactivate", job, "--yes"}, []string{"reactivate", job, "--yes"},
			"true", "false",
		},
		"priority": {
			func() string { return workloadOf(t, "team-a", "train-giant").Spec.PriorityClassRef.Name },
			[]string{"priority", job, "--class", "low", "--yes"}, []string{"priority", job, "--class", "normal", "--yes"},
			"normal", "low",
		},
		"apply": {
			func() string {
				if f := clusterQueue(t, "team-c-cq").Spec.FairSharing; f != nil && f.Weight != nil {
					return f.Weight.String()
				}
				return "none"
			},
			weigh("7"), weigh("9"),
			"9", "7",
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := l.env(t)
			if got := tc.state(); got != tc.before {
				if _, errs, code := headless(t, env, tc.back...); code != 0 || tc.state() != tc.before {
					t.Fatalf("it is %q before, and not brought to %q: %s", got, tc.before, errs)
				}
			}
			for _, step := range []struct {
				args         []string
				before, then string
			}{{tc.there, tc.before, tc.then}, {tc.back, tc.then, tc.before}} {
				for _, sentFirst := range []bool{false, true} {
					env := l.env(t) // a journal of its own
					if got := tc.state(); got != step.before {
						t.Fatalf("%q before %q", got, step.args)
					}
					if !killed(t, l, env, atFirstWrite(sentFirst), step.args...) {
						t.Fatal("it was not killed")
					}
					if sentFirst { // what was answered is there; a Workload's class follows its job's in a moment
						eventually(t, "the object as it was written", func() bool { return tc.state() == step.then })
					} else if got := tc.state(); got != step.before {
						t.Errorf("%q, and nothing was sent", got)
					}
					out, _, code := headless(t, env, "journal")
					if code != 0 || !strings.Contains(out, "unknown") && !strings.Contains(out, "interrupted") {
						t.Errorf("the journal does not say that it was interrupted: exit %d\n%s", code, out)
					}
					_, errs, code := headless(t, env, step.args...)
					if got := tc.state(); got != step.then {
						t.Fatalf("once more: %q, exit %d\n%s", got, code, errs)
					}
					if !sentFirst { // back, for the next
						other := tc.back
						if step.then == tc.before {
							other = tc.there
						}
						if _, errs, code := headless(t, env, other...); code != 0 {
							t.Fatal(errs)
						}
					}
				}
			}
		})
	}
}

// An export that is killed while it reads leaves nothing, under its name or another,
// and the next one is whole.
func TestKilledWhileItExports(t *testing.T) {
	l := newLane(t, "oncall")
	env, dir := l.env(t), t.TempDir()
	args := []string{"export", "--export-dir", dir, "--yes"}
	left := func() []string {
		all, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range all {
			names = append(names, e.Name())
		}
		return names
	}
	// The program reads the Workloads for its plan first, page by page for the file then.
	for n := 1; n <= 3; n++ {
		seen := 0
		if !killed(t, l, env, func(die func()) hooks {
			return hooks{reading: func(s sent) {
				if !strings.HasSuffix(s.Path, "/workloads") || strings.Contains(s.Query, "watch=") {
					return
				}
				if seen++; seen == n {
					die()
				}
			}}
		}, args...) {
			if n == 1 {
				t.Fatal("it was not killed")
			}
			break // it reads no more often than that
		}
		if l := left(); len(l) > 0 {
			t.Errorf("killed at list %d, left behind: %q", n, l)
		}
	}
	for _, e := range left() { // of a run that came to its end
		if err := os.Remove(filepath.Join(dir, e)); err != nil {
			t.Fatal(err)
		}
	}
	if _, errs, code := headless(t, env, args...); code != 0 {
		t.Fatalf("the next: exit %d\n%s", code, errs)
	}
	all := left()
	if len(all) != 1 {
		t.Fatalf("the next left %q", all)
	}
	if _, errs, code := headless(t, env, "export", "--verify", filepath.Join(dir, all[0])); code != 0 {
		t.Errorf("verify: exit %d\n%s", code, errs)
	}
}
