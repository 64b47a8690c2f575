package project

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		want []Write
	}{
		"nothing is remembered": {},
		"one made it, another edited a policy": {
			[]metav1.ManagedFieldsEntry{
				entry("kubectl-edit", 40, `{"f:spec":{"f:preemption":{"f:reclaimWithinCohort":{}}}}`),
				entry("kubectl-create", 5, `{"f:spec":{".":{},"f:cohortName":{},"f:preemption":{".":{},"f:withinClusterQueue":{}},"f:resourceGroups":{}}}`),
			},
			[]Write{
				{"kubectl-create", at(5), []string{"cohortName", "preemption.withinClusterQueue", "resourceGroups"}},
				{"kubectl-edit", at(40), []string{"preemption.reclaimWithinCohort"}},
			},
		},
		"entries of a list are the list": {
			[]metav1.ManagedFieldsEntry{entry("x", 1, `{"f:spec":{"f:podSets":{"k:{\"name\":\"main\"}":{".":{},"f:count":{}}},"f:tags":{"v:\"a\"":{}}}}`)},
			[]Write{{"x", at(1), []string{"podSets", "tags"}}},
		},
		"only labels, only status, without a time, not to be read": {
			[]metav1.ManagedFieldsEntry{entry("labeler", 1, `{"f:metadata":{"f:labels":{"f:a":{}}}}`), status, timeless, entry("bad", 1, `{"f:spec":`), entry("worse", 1, `{"f:spec":7}`)}, nil,
		},
		"text to draw": {
			[]metav1.ManagedFieldsEntry{entry("evil\x1b[2J", 1, `{"f:spec":{"f:a\u001b[2J":{}}}`)},
			[]Write{{`evil\x1b[2J`, at(1), []string{`a\x1b[2J`}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, Writes(&metav1.ObjectMeta{ManagedFields: tc.of})); d != "" {
				t.Errorf("writes (-want +got):\n%s", d)
			}
		})
	}
}
