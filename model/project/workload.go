package project

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Names that Kueue gives to the label and annotation of a Workload.
const (
	jobUIDLabel       = "kueue.x-k8s.io/job-uid"
	gatedByAnnotation = "kueue.x-k8s.io/admission-gated-by"
)

// Workload returns the row of a Workload.
func Workload(o *kueue.Workload) *world.Workload {
	w := &world.Workload{
		Meta:       meta(&o.ObjectMeta),
		Owner:      owner(o),
		JobUID:     types.UID(o.Labels[jobUIDLabel]),
		LocalQueue: intern(o.Spec.QueueName),
		Active:     o.Spec.Active == nil || *o.Spec.Active,
		Conditions: conditions(o.Status.Conditions),
		GatedBy:    text.Clean(o.Annotations[gatedByAnnotation]),
	}
	if o.Spec.Priority != nil {
		w.Priority = *o.Spec.Priority
	}
	if r := o.Spec.PriorityClassRef; r != nil {
		w.PriorityClass, w.PriorityKind = intern(r.Name), world.Kind(intern(r.Kind))
	}
	w.State = world.StateOf(w.Active, w.Conditions)
	w.PodSets = podSets(o)
	for i := range o.Spec.PodSets {
		w.Grace = max(w.Grace, grace(&o.Spec.PodSets[i].Template.Spec))
	}
	if a := o.Status.Admission; a != nil {
		w.ClusterQueue = intern(a.ClusterQueue)
		w.Assigned = faithful(a.PodSetAssignments)
		if w.HoldsQuota() {
			w.Usage = usage(o, w.PodSets)
		}
	}
	for _, c := range o.Status.AdmissionChecks {
		state := world.CheckState{Name: intern(c.Name), State: intern(c.State), Message: intern(c.Message), At: c.LastTransitionTime.Time}
		if c.RetryCount != nil {
			state.RetryCount = *c.RetryCount
		}
		if c.RequeueAfterSeconds != nil {
			state.RequeueAfter = *c.RequeueAfterSeconds
		}
		w.Checks = append(w.Checks, state)
	}
	if s := o.Status.SchedulingStats; s != nil {
		for _, e := range s.Evictions {
			w.Evictions = append(w.Evictions, world.Eviction{Reason: intern(e.Reason), Cause: intern(e.UnderlyingCause), Count: e.Count})
		}
	}
	if r := o.Status.RequeueState; r != nil {
		w.RequeueAt = timeOf(r.RequeueAt)
		if r.Count != nil {
			w.RequeueCount = *r.Count
		}
	}
	w.PastExecutionSeconds = o.Status.AccumulatedPastExecutionTimeSeconds
	for _, n := range o.Status.UnhealthyNodes {
		w.UnhealthyNodes = append(w.UnhealthyNodes, text.Clean(n.Name))
	}
	w.Preempted = preempted(w.Conditions)
	w.Annotations = annotations(o.Annotations)
	w.Rest = rest(o, w)
	return w
}

// longestAnnotation bounds what a row keeps of an annotation, in bytes.
const longestAnnotation = 256

// annotations keeps what people wrote: not what Kueue or kubectl keep there, and
// nothing long.
func annotations(in map[string]string) map[string]string {
	var out map[string]string
	for k, v := range in {
		if len(v) > longestAnnotation || strings.Contains(k, "kueue.x-k8s.io/") || strings.Contains(k, "kubernetes.io/") {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[intern(k)] = text.Clean(v)
	}
	return out
}

// owner returns the controlling owner, or the only owner there is.
func owner(o *kueue.Workload) *world.Owner {
	for i := range o.OwnerReferences {
		r := &o.OwnerReferences[i]
		if r.Controller != nil && *r.Controller || len(o.OwnerReferences) == 1 {
			return &world.Owner{APIVersion: intern(r.APIVersion), Kind: intern(r.Kind), Name: text.Clean(r.Name), UID: r.UID}
		}
	}
	return nil
}

func podSets(o *kueue.Workload) []world.PodSet {
	published := map[kueue.PodSetReference]corev1.ResourceList{}
	for _, r := range o.Status.ResourceRequests {
		published[r.Name] = r.Resources
	}
	reclaimable := map[kueue.PodSetReference]int32{}
	for _, r := range o.Status.ReclaimablePods {
		reclaimable[r.Name] = r.Count
	}
	out := make([]world.PodSet, 0, len(o.Spec.PodSets))
	for i := range o.Spec.PodSets {
		ps := &o.Spec.PodSets[i]
		p := world.PodSet{Name: intern(ps.Name), Count: ps.Count, MinCount: ps.MinCount, Reclaimable: min(reclaimable[ps.Name], ps.Count)}
		if list, ok := published[ps.Name]; ok {
			p.Requests, p.Exact = requests(list), true
		} else {
			p.Requests = times(PerPod(ps.Template.Spec), int64(p.Count-p.Reclaimable))
		}
		p.Shape, p.Topology = shape(&ps.Template.Spec), topologyRequest(ps.TopologyRequest)
		if ps.TopologyRequest != nil {
			p.TopologyJSON = faithful(ps.TopologyRequest)
		}
		if a := assignment(o, ps.Name); a != nil {
			p.Admitted = a.Count
			p.Flavors = make(map[string]string, len(a.Flavors))
			for r, f := range a.Flavors {
				p.Flavors[intern(r)] = intern(f)
			}
		}
		out = append(out, p)
	}
	return out
}

// grace is how long pods of the template may take to end: Kubernetes' default
// where nothing stands.
func grace(spec *corev1.PodSpec) time.Duration {
	seconds := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if spec.TerminationGracePeriodSeconds != nil {
		seconds = *spec.TerminationGracePeriodSeconds
	}
	return time.Duration(seconds) * time.Second
}

func assignment(o *kueue.Workload, name kueue.PodSetReference) *kueue.PodSetAssignment {
	if o.Status.Admission == nil {
		return nil
	}
	for i := range o.Status.Admission.PodSetAssignments {
		if a := &o.Status.Admission.PodSetAssignments[i]; a.Name == name {
			return a
		}
	}
	return nil
}

// requests converts a list, sorted by resource, rounding each to Kueue's units;
// negative amounts count as nothing.
func requests(list corev1.ResourceList) []world.Request {
	out := make([]world.Request, 0, len(list))
	for _, r := range slices.Sorted(maps.Keys(list)) {
		name := intern(r)
		out = append(out, world.Request{Resource: name, Amount: max(0, world.ParseAmount(name, list[r]))})
	}
	return out
}

// times multiplies what one pod asks for: rounded first, multiplied then, as
// Kueue does.
func times(one []world.Request, n int64) []world.Request {
	for i := range one {
		one[i].Amount = one[i].Amount.Mul(n)
	}
	return one
}

// usage is what the admission takes from the quota: resourceUsage of each pod
// set, scaled down when pods were reclaimed, integer division first (Kueue's
// workload.totalRequestsFromAdmission). A resource without a flavor is not
// counted.
func usage(o *kueue.Workload, podSets []world.PodSet) []world.Use {
	sum := map[world.FlavorResource]world.Amount{}
	for _, a := range o.Status.Admission.PodSetAssignments {
		i := slices.IndexFunc(podSets, func(p world.PodSet) bool { return p.Name == intern(a.Name) })
		var total, after int32
		if i >= 0 {
			total, after = podSets[i].Count, podSets[i].Count-podSets[i].Reclaimable
		}
		if a.Count != nil {
			total = *a.Count
		}
		for r, q := range a.ResourceUsage {
			flavor, ok := a.Flavors[r]
			if !ok {
				continue
			}
			fr := world.FlavorResource{Flavor: intern(flavor), Resource: intern(r)}
			amount := world.ParseAmount(fr.Resource, q)
			if after < total && total > 0 {
				amount = (amount / world.Amount(total)).Mul(int64(after))
			}
			sum[fr] = sum[fr].Add(amount)
		}
	}
	out := make([]world.Use, 0, len(sum))
	for fr, a := range sum {
		out = append(out, world.Use{FlavorResource: fr, Amount: a})
	}
	return sortUses(out)
}
