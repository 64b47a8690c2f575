package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cli.holdfast.dev/holdfast/actions"
	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/world"
)

// Tab names everybody whom the plan sorts, and again only the first few.
func TestTabNamesEverybody(t *testing.T) {
	s := begin(t, 120, 50)
	p := holdPlan()
	p.RunsOn = nil
	for i := range 20 {
		p.RunsOn = append(p.RunsOn, actions.Affected{Ref: world.Ref{Kind: world.KindWorkload, Key: world.Key{Namespace: "team-a", Name: fmt.Sprintf("runs-%02d", i)}}})
	}
	s.desk.plan = p
	s.onTeamA().press("H", "enter").sees("20 Workloads run on", "tab names").seesNot("runs-19")
	s.press("tab").sees("runs-19").press("tab").seesNot("runs-19")
}

// What stands still behind a dialog says so as soon as there is something newer.
func TestStandsStillIsSaid(t *testing.T) {
	s := begin(t, 120, 40)
	s.desk.plan = holdPlan()
	s.onTeamA().press("H").seesNot("stands still")
	s.pass(3 * time.Second)
	s.store.Put(clusterQueue("aaa-cq", "", 1))
	s.refresh()
	s.sees("stands still since 14:03:25").seesNot("aaa-cq")
	s.press("esc")
	s.pass(stillFor)
	s.sees("aaa-cq").seesNot("stands still")
}

// A session that is over says what is still not well with its queues, and offers no step.
func TestOverIsNotWell(t *testing.T) {
	s, k := withSessions(t, 120, 40)
	over := func(queue string) *stage {
		x, err := rollback.New(s.store.Snapshot().ClusterQueue(queue).Ref(), "prod-eu", "https://10.0.0.1:6443", "", "oncall@corp", "why", now.UTC())
		if err != nil {
			t.Fatal(err)
		}
		k.s = &x
		for i := range x.Steps {
			k.over(x.Steps[i].Name, rollback.Done, "done")
		}
		s.refresh()
		return s.press("6", "esc", "g", "enter").sees("The incident record")
	}
	over("team-e-cq").sees("Every step is over, but not all is well", "ClusterQueue team-e-cq is 2 in debt of nvidia.com/gpu a100", "D on a queue").seesNot("Enter do it")
	over("team-c-cq").sees("not all is well", "ClusterQueue team-c-cq is stopped (Hold, by kim).").seesNot("in debt")
	over("team-b-cq").sees("Over. The incident record").seesNot("is stopped")

	// Of a snapshot that is older than the last step nothing is said.
	k.s.Step(rollback.Compare).Ended = s.clock.Now().Add(time.Second)
	s.press("esc", "enter").sees("Every step is over; whether all is well is being read")
	s.store.Put(clusterQueue("aaa-cq", "", 1))
	s.clock.SetTime(s.clock.Now().Add(2 * time.Second))
	s.send(snapshotMsg{s.store.Snapshot(), s.clock.Now()})
	s.pass(stillFor)
	s.sees("Over. The incident record")
	s.press("z")
	s.store.Put(clusterQueue("bbb-cq", "", 1))
	s.send(snapshotMsg{s.store.Snapshot(), s.clock.Now()})
	s.sees("being read")
	s.press("z").sees("Over. The incident record")
	s.store.SetFreshness(world.KindWorkload, world.Freshness{Feed: world.Delayed, Synced: true})
	s.send(snapshotMsg{s.store.Snapshot(), s.clock.Now()})
	s.pass(stillFor)
	s.sees("whether all is well is not known", "the list of Workloads is delayed")
}

// On a low screen the step under the cursor is in sight.
func TestSessionOnALowScreen(t *testing.T) {
	s, k := withSessions(t, 40, 12)
	x, err := rollback.New(s.store.Snapshot().ClusterQueue("team-b-cq").Ref(), "prod-eu", "https://10.0.0.1:6443", "", "oncall@corp", "why", now.UTC())
	if err != nil {
		t.Fatal(err)
	}
	k.s = &x
	s.press("6", "enter")
	for range x.Steps {
		if !strings.Contains(s.frame(), "▸ [ ]") {
			t.Fatalf("the step is out of sight:\n%s", s.frame())
		}
		s.press("down")
	}
	s.sees("▸ [ ] compare")
}

// What cannot be seen of a ClusterQueue blocks nothing.
func TestUnknownClusterQueueBlocksNothing(t *testing.T) {
	st, c := scene()
	for _, q := range st.Snapshot().ClusterQueues {
		st.Delete(world.KindClusterQueue, q.Key)
	}
	st.SetFreshness(world.KindClusterQueue, world.Freshness{Feed: world.Denied, Detail: "cannot list clusterqueues"})
	s := newStage(t, st, c, 120, 40)
	s.press("3").sees("its ClusterQueue team-a-cq is not known").seesNot("blocked")
}

// A cohort is gone to by name, with the cursor on it; Enter there says what it does.
func TestPaletteCohort(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("3", ":").typeText("research").sees("▸ Cohort research").press("enter").cursorOn("research").sees("Enter fold")
	s.press("enter").sees("Enter unfold").press("enter", "down").sees("Enter open")
}

// A key that can do nothing says so and what to press.
func TestEnterOnNothing(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("4", "enter").sees("Workloads › team-a/train-llm-7f2").press("enter").sees("the cursor is on nothing that can be opened: down goes to the next that can")
	s.press("down", "enter").seesNot("cursor is on nothing").sees("Workloads › team-a/train-llm-7f2 › ")
}
