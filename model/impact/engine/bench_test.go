package engine

import (
	"context"
	"fmt"
	"runtime"
	"testing"

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

// BenchmarkRun is a whole run. first/ms is the time until all heads were tried
// once after the change, heap/MiB what the run holds then beyond the objects.
func BenchmarkRun(b *testing.B) {
	for _, size := range []struct{ queues, workloads int }{{10, 500}, {100, 5_000}, {1_000, 50_000}} {
		for name, edit := range map[string]func(*scene) []Change{
			"one": func(s *scene) []Change { return s.everywhere()[:1] },
			"all": (*scene).everywhere,
		} {
			b.Run(fmt.Sprintf("%s of %d queues, %d Workloads", name, size.queues, size.workloads), func(b *testing.B) {
				s := bigScene(size.queues, size.workloads)
				changes := edit(s)
				var before, at runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				cycles := 0
				for b.Loop() {
					out, err := Run(context.Background(), s.Objects, changes, Modes(1)[0], Options{At: noon})
					if err != nil {
						b.Fatal(err)
					}
					cycles = out.Cycles
				}
				runtime.ReadMemStats(&at)
				b.ReportMetric(float64(cycles), "cycles")
			})
		}
	}
}
