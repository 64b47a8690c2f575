package impact

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/world"
)

// Outcomes are written by hand here: what a run says, and what is made of it.

func key(name string) world.Key { return world.Key{Namespace: "ns", Name: name} }

// left is the Workload as a run leaves it.
func left(w *kueue.Workload, change ...func(*kueue.Workload)) *kueue.Workload {
	o := w.DeepCopy()
	for _, c := range change {
		c(o)
	}
	return o
}

func admitIn(queue string) func(*kueue.Workload) {
	return func(w *kueue.Workload) { admit(w, queue) }
}

// away is how a preempted Workload is left that waits again.
func away(w *kueue.Workload) {
	w.Status.Admission = nil
	set(w, kueue.WorkloadQuotaReserved, metav1.ConditionFalse, "Pending", "Preempted to accommodate a workload (UID: uid-Workload-big, JobUID: job-big) due to prioritization in the ClusterQueue")
	set(w, kueue.WorkloadAdmitted, metav1.ConditionFalse, "NoReservation", "The workload has no reservation")
	set(w, kueue.WorkloadEvicted, metav1.ConditionTrue, "Preempted", "Preempted to accommodate a workload")
	set(w, kueue.WorkloadRequeued, metav1.ConditionTrue, "Preempted", "Preempted to accommodate a workload")
}

func preempts(victim, by string) engine.Preemption {
	return engine.Preemption{Victim: key(victim), Preemptor: key(by), PreemptorUID: types.UID("uid-Workload-" + by), Reason: "InClusterQueue"}
}

// The table in the docstring of Result, line by line.
func TestStepsAndEnds(t *testing.T) {
	s := newScene()
	s.queue("a", "", 4, within(kueue.PreemptionPolicyLowerPriority))
	s.job("big", "a", 1, 9)
	edit := s.edited("a", nominal(5))
	runs, waits := s.running("runs", "a", 1, 1), s.job("waits", "a", 1, 1)
	type line struct{ Runs, Back, Again, Admitted, Preempted bool }
	tests := map[string]struct {
		who  *kueue.Workload
		out  engine.Outcome
		want line
	}{
		"runs, preempted, waits": {runs, engine.Outcome{Preemptions: []engine.Preemption{preempts("runs", "big")}, Changed: []*kueue.Workload{left(runs, away)}}, line{Runs: true, Preempted: true}},
		"runs, preempted, runs again": {runs, engine.Outcome{Preemptions: []engine.Preemption{preempts("runs", "big")}, Changed: []*kueue.Workload{left(runs, away, admitIn("a"), func(w *kueue.Workload) {
			set(w, kueue.WorkloadEvicted, metav1.ConditionFalse, "QuotaReserved", "Previously: x")
		})}}, line{Runs: true, Back: true, Again: true, Admitted: true, Preempted: true}},
		"waits, admitted":                       {waits, engine.Outcome{Changed: []*kueue.Workload{left(waits, admitIn("a"))}}, line{Admitted: true}},
		"waits, admitted, preempted":            {waits, engine.Outcome{Preemptions: []engine.Preemption{preempts("waits", "big")}, Changed: []*kueue.Workload{left(waits, away)}}, line{Preempted: true}},
		"waits, admitted, preempted, and again": {waits, engine.Outcome{Preemptions: []engine.Preemption{preempts("waits", "big")}, Changed: []*kueue.Workload{left(waits, admitIn("a"))}}, line{Preempted: true, Back: true, Admitted: true}},
		"still being evicted":                   {runs, engine.Outcome{Bound: "cut", Preemptions: []engine.Preemption{preempts("runs", "big")}, Changed: []*kueue.Workload{left(runs, func(w *kueue.Workload) { set(w, kueue.WorkloadEvicted, metav1.ConditionTrue, "Preempted", "x") })}}, line{Runs: true, Preempted: true}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, _ := s.play([]engine.Outcome{tc.out}, edit)
			var got line
			for _, p := range r.Preempted {
				got.Preempted, got.Runs, got.Back = true, p.Runs, p.Back
			}
			for _, a := range r.Admitted {
				got.Admitted, got.Again = true, a.Again
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			waiting := r.After.WorkloadByKey(key(tc.who.Name)).State == world.Pending
			if waiting == (got.Admitted || got.Runs && !got.Preempted) && name != "still being evicted" {
				t.Errorf("waits at the end: %v; admitted: %v", waiting, got.Admitted)
			}
		})
	}
}

func TestWhatAllAgreeOnIsCertain(t *testing.T) {
	s := newScene()
	s.queue("a", "", 4, within(kueue.PreemptionPolicyLowerPriority))
	s.job("big", "a", 1, 9)
	x, y := s.running("x", "a", 1, 1), s.running("y", "a", 1, 2)
	w := s.job("w", "a", 1, 1)
	edit := s.edited("a", nominal(5))
	always, sometimes := preempts("x", "big"), preempts("y", "big")
	one := engine.Outcome{Preemptions: []engine.Preemption{always, sometimes, always}, Changed: []*kueue.Workload{left(x, away), left(y, away), left(w, admitIn("a"))}}
	two := engine.Outcome{Preemptions: []engine.Preemption{always}, Changed: []*kueue.Workload{left(x, away), left(w, admitIn("a"))}}
	three := engine.Outcome{Preemptions: []engine.Preemption{always}, Changed: []*kueue.Workload{left(x, away)}}
	restless := three
	restless.Restless = []world.Key{key("w")}
	cut := three
	cut.Bound = "after 9 cycles"
	tests := map[string]struct {
		outs []engine.Outcome
		want map[string][]string
	}{
		"two ways":               {[]engine.Outcome{two, one}, map[string][]string{"preempted": {"y by big InClusterQueue?", "x by big InClusterQueue"}, "admitted": {"w"}}},
		"three ways":             {[]engine.Outcome{three, one, two}, map[string][]string{"preempted": {"y by big InClusterQueue?", "x by big InClusterQueue"}, "admitted": {"w?"}}},
		"one moves by itself":    {[]engine.Outcome{two, restless, two}, map[string][]string{"preempted": {"x by big InClusterQueue?"}, "admitted": {"w?"}}},
		"one is cut":             {[]engine.Outcome{two, cut, two}, map[string][]string{"preempted": {"x by big InClusterQueue"}, "admitted": {"w?"}}},
		"all the same":           {[]engine.Outcome{three}, map[string][]string{"preempted": {"x by big InClusterQueue"}}},
		"in the last one only":   {[]engine.Outcome{{}, {}, {}, {}, {}, {}, {}, three}, map[string][]string{"preempted": {"x by big InClusterQueue?"}}},
		"in all but the last":    {[]engine.Outcome{three, three, three, three, three, three, three, {}}, map[string][]string{"preempted": {"x by big InClusterQueue?"}}},
		"nothing happens at all": {[]engine.Outcome{{}}, map[string][]string{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, _ := s.play(tc.outs, edit)
			if d := cmp.Diff(tc.want, names(t, &r)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if r.Timings != len(engine.Modes(1)) || r.NotComputed != "" {
				t.Errorf("%d timings, not computed: %q", r.Timings, r.NotComputed)
			}
			if len(r.Restless) > 0 != (name == "one moves by itself") || (r.Bounded != "") != (name == "one is cut") {
				t.Errorf("restless %v, bounded %q", r.Restless, r.Bounded)
			}
		})
	}
}

// Quota, what is over it, and how many wait are those of the first timing, and
// certain where the others say the same.
func TestNumbersThatDependOnTiming(t *testing.T) {
	s := newScene()
	s.queue("a", "", 1)
	w := s.job("w", "a", 3, 1)
	edit := s.edited("a", nominal(2))
	in, out := engine.Outcome{Changed: []*kueue.Workload{left(w, admitIn("a"))}}, engine.Outcome{}
	r, _ := s.play([]engine.Outcome{in, out}, edit)
	ref := r.Before.ClusterQueue("a").Ref()
	if d := cmp.Diff([]Cell{{Ref: ref, FlavorResource: a100, NominalBefore: 1, NominalAfter: 2, UsedAfter: 3}}, r.Quota); d != "" {
		t.Errorf("quota (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Over{{Ref: ref, FlavorResource: a100, By: 1}}, r.OverQuota); d != "" {
		t.Errorf("over (-want +got):\n%s", d)
	}
	if r.Waiting.Count != 0 || r.Waiting.Certain {
		t.Errorf("%d wait, certain %v", r.Waiting.Count, r.Waiting.Certain)
	}
	if r, _ = s.play([]engine.Outcome{in}, edit); !r.Quota[0].Certain || !r.OverQuota[0].Certain || !r.Waiting.Certain {
		t.Errorf("all timings agree: %+v", r)
	}
	// The use changes in another timing only: the cell is named all the same.
	if r, _ = s.play([]engine.Outcome{out, in}, s.edited("a")); len(r.Quota) != 1 || r.Quota[0].UsedAfter != 0 || r.Quota[0].Certain {
		t.Errorf("quota %+v", r.Quota)
	}
}

func TestAdmissionsDifferInFlavorsAndPods(t *testing.T) {
	s := newScene()
	s.queue("a", "", 9)
	w := s.job("w", "a", 1, 1)
	w.Spec.PodSets[0].Count = 4
	edit := s.edited("a", nominal(10))
	with := func(flavor kueue.ResourceFlavorReference, pods int32) engine.Outcome {
		o := left(w, admitIn("a"))
		o.Status.Admission.PodSetAssignments[0].Count = &pods
		o.Status.Admission.PodSetAssignments[0].Flavors[gpu] = flavor
		return engine.Outcome{Changed: []*kueue.Workload{o}}
	}
	r, _ := s.play([]engine.Outcome{with("a100", 4), with("a100", 3), with("h100", 4)}, edit)
	var got []string
	for _, a := range r.Admitted {
		if a.Certain {
			t.Errorf("certain: %+v", a)
		}
		if a.Asked != 4 {
			t.Errorf("asked for %d pods, not 4", a.Asked)
		}
		got = append(got, flat(a.Flavors)+string('0'+a.Pods))
	}
	if d := cmp.Diff([]string{"nvidia.com/gpu=a100 4", "nvidia.com/gpu=a100 3", "nvidia.com/gpu=h100 4"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestPreemptorOutsideOfTheRun(t *testing.T) {
	s := newScene()
	s.queue("a", "", 9)
	x := s.running("x", "a", 1, 1)
	out := engine.Outcome{Preemptions: []engine.Preemption{{Victim: key("x"), PreemptorUID: "u1", Reason: "InClusterQueue"}, {Victim: key("x"), PreemptorUID: "u2", Reason: "InClusterQueue"}}, Changed: []*kueue.Workload{left(x, away)}}
	r, _ := s.play([]engine.Outcome{out}, s.edited("a", nominal(1)))
	if len(r.Preempted) != 2 || r.Preempted[0].Preemptor.Ref.Name != "" || r.Preempted[0].Preemptor.Ref.UID != "u1" || r.Preempted[0].PolicyHolds != nil || r.Preempted[0].Policy != "" {
		t.Errorf("%+v", r.Preempted)
	}
}

func TestEvictionsInWords(t *testing.T) {
	s := newScene()
	s.queue("a", "", 9)
	s.running("x", "a", 1, 1)
	s.job("waits", "a", 1, 1)
	tests := map[string]struct{ reason, message, want string }{
		"cluster queue":        {"ClusterQueueStopped", "The ClusterQueue is stopped", "ClusterQueue a is drained"},
		"local queue":          {"LocalQueueStopped", "The LocalQueue is stopped", "LocalQueue ns/a is drained"},
		"check":                {"AdmissionCheck", "x", "an admission check asks for another try"},
		"pods":                 {"PodsReadyTimeout", "x", "its pods were not ready in time"},
		"nodes":                {"NodeFailures", "x", "nodes failed"},
		"by hand":              {"Deactivated", "x", "it is deactivated"},
		"by Kueue":             {"DeactivatedDueToRequeuingLimitExceeded", "x", "Kueue deactivates it because of RequeuingLimitExceeded"},
		"flavor":               {"FlavorMigration", "x", "it moves to another flavor"},
		"reservation":          {"Inadmissible", "ClusterQueue a is stopped", "ClusterQueue a is held: its reservation is taken back"},
		"reservation, local":   {"Inadmissible", "LocalQueue a is stopped", "LocalQueue ns/a is held: its reservation is taken back"},
		"reservation, missing": {"Inadmissible", "LocalQueue a is terminating or missing", "its reservation is taken back: LocalQueue a is terminating or missing"},
		"tomorrow's":           {"Sunset\x1b", "", `Sunset\x1b`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out := engine.Outcome{Evictions: []engine.Eviction{
				{Workload: key("x"), Reason: tc.reason, Message: tc.message}, {Workload: key("waits"), Reason: "Deactivated"}, {Workload: key("nobody"), Reason: tc.reason},
			}}
			r, _ := s.play([]engine.Outcome{out}, s.edited("a", nominal(1)))
			if len(r.Evicted) != 1 || r.Evicted[0].Reason != tc.want || !r.Evicted[0].Certain {
				t.Errorf("%+v, want %q", r.Evicted, tc.want)
			}
		})
	}
}

func TestWhatHurtsMostComesFirst(t *testing.T) {
	s := newScene()
	s.queue("a", "", 9, within(kueue.PreemptionPolicyLowerPriority))
	s.job("big", "a", 1, 99)
	var out engine.Outcome
	for _, w := range []*kueue.Workload{s.running("low", "a", 1, 1), s.running("high", "a", 1, 9), s.running("mid", "a", 1, 5)} {
		out.Preemptions = append(out.Preemptions, preempts(w.Name, "big"))
		out.Changed = append(out.Changed, left(w, away))
	}
	s.job("starts", "a", 1, 50) // admitted and preempted
	out.Preemptions = append(out.Preemptions, preempts("starts", "big"))
	for _, w := range []*kueue.Workload{s.running("held", "a", 1, 1), s.running("drained", "a", 1, 3)} {
		out.Evictions = append(out.Evictions, engine.Eviction{Workload: key(w.Name), Reason: "ClusterQueueStopped"})
	}
	reserves := s.job("reserves", "a", 1, 8)
	reserve(reserves, "a")
	out.Evictions = append(out.Evictions, engine.Eviction{Workload: key("reserves"), Reason: "Inadmissible", Message: "ClusterQueue a is stopped"})
	r, _ := s.play([]engine.Outcome{out}, s.edited("a", stop(kueue.HoldAndDrain)))
	want := map[string][]string{
		"preempted": {"high by big InClusterQueue", "mid by big InClusterQueue", "low by big InClusterQueue", "starts by big InClusterQueue"},
		"evicted":   {"drained", "held", "reserves"},
	}
	got := names(t, &r)
	delete(got, "queues")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRunnerFails(t *testing.T) {
	s := newScene()
	s.queue("a", "", 1)
	s.running("x", "a", 1, 1)
	q := s.question(s.edited("a", within(kueue.PreemptionPolicyLowerPriority)))
	out := engine.Outcome{Preemptions: []engine.Preemption{preempts("x", "big")}}
	none := Preview(t.Context(), &script{err: errors.New("it hung")}, q, nil)
	if none.NotComputed != "it hung" || none.Timings != 0 || none.Before != nil || none.After != nil || none.ComputedWith == "" {
		t.Errorf("%+v", none)
	}
	var seen []Progress
	some := Preview(t.Context(), &script{outs: []engine.Outcome{out, out}, err: errors.New("it hung")}, q, func(p Progress) { seen = append(seen, p) })
	if some.NotComputed != "" || some.Timings != 2 || !strings.Contains(some.Bounded, "only 2 of") || !strings.Contains(some.Bounded, "it hung") {
		t.Errorf("%+v", some)
	}
	if len(some.Preempted) != 1 || some.Preempted[0].Certain || some.Waiting.Certain {
		t.Errorf("certain, though only some timings were computed: %+v", some.Preempted)
	}
	n := len(engine.Modes(1))
	want := []Progress{{Timing: 1, Timings: n, Progress: engine.Progress{Cycles: 1}}, {Timing: 2, Timings: n, Progress: engine.Progress{Cycles: 1}}}
	if d := cmp.Diff(want, seen); d != "" {
		t.Errorf("progress (-want +got):\n%s", d)
	}
	if silent := Preview(t.Context(), &script{}, q, nil); silent.NotComputed == "" {
		t.Error("a runner that says nothing is an answer")
	}
}

// What is over quota: debt, a borrowing limit that is passed, and what a spec does
// not have any more. Nobody is stopped for any of it.
func TestOverQuota(t *testing.T) {
	limit := func(n int64) func(*kueue.ClusterQueue) {
		return func(q *kueue.ClusterQueue) {
			q.Spec.ResourceGroups[0].Flavors[0].Resources[0].BorrowingLimit = resource.NewQuantity(n, resource.DecimalSI)
		}
	}
	tests := map[string]struct {
		change func(*kueue.ClusterQueue)
		want   map[string]world.Amount
	}{
		"nothing":            {func(*kueue.ClusterQueue) {}, map[string]world.Amount{}},
		"borrowing limit":    {limit(1), map[string]world.Amount{"ClusterQueue/a": 2}},
		"limit at the use":   {limit(3), map[string]world.Amount{}},
		"out of the cohort":  {into(""), map[string]world.Amount{"ClusterQueue/a": 3}},
		"no quota is enough": {nominal(0), map[string]world.Amount{"ClusterQueue/a": 1, "Cohort/pool": 1}},
		"flavor taken away":  {func(q *kueue.ClusterQueue) { q.Spec.ResourceGroups = nil }, map[string]world.Amount{"ClusterQueue/a": 4, "Cohort/pool": 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.queue("a", "pool", 1)
			s.queue("b", "pool", 3)
			s.running("borrows", "a", 4, 0)
			r, _ := s.play([]engine.Outcome{{}}, s.edited("a", tc.change))
			got := map[string]world.Amount{}
			for _, o := range r.OverQuota {
				got[o.Ref.String()] = o.By
				if o.Before != 0 || !o.Certain {
					t.Errorf("%+v", o)
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestBorrowsInAnyTiming(t *testing.T) {
	s := newScene()
	s.queue("a", "pool", 2)
	s.queue("b", "pool", 2)
	one, two := s.job("one", "a", 2, 0), s.job("two", "a", 1, 0)
	alone := engine.Outcome{Changed: []*kueue.Workload{left(one, admitIn("a"))}}
	both := engine.Outcome{Changed: []*kueue.Workload{left(one, admitIn("a")), left(two, admitIn("a"))}}
	for name, tc := range map[string]struct {
		outs []engine.Outcome
		want map[string]bool
	}{
		"within nominal": {[]engine.Outcome{alone}, map[string]bool{"one": false}},
		"beyond it":      {[]engine.Outcome{both}, map[string]bool{"one": true, "two": true}},
		"in the second":  {[]engine.Outcome{alone, both}, map[string]bool{"one": true, "two": true}},
		"in the first":   {[]engine.Outcome{both, alone}, map[string]bool{"one": true, "two": true}},
	} {
		r, _ := s.play(tc.outs, s.edited("a", within(kueue.PreemptionPolicyLowerPriority)))
		got := map[string]bool{}
		for _, a := range r.Admitted {
			got[a.Workload.Ref.Name] = a.Borrows
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// A queue that is resumed and still admits nothing is not passed over in silence.
func TestStaysInactive(t *testing.T) {
	s := newScene()
	s.put(check("safe", false))
	s.queue("a", "", 1, stop(kueue.Hold), checks("safe"))
	r := s.real(t, s.edited("a", stop(kueue.None)))
	if len(r.Queues) != 1 || r.Queues[0].ActiveBefore || r.Queues[0].ActiveAfter || !strings.Contains(r.Queues[0].Why, "AdmissionCheck safe has no active controller") {
		t.Errorf("%+v", r.Queues)
	}
	q := r.After.ClusterQueue("a")
	c, _ := q.Conditions.Get(world.CondActive)
	if q.Generation != 2 || c.ObservedGeneration != 2 || c.Reason != "AdmissionCheckInactive" {
		t.Errorf("generation %d, condition %+v", q.Generation, c)
	}
}

// Whoever can never fit any more is named once, and only if that is news.
func TestNeverFitsIsNews(t *testing.T) {
	s := newScene()
	s.queue("a", "", 4)
	s.job("always-too-large", "a", 5, 0)
	w := s.job("now-too-large", "a", 4, 0)
	s.job("small", "a", 1, 0)
	other := engine.Outcome{Changed: []*kueue.Workload{left(w, func(w *kueue.Workload) {
		set(w, kueue.WorkloadQuotaReserved, metav1.ConditionFalse, "Pending", "x")
	})}}
	r, _ := s.play([]engine.Outcome{{}, other}, s.edited("a", nominal(3)))
	if d := cmp.Diff(map[string][]string{"never": {"now-too-large"}}, names(t, &r)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
