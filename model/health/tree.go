package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
)

// cycles adds each cycle of cohorts once, on its member of the least name.
func (c *collector) cycles() {
	for _, n := range c.s.Tree.Roots {
		if n.Kind != world.KindCohort || len(n.Cycle) == 0 || n.Name != n.Cycle[0] {
			continue
		}
		path := strings.Join(append(slices.Clone(n.Cycle), n.Cycle[0]), " > ")
		c.about(Alert{
			Class: Class(reason.Misconfigured), Severity: Critical, Object: refOf(n), Advice: reason.AdviceChange, Actor: platformAdmin,
			Explanation: fmt.Sprintf("Cohort %s is in a cycle (%s): Kueue admits nothing in it until a parentName is changed.", n.Name, path),
		})
	}
}

func refOf(n *quota.Node) world.Ref {
	return world.Ref{Kind: n.Kind, Key: world.Key{Name: n.Name}, UID: n.UID}
}

// debt is what one tree owes.
type debt struct {
	root  *quota.Node
	cells map[world.FlavorResource]bool
	words []string
	stops int
	// longest is the longest wait of those.
	longest *time.Duration
}

// debts adds the trees in which more is in use than all their quota. Nothing that
// asks for it can start there, not even in a ClusterQueue that is under its
// nominal quota.
func (c *collector) debts(all []reason.Explanation) {
	debts := c.inDebt()
	if len(debts) == 0 {
		return
	}
	for i, w := range c.s.Workloads {
		e := &all[i]
		if w.State != world.Pending || e.NeverFits != nil && *e.NeverFits {
			continue
		}
		name, _ := c.s.QueueOf(w)
		d := debts[rootOf(c.s.Tree.ClusterQueue(name))]
		if d != nil && slices.ContainsFunc(e.Shortfall, func(x reason.Shortfall) bool { return x.Missing > 0 && d.cells[x.FlavorResource] }) {
			d.stops++
			d.longest = longer(d.longest, c.wait(w))
		}
	}
	for _, d := range debts {
		a := Alert{
			Class: Debt, Severity: Critical, Object: refOf(d.root), Advice: reason.AdviceChange, Actor: platformAdmin, Count: d.stops, Longest: d.longest,
			Explanation: fmt.Sprintf("%s %s is in debt by %s", d.root.Kind, d.root.Name, some(d.words)),
		}
		if over := d.over(); len(over) > 0 {
			a.Explanation += fmt.Sprintf(" (over their own quota: %s)", some(over))
		}
		a.Explanation += ": nothing that needs any of it can start there until that is back."
		drain := "the queue"
		if d.root.Kind == world.KindCohort {
			drain = "a queue that is over its quota"
		}
		switch {
		case a.Count == 1:
			a.Explanation += " 1 Workload waits for it."
		case a.Count > 1:
			a.Explanation += fmt.Sprintf(" %d Workloads wait for it.", a.Count)
		}
		a.Explanation += " Kueue evicts nothing for it: wait until enough of it ends, drain " + drain + ", which evicts all that runs there, or raise the quota."
		c.add(a)
	}
}

// over names the ClusterQueues below a Cohort that use more of what is owed than their
// own nominal quota, by how much, the most first.
func (d *debt) over() []string {
	if d.root.Kind == world.KindClusterQueue {
		return nil
	}
	type user struct {
		name string
		fr   world.FlavorResource
		by   world.Amount
	}
	var all []user
	var walk func(*quota.Node)
	walk = func(n *quota.Node) {
		for _, child := range n.Children {
			walk(child)
		}
		if n.Kind != world.KindClusterQueue {
			return
		}
		for _, x := range n.Cells {
			if by := x.Reserved.Sub(x.Nominal); d.cells[x.FlavorResource] && by > 0 {
				all = append(all, user{n.Name, x.FlavorResource, by})
			}
		}
	}
	walk(d.root)
	slices.SortStableFunc(all, func(a, b user) int { return cmp.Compare(b.by, a.by) })
	var out []string
	for _, u := range all {
		words := u.name + " by " + u.by.Text(u.fr.Resource)
		if len(d.cells) > 1 {
			words += " " + u.fr.Resource + " of " + u.fr.Flavor
		}
		out = append(out, words)
	}
	return out
}

// inDebt lists the trees that owe something, by their root. Use of what no spec
// in a tree has any more is not debt: nobody asks for it.
func (c *collector) inDebt() map[*quota.Node]*debt {
	if !c.usable(world.KindClusterQueue, world.KindWorkload) {
		return nil
	}
	out := map[*quota.Node]*debt{}
	for _, root := range c.s.Tree.Roots {
		if root.Kind == world.KindCohort && !c.usable(world.KindCohort) {
			continue
		}
		for i := range root.Cells {
			x := &root.Cells[i]
			if x.Available >= 0 || !x.InSubtree {
				continue
			}
			d := out[root]
			if d == nil {
				d = &debt{root: root, cells: map[world.FlavorResource]bool{}}
				out[root] = d
			}
			d.cells[x.FlavorResource] = true
			d.words = append(d.words, fmt.Sprintf("%s %s of %s", world.Amount(0).Sub(x.Available).Text(x.Resource), x.Resource, x.Flavor))
		}
	}
	return out
}

// rootOf walks up to the root; nil where there is none, as in a cycle.
func rootOf(n *quota.Node) *quota.Node {
	if n == nil || n.Cycle != nil {
		return nil
	}
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}
