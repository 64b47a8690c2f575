package scenario

import (
	"bytes"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/manifests"
)

// TestRequestsManifestsAreTheJobs: each manifest is the Job it is named after, as Kubernetes' own type; a field it
// does not know is an error.
func TestRequestsManifestsAreTheJobs(t *testing.T) {
	jobs := requestsJobs()
	entries, err := requestsFiles.ReadDir("requests")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(jobs)+1 { // and the world
		t.Errorf("%d manifests for %d Jobs", len(entries), len(jobs))
	}
	for _, want := range jobs {
		raw, err := requestsFiles.ReadFile("requests/" + want.name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		objs, err := manifests.Decode(bytes.NewReader(raw))
		if err != nil || len(objs) != 1 {
			t.Fatalf("%s: %d objects, %v", want.name, len(objs), err)
		}
		var j batchv1.Job
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(objs[0].Object, &j, true); err != nil {
			t.Fatalf("%s: %v", want.name, err)
		}
		if j.Namespace+"/"+j.Name != want.key() || j.Spec.Suspend == nil || !*j.Spec.Suspend || j.Labels["kueue.x-k8s.io/queue-name"] != "batch" {
			t.Errorf("%s.yaml is Job %s/%s, suspended %v, labels %v", want.name, j.Namespace, j.Name, j.Spec.Suspend, j.Labels)
		}
	}
}

func TestCounted(t *testing.T) {
	j := countedJob{job{namespace: "requests", name: "j"}, map[corev1.ResourceName]string{"cpu": "1250m", "memory": "1Gi"}}
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
	}
	more := list("1250m", "1Gi")
	more["ephemeral-storage"] = resource.MustParse("1Gi")
	const tooMuch = "current podset request (1250m) > maximum capacity (10m)"
	for _, c := range []struct {
		name, message string
		requests      []kueue.PodSetRequest
		missing       string
	}{
		{"counted", tooMuch, []kueue.PodSetRequest{{Name: "main", Resources: list("1250m", "1024Mi")}}, ""},
		{"counted otherwise", tooMuch, []kueue.PodSetRequest{{Name: "main", Resources: list("1", "1Gi")}}, "counted are 1 of cpu, want 1250m"},
		{"counted more", tooMuch, []kueue.PodSetRequest{{Name: "main", Resources: more}}, "want map"},
		{"not published", tooMuch, nil, "0 counted requests"},
		{"waits for less", "insufficient unused quota", []kueue.PodSetRequest{{Name: "main", Resources: list("1250m", "1Gi")}}, "does not wait"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world{workloads: map[string]kueue.Workload{j.key(): {Status: kueue.WorkloadStatus{
				ResourceRequests: c.requests,
				Conditions:       []metav1.Condition{{Type: "QuotaReserved", Status: metav1.ConditionFalse, Message: c.message}},
			}}}}
			check(t, counted(j)(w), c.missing)
		})
	}
}
