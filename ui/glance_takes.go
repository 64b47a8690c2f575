package ui

import (
	"time"

	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// takesFigure says who was preempted lately and waits since, and who took the quota: the
// first sign of a bad quota or policy.
func (l outlook) takesFigure(e Env) figure {
	const name, drop = "PREEMPTED", 3
	if why := l.notRead(world.KindWorkload); why != "" {
		return oneLine(name, drop, unknownCell(why))
	}
	if len(l.takes) == 0 {
		return oneLine(name, drop, table.Cell{Text: "nobody waits since a preemption of the last hour"})
	}
	n, newest := 0, time.Time{}
	var parts []string
	for _, t := range l.takes {
		n += t.N
		if t.Newest.After(newest) {
			newest = t.Newest
		}
		var from []string
		for _, x := range t.From {
			word := or(x.Queue, "an unknown queue")
			if x.Queue == t.By && t.By != "" {
				word = "itself"
			}
			from = append(from, count(x.N)+" of "+word)
		}
		parts = append(parts, or(t.By, "an unknown queue")+" preempted "+few3(from))
	}
	verb := " wait"
	if n == 1 {
		verb = " waits"
	}
	return oneLine(name, drop, table.Cell{Text: plural(n, "Workload") + verb + " since: " + few3(parts) + "; newest " + age(l.at, newest) + " ago, see Chains", Role: theme.Warn})
}
