package quota

import (
	"slices"
	"sort"
	"strings"

	"cli.holdfast.dev/holdfast/model/world"
)

// builder fills the cells of a tree without cycles: first upwards (subtree and
// use), then downwards (what is available, what is owed, shares).
type builder struct {
	use    func(string) []Usage
	specs  map[string]*world.Cohort
	queues map[string]*world.ClusterQueue
	pool   pool
}

func compare(a, b world.FlavorResource) int {
	if c := strings.Compare(a.Flavor, b.Flavor); c != 0 {
		return c
	}
	return strings.Compare(a.Resource, b.Resource)
}

// find returns where the cell is in the sorted cells, and whether it is there.
func find(cells []Cell, fr world.FlavorResource) (int, bool) {
	i := sort.Search(len(cells), func(i int) bool { return !cells[i].Less(fr) })
	return i, i < len(cells) && cells[i].FlavorResource == fr
}

// up fills what depends on the node and on what is below it.
func (b *builder) up(n *Node) {
	if n.Kind == world.KindClusterQueue {
		n.Cells = queueCells(b.queues[n.Name].Quotas, b.use(n.Name))
	} else {
		for _, child := range n.Children {
			b.up(child)
		}
		n.Cells = cohortCells(b.specs[n.Name], n.Children)
	}
	for i := range n.Cells {
		c := &n.Cells[i]
		if c.LendingLimit != nil {
			c.Local = max(0, c.Subtree.Sub(*c.LendingLimit))
		}
		if n.Parent != nil {
			c.Borrowed = max(0, c.Reserved.Sub(c.Subtree))
			c.Lendable = c.Subtree.Sub(c.Local)
			c.IdleLendable = max(0, c.Lendable.Sub(c.fromParent()))
		}
	}
}

// queueCells are the cells of a ClusterQueue: those of its spec, and those that
// are still in use though they left it.
func queueCells(quotas []world.Quota, uses []Usage) []Cell {
	cells := make([]Cell, 0, max(len(quotas), len(uses)))
	for _, i := range inOrder(quotas) {
		q := &quotas[i]
		if last := len(cells) - 1; last >= 0 && cells[last].FlavorResource == q.FlavorResource {
			cells = cells[:last] // named twice: the last one counts, as in Kueue
		}
		cells = append(cells, Cell{
			FlavorResource: q.FlavorResource, InSpec: true, InSubtree: true,
			Nominal: q.Nominal, BorrowingLimit: q.BorrowingLimit, LendingLimit: q.LendingLimit, Subtree: q.Nominal,
		})
	}
	spec := len(cells)
	for _, u := range uses {
		i, ok := find(cells[:spec], u.FlavorResource)
		if !ok {
			i = len(cells)
			cells = append(cells, Cell{FlavorResource: u.FlavorResource})
		}
		cells[i].Reserved, cells[i].Admitted = u.Reserved, u.Admitted
	}
	if len(cells) > spec {
		sortCells(cells)
	}
	return cells
}

// cohortCells are the cells of a Cohort: those of its spec, which is nil for an
// implicit one, and those of its children.
func cohortCells(spec *world.Cohort, children []*Node) []Cell {
	var cells []Cell
	at := map[world.FlavorResource]int{}
	if spec != nil {
		cells = queueCells(spec.Quotas, nil)
		for i := range cells {
			at[cells[i].FlavorResource] = i
		}
	}
	for _, child := range children {
		for j := range child.Cells {
			x := &child.Cells[j]
			i, ok := at[x.FlavorResource]
			if !ok {
				i = len(cells)
				at[x.FlavorResource] = i
				cells = append(cells, Cell{FlavorResource: x.FlavorResource})
			}
			c := &cells[i]
			c.InSubtree = c.InSubtree || x.InSubtree
			c.Subtree = c.Subtree.Add(x.Lendable)
			c.Reserved = c.Reserved.Add(x.fromParent())
		}
	}
	sortCells(cells)
	return cells
}

// inOrder returns the places of the quotas, sorted by flavor and resource, those
// of the same ones as they stand. Cells are large: they are not moved to sort.
func inOrder(quotas []world.Quota) []int {
	order := make([]int, len(quotas))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compare(quotas[i].FlavorResource, quotas[j].FlavorResource) })
	return order
}

func sortCells(cells []Cell) {
	slices.SortFunc(cells, func(a, b Cell) int { return compare(a.FlavorResource, b.FlavorResource) })
}

// fromParent is the use that the node keeps in its parent: what exceeds its
// local quota.
func (c *Cell) fromParent() world.Amount { return max(0, c.Reserved.Sub(c.Local)) }

// root fills what is left of a root's cells after up.
func (b *builder) root(n *Node) {
	for i := range n.Cells {
		c := &n.Cells[i]
		c.Available = c.Subtree.Sub(c.Reserved)
		c.Potential = c.Subtree
		c.Uncovered = max(0, c.Reserved.Sub(c.Subtree))
		c.UncoveredMost = c.Uncovered
	}
}

// down fills the children of a node whose own cells are complete.
func (b *builder) down(n *Node) {
	lent := make([]world.Amount, len(n.Cells)) // what the children borrow together
	for _, child := range n.Children {
		for i, j := 0, 0; i < len(child.Cells); i++ {
			j = n.position(child.Cells[i].FlavorResource, j)
			lent[j] = lent[j].Add(child.Cells[i].Borrowed)
		}
	}
	b.pool.enter(n)
	for _, child := range n.Children {
		for i, j := 0, 0; i < len(child.Cells); i++ {
			c := &child.Cells[i]
			j = n.position(c.FlavorResource, j)
			p := &n.Cells[j]
			c.Available, c.Potential = c.below(p)
			c.Uncovered, c.UncoveredMost = c.owes(p, lent[j])
		}
		child.share = b.shareOf(child)
		if len(child.Children) > 0 {
			b.down(child)
		}
	}
	b.pool.leave(n)
}

// position returns where the node has a cell that it is known to have, looking
// first where the last one was and right behind it.
func (n *Node) position(fr world.FlavorResource, last int) int {
	for i := last; i < min(last+2, len(n.Cells)); i++ {
		if n.Cells[i].FlavorResource == fr {
			return i
		}
	}
	i, _ := find(n.Cells, fr)
	return i
}

// below gives what a node can take when its parent's cell is p (Kueue's
// available and potentialAvailable).
func (c *Cell) below(p *Cell) (available, potential world.Amount) {
	fromParent := p.Available
	potential = c.Local.Add(p.Potential)
	if c.BorrowingLimit != nil {
		most := c.Lendable.Sub(c.fromParent()).Add(*c.BorrowingLimit)
		fromParent = min(most, fromParent)
		potential = min(c.Subtree.Add(*c.BorrowingLimit), potential)
	}
	return max(0, c.Local.Sub(c.Reserved)).Add(fromParent), potential
}

// owes gives the least and the most that a node can owe of its parent's debt,
// when the parent's cell is p and all its children borrow lent together. What
// the parent owes is spread over its borrowers; the least is what is left when
// the others owe all that they borrow.
func (c *Cell) owes(p *Cell, lent world.Amount) (least, most world.Amount) {
	others := lent.Sub(c.Borrowed)
	return max(0, p.Uncovered.Sub(others)), min(c.Borrowed, p.UncoveredMost)
}
