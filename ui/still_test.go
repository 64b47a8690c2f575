package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cli.holdfast.dev/holdfast/model/world"
)

// below is the screen less its header, which always tells of now.
func (s *stage) below() string {
	_, rest, _ := strings.Cut(s.frame(), "\n")
	return rest
}

// arrive brings a snapshot, and holds back what is asked because of it.
func (s *stage) arrive() *stage {
	s.held = true
	s.send(snapshotMsg{s.store.Snapshot(), s.clock.Now()})
	return s
}

// A list that was asked for before a key and comes after it waits, like a snapshot: the
// next key meets what the person saw.
func TestAnswersWaitForStillness(t *testing.T) {
	for _, tab := range []string{"1", "3", "4", "5", "7", "8", "9"} {
		s := grove(begin(t, 120, 40))
		s.press(tab, "2", tab)
		s.pass(5 * time.Second)
		s.rest()
		s.store.Put(clusterQueue("aaa-cq", "", 1))
		s.store.Put(localQueue("aaa", "batch", "aaa-cq"))
		s.store.Put(&world.Flavor{Meta: meta("", "aaa")})
		s.store.Put(&world.Check{Meta: meta("", "aaa"), Controller: "x"})
		s.store.Put(&world.PriorityClass{Meta: meta("", "aaa"), Value: 99999})
		w := pendingJob("aaa", "first", "batch", 9999, time.Hour)
		w.Preempted = &world.Preemption{PreemptorUID: "uid-team-b-job-urgent-3-x1y2z", Reason: "InCohortReclamation", At: now}
		s.store.Put(w)
		s.arrive().press("down")
		before := s.below()
		s.release()
		if got := s.below(); got != before {
			t.Errorf("tab %s: a key was pressed, and then\n%s\nbecame\n%s", tab, before, got)
		}
		s.pass(5 * time.Second)
		if got := s.below(); !strings.Contains(got, "aaa") {
			t.Errorf("tab %s: what is new never came:\n%s", tab, got)
		}
	}
}

// Whoever comes to a tab, into a page or back sees what is now, though the key was only
// just pressed: they did not look at it before.
func TestComingSeesNow(t *testing.T) {
	s := begin(t, 120, 40)
	job := func(name string) *stage {
		s.store.Put(pendingJob("aaa", name, "batch", 9999, time.Hour))
		s.send(snapshotMsg{s.store.Snapshot(), s.clock.Now()})
		return s
	}
	s.press("4", "3")
	job("first").press("4").sees("aaa", "first")
	s.rest()
	s.press("down", "enter")
	job("second").press("esc").sees("second")
	s.press("z")
	job("third").press("3").press("4").seesNot("third").sees("FROZEN")
}

// A look at all of it is taken anew for whoever comes, and is not kept back.
func TestComingToGlanceSeesNow(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("1").sees("8 ClusterQueues").press("3")
	s.pass(10 * time.Minute)
	s.store.Put(clusterQueue("aaa-cq", "", 1))
	s.press("down")
	s.send(snapshotMsg{s.store.Snapshot(), s.clock.Now()})
	s.press("1").sees("9 ClusterQueues").seesNot("as of")
}

// Behind a dialog that was open for long the screen is old: it is as it is now as soon as
// the dialog is gone, and between two dialogs that follow each other at once.
func TestLongDialogsLeaveNothingOld(t *testing.T) {
	s := begin(t, 120, 40)
	s.onTeamA().press("H")
	s.store.Put(clusterQueue("aaa-cq", "", 1))
	s.refresh()
	s.pass(olderThan)
	s.seesNot("aaa-cq").sees("stands still since 14:03:22")
	s.press("esc").sees("aaa-cq").press("H")
	s.store.Put(clusterQueue("bbb-cq", "", 1))
	s.refresh()
	s.seesNot("bbb-cq").sees("stands still since 14:03:27")
}

// What a person asks for comes at once, and so does what they come to see.
func TestAnswersThatDoNotWait(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("4", "3")
	w := pendingJob("aaa", "first", "batch", 9999, time.Hour)
	s.store.Put(w)
	s.refresh()
	s.press("4").sees("first").press("/").typeText("urgent").sees("1 of 12").seesNot("first")
}

// A frozen screen tells of the moment when it was frozen, ages and all.
func TestFrozenInTime(t *testing.T) {
	for _, tab := range []string{"1", "2", "3", "4", "5", "7", "8", "9", "0"} {
		s := grove(begin(t, 200, 60))
		s.root.opt.Settings = someSettings
		s.press(tab, "down", "z")
		frame := func() string { // less the title, which says for how long
			head, rest, _ := strings.Cut(s.below(), "\n")
			_, rest, _ = strings.Cut(rest, "\n")
			return head + "\n" + rest
		}
		before := frame()
		for i := range 5 {
			s.store.Put(pendingJob("aaa", fmt.Sprint("w", i), "batch", 9999, time.Hour))
			s.pass(7 * time.Minute)
			s.refresh()
		}
		if got := frame(); got != before {
			t.Errorf("tab %s, frozen:\n%s\nbecame\n%s", tab, before, got)
		}
		s.sees("FROZEN 35m ago")
	}
}

// A list that takes long is waited for: asked again meanwhile, it would never come.
func TestSlowListsComeToTheirEnd(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("4", "/").typeText("class:quota").press("enter")
	s.rest()
	asked := func() uint64 { return s.root.top().(workloads).asked }
	s.store.Put(pendingJob("aaa", "first", "batch", 9999, time.Hour))
	s.arrive()
	first := asked()
	for i := range 3 {
		s.store.Put(pendingJob("aaa", fmt.Sprint("w", i), "batch", 9, time.Hour))
		s.send(snapshotMsg{s.store.Snapshot(), s.clock.Now()})
		s.send(tickMsg{s.clock.Now()})
	}
	if now := asked(); first == 0 || now != first {
		t.Errorf("the question %d was asked again as %d before it was answered", first, now)
	}
	s.release()
	s.sees("6 of 12")
	s.pass(2 * time.Second)
	s.sees("9 of 15")
}

// Rows that are still those of another filter or order are not counted as the answer,
// and an old answer says how old it is.
func TestUnansweredIsNotCounted(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("4")
	s.rest()
	s.held = true
	s.press("/").typeText("urgent").sees("… of 11 Workloads, by state, priority, age").seesNot("11 of 11")
	s.release()
	s.sees("1 of 11 Workloads, by state").press("esc")
	s.held = true
	s.press("s").sees("11, by namespace…", "NAMESPACE ").seesNot("NAMESPACE↑")
	s.release()
	s.sees("11, by namespace ", "NAMESPACE↑")
	s.press("/").typeText("no-such-thing-1").sees("None of 11 Workloads matches")
	s.held = true
	s.press("backspace").sees("reading…").seesNot("None of")
}

// A tombstone is on the screen and is none of those that are found.
func TestTombstoneIsNotCounted(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("4", "/").typeText("train").press("enter").sees("5 of 11")
	s.store.Delete(world.KindWorkload, world.Key{Namespace: "team-a", Name: "job-train-llm-7f2-x1y2z"})
	s.refresh()
	s.sees("4 of 10", "does not exist any more")
}

// Where there are very many Workloads, what needs each of them explained is asked with
// pauses, and says of when it is.
func TestDearListsArePaced(t *testing.T) {
	st, c := scene()
	const n = 4 * bigList // 4 seconds from one answer to the next question
	for i := range n {
		st.Put(pendingJob("many", fmt.Sprint("w", i), "batch", 1, time.Hour))
	}
	s := newStage(t, st, c, 120, 40)
	for text, most := range map[string]int{"class:quota": 3, "state:pending": 10} {
		s.press("4", "/").typeText(text)
		s.pass(time.Second)
		s.press("enter")
		last, times := s.root.top().(workloads).last.of, 0
		for i := range 10 {
			s.store.Put(pendingJob("many", fmt.Sprint("x", i), "batch", int32(i), time.Hour))
			s.refresh()
			s.pass(time.Second)
			if of := s.root.top().(workloads).last.of; of != last {
				last, times = of, times+1
			}
		}
		if times == 0 || times > most {
			t.Errorf("%s: made %d times in 10 seconds, want at most %d", text, times, most)
		}
		s.press("esc")
		s.pass(time.Second)
	}
}

// An answer that is old says of when it is.
func TestOldAnswersSayOfWhen(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("4")
	s.arrive()
	s.clock.SetTime(now.Add(time.Minute))
	s.store.Put(pendingJob("aaa", "first", "batch", 1, time.Hour))
	s.send(snapshotMsg{s.store.Snapshot(), s.clock.Now()})
	s.rest()
	s.seesNot("as of").store.Put(pendingJob("aaa", "second", "batch", 1, time.Hour))
	s.send(snapshotMsg{s.store.Snapshot(), s.clock.Now()})
	s.seesNot("as of").send(tickMsg{s.clock.Now().Add(olderThan)})
	s.sees("11, by state, priority, age, as of 14:03:22")
	s.release()
	s.pass(time.Second)
	s.sees("13, by state").seesNot("as of")
}

// A page stands still as lists do.
func TestPagesWaitForStillness(t *testing.T) {
	for tab, name := range map[string]string{"7": "default", "8": "budget", "9": "gold"} {
		s := begin(t, 120, 40)
		s.store.Put(&world.Check{Meta: meta("", "budget"), Controller: "example.com/budget", Conditions: active()})
		s.refresh()
		s.press(tab, "/").typeText("name:"+name).press("enter", "enter").sees("\u203a " + name)
		s.rest()
		q := clusterQueue("aaa-cq", "", 1)
		q.Checks = []world.CheckRule{{Name: "budget"}}
		s.store.Put(q)
		s.store.Put(localQueue("aaa", "batch", "aaa-cq"))
		s.store.Put(runningJob("aaa", "first", "batch", "aaa-cq", 9999, 1, time.Hour))
		s.arrive().press("down")
		before := s.below()
		s.release()
		s.send(snapshotMsg{s.store.Snapshot(), s.clock.Now()})
		if got := s.below(); got != before {
			t.Errorf("%s: a key was pressed, and then\n%s\nbecame\n%s", name, before, got)
		}
		s.pass(5 * time.Second)
		s.sees("aaa-cq")
	}
}
