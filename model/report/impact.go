package report

import (
	"slices"
	"time"

	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// KindImpactResult is the kind of the document about a preview.
const KindImpactResult = "ImpactResult"

// ImpactResult is the document about what Kueue will do when objects change.
type ImpactResult struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Source     Source `json:"source"`
	Impact     Impact `json:"impact"`
}

// Impact is what will happen, as impact.Result. An entry with Certain set happens
// in each of the Timings; others depend on timing.
type Impact struct {
	// NotComputed says why there is no answer; empty: there is one.
	NotComputed  string  `json:"notComputed"`
	ComputedWith string  `json:"computedWith"`
	ClusterRuns  *string `json:"clusterRuns"`
	// StateOf is when what it starts from was read; null where nothing was computed.
	StateOf *time.Time `json:"stateOf"`
	// Edits are the objects that would change.
	Edits       []ImpactEdit      `json:"edits"`
	Assumptions []string          `json:"assumptions"`
	Unknown     []string          `json:"unknown"`
	Bounded     string            `json:"bounded"` // what cut it; empty: it came to its end
	Timings     int               `json:"timings"`
	Restless    []string          `json:"restless"`
	Preempted   []ImpactVictim    `json:"preempted"`
	Evicted     []ImpactEviction  `json:"evicted"`
	Queues      []ImpactQueue     `json:"queues"`
	NeverFits   []string          `json:"neverFits"`
	OverQuota   []ImpactOver      `json:"overQuota"`
	Waiting     ImpactWaiting     `json:"waiting"`
	Admitted    []ImpactAdmission `json:"admitted"`
	Quota       []ImpactCell      `json:"quota"`
}

// ImpactEdit is one object that would be changed, made or deleted.
type ImpactEdit struct {
	Object string `json:"object"` // Kind/name or Kind/namespace/name
	Change string `json:"change"` // changed, made or deleted
}

// ImpactVictim is one preemption. A preemptor that is not known is null, with its
// priority.
type ImpactVictim struct {
	Victim                string  `json:"victim"` // namespace/name
	VictimJob             string  `json:"victimJob"`
	VictimClusterQueue    string  `json:"victimClusterQueue"`
	VictimPriority        int32   `json:"victimPriority"`
	Preemptor             *string `json:"preemptor"`
	PreemptorJob          *string `json:"preemptorJob"`
	PreemptorClusterQueue *string `json:"preemptorClusterQueue"`
	PreemptorPriority     *int32  `json:"preemptorPriority"`
	Reason                string  `json:"reason"`
	// Policy is the field that allows it, with its value after the edit.
	Policy      string `json:"policy"`
	PolicyHolds *bool  `json:"policyHolds"`
	// Runs is set when the victim runs now, Back when it holds quota again at the end.
	Runs    bool   `json:"runs"`
	Back    bool   `json:"back"`
	Certain bool   `json:"certain"`
	Unknown string `json:"unknown,omitempty"`
}

// ImpactEviction is a Workload that loses its quota to nobody.
type ImpactEviction struct {
	Workload     string `json:"workload"`
	Job          string `json:"job"`
	ClusterQueue string `json:"clusterQueue"`
	Priority     int32  `json:"priority"`
	Reason       string `json:"reason"`
	Running      bool   `json:"running"` // its pods run and are stopped
	Back         bool   `json:"back"`    // it holds quota again at the end
	Certain      bool   `json:"certain"`
}

// ImpactAdmission is a Workload that gets quota. It starts when Checks is empty,
// otherwise it waits for those admission checks.
type ImpactAdmission struct {
	Workload     string            `json:"workload"`
	Job          string            `json:"job"`
	ClusterQueue string            `json:"clusterQueue"`
	Priority     int32             `json:"priority"`
	Flavors      map[string]string `json:"flavors"` // by resource
	Borrows      bool              `json:"borrows"`
	Checks       []string          `json:"checks"`
	Pods         int32             `json:"pods"`
	PodsAsked    int32             `json:"podsAsked"`
	Again        bool              `json:"again"` // it holds quota now and loses it first
	Certain      bool              `json:"certain"`
}

// ImpactWaiting is what still waits at the end; Count is null where nothing was
// computed.
type ImpactWaiting struct {
	Count   *int           `json:"count"`
	Certain bool           `json:"certain"` // so many in each timing
	Changed []ImpactChange `json:"changed"`
}

// ImpactChange is a Workload that waits before and after, for another reason.
type ImpactChange struct {
	Workload     string `json:"workload"`
	Job          string `json:"job"`
	ClusterQueue string `json:"clusterQueue"`
	Before       string `json:"before"` // "class: sentence"
	After        string `json:"after"`
	Certain      bool   `json:"certain"`
}

// ImpactQueue is a queue that becomes active or inactive.
type ImpactQueue struct {
	Kind         string `json:"kind"`
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	ActiveBefore bool   `json:"activeBefore"`
	ActiveAfter  bool   `json:"activeAfter"`
	// Held is set when it, or the ClusterQueue of a LocalQueue, is stopped then.
	Held bool   `json:"held"`
	Why  string `json:"why"`
}

// ImpactOver is a cell in which running Workloads hold more than they could get
// anew. ClusterQueue is null where it is one of a Cohort.
type ImpactOver struct {
	ClusterQueue *string `json:"clusterQueue"`
	Cohort       *string `json:"cohort"`
	Flavor       string  `json:"flavor"`
	Resource     string  `json:"resource"`
	By           string  `json:"by"`
	Before       string  `json:"before"` // by how much it is now
	Worse        bool    `json:"worse"`
	Certain      bool    `json:"certain"`
}

// ImpactCell is a cell of quota that changes.
type ImpactCell struct {
	Kind     string     `json:"kind"`
	Name     string     `json:"name"`
	Flavor   string     `json:"flavor"`
	Resource string     `json:"resource"`
	Before   ImpactSide `json:"before"`
	After    ImpactSide `json:"after"`
	Certain  bool       `json:"certain"`
}

// ImpactSide is a cell before or after.
type ImpactSide struct {
	Nominal  string `json:"nominal"`
	Reserved string `json:"reserved"`
	Borrowed string `json:"borrowed"`
}

// Preview makes the document about a preview of the edits on what in was made
// from. It does not block.
func Preview(in Input, r *impact.Result, edits []impact.Edit) *ImpactResult {
	return &ImpactResult{APIVersion: APIVersion, Kind: KindImpactResult, Source: sourceOf(in), Impact: ImpactOf(r, edits)}
}

// ImpactOf is the part of the document that a plan carries, too.
func ImpactOf(r *impact.Result, edits []impact.Edit) Impact {
	out := Impact{
		NotComputed: text.Clean(r.NotComputed), ComputedWith: text.Clean(r.ComputedWith), ClusterRuns: given(r.ClusterRuns),
		Edits: editsOf(r, edits), Assumptions: sentences(r.Assumptions), Unknown: sentences(r.Unknown), Bounded: text.Clean(r.Bounded), Timings: r.Timings,
		Restless: []string{}, Preempted: victims(r), Evicted: []ImpactEviction{}, Queues: []ImpactQueue{}, NeverFits: []string{}, OverQuota: []ImpactOver{},
		Waiting: ImpactWaiting{Changed: []ImpactChange{}}, Admitted: []ImpactAdmission{}, Quota: []ImpactCell{},
	}
	if r.Before != nil {
		out.StateOf = moment(r.Before.At)
	}
	if r.NotComputed == "" {
		n := r.Waiting.Count
		out.Waiting.Count, out.Waiting.Certain = &n, r.Waiting.Certain
	}
	for _, w := range r.Restless {
		out.Restless = append(out.Restless, w.Key.String())
	}
	for i := range r.Evicted {
		e, w := &r.Evicted[i], &r.Evicted[i].Workload
		out.Evicted = append(out.Evicted, ImpactEviction{
			Workload: w.Ref.Key.String(), Job: w.Job, ClusterQueue: w.ClusterQueue, Priority: w.Priority, Reason: text.Clean(e.Reason), Running: e.Running, Back: e.Back, Certain: e.Certain,
		})
	}
	for _, q := range r.Queues {
		out.Queues = append(out.Queues, ImpactQueue{
			Kind: string(q.Ref.Kind), Namespace: q.Ref.Namespace, Name: q.Ref.Name, ActiveBefore: q.ActiveBefore, ActiveAfter: q.ActiveAfter, Held: held(r, q.Ref), Why: text.Clean(q.Why),
		})
	}
	for i := range r.NeverFits {
		out.NeverFits = append(out.NeverFits, r.NeverFits[i].Ref.Key.String())
	}
	for i := range r.Waiting.Changed {
		c, w := &r.Waiting.Changed[i], &r.Waiting.Changed[i].Workload
		out.Waiting.Changed = append(out.Waiting.Changed, ImpactChange{
			Workload: w.Ref.Key.String(), Job: w.Job, ClusterQueue: w.ClusterQueue, Certain: c.Certain,
			Before: text.Clean(c.Before), After: text.Clean(c.After),
		})
	}
	for i := range r.Admitted {
		out.Admitted = append(out.Admitted, admission(&r.Admitted[i]))
	}
	out.amounts(r)
	return out
}

func editsOf(r *impact.Result, edits []impact.Edit) []ImpactEdit {
	out := make([]ImpactEdit, 0, len(edits))
	for _, e := range edits {
		change := "changed"
		switch {
		case e.Object == nil:
			change = "deleted"
		case r.Before != nil && !exists(r, e):
			change = "made"
		}
		out = append(out, ImpactEdit{Object: text.Clean(world.Ref{Kind: e.Kind, Key: e.Key}.String()), Change: change})
	}
	return out
}

// exists reports whether there is an object for the edit to change.
func exists(r *impact.Result, e impact.Edit) bool {
	switch s := r.Before; e.Kind {
	case world.KindClusterQueue:
		return s.ClusterQueue(e.Key.Name) != nil
	case world.KindLocalQueue:
		return s.LocalQueue(e.Key) != nil
	case world.KindCohort:
		return s.Cohort(e.Key.Name) != nil
	case world.KindResourceFlavor:
		return s.Flavor(e.Key.Name) != nil
	case world.KindAdmissionCheck:
		return s.Check(e.Key.Name) != nil
	case world.KindWorkloadPriorityClass:
		return s.PriorityClass(e.Key.Name) != nil
	}
	return true
}

// held reports whether the queue is stopped after the edit.
func held(r *impact.Result, ref world.Ref) bool {
	if r.After == nil {
		return false
	}
	name := ref.Name
	if ref.Kind == world.KindLocalQueue {
		q := r.After.LocalQueue(ref.Key)
		if q == nil || q.StopPolicy.Stopped() {
			return q != nil
		}
		name = q.ClusterQueue
	}
	q := r.After.ClusterQueue(name)
	return q != nil && q.StopPolicy.Stopped()
}

func victims(r *impact.Result) []ImpactVictim {
	out := make([]ImpactVictim, 0, len(r.Preempted))
	for i := range r.Preempted {
		p := &r.Preempted[i]
		v := ImpactVictim{
			Victim: p.Victim.Ref.Key.String(), VictimJob: p.Victim.Job, VictimClusterQueue: p.Victim.ClusterQueue, VictimPriority: p.Victim.Priority,
			Reason: text.Clean(p.Reason), Policy: p.Policy, PolicyHolds: p.PolicyHolds, Runs: p.Runs, Back: p.Back, Certain: p.Certain,
		}
		if p.Preemptor.Ref.Name == "" {
			v.Unknown = "preemptor: it is not among the Workloads that were read"
		} else {
			name, priority := p.Preemptor.Ref.Key.String(), p.Preemptor.Priority
			v.Preemptor, v.PreemptorPriority = &name, &priority
			v.PreemptorJob, v.PreemptorClusterQueue = given(p.Preemptor.Job), given(p.Preemptor.ClusterQueue)
		}
		if v.PolicyHolds == nil {
			v.Unknown = because(v.Unknown, "policyHolds: not enough is known of both sides and of the policy")
		}
		out = append(out, v)
	}
	return out
}

func admission(a *impact.Admission) ImpactAdmission {
	out := ImpactAdmission{
		Workload: a.Workload.Ref.Key.String(), Job: a.Workload.Job, ClusterQueue: a.Workload.ClusterQueue, Priority: a.Workload.Priority,
		Flavors: map[string]string{}, Borrows: a.Borrows, Checks: list(slices.Clone(a.Checks)), Pods: a.Pods, PodsAsked: a.Asked, Again: a.Again, Certain: a.Certain,
	}
	for resource, flavor := range a.Flavors {
		out.Flavors[resource] = flavor
	}
	return out
}

func (out *Impact) amounts(r *impact.Result) {
	for _, o := range r.OverQuota {
		x := ImpactOver{Flavor: o.Flavor, Resource: o.Resource, By: o.By.Text(o.Resource), Before: o.Before.Text(o.Resource), Worse: o.By > o.Before, Certain: o.Certain}
		name := o.Ref.Name
		if o.Ref.Kind == world.KindCohort {
			x.Cohort = &name
		} else {
			x.ClusterQueue = &name
		}
		out.OverQuota = append(out.OverQuota, x)
	}
	for _, c := range r.Quota {
		out.Quota = append(out.Quota, ImpactCell{
			Kind: string(c.Ref.Kind), Name: c.Ref.Name, Flavor: c.Flavor, Resource: c.Resource, Certain: c.Certain,
			Before: ImpactSide{Nominal: c.NominalBefore.Text(c.Resource), Reserved: c.UsedBefore.Text(c.Resource), Borrowed: c.BorrowedBefore.Text(c.Resource)},
			After:  ImpactSide{Nominal: c.NominalAfter.Text(c.Resource), Reserved: c.UsedAfter.Text(c.Resource), Borrowed: c.BorrowedAfter.Text(c.Resource)},
		})
	}
}
