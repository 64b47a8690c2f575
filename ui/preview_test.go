package ui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// A bad policy is seen before it does anything, and is left alone.
func TestBadPolicyIsSeenBeforeTheQuestion(t *testing.T) {
	s := begin(t, 80, 24)
	s.desk.plan, s.desk.impact = policyPlan(), burst(s.store.Snapshot())
	s.desk.impactConfirm = actions.Confirm{Level: actions.ConfirmName, Expects: "team-a-cq"}
	s.onTeamA().press("enter").sees("Cohorts › team-a-cq")
	s.press("e").sees("Edit ClusterQueue team-a-cq: PREEMPTS 3 to 5, admits 2 to 4", "team-b/urgent-3 (prio 900, team-b-cq)", "by team-a/train-1 (prio 500, team-a-cq)", "Type team-a-cq to apply this edit:")
	s.pass(time.Second)
	s.typeText("y").press("enter").sees("Not done: type team-a-cq first")
	for range 20 {
		s.press("pgdown")
	}
	s.sees("+    reclaimWithinCohort: Any")
	s.press("esc").sees("Nothing is changed.", "Cohorts › team-a-cq")
	if len(s.desk.executed) != 0 || s.desk.closed != 1 {
		t.Errorf("executed %d times, draft closed %d times", len(s.desk.executed), s.desk.closed)
	}
}

// What is executed is the plan with the preview that was on the screen, and the
// question is the one that fits the preview.
func TestPreviewedPlanIsTheOneThatIsDone(t *testing.T) {
	s := begin(t, 100, 30)
	s.desk.plan, s.desk.impact = changing(holdPlan()), quietImpact(s.store.Snapshot())
	s.desk.impactConfirm = actions.Confirm{Level: actions.ConfirmContext, Expects: "prod-eu 3"}
	s.desk.result = done(holdPlan())
	s.onTeamA().press("H", "enter").sees(`Type "prod-eu 3"`)
	s.pass(time.Second)
	s.typeText("prod-eu 3").press("enter").sees("done, and seen to be taken up")
	if len(s.desk.ran) != 1 || s.desk.ran[0].Impact != s.desk.impact {
		t.Errorf("executed %d plans, not the one with the preview", len(s.desk.ran))
	}
	s.sees("Hold ClusterQueue team-a-cq: done")
}

func TestProgressOfAPreview(t *testing.T) {
	s := begin(t, 80, 24)
	s.desk.plan, s.desk.impact = policyPlan(), burst(s.store.Snapshot())
	s.desk.computing = func(_ context.Context, progress func(impact.Progress)) {
		s.pass(pace)
		s.sees("Asking Kueue's own scheduler", "getting the cluster's state together", "s: go on without the answer")
		progress(impact.Progress{Timing: 1, Timings: 8, Progress: engine.Progress{Cycles: 1}})
		s.seesNot("timing 1").pass(pace)
		s.sees("timing 1 of 8, 1 cycle, still without the change")
		progress(impact.Progress{Timing: 2, Timings: 8, Progress: engine.Progress{Edited: true, Cycles: 35, Admitted: 12, Preempted: 3}})
		s.pass(3 * time.Second)
		s.sees("timing 2 of 8, 35 cycles, admits 12, preempts 3 so far (3s)")
	}
	s.onTeamA().press("e").sees("WHAT KUEUE WILL DO: PREEMPTS 3 to 5")
	s.pass(time.Minute)
	if n := len(s.timers); n > 2 {
		t.Errorf("%d timers are left: the screen goes on looking for progress", n)
	}
}

// The computation ends with the dialog, and what it still says is not heard.
func TestPreviewIsLeft(t *testing.T) {
	tests := map[string]struct {
		keys  []string
		sees  []string
		done  bool // the dialog is gone
		draft int  // times that the draft was removed
	}{
		"cancel":     {[]string{"esc"}, []string{"Discarded. Nothing is changed."}, true, 1},
		"skip":       {[]string{"s"}, []string{"who is preempted is NOT KNOWN", "WHAT KUEUE WILL DO: NOT COMPUTED", "You went on without the preview", "Type y and Enter"}, false, 0},
		"edit again": {[]string{"ctrl+e"}, []string{"WHAT KUEUE WILL DO: PREEMPTS 3"}, false, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 100, 30)
			s.desk.plan, s.desk.impact = policyPlan(), burst(s.store.Snapshot())
			s.desk.computing = func(ctx context.Context, _ func(impact.Progress)) {
				s.desk.computing = nil
				s.press(tc.keys...)
				if ctx.Err() == nil {
					t.Error("the computation goes on")
				}
			}
			s.onTeamA().press("e").sees(tc.sees...)
			if gone := s.root.dialog() == nil; gone != tc.done {
				t.Errorf("the dialog is gone: %v, want %v:\n%s", gone, tc.done, s.frame())
			}
			if s.desk.closed != tc.draft {
				t.Errorf("the draft was removed %d times, want %d", s.desk.closed, tc.draft)
			}
		})
	}
}

// Who went on without a preview can still have one, and who has one can have a
// newer one: of the plan as it was made.
func TestPreviewAgain(t *testing.T) {
	s := begin(t, 100, 30)
	s.desk.plan, s.desk.impact = policyPlan(), quietImpact(s.store.Snapshot())
	s.onTeamA().press("e").sees("Nobody is admitted, preempted or evicted").seesNot("old: ctrl+p")
	s.pass(3 * time.Minute)
	s.sees("which is 3m old:")
	s.desk.impact = burst(s.store.Snapshot())
	s.press("ctrl+p").sees("PREEMPTS 3 to 5")
	if diff := cmp.Diff([]actions.Plan{policyPlan(), policyPlan()}, s.desk.previewed); diff != "" {
		t.Errorf("the plans that were previewed (-want +got):\n%s", diff)
	}
}

// A plan that changes nothing for Kueue's scheduler is asked about at once.
func TestNothingToPreview(t *testing.T) {
	s := begin(t, 100, 30)
	s.desk.plan = editPlan()
	s.onTeamA().press("e").sees("Type y and Enter").seesNot("WHAT KUEUE WILL DO").seesNot("ctrl+p")
	s.press("esc")
	s.desk.plan.Unknown = []string{actions.NotComputed, "ClusterQueue/team-a-cq cannot be read for a preview: no such version"}
	s.press("e").sees("WHAT KUEUE WILL DO: NOT COMPUTED", "see UNKNOWN", "no such version").seesNot(actions.NotComputed)
	if len(s.desk.previewed) != 0 {
		t.Error("a preview was asked for")
	}
}

// A console that cannot compute says so, and not that nothing happens.
func TestNobodyToAsk(t *testing.T) {
	s := begin(t, 100, 30)
	s.desk.plan = policyPlan()
	s.onTeamA().press("e").sees("WHAT KUEUE WILL DO: NOT COMPUTED", "Kueue's scheduler cannot be asked here.").seesNot("Nobody is")
}

func TestAllNames(t *testing.T) {
	s := begin(t, 100, 60)
	r := quietImpact(s.store.Snapshot())
	for i := range 40 {
		r.Admitted = append(r.Admitted, impact.Admission{Workload: fated("team-a", "many-"+string(rune('a'+i%26))+string(rune('a'+i/26)), "team-a-cq", 5), Certain: true})
	}
	s.desk.plan, s.desk.impact = policyPlan(), r
	s.onTeamA().press("e").sees("ADMITTED  40 Workloads", "many-ca", "and 37 more (Tab: name them)").seesNot("many-nb")
	s.press("tab").sees("many-nb").seesNot("more (Tab").press("tab").seesNot("many-nb")
}

func TestHeadline(t *testing.T) {
	w := func(n string) impact.Workload { return fated("ns", n, "cq", 1) }
	pre := func(victim, by string, certain bool) impact.Preemption {
		return impact.Preemption{Victim: w(victim), Preemptor: w(by), Runs: true, Certain: certain}
	}
	tests := map[string]struct {
		r    impact.Result
		want string
	}{
		"nothing":                      {impact.Result{}, "nobody is admitted or preempted"},
		"unknown":                      {impact.Result{NotComputed: "creates a cycle"}, "who is preempted is NOT KNOWN"},
		"all certain":                  {impact.Result{Preempted: []impact.Preemption{pre("a", "x", true), pre("b", "x", true)}}, "PREEMPTS 2"},
		"one victim of two, as may be": {impact.Result{Preempted: []impact.Preemption{pre("a", "x", false), pre("a", "y", false)}}, "PREEMPTS up to 1"},
		"some certain":                 {impact.Result{Preempted: []impact.Preemption{pre("a", "x", true), pre("b", "x", false)}, Admitted: []impact.Admission{{Workload: w("x"), Certain: true}}}, "PREEMPTS 1 to 2, admits 1"},
		"cut":                          {impact.Result{Bounded: "cut", Preempted: []impact.Preemption{pre("a", "x", true), pre("b", "x", false)}, Admitted: []impact.Admission{{Workload: w("x")}}}, "PREEMPTS at least 1, perhaps admits 1"},
		"not at rest":                  {impact.Result{Restless: []world.Ref{{}}, Preempted: []impact.Preemption{pre("a", "x", false)}, Evicted: []impact.Eviction{{Workload: w("c")}}}, "perhaps PREEMPTS 1, EVICTS 1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := foretell(&actions.Plan{Impact: &tc.r}).headline(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// randomImpact is a preview in which anything may happen to anybody, certain or
// not, with names as a cluster may have them.
func randomImpact(t *rapid.T, s *store.Snapshot) *impact.Result {
	r := quietImpact(s)
	n := func(what string, most int) int { return rapid.IntRange(0, most).Draw(t, what) }
	yes := func(what string) bool { return rapid.Bool().Draw(t, what) }
	odd := func() string { return rapid.SampledFrom(hostileRaw).Draw(t, "odd") }
	id := 0
	w := func() impact.Workload {
		id++
		x := fated("ns", "j", odd(), int32(n("prio", 9)))
		x.Job, x.Ref.Name = mark(id), mark(id)
		return x
	}
	for range n("preempted", 5) {
		r.Preempted = append(r.Preempted, impact.Preemption{Victim: w(), Preemptor: w(), Reason: rapid.SampledFrom([]string{"InClusterQueue", "InCohortReclamation", odd()}).Draw(t, "reason"), Policy: odd(), Runs: yes("runs"), Back: yes("back"), Certain: yes("certain")})
	}
	for range n("evicted", 5) {
		r.Evicted = append(r.Evicted, impact.Eviction{Workload: w(), Reason: odd(), Running: yes("runs"), Back: yes("back"), Certain: yes("certain")})
	}
	for range n("admitted", 5) {
		r.Admitted = append(r.Admitted, impact.Admission{Workload: w(), Flavors: map[string]string{"cpu": odd()}, Borrows: yes("borrows"), Checks: []string{odd()}, Asked: 3, Certain: yes("certain")})
	}
	for range n("changed", 5) {
		r.Waiting.Changed = append(r.Waiting.Changed, impact.Change{Workload: w(), Before: "quota: " + odd(), After: odd(), Certain: yes("certain")})
	}
	for range n("never", 3) {
		r.NeverFits = append(r.NeverFits, w())
	}
	if yes("doubts") {
		r.Unknown, r.Bounded, r.ClusterRuns = []string{odd(), odd()}, odd(), odd()
		r.Restless = []world.Ref{{Key: world.Key{Name: odd()}}}
		r.Queues = []impact.Queue{{Ref: queueRef(odd()), ActiveBefore: true, Why: odd()}}
	}
	if yes("none") {
		r.NotComputed = odd()
	}
	return r
}

// hostileRaw are strings that nobody has cleaned.
var hostileRaw = append(slices.Clone(hostileNames), "\x1b[31mred\x1b[0m\x07", "a\u202eb\u200bc", "two\nlines\r", "\xff\xfe")

// mark is a name that nothing else has.
func mark(id int) string { return "mark" + strings.Repeat("i", id) + "x" }

// What depends on timing stands below its heading and what is certain above it,
// and everybody is named once.
func TestCertainIsNeverMixed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st, c := scene()
		s := newStage(t, st, c, rapid.SampledFrom([]int{80, 100, 160}).Draw(t, "w"), 40)
		r := randomImpact(t, st.Snapshot())
		r.NotComputed = ""
		p := policyPlan()
		p.Impact = r
		d := newPlan(s.root.env(), p, nil)
		d.everybody = true
		all := ""
		w, _ := inside(s.root.env())
		for _, l := range d.doc(s.root.env(), w) {
			all += strings.TrimSpace(l.Text) + " "
		}
		border := strings.Index(all, "DEPENDS ON TIMING")
		if len(r.Restless) > 0 {
			border = strings.Index(all, "NOT CERTAIN: ")
		}
		check := func(w impact.Workload, certain bool) {
			name := w.Ref.Namespace + "/" + w.Job + " "
			if n := strings.Count(all, name); n != 1 {
				t.Fatalf("%s is named %d times:\n%s", name, n, all)
			}
			if above := border < 0 || strings.Index(all, name) < border; above != certain {
				t.Fatalf("%s is certain: %v, stands above the border: %v:\n%s", name, certain, above, all)
			}
		}
		for _, x := range r.Preempted {
			check(x.Victim, x.Certain)
			check(x.Preemptor, x.Certain)
		}
		for _, x := range r.Evicted {
			check(x.Workload, x.Certain)
		}
		for _, x := range r.Admitted {
			check(x.Workload, x.Certain)
		}
		for _, x := range r.Waiting.Changed {
			check(x.Workload, x.Certain)
		}
		for _, x := range r.NeverFits {
			check(x, true)
		}
	})
}

// Those that a drain evicts are named once, and a preview that does not know them
// all does not hide it.
func TestDrainNamesItsVictimsOnce(t *testing.T) {
	s := begin(t, 100, 40)
	previews["impact-drain"](s)
	if n := strings.Count(s.frame(), "team-a/big-1 "); n != 1 {
		t.Errorf("team-a/big-1 is named %d times:\n%s", n, s.frame())
	}
	s.seesNot("by the preview only").press("esc")
	s.desk.impact.Evicted = s.desk.impact.Evicted[:1]
	s.press("D", "enter").sees("by the preview only 1 of these 2 lose their quota")
}
