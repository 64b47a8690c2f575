package ui

import (
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// aboveNote says what keeps a LocalQueue from admitting that is not its own: its
// ClusterQueue. It is not sure where nobody knows whether that admits.
func aboveNote(s *store.Snapshot, q *world.LocalQueue) (note string, role theme.Role, sure bool) {
	cq := s.ClusterQueue(q.ClusterQueue)
	_, ok := knownKind(s, world.KindClusterQueue)
	switch {
	case cq == nil && ok:
		return "its ClusterQueue " + q.ClusterQueue + " does not exist", theme.Alarm, true
	case cq == nil:
		return "its ClusterQueue " + q.ClusterQueue + " is not known", theme.Warn, false
	}
	if c := clusterState(s, cq); c.Role != theme.Plain {
		return "its ClusterQueue is " + c.Text, c.Role, c.Text != unknownState
	}
	if match, known := reason.SelectorMatches(s, cq, q.Namespace); known && !match {
		return "ClusterQueue " + cq.Name + " does not admit its namespace", theme.Alarm, true
	}
	return "", theme.Plain, true
}

// clusterState is stateCell for a ClusterQueue, which may also be caught in a
// cycle of cohorts.
func clusterState(s *store.Snapshot, q *world.ClusterQueue) table.Cell {
	if cycleOf(s, q.Name) != nil {
		return table.Cell{Text: inACycle, Role: theme.Alarm}
	}
	a := reason.ActivityOf(s, q)
	switch {
	case q.StopPolicy.Stopped():
	case a.Active == nil:
		return table.Cell{Text: unknownState, Role: theme.Warn}
	case !*a.Active:
		return table.Cell{Text: "not active", Role: theme.Alarm}
	}
	return stateCell(q.Meta, q.StopPolicy, q.Conditions)
}

// stateWord is the word in the column of states.
func stateWord(s *store.Snapshot, r queueRow) string {
	if r.cluster != nil {
		return clusterState(s, r.cluster).Text
	}
	_, _, state := localState(s, r.local)
	return state.Text
}

// localState is stateCell for a LocalQueue, with what keeps it from admitting that is
// not its own; above is empty where that is nothing, or where its own state says more.
func localState(s *store.Snapshot, q *world.LocalQueue) (above string, role theme.Role, state table.Cell) {
	if !noted(s, q.Meta, q.StopPolicy, q.Hold, q.Conditions) {
		above, role, sure := aboveNote(s, q)
		switch {
		case !sure && s.ClusterQueue(q.ClusterQueue) == nil:
			return above, role, stateCell(q.Meta, q.StopPolicy, q.Conditions) // it may admit, for all that is known
		case !sure:
			return above, role, table.Cell{Text: unknownState, Role: role}
		case above != "":
			return above, role, table.Cell{Text: "blocked", Role: role}
		}
	}
	return "", theme.Plain, stateCell(q.Meta, q.StopPolicy, q.Conditions)
}

func withOwner(text string, role theme.Role, owner string) table.Cell {
	if text == "" && owner != "" {
		return table.Cell{Text: "managed by " + owner, Role: theme.Dim}
	}
	return table.Cell{Text: text, Role: role}
}

// inACycle is the word for a queue whose cohorts have no top.
const inACycle = "in a cycle"

// unknownState is the word where nobody knows whether a queue admits.
const unknownState = "unknown"

// stateCell is one word for whether a queue admits.
func stateCell(m world.Meta, p world.StopPolicy, c world.Conditions) table.Cell {
	a, ok := c.Get(world.CondActive)
	switch {
	case p.Stopped() && behind(m, c):
		return table.Cell{Text: "held?", Role: theme.Alarm}
	case behind(m, c):
		return table.Cell{Text: unknownState, Role: theme.Warn}
	case p == world.StopHoldAndDrain:
		return table.Cell{Text: "drained", Role: theme.Warn}
	case p.Stopped():
		return table.Cell{Text: "held", Role: theme.Warn}
	case ok && a.Status == "False":
		return table.Cell{Text: "not active", Role: theme.Alarm}
	case !ok || a.Status != "True":
		return table.Cell{Text: unknownState, Role: theme.Warn}
	}
	return table.Cell{Text: "open"}
}

// counts are the cells of pending, reserving and admitted.
func counts(e Env, c store.Counts) []table.Cell {
	out := make([]table.Cell, 3)
	if word, ok := known(e, world.KindWorkload, world.KindLocalQueue); ok {
		out[0].Text = count(c.Pending)
	} else {
		out[0].Text = word
	}
	if word, ok := known(e, world.KindWorkload); ok {
		out[1].Text, out[2].Text = count(c.Reserving), count(c.Admitted)
	} else {
		out[1].Text, out[2].Text = word, word
	}
	return out
}
