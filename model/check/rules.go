package check

import (
	"fmt"
	"slices"
	"time"

	"cli.holdfast.dev/holdfast/model/pods"
	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/requests"
	"cli.holdfast.dev/holdfast/model/world"
)

// grace is how long Kueue may take to admit what fits.
const grace = time.Minute

// readable says of the first kind that cannot be read that it cannot.
func (c *checker) readable(v *verdict, kinds ...world.Kind) bool {
	for _, k := range kinds {
		if f := c.Snapshot.Fresh(k); !f.Usable() || f.Feed == world.Denied || c.Snapshot.Contract.Limit() != "" && k == world.KindWorkload {
			v.doubt("", fmt.Sprintf("not all objects of kind %s can be read", k))
			return false
		}
	}
	return true
}

func (c *checker) nominal(v *verdict) {
	if !c.readable(v, world.KindClusterQueue, world.KindLocalQueue, world.KindWorkload, world.KindCohort) {
		return
	}
	count := requests.New(c.Snapshot)
	for _, w := range c.Snapshot.Workloads {
		name, ok := c.Snapshot.QueueOf(w)
		node := c.Snapshot.Tree.ClusterQueue(name)
		if !ok || node == nil || node.Cycle != nil {
			continue
		}
		if w.State == world.Admitted && within(node, w.Usage) {
			v.pass(w.Ref().String(), "admitted within the nominal quota of ClusterQueue "+name)
			continue
		}
		e := c.x.Explain(w)
		if w.State != world.Pending || e.Class != reason.Quota && e.Class != reason.QueueOrder && e.Class != reason.Preempted {
			continue // something else than quota decides
		}
		q := c.Snapshot.ClusterQueue(name)
		if q == nil || !fitsNominal(count, w, q, node) {
			continue
		}
		t := reason.TimesOf(w, c.Now)
		if t.Wait == nil || *t.Wait < grace {
			v.doubt(w.Ref().String(), "fits into what is left of the nominal quota, and Kueue has had less than a minute")
			continue
		}
		v.fail(w.Ref().String(), "fits into what is left of the nominal quota of ClusterQueue "+name+" and waits: "+e.Sentence)
	}
}

// within reports whether everything in use in the cells that the Workload uses is
// within the queue's own nominal quota.
func within(node *quota.Node, uses []world.Use) bool {
	for _, u := range uses {
		if c, ok := node.Cell(u.FlavorResource); !ok || !c.InSpec || c.Reserved > c.Nominal {
			return false
		}
	}
	return len(uses) > 0
}

// fitsNominal reports whether one flavor of each resource group has, of its own
// nominal quota, all that the Workload asks for left.
func fitsNominal(count *requests.Counter, w *world.Workload, q *world.ClusterQueue, node *quota.Node) bool {
	asks := false
	for _, g := range q.Groups {
		need := map[string]world.Amount{}
		for i := range w.PodSets {
			n := count.Of(w.Namespace, &w.PodSets[i])
			if n.Unknown != "" {
				return false
			}
			for _, r := range g.Resources {
				if a := n.Of(r).Mul(int64(n.Pods)); a > 0 {
					need[r] = need[r].Add(a)
				}
			}
		}
		if len(need) == 0 {
			continue
		}
		asks = true
		if !slices.ContainsFunc(g.Flavors, func(f string) bool {
			for r, a := range need {
				c, ok := node.Cell(world.FlavorResource{Flavor: f, Resource: r})
				if !ok || c.Nominal.Sub(c.Reserved) < a {
					return false
				}
			}
			return true
		}) {
			return false
		}
	}
	return asks
}

func (c *checker) borrowCap(v *verdict) {
	if !c.readable(v, world.KindClusterQueue, world.KindWorkload) {
		return
	}
	for _, q := range c.Snapshot.ClusterQueues {
		node := c.Snapshot.Tree.ClusterQueue(q.Name)
		for _, cell := range node.Cells {
			if cell.BorrowingLimit == nil || cell.Reserved <= cell.Nominal {
				continue
			}
			over := cell.Reserved.Sub(cell.Nominal.Add(*cell.BorrowingLimit))
			what := cell.Resource + " of " + cell.Flavor
			switch {
			case over <= 0:
				v.pass(q.Ref().String(), fmt.Sprintf("borrows %s of %s, within its limit of %s", cell.Reserved.Sub(cell.Nominal).Text(cell.Resource), what, cell.BorrowingLimit.Text(cell.Resource)))
			case q.Generation == 1:
				v.fail(q.Ref().String(), fmt.Sprintf("%s of %s beyond nominal quota and borrowing limit, and the spec was never changed", over.Text(cell.Resource), what))
			default:
				v.doubt(q.Ref().String(), fmt.Sprintf("%s of %s beyond nominal quota and borrowing limit; the spec was changed (generation %d), and whether that was after the admission does not stand in the objects: it may be debt", over.Text(cell.Resource), what, q.Generation))
			}
		}
	}
}

func (c *checker) overLimit(v *verdict) {
	if !c.readable(v, world.KindClusterQueue, world.KindLocalQueue, world.KindWorkload, world.KindCohort) {
		return
	}
	for _, w := range c.Snapshot.Workloads {
		if w.State != world.Pending {
			continue
		}
		if e := c.x.Explain(w); e.NeverFits != nil && *e.NeverFits {
			v.pass(w.Ref().String(), "waits: "+e.Sentence)
		}
	}
}

func (c *checker) preemption(v *verdict) {
	if !c.readable(v, world.KindWorkload) {
		return
	}
	for _, ch := range c.Chains {
		for _, l := range ch.Links {
			object := world.Ref{Kind: world.KindWorkload, Key: l.Victim}.String()
			by := "an unknown Workload"
			if l.Preemptor != nil {
				by = l.Preemptor.String()
			}
			detail := fmt.Sprintf("preempted by %s (%s); it is %s now", by, orUnknown(l.Reason), l.Recovery.State)
			switch {
			case l.PolicyHolds == nil:
				v.doubt(object, detail+"; whether the policy allowed it cannot be told")
			case *l.PolicyHolds:
				v.pass(object, detail)
			default:
				v.fail(object, detail+"; the policy does not allow it by today's priorities")
			}
		}
	}
}

func orUnknown(reason string) string {
	if reason == "" {
		return "reason unknown"
	}
	return reason
}

func (c *checker) selector(v *verdict) {
	if !c.readable(v, world.KindClusterQueue, world.KindLocalQueue, world.KindWorkload) {
		return
	}
	index := pods.NewIndex(c.Pods)
	for _, w := range c.Snapshot.Workloads {
		name, ok := c.Snapshot.QueueOf(w)
		q := c.Snapshot.ClusterQueue(name)
		if !ok || q == nil || w.State == world.Finished {
			continue
		}
		match, known := reason.SelectorMatches(c.Snapshot, q, w.Namespace)
		switch object := w.Ref().String(); {
		case !known:
			v.doubt(object, "whether ClusterQueue "+name+" selects its namespace is not known: the namespace's labels cannot be read")
		case match:
		case w.HoldsQuota():
			v.fail(object, "holds quota of ClusterQueue "+name+", which does not select its namespace")
		case !c.HasPods:
			v.doubt(object, "waits, but whether it has pods was not read")
		case len(index.Of(w)) > 0:
			v.fail(object, fmt.Sprintf("waits, and has %d pods", len(index.Of(w))))
		default:
			v.pass(object, "waits, and has no pods: ClusterQueue "+name+" does not select its namespace")
		}
	}
}

func (c *checker) tenantWrites(v *verdict) {
	for _, a := range c.Access {
		switch {
		case a.Allowed == nil:
			v.doubt(a.Subject, a.Right+": not known ("+a.Why+")")
		case *a.Allowed:
			v.fail(a.Subject, "may "+a.Right)
		default:
			v.pass(a.Subject, "may not "+a.Right)
		}
	}
}

func (c *checker) classes(v *verdict) {
	if len(c.Allowed) == 0 || !c.readable(v, world.KindWorkload) {
		return
	}
	for _, w := range c.Snapshot.Workloads {
		allowed, limited := c.Allowed[w.Namespace]
		if !limited || w.State == world.Finished || w.PriorityClass == "" {
			continue
		}
		if slices.Contains(allowed, w.PriorityClass) {
			v.pass(w.Ref().String(), "uses "+w.PriorityClass)
		} else {
			v.fail(w.Ref().String(), "uses "+w.PriorityClass+", which its namespace may not")
		}
	}
}
