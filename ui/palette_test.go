package ui

import (
	"strings"
	"testing"
	"time"

	"cli.holdfast.dev/holdfast/model/world"
)

// The palette finds every kind of place, by a part of its name or by letters in their
// order, and what a key does.
func TestPaletteFinds(t *testing.T) {
	for text, want := range map[string]string{
		"chor":          "Cohorts",
		"team-b-cq":     "ClusterQueue team-b-cq",
		"batch":         "LocalQueue team-a/batch",
		"namespace te":  "namespace team-a",
		"team-c":        "namespace team-c",
		"prod-us":       "context prod-us",
		"train-llm":     "Workload team-a/train-llm-7f2 (pending)",
		"job-train-llm": "Workload team-a/train-llm-7f2 (pending)", // by the Workload's name
		"tnllm7":        "Workload team-a/train-llm-7f2 (pending)", // resembles
		"fre":           "freeze  key z",
		"flavor":        "flavor  key f", // what a key does, written out
		"flav":          "Flavors  key 7",
		"a100":          "ResourceFlavor a100",
		"gol":           "WorkloadPriorityClass gold",
		"vsncq":         "ClusterQueue vision-cq", // resembles
		"wl":            "Workloads  key 4",       // as kubectl calls them
		"cq":            "Queues  key 3",
		"ctx":           "context prod-us",
		"q":             "quit  leave holdfast",
		"q!":            "quit  leave holdfast",
	} {
		s := begin(t, 120, 40)
		s.root.opt.Contexts = []string{"prod-eu", "prod-us"}
		s.press(":").typeText(text)
		if !strings.Contains(s.frame(), "▸ "+want) {
			t.Errorf("%q does not find %q first:\n%s", text, want, s.frame())
		}
	}
}

// What is done through the palette is what the key does, and refused as it is.
func TestPaletteDoes(t *testing.T) {
	s := begin(t, 120, 40)
	s.onTeamA().press(":").typeText("hold").press("enter").sees("Hold ClusterQueue team-a-cq")
	s.press("esc", ":").typeText("resume").press("enter").sees("resume: team-a-cq is not held", "Go to")
	s.press("esc", ":").typeText("freeze").press("enter").sees("FROZEN")
	// A queue of that name is gone to first.
	s = begin(t, 120, 40)
	s.store.Put(clusterQueue("hold", "", 1))
	s.refresh()
	s.onTeamA().press(":").typeText("hold").press("enter").sees("Queues › hold").seesNot("Why?")
}

// What people type by habit does what they are used to.
func TestPaletteHabits(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("4", "enter", ":").typeText("q").press("enter")
	if !s.quit {
		t.Errorf(":q on a page does not leave:\n%s", s.frame())
	}
	s = begin(t, 120, 40)
	s.press(":").typeText("ctx").press("enter").sees("there is no other context in the kubeconfig")
}

// The YAML and the description of a row are a key away, as in other consoles.
func TestRowsByHabit(t *testing.T) {
	for tab, want := range map[string]string{"2": "team-a-cq", "3": "team-a-cq", "4": "team-a/train-llm-7f2"} {
		s := begin(t, 120, 40)
		s.desk.detail.YAML = []string{"kind: Something", "spec: {}"}
		s.press(tab)
		if tab == "2" {
			s.onTeamA()
		} else if tab == "3" {
			s.press("/").typeText("team-a-cq").press("enter")
		}
		s.press("d").sees("› "+want, "TIMELINE").press("esc")
		s.press("y").sees("› "+want, "kind: Something").press("esc").seesNot("kind: Something")
	}
	s := begin(t, 120, 40)
	s.press("2", "g", "y").sees("it is for a ClusterQueue")
}

// A namespace is its Workloads, and Esc shows all again.
func TestPaletteNamespace(t *testing.T) {
	s := begin(t, 120, 40)
	s.press(":").typeText("namespace team-c").press("enter").sees(" Workloads ", "2 of 11", "/ns:=team-c").seesNot("›").seesNot("train-1")
	s.press("esc").sees("train-1")
	// Another one whose name begins with that of the first has nothing to do with it.
	s.store.Put(pendingJob("team-c-dev", "toy-1", "batch", 1, time.Minute))
	s.refresh()
	s.sees("toy-1").press(":").typeText("namespace team-c").press("enter").sees("2 of 12").seesNot("toy-1")
}

// Another context ends the stay here; the one that this is is not offered.
func TestPaletteContext(t *testing.T) {
	s := begin(t, 120, 40)
	s.root.opt.Contexts = []string{"prod-eu", "prod-us"}
	for _, k := range world.WatchedKinds() {
		s.store.SetFreshness(k, world.Freshness{Feed: world.Disconnected})
	}
	s.refresh()
	s.press(":").typeText("context").sees("context prod-us").seesNot("context prod-eu")
	s.press("enter")
	if !s.quit || s.root.next != "prod-us" {
		t.Errorf("quit %v, next %q", s.quit, s.root.next)
	}
}

// Enter is for what was typed until then: who goes on typing, or moves, has not said yes
// to what that finds.
func TestPaletteWaitsForTheLastWord(t *testing.T) {
	for _, key := range []string{"s", "backspace", "down"} {
		s := begin(t, 120, 40)
		s.root.opt.Contexts = []string{"prod-eu", "prod-us"}
		s.press(":").typeText("prod-")
		s.held = true
		s.press("u", "enter", key)
		s.release()
		if s.quit || s.root.next != "" || len(s.root.dialogs) != 1 {
			t.Errorf("%s: went to %q\n%s", key, s.root.next, s.frame())
		}
	}
	s := begin(t, 120, 40)
	s.press(":").typeText("team-b-c")
	s.held = true
	s.press("q", "enter")
	s.release()
	s.sees("Queues › team-b-cq")
}
