package reason

import (
	"fmt"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Stale is how far a queue's status can be believed. What Kueue leaves out on
// purpose is a Note and no reason to call it stale.
type Stale struct {
	Stale bool
	Note  string
}

// settling is how long Kueue may take to write a status after a Workload changed.
const settling = 10 * time.Second

// mostFlavors is how many flavors a LocalQueue's status could hold before Kueue
// 0.17.5 and 0.18.1; with one more the whole status is refused.
const mostFlavors = 16

// StaleOf compares the ClusterQueue's status with its spec and its Workloads.
func (x *Explainer) StaleOf(q *world.ClusterQueue) Stale {
	var out stale
	out.generation(q.Meta, q.Conditions)
	if c, _ := q.Conditions.Get(world.CondActive); c.Status == "True" {
		if a := ActivityOf(x.s, q); a.Active != nil && !*a.Active {
			out.note("it says active, but Kueue admits nothing: %s", strings.Join(a.Causes, ", "))
		}
	}
	if !x.countable() {
		return out.done()
	}
	c := x.s.CountsOf(q.Name)
	aside, perhaps := x.asideIn(q.Name)
	out.counts(q.Status, c, aside, perhaps)
	if n := x.s.Tree.ClusterQueue(q.Name); n != nil && n.Cycle == nil {
		said := map[world.FlavorResource]world.Amount{}
		for _, u := range q.Status.Reservation {
			said[u.FlavorResource] = u.Amount
		}
		for _, cell := range n.Cells {
			switch {
			case !cell.InSpec && cell.Reserved != 0:
				out.note("%s of %s in use on %s, which the spec no longer has", cell.Reserved.Text(cell.Resource), cell.Resource, cell.Flavor)
			case cell.InSpec && said[cell.FlavorResource] != cell.Reserved:
				out.differ("%s of %s reserved %s, really %s", cell.Resource, cell.Flavor, said[cell.FlavorResource].Text(cell.Resource), cell.Reserved.Text(cell.Resource))
			}
		}
	}
	x.settle(&out, q.Name)
	return out.done()
}

// LocalStaleOf compares the LocalQueue's status with its spec and its Workloads.
func (x *Explainer) LocalStaleOf(q *world.LocalQueue) Stale {
	var out stale
	out.generation(q.Meta, q.Conditions)
	if f := x.s.Fresh(world.KindWorkload); !f.Usable() || f.Feed == world.Denied {
		return out.done()
	}
	c := x.s.CountsOfLocal(q.Key)
	var aside, perhaps int
	if q.StopPolicy.Stopped() {
		aside = c.Pending
		if c.Pending > 0 {
			out.note("Kueue counts no pending Workloads while the LocalQueue is held")
		}
	}
	for _, w := range x.asides()[q.ClusterQueue] {
		if w.Namespace == q.Namespace && w.LocalQueue == q.Name && aside == 0 {
			perhaps++
		}
	}
	out.counts(q.Status, c, aside, perhaps)
	if cq := x.s.ClusterQueue(q.ClusterQueue); cq != nil && out.Stale {
		if n := len(cq.Flavors()); n > mostFlavors {
			out.note("ClusterQueue %s has %d flavors: Kueue before 0.17.5 and 0.18.1 cannot write a LocalQueue status with more than %d, so all of it stays as it was", cq.Name, n, mostFlavors)
		}
	}
	x.settle(&out, q.ClusterQueue)
	return out.done()
}

// countable reports whether every Workload can be seen.
func (x *Explainer) countable() bool {
	f := x.s.Fresh(world.KindWorkload)
	return f.Usable() && f.Feed != world.Denied && x.s.Contract.Limit() == ""
}

// asides are the pending Workloads that Kueue may leave out of a queue's count:
// gated, on hold, in backoff, or put aside by a stopped queue. By ClusterQueue.
func (x *Explainer) asides() map[string][]*world.Workload {
	if x.aside != nil {
		return x.aside
	}
	x.aside, x.changed = map[string][]*world.Workload{}, map[string]time.Time{}
	for _, w := range x.s.Workloads {
		name, ok := x.s.QueueOf(w)
		if !ok {
			continue
		}
		for _, c := range w.Conditions {
			if c.At.After(x.changed[name]) {
				x.changed[name] = c.At
			}
		}
		if w.State == world.Pending && setAside(w) {
			x.aside[name] = append(x.aside[name], w)
		}
	}
	return x.aside
}

func setAside(w *world.Workload) bool {
	r, ok := w.Conditions.Get(world.CondRequeued)
	c, _ := w.Conditions.Get(world.CondQuotaReserved)
	return w.GatedBy != "" || !w.RequeueAt.IsZero() || ok && r.Status == "False" || c.Reason == "OnHold" || c.Reason == "AdmissionGated"
}

// asideIn counts the pending Workloads that the ClusterQueue's status leaves out
// for certain, those of held LocalQueues, and those that it may leave out.
func (x *Explainer) asideIn(queue string) (held, perhaps int) {
	for _, l := range x.localsOf(queue) {
		if l.StopPolicy.Stopped() {
			held += x.s.CountsOfLocal(l.Key).Pending
		}
	}
	for _, w := range x.asides()[queue] {
		if l := x.s.LocalQueue(world.Key{Namespace: w.Namespace, Name: w.LocalQueue}); l != nil && !l.StopPolicy.Stopped() {
			perhaps++
		}
	}
	return held, perhaps
}

// localsOf returns the LocalQueues of the ClusterQueue.
func (x *Explainer) localsOf(queue string) []*world.LocalQueue {
	if x.locals == nil {
		x.locals = map[string][]*world.LocalQueue{}
		for _, l := range x.s.LocalQueues {
			x.locals[l.ClusterQueue] = append(x.locals[l.ClusterQueue], l)
		}
	}
	return x.locals[queue]
}

// settle takes back what a Workload that changed a moment ago may explain.
func (x *Explainer) settle(out *stale, queue string) {
	x.asides()
	age := x.now.Sub(x.changed[queue])
	if len(out.counted) == 0 || x.changed[queue].IsZero() || age < 0 || age >= settling {
		return
	}
	out.counted = nil
	out.note("a Workload changed %s ago and the status does not show it yet", short(age))
}

// stale gathers what is wrong with a status.
type stale struct {
	Stale   bool     // older than the spec
	old     []string // why
	counted []string // differences from the Workloads
	notes   []string
}

func (s *stale) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

func (s *stale) differ(format string, args ...any) {
	s.counted = append(s.counted, fmt.Sprintf(format, args...))
	s.Stale = true
}

func (s *stale) generation(m world.Meta, conds world.Conditions) {
	c, ok := conds.Get(world.CondActive)
	if ok && c.ObservedGeneration != 0 && c.ObservedGeneration < m.Generation {
		s.Stale = true
		s.old = append(s.old, fmt.Sprintf("written for generation %d of the spec, which is at %d", c.ObservedGeneration, m.Generation))
	}
}

// counts compares the numbers of Workloads. Of the pending ones the status leaves
// aside for certain and perhaps up to perhaps more.
func (s *stale) counts(q world.QueueStatus, c store.Counts, aside, perhaps int) {
	if int(q.Reserving) != c.Reserving {
		s.differ("reserving %d, really %d", q.Reserving, c.Reserving)
	}
	if int(q.Admitted) != c.Admitted {
		s.differ("admitted %d, really %d", q.Admitted, c.Admitted)
	}
	most := c.Pending - aside
	if n := int(q.Pending); n > c.Pending || n < most-perhaps {
		s.differ("pending %d, really %d", n, c.Pending)
	} else if n != c.Pending && aside < c.Pending {
		s.note("it counts %d of %d pending: without those that are held, gated or in backoff", n, c.Pending)
	}
}

func (s *stale) done() Stale {
	all := append(append(append([]string(nil), s.old...), s.counted...), s.notes...)
	return Stale{Stale: len(s.old)+len(s.counted) > 0, Note: strings.Join(all, "; ")}
}
