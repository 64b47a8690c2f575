package quota_test

import (
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

// kueueSide asks Kueue's snapshot. What Kueue computes for ClusterQueues only it
// computes for a Cohort through a probe: a ClusterQueue below it without quota
// and limits has available to it what the Cohort has.
type kueueSide struct {
	snap *schdcache.Snapshot
	tree *quota.Tree
}

// sums are the resource node of Kueue, whose type has no name outside.
type sums struct {
	quotas         map[resources.FlavorResource]schdcache.ResourceQuota
	subtree, usage resources.FlavorResourceQuantities
}

func newKueue(snap *schdcache.Snapshot, tree *quota.Tree) *kueueSide {
	for name := range snap.Cohorts() {
		snap.AddClusterQueue(&schdcache.ClusterQueueSnapshot{Name: probeName(name), ResourceNode: schdcache.NewResourceNode()})
		snap.UpdateClusterQueueEdge(probeName(name), name)
	}
	return &kueueSide{snap, tree}
}

func probeName(c kueue.CohortReference) kueue.ClusterQueueReference {
	return kueue.ClusterQueueReference("probe of " + c)
}

// probe is the ClusterQueue that answers for the node; nil where Kueue's
// snapshot leaves it out.
func (k *kueueSide) probe(n *quota.Node) *schdcache.ClusterQueueSnapshot {
	if n.Kind == world.KindCohort {
		return k.snap.ClusterQueue(probeName(kueue.CohortReference(n.Name)))
	}
	return k.snap.ClusterQueue(kueue.ClusterQueueReference(n.Name))
}

func (k *kueueSide) node(n *quota.Node) sums {
	if n.Kind == world.KindCohort {
		r := k.snap.Cohort(kueue.CohortReference(n.Name)).ResourceNode
		return sums{r.Quotas, r.SubtreeQuota, r.Usage}
	}
	r := k.snap.ClusterQueue(kueue.ClusterQueueReference(n.Name)).ResourceNode
	return sums{r.Quotas, r.SubtreeQuota, r.Usage}
}

func (k *kueueSide) cohort(t *rapid.T, n *quota.Node, out *answers) {
	c := k.snap.Cohort(kueue.CohortReference(n.Name))
	if c == nil {
		out.Cycles = append(out.Cycles, nodeName(n))
		return
	}
	out.Shares[nodeName(n)] = c.DominantResourceShare().PreciseWeightedShare()
	k.cells(t, n, out, func(fr resources.FlavorResource) int64 {
		if n.Parent != nil && c.BorrowingWith(fr, resources.NewAmount(0)) {
			return 1
		}
		return 0
	})
}

func (k *kueueSide) queue(t *rapid.T, cache *schdcache.Cache, c *cluster, n *quota.Node, out *answers) {
	name := kueue.ClusterQueueReference(n.Name)
	if n.Parent != nil && k.snap.Cohort(kueue.CohortReference(n.Parent.Name)) == nil {
		if !k.snap.InactiveClusterQueueSets.Has(name) {
			t.Fatalf("Kueue admits to %s, which reaches a cycle", name)
		}
		out.Cycles = append(out.Cycles, nodeName(n))
		return
	}
	var o *kueue.ClusterQueue
	for _, q := range c.queues {
		if q.Name == n.Name {
			o = q
		}
	}
	stats, err := cache.Usage(o)
	if err != nil {
		t.Fatal(err)
	}
	out.Shares[nodeName(n)] = stats.WeightedShare
	reserved, borrowed := usage(stats.ReservedResources)
	admitted, _ := usage(stats.AdmittedResources)
	if k.snap.ClusterQueue(name) == nil {
		// Held: Kueue's snapshot leaves it out, though its use counts in its cohort.
		for _, cell := range n.Cells {
			fr := resourceOf(cell.FlavorResource)
			if cell.InSpec && (reserved[fr] != int64(cell.Reserved) || admitted[fr] != int64(cell.Admitted) || borrowed[fr] != int64(cell.Borrowed)) {
				t.Fatalf("%s, %v: Kueue has %d reserved, %d admitted, %d borrowed; ours is %+v", n.Name, fr, reserved[fr], admitted[fr], borrowed[fr], cell)
			}
			out.Cells[key(n, cell.FlavorResource)] = read(k.tree).Cells[key(n, cell.FlavorResource)]
		}
		return
	}
	k.cells(t, n, out, func(fr resources.FlavorResource) int64 {
		if b, ok := borrowed[fr]; ok {
			return b
		}
		if n.Parent != nil { // not in the status any more
			return max(0, k.node(n).usage[fr].Sub(k.node(n).subtree[fr]).Int64())
		}
		return 0
	})
	for fr, a := range admitted {
		at := cellKey{nodeName(n), string(fr.Flavor), string(fr.Resource)}
		x := out.Cells[at]
		x.Admitted = a
		out.Cells[at] = x
	}
}

// usage reads what a ClusterQueue's status would list.
func usage(in []kueue.FlavorUsage) (total, borrowed map[resources.FlavorResource]int64) {
	total, borrowed = map[resources.FlavorResource]int64{}, map[resources.FlavorResource]int64{}
	for _, f := range in {
		for _, r := range f.Resources {
			fr := resources.FlavorResource{Flavor: f.Name, Resource: r.Name}
			total[fr] = resources.ResourceValue(r.Name, r.Total)
			borrowed[fr] = resources.ResourceValue(r.Name, r.Borrowed)
		}
	}
	return total, borrowed
}

// cells takes what needs no lifting.
func (k *kueueSide) cells(t *rapid.T, n *quota.Node, out *answers, borrowed func(resources.FlavorResource) int64) {
	r := k.node(n)
	for _, m := range []resources.FlavorResourceQuantities{r.subtree, r.usage} {
		for fr, a := range m {
			// Kueue counts a resource without a flavor on the flavor "", of which
			// nobody has quota.
			if _, ok := n.Cell(world.FlavorResource{Flavor: string(fr.Flavor), Resource: string(fr.Resource)}); !ok && fr.Flavor != "" && a.Int64() != 0 {
				t.Fatalf("%s has no cell for %v, where Kueue has %v", n.Name, fr, a)
			}
		}
	}
	// With nothing in use what a node has beside its parent is its local quota.
	idle := &schdcache.CohortSnapshot{ResourceNode: schdcache.NewResourceNode()}
	idle.ResourceNode.Quotas, idle.ResourceNode.SubtreeQuota = r.quotas, r.subtree
	for _, cell := range n.Cells {
		fr := resourceOf(cell.FlavorResource)
		_, named := r.subtree[fr]
		out.Cells[key(n, cell.FlavorResource)] = numbers{
			InSubtree: named, Subtree: r.subtree[fr].Int64(), Reserved: r.usage[fr].Int64(), Borrowed: borrowed(fr),
			Local: schdcache.LocalAvailable(idle, fr).Int64(), Potential: k.probe(n).PotentialAvailable(fr).Int64(),
		}
	}
}

// lifted is more than any debt in a cluster that is not huge.
const lifted = int64(1) << 60

// lift raises what is available at every node by the same amount, to see debts:
// Kueue gives 0 for what is below. Use at the roots falls by it and every
// borrowing limit rises by it.
func (k *kueueSide) lift() {
	walk(k.tree, func(n *quota.Node) {
		if k.probe(n) == nil {
			return
		}
		r := k.node(n)
		for fr, q := range r.quotas {
			if q.BorrowingLimit != nil {
				up := q.BorrowingLimit.AddInt64(lifted)
				q.BorrowingLimit = &up
				r.quotas[fr] = q
			}
		}
		if n.Parent == nil {
			for _, cell := range n.Cells {
				fr := resourceOf(cell.FlavorResource)
				r.usage[fr] = r.usage[fr].SubInt64(lifted)
			}
		}
	})
}
