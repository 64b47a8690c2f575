//go:build sandbox

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// checkConfigMap compares what anybody may read of the manager's configuration with the file it was started with.
func checkConfigMap(t *testing.T, dir string) {
	t.Helper()
	m, err := as(t, dir, "admin").Typed.CoreV1().ConfigMaps("kueue-system").Get(t.Context(), "kueue-manager-config", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, "kueue.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"controller_manager_config.yaml": string(file)}, m.Data); diff != "" {
		t.Errorf("ConfigMap (-file +data):\n%s", diff)
	}
}

// Kueue itself shows that it runs as it was told: in a status, in its log.
func TestKueueRunsAsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	up(t, dir, "--fair-sharing", "--feature-gates", "PartialAdmission=false,PriorityBoost=true")
	checkConfigMap(t, dir)
	queues := as(t, dir, "admin").Dynamic.Resource(schema.GroupVersionResource{Group: kueueAPI, Version: "v1beta2", Resource: "clusterqueues"})
	q := &unstructured.Unstructured{Object: map[string]any{"apiVersion": kueueAPI + "/v1beta2", "kind": "ClusterQueue", "metadata": map[string]any{"name": "q"}, "spec": map[string]any{"cohortName": "c"}}}
	if _, err := queues.Create(t.Context(), q, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, patience, func() string {
		got, err := queues.Get(t.Context(), "q", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if _, ok, err := unstructured.NestedFieldNoCopy(got.Object, "status", "fairSharing", "weightedShare"); err != nil || !ok {
			return "its status has no share"
		}
		return ""
	})
	log, err := os.ReadFile(filepath.Join(dir, "logs", "kueue.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, gate := range []string{`"PartialAdmission": ?false`, `"PriorityBoost": ?true`} {
		if !regexp.MustCompile(`Loaded feature gates.*` + gate).Match(log) {
			t.Errorf("Kueue's log has no %s", gate)
		}
	}
	if out, code := sandbox(t, "run", "--dir", dir, "--fair-sharing", "--", "true"); code == 0 || !regexp.MustCompile("runs in .* already").MatchString(out) {
		t.Errorf("run on a sandbox that runs otherwise: exit code %d:\n%s", code, out)
	}
	if out, code := sandbox(t, "down", "--dir", dir); code != 0 {
		t.Errorf("down: exit code %d:\n%s", code, out)
	}
}
