package impact

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/world"
)

// composer makes one answer of what the timings say.
type composer struct {
	st   *stage
	ends []*ending
	// queues are the ClusterQueues that were looked at.
	queues map[string]bool
	// agreed is set when what all timings say is certain: all of them were run, and
	// nothing moves without the edit. whole: and none was cut.
	agreed, whole bool
}

// sure settles whether something that happens on the way is certain, end whether
// something about the end is.
func (c *composer) sure(inAll bool) bool { return inAll && c.agreed }
func (c *composer) end(inAll bool) bool  { return inAll && c.agreed && c.whole }

// workload names the Workload of the key, with its priority after the edit.
func (c *composer) workload(k world.Key) Workload {
	w := c.st.base(k)
	if w == nil {
		return Workload{Ref: world.Ref{Kind: world.KindWorkload, Key: k}}
	}
	out := Workload{Ref: w.Ref(), Job: w.JobName(), Priority: w.Priority}
	// Where it is, else where it waits; a LocalQueue may be new.
	if name, ok := c.st.from.QueueOf(w); ok {
		out.ClusterQueue = name
	} else {
		out.ClusterQueue, _ = c.st.specs.QueueOf(w)
	}
	return out
}

// ran reports whether the Workload runs before anything happens.
func ran(w *world.Workload) bool {
	return w != nil && w.HoldsQuota() && w.Conditions.True(world.CondAdmitted)
}

// now is the Workload before the edit; nil where there is none.
func (c *composer) now(k world.Key) *world.Workload { return c.st.from.WorkloadByKey(k) }

type preemptionKey struct {
	victim, preemptor world.Key
	uid               types.UID
	reason            string
}

// preempted lists the preemptions: those of running Workloads first, then by the
// victim's priority.
func (c *composer) preempted() []Preemption {
	u := newUnion[preemptionKey, Preemption]()
	for _, e := range c.ends {
		keys := make([]preemptionKey, 0, len(e.out.Preemptions))
		for i := range e.out.Preemptions {
			keys = append(keys, keyOfPreemption(&e.out.Preemptions[i]))
		}
		u.add(keys, c.preemption)
		for _, k := range keys {
			if e.holds(c.st, k.victim) {
				u.of(k).Back = true
			}
		}
	}
	out := u.all(len(c.ends), func(p *Preemption, inAll bool) { p.Certain = c.sure(inAll) })
	slices.SortStableFunc(out, func(a, b Preemption) int {
		return cmp.Or(first(a.Runs, b.Runs), byHurt(&a.Victim, &b.Victim, a.Certain, b.Certain),
			a.Preemptor.Ref.Key.Compare(b.Preemptor.Ref.Key), cmp.Compare(a.Preemptor.Ref.UID, b.Preemptor.Ref.UID), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

func keyOfPreemption(p *engine.Preemption) preemptionKey {
	k := preemptionKey{victim: p.Victim, preemptor: p.Preemptor, reason: p.Reason}
	if p.Preemptor == (world.Key{}) {
		k.uid = p.PreemptorUID
	}
	return k
}

func (c *composer) preemption(k preemptionKey) Preemption {
	p := Preemption{Victim: c.workload(k.victim), Reason: clean(k.reason), Runs: ran(c.now(k.victim))}
	if k.preemptor == (world.Key{}) {
		p.Preemptor.Ref = world.Ref{Kind: world.KindWorkload, UID: k.uid}
	} else {
		p.Preemptor = c.workload(k.preemptor)
	}
	// The policy is that of the queue which the preemptor is in, as edited.
	queue := p.Preemptor.ClusterQueue
	if w := c.st.base(k.preemptor); w != nil {
		if name, ok := c.st.specs.QueueOf(w); ok {
			queue = name
		}
	}
	if q := c.st.specs.ClusterQueue(queue); q != nil {
		p.Policy = chain.Policy(q.Preemption, k.reason)
		if preemptor, victim := c.st.base(k.preemptor), c.st.base(k.victim); preemptor != nil && victim != nil {
			p.PolicyHolds = chain.Holds(q.Preemption, k.reason, preemptor, victim)
		}
	}
	return p
}

type evictionKey struct {
	workload world.Key
	reason   string
}

// evicted lists the other losses of quota: of running Workloads first, then by
// priority. Kueue writes an eviction on a Workload without quota, too, when it is
// deactivated; that one loses nothing and is left out.
func (c *composer) evicted() []Eviction {
	u := newUnion[evictionKey, Eviction]()
	for _, e := range c.ends {
		var keys []evictionKey
		for i := range e.out.Evictions {
			ev := &e.out.Evictions[i]
			w := c.now(ev.Workload)
			if w == nil || !w.Conditions.True(world.CondQuotaReserved) && deactivation(ev.Reason) {
				continue
			}
			keys = append(keys, evictionKey{ev.Workload, c.words(ev, w)})
		}
		u.add(keys, func(k evictionKey) Eviction {
			return Eviction{Workload: c.workload(k.workload), Reason: k.reason, Running: ran(c.now(k.workload))}
		})
		for _, k := range keys {
			if e.holds(c.st, k.workload) {
				u.of(k).Back = true
			}
		}
	}
	out := u.all(len(c.ends), func(e *Eviction, inAll bool) { e.Certain = c.sure(inAll) })
	slices.SortStableFunc(out, func(a, b Eviction) int {
		return cmp.Or(first(a.Running, b.Running), byHurt(&a.Workload, &b.Workload, a.Certain, b.Certain), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// first orders what is set before what is not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// byHurt orders by priority, the highest first, then by what is certain, then by
// namespace and name.
func byHurt(a, b *Workload, aCertain, bCertain bool) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), first(aCertain, bCertain), a.Ref.Key.Compare(b.Ref.Key))
}
