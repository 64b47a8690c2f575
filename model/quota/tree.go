// Package quota computes Kueue's quota arithmetic for a whole cohort tree: what
// each ClusterQueue and Cohort has, uses, borrows, and can still take.
//
// The formulas are those of Kueue's pkg/cache/scheduler/resource_node.go and
// fair_sharing.go (v0.19.2). Where sums reach the end of 64 bits Kueue's own
// cache depends on the order of events; the numbers here are those that it has
// after adding a whole tree up, as it does on every change of a spec. The
// package is pure: values in, values out, no clock, no I/O.
package quota

import (
	"sort"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/world"
)

// Usage is what the Workloads of one ClusterQueue hold of one cell. Admitted is
// the part of Reserved that belongs to Workloads with Admitted=True.
type Usage struct {
	world.FlavorResource
	Reserved, Admitted world.Amount
}

// Cell is one flavor and resource at one node. All amounts are in Kueue's
// units (world.Amount).
type Cell struct {
	world.FlavorResource
	// InSpec is false for use of a flavor or resource that the spec no longer has
	// (ClusterQueue), or that only the subtree has (Cohort).
	InSpec bool
	// InSubtree is set when the spec of the node or of one below it has the cell;
	// where it is not, Workloads hold what no quota there is for any more.
	InSubtree      bool
	Nominal        world.Amount
	BorrowingLimit *world.Amount
	LendingLimit   *world.Amount
	// Subtree is the nominal quota plus what the children give to it.
	Subtree world.Amount
	// Local is the part of Subtree that the lending limit keeps from the parent.
	Local world.Amount
	// Lendable is the part of Subtree that the parent may lend to others, in use
	// or not: Subtree-Local. It is 0 at a root, which has nobody to lend to, and at a
	// node with Unlimited quota and a lending limit, all of which Kueue counts as
	// local.
	Lendable world.Amount
	// Reserved counts against the node's quota: a ClusterQueue's own Workloads; in
	// a Cohort the use that the children keep in it beyond their local quota.
	Reserved world.Amount
	// Admitted is the admitted part of Reserved, of ClusterQueues only.
	Admitted world.Amount
	// Borrowed is max(0, Reserved-Subtree), and 0 at a root: nobody lends to it.
	Borrowed world.Amount
	// Available is what one more Workload could take now; negative in debt, and
	// without any debt where a node or one above it uses more than its borrowing
	// limit allows.
	Available world.Amount
	// Potential is the most that could ever be taken with nothing in use.
	Potential world.Amount
	// IdleLendable is what lies idle here and may be lent to the parent.
	IdleLendable world.Amount
	// Uncovered and UncoveredMost bound the node's debt: the part of its use beyond
	// its quota for which no idle quota stands anywhere in its tree. The tree's debt
	// is that of its root, where both are max(0, Reserved-Subtree). Below, it lies
	// with those that borrow, and where several borrow from one pool nothing says
	// whose share of it is missing: Uncovered is what the node owes whoever the
	// others are covered by, UncoveredMost what it owes at most. They are equal where
	// the answer is certain: without debt, for a single borrower, or where nothing
	// is idle. Neither exceeds Borrowed. The children's Uncovered add up to no more
	// than their parent's, their UncoveredMost to no less than their parent's.
	Uncovered, UncoveredMost world.Amount
}

// Node is a ClusterQueue or a Cohort in the tree.
type Node struct {
	Kind   world.Kind // KindClusterQueue or KindCohort
	Name   string
	UID    types.UID // empty for implicit cohorts
	Parent *Node
	// Children are Cohorts first, then ClusterQueues, each by name.
	Children []*Node
	// Implicit marks a Cohort that is only named by others and has no object.
	Implicit bool
	// Cycle lists the cohorts of the cycle that this node reaches, starting with
	// the least name; nil where there is none. A node that reaches a cycle has no
	// Cells: Kueue admits nothing there and no number would be true.
	Cycle []string
	// Cells are sorted by flavor, then resource. A cell is here when the node's
	// spec has it, a Workload uses it, or a child has it; so a parent has every cell
	// of its children, and a child may lack what its parent has.
	Cells []Cell

	share Share
}

// Cell returns the cell of the flavor and resource, and whether the node has it.
func (n *Node) Cell(fr world.FlavorResource) (Cell, bool) {
	if i, ok := find(n.Cells, fr); ok {
		return n.Cells[i], true
	}
	return Cell{}, false
}

// Tree is the forest of all cohorts and of the ClusterQueues without one.
type Tree struct {
	// Roots are Cohorts first, then ClusterQueues, each by name. Members of a
	// cycle, which has no root, stand here too, one for each member.
	Roots   []*Node
	queues  map[string]*Node
	cohorts map[string]*Node
}

// ClusterQueue returns the node of the ClusterQueue, or nil.
func (t *Tree) ClusterQueue(name string) *Node { return t.queues[name] }

// Cohort returns the node of the Cohort, explicit or implicit, or nil.
func (t *Tree) Cohort(name string) *Node { return t.cohorts[name] }

// Build makes the tree. use returns what a ClusterQueue's Workloads hold, in
// any order, each cell at most once. Build reads its arguments only. But for the
// sorting its time is linear in nodes and cells, cycles included. The tree never
// changes afterwards: any number of goroutines may read it.
func Build(queues []*world.ClusterQueue, cohorts []*world.Cohort, use func(queue string) []Usage) *Tree {
	t := &Tree{queues: make(map[string]*Node, len(queues)), cohorts: map[string]*Node{}}
	specs := make(map[string]*world.Cohort, len(cohorts))
	for _, c := range cohorts {
		specs[c.Name] = c
		n := t.cohort(c.Name)
		n.Implicit, n.UID = false, c.UID
	}
	for _, c := range cohorts {
		if c.Parent != "" {
			t.cohorts[c.Name].Parent = t.cohort(c.Parent)
		}
	}
	t.findCycles()
	for _, q := range queues {
		n := &Node{Kind: world.KindClusterQueue, Name: q.Name, UID: q.UID}
		if q.Cohort != "" {
			n.Parent = t.cohort(q.Cohort)
			n.Cycle = n.Parent.Cycle
		}
		t.queues[q.Name] = n
	}
	t.link()
	b := builder{use: use, specs: specs, queues: make(map[string]*world.ClusterQueue, len(queues)), pool: pool{}}
	for _, q := range queues {
		b.queues[q.Name] = q
	}
	for _, r := range t.Roots {
		if r.Cycle == nil {
			b.up(r)
			b.root(r)
			b.down(r)
		}
	}
	return t
}

// cohort returns the node of the name, made as an implicit one when new.
func (t *Tree) cohort(name string) *Node {
	n := t.cohorts[name]
	if n == nil {
		n = &Node{Kind: world.KindCohort, Name: name, Implicit: true}
		t.cohorts[name] = n
	}
	return n
}

// findCycles marks every cohort from which walking up never ends. Each cohort
// is walked over once: a walk stops at a cohort that an earlier walk settled.
func (t *Tree) findCycles() {
	settled := make(map[*Node]bool, len(t.cohorts))
	for _, n := range sortedNodes(t.cohorts) {
		var path []*Node
		at := map[*Node]int{}
		for x := n; x != nil && !settled[x]; x = x.Parent {
			if i, again := at[x]; again {
				cycle := cycleNames(path[i:])
				for _, m := range path[i:] {
					m.Cycle = cycle
				}
				break
			}
			at[x] = len(path)
			path = append(path, x)
		}
		for i := len(path) - 1; i >= 0; i-- {
			x := path[i]
			if x.Cycle == nil && x.Parent != nil {
				x.Cycle = x.Parent.Cycle
			}
			settled[x] = true
		}
	}
}

// cycleNames turns the members of a cycle, in walking order, so that the least
// name comes first.
func cycleNames(members []*Node) []string {
	least := 0
	for i, m := range members {
		if m.Name < members[least].Name {
			least = i
		}
	}
	names := make([]string, 0, len(members))
	for i := range members {
		names = append(names, members[(least+i)%len(members)].Name)
	}
	return names
}

func (t *Tree) link() {
	for _, n := range sortedNodes(t.cohorts) {
		t.attach(n)
	}
	for _, n := range sortedNodes(t.queues) {
		t.attach(n)
	}
}

func (t *Tree) attach(n *Node) {
	onCycle := false
	for _, name := range n.Cycle {
		onCycle = onCycle || n.Kind == world.KindCohort && name == n.Name
	}
	if n.Parent == nil || onCycle {
		t.Roots = append(t.Roots, n)
		return
	}
	n.Parent.Children = append(n.Parent.Children, n)
}

func sortedNodes(m map[string]*Node) []*Node {
	out := make([]*Node, 0, len(m))
	for _, n := range m {
		out = append(out, n)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
