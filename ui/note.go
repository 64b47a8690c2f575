package ui

import (
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// note is the sentence at the end of a row of the tree: what needs a person
// first, then what explains the numbers.
func note(e Env, n *quota.Node, c quota.Cell, has bool, q *world.ClusterQueue) table.Cell {
	if n.Cycle != nil {
		return table.Cell{Text: cycleNote(n.Cycle), Role: theme.Alarm}
	}
	var parts []string
	role := theme.Plain
	if q != nil {
		text, r := clusterNote(e, q)
		if text != "" {
			parts, role = append(parts, text), r
		}
	}
	if has {
		if text, r := cellNote(e, n, c); text != "" {
			parts, role = append(parts, text), max(role, r)
		}
	} else if _, ok := known(e, treeKinds...); ok || q != nil {
		parts = append(parts, "none of this flavor and resource")
	}
	return table.Cell{Text: strings.Join(parts, "; "), Role: role}
}

func cycleNote(cycle []string) string {
	loop := append(append([]string(nil), cycle...), cycle[0])
	return "cohort cycle " + strings.Join(loop, " > ") + ": no numbers"
}

// cycleOf returns the cycle of cohorts that a ClusterQueue is caught in, or nil.
func cycleOf(s *store.Snapshot, clusterQueue string) []string {
	if n := s.Tree.ClusterQueue(clusterQueue); n != nil {
		return n.Cycle
	}
	return nil
}

// clusterNote is queueNote for a ClusterQueue: everything that keeps it from
// admitting, which Kueue's condition need not say.
func clusterNote(e Env, q *world.ClusterQueue) (string, theme.Role) {
	text, role := queueNote(e, q.Meta, q.StopPolicy, q.Hold, q.Conditions)
	if c := cycleOf(e.Snap, q.Name); c != nil {
		if text != "" {
			text = "; " + text
		}
		return cycleNote(c) + text, theme.Alarm
	}
	obstacles, sentences := reason.QueueObstacles(e.Snap, q)
	var parts []string
	for i, o := range obstacles {
		if o.Kind != reason.ObstacleClusterQueueHeld {
			parts = append(parts, strings.TrimPrefix(strings.TrimSuffix(sentences[i], "."), "ClusterQueue "+q.Name+" is inactive: "))
		}
	}
	if len(parts) == 0 {
		return text, role
	}
	why := strings.Join(parts, "; ")
	if q.StopPolicy.Stopped() {
		return text + "; " + why, theme.Alarm
	}
	return "not active: " + why, theme.Alarm
}

func cellNote(e Env, n *quota.Node, c quota.Cell) (string, theme.Role) {
	res := c.Resource
	if _, ok := known(e, world.KindWorkload, world.KindCohort); !ok {
		return "", theme.Plain
	}
	full := n.AtBorrowingLimit(c)
	over := n.Overuse(c)
	switch {
	case over != "":
		return over, theme.Alarm
	case c.Available < 0:
		return "nothing is free above it: " + world.Amount(0).Sub(c.Available).Text(res) + " must come back first", theme.Alarm
	case !c.InSpec && n.Kind == world.KindClusterQueue:
		return "in use, but not in the spec any more", theme.Warn
	case full && *c.BorrowingLimit > 0:
		return "at its borrowing limit (" + c.BorrowingLimit.Text(res) + ")", theme.Warn
	case full && c.Reserved >= c.Subtree && c.Subtree > 0:
		return "full; may not borrow", theme.Plain
	case n.Kind == world.KindCohort && c.Nominal > 0 && c.Nominal != c.Subtree:
		return c.Nominal.Text(res) + " of its own", theme.Dim
	case n.Kind == world.KindClusterQueue && c.IdleLendable > 0 && c.IdleLendable != world.Unlimited && c.Available <= 0:
		return c.IdleLendable.Text(res) + " of its own lent out: others of the cohort use it", theme.Warn
	case n.Kind == world.KindClusterQueue && c.IdleLendable > 0 && c.IdleLendable != world.Unlimited:
		return c.IdleLendable.Text(res) + " idle, lendable", theme.Dim
	}
	return "", theme.Plain
}

// queueNote says what is out of the ordinary about a queue: not active, held and
// by whom, a record that is left over.
func queueNote(e Env, m world.Meta, p world.StopPolicy, h *world.HoldRecord, c world.Conditions) (string, theme.Role) {
	switch a, _ := c.Get(world.CondActive); {
	case m.Deleting:
		return "is being deleted", theme.Alarm
	case p.Stopped() && behind(m, c):
		return "not yet taken up by Kueue: " + holdNote(e, p, h), theme.Alarm
	case p.Stopped():
		return holdNote(e, p, h), theme.Warn
	case behind(m, c):
		return "its spec was changed and Kueue has not taken that up yet", theme.Warn
	case h != nil && h.Problem != "":
		return "hold record cannot be read: " + h.Problem, theme.Warn
	case h != nil && h.UndoneBy != "":
		return "hold of " + h.By + " undone by " + h.UndoneBy + ", " + stamp(e.Now, h.UndoneAt), theme.Warn
	case h != nil:
		return "not held any more, but still carries " + h.By + "'s hold record", theme.Warn
	case a.Status == "False":
		return "not active: " + causes(a), theme.Alarm
	case a.Status == "" && e.Snap.Fresh(world.KindClusterQueue).Usable():
		return "Kueue has not said whether it is active", theme.Warn
	}
	return "", theme.Plain
}

// noted reports whether queueNote has something to say.
func noted(s *store.Snapshot, m world.Meta, p world.StopPolicy, h *world.HoldRecord, c world.Conditions) bool {
	a, _ := c.Get(world.CondActive)
	return m.Deleting || p.Stopped() || behind(m, c) || h != nil || a.Status == "False" ||
		a.Status == "" && s.Fresh(world.KindClusterQueue).Usable()
}

// behind reports whether Kueue's word on a queue is older than its spec.
func behind(m world.Meta, c world.Conditions) bool {
	a, ok := c.Get(world.CondActive)
	return ok && a.ObservedGeneration > 0 && a.ObservedGeneration < m.Generation
}

// causes are Kueue's words on why a queue is not active.
func causes(a world.Condition) string {
	if a.Message == "" {
		return a.Reason
	}
	return a.Reason + ": " + a.Message
}

// holdNote says who holds a queue, since when and why.
func holdNote(e Env, p world.StopPolicy, h *world.HoldRecord) string {
	word := e.Theme.Glyph.Held + " held"
	if p == world.StopHoldAndDrain {
		word = e.Theme.Glyph.Held + " drained"
	}
	switch {
	case h == nil:
		return word + " (no record of who and why)"
	case h.Problem != "":
		return word + " (its record cannot be read: " + h.Problem + ")"
	}
	word += " by " + h.By + " " + shortStamp(e.Now, h.At)
	if h.Reason != "" {
		word += ` "` + h.Reason + `"`
	}
	return word
}

// shortStamp is hour and minute today, the date on other days.
func shortStamp(now, at time.Time) string {
	at = at.In(now.Location())
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}
