package quota

import (
	"math"
	"math/big"
	"strconv"

	"cli.holdfast.dev/holdfast/model/world"
)

// Share is a node's weighted share, by which fair sharing orders: of the
// resource where that is most, what the node borrows in thousandths of what its
// parent could lend of it, divided by the node's weight (PreciseWeightedShare in
// Kueue's pkg/cache/scheduler/fair_sharing.go). It is infinite for a borrower of
// weight 0.
type Share float64

// Infinite reports whether the node borrows and has weight 0: it comes last for
// admission and first for preemption.
func (s Share) Infinite() bool { return math.IsInf(float64(s), 1) }

// String is the share as Kueue publishes it in status.fairSharing, rounded up,
// or "infinite", for which the status has the greatest integer.
func (s Share) String() string {
	if s.Infinite() {
		return "infinite"
	}
	return strconv.FormatFloat(math.Ceil(float64(s)), 'f', 0, 64)
}

// Share returns the node's weighted share as Kueue would compute it whether or
// not fair sharing is on; a root's is 0. There is none for a node that reaches a
// cycle.
func (n *Node) Share() (Share, bool) { return n.share, n.Cycle == nil }

// shareOf is Kueue's dominantResourceShare of a node whose parent's pool is
// entered. Use of cells that no spec of the subtree has does not count there.
func (b *builder) shareOf(n *Node) Share {
	var borrowed map[string]world.Amount
	for i := range n.Cells {
		c := &n.Cells[i]
		if c.Borrowed == 0 || !c.InSubtree {
			continue
		}
		if borrowed == nil {
			borrowed = map[string]world.Amount{}
		}
		borrowed[c.Resource] = borrowed[c.Resource].Add(c.Borrowed)
	}
	ratio := 0.0
	for r, a := range borrowed {
		if l := b.pool.of(r); l > 0 {
			ratio = max(ratio, float64(a)*1000/float64(l))
		}
	}
	if ratio == 0 {
		return 0
	}
	return Share(ratio / b.weight(n)) // +Inf where the weight is 0
}

// weight is the node's weight; 1 where none is set.
func (b *builder) weight(n *Node) float64 {
	var weight *float64
	if n.Kind == world.KindClusterQueue {
		weight = b.queues[n.Name].FairWeight
	} else if spec := b.specs[n.Name]; spec != nil {
		weight = spec.FairWeight
	}
	if weight == nil {
		return 1
	}
	return *weight
}

// pool is what a cohort could lend of each resource with nothing in use: the sum
// of its potential over all flavors of the tree (Kueue's calculateLendable). A
// flavor that the cohort does not have itself counts as its nearest ancestor has
// it, so the pool is carried down the tree and changed where a cohort differs.
// The sums are kept exact, to come back unchanged.
type pool map[string]*big.Int

// enter makes the pool that of n, when it was that of n's parent, or of nobody.
func (p pool) enter(n *Node) { p.change(n, (*big.Int).Add, (*big.Int).Sub) }

// leave undoes enter.
func (p pool) leave(n *Node) { p.change(n, (*big.Int).Sub, (*big.Int).Add) }

type bigOp func(z, x, y *big.Int) *big.Int

func (p pool) change(n *Node, put, take bigOp) {
	for i, j := 0, 0; i < len(n.Cells); i++ {
		c := &n.Cells[i]
		var above world.Amount
		if n.Parent != nil {
			j = n.Parent.position(c.FlavorResource, j)
			above = n.Parent.Cells[j].Potential
		}
		if c.Potential == above {
			continue
		}
		sum := p[c.Resource]
		if sum == nil {
			sum = new(big.Int)
			p[c.Resource] = sum
		}
		put(sum, sum, big.NewInt(int64(c.Potential)))
		take(sum, sum, big.NewInt(int64(above)))
	}
}

// of returns the sum of the resource; one beyond 64 bits is Unlimited, as where
// Kueue adds up.
func (p pool) of(resource string) world.Amount {
	sum := p[resource]
	switch {
	case sum == nil:
		return 0
	case !sum.IsInt64():
		return world.Unlimited
	}
	return world.Amount(sum.Int64())
}
