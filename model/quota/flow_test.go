package quota_test

import (
	"math"
	"slices"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

// loans are the loans that there can be of one flavor and resource, as a flow
// through the tree: quota that lies idle is a source, a queue that borrows a
// sink, a child gives its parent no more than it may lend, and takes no more
// than it borrows. Kueue has no counterpart to lenders and debts; what is
// asked of a greatest flow is true of every way to spread the loans.
type loans struct {
	tree  *quota.Tree
	nodes []*quota.Node
	cap   [][]int64 // between nodes; the last two are source and sink
}

func newLoans(tree *quota.Tree, fr world.FlavorResource) *loans {
	l := &loans{tree: tree}
	walk(tree, func(n *quota.Node) {
		if n.Cycle == nil {
			l.nodes = append(l.nodes, n)
		}
	})
	l.cap = make([][]int64, len(l.nodes)+2)
	for i := range l.cap {
		l.cap[i] = make([]int64, len(l.cap))
	}
	for i, n := range l.nodes {
		c, _ := n.Cell(fr)
		if n.Kind == world.KindCohort {
			l.cap[l.source()][i] = int64(c.Nominal)
		} else if n.Parent != nil {
			l.cap[l.source()][i] = int64(c.IdleLendable)
			l.cap[i][l.sink()] = int64(c.Borrowed)
		}
		if n.Parent != nil {
			p := l.at(n.Parent)
			l.cap[i][p], l.cap[p][i] = int64(c.IdleLendable), int64(c.Borrowed)
		}
	}
	return l
}

func (l *loans) source() int { return len(l.nodes) }

func (l *loans) sink() int { return len(l.nodes) + 1 }

func (l *loans) at(n *quota.Node) int { return slices.Index(l.nodes, n) }

// most is the greatest flow: what can be lent at once.
func (l *loans) most() int64 {
	left := make([][]int64, len(l.cap))
	for i := range left {
		left[i] = slices.Clone(l.cap[i])
	}
	var sum int64
	for {
		// A shortest way with something left on it, found in breadth.
		from := make([]int, len(left))
		for i := range from {
			from[i] = -1
		}
		from[l.source()] = l.source()
		for queue := []int{l.source()}; len(queue) > 0; queue = queue[1:] {
			for j, c := range left[queue[0]] {
				if c > 0 && from[j] < 0 {
					from[j] = queue[0]
					queue = append(queue, j)
				}
			}
		}
		if from[l.sink()] < 0 {
			return sum
		}
		more := int64(math.MaxInt64)
		for j := l.sink(); j != l.source(); j = from[j] {
			more = min(more, left[from[j]][j])
		}
		for j := l.sink(); j != l.source(); j = from[j] {
			left[from[j]][j] -= more
			left[j][from[j]] += more
		}
		sum += more
	}
}

// into is what can reach the node from those of the sources that are allowed,
// when nobody else takes anything.
func (l *loans) into(n *quota.Node, allowed func(*quota.Node) bool) int64 {
	out := &loans{nodes: l.nodes, cap: make([][]int64, len(l.cap))}
	for i := range l.cap {
		out.cap[i] = slices.Clone(l.cap[i])
		out.cap[i][l.sink()] = 0
	}
	for i, x := range l.nodes {
		if !allowed(x) {
			out.cap[l.source()][i] = 0
		}
	}
	out.cap[l.at(n)][l.sink()] = math.MaxInt64
	return out.most()
}

// without is the greatest flow when the node gets nothing from its parent.
func (l *loans) without(n *quota.Node) int64 {
	i, p := l.at(n), l.at(n.Parent)
	was := l.cap[p][i]
	l.cap[p][i] = 0
	defer func() { l.cap[p][i] = was }()
	return l.most()
}

// within reports whether the node is the other one or below it.
func within(n, top *quota.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == top {
			return true
		}
	}
	return false
}
