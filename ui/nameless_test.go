package ui

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// In a file Workloads may have no UID: each is still itself, in the list, on its page
// and under a mark.
func TestWorkloadsWithoutUIDs(t *testing.T) {
	c := clocktesting.NewFakePassiveClock(now)
	st := store.New(c)
	synced(st)
	st.Put(localQueue("team-a", "batch", "cq"))
	st.Put(clusterQueue("cq", "", 1))
	for i, name := range []string{"one", "two", "three"} {
		w := pendingJob("team-a", name, "batch", 9-int32(i), time.Minute)
		w.UID = ""
		st.Put(w)
	}
	s := newStage(t, st, c, 120, 40)
	s.press("4").sees("one", "two", "three").cursorOn("one").press("down").cursorOn("two")
	s.press("enter").sees("Workloads \u203a team-a/two", "number 2 of 3 that wait").press("esc")
	s.press("s").cursorOn("two").press(" ").sees("1 marked")
	st.Put(localQueue("team-a", "other", "cq"))
	s.refresh()
	s.sees("1 marked").press("g").cursorOn("one")
	s.press(":").typeText("three").press("enter").sees("Workloads \u203a team-a/three")
}

// What has no UID is not found by it.
func TestNoUIDFindsNothing(t *testing.T) {
	st := store.New(clocktesting.NewFakePassiveClock(now))
	w := pendingJob("team-a", "one", "batch", 1, time.Minute)
	w.UID = ""
	st.Put(w)
	snap := st.Snapshot()
	if snap.Workload("") != nil || snap.WorkloadOf(w.Ref()) != snap.Workloads[0] || snap.WorkloadOf(world.Ref{Key: w.Key, UID: "other"}) != nil {
		t.Errorf("found %+v", snap.Workload(""))
	}
}
