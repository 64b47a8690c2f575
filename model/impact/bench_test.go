package impact

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/impact/worker"
)

// large is a cluster of so many ClusterQueues, ten to a cohort, with 50 Workloads
// each, of which 10 run.
func large(queues int) *scene {
	s := newScene()
	for i := range queues {
		q := fmt.Sprintf("q%04d", i)
		s.queue(q, fmt.Sprintf("pool%d", i/10), 10, within(kueue.PreemptionPolicyLowerPriority))
		for j := range 50 {
			w := s.job(fmt.Sprintf("%s-%02d", q, j), q, 1, int32(j%3))
			if j < 10 {
				admit(w, q)
			} else {
				set(w, kueue.WorkloadQuotaReserved, "False", "Pending", "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 1 more needed")
			}
		}
	}
	return s
}

// What is done around the runs: edits, packing one tree, the snapshot after,
// explanations of those that wait.
func BenchmarkAround(b *testing.B) {
	for _, queues := range []int{100, 1000} {
		s := large(queues)
		q := s.question(s.edited("q0000", nominal(20)))
		b.Run(fmt.Sprint(queues), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				outs := make([]engine.Outcome, len(engine.Modes(1)))
				if r := Preview(b.Context(), &script{outs: outs}, q, nil); r.NotComputed != "" {
					b.Fatal(r.NotComputed)
				}
			}
		})
	}
}

// A change that concerns every tree at once, as one of a flavor does.
func BenchmarkAroundAll(b *testing.B) {
	s := large(1000)
	q := s.question(editOf(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "a100"}}))
	b.ReportAllocs()
	for b.Loop() {
		outs := make([]engine.Outcome, len(engine.Modes(1)))
		if r := Preview(b.Context(), &script{outs: outs}, q, nil); r.NotComputed != "" {
			b.Fatal(r.NotComputed)
		}
	}
}

// A whole preview of an edit that touches one of a hundred trees. first-ms is the
// time until every head there was tried with the edit.
func BenchmarkPreviewOfOneTree(b *testing.B) {
	s := large(1000)
	q := s.question(s.edited("q0000", nominal(20)))
	var first time.Duration
	runs := 0
	for b.Loop() {
		began, edited := time.Now(), 0
		r := Preview(b.Context(), worker.InProcess{}, q, func(p Progress) {
			if p.Edited && p.Timing == 1 {
				if edited++; edited == 2 { // the first is said before the cycle
					first += time.Since(began)
				}
			}
		})
		if r.NotComputed != "" {
			b.Fatal(r.NotComputed)
		}
		runs++
	}
	b.ReportMetric(float64(first.Milliseconds())/float64(runs), "first-ms")
}
