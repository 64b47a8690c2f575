package store

import (
	"maps"
	"math"
	"math/bits"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

// index keeps what is derived from Workloads up to date, one Workload at a time.
type index struct {
	byUID   sharedMap[*world.Workload]
	byJob   sharedMap[[]*world.Workload]
	victims sharedMap[[]*world.Workload]
	byLocal map[world.Key]Counts
	holding map[string]Counts // of those that hold quota, by ClusterQueue
	usage   map[string]map[world.FlavorResource]held

	localsShared bool // byLocal belongs to a snapshot; copy before writing
}

func newIndex() index {
	return index{byLocal: map[world.Key]Counts{}, holding: map[string]Counts{}, usage: map[string]map[world.FlavorResource]held{}}
}

// replace takes old out of the index and puts row in; either may be nil.
func (x *index) replace(old, row *world.Workload) {
	if x.localsShared {
		x.byLocal, x.localsShared = maps.Clone(x.byLocal), false
	}
	if old != nil {
		x.count(old, -1)
		x.unlink(old, row)
	}
	if row != nil {
		x.count(row, 1)
		if row.UID != "" { // else it would be found for any other that has none
			x.byUID.set(row.UID, row)
		}
		if row.JobUID != "" {
			add(&x.byJob, row.JobUID, row)
		}
		if row.Preempted != nil && row.Preempted.PreemptorUID != "" {
			add(&x.victims, row.Preempted.PreemptorUID, row)
		}
	}
}

func (x *index) unlink(old, row *world.Workload) {
	// A Workload deleted and made again under its name has another UID.
	if row == nil || row.UID != old.UID {
		x.byUID.remove(old.UID)
	}
	if old.JobUID != "" {
		take(&x.byJob, old.JobUID, old)
	}
	if old.Preempted != nil && old.Preempted.PreemptorUID != "" {
		take(&x.victims, old.Preempted.PreemptorUID, old)
	}
}

func add(m *sharedMap[[]*world.Workload], uid types.UID, w *world.Workload) {
	// Clip so that appending never writes into a slice that a snapshot holds.
	m.set(uid, append(slices.Clip(m.get(uid)), w))
}

func take(m *sharedMap[[]*world.Workload], uid types.UID, w *world.Workload) {
	left := slices.DeleteFunc(slices.Clone(m.get(uid)), func(x *world.Workload) bool { return x == w })
	if len(left) == 0 {
		m.remove(uid)
		return
	}
	m.set(uid, left)
}

func (c *Counts) add(w *world.Workload, n int) {
	switch w.State {
	case world.Pending:
		c.Pending += n
	case world.Evicting:
		c.Evicting += n
	case world.Finished:
		c.Finished += n
	case world.Deactivated:
		c.Deactivated += n
	}
	if w.HoldsQuota() {
		c.Reserving += n
		if w.Conditions.True(world.CondAdmitted) {
			c.Admitted += n
		}
	}
}

func (x *index) count(w *world.Workload, n int) {
	local := world.Key{Namespace: w.Namespace, Name: w.LocalQueue}
	c := x.byLocal[local]
	c.add(w, n)
	if c == (Counts{}) {
		delete(x.byLocal, local)
	} else {
		x.byLocal[local] = c
	}
	if !w.HoldsQuota() {
		return
	}
	h := x.holding[w.ClusterQueue]
	h.add(w, n)
	x.holding[w.ClusterQueue] = h
	cells := x.usage[w.ClusterQueue]
	if cells == nil {
		cells = map[world.FlavorResource]held{}
		x.usage[w.ClusterQueue] = cells
	}
	admitted := w.Conditions.True(world.CondAdmitted)
	for _, u := range w.Usage {
		c := cells[u.FlavorResource]
		c.workloads += n
		c.reserved = c.reserved.add(u.Amount, n)
		if admitted {
			c.admitted = c.admitted.add(u.Amount, n)
		}
		if c.workloads == 0 {
			delete(cells, u.FlavorResource)
		} else {
			cells[u.FlavorResource] = c
		}
	}
}

// held is what Workloads hold of one cell, and how many do.
type held struct {
	workloads          int
	reserved, admitted sum
}

// sum adds up amounts that are not negative without ever losing a bit, so that
// what was added can be taken away again: saturation at Unlimited comes last, as
// in a sum that Kueue makes anew.
type sum struct{ high, low uint64 }

func (s sum) add(a world.Amount, n int) sum {
	var carry uint64
	if n > 0 {
		s.low, carry = bits.Add64(s.low, uint64(max(0, a)), 0)
		s.high += carry
	} else {
		s.low, carry = bits.Sub64(s.low, uint64(max(0, a)), 0)
		s.high -= carry
	}
	return s
}

func (s sum) amount() world.Amount {
	if s.high > 0 || s.low > math.MaxInt64 {
		return world.Unlimited
	}
	return world.Amount(s.low)
}

// usageOf returns what the ClusterQueue's Workloads hold, in any order.
func (x *index) usageOf(clusterQueue string) []quota.Usage {
	cells := x.usage[clusterQueue]
	out := make([]quota.Usage, 0, len(cells))
	for fr, h := range cells {
		out = append(out, quota.Usage{FlavorResource: fr, Reserved: h.reserved.amount(), Admitted: h.admitted.amount()})
	}
	return out
}

// countQueues sums the Workloads of each ClusterQueue: those that hold quota
// where they hold it, the others where their LocalQueue points.
func (x *index) countQueues(locals []*world.LocalQueue) map[string]Counts {
	out := make(map[string]Counts, len(x.holding))
	for name, h := range x.holding {
		out[name] = Counts{Reserving: h.Reserving, Admitted: h.Admitted, Evicting: h.Evicting}
	}
	for _, lq := range locals {
		l := x.byLocal[lq.Key]
		c := out[lq.ClusterQueue]
		c.Pending += l.Pending
		c.Finished += l.Finished
		c.Deactivated += l.Deactivated
		out[lq.ClusterQueue] = c
	}
	return out
}

func (x *index) publish(s *Snapshot) {
	s.byUID, s.byJob, s.victims = x.byUID.publish(), x.byJob.publish(), x.victims.publish()
	s.byLocal = x.byLocal
	x.localsShared = true
}
