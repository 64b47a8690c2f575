package engine_test

import (
	"strings"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/file"
	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/impact/pack"
)

// Recorded from a real Kueue, where it went on until the jobs were deleted: with
// the policy below j14 reclaims from j02, j08 preempts j14 and is not admitted,
// and j14 starts again.
func TestBackAndForthEnds(t *testing.T) {
	in, err := file.Open("testdata/back-and-forth.json", time.Date(2026, 12, 2, 16, 30, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	w, left := pack.Of(in.Snapshot, nil)
	if len(left) > 0 {
		t.Fatal(left)
	}
	o, err := w.Objects()
	if err != nil {
		t.Fatal(err)
	}
	var edited *kueue.ClusterQueue
	for _, q := range o.ClusterQueues {
		if q.Name == "t003-q0" {
			edited = q
		}
	}
	to := edited.DeepCopy()
	to.Spec.Preemption = &kueue.ClusterQueuePreemption{
		WithinClusterQueue: kueue.PreemptionPolicyLowerPriority, ReclaimWithinCohort: kueue.PreemptionPolicyAny,
		BorrowWithinCohort: &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyLowerPriority},
	}
	for _, m := range engine.Modes(1) {
		out, err := engine.Run(t.Context(), o, []engine.Change{{Old: edited, New: to}}, m, engine.Options{At: in.Snapshot.At})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.Bound, "again and again") {
			t.Errorf("%s: bound %q after %d preemptions and %d cycles", m.Name, out.Bound, len(out.Preemptions), out.Cycles)
		}
	}
}
