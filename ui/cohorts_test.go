package ui

import (
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// While the lists come in, a Cohort is only named by its queues at first: that its
// object arrives is not the end of anything.
func TestCohortsArriveAfterTheirQueues(t *testing.T) {
	c := clocktesting.NewFakePassiveClock(now)
	s := store.New(c)
	synced(s)
	s.SetFreshness(world.KindCohort, world.Freshness{Feed: world.Syncing})
	s.Put(clusterQueue("team-a-cq", "ai-shared", 6))
	st := newStage(t, s, c, 120, 30)
	st.sees("ai-shared")
	s.Put(&world.Cohort{Meta: meta("", "ai-shared")})
	synced(s)
	st.refresh()
	st.sees("ai-shared").seesNot("does not exist any more")
}

func TestNamespaceThatIsNotAdmitted(t *testing.T) {
	s, c := scene()
	q := *s.Snapshot().ClusterQueue("team-b-cq")
	q.Namespaces = nil // selects nothing
	s.Put(&q)
	st := newStage(t, s, c, 150, 40)
	st.press("3").sees("ClusterQueue team-b-cq does not admit its namespace")
	st.press("G", "up", "up", "up", "up", "up").cursorOn("team-b-cq").press("enter").sees("team-b/batch   0 pending, 1 admitted   ClusterQueue team-b-cq does not admit its namespace")
}
