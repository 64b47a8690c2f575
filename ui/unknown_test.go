package ui

import (
	"strings"
	"testing"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// denied is the scene to somebody who may not read the kind.
func denied(t *testing.T, kind world.Kind) *stage {
	t.Helper()
	st, c := scene()
	s, out := st.Snapshot(), store.New(c)
	out.SetContract(s.Contract)
	synced(out)
	put := func(k world.Kind, put func()) {
		if k != kind {
			put()
		}
	}
	for _, x := range s.Workloads {
		put(world.KindWorkload, func() { out.Put(x) })
	}
	for _, x := range s.ClusterQueues {
		put(world.KindClusterQueue, func() { out.Put(x) })
	}
	for _, x := range s.LocalQueues {
		put(world.KindLocalQueue, func() { out.Put(x) })
	}
	for _, x := range s.Cohorts {
		put(world.KindCohort, func() { out.Put(x) })
	}
	for _, x := range s.Flavors {
		put(world.KindResourceFlavor, func() { out.Put(x) })
	}
	out.SetFreshness(kind, world.Freshness{Feed: world.Denied})
	return newStage(t, out, c, 120, 40)
}

// Where ClusterQueues or Cohorts may not be read, no sum over them is a number, and
// nobody is said to have none of them.
func TestSumsOverWhatIsNotKnown(t *testing.T) {
	line := func(s *stage, name string) string {
		for l := range strings.SplitSeq(s.frame(), "\n") {
			if strings.Contains(l, name) {
				return strings.Join(strings.Fields(l), " ")
			}
		}
		t.Fatalf("no %s on\n%s", name, s.frame())
		return ""
	}
	has := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
	s := denied(t, world.KindClusterQueue)
	has(line(s, "ai-shared"), "no access no access no access no access no access")
	if l := line(s, "research"); !strings.HasSuffix(l, "no access") {
		t.Errorf("%q says more than is known", l)
	}
	s.press("3")
	has(line(s, "team-a/batch"), "open 5 1 1 its ClusterQueue team-a-cq is not")
	s.press("7")
	has(line(s, "a100 "), "used no access 5 nvidia.com/gpu ? of ?")
	has(line(s, "default "), "used no access 5 whether a ClusterQueue names it is")
	s.press("/").typeText("a100").press("enter", "enter")
	has(line(s, "STATE"), "used by ? ClusterQueues (no access) and 1 Cohort")
	has(line(s, "nvidia.com/gpu "), "no access no access no access")

	s = denied(t, world.KindCohort)
	has(line(s, "ai-shared"), "no access no access no access no access no access")
	has(line(s, "team-a-cq"), "6 10 no access no access 5")
	s.press("7")
	has(line(s, "a100 "), "used 8 5 nvidia.com/gpu 21 of ?")

	s = denied(t, world.KindLocalQueue)
	s.press("3")
	has(line(s, "team-a-cq"), "no access 1 1")
}
