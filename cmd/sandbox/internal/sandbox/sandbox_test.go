package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/manifests"
)

func TestDeploymentStatus(t *testing.T) {
	then := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	now := metav1.NewTime(then.Add(time.Minute))
	condition := func(status corev1.ConditionStatus, since metav1.Time) appsv1.DeploymentCondition {
		c := appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: status, LastUpdateTime: since, LastTransitionTime: since,
			Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability."}
		if status == corev1.ConditionFalse {
			c.Reason, c.Message = "MinimumReplicasUnavailable", "Deployment does not have minimum availability."
		}
		return c
	}
	available := appsv1.DeploymentStatus{ObservedGeneration: 7, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{condition(corev1.ConditionTrue, then)}}
	for name, c := range map[string]struct {
		before appsv1.DeploymentStatus
		ready  bool
		want   appsv1.DeploymentStatus
	}{
		"stays available": {available, true, available},
		"becomes unavailable": {available, false, appsv1.DeploymentStatus{ObservedGeneration: 7, Replicas: 1, UpdatedReplicas: 1, UnavailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{condition(corev1.ConditionFalse, now)}}},
		"first time": {appsv1.DeploymentStatus{}, true, appsv1.DeploymentStatus{ObservedGeneration: 7, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{condition(corev1.ConditionTrue, now)}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 7}, Status: c.before}
			if diff := cmp.Diff(c.want, deploymentStatus(d, c.ready, now)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadOncallRoleBindsEachRole(t *testing.T) {
	got, err := ReadOncallRole(file(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: viewer}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: kueue-system}
`))
	if err != nil {
		t.Fatal(err)
	}
	want, err := manifests.Decode(strings.NewReader(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: viewer}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: holdfast-oncall-viewer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: viewer}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: holdfast-oncall}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: kueue-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: holdfast-oncall-reader, namespace: kueue-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: holdfast-oncall}]
`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadOncallRoleRefuses(t *testing.T) {
	for name, c := range map[string]struct{ content, says string }{
		"an empty file":            {"# nothing\n", "needs a ClusterRole"},
		"another kind":             {"{apiVersion: v1, kind: Pod, metadata: {name: p}}", `a Pod "p"`},
		"the kind of another API":  {"{apiVersion: example.com/v1, kind: Role, metadata: {name: r, namespace: n}}", "only ClusterRole and Role"},
		"a Role without namespace": {"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}}", "metadata.namespace"},
		"a role without a name":    {"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}", "has no name"},
		"broken YAML":              {"kind: [", "role file"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ReadOncallRole(file(t, c.content)); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one with %q", err, c.says)
			}
		})
	}
	if _, err := ReadOncallRole(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file was accepted")
	}
}

func TestDiedErrorExplainsAPortInUse(t *testing.T) {
	e := &DiedError{Name: "etcd", Tail: "listen tcp 127.0.0.1:20000: bind: address already in use"}
	if !strings.Contains(e.Error(), "start the sandbox again") {
		t.Errorf("it does not say what to do: %v", e)
	}
	e.Tail = "no space left"
	if strings.Contains(e.Error(), "port") {
		t.Errorf("it speaks of ports: %v", e)
	}
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "role.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
