package pack

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/world"
)

func (p *packer) workloads() {
	for _, w := range p.s.Workloads {
		if w.State == world.Finished {
			continue
		}
		queue, known := p.s.QueueOf(w)
		if p.queues != nil && (!known || !p.queues[queue]) {
			continue
		}
		if p.leftOut(w) {
			continue
		}
		p.locals[world.Key{Namespace: w.Namespace, Name: w.LocalQueue}] = true
		p.spaces[w.Namespace] = true
		p.w.Workloads = append(p.w.Workloads, p.workload(w, p.placed[queue]))
	}
}

// leftOut counts and reports what no preview is made of.
func (p *packer) leftOut(w *world.Workload) bool {
	if w.Deleting {
		p.count.deleting++
		if w.HoldsQuota() {
			p.count.deletingHold++
		}
		return true
	}
	if !slices.ContainsFunc(w.PodSets, func(ps world.PodSet) bool { return p.factsOf(ps.Shape).devices }) {
		return false
	}
	p.count.devices++
	if !w.Conditions.True(world.CondQuotaReserved) {
		p.count.devicesWaiting++
		return true
	}
	return false
}

// workload packs one Workload. placed is set where a flavor of its ClusterQueue
// has a topology.
func (p *packer) workload(w *world.Workload, placed bool) Workload {
	rest := p.rest(w.Rest)
	out := Workload{
		Namespace: p.texts.of(w.Namespace), Name: w.Name, UID: UID(w.UID), Created: p.seconds(w.Created), Generation: w.Generation,
		Job: UID(w.JobUID), LocalQueue: p.texts.of(w.LocalQueue), Inactive: !w.Active, Priority: w.Priority,
		Class: p.texts.of(w.PriorityClass), PodClass: w.PriorityKind == world.KindPriorityClass,
		Owner: p.owner(w.Owner), PodSets: p.podSetsOf(w.PodSets, placed),
		ClusterQueue: p.texts.of(w.ClusterQueue),
		Conditions:   p.conditionsOf(w.Conditions, rest.Messages),
		Backoff:      retryAt(w).After(p.s.At), RequeueCount: w.RequeueCount,
		Evictions: w.Evictions, PastSeconds: w.PastExecutionSeconds, Rest: p.rests.of(w.Rest),
	}
	if w.ClusterQueue != "" {
		out.Assigned = p.assigned.of(p.fixedOf(w.Assigned))
	}
	for _, c := range w.Checks {
		check := Check{Name: p.texts.of(c.Name), State: c.State, Message: c.Message, At: p.seconds(c.At), RetryCount: c.RetryCount}
		if m, ok := rest.CheckMessages[c.Name]; ok {
			check.Message = m
		}
		out.Checks = append(out.Checks, check)
	}
	if placed {
		p.count.placed++
	}
	if out.Backoff {
		p.count.backoff++
	}
	p.count.marks(w, &rest)
	return out
}

// retryAt is when Kueue tries the Workload again at the earliest: requeueAt, and
// what admission checks in state Retry ask for, which Kueue takes over into it
// (NeedsRequeueAtUpdate in Kueue's pkg/workload/admissionchecks.go).
func retryAt(w *world.Workload) time.Time {
	at := w.RequeueAt
	for _, c := range w.Checks {
		if c.State != string(kueue.CheckStateRetry) || c.RequeueAfter == 0 {
			continue
		}
		if t := c.At.Add(time.Duration(c.RequeueAfter) * time.Second); t.After(at) {
			at = t
		}
	}
	return at
}

func (p *packer) rest(s string) project.Rest {
	if s == "" {
		return project.Rest{}
	}
	r, ok := p.restOf[s]
	if !ok {
		r, _ = project.ReadRest(s) // package project wrote it
		p.restOf[s] = r
	}
	return r
}

func (p *packer) owner(o *world.Owner) int {
	if o == nil {
		return 0
	}
	out := Owner{APIVersion: o.APIVersion, Kind: o.Kind}
	if o.Kind == string(world.KindWorkload) { // the parent of a variant (pkg/workload/concurrentadmission)
		out.Name, out.UID = o.Name, o.UID
	}
	return p.owners.of(out)
}

// podSetsOf numbers a list of pod sets.
func (p *packer) podSetsOf(in []world.PodSet, placed bool) int {
	if len(in) == 0 {
		return 0
	}
	list := make([]PodSet, len(in))
	for i := range in {
		list[i] = p.podSet(&in[i], placed)
	}
	k := keyOf(list)
	n, ok := p.podSetsBy[k]
	if !ok {
		n = len(p.podSets)
		p.podSetsBy[k], p.podSets = n, append(p.podSets, list)
	}
	return n
}

func (p *packer) podSet(in *world.PodSet, placed bool) PodSet {
	request := in.TopologyJSON
	if placed {
		request = p.awayFrom(request)
	}
	out := PodSet{
		Name: p.texts.of(in.Name), Count: in.Count, MinCount: in.MinCount, Reclaimable: in.Reclaimable,
		Shape: p.shapes.of(in.Shape), Topology: p.requests.of(request),
	}
	if in.Exact {
		out.Published = make([]Request, len(in.Requests))
		for i, r := range in.Requests {
			out.Published[i] = Request{Resource: p.texts.of(r.Resource), Amount: r.Amount}
		}
	}
	return out
}

// keyOf writes all that a list of pod sets consists of as text.
func keyOf(list []PodSet) string {
	var b []byte
	num := func(n int64) { b = binary.AppendVarint(b, n) }
	for i := range list {
		ps := &list[i]
		num(int64(ps.Name))
		num(int64(ps.Count))
		least := int64(-1)
		if ps.MinCount != nil {
			least = int64(*ps.MinCount)
		}
		num(least)
		num(int64(ps.Reclaimable))
		num(int64(ps.Shape))
		num(int64(ps.Topology))
		published := int64(len(ps.Published))
		if ps.Published == nil {
			published = -1
		}
		num(published)
		for _, r := range ps.Published {
			num(int64(r.Resource))
			num(int64(r.Amount))
		}
	}
	return string(b)
}

// facts are what is to be known of a shape before it is unpacked.
type facts struct {
	devices bool   // it claims devices (DRA)
	runtime string // the RuntimeClass of which its overhead is to be read; empty: none
}

func (p *packer) factsOf(shape string) *facts {
	f := p.facts[shape]
	if f != nil {
		return f
	}
	f = &facts{}
	p.facts[shape] = f
	if !strings.Contains(shape, `"resourceClaims":`) && !strings.Contains(shape, `"runtimeClassName":`) {
		return f
	}
	spec, err := project.PodSpec(shape)
	if err != nil {
		return f // Objects says so
	}
	var w kueue.Workload
	w.Spec.PodSets = make([]kueue.PodSet, 1)
	w.Spec.PodSets[0].Template.Spec = spec
	f.devices = workload.HasDRA(&w)
	if spec.RuntimeClassName != nil && len(spec.Overhead) == 0 {
		f.runtime = *spec.RuntimeClassName
	}
	return f
}

// withoutTopology returns the spec of a flavor without its topology.
func withoutTopology(f *world.Flavor) string {
	if f.Topology == "" {
		return f.Spec
	}
	return rewrite(f.Spec, func(s *kueue.ResourceFlavorSpec) { s.TopologyName = nil })
}

// awayFrom returns a topologyRequest without what asks for a level of a topology.
// What is left bears on flavors alone: the pod sets of a group get the same.
func (p *packer) awayFrom(request string) string {
	if request == "" {
		return ""
	}
	out, ok := p.away[request]
	if !ok {
		out = rewrite(request, noLevels)
		p.away[request] = out
	}
	return out
}

func noLevels(r *kueue.PodSetTopologyRequest) {
	*r = kueue.PodSetTopologyRequest{
		PodSetGroupName: r.PodSetGroupName, PodIndexLabel: r.PodIndexLabel, SubGroupIndexLabel: r.SubGroupIndexLabel, SubGroupCount: r.SubGroupCount,
	}
}

// fixedOf returns assignments without their topology.
func (p *packer) fixedOf(assigned string) string {
	if !strings.Contains(assigned, `"topologyAssignment":`) && !strings.Contains(assigned, `"delayedTopologyRequest":`) {
		return assigned
	}
	out, ok := p.fixed[assigned]
	if !ok {
		out = rewrite(assigned, func(list *[]kueue.PodSetAssignment) {
			for i := range *list {
				(*list)[i].TopologyAssignment, (*list)[i].DelayedTopologyRequest = nil, nil
			}
		})
		p.fixed[assigned] = out
	}
	return out
}

// rewrite changes a value that is written as JSON. What cannot be read stays as it
// is; Objects says so.
func rewrite[T any](in string, change func(*T)) string {
	var v T
	if json.Unmarshal([]byte(in), &v) != nil {
		return in
	}
	change(&v)
	out, err := json.Marshal(&v)
	if err != nil {
		return in
	}
	return string(out)
}
