package ui

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/model/world"
)

// A cluster without queues is not one in which all is well.
func TestNoQueuesAtAll(t *testing.T) {
	s := begin(t, 100, 30)
	snap := s.quiet().store.Snapshot()
	for _, w := range snap.Workloads {
		s.store.Delete(world.KindWorkload, w.Key)
	}
	for _, q := range snap.LocalQueues {
		s.store.Delete(world.KindLocalQueue, q.Key)
	}
	for _, q := range snap.ClusterQueues {
		s.store.Delete(world.KindClusterQueue, q.Key)
	}
	s.refresh()
	s.press("1")
	s.pass(leastPause + time.Second)
	s.sees("There is no ClusterQueue: nothing is queued here.").seesNot("Nothing needs a person")
}

// The number of a tab leads up from what was opened in it, and to another as it was left.
func TestNumberOfATab(t *testing.T) {
	s := begin(t, 120, 40)
	s.onTeamA().press("enter").sees("Cohorts › team-a-cq").press("4").press("2").sees("Cohorts › team-a-cq").press("2").seesNot("›").sees("COHORT / QUEUE")
}

// The name of an object is not taken for said because a word of the text has it.
func TestAnAlertNamesItsObject(t *testing.T) {
	s := begin(t, 120, 40)
	text := "It has no quota of nvidia.com/gpu."
	for _, tc := range []struct {
		a    health.Alert
		want string
	}{
		{health.Alert{Object: world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: "gpu"}}, Explanation: text}, "ClusterQueue gpu: " + text},
		{health.Alert{Object: world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: "gpu"}}, Explanation: "ClusterQueue gpu is held."}, "ClusterQueue gpu is held."},
	} {
		row := (glance{}).row(s.root.env(), tc.a, false)
		if got := row.Cells[1].Text; got != tc.want {
			t.Errorf("it says %q, want %q", got, tc.want)
		}
	}
}

// Preemptions that came soon after a change of a spec have a row of their own, which names
// who changed it; so have the page of who was preempted and the chain.
func TestPreemptionsAfterAChange(t *testing.T) {
	s := begin(t, 160, 48)
	b := *s.store.Snapshot().ClusterQueue("team-b-cq")
	b.Writes = []world.SpecWrite{{Manager: "kubectl-edit", At: now.Add(-2 * time.Minute), Fields: []string{"preemption.reclaimWithinCohort"}}}
	s.store.Put(&b)
	s.store.Put(preemptedBy(pendingJob("team-c", "robbed", "batch", 1, 5*time.Hour), "uid-team-b-job-urgent-3-x1y2z", "InCohortReclamation", "team-b-cq", time.Minute))
	s.refresh()
	s.press("1")
	s.pass(leastPause + time.Second)
	s.sees("preemptions", "team-b-cq preempted 1 Workload (1 of team-c-cq) within 1m1s of a change of", "whoever changed it (kubectl-edit)")
	s.press("4").press("/").typeText("robbed").press("enter")
	s.press("enter")
	s.sees("Preempted 1m after a change of ClusterQueue team-b-cq by kubectl-edit. CHANGE: whoever changed it (kubectl-edit), if it was not meant")
	s.sees("ClusterQueue team-b-cq was changed by kubectl-edit at", "shortly before (of its spec it set preemption.reclaimWithinCohort)")
	s.press("esc").send(tea.WindowSizeMsg{Width: 120, Height: 40})
	s.sees("WAIT; CHANGE: whoever changed it (kubectl-edit), if it was not meant", "Preempted 1m after a change of ClusterQueue team-b-cq by kubectl-edit.")

	b.Preemption.ReclaimWithinCohort = "Never" // put back
	s.store.Put(&b)
	s.refresh()
	s.pass(stillFor)
	s.seesNot("CHANGE: whoever").seesNot("after a change of")
}

// What an alert that is over was about is not acted on from its row: it would act on what
// nothing is the matter with.
func TestNoActionOnWhatIsOver(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("1").press("down", "down", "down", "down").cursorOn("ClusterQueue team-c-cq is held")
	c := *s.store.Snapshot().ClusterQueue("team-c-cq")
	c.StopPolicy, c.Hold = world.StopNone, nil
	s.store.Put(&c)
	s.refresh()
	s.pass(leastPause + time.Second)
	s.sees("over: ").press("D").sees("what the cursor is on is over").seesNot("drain ClusterQueue")
}
