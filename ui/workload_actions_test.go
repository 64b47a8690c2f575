package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/world"
)

// onWorkload puts the cursor of the list on the Workload of the job.
func (s *stage) onWorkload(job string) *stage {
	s.press("4", "g")
	for range 20 {
		if strings.Contains(s.cursorLine(), job) {
			return s
		}
		s.press("down")
	}
	s.t.Fatalf("%s is not there:\n%s", job, s.frame())
	return s
}

func workloadPlan(a actions.Action, name string) actions.Plan {
	ref := world.Ref{Kind: world.KindWorkload, Key: world.Key{Namespace: "team-a", Name: name}}
	return actions.Plan{Action: a, Context: "prod-eu", Subject: ref, Targets: []actions.Target{{Ref: ref, Change: "active true -> false"}}, Confirm: actions.Confirm{Level: actions.ConfirmYes, Expects: "y"}}
}

func TestActionsOnWorkloads(t *testing.T) {
	s := begin(t, 100, 30)
	s.desk.plan = workloadPlan(actions.Deactivate, "job-big-1-x1y2z")
	s.desk.result = done(s.desk.plan)
	s.onWorkload("big-1").press("D").sees("DEACTIVATE Workload team-a/job-big-1-x1y2z", "WHAT RUNS OF IT IS STOPPED", "your journal")
	s.typeText("leaks memory").press("enter")
	s.pass(time.Second)
	s.sees("Type y and Enter to deactivate:").typeText("y").press("enter").sees("done, and seen to be taken up")
	if s.desk.reason != "leaks memory" {
		t.Errorf("reason %q", s.desk.reason)
	}
	s.pass(time.Second)
	s.press("enter")

	s.desk.plan = workloadPlan(actions.Reprioritize, "job-big-1-x1y2z")
	// The class that it has is not offered; the highest comes first.
	s.onWorkload("big-1").press("P").sees("Which priority class? big-1 has gold (100)", "urgent (9000)", "bronze (-1)").seesNot("gold (500)")
	s.press("down", "enter")
	s.pass(time.Second)
	s.sees("Type y and Enter to change its priority:").press("esc").sees("Nothing is changed.")
	s.press("P", "esc").sees("Nothing is changed.")

	s.onWorkload("big-1").press("R").sees("reactivate: big-1: it is active")
	w := *s.store.Snapshot().WorkloadByKey(world.Key{Namespace: "team-a", Name: "job-big-1-x1y2z"})
	w.Active, w.State = false, world.Deactivated
	s.store.Put(&w)
	s.refresh()
	s.onWorkload("big-1").press("D").sees("deactivate: big-1: it is deactivated already").press("R")
	want := []string{
		"deactivate Workload/team-a/job-big-1-x1y2z", "priority bronze of Workload/team-a/job-big-1-x1y2z", "reactivate Workload/team-a/job-big-1-x1y2z",
	}
	if d := cmp.Diff(want, s.desk.asked); d != "" {
		t.Errorf("plans (-want +got):\n%s", d)
	}
}

// What is refused says why, on the list and on the Workload's page, and is not in the
// footer.
func TestActionsOnWorkloadsThatAreRefused(t *testing.T) {
	s := begin(t, 160, 30)
	s.onWorkload("eval-0")
	for key, why := range map[string]string{"D": "it is finished", "R": "it is finished", "P": "it is finished"} {
		s.press(key).sees(why)
		if s.root.dialog() != nil {
			t.Fatalf("%s opened a dialog", key)
		}
	}
	s.seesNot("D deactivate").seesNot("P priority")
	s.desk.may = func(r world.Ref, a actions.Action) (bool, string) {
		return false, "your account may not patch workloads"
	}
	s.onWorkload("big-1").seesNot("D deactivate").press("D").sees("deactivate: your account may not patch workloads")
	s.press("enter", "P").sees("priority: your account may not patch workloads")
	s.desk.may = nil
	s.press("g").sees("P priority")
	s.root.opt.ReadOnly = true
	s.press("D").sees("started with --read-only")
}

func TestNoOtherClass(t *testing.T) {
	s := begin(t, 100, 30)
	for _, name := range []string{"urgent", "bronze"} {
		s.store.Delete(world.KindWorkloadPriorityClass, world.Key{Name: name})
	}
	s.refresh()
	s.onWorkload("big-1").press("P").sees("there is no other WorkloadPriorityClass")
}
