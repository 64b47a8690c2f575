package project

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workloadslicing"
)

func TestRest(t *testing.T) {
	at := metav1.Unix(1_790_000_000, 0)
	owners := []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "a"}, {APIVersion: "v1", Kind: "Pod", Name: "b"}, {APIVersion: "v1", Kind: "Pod", Name: "c"}}
	tests := map[string]struct {
		in   kueue.Workload
		want Rest
	}{
		"nothing":   {kueue.Workload{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x", jobUIDLabel: "u"}, Annotations: map[string]string{"a": "b"}, OwnerReferences: owners[:1]}}, Rest{}},
		"pod group": {kueue.Workload{ObjectMeta: metav1.ObjectMeta{OwnerReferences: owners}}, Rest{Owners: 3}},
		"a controller and another": {
			kueue.Workload{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{owners[0], {Kind: "Job", Controller: ptr.To(true)}}}}, Rest{Owners: 1},
		},
		"marks": {
			kueue.Workload{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"kueue.x-k8s.io/concurrent-admission-parent": "true"}, Annotations: map[string]string{
				"kueue.x-k8s.io/priority-boost": "7", "kueue.x-k8s.io/admission-gated-by": "a\x1b[2Jb", "kueue.x-k8s.io/elastic-job": "true",
				workloadslicing.WorkloadSliceReplacementFor: "n/w", "kueue.x-k8s.io/workload-slice-name": "s",
				"kueue.x-k8s.io/workload-allowed-resource-flavors": "f", "kueue.x-k8s.io/is-group-workload": "true", "kueue.x-k8s.io/job-owner-name": "no",
			}}},
			Rest{Labels: map[string]string{"kueue.x-k8s.io/concurrent-admission-parent": "true"}, Annotations: map[string]string{
				"kueue.x-k8s.io/priority-boost": "7", "kueue.x-k8s.io/admission-gated-by": "a\x1b[2Jb", "kueue.x-k8s.io/elastic-job": "true",
				workloadslicing.WorkloadSliceReplacementFor: "n/w", "kueue.x-k8s.io/workload-slice-name": "s",
				"kueue.x-k8s.io/workload-allowed-resource-flavors": "f", "kueue.x-k8s.io/is-group-workload": "true",
			}},
		},
		"gates and clusters": {
			kueue.Workload{
				Spec: kueue.WorkloadSpec{PreemptionGates: []kueue.PreemptionGate{{Name: "g"}}},
				Status: kueue.WorkloadStatus{
					PreemptionGates: []kueue.PreemptionGateState{{Name: "g", Position: kueue.PreemptionGatePositionOpen, LastTransitionTime: at}},
					ClusterName:     ptr.To("worker"), NominatedClusterNames: []string{"one"},
				},
			},
			Rest{
				PreemptionGates:      []kueue.PreemptionGate{{Name: "g"}},
				PreemptionGateStates: []kueue.PreemptionGateState{{Name: "g", Position: kueue.PreemptionGatePositionOpen, LastTransitionTime: at}},
				ClusterName:          ptr.To("worker"), NominatedClusterNames: []string{"one"},
			},
		},
		"messages that may not be drawn": {
			kueue.Workload{Status: kueue.WorkloadStatus{
				Conditions:      []metav1.Condition{{Type: "Evicted", Message: "a\nb"}, {Type: "Admitted", Message: "plain"}},
				AdmissionChecks: []kueue.AdmissionCheckState{{Name: "c", Message: "x\x1by"}, {Name: "d", Message: "plain"}},
			}},
			Rest{Messages: map[string]string{"Evicted": "a\nb"}, CheckMessages: map[string]string{"c": "x\x1by"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			row := Workload(&tc.in)
			got, err := ReadRest(row.Rest)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("rest (-want +got):\n%s", d)
			}
			if name == "nothing" && row.Rest != "" {
				t.Errorf("an empty rest takes %q", row.Rest)
			}
		})
	}
	if _, err := ReadRest("{"); err == nil {
		t.Error("a broken rest was read")
	}
}
