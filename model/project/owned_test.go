package project

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

func TestOwned(t *testing.T) {
	managers := func(names ...string) []metav1.ManagedFieldsEntry {
		var out []metav1.ManagedFieldsEntry
		for _, n := range names {
			out = append(out, metav1.ManagedFieldsEntry{Manager: n})
		}
		return out
	}
	tests := map[string]struct {
		meta     metav1.ObjectMeta
		tool, as string
	}{
		"nobody": {metav1.ObjectMeta{Labels: map[string]string{"a": "b", "app.kubernetes.io/instance": "x"}, ManagedFields: managers("kubectl", "kueue", "holdfast")}, "", ""},
		"argo by tracking id": {
			metav1.ObjectMeta{Annotations: map[string]string{"argocd.argoproj.io/tracking-id": "prod-queues:kueue.x-k8s.io/ClusterQueue:argocd/team-a"}},
			"Argo CD", "application prod-queues, tracking id prod-queues:kueue.x-k8s.io/ClusterQueue:argocd/team-a",
		},
		"argo by label":                {metav1.ObjectMeta{Labels: map[string]string{"argocd.argoproj.io/instance": "queues"}}, "Argo CD", "application queues"},
		"argo by manager":              {metav1.ObjectMeta{ManagedFields: managers("argocd-controller")}, "Argo CD", ""},
		"argo by manager and instance": {metav1.ObjectMeta{Labels: map[string]string{"app.kubernetes.io/instance": "queues"}, ManagedFields: managers("argocd-application-controller")}, "Argo CD", "perhaps application queues"},
		"flux":                         {metav1.ObjectMeta{Labels: map[string]string{"kustomize.toolkit.fluxcd.io/name": "queues", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}}, "Flux", "Kustomization flux-system/queues"},
		"flux by manager":              {metav1.ObjectMeta{ManagedFields: managers("kubectl", "kustomize-controller")}, "Flux", ""},
		"flux with helm":               {metav1.ObjectMeta{Labels: map[string]string{"helm.toolkit.fluxcd.io/name": "queues", "app.kubernetes.io/managed-by": "Helm"}}, "Flux (Helm)", "HelmRelease queues"},
		"flux with helm by manager":    {metav1.ObjectMeta{ManagedFields: managers("helm-controller")}, "Flux (Helm)", ""},
		"helm":                         {metav1.ObjectMeta{Annotations: map[string]string{"meta.helm.sh/release-name": "queues", "meta.helm.sh/release-namespace": "kueue"}}, "Helm", "release kueue/queues"},
		"helm by label":                {metav1.ObjectMeta{Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"}}, "Helm", ""},
		"helm by manager":              {metav1.ObjectMeta{ManagedFields: managers("helm")}, "Helm", ""},
		"hostile":                      {metav1.ObjectMeta{Labels: map[string]string{"argocd.argoproj.io/instance": "a\x1b[2J"}}, "Argo CD", `application a\x1b[2J`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tool, as := Owned(&tc.meta); tool != tc.tool || as != tc.as {
				t.Errorf("%q as %q, want %q as %q", tool, as, tc.tool, tc.as)
			}
		})
	}
}

// fields is an entry of managedFields as the API server writes it.
func fields(manager, v1 string, at time.Time, subresource string) metav1.ManagedFieldsEntry {
	f := &metav1.FieldsV1{}
	if err := f.UnmarshalJSON([]byte(v1)); err != nil {
		panic(err)
	}
	stamp := metav1.NewTime(at)
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1", FieldsV1: f, Time: &stamp, Subresource: subresource}
}

// A record on a queue that flows says who lifted the hold.
func TestHoldUndone(t *testing.T) {
	at := time.Date(2026, 12, 2, 13, 0, 0, 0, time.UTC)
	record := `{"version":1,"by":"kim","at":"2026-12-02T12:00:00Z","policy":"Hold","previous":"None"}`
	none, held := kueue.None, kueue.Hold
	tests := map[string]struct {
		policy *kueue.StopPolicy
		fields []metav1.ManagedFieldsEntry
		by     string
		at     time.Time
	}{
		"still held": {policy: &held, fields: []metav1.ManagedFieldsEntry{fields("holdfast", `{"f:spec":{"f:stopPolicy":{}}}`, at, "")}},
		"by a controller": {policy: &none, by: "argocd-controller", at: at, fields: []metav1.ManagedFieldsEntry{
			fields("holdfast", `{"f:metadata":{"f:annotations":{"f:holdfast.dev/hold":{}}}}`, at.Add(-time.Hour), ""),
			fields("argocd-controller", `{"f:spec":{"f:cohortName":{},"f:stopPolicy":{}}}`, at, ""),
			fields("kueue", `{"f:status":{"f:stopPolicy":{}}}`, at.Add(time.Hour), "status"),
		}},
		"by the later of two": {policy: &none, by: "kubectl-edit", at: at.Add(time.Minute), fields: []metav1.ManagedFieldsEntry{
			fields("kubectl-edit", `{"f:spec":{"f:stopPolicy":{}}}`, at.Add(time.Minute), ""),
			fields("argocd-controller", `{"f:spec":{"f:stopPolicy":{}}}`, at, ""),
		}},
		"the field was taken away":   {fields: []metav1.ManagedFieldsEntry{fields("kubectl-edit", `{"f:spec":{"f:cohortName":{}}}`, at, "")}},
		"another field of that name": {policy: &none, fields: []metav1.ManagedFieldsEntry{fields("other", `{"f:spec":{"f:x":{"f:stopPolicy":{}}}}`, at, "")}},
		"no managedFields":           {policy: &none},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			meta := metav1.ObjectMeta{Name: "q", Annotations: map[string]string{world.HoldAnnotation: record}, ManagedFields: tc.fields}
			for _, r := range []*world.HoldRecord{
				ClusterQueue(&kueue.ClusterQueue{ObjectMeta: meta, Spec: kueue.ClusterQueueSpec{StopPolicy: tc.policy}}).Hold,
				LocalQueue(&kueue.LocalQueue{ObjectMeta: meta, Spec: kueue.LocalQueueSpec{StopPolicy: tc.policy}}).Hold,
			} {
				if d := cmp.Diff([]any{tc.by, tc.at.UTC()}, []any{r.UndoneBy, r.UndoneAt.UTC()}); d != "" {
					t.Errorf("undone (-want +got):\n%s", d)
				}
			}
		})
	}
}
