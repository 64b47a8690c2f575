package quota

// AtBorrowingLimit reports whether the node, of which c is a cell, has borrowed all that
// its borrowing limit lets it, or more.
func (n *Node) AtBorrowingLimit(c Cell) bool {
	return c.BorrowingLimit != nil && c.Borrowed >= *c.BorrowingLimit && n.Parent != nil
}

// Overuse says how the node, of which c is a cell, uses more than it may: it is in debt,
// or beyond its borrowing limit. It completes "the queue is"; empty where neither is so.
func (n *Node) Overuse(c Cell) string {
	res := c.Resource
	switch {
	case c.UncoveredMost > 0 && c.Uncovered < c.UncoveredMost:
		return c.Uncovered.Text(res) + " to " + c.UncoveredMost.Text(res) + " in debt"
	case c.UncoveredMost > 0:
		return c.UncoveredMost.Text(res) + " in debt"
	case n.AtBorrowingLimit(c) && c.Borrowed > *c.BorrowingLimit:
		return "beyond its borrowing limit (" + c.BorrowingLimit.Text(res) + ")"
	}
	return ""
}
