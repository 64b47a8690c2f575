package engine

import (
	"context"
	"encoding/json"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// rewrite stores what f makes of a copy of the Workload, and gives it back in t.
func (s *shelf) rewrite(t *kueue.Workload, f func(n *kueue.Workload) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := client.ObjectKeyFromObject(t)
	old := s.work[k]
	if old == nil {
		return notFound(t, k)
	}
	n := old.DeepCopy()
	if err := f(n); err != nil {
		return err
	}
	s.store(n)
	n.DeepCopyInto(t)
	return nil
}

// Update implements client.Writer. Kueue updates a Workload's spec when it
// deactivates it; finalizers of other objects do not matter here.
func (s *shelf) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	switch t := o.(type) {
	case *kueue.Workload:
		return s.rewrite(t, func(n *kueue.Workload) error {
			status, generation := n.Status, n.Generation
			t.DeepCopyInto(n)
			n.Status, n.Generation = status, generation+1 // the status is a subresource
			return nil
		})
	case *kueue.ClusterQueue, *kueue.Cohort, *kueue.ResourceFlavor, *kueue.AdmissionCheck, *kueue.LocalQueue:
		return nil
	}
	return s.refuse("update", o)
}

// Status implements client.StatusClient.
func (s *shelf) Status() client.SubResourceWriter {
	return statusWriter{unsupportedStatus{s.refusals}, s}
}

// statusWriter writes the status of Workloads and ClusterQueues. Nothing follows
// from that of the others.
type statusWriter struct {
	unsupportedStatus
	shelf *shelf
}

// Update implements client.SubResourceWriter: the status is replaced.
func (w statusWriter) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	if q, ok := o.(*kueue.ClusterQueue); ok {
		return w.shelf.putStatus(q)
	}
	t, ok := o.(*kueue.Workload)
	if !ok {
		return nil
	}
	return w.shelf.rewrite(t, func(n *kueue.Workload) (err error) {
		n.Status, err = wire(t.Status)
		return err
	})
}

// Patch implements client.SubResourceWriter for the three ways in which Kueue
// patches a Workload's status: server-side apply of what its admission manager
// owns, a merge patch made from the whole object, and a merge patch.
func (w statusWriter) Patch(_ context.Context, o client.Object, p client.Patch, _ ...client.SubResourcePatchOption) error {
	t, ok := o.(*kueue.Workload)
	if !ok {
		return w.refuse("patch of the status", o)
	}
	return w.shelf.rewrite(t, func(n *kueue.Workload) (err error) {
		status := t.Status // that of the object which the patch was made from, whole
		if p.Type() == types.ApplyPatchType {
			status = n.Status
			apply(&status, &t.Status)
		}
		n.Status, err = wire(status)
		return err
	})
}

// apply does what the API server does when Kueue's admission manager applies its
// fields: those that it owns are replaced, conditions by their type. Kueue gives
// all conditions that it manages; one that it leaves out was not there before or
// is taken away (DeactivationTarget, Finished and Blocked ones).
func apply(status, applied *kueue.WorkloadStatus) {
	status.Admission, status.RequeueState = applied.Admission, applied.RequeueState
	status.AdmissionChecks, status.SchedulingStats = applied.AdmissionChecks, applied.SchedulingStats
	status.ResourceRequests = applied.ResourceRequests
	status.AccumulatedPastExecutionTimeSeconds = applied.AccumulatedPastExecutionTimeSeconds
	status.ClusterName, status.NominatedClusterNames = applied.ClusterName, applied.NominatedClusterNames
	status.UnhealthyNodes, status.PreemptionGates = applied.UnhealthyNodes, applied.PreemptionGates
	for _, c := range applied.Conditions {
		if x := apimeta.FindStatusCondition(status.Conditions, c.Type); x != nil {
			*x = c
		} else {
			status.Conditions = append(status.Conditions, c)
		}
	}
	if apimeta.FindStatusCondition(applied.Conditions, kueue.WorkloadDeactivationTarget) == nil {
		apimeta.RemoveStatusCondition(&status.Conditions, kueue.WorkloadDeactivationTarget)
	}
}

// wire sends a status through JSON, as the API does: times lose their fraction
// of a second, and Kueue compares them.
func wire(in kueue.WorkloadStatus) (kueue.WorkloadStatus, error) {
	var out kueue.WorkloadStatus
	b, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	return out, err
}
