//go:build sandbox

package e2e

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"
)

// The three uses, done with nothing but what the screen offers. Each says how many keys
// it took; README has the figures.

// Paged: why does a job of team-a not start, and who must act?
func TestUsePaged(t *testing.T) {
	env := oncall(t)
	for name, tc := range map[string]struct {
		find func(*guide)
		says []string
	}{
		"a job that can never fit, from the glance": {
			func(g *guide) { g.to("train-giant").key("Enter") },
			[]string{"Workloads", "team-a/train-giant", "Can never fit", "CHANGE: job owner or platform admin"},
		},
		"a job that was preempted, from the list": {
			func(g *guide) { g.key("4").to("sweep-1").key("Enter") },
			[]string{"team-a/sweep-1", "WAIT", "CHAIN preempted by team-b/pretrain-", "InCohortReclamation"},
		},
		"a job in a namespace that is not admitted, from the glance": {
			func(g *guide) { g.to("Namespace team-x").key("Enter") },
			[]string{"team-x is not one that ClusterQueue team-a-cq admits", "WHO", "platform admin"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := guided(t, env)
			g.sees("NEEDS A PERSON", "train-giant")
			tc.find(g)
			g.sees(tc.says...)
			g.within(9, name)
			g.signal(syscall.SIGTERM)
			g.ends()
		})
	}
}

// The morning: one look, no key. What it says is what the report says.
func TestUseMorning(t *testing.T) {
	env := oncall(t)
	g := guided(t, env)
	g.sees("NEEDS A PERSON", "train-giant", "KUEUE", "controller ✓")
	out, errs, code := headless(t, env, "report", "-o", "json")
	if code != 0 && code != 1 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var r struct {
		Alerts []struct{ Severity, Class, Advice string }
		SLO    struct{ PendingCount int }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, a := range r.Alerts {
		// Quota that is to come back needs nobody: it stands under WAITING HELPS.
		if a.Severity == "info" && a.Class == "quota" && a.Advice == "wait" {
			continue
		}
		n[a.Severity]++
	}
	g.sees(fmt.Sprintf("%d critical", n["critical"]), fmt.Sprintf("%d warning", n["warning"]), fmt.Sprintf("%d pending", r.SLO.PendingCount), "WAITING HELPS", "QUEUES 5 ClusterQueues", "BORROWING nvidia.com/gpu", "EVICTED", "Preempted")
	g.within(0, "the morning")
	g.signal(syscall.SIGTERM)
	g.ends()
}
