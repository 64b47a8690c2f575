package ui

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// TestAmendedEqualsAnew: a list that was brought up to date is the one that is
// made anew.
func TestAmendedEqualsAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st, _ := scene()
		text := rapid.SampledFrom([]string{"", "state:pending", "!w1", "w", "cohort:ai", "class:quota"}).Draw(t, "filter")
		o := order{turned: rapid.Bool().Draw(t, "turned")}
		for range rapid.IntRange(0, 7).Draw(t, "order") {
			o = next(workloadColumns(), o)
		}
		last := listed(st.Snapshot(), text, o)
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for range rapid.IntRange(0, 10).Draw(t, "changes") {
				name := fmt.Sprintf("w%d", rapid.IntRange(0, 12).Draw(t, "name"))
				switch rapid.IntRange(0, 4).Draw(t, "change") {
				case 3:
					st.Put(clusterQueue("team-a-cq", rapid.SampledFrom([]string{"", "ai-shared", "research"}).Draw(t, "cohort"), 5))
				case 4:
					st.Put(localQueue("team-a", "batch", rapid.SampledFrom([]string{"team-a-cq", "team-b-cq"}).Draw(t, "queue")))
				case 0:
					st.Put(pendingJob("team-a", name, "batch", int32(rapid.IntRange(0, 3).Draw(t, "prio")), time.Minute))
				case 1:
					st.Put(runningJob("team-a", name, "batch", "team-a-cq", 1, 1, time.Minute))
				case 2:
					st.Delete(world.KindWorkload, world.Key{Namespace: "team-a", Name: "job-" + name + "-x1y2z"})
				}
			}
			s := st.Snapshot()
			got := listWorkloads(last, look{snap: s, now: now, explain: explain}, filter.Parse(text, workloadFields()), o)
			want := listed(s, text, o)
			if diff := cmp.Diff(names(want.rows), names(got.rows)); diff != "" {
				t.Fatal(diff)
			}
			last = got
		}
	})
}

func names(ws []*world.Workload) []string {
	var out []string
	for _, w := range ws {
		out = append(out, w.Key.String()+" "+w.State.String())
	}
	return out
}

func TestASCIIDrawsNothingElse(t *testing.T) {
	all := maps.Clone(scripts)
	maps.Copy(all, records)
	for name, script := range all {
		st, c := scene()
		s := newStage(t, st, c, 100, 30)
		th, err := theme.New(theme.Dark, true, true)
		if err != nil {
			t.Fatal(err)
		}
		s.root.theme = th
		script(s)
		for _, r := range s.frame() {
			if r > 0x7e {
				t.Errorf("%s draws %q:\n%s", name, r, s.frame())
				break
			}
		}
	}
}

func TestMonoHasNoColour(t *testing.T) {
	st, c := scene()
	s := newStage(t, st, c, 100, 30)
	th, err := theme.New(theme.Contrast, true, false)
	if err != nil {
		t.Fatal(err)
	}
	s.root.theme = th
	for _, k := range []string{"1", "2", "3", "4", "?"} {
		s.press(k)
		f := s.root.View()
		for _, seq := range strings.Split(f, "\x1b[")[1:] {
			code, _, _ := strings.Cut(seq, "m")
			for _, n := range strings.Split(code, ";") {
				if len(n) > 1 {
					t.Fatalf("colour %s with NO_COLOR", code)
				}
			}
		}
	}
}

// TestHostileStrings: what a cluster or a server says reaches the terminal as
// letters.
func TestHostileStrings(t *testing.T) {
	st, c := scene()
	evil := "\x1b]0;owned\x07\x1b[2J\u202e\u200b\r\n\tpw: \u0000"
	w := pendingJob("team-a", text.Clean(evil), "batch", 900, time.Minute)
	w.Owner.Name = text.Clean(evil)
	st.Put(w)
	s := newStage(t, st, c, 90, 30)
	s.desk.plan = holdPlan()
	s.desk.plan.Notes = []string{evil}
	s.desk.plan.Warnings = []string{evil}
	s.desk.plan.Diff = []string{"+ " + evil}
	s.desk.plan.Targets[0].Change = evil
	s.desk.detail.YAML = []string{evil, strings.Repeat("x", 500)}
	s.desk.detail.Timeline[0].Text = evil
	s.root.opt.Log = func() []string { return []string{evil} }
	for _, keys := range [][]string{{"4"}, {"enter"}, {"y"}, {"1"}, {"f"}, {"6"}, {"2", "down", "down", "down", "down", "H", "enter"}} {
		s.press(keys...)
		if err := checkFrame(s.root.View(), 90, 30); err != nil {
			t.Errorf("after %v: %v", keys, err)
		}
	}
}

func TestThemes(t *testing.T) {
	if _, err := theme.New("pink", false, false); err == nil || !strings.Contains(err.Error(), "contrast") {
		t.Errorf("an unknown theme: %v", err)
	}
}

func TestFormats(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 42 * time.Second: "42s", 38 * time.Minute: "38m", 2*time.Hour + 10*time.Minute: "2h10m", 2 * time.Hour: "2h",
		76 * time.Hour: "3d4h", 24 * 12 * time.Hour: "12d", -time.Minute: "0s",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 12400: "12,400", 1234567: "1,234,567", -1200: "-1,200"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %s, want %s", n, got, want)
		}
	}
}

// A list that is longer than the screen says which of its rows are seen.
func TestWhichRowsAreSeen(t *testing.T) {
	s := begin(t, 80, 16)
	for i := range 20 {
		s.store.Put(pendingJob("team-a", fmt.Sprintf("more-%02d", i), "batch", 1, time.Hour))
	}
	s.refresh()
	s.press("4").sees("rows 1 to 7 of 31, by").press("G").sees("rows 25 to 31 of 31")
	s.press("/").typeText("more-0").press("enter").sees("rows 1 to 6 of 10 of 31 Workloads")
	s.press("esc", "/").typeText("more-03").press("enter").sees("1 of 31 Workloads").seesNot("rows ")
	s = begin(t, 80, 16)
	s.press("2").sees("nvidia.com/gpu a100, 1 of 2 (f: next), rows 1 to 7 of 12")
}
