package project

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

// The sets of fields are as an API server of Kubernetes 1.36 writes them.
func TestWrites(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 12, 2, 12, minute, 0, 0, time.UTC) }
	entry := func(manager string, minute int, fields string) metav1.ManagedFieldsEntry {
		when := metav1.NewTime(at(minute))
		e := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Time: &when, FieldsV1: &metav1.FieldsV1{}}
		e.FieldsV1.SetRawString(fields)
		return e
	}
	status := entry("kueue", 9, `{"f:spec":{"f:x":{}},"f:status":{"f:conditions":{}}}`)
	status.Subresource = "status"
	timeless := entry("old", 1, `{"f:spec":{"f:x":{}}}`)
	timeless.Time = nil
	for name, tc := range map[string]struct {
		of   []metav1.ManagedFieldsEntry
		want []world.SpecWrite
	}{
		"nothing is remembered": {},
		"one made it, another edited a policy": {
			[]metav1.ManagedFieldsEntry{
				entry("kubectl-edit", 40, `{"f:spec":{"f:preemption":{"f:reclaimWithinCohort":{}}}}`),
				entry("kubectl-create", 5, `{"f:spec":{".":{},"f:cohortName":{},"f:preemption":{".":{},"f:withinClusterQueue":{}},"f:resourceGroups":{}}}`),
			},
			[]world.SpecWrite{
				{Manager: "kubectl-create", At: at(5), Fields: []string{"cohortName", "preemption.withinClusterQueue", "resourceGroups"}},
				{Manager: "kubectl-edit", At: at(40), Fields: []string{"preemption.reclaimWithinCohort"}},
			},
		},
		"entries of a list are the list": {
			[]metav1.ManagedFieldsEntry{entry("x", 1, `{"f:spec":{"f:podSets":{"k:{\"name\":\"main\"}":{".":{},"f:count":{}}},"f:tags":{"v:\"a\"":{}}}}`)},
			[]world.SpecWrite{{Manager: "x", At: at(1), Fields: []string{"podSets", "tags"}}},
		},
		"only labels, only status, without a time, not to be read": {
			[]metav1.ManagedFieldsEntry{entry("labeler", 1, `{"f:metadata":{"f:labels":{"f:a":{}}}}`), status, timeless, entry("bad", 1, `{"f:spec":`), entry("worse", 1, `{"f:spec":7}`)}, nil,
		},
		"text to draw": {
			[]metav1.ManagedFieldsEntry{entry("evil\x1b[2J", 1, `{"f:spec":{"f:a\u001b[2J":{}}}`)},
			[]world.SpecWrite{{Manager: `evil\x1b[2J`, At: at(1), Fields: []string{`a\x1b[2J`}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, Writes(&metav1.ObjectMeta{ManagedFields: tc.of})); d != "" {
				t.Errorf("writes (-want +got):\n%s", d)
			}
		})
	}
}

func TestQueueWrites(t *testing.T) {
	when := metav1.NewTime(time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC))
	e := metav1.ManagedFieldsEntry{Manager: "kubectl-edit", Operation: metav1.ManagedFieldsOperationUpdate, Time: &when, FieldsV1: &metav1.FieldsV1{}}
	e.FieldsV1.SetRawString(`{"f:spec":{"f:resourceGroups":{}}}`)
	m := metav1.ObjectMeta{Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{e}}
	want := []world.SpecWrite{{Manager: "kubectl-edit", At: when.Time, Fields: []string{"resourceGroups"}}}
	if d := cmp.Diff(want, ClusterQueue(&kueue.ClusterQueue{ObjectMeta: m}).Writes); d != "" {
		t.Errorf("writes of a ClusterQueue (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, Cohort(&kueue.Cohort{ObjectMeta: m}).Writes); d != "" {
		t.Errorf("writes of a Cohort (-want +got):\n%s", d)
	}
}
