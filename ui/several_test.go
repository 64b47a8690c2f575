package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/world"
)

func refNames(rs []world.Ref) []string {
	var out []string
	for _, r := range rs {
		out = append(out, r.String())
	}
	return out
}

// What is marked is acted on together: one plan, which asks for how many.
func TestMarkedQueuesAreHeldTogether(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("3", "/").typeText("team-").press("enter")
	s.press("g", " ", " ").sees("2 marked").press("down", "down", "down", "down", " ")
	p := holdPlan()
	p.Targets = append(p.Targets, p.Targets[0], p.Targets[0])
	p.Confirm = actions.Confirm{Level: actions.ConfirmObjects, Expects: "prod-eu 3"}
	s.desk.plan = p
	s.press("H").sees("Hold 3 queues", "Why?").typeText("bad quota").press("enter")
	s.sees("Hold 3 ClusterQueues", `Type "prod-eu 3" (context and objects) to hold`)
	if diff := cmp.Diff([]actions.Action{actions.Hold}, []actions.Action{s.desk.several[0].Action}); diff != "" {
		t.Error(diff)
	}
	var want []string
	for uid := range s.root.stacks[TabQueues][0].(queues).marks {
		want = append(want, uid.String())
	}
	if got := refNames(s.desk.several[0].Refs); len(got) != 3 || len(want) != 3 || s.desk.several[0].Reason != "bad quota" {
		t.Errorf("held %q of %q, for %q", got, want, s.desk.several[0].Reason)
	}
	s.pass(time.Second)
	s.typeText("prod-eu 3").press("enter")
	if diff := cmp.Diff([]string{"prod-eu 3"}, s.desk.executed); diff != "" {
		t.Error(diff)
	}
}

// An action that makes sense for none of the marked says why; what a filter hides is
// not acted on unseen.
func TestMarkedAreRefused(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("3", "/").typeText("team-c-cq").press("enter", " ")
	s.press("H").sees("hold: for none of the marked: team-c-cq is held already")
	s.press("esc", "/").typeText("team-b").press("enter").press("H").sees("hold: 1 marked queue not in sight: clear the filter first, or take the marks away")
	if len(s.desk.several) != 0 {
		t.Errorf("planned %+v", s.desk.several)
	}
}

// Marked Workloads get one class.
func TestMarkedWorkloadsGetAClass(t *testing.T) {
	s := begin(t, 120, 40)
	s.desk.plan = holdPlan()
	s.press("4", " ", " ", "P").sees("Which priority class for 2 Workloads?", "▸ urgent (9000)").press("down", "enter")
	if len(s.desk.several) != 1 || s.desk.several[0].Class != "gold" || s.desk.several[0].Action != actions.Reprioritize || len(s.desk.several[0].Refs) != 2 {
		t.Errorf("planned %+v", s.desk.several)
	}
	s.press("esc")
	s.root.opt.ReadOnly = true
	s.press("D").sees("deactivate: started with --read-only")
}

// What was marked and is gone is not forgotten: the keys for the marked do not become
// those for the row under the cursor.
func TestMarksThatAreGone(t *testing.T) {
	s := begin(t, 120, 40)
	s.desk.plan = holdPlan()
	gone := func(name string) {
		s.store.Delete(world.KindWorkload, world.Key{Namespace: "team-a", Name: "job-" + name + "-x1y2z"})
		s.refresh()
	}
	s.press("4").cursorOn("train-llm-7f2").press(" ", " ").sees("2 marked")
	gone("train-1")
	s.sees("1 marked, 1 more gone").press("D").sees("DEACTIVATE 1 Workload", "Why?").press("enter")
	if len(s.desk.several) != 1 || len(s.desk.several[0].Refs) != 1 {
		t.Fatalf("planned %+v", s.desk.several)
	}
	s.press("esc")
	gone("train-llm-7f2")
	s.sees("0 marked, 2 more gone").press("D").sees("deactivate: what was marked does not exist any more: Esc takes the marks away")
	s.press(" ").sees("1 marked, 2 more gone").press("esc").seesNot("marked").press("D").sees("DEACTIVATE Workload")
	if len(s.desk.asked) != 0 {
		t.Errorf("planned %q", s.desk.asked)
	}
}

// A queue that is made anew under its name is another one: nobody marked it.
func TestMarksAreOfObjectsNotNames(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("3", "/").typeText("team-b-cq").press("enter", " ").sees("1 marked")
	q := clusterQueue("team-b-cq", "ai-shared", 8)
	q.UID = "another"
	s.store.Put(q)
	s.refresh()
	s.sees("0 marked, 1 more gone").press("H").sees("hold: what was marked does not exist any more")
	if len(s.desk.several) != 0 {
		t.Errorf("planned %+v", s.desk.several)
	}
}

// Only rows that something can be done with together are marked.
func TestMarksWithoutAUse(t *testing.T) {
	for _, tab := range []string{"7", "8", "9", "5"} {
		s := begin(t, 120, 40)
		if s.press(tab, " "); strings.Contains(s.frame(), "mark") {
			t.Errorf("tab %s:\n%s", tab, s.frame())
		}
	}
}

// What is gone has no numbers any more: those would be of whoever has its name now.
func TestTombstonesHaveNoNumbers(t *testing.T) {
	for _, tab := range []string{"2", "3"} {
		s := begin(t, 120, 40)
		s.press(tab)
		for !strings.Contains(s.cursorLine(), "team-a-cq") {
			s.press("down")
		}
		q := clusterQueue("team-a-cq", "ai-shared", 6)
		q.UID = "another"
		s.store.Put(q)
		s.refresh()
		if l := s.cursorOn("does not exist any more").cursorLine(); strings.Contains(l, " 5 ") || !strings.Contains(s.frame(), " 5 ") {
			t.Errorf("tab %s: %q", tab, l)
		}
	}
}

// One of the marked that cannot be changed does not keep the others from it, be it the
// first.
func TestOneOfTheMarkedDecidesNothing(t *testing.T) {
	s := begin(t, 120, 40)
	s.desk.plan = holdPlan()
	s.press("3", "/").typeText("team-").press("enter", "g", " ", "down", "down", " ")
	var refused world.Ref
	s.desk.may = func(r world.Ref, _ actions.Action) (bool, string) {
		if refused == (world.Ref{}) {
			refused = r
		}
		return r != refused, "your account may not patch " + r.Name
	}
	s.press("H").sees("Hold 2 queues").press("esc")
	s.desk.may = func(r world.Ref, _ actions.Action) (bool, string) { return false, "your account may not patch it" }
	s.press("H").sees("hold: for none of the marked: your account may not patch it")
}
