package pack

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// large is a cluster of 50,000 Workloads of 20 recorded shapes, every third of them
// pending, and 1,000 ClusterQueues in 10 cohorts.
func large(b *testing.B) []runtime.Object {
	const workloads, queues = 50_000, 1_000
	admitted := load(b, "../../project/testdata/workload-admitted.yaml")[0].(*kueue.Workload)
	pending := load(b, "../../project/testdata/workload-pending-over-limit.yaml")[0].(*kueue.Workload)
	queue := load(b, "../../project/testdata/clusterqueue-hold.yaml")[0].(*kueue.ClusterQueue)
	var out []runtime.Object
	for i := range queues {
		q := queue.DeepCopy()
		q.Name, q.UID, q.Spec.StopPolicy = fmt.Sprint("team-", i), types.UID(fmt.Sprintf("11111111-fe2d-432c-8340-%012x", i)), nil
		q.Spec.CohortName = kueue.CohortReference(fmt.Sprint("cohort-", i%10))
		q.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = *resource.NewQuantity(int64(i), resource.DecimalSI)
		lq := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: q.Name, Name: "main"}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(q.Name)}}
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: q.Name, Labels: map[string]string{"kubernetes.io/metadata.name": q.Name, "team": q.Name}}}
		out = append(out, q, lq, ns)
	}
	for i := range workloads {
		w := admitted.DeepCopy()
		if i%3 == 0 {
			w = pending.DeepCopy()
		}
		team := fmt.Sprint("team-", i%queues)
		w.Name, w.Namespace, w.UID = fmt.Sprintf("job-train-%d-c2529", i), team, types.UID(fmt.Sprintf("3488c277-fe2d-432c-8340-%012x", i))
		w.ResourceVersion = fmt.Sprint(100_000 + i)
		job := fmt.Sprintf("cfe58c22-4868-4cf2-8810-%012x", i)
		w.Labels["kueue.x-k8s.io/job-uid"] = job
		w.OwnerReferences[0].UID, w.OwnerReferences[0].Name = types.UID(job), fmt.Sprint("train-", i)
		w.CreationTimestamp = metav1.NewTime(at.Add(-time.Duration(i) * time.Second))
		w.Spec.PodSets[0].Template.Spec.NodeSelector = map[string]string{"pool": fmt.Sprint(i % 20)}
		if a := w.Status.Admission; a != nil {
			a.ClusterQueue = kueue.ClusterQueueReference(team)
			for j := range w.Status.Conditions {
				c := &w.Status.Conditions[j]
				c.LastTransitionTime = metav1.NewTime(at.Add(-time.Duration(i) * time.Second))
				if c.Type == "QuotaReserved" {
					c.Message = "Quota reserved in ClusterQueue " + team
				}
			}
		}
		out = append(out, w)
	}
	return out
}

// The way to another process and back, beside the bare JSON of the typed objects.
func BenchmarkLarge(b *testing.B) {
	objects := large(b)
	s := snapshot(b, objects)
	var raw []byte
	b.Run("pack", func(b *testing.B) {
		for b.Loop() {
			Of(s, nil)
		}
	})
	b.Run("pack, encode, decode, unpack", func(b *testing.B) {
		for b.Loop() {
			w, _ := Of(s, nil)
			var err error
			if raw, err = json.Marshal(w); err != nil {
				b.Fatal(err)
			}
			var back World
			if err := json.Unmarshal(raw, &back); err != nil {
				b.Fatal(err)
			}
			if o, err := back.Objects(); err != nil || len(o.Workloads) != len(s.Workloads) {
				b.Fatal(len(o.Workloads), err)
			}
		}
		b.ReportMetric(float64(len(raw))/1e6, "MB")
	})
	b.Run("typed objects, encode, decode", func(b *testing.B) {
		var n int
		for b.Loop() {
			n = 0
			for _, w := range of[*kueue.Workload](objects) {
				raw, err := json.Marshal(w)
				if err != nil {
					b.Fatal(err)
				}
				var back kueue.Workload
				if err := json.Unmarshal(raw, &back); err != nil {
					b.Fatal(err)
				}
				n += len(raw)
			}
		}
		b.ReportMetric(float64(n)/1e6, "MB")
	})
}
