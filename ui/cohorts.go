package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// nodeKey names a node of the quota tree: this very object, not a later one of
// its name.
type nodeKey struct {
	kind world.Kind
	name string
	uid  types.UID
}

// treeRow is a line of the tree.
type treeRow struct {
	node  *quota.Node
	depth int
	fold  bool // has children that are folded away
	kids  bool
}

// cohorts is the tree of cohorts and ClusterQueues with one flavor and resource
// at a time.
type cohorts struct {
	list   table.List[nodeKey, treeRow]
	folded map[nodeKey]bool
	// choice is the flavor and resource that is shown. It stays the person's once
	// they chose, and ours once everything was listed.
	choice  world.FlavorResource
	settled bool
	all     []world.FlavorResource
	// goal is the node to put the cursor on, unless the person moves it before it is
	// there; zero for none.
	goal nodeKey
	// filter is what the rows are sifted by, typing whether it is being written.
	filter input
	typing bool
}

// newCohortsAt is the tree with the cursor on the cohort.
func newCohortsAt(cohort string) cohorts {
	s := newCohorts()
	s.goal = nodeKey{kind: world.KindCohort, name: cohort}
	return s
}

func newCohorts() cohorts {
	return cohorts{list: table.NewList(func(r treeRow) nodeKey { return keyOf(r.node) }), folded: map[nodeKey]bool{}}
}

// keyOf identifies a node. A cohort is what it is called: it is there with or
// without an object.
func keyOf(n *quota.Node) nodeKey {
	if n.Kind == world.KindCohort {
		return nodeKey{n.Kind, n.Name, ""}
	}
	return nodeKey{n.Kind, n.Name, n.UID}
}

// Title is Screen's.
func (s cohorts) Title(e Env) (string, string) {
	seen := seenOf(&s.list, s.lines(e))
	switch {
	case seen != "":
		seen += count(s.list.Len())
	case s.filter.text != "":
		seen = plural(s.list.Standing(), "row")
	}
	at := slices.Index(s.all, s.choice) + 1
	if at == 0 {
		return "Cohorts", seen
	}
	cell := showCell(s.choice) + ", " + count(at) + " of " + count(len(s.all)) + " (f: next)"
	if seen != "" {
		cell += ", " + seen // which quota is drawn matters more, where there is no room
	}
	return "Cohorts", cell
}

// showCell names a flavor and resource as people speak of it.
func showCell(fr world.FlavorResource) string { return fr.Resource + " " + fr.Flavor }

// Keys is Screen's.
func (s cohorts) Keys() []Binding {
	enter := "open"
	if r, _, ok := s.list.Selected(); ok && r.node.Kind == world.KindCohort {
		enter = "fold"
		if r.fold {
			enter = "unfold"
		}
	}
	out := []Binding{
		{Keys: keys("enter"), Name: enter, Help: "open the ClusterQueue; fold or unfold a cohort", Run: s.enter},
		{Keys: keys("d"), Help: "open the ClusterQueue", Enabled: s.onQueue, Run: s.enter},
		{Keys: keys("y"), Help: "open the ClusterQueue as YAML", Enabled: s.onQueue, Run: func(e Env) (Screen, Intent) {
			next, i := s.enter(e)
			return next, inYAML(i)
		}},
		{Keys: keys("f"), Name: "flavor", Help: "next flavor and resource", Run: s.next(1)},
		{Keys: keys("F"), Help: "previous flavor and resource", Run: s.next(-1)},
		{Keys: keys(" "), Help: "fold or unfold the cohort", Run: s.toggle},
		{Keys: keys("left", "h"), Help: "fold; on a folded row go to its cohort", Run: s.left},
		{Keys: keys("right", "l"), Help: "unfold", Run: func(e Env) (Screen, Intent) { return s.fold(e, false), nil }},
	}
	out = append(append(out, queueActions(s, s.target)...), s.filterKeys()...)
	return append(out, moving(func(e Env, m table.Motion) Screen {
		s.list = s.list.Move(m, s.lines(e))
		return s
	})...)
}

// lines is the number of lines for rows: the body less heads, notes and strip.
func (s cohorts) lines(e Env) int { return max(1, e.H-1-stripHeight(e)-len(s.notes(e))) }

func (s cohorts) target(e Env) (world.Ref, string) {
	row, gone, ok := s.list.Selected()
	switch {
	case !ok:
		return world.Ref{}, "there is no ClusterQueue here"
	case gone:
		return world.Ref{}, row.node.Name + " does not exist any more"
	case row.node.Kind == world.KindCohort && row.node.Implicit:
		return world.Ref{}, row.node.Name + " is only named by others, there is no Cohort object"
	case row.node.Kind == world.KindCohort:
		return world.Ref{Kind: world.KindCohort, Key: world.Key{Name: row.node.Name}, UID: row.node.UID}, ""
	}
	q := e.Snap.ClusterQueue(row.node.Name)
	if q == nil {
		return world.Ref{}, row.node.Name + " does not exist any more"
	}
	return q.Ref(), ""
}

// Update is Screen's.
func (s cohorts) Update(e Env, m tea.Msg) (Screen, Intent) {
	switch m := m.(type) {
	case tea.KeyMsg:
		return s.typed(e, m)
	case shownMsg:
		s = s.rebuild(e)
		if s.goal != (nodeKey{}) && !s.list.Moved() {
			s.list, _ = s.list.Select(s.goal)
		}
	}
	return s, nil
}

// rebuild takes the tree as it is now.
func (s cohorts) rebuild(e Env) cohorts {
	s.all = cellsOf(e.Snap.Tree)
	if !s.settled || !slices.Contains(s.all, s.choice) {
		s.choice = mostContended(e.Snap.Tree, s.all)
		_, s.settled = known(e, world.KindClusterQueue, world.KindWorkload)
	}
	rows := s.rows(e)
	if _, synced := known(e, world.KindClusterQueue); !synced && !s.list.Moved() {
		s.list = s.list.Reset(rows)
		return s
	}
	s.list = s.list.Refresh(rows)
	return s
}

func (s cohorts) flatten(out []treeRow, nodes []*quota.Node, depth int) []treeRow {
	for _, n := range nodes {
		folded := s.folded[keyOf(n)]
		out = append(out, treeRow{node: n, depth: depth, fold: folded, kids: len(n.Children) > 0})
		if !folded {
			out = s.flatten(out, n.Children, depth+1)
		}
	}
	return out
}

func (s cohorts) next(by int) func(Env) (Screen, Intent) {
	return func(e Env) (Screen, Intent) {
		if len(s.all) == 0 {
			return s, say{"no flavor and resource is known", theme.Warn}
		}
		i := slices.Index(s.all, s.choice)
		s.choice, s.settled = s.all[(max(i, 0)+by+len(s.all))%len(s.all)], true
		return s, nil
	}
}

func (s cohorts) enter(e Env) (Screen, Intent) {
	row, gone, ok := s.list.Selected()
	if !ok || gone {
		return s, nil
	}
	if row.node.Kind == world.KindCohort {
		return s.toggle(e)
	}
	q := e.Snap.ClusterQueue(row.node.Name)
	if q == nil {
		return s, nil
	}
	return s, push{newQueue(q.Ref())}
}

// onQueue says whether a ClusterQueue is under the cursor.
func (s cohorts) onQueue(Env) (bool, string) {
	switch row, gone, ok := s.list.Selected(); {
	case !ok || row.node.Kind != world.KindClusterQueue:
		return false, "it is for a ClusterQueue; Enter folds a cohort"
	case gone:
		return false, row.node.Name + " does not exist any more"
	}
	return true, ""
}

func (s cohorts) toggle(e Env) (Screen, Intent) {
	row, _, ok := s.list.Selected()
	return s.fold(e, ok && !s.folded[keyOf(row.node)]), nil
}

// fold folds or unfolds the row under the cursor.
func (s cohorts) fold(e Env, on bool) cohorts {
	row, gone, ok := s.list.Selected()
	if !ok || gone || !row.kids || s.filter.text != "" { // a filter shows what it finds
		return s
	}
	folded := make(map[nodeKey]bool, len(s.folded)+1)
	for k := range s.folded {
		folded[k] = true
	}
	if on {
		folded[keyOf(row.node)] = true
	} else {
		delete(folded, keyOf(row.node))
	}
	s.folded = folded
	s.list = s.list.Refresh(s.rows(e))
	return s
}

func (s cohorts) left(e Env) (Screen, Intent) {
	row, gone, ok := s.list.Selected()
	if !ok || gone {
		return s, nil
	}
	if row.kids && !row.fold {
		return s.fold(e, true), nil
	}
	if row.node.Parent != nil && row.depth > 0 {
		s.list, _ = s.list.Select(keyOf(row.node.Parent))
	}
	return s, nil
}

// cellsOf lists every flavor and resource of the tree.
func cellsOf(t *quota.Tree) []world.FlavorResource {
	seen := map[world.FlavorResource]bool{}
	var out []world.FlavorResource
	var walk func([]*quota.Node)
	walk = func(ns []*quota.Node) {
		for _, n := range ns {
			for i := range n.Cells {
				if fr := n.Cells[i].FlavorResource; !seen[fr] {
					seen[fr] = true
					out = append(out, fr)
				}
			}
			walk(n.Children)
		}
	}
	walk(t.Roots)
	slices.SortFunc(out, func(a, b world.FlavorResource) int {
		if a.Less(b) {
			return -1
		}
		return 1
	})
	return out
}

// mostContended is the one of which the greatest share is in use at some root; of
// equals the one of which most is in use.
func mostContended(t *quota.Tree, all []world.FlavorResource) world.FlavorResource {
	var best world.FlavorResource
	most, held := -1.0, world.Amount(0)
	for _, fr := range all {
		for _, r := range t.Roots {
			c, ok := r.Cell(fr)
			if !ok {
				continue
			}
			share := 0.0
			switch {
			case c.Subtree > 0 && c.Subtree != world.Unlimited:
				share = float64(c.Reserved) / float64(c.Subtree)
			case c.Reserved > 0 && c.Subtree <= 0:
				share = 2 // in use without any quota: debt
			}
			if share > most || share == most && fr.Resource == best.Resource && c.Reserved > held {
				best, most, held = fr, share, c.Reserved
			}
		}
	}
	return best
}
