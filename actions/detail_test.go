package actions

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Who made an object and who wrote to its spec since is told by the name of the program.
func TestTimelineNamesWhoWrote(t *testing.T) {
	made := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetCreationTimestamp(metav1.NewTime(made))
	entry := func(manager string, after time.Duration, fields string) metav1.ManagedFieldsEntry {
		at := metav1.NewTime(made.Add(after))
		e := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Time: &at, FieldsV1: &metav1.FieldsV1{}}
		e.FieldsV1.SetRawString(fields)
		return e
	}
	o.SetManagedFields([]metav1.ManagedFieldsEntry{
		entry("kubectl-create", 0, `{"f:spec":{"f:resourceGroups":{}}}`),
		entry("kubectl-edit", time.Hour, `{"f:spec":{"f:preemption":{"f:reclaimWithinCohort":{}}}}`),
		entry("argocd", 2*time.Hour, `{"f:spec":{"f:a":{},"f:b":{},"f:c":{},"f:d":{},"f:e":{},"f:f":{}}}`),
	})
	want := []Entry{
		{At: made, Kind: "object", Type: "created", Reason: "by kubectl-create"},
		{At: made.Add(time.Hour), Kind: "write", Type: "spec written", Reason: "by kubectl-edit", Text: "preemption.reclaimWithinCohort"},
		{At: made.Add(2 * time.Hour), Kind: "write", Type: "spec written", Reason: "by argocd", Text: "one or more of a, b, c, d and 2 more"},
	}
	if d := cmp.Diff(want, writeEntries(o)); d != "" {
		t.Errorf("entries (-want +got):\n%s", d)
	}
}
