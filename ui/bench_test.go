package ui

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
)

// crowd is a stage with n Workloads on its screen.
func crowd(t failer, n int) *stage {
	st, c := scene()
	for i := range n {
		ns := fmt.Sprintf("team-%c", 'a'+i%3)
		w := pendingJob(ns, fmt.Sprintf("job-%06d", i), "batch", int32(i%7), time.Duration(i)*time.Second)
		if i%3 == 0 {
			w = runningJob(ns, fmt.Sprintf("job-%06d", i), "batch", "team-a-cq", int32(i%7), 1, time.Duration(i)*time.Second)
		}
		st.Put(w)
	}
	s := newStage(t, st, c, 120, 50)
	s.press("4")
	return s
}

const many = 100_000

func BenchmarkFrame(b *testing.B) {
	s := crowd(b, many)
	b.ReportAllocs()
	for b.Loop() {
		_ = s.root.View()
	}
}

func BenchmarkKeyAndFrame(b *testing.B) {
	s := crowd(b, many)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.press([]string{"down", "up", "pgdown", "pgup"}[i%4])
		_ = s.root.View()
	}
}

func BenchmarkList(b *testing.B) {
	s := crowd(b, many)
	for _, text := range []string{"", "job-0001", "ns:team-a !job-1", "jb0001", "class:quota"} {
		b.Run("filter="+text, func(b *testing.B) {
			for b.Loop() {
				listed(s.root.live, text, order{})
			}
		})
	}
}

// The rows of what a cluster is set up with are made from all Workloads.
func BenchmarkConfigRows(b *testing.B) {
	l := look{snap: crowd(b, many).root.live, now: now}
	b.Run("flavors", func(b *testing.B) {
		for b.Loop() {
			flavorRows(l)
		}
	})
	b.Run("checks", func(b *testing.B) {
		for b.Loop() {
			checkRows(l)
		}
	})
	b.Run("priorities", func(b *testing.B) {
		for b.Loop() {
			classRows(l)
		}
	})
}

// listed is the list of Workloads made anew.
func listed(s *store.Snapshot, text string, o order) listing[*world.Workload] {
	return listWorkloads(listing[*world.Workload]{}, look{snap: s, now: now, explain: explain}, filter.Parse(text, workloadFields()), o)
}

// BenchmarkListAgain is what a refresh costs when a few hundred Workloads changed.
func BenchmarkListAgain(b *testing.B) {
	s := crowd(b, many)
	last := listed(s.root.live, "", order{})
	for i := range 300 {
		s.store.Put(pendingJob("team-a", fmt.Sprintf("job-%06d", i*101), "batch", 3, time.Minute))
	}
	snap := s.store.Snapshot()
	for b.Loop() {
		listWorkloads(last, look{snap: snap, now: now, explain: explain}, filter.Query{}, order{})
	}
}

// BenchmarkLook is what the glance costs outside the drawing loop, and what its curves
// cost, with really made explanations.
func BenchmarkLook(b *testing.B) {
	s := crowd(b, many)
	b.Run("look", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			takeLook(s.root.live, now, explain)
		}
	})
	b.Run("sample", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			health.SLOOf(s.root.live, now)
		}
	})
	b.Run("frame", func(b *testing.B) {
		s.press("1")
		b.ReportAllocs()
		for b.Loop() {
			_ = s.root.View()
		}
	})
}

// BenchmarkChains makes the list of chains in which nine of ten Workloads are.
func BenchmarkChains(b *testing.B) {
	st, _ := scene()
	for i := range many {
		w := pendingJob("team-a", fmt.Sprintf("job-%06d", i), "batch", int32(i%7), time.Duration(i)*time.Second)
		if i%10 != 0 {
			preemptedBy(w, types.UID(fmt.Sprintf("uid-team-a-job-job-%06d-x1y2z", i-i%10)), "InClusterQueue", "team-a-cq", time.Duration(i)*time.Second)
		}
		st.Put(w)
	}
	l := look{snap: st.Snapshot(), now: now}
	for _, text := range []string{"", "state:waiting job-0001"} {
		b.Run("filter="+text, func(b *testing.B) {
			for b.Loop() {
				listChains(true, nil)(listing[chainRow]{}, l, filter.Parse(text, []string{"state"}), order{})
			}
		})
	}
}

func BenchmarkCohortsFrame(b *testing.B) {
	st, c := scene()
	for i := range 1000 {
		st.Put(clusterQueue(fmt.Sprintf("cq-%04d", i), fmt.Sprintf("cohort-%d", i%20), 8))
	}
	s := newStage(b, st, c, 120, 50)
	b.ReportAllocs()
	for b.Loop() {
		_ = s.root.View()
	}
}

// TestFrameBudget: a frame costs as much with many Workloads as with few, and
// not more than a fixed number of allocations.
func TestFrameBudget(t *testing.T) {
	const budget = 1500
	small, big := crowd(t, 100), crowd(t, 20_000)
	a := testing.AllocsPerRun(20, func() { _ = small.root.View() })
	z := testing.AllocsPerRun(20, func() { _ = big.root.View() })
	if z > budget || z > a*1.2+50 {
		t.Errorf("a frame allocates %.0f times, with few Workloads %.0f; the budget is %d", z, a, budget)
	}
}

// BenchmarkPreviewFrame is what a frame costs of a preview in which something
// happens to very many.
func BenchmarkPreviewFrame(b *testing.B) {
	const n = 10_000
	st, c := scene()
	s := newStage(b, st, c, 120, 50)
	r := quietImpact(st.Snapshot())
	for i := range n {
		w := fated("team-a", fmt.Sprintf("job-%06d", i), "team-a-cq", int32(i%7))
		r.Preempted = append(r.Preempted, impact.Preemption{Victim: w, Preemptor: fated("team-b", fmt.Sprintf("by-%06d", i/3), "team-b-cq", 9), Reason: "InCohortReclamation", Policy: "reclaimWithinCohort: Any", Runs: true, Certain: i%2 == 0})
		r.Admitted = append(r.Admitted, impact.Admission{Workload: w, Certain: i%2 == 0})
	}
	s.desk.plan, s.desk.impact = policyPlan(), r
	s.onTeamA().press("e")
	for _, all := range []string{"few", "all"} {
		b.Run(all+" names", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = s.root.View()
			}
		})
		s.press("tab")
	}
}
