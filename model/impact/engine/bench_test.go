package engine

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// bigScene has queues in cohorts of ten, all full, half of the Workloads running,
// and no policy that lets anybody preempt.
func bigScene(queues, workloads int) *scene {
	s := newScene()
	per := workloads / queues
	for i := range queues {
		s.queue(fmt.Sprintf("q%04d", i), fmt.Sprintf("co%d", i/10), int64(per/2))
	}
	for i := range workloads {
		q := fmt.Sprintf("q%04d", i%queues)
		if i < workloads/2 {
			s.running(fmt.Sprintf("r%05d", i), q, 1, int32(i/queues%3))
		} else {
			s.job(fmt.Sprintf("p%05d", i), q, 1, int32(i/queues%3))
		}
	}
	return s
}

// everywhere changes the policy of every queue, so that all heads preempt.
func (s *scene) everywhere() []Change {
	var out []Change
	for _, q := range s.ClusterQueues {
		out = append(out, s.edit(q.Name, func(q *kueue.ClusterQueue) {
			q.Spec.Preemption = &kueue.ClusterQueuePreemption{WithinClusterQueue: kueue.PreemptionPolicyLowerPriority, ReclaimWithinCohort: kueue.PreemptionPolicyNever}
		}))
	}
	return out
}

// BenchmarkRun is a whole run. first-ms is the time until all heads were tried once
// after the change, heap-MiB what is live then beyond the objects.
func BenchmarkRun(b *testing.B) {
	for _, size := range []struct{ queues, workloads int }{{10, 500}, {100, 5_000}, {1_000, 50_000}} {
		for name, edit := range map[string]func(*scene) []Change{
			"one": func(s *scene) []Change { return s.everywhere()[:1] },
			"all": (*scene).everywhere,
		} {
			b.Run(fmt.Sprintf("%s of %d queues, %d Workloads", name, size.queues, size.workloads), func(b *testing.B) {
				s := bigScene(size.queues, size.workloads)
				changes := edit(s)
				var first time.Duration
				runs, cycles := 0, 0
				for b.Loop() {
					began := time.Now()
					out := s.untilFirst(b, changes, func() { first += time.Since(began) })
					runs, cycles = runs+1, out.Cycles
				}
				b.ReportMetric(float64(first.Milliseconds())/float64(runs), "first-ms")
				b.ReportMetric(float64(cycles), "cycles")
				if size.workloads < 50_000 || name == "one" {
					before := live()
					s.untilFirst(b, changes, func() { b.ReportMetric(float64(live()-before)/(1<<20), "heap-MiB") })
				}
			})
		}
	}
}

// untilFirst runs the changes and calls first when every head was tried once.
func (s *scene) untilFirst(b *testing.B, changes []Change, first func()) Outcome {
	b.Helper()
	edited := 0
	out, err := Run(context.Background(), s.Objects, changes, Modes(1)[0], Options{At: noon, Progress: func(p Progress) {
		if p.Edited {
			if edited++; edited == 2 { // the first is said before the cycle
				first()
			}
		}
	}})
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// live is how many bytes are in use.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
