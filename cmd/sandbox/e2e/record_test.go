//go:build sandbox

package e2e

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/manifests"
)

// recordedLists is the number of objects each List of the incident's world has at least.
func recordedLists() map[string]int {
	lists := map[string]int{
		"namespaces.v1.yaml": 5, "nodes.v1.yaml": 10, "limitranges.v1.yaml": 0, "runtimeclasses.v1.node.k8s.io.yaml": 0,
		"priorityclasses.v1.scheduling.k8s.io.yaml": 2, "jobs.v1.batch.yaml": 19, "pods.v1.yaml": 10,
		"events.v1.yaml": 10, "events.v1.events.k8s.io.yaml": 10,
	}
	for resource, least := range map[string]int{
		"resourceflavors": 3, "topologies": 0, "admissionchecks": 2, "workloadpriorityclasses": 3, "cohorts": 1, "clusterqueues": 5,
		"localqueues": 6, "workloads": 19,
	} {
		for _, version := range []string{"v1beta1", "v1beta2"} {
			lists[resource+"."+version+".kueue.x-k8s.io.yaml"] = least
		}
	}
	return lists
}

// recordedAnswers are what the visibility API and discovery answer in the incident's world.
func recordedAnswers() []string {
	var names []string
	for _, version := range []string{"v1beta1", "v1beta2"} {
		names = append(names, "discovery/"+version+".kueue.x-k8s.io.json", "discovery/"+version+".visibility.kueue.x-k8s.io.json")
		for _, queue := range []string{
			"clusterqueues/team-a-cq", "clusterqueues/team-b-cq", "clusterqueues/team-c-cq", "clusterqueues/checked-cq", "clusterqueues/unchecked-cq",
			"namespaces/team-a/localqueues/batch", "namespaces/team-b/localqueues/batch", "namespaces/team-c/localqueues/batch",
			"namespaces/team-x/localqueues/batch", "namespaces/research/localqueues/checked", "namespaces/research/localqueues/unchecked",
		} {
			names = append(names, "visibility/"+version+"/"+queue+".json")
		}
	}
	return append(names, "discovery/kueue.x-k8s.io.json", "discovery/visibility.kueue.x-k8s.io.json")
}

// items reads a v1 List.
func items(t *testing.T, path string) []unstructured.Unstructured {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	objs, err := manifests.Decode(f)
	if err != nil || len(objs) != 1 || objs[0].GetAPIVersion() != "v1" || objs[0].GetKind() != "List" {
		t.Fatalf("%s is no List: %d objects, %v", path, len(objs), err)
	}
	list, err := objs[0].ToList()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return list.Items
}

// checkRecord records the incident's world.
func checkRecord(t *testing.T, dir string) {
	tmp := t.TempDir()
	folder, flat := filepath.Join(tmp, "world"), filepath.Join(tmp, "world.yaml")
	must(t, "record", folder, "--flat", flat, "--dir", dir)

	lists := recordedLists()
	want := append(slices.Collect(maps.Keys(lists)), recordedAnswers()...)
	slices.Sort(want)
	got := recordedFiles(t, folder)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
	for name, content := range got {
		for _, secret := range []string{"PRIVATE KEY", "managedFields", "client-key-data"} {
			if strings.Contains(content, secret) {
				t.Errorf("%s holds %s", name, secret)
			}
		}
		if strings.HasSuffix(name, ".json") && !json.Valid([]byte(content)) {
			t.Errorf("%s is no JSON:\n%s", name, content)
		}
	}
	for name, least := range lists {
		resource, _, _ := strings.Cut(name, ".")
		n := 0
		for _, o := range items(t, filepath.Join(folder, name)) {
			if kind := strings.ToLower(o.GetKind()); !strings.HasPrefix(resource, strings.TrimSuffix(kind, "y")) || o.GetName() == "" {
				t.Errorf("%s holds %s %q", name, o.GetKind(), o.GetName())
			}
			n++
		}
		if n < least {
			t.Errorf("%s holds %d objects, want at least %d", name, n, least)
		}
	}
	checkRecordedIncident(t, got, items(t, flat))
	checkRecordRefuses(t, dir, folder, flat)
}

// recordedFiles returns the content of each file below a folder by its path there.
func recordedFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		raw, err := os.ReadFile(path)
		got[rel] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// checkRecordedIncident looks for the victims and their queue in the answers and in the one file.
func checkRecordedIncident(t *testing.T, files map[string]string, flat []unstructured.Unstructured) {
	t.Helper()
	for _, version := range []string{"v1beta1", "v1beta2"} {
		if got := files["visibility/"+version+"/clusterqueues/team-a-cq.json"]; !strings.Contains(got, `"job-sweep-1-`) {
			t.Errorf("sweep-1 is not among the pending of team-a-cq:\n%s", got)
		}
	}
	preempted := map[string]bool{}
	seen := map[string]bool{}
	for _, o := range flat {
		id := o.GetAPIVersion() + " " + o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
		if seen[id] || strings.HasSuffix(o.GetAPIVersion(), "v1beta1") {
			t.Errorf("%s is there twice", id)
		}
		seen[id] = true
		conditions, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
		if o.GetKind() != "Workload" || err != nil {
			continue
		}
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["type"] == "Preempted" && c["status"] == "True" {
				preempted[o.GetOwnerReferences()[0].Name] = true
			}
		}
	}
	for _, name := range []string{"sweep-1", "sweep-2", "sweep-3", "eval-7", "eval-8"} {
		if !preempted[name] {
			t.Errorf("%s is not recorded as preempted; recorded are %v", name, preempted)
		}
	}
	if !seen["kueue.x-k8s.io/v1beta2 ClusterQueue /team-b-cq"] || !seen["v1 Namespace /team-x"] {
		t.Error("team-b-cq or team-x is not recorded")
	}
}

// checkRecordRefuses: what is there already stays as it is.
func checkRecordRefuses(t *testing.T, dir, folder, flat string) {
	t.Helper()
	for want, args := range map[string][]string{
		"is not empty; name a folder": {"record", folder, "--dir", dir},
		"is there already":            {"record", "--flat", flat, "--dir", dir},
	} {
		if out, code := sandbox(t, args...); code == 0 || !strings.Contains(out, want) {
			t.Errorf("%v: exit code %d, want a failure with %q:\n%s", args, code, want, out)
		}
	}
}
