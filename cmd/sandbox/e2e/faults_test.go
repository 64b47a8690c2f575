//go:build sandbox

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tryQueue has the API server try a ClusterQueue, which asks Kueue's webhooks, and returns what kubectl says.
func tryQueue(t *testing.T, dir string) (string, int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "queue.yaml")
	if err := os.WriteFile(file, []byte(`{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: tried}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return sandbox(t, "kubectl", "--dir", dir, "create", "--dry-run=server", "-f", file)
}

// checkFaults takes away what others depend on, and gives it back: what was stored is there again, and Kueue works.
func checkFaults(t *testing.T, dir string) {
	must(t, "kubectl", "--dir", dir, "create", "namespace", "kept")
	works := func(what string) {
		t.Helper()
		if out, code := sandbox(t, "kubectl", "--dir", dir, "get", "namespace", "kept", "-o", "name"); code != 0 || !strings.Contains(out, "namespace/kept") {
			t.Errorf("%s: what was stored is lost: exit code %d:\n%s", what, code, out)
		}
		if out, code := tryQueue(t, dir); code != 0 {
			t.Errorf("%s: Kueue's webhooks: exit code %d:\n%s", what, code, out)
		}
	}
	fails := func(what, words string, out string, code int) {
		t.Helper()
		if code == 0 || !strings.Contains(out, words) {
			t.Errorf("%s: exit code %d, want a failure with %q:\n%s", what, code, words, out)
		}
	}
	works("before")

	must(t, "kill", "kueue-webhook", "--dir", dir)
	out, code := tryQueue(t, dir)
	fails("without the webhooks' port", "connection refused", out, code)
	must(t, "restart", "kueue-webhook", "--dir", dir)
	works("with the webhooks' port again")
	must(t, "stop", "kueue-webhook", "--dir", dir)
	out, code = tryQueue(t, dir)
	fails("with webhooks that hang", "context deadline exceeded", out, code)
	must(t, "continue", "kueue-webhook", "--dir", dir)
	works("with webhooks that go on")

	ask := []string{"kubectl", "--dir", dir, "--request-timeout=3s", "get", "namespace", "kept"}
	must(t, "kill", "kube-apiserver", "--dir", dir)
	out, code = sandbox(t, ask...)
	fails("without an API server", "refused", out, code)
	if status := must(t, "status", "--dir", dir); !strings.Contains(status, "dead") {
		t.Errorf("status does not say that it is dead:\n%s", status)
	}
	must(t, "restart", "kube-apiserver", "--dir", dir)
	works("with a new API server")

	must(t, "stop", "kube-apiserver", "--dir", dir)
	out, code = sandbox(t, ask...)
	fails("with an API server that hangs", "deadline exceeded", out, code)
	must(t, "continue", "kube-apiserver", "--dir", dir)
	works("with an API server that goes on")

	must(t, "kill", "etcd", "--dir", dir)
	out, code = sandbox(t, ask...)
	fails("without etcd", "", out, code)
	must(t, "restart", "etcd", "--dir", dir)
	works("with etcd again")

	must(t, "kill", "kueue", "--dir", dir)
	out, code = tryQueue(t, dir)
	fails("without Kueue", "failed calling webhook", out, code)
	must(t, "restart", "kueue", "--dir", dir)
	works("with a new Kueue")
	must(t, "kubectl", "--dir", dir, "delete", "namespace", "kept", "--wait=false")
}
