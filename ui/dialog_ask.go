package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// unchanged is what Esc leaves behind.
const unchanged = "Nothing is changed."

// newReason asks why, before a hold, a drain or a deactivation is planned.
func newReason(ref world.Ref, a actions.Action) prompt {
	what := "Nothing new is admitted; what runs goes on. You will see who is affected before anything is done."
	role := theme.Plain
	why := "Why? Your colleagues will see it on the queue. It may stay empty."
	switch a {
	case actions.Drain:
		what = "Nothing new is admitted, and WHAT RUNS IS EVICTED. You will see who that is before anything is done."
		role = theme.Alarm
	case actions.Deactivate:
		what = "It is not queued any more until it is reactivated, and WHAT RUNS OF IT IS STOPPED. You will see what that means before anything is done."
		role, why = theme.Alarm, "Why? It stands in your journal. It may stay empty."
	}
	return prompt{
		title: verb(a) + " " + object(ref), first: what, role: role, lines: []string{"", why},
		name: "continue", help: "see what would happen", empty: true,
		next: func(e Env, words string) Dialog {
			if a == actions.Deactivate {
				return planWorkload(e, ref, a, "", words)
			}
			return planHold(e, ref, a, words)
		},
	}
}

// verb is the action as the beginning of a title.
func verb(a actions.Action) string {
	return map[actions.Action]string{
		actions.Deactivate: "DEACTIVATE", actions.Reactivate: "Reactivate", actions.Reprioritize: "Change the priority of",
		actions.Hold: "Hold", actions.Drain: "DRAIN", actions.Resume: "Resume", actions.Edit: "Edit", actions.Export: "Export", actions.ApplyFile: "Apply",
	}[a]
}

// object names a queue as in "ClusterQueue team-a-cq".
func object(r world.Ref) string { return string(r.Kind) + " " + r.Key.String() }

// choice is an answer of a chooser, and the dialog that it leads to.
type choice struct {
	name string
	next func(Env) Dialog
}

// chooser asks for one of several.
type chooser struct {
	title   string
	choices []choice
	at      int
}

// exports is the choice to export Workloads.
func exports(name string, s actions.Scope) choice {
	return choice{name, func(e Env) Dialog { return planExport(e, s) }}
}

// Title is Dialog's.
func (d chooser) Title(Env) string { return d.title }

// Keys is Dialog's.
func (d chooser) Keys() []Binding {
	out := []Binding{
		{Keys: keys("enter"), Name: "choose", Help: "see what would be done", Do: func(e Env) (Dialog, Intent) {
			return d, swap{dialog: d.choices[d.at].next(e)}
		}},
		{Keys: keys("esc", "q"), Name: "cancel", Help: "nothing is changed", Do: func(Env) (Dialog, Intent) { return d, closeDialog{say: unchanged} }},
	}
	return append(out, scrolling(func(_ Env, m table.Motion) Dialog {
		switch m {
		case table.Up:
			d.at = max(0, d.at-1)
		case table.Down:
			d.at = min(len(d.choices)-1, d.at+1)
		}
		return d
	}, true)...)
}

// Update is Dialog's.
func (d chooser) Update(Env, tea.Msg) (Dialog, Intent) { return d, nil }

// View is Dialog's.
func (d chooser) View(e Env, w, h int) []string {
	var out []string
	from := min(max(0, d.at-h/2), max(0, len(d.choices)-h))
	for i := from; i < min(from+h, len(d.choices)); i++ {
		c := d.choices[i]
		if i == d.at {
			out = append(out, e.Theme.Paint(theme.Selected, term.Fit(e.Theme.Glyph.Cursor+" "+c.name, w, e.Theme.Glyph.Ellipsis)))
			continue
		}
		out = append(out, "  "+c.name)
	}
	return out
}
