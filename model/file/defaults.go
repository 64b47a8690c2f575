package file

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// setDefaults sets what an API server would have set in an object that was
// written by hand and never went through one: the defaults of Kueue's CRDs
// (apis/kueue/v1beta2/*_types.go, kubebuilder:default) that model/project does
// not imply itself. raw is the object as it was written, in any version.
func setDefaults(obj runtime.Object, raw []byte) {
	switch o := obj.(type) {
	case *kueue.ClusterQueue:
		if o.Spec.QueueingStrategy == "" {
			o.Spec.QueueingStrategy = kueue.BestEffortFIFO
		}
	case *kueue.Workload:
		for i := range o.Spec.PodSets {
			p := &o.Spec.PodSets[i]
			if p.Name == "" {
				p.Name = kueue.DefaultPodSetName
			}
			if p.Count == 0 && !hasCount(raw, i) {
				p.Count = 1
			}
		}
		if a := o.Status.Admission; a != nil {
			for i := range a.PodSetAssignments {
				if p := &a.PodSetAssignments[i]; p.Name == "" {
					p.Name = kueue.DefaultPodSetName
				}
			}
		}
	}
}

// hasCount reports whether the i-th pod set states a count: 0 is one.
func hasCount(raw []byte, i int) bool {
	var o struct {
		Spec struct {
			PodSets []struct {
				Count *int32 `json:"count"`
			} `json:"podSets"`
		} `json:"spec"`
	}
	return json.Unmarshal(raw, &o) != nil || i >= len(o.Spec.PodSets) || o.Spec.PodSets[i].Count != nil
}
