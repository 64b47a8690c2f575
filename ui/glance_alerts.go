package ui

import (
	"strings"

	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

var alertColumns = []table.Column{
	{Title: "CLASS", Min: 11, Max: 17},
	{Title: "WHAT", Min: 16, Max: 16, Grow: 1},
	{Title: "WHO MUST ACT", Min: 16, Max: 28, Drop: 3},
	{Title: "WORKLOADS", Right: true, Min: 9, Max: 9, Drop: 1},
	{Title: "WAIT", Right: true, Min: 5, Max: 6, Drop: 4},
	{Title: "SINCE", Right: true, Min: 5, Max: 6, Drop: 2},
}

const whoColumn = 2

// classWords are the names of classes as people speak of them.
var classWords = map[health.Class]string{
	health.PingPong: "ping-pong", health.NeverFits: "never fits", health.StaleStatus: "stale status", health.UnusedFlavor: "unused flavor",
	health.Strangers:                    "strange pods",
	health.Class(reason.AdmissionCheck): "admission check", health.Class(reason.NamespaceSelector): "namespace", health.Class(reason.Misconfigured): "misconfigured",
	health.Class(reason.PodsNotReady): "pods not ready", health.Class(reason.NodeFailure): "node failure", health.Class(reason.Unclear): "unclear",
}

func className(c health.Class) string { return or(classWords[c], string(c)) }

// severity is the sign, the word and the colour of how much an alert matters.
func severity(th *theme.Theme, s health.Severity) (sign, word string, role theme.Role) {
	switch s {
	case health.Critical:
		return th.Glyph.Cross, "critical", theme.Alarm
	case health.Warning:
		return th.Glyph.Warn, "warning", theme.Warn
	}
	return th.Glyph.Dot, "to know", theme.Dim
}

// nameOf names an object as people speak of it.
func nameOf(e Env, r world.Ref) string {
	switch {
	case r.Kind == health.KindKueue:
		return "Kueue's " + r.Name
	case r.Kind == world.KindWorkload:
		if w := e.Snap.WorkloadOf(r); w != nil {
			return "Workload " + w.Namespace + "/" + w.JobName()
		}
	}
	return object(r)
}

func (s glance) row(e Env, a health.Alert, gone bool) table.Row {
	sign, _, role := severity(e.Theme, a.Severity)
	text := a.Explanation
	name := a.Object.Key.String()
	if a.Object.Namespace == "" {
		name = object(a.Object) // a name alone may stand in any word
	}
	if a.Object.Kind != health.KindKueue && !strings.Contains(text, name) {
		text = nameOf(e, a.Object) + ": " + text
	}
	if gone {
		text = "over: " + text
	}
	stops := e.Theme.Glyph.Dash
	if a.Count > 0 {
		stops = count(a.Count)
	}
	lasts, wait := "?", e.Theme.Glyph.Dash
	if !a.Since.IsZero() {
		lasts = age(e.Now, a.Since)
	}
	if a.Longest != nil {
		wait = span(*a.Longest)
	}
	return table.Row{Gone: gone, Cells: []table.Cell{{Text: sign + " " + className(a.Class), Role: role}, {Text: text}, {Text: a.Actor}, {Text: stops}, {Text: wait}, {Text: lasts}}}
}

// strip says all of the alert under the cursor.
func (s glance) strip(e Env) strip {
	a, gone, _ := s.list.Selected()
	g := e.Theme.Glyph
	_, word, role := severity(e.Theme, a.Severity)
	out := strip{
		legend: g.Cross + " critical " + g.Warn + " warning " + g.Dot + " to know",
		head:   nameOf(e, a.Object), tail: "  " + className(a.Class) + ", " + word, role: role, all: "i",
		call: advice(reason.Explanation{Advice: a.Advice, Actor: a.Actor}),
		text: a.Explanation + " " + lastsWords(e, a),
	}
	if role == theme.Dim {
		out.role = theme.Plain
	}
	if gone {
		out.text, out.call, out.role = "This is over: it is not so any more.", "", theme.Plain
	}
	return out
}

// lastsWords says since when an alert is so, or what is known instead.
func lastsWords(e Env, a health.Alert) string {
	wait := ""
	switch {
	case a.Longest != nil && a.Count == 1:
		wait = " The Workload has waited for " + span(*a.Longest) + "."
	case a.Longest != nil:
		wait = " The longest of them has waited for " + span(*a.Longest) + "."
	}
	if a.Since.IsZero() {
		return or(strings.TrimSpace(wait), "Since when is not known.")
	}
	return "Since " + stamp(e.Now, a.Since) + "." + wait
}
