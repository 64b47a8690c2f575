package ui

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/model/world"
)

// A filter of queues keeps the ClusterQueue of a LocalQueue that it keeps, says how
// many there are, survives what happens, and Esc takes it away with the cursor where
// it was.
func TestFilterOfQueues(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("3", "/").typeText("ns:team-a night").press("enter")
	s.sees("Queues", "2 of 14 queues", "team-a-cq", "team-a/night").seesNot("team-b-cq")
	s.press("down").cursorOn("team-a/night")
	s.store.Put(localQueue("team-z", "other", "team-b-cq"))
	s.refresh()
	s.cursorOn("team-a/night").seesNot("team-z")
	s.press("enter", "esc").cursorOn("team-a/night").seesNot("team-b-cq")
	s.press("esc").cursorOn("team-a/night").sees("team-b-cq", "team-z/other")
}

func TestFilterFields(t *testing.T) {
	for text, want := range map[string]struct{ yes, no string }{
		"state:held":          {"team-c-cq", "team-a-cq"},
		"state:blocked":       {"team-c/batch", "night"},
		"!state:open":         {"team-d-cq", "speech-cq"},
		"cohort:research":     {"vision-cq", "team-a-cq"},
		"cohort:ai":           {"vision-cq", "team-e-cq"},
		"colour:red":          {"there is no field colour", "team-a-cq"},
		"nothing-like-that-1": {"None of 14 queues matches", "team-a-cq"},
		"tmacq":               {"team-a-cq", "speech-cq"}, // resembles
	} {
		s := begin(t, 120, 40)
		s.press("3", "/").typeText(text).press("enter").sees(want.yes).seesNot(want.no)
	}
}

// Workloads are found by the class of what stops them, too.
func TestFilterByClass(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("4", "/").typeText("class:quota advice:wait").press("enter").sees("5 of 11", "train-1").seesNot("urgent-3")
	// What another object says of it counts as well: no Workload changes here.
	s.press("esc", "/").typeText("cohort:research").press("enter").sees("None of 11 Workloads matches")
	q := clusterQueue("team-a-cq", "research", 6)
	s.store.Put(q)
	s.refresh()
	s.sees("train-1", "6 of 11")
}

// s goes through every column, I turns the order round, and the head says which.
func TestSortByAnyColumn(t *testing.T) {
	for tab, heads := range map[string][]string{
		"3": {"CLUSTERQUEUE / LOCAL↑", "COHORT↑", "STRATEGY↑", "PENDING↓", "RESERVING↓", "ADMITTED↓"},
		"4": {"NAMESPACE↑", "JOB↑", "WORKLOAD↑", "QUEUE↑", "PRIO↓", "STATE↑", "AGE↓"},
	} {
		s := begin(t, 150, 40)
		s.press(tab)
		for _, h := range heads {
			s.press("s").sees(h)
			turned := strings.NewReplacer("↑", "↓", "↓", "↑").Replace(h)
			s.press("I").sees(turned)
			s.press("I")
		}
		s.press("s").seesNot("↑").seesNot("↓")
	}
	s := begin(t, 150, 40)
	s.press("4", "s", "s", "s", "s", "s", "g").cursorOn("urgent-3").press("I", "g").cursorOn(" 0 ")
	s.press("s", "s", "g").cursorOn("over-1").sees("by age") // the oldest
}

// A mark belongs to an object: it survives filters and orders, goes with its object,
// and is not on the next one of the same name.
func TestMarks(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("4", " ", " ").cursorOn("train-2").sees("2 marked, 11", "•")
	s.press("/").typeText("train-l").press("enter").sees("2 marked, 1 of 11")
	s.press("esc", "s").sees("2 marked, 11")
	old := s.store.Snapshot().WorkloadByKey(world.Key{Namespace: "team-a", Name: "job-train-1-x1y2z"})
	s.store.Delete(world.KindWorkload, old.Key)
	s.refresh()
	s.sees("1 marked, 1 more gone, 10")
	next := pendingJob("team-a", "train-1", "batch", 500, time.Minute)
	next.UID = "another"
	s.store.Put(next)
	s.refresh()
	s.sees("1 marked, 1 more gone, 11")
	s.press("esc").seesNot("marked").seesNot("•")
}

// On a wide screen all about the row stands beside the list.
func TestSidePane(t *testing.T) {
	s := begin(t, 200, 50)
	s.press("4").sees("│ WHY", "PLACE     number 1 of 5").press("down").sees("team-a/train-1   PENDING")
	s.press("3", "G").sees("│ LocalQueue team-x/batch", "nowhere-cq does not exist")
}

// TestMarksAlways: whatever happens, what is marked is what the person marked and is
// there.
func TestMarksAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st, c := scene()
		s := newStage(t, st, c, 120, 30)
		s.press("4")
		pressed := map[any]bool{}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				randomChange(t, s)
				s.pass(time.Second)
			case 1:
				s.press(rapid.SampledFrom([]string{"down", "up", "end", "home", "s", "I"}).Draw(t, "key"))
			default:
				if w, gone, ok := s.root.top().(workloads).list.Selected(); ok && !gone {
					pressed[w.Ref()] = !pressed[w.Ref()]
					s.press(" ")
				}
			}
			for ref := range s.root.top().(workloads).marks {
				if !pressed[ref] {
					t.Fatalf("%v is marked, and nobody marked it", ref)
				}
				if s.root.shown.WorkloadOf(ref) == nil {
					t.Fatalf("%v is marked and does not exist", ref)
				}
			}
		}
	})
}
