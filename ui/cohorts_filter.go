package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// cohortFields are what the tree can be filtered by, beside words of names.
var cohortFields = []string{"name", "state"}

func (s cohorts) query() filter.Query { return filter.Parse(s.filter.text, cohortFields) }

// Typing is typer's.
func (s cohorts) Typing() bool { return s.typing }

// filterKeys are those that begin and clear the filter.
func (s cohorts) filterKeys() []Binding {
	out := []Binding{{Keys: keys("/"), Name: "filter", Help: filterHelp(cohortFields), Run: func(Env) (Screen, Intent) {
		s.typing = true
		return s, nil
	}}}
	if s.filter.text != "" {
		out = append(out, Binding{Keys: keys("esc"), Name: "clear", Help: "clear the filter", Run: func(e Env) (Screen, Intent) {
			s.filter = input{}
			return s.asked(e), nil
		}})
	}
	return out
}

// typed takes a key while the filter is being written.
func (s cohorts) typed(e Env, k tea.KeyMsg) (Screen, Intent) {
	switch k.Type {
	case tea.KeyEnter:
		s.typing = false
		return s, nil
	case tea.KeyEsc:
		s.typing, s.filter = false, input{}
		return s.asked(e), nil
	case tea.KeyUp:
		s.list = s.list.Move(table.Up, s.lines(e))
		return s, nil
	case tea.KeyDown:
		s.list = s.list.Move(table.Down, s.lines(e))
		return s, nil
	}
	next, ok := s.filter.key(k)
	if !ok || next == s.filter {
		return s, nil
	}
	s.filter = next
	return s.asked(e), nil
}

// asked shows the rows of another filter, with the cursor on the first that was asked
// for, not on the cohort that it is in.
func (s cohorts) asked(e Env) cohorts {
	s.list = s.list.Reset(s.rows(e))
	hits, _ := s.hits(e)
	for i := range s.list.Len() {
		if n := s.list.At(i).node; hits[n] {
			s.list, _ = s.list.Select(keyOf(n))
			break
		}
	}
	return s
}

// rows are the lines of the tree, or with a filter those that it finds, what is below
// them, and the cohorts that they are in, unfolded.
func (s cohorts) rows(e Env) []treeRow {
	hits, all := s.hits(e)
	if all {
		return s.flatten(nil, e.Snap.Tree.Roots, 0)
	}
	return siftTree(hits, nil, e.Snap.Tree.Roots, 0, false)
}

func siftTree(hits map[*quota.Node]bool, out []treeRow, nodes []*quota.Node, depth int, within bool) []treeRow {
	for _, n := range nodes {
		at, is := len(out), within || hits[n]
		out = append(out, treeRow{node: n, depth: depth, kids: len(n.Children) > 0})
		out = siftTree(hits, out, n.Children, depth+1, is)
		if !is && len(out) == at+1 {
			out = out[:at]
		}
	}
	return out
}

// hits are the nodes that the filter finds, or where it finds none those whose names
// resemble its words; all is set where there is no filter.
func (s cohorts) hits(e Env) (hits map[*quota.Node]bool, all bool) {
	q := s.query()
	if q.Empty() && len(q.Unknown) == 0 {
		return nil, true
	}
	var nodes []*quota.Node
	var walk func([]*quota.Node)
	walk = func(in []*quota.Node) {
		for _, n := range in {
			nodes = append(nodes, n)
			walk(n.Children)
		}
	}
	walk(e.Snap.Tree.Roots)
	has := func(n *quota.Node, field, text string) bool {
		if field == "state" {
			return strings.HasPrefix(strings.ToLower(nodeState(e, n)), text)
		}
		if field == "" {
			return strings.Contains(strings.ToLower(n.Name), text)
		}
		return filter.Holds(n.Name, text)
	}
	hits = map[*quota.Node]bool{}
	for _, n := range nodes {
		if q.Match(func(field, text string) bool { return has(n, field, text) }) {
			hits[n] = true
		}
	}
	if len(hits) == 0 {
		for _, n := range filter.Resembling(nodes, q, has, func(n *quota.Node) string { return n.Name }) {
			hits[n] = true
		}
	}
	return hits, false
}

// nodeState is the word for the state of a ClusterQueue, as in the list of queues.
func nodeState(e Env, n *quota.Node) string {
	if q := e.Snap.ClusterQueue(n.Name); n.Kind == world.KindClusterQueue && q != nil {
		return clusterState(e.Snap, q).Text
	}
	return ""
}

// filterLine is the line of a filter: what is typed, and what may be.
func filterLine(e Env, in input, typing bool, q filter.Query, fields []string) string {
	hint := ""
	switch {
	case len(q.Unknown) > 0:
		hint = "there is no field " + q.Unknown[0] + ": here, only " + strings.Join(fields, ": ") + ":"
	case typing:
		hint = "words, !word, " + strings.Join(fields, ": ") + ":"
	}
	left := "/" + in.text + "   (Esc clears)"
	if typing {
		left = "/" + in.view(e.Theme, e.W-3)
	}
	room := e.W - term.Width(left) - 4
	role := theme.Dim
	if len(q.Unknown) > 0 {
		role = theme.Warn
	}
	if room < 12 {
		return term.Clip(" "+e.Theme.Paint(theme.Info, left), e.W, "")
	}
	return " " + e.Theme.Paint(theme.Info, left) + "   " + e.Theme.Paint(role, term.Clip(hint, room, e.Theme.Glyph.Ellipsis))
}
