package project

import (
	"encoding/json"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	"cli.holdfast.dev/holdfast/model/world"
)

// Rest is what Kueue's scheduler and its Workload controller read of a Workload
// and no other field of the row holds. Most Workloads have nothing of it. It is as
// it came: it may not be drawn.
type Rest struct {
	// Labels and Annotations are those that bear on scheduling; the job's UID stands
	// in the row.
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Owners is the number of owners beside the one of the row: Kueue looks for
	// whether there is any, and for whether there is only one.
	Owners int `json:"owners,omitempty"`
	// PreemptionGates are those of the spec, PreemptionGateStates of the status.
	PreemptionGates      []kueue.PreemptionGate      `json:"preemptionGates,omitempty"`
	PreemptionGateStates []kueue.PreemptionGateState `json:"preemptionGateStates,omitempty"`
	// ClusterName and NominatedClusterNames are MultiKueue's.
	ClusterName           *string  `json:"clusterName,omitempty"`
	NominatedClusterNames []string `json:"nominatedClusterNames,omitempty"`
	// Messages are those of conditions, by type, and CheckMessages those of admission
	// checks, by name, which the row has in another form because they may not be drawn
	// as they are.
	Messages      map[string]string `json:"messages,omitempty"`
	CheckMessages map[string]string `json:"checkMessages,omitempty"`
}

// sliceReplacement is WorkloadSliceReplacementFor of Kueue's pkg/workloadslicing,
// which would bring the scheduler's caches along.
const sliceReplacement = "kueue.x-k8s.io/workload-slice-replacement-for"

// The labels and annotations of a Workload that Kueue's scheduler, its caches and
// its Workload controller read (v0.19.2).
var (
	bearingLabels      = []string{controllerconstants.ConcurrentAdmissionParentLabelKey}
	bearingAnnotations = []string{
		constants.AdmissionGatedByAnnotation, constants.ElasticJobAnnotation,
		controllerconstants.PriorityBoostAnnotationKey, controllerconstants.WorkloadAllowedResourceFlavorAnnotation,
		kueue.WorkloadSliceNameAnnotation, sliceReplacement,
		podconstants.IsGroupWorkloadAnnotationKey,
	}
)

// ReadRest reads the Rest of a row back. The empty string is the empty Rest.
func ReadRest(s string) (Rest, error) {
	var r Rest
	if s == "" {
		return r, nil
	}
	if err := json.Unmarshal([]byte(s), &r); err != nil {
		return r, fmt.Errorf("the rest of a Workload cannot be read: %w", err)
	}
	return r, nil
}

// rest gathers the Rest of a Workload whose row is otherwise complete.
func rest(o *kueue.Workload, row *world.Workload) string {
	r := Rest{
		Labels: only(o.Labels, bearingLabels), Annotations: only(o.Annotations, bearingAnnotations),
		Owners:          len(o.OwnerReferences),
		PreemptionGates: o.Spec.PreemptionGates, PreemptionGateStates: o.Status.PreemptionGates,
		ClusterName: o.Status.ClusterName, NominatedClusterNames: o.Status.NominatedClusterNames,
		Messages: rawMessages(o.Status.Conditions, row.Conditions),
	}
	if row.Owner != nil {
		r.Owners--
	}
	for i := range row.Checks {
		if raw := o.Status.AdmissionChecks[i]; raw.Message != row.Checks[i].Message {
			r.CheckMessages = put(r.CheckMessages, string(raw.Name), raw.Message)
		}
	}
	if reflect.ValueOf(r).IsZero() {
		return ""
	}
	return faithful(&r)
}

// rawMessages returns the messages that the rows have in another form.
func rawMessages(raw []metav1.Condition, rows world.Conditions) map[string]string {
	var out map[string]string
	for i := range rows {
		if rows[i].Message != raw[i].Message {
			out = put(out, raw[i].Type, raw[i].Message)
		}
	}
	return out
}

// only returns the entries of the keys; nil for none.
func only(in map[string]string, keys []string) map[string]string {
	if len(in) == 0 {
		return nil
	}
	var out map[string]string
	for _, k := range keys {
		if v, ok := in[k]; ok {
			out = put(out, k, v)
		}
	}
	return out
}

func put(m map[string]string, k, v string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[k] = v
	return m
}
