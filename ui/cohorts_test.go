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

// The tree is filtered like the lists: what matches, with the cohorts that it is in and
// what is below it; Esc brings the rest back with the cursor where it is.
func TestFilterOfTheTree(t *testing.T) {
	s := begin(t, 100, 30)
	s.press("2", "/").sees("words, !word, name: state:").typeText("vision").sees("ai-shared", "research", "1 of 2 (f: next), 3 rows").cursorOn("vision-cq").seesNot("speech-cq")
	s.press("enter", "esc").sees("speech-cq", "team-a-cq").cursorOn("vision-cq")
	s.press("/").typeText("research").press("enter").sees("vision-cq", "speech-cq").seesNot("team-a-cq").cursorOn("research")
	s.press("esc", "/").typeText("state:held").press("enter").sees("team-c-cq").seesNot("team-b-cq")
	s.press("esc", "/").typeText("tmbcq").press("enter").cursorOn("team-b-cq").seesNot("team-a-cq") // letters in their order
	s.press("esc", "/").typeText("nosuchqueue").sees("Nothing in the tree matches this filter.").press("esc").sees("team-a-cq")
	s.press("/").typeText("flavor:a100").sees("there is no field flavor").press("esc")
	// A cohort that was folded is seen unfolded while something in it is looked for.
	s.press("g").cursorOn("ai-shared").press("enter").seesNot("team-b-cq").press("/").typeText("team-b").sees("team-b-cq").press("esc").seesNot("team-b-cq")
	// What comes later is looked through, too.
	s.press("/").typeText("new").press("enter")
	s.store.Put(clusterQueue("new-cq", "", 1))
	s.refresh()
	s.pass(stillFor)
	s.sees("new-cq")
}
