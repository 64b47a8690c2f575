package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

func (b *builder) workload(w *world.Workload, e *reason.Explanation) Workload {
	out := Workload{
		Namespace: w.Namespace, Name: w.Name, UID: text.Clean(string(w.UID)), Owner: owner(w.Owner), LocalQueue: w.LocalQueue,
		Priority: w.Priority, PriorityClass: given(w.PriorityClass), State: w.State.String(), HoldsQuota: w.HoldsQuota(), Stuck: e.Stuck,
		Class: string(e.Class), Advice: string(e.Advice), Actor: given(e.Actor), Explanation: e.Sentence,
		Reason: given(e.Reason), Message: given(e.Message), NeverFits: e.NeverFits,
		Shortfall: shortages(e.Shortfall), Obstacles: obstacles(e.Obstacles),
		RequeueAt: moment(w.RequeueAt), RequeueCount: w.RequeueCount, UnhealthyNodes: list(w.UnhealthyNodes),
		Evictions: evictions(w.Evictions), PodSets: podSets(w.PodSets, b.x.Unasked(w)), Checks: b.checksOf(w), Preemption: b.preemption(w),
	}
	var unknown []string
	out.ClusterQueue, unknown = b.clusterQueueOf(w)
	if c, ok := w.Conditions.Get(world.CondPodsReady); ok {
		ready := c.Status == "True"
		out.PodsReady = &ready
	}
	if !e.MessageAt.IsZero() {
		age := max(0, b.now.Sub(e.MessageAt))
		out.MessageAge = seconds(&age)
	}
	t := reason.TimesOf(w, b.now)
	out.WaitSeconds, out.RunningSeconds, out.PastExecutionSeconds, out.OverdueSeconds = seconds(t.Wait), seconds(t.Running), seconds(t.PastExecution), seconds(t.Overdue)
	out.ClockSkew = t.Skew
	out.Position, out.PositionSource = b.position(w)
	if w.State == world.Pending {
		unknown = append(unknown, b.pendingUnknown(&out, t.Wait)...)
	}
	if b.pods != nil {
		c := b.pods.Count(w)
		if c.Unknown {
			unknown = append(unknown, "pods: "+c.Note)
		} else {
			out.Pods = &Pods{Pending: c.Pending, Running: c.Running, Failed: c.Failed, Succeeded: c.Succeeded, Note: c.Note}
		}
	}
	out.Unknown = because(unknown...)
	return out
}

// clusterQueueOf is the ClusterQueue that the Workload is in or waits for.
func (b *builder) clusterQueueOf(w *world.Workload) (name *string, unknown []string) {
	if q, ok := b.s.QueueOf(w); ok {
		return &q, nil
	}
	key := world.Key{Namespace: w.Namespace, Name: w.LocalQueue}
	switch {
	case w.LocalQueue == "":
		return nil, []string{"clusterQueue: it names no LocalQueue"}
	case readable(b.s, world.KindLocalQueue):
		return nil, []string{"clusterQueue: LocalQueue " + key.String() + " does not exist"}
	}
	return nil, []string{"clusterQueue: LocalQueue " + key.String() + " cannot be read"}
}

// position is the place of a pending Workload: Kueue's word where it was asked.
func (b *builder) position(w *world.Workload) (*int, string) {
	if w.State != world.Pending || w.UID == "" {
		return nil, "none"
	}
	if p, ok := b.in.Positions[w.UID]; ok {
		return &p, "visibility"
	}
	if p, ok := b.places[w.UID]; ok {
		return &p, "estimated"
	}
	return nil, "none"
}

// pendingUnknown says what is null of a pending Workload that others have.
func (b *builder) pendingUnknown(w *Workload, wait *time.Duration) []string {
	var out []string
	switch {
	case w.Position != nil:
	case !allWorkloads(b.s) || !readable(b.s, world.KindLocalQueue):
		out = append(out, "position: not every Workload and LocalQueue can be read")
	case w.UID == "":
		out = append(out, "position: the Workload has no UID")
	default:
		out = append(out, "position: it stands in no queue now")
	}
	if w.NeverFits == nil {
		out = append(out, "neverFits: the numbers do not tell")
	}
	if wait == nil {
		out = append(out, "waitSeconds: it has no creation time")
	}
	return out
}

func owner(o *world.Owner) *Owner {
	if o == nil {
		return nil
	}
	return &Owner{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: text.Clean(string(o.UID))}
}

func shortages(in []reason.Shortfall) []Shortage {
	out := make([]Shortage, 0, len(in))
	for _, s := range in {
		out = append(out, Shortage{Flavor: s.Flavor, Resource: s.Resource, Quantity: s.Missing.Text(s.Resource)})
	}
	return out
}

func obstacles(in []reason.Obstacle) []Obstacle {
	out := make([]Obstacle, 0, len(in))
	for _, o := range in {
		out = append(out, Obstacle{Kind: string(o.Kind), Object: o.Object, Detail: o.Detail})
	}
	return out
}

func evictions(in []world.Eviction) []Eviction {
	out := make([]Eviction, 0, len(in))
	for _, e := range in {
		out = append(out, Eviction{Reason: e.Reason, UnderlyingCause: e.Cause, Count: e.Count})
	}
	slices.SortStableFunc(out, func(a, b Eviction) int {
		return cmp.Or(strings.Compare(a.Reason, b.Reason), strings.Compare(a.UnderlyingCause, b.UnderlyingCause))
	})
	return out
}

func podSets(in []world.PodSet, unasked map[string][]string) []PodSet {
	out := make([]PodSet, 0, len(in))
	for _, p := range in {
		ps := PodSet{Name: p.Name, Count: p.Count, MinCount: p.MinCount, Admitted: p.Admitted, Reclaimable: p.Reclaimable, Flavors: p.Flavors}
		if ps.Flavors == nil {
			ps.Flavors = map[string]string{}
		}
		if what, named := unasked[p.Name]; named && len(what) == 0 {
			ps.Unasked = []string{"everything"}
		} else {
			ps.Unasked = append([]string{}, what...)
		}
		out = append(out, ps)
	}
	return out
}

func (b *builder) checksOf(w *world.Workload) []Check {
	out := make([]Check, 0, len(w.Checks))
	for _, c := range w.Checks {
		x := Check{Name: c.Name, State: c.State, Message: c.Message, RetryCount: c.RetryCount, ControllerActive: b.checkActive(c.Name)}
		if x.ControllerActive == nil {
			x.Unknown = "controllerActive: AdmissionChecks cannot be read"
		}
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(a, b Check) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// preemption is the last preemption of the Workload, as its chain begins with it.
func (b *builder) preemption(w *world.Workload) *Preemption {
	p := w.Preempted
	if p == nil {
		return nil
	}
	step := b.step(w)
	out := &Preemption{
		PreemptorUID: given(p.PreemptorUID), PreemptorJobUID: given(p.PreemptorJobUID), Reason: p.Reason,
		PreemptorPath: given(p.PreemptorPath), PreempteePath: given(p.PreempteePath), History: p.History,
	}
	if step != nil {
		out.PreemptorUID, out.Preemptor, out.Recreated = given(step.PreemptorUID), keyText(step.Preemptor), step.Recreated
	}
	out.Unknown = preemptorUnknown(out.PreemptorUID, out.Preemptor)
	return out
}

// step is the last preemption of the Workload. A chain is followed only where it was
// not followed already, and where the preemptor is gone, so that it ends at once:
// only events can name it then.
func (b *builder) step(w *world.Workload) *chain.Step {
	if s := b.steps[w.UID]; s != nil && s.Victim == w.Key {
		return s
	}
	l, ok := chain.By(b.s, w)
	switch {
	case !ok:
		return nil
	case l.Preemptor != nil:
		return &chain.Step{Preemptor: &l.Preemptor.Key, PreemptorUID: l.PreemptorUID, Recreated: l.Recreated}
	}
	c := b.chains.Of(w)
	return &c.Links[0]
}

func keyText(k *world.Key) *string {
	if k == nil {
		return nil
	}
	return given(k.String())
}

// preemptorUnknown says what is not known of a preemptor.
func preemptorUnknown(uid, name *string) string {
	switch {
	case name != nil:
		return ""
	case uid == nil:
		return "preemptor: Kueue did not write who it was"
	}
	return "preemptor: deleted or not visible (uid " + *uid + ")"
}
