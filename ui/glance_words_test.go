package ui

import (
	"testing"
	"time"

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
