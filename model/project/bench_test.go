package project

import (
	"fmt"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

// templates returns 20 recorded Workloads, half of them admitted, each of another
// shape.
func templates(b *testing.B) []*kueue.Workload {
	var out []*kueue.Workload
	for i := range 20 {
		name := "workload-admitted"
		if i%2 == 1 {
			name = "workload-pending-over-limit"
		}
		w := recorded[kueue.Workload](b, name)
		w.Spec.PodSets[0].Template.Spec.NodeSelector = map[string]string{"pool": fmt.Sprint(i)}
		out = append(out, w)
	}
	return out
}

// stamp names the i-th copy of a template as Kueue would.
func stamp(w *kueue.Workload, i int) {
	w.Name, w.Namespace = fmt.Sprintf("job-train-%d-c2529", i), fmt.Sprintf("team-%d", i%100)
	w.UID = types.UID(fmt.Sprintf("3488c277-fe2d-432c-8340-%012x", i))
	w.ResourceVersion = fmt.Sprint(100_000 + i)
	job := types.UID(fmt.Sprintf("cfe58c22-4868-4cf2-8810-%012x", i))
	w.Labels = map[string]string{jobUIDLabel: string(job)}
	w.OwnerReferences[0].UID, w.OwnerReferences[0].Name = job, fmt.Sprintf("train-%d", i)
}

func BenchmarkWorkload(b *testing.B) {
	all := templates(b)
	for i, w := range all {
		stamp(w, i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		Workload(all[i%len(all)])
		i++
	}
}

// The memory of 50,000 rows of 20 shapes, everything that they alone hold
// included.
func BenchmarkWorkloadRows(b *testing.B) {
	const n = 50_000
	all := templates(b)
	for b.Loop() {
		before := live()
		rows := make([]*world.Workload, n)
		for i := range rows {
			w := all[i%len(all)].DeepCopy()
			stamp(w, i)
			rows[i] = Workload(w)
		}
		b.ReportMetric(float64(live()-before)/n, "B/row")
		runtime.KeepAlive(rows)
	}
}

func live() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
