package pack

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
)

// ends maps each ClusterQueue and Cohort to where the way up from it ends: the
// last parent, or all the members of a cycle. It walks by names alone.
func ends(objects []runtime.Object) (queues, cohorts map[string]string) {
	parent := map[string]string{}
	for _, c := range of[*kueue.Cohort](objects) {
		parent[c.Name] = string(c.Spec.ParentName)
	}
	end := func(name string) string {
		var path []string
		for name != "" {
			if i := slices.Index(path, name); i >= 0 {
				cycle := path[i:]
				slices.Sort(cycle)
				raw, _ := json.Marshal(cycle)
				return string(raw)
			}
			path = append(path, name)
			name = parent[name]
		}
		return path[len(path)-1]
	}
	queues, cohorts = map[string]string{}, map[string]string{}
	for _, q := range of[*kueue.ClusterQueue](objects) {
		queues[q.Name] = "queue " + q.Name
		if q.Spec.CohortName != "" {
			queues[q.Name] = end(string(q.Spec.CohortName))
			cohorts[string(q.Spec.CohortName)] = queues[q.Name]
		}
	}
	for _, c := range of[*kueue.Cohort](objects) {
		cohorts[c.Name] = end(c.Name)
		if c.Spec.ParentName != "" {
			cohorts[string(c.Spec.ParentName)] = end(string(c.Spec.ParentName))
		}
	}
	return queues, cohorts
}

func TestTreesAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := cluster(t)
		queues, cohorts := ends(objects)
		seedQueues := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "new"}), 0, 2).Draw(t, "queues")
		seedCohorts := rapid.SliceOfN(rapid.SampledFrom([]string{"r", "s", "t", "x", "y", "nobody"}), 0, 2).Draw(t, "cohorts")
		s := snapshot(t, objects)
		got := Trees(s, seedQueues, seedCohorts)
		want, roots := map[string]bool{}, map[string]bool{}
		for _, q := range seedQueues {
			want[q] = true
			roots[queues[q]] = true
		}
		for _, c := range seedCohorts {
			roots[cohorts[c]] = true
		}
		delete(roots, "")
		for q, root := range queues {
			if roots[root] {
				want[q] = true
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("ClusterQueues of %v and %v (-want +got):\n%s", seedQueues, seedCohorts, d)
		}
		w, _ := Of(s, got)
		holds(t, objects, got, cohorts, queues, throughPipe(t, w))
	})
}

// holds checks that a restricted pack has all that belongs to the ClusterQueues,
// and no Workload of another one.
func holds(t fataler, objects []runtime.Object, taken map[string]bool, cohorts, queues map[string]string, got engine.Objects) {
	t.Helper()
	names := map[string]bool{}
	for _, q := range got.ClusterQueues {
		names[q.Name] = true
	}
	locals := map[string]string{} // all LocalQueues and where they lead
	for _, q := range of[*kueue.LocalQueue](objects) {
		locals[q.Namespace+"/"+q.Name] = string(q.Spec.ClusterQueue)
	}
	have := map[string]bool{}
	for _, q := range got.LocalQueues {
		have[q.Namespace+"/"+q.Name] = true
	}
	var want []string
	for _, w := range of[*kueue.Workload](objects) {
		local := w.Namespace + "/" + string(w.Spec.QueueName)
		queue := locals[local]
		if w.Status.Admission != nil {
			queue = string(w.Status.Admission.ClusterQueue)
		}
		if !expected(w) || !taken[queue] {
			continue
		}
		want = append(want, w.Namespace+"/"+w.Name)
		if _, exists := locals[local]; exists && !have[local] {
			t.Fatalf("LocalQueue %s of Workload %s is missing", local, w.Name)
		}
	}
	var all []string
	for _, w := range got.Workloads {
		all = append(all, w.Namespace+"/"+w.Name)
		if !slices.ContainsFunc(got.Namespaces, func(n *corev1.Namespace) bool { return n.Name == w.Namespace }) {
			t.Fatalf("namespace %s is missing", w.Namespace)
		}
	}
	slices.Sort(want)
	slices.Sort(all)
	if d := cmp.Diff(want, all); d != "" {
		t.Fatalf("Workloads of %v (-want +got):\n%s", slices.Sorted(maps.Keys(taken)), d)
	}
	roots := map[string]bool{}
	for q := range taken {
		roots[queues[q]] = true
		if _, exists := queues[q]; exists && !names[q] {
			t.Fatalf("ClusterQueue %s is missing", q)
		}
	}
	for local, queue := range locals {
		if taken[queue] && !have[local] {
			t.Fatalf("LocalQueue %s is missing", local)
		}
	}
	for _, c := range of[*kueue.Cohort](objects) {
		if roots[cohorts[c.Name]] && !slices.ContainsFunc(got.Cohorts, func(x *kueue.Cohort) bool { return x.Name == c.Name }) {
			t.Fatalf("Cohort %s is missing", c.Name)
		}
	}
	if len(names) > len(taken) {
		t.Fatalf("%d ClusterQueues for %d", len(names), len(taken))
	}
}
