package pack

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/kueue/pkg/resources"

	"cli.holdfast.dev/holdfast/model/project"
)

// never is how long a backoff lasts in a preview: longer than any run.
const never = 100 * 365 * 24 * time.Hour

// tables are those of a World, read.
type tables struct {
	podSets   [][]kueue.PodSet
	published [][]kueue.PodSetRequest
	reclaimed [][]kueue.ReclaimablePod
	assigned  [][]kueue.PodSetAssignment
	rests     []project.Rest
}

func (u *unpacker) workloads() []*kueue.Workload {
	t := u.tables()
	if u.err != nil {
		return nil
	}
	out := make([]*kueue.Workload, len(u.w.Workloads))
	for i := range u.w.Workloads {
		out[i] = u.workload(&u.w.Workloads[i], t)
	}
	return out
}

func (u *unpacker) tables() tables {
	t := tables{
		assigned: readTable[[]kueue.PodSetAssignment](u, u.w.Assigned, "assignment"),
		rests:    readTable[project.Rest](u, u.w.Rests, "rest"),
	}
	shapes := readTable[corev1.PodSpec](u, u.w.Shapes, "pod shape")
	requests := readTable[*kueue.PodSetTopologyRequest](u, u.w.Requests, "topology request")
	for i := range shapes {
		tamePod(&shapes[i])
	}
	for _, list := range t.assigned {
		for i := range list {
			tameList(list[i].ResourceUsage)
		}
	}
	format := resources.NewResourceFormatter()
	for _, list := range u.w.PodSets {
		var sets []kueue.PodSet
		var published []kueue.PodSetRequest
		var reclaimed []kueue.ReclaimablePod
		for i := range list {
			ps := &list[i]
			name := kueue.PodSetReference(u.w.Texts[ps.Name])
			set := kueue.PodSet{Name: name, Count: ps.Count, TopologyRequest: requests[ps.Topology]}
			set.Template.Spec = shapes[ps.Shape]
			if ps.MinCount != nil {
				least := *ps.MinCount
				set.MinCount = &least
			}
			sets = append(sets, set)
			if ps.Published != nil {
				published = append(published, kueue.PodSetRequest{Name: name, Resources: u.list(ps.Published, format)})
			}
			if ps.Reclaimable > 0 {
				reclaimed = append(reclaimed, kueue.ReclaimablePod{Name: name, Count: ps.Reclaimable})
			}
		}
		t.podSets, t.published, t.reclaimed = append(t.podSets, sets), append(t.published, published), append(t.reclaimed, reclaimed)
	}
	return t
}

// list writes amounts as Kueue itself publishes them.
func (u *unpacker) list(in []Request, format *resources.ResourceFormatter) corev1.ResourceList {
	out := make(corev1.ResourceList, len(in))
	for _, r := range in {
		name := corev1.ResourceName(u.w.Texts[r.Resource])
		out[name] = format.ResourceQuantity(name, int64(r.Amount))
	}
	return out
}

func (u *unpacker) workload(in *Workload, t tables) *kueue.Workload {
	rest := &t.rests[in.Rest]
	active, priority := !in.Inactive, in.Priority
	w := &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: u.w.Texts[in.Namespace], Name: in.Name, UID: types.UID(in.UID), Generation: in.Generation, CreationTimestamp: u.timeOf(in.Created),
			Labels: clone(rest.Labels), Annotations: clone(rest.Annotations), OwnerReferences: u.owners(in, rest.Owners),
		},
		Spec: kueue.WorkloadSpec{
			PodSets: t.podSets[in.PodSets], QueueName: kueue.LocalQueueName(u.w.Texts[in.LocalQueue]),
			PriorityClassRef: u.class(in), Priority: &priority, Active: &active,
			PreemptionGates: append([]kueue.PreemptionGate(nil), rest.PreemptionGates...),
		},
		Status: kueue.WorkloadStatus{
			Conditions: u.conditions(in.Conditions), ReclaimablePods: t.reclaimed[in.PodSets], ResourceRequests: t.published[in.PodSets],
			PreemptionGates:       append([]kueue.PreemptionGateState(nil), rest.PreemptionGateStates...),
			NominatedClusterNames: append([]string(nil), rest.NominatedClusterNames...),
		},
	}
	if in.Job != "" {
		if w.Labels == nil {
			w.Labels = map[string]string{}
		}
		w.Labels[controllerconstants.JobUIDLabel] = string(in.Job)
	}
	u.status(in, t, &w.Status)
	if rest.ClusterName != nil {
		name := *rest.ClusterName
		w.Status.ClusterName = &name
	}
	return w
}

func (u *unpacker) status(in *Workload, t tables, s *kueue.WorkloadStatus) {
	if in.ClusterQueue != 0 {
		s.Admission = &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(u.w.Texts[in.ClusterQueue]), PodSetAssignments: t.assigned[in.Assigned]}
	}
	for _, c := range in.Checks {
		state := kueue.AdmissionCheckState{
			Name: kueue.AdmissionCheckReference(u.w.Texts[c.Name]), State: kueue.CheckState(c.State), Message: c.Message, LastTransitionTime: u.timeOf(c.At),
		}
		if c.RetryCount > 0 {
			n := c.RetryCount
			state.RetryCount = &n
		}
		s.AdmissionChecks = append(s.AdmissionChecks, state)
	}
	if in.Backoff || in.RequeueCount > 0 {
		s.RequeueState = &kueue.RequeueState{}
		if in.RequeueCount > 0 {
			n := in.RequeueCount
			s.RequeueState.Count = &n
		}
		if in.Backoff {
			at := metav1.NewTime(u.w.At.Add(never).Truncate(time.Second))
			s.RequeueState.RequeueAt = &at
		}
	}
	if len(in.Evictions) > 0 {
		s.SchedulingStats = &kueue.SchedulingStats{}
		for _, e := range in.Evictions {
			s.SchedulingStats.Evictions = append(s.SchedulingStats.Evictions, kueue.WorkloadSchedulingStatsEviction{
				Reason: e.Reason, UnderlyingCause: kueue.EvictionUnderlyingCause(e.Cause), Count: e.Count,
			})
		}
	}
	if in.PastSeconds != nil {
		n := *in.PastSeconds // Kueue adds to it in place
		s.AccumulatedPastExecutionTimeSeconds = &n
	}
	for _, n := range in.UnhealthyNodes {
		if u.w.NoTopology {
			break // there is no assignment of nodes that Kueue could mend
		}
		s.UnhealthyNodes = append(s.UnhealthyNodes, kueue.UnhealthyNode{Name: n})
	}
}

// class is the reference to the priority class. Its group follows from its kind
// (the CRD does not let them differ).
func (u *unpacker) class(in *Workload) *kueue.PriorityClassRef {
	switch {
	case in.Class == 0:
		return nil
	case in.PodClass:
		return kueue.NewPodPriorityClassRef(u.w.Texts[in.Class])
	}
	return kueue.NewWorkloadPriorityClassRef(u.w.Texts[in.Class])
}

// owners makes as many owners as the Workload has. Kueue asks whether there is
// one, and of a single one of which kind it is.
func (u *unpacker) owners(in *Workload, more int) []metav1.OwnerReference {
	var out []metav1.OwnerReference
	if in.Owner != 0 {
		o := u.w.Owners[in.Owner]
		controls := true
		out = append(out, metav1.OwnerReference{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID, Controller: &controls})
	}
	return append(out, make([]metav1.OwnerReference, more)...)
}

func clone(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m)+1)
	for k, v := range m {
		out[k] = v
	}
	return out
}
