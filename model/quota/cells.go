package quota

import (
	"sort"

	"cli.holdfast.dev/holdfast/model/world"
)

// builder fills the cells of a tree without cycles: first upwards (subtree and
// use), then downwards (what is available).
type builder struct {
	use    func(string) []Usage
	specs  map[string]*world.Cohort
	queues map[string]*world.ClusterQueue
}

type cells map[world.FlavorResource]*Cell

func (c cells) at(fr world.FlavorResource) *Cell {
	x := c[fr]
	if x == nil {
		x = &Cell{FlavorResource: fr}
		c[fr] = x
	}
	return x
}

func (b *builder) up(n *Node) {
	m := cells{}
	if n.Kind == world.KindClusterQueue {
		b.queueCells(n, m)
	} else {
		b.cohortCells(n, m)
	}
	n.Cells = make([]Cell, 0, len(m))
	for _, c := range m {
		if c.LendingLimit != nil {
			c.Local = max(0, c.Subtree.Sub(*c.LendingLimit))
		}
		if n.Parent != nil {
			c.Borrowed = max(0, c.Reserved.Sub(c.Subtree))
			c.IdleLendable = max(0, c.Subtree.Sub(c.Local).Sub(c.fromParent()))
		}
		n.Cells = append(n.Cells, *c)
	}
	sort.Slice(n.Cells, func(i, j int) bool { return n.Cells[i].Less(n.Cells[j].FlavorResource) })
}

func (b *builder) queueCells(n *Node, m cells) {
	for _, q := range b.queues[n.Name].Quotas {
		c := m.at(q.FlavorResource)
		c.fill(q)
		c.Subtree = q.Nominal
	}
	for _, u := range b.use(n.Name) {
		c := m.at(u.FlavorResource)
		c.Reserved, c.Admitted = u.Reserved, u.Admitted
	}
}

func (b *builder) cohortCells(n *Node, m cells) {
	if spec := b.specs[n.Name]; spec != nil {
		for _, q := range spec.Quotas {
			c := m.at(q.FlavorResource)
			c.fill(q)
			c.Subtree = q.Nominal
		}
	}
	for _, child := range n.Children {
		b.up(child)
		for i := range child.Cells {
			x := &child.Cells[i]
			c := m.at(x.FlavorResource)
			c.Subtree = c.Subtree.Add(x.Subtree.Sub(x.Local))
			c.Reserved = c.Reserved.Add(x.fromParent())
		}
	}
}

func (c *Cell) fill(q world.Quota) {
	c.InSpec = true
	c.Nominal, c.BorrowingLimit, c.LendingLimit = q.Nominal, q.BorrowingLimit, q.LendingLimit
}

// fromParent is the use that the node keeps in its parent: what exceeds its
// local quota.
func (c *Cell) fromParent() world.Amount { return max(0, c.Reserved.Sub(c.Local)) }

// down fills Available and Potential from the root to the leaves.
func (b *builder) down(n *Node) {
	for i := range n.Cells {
		c := &n.Cells[i]
		if n.Parent == nil {
			c.Available = c.Subtree.Sub(c.Reserved)
			c.Potential = c.Subtree
			continue
		}
		p, _ := n.Parent.Cell(c.FlavorResource) // a parent has every cell of its children
		c.Available, c.Potential = c.below(p)
	}
	for _, child := range n.Children {
		b.down(child)
	}
}

// below gives what a node can take when its parent's cell is p.
func (c *Cell) below(p Cell) (available, potential world.Amount) {
	fromParent := p.Available
	potential = c.Local.Add(p.Potential)
	if c.BorrowingLimit != nil {
		most := c.Subtree.Sub(c.Local).Sub(c.fromParent()).Add(*c.BorrowingLimit)
		fromParent = min(most, fromParent)
		potential = min(c.Subtree.Add(*c.BorrowingLimit), potential)
	}
	return max(0, c.Local.Sub(c.Reserved)).Add(fromParent), potential
}
