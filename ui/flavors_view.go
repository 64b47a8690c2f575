package ui

import (
	"maps"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// flavors lists the ResourceFlavors, and those that are only named.
type flavors = board[world.Ref, flavorRow]

func aboutFlavors() *about[flavorRow] {
	return &about[flavorRow]{rows: flavorRows, same: sameFlavors, body: flavorBody}
}

func newFlavors() flavors {
	return newBoard(aboutFlavors().sheet(sheet[world.Ref, flavorRow]{
		name: "Flavors", noun: "ResourceFlavor", own: "need", of: []world.Kind{world.KindResourceFlavor},
		columns: flavorColumns(), fields: []string{"name", "state", "queue", "resource", "label", "taint"}, none: "There are no ResourceFlavors.",
		cells: flavorCells, strip: flavorStrip,
	}, func(look) func(flavorRow, string, string) bool { return flavorHas }))
}

func flavorColumns() []column[flavorRow] {
	type r = flavorRow
	return []column[r]{
		{Column: table.Column{Title: "FLAVOR", Min: 12, Max: 30}, compare: by(func(r r) string { return r.name })},
		{Column: table.Column{Title: "STATE", Min: 11, Max: 11}, compare: by(func(r r) flavorState { return r.state })},
		{Column: table.Column{Title: "QUEUES", Right: true, Min: 6, Max: 9}, compare: by(r.queues), falling: true},
		{Column: table.Column{Title: "WORKLOADS", Right: true, Min: 9, Max: 9, Drop: 2}, compare: by(func(r r) int { return r.loads }), falling: true},
		{Column: table.Column{Title: "TO TOLERATE", Min: 12, Max: 30, Drop: 3}, compare: by(func(r r) string { return mustTolerate(r) })},
		{Column: table.Column{Title: "NODE LABELS", Min: 14, Max: 40, Drop: 4}, compare: by(func(r r) string { return nodeLabels(r) })},
		{Column: table.Column{Title: "TOPOLOGY", Min: 8, Max: 20, Drop: 5}, compare: by(func(r r) string { return topologyOf(r) })},
		{Column: table.Column{Title: "RESERVED OF NOMINAL", Min: 36, Max: 100, Grow: 1, Drop: 1}},
	}
}

func nodeLabels(r flavorRow) string {
	if r.flavor == nil {
		return ""
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(r.flavor.NodeLabels)) {
		out = append(out, k+"="+r.flavor.NodeLabels[k])
	}
	return strings.Join(out, ", ")
}

func mustTolerate(r flavorRow) string {
	if r.flavor == nil {
		return ""
	}
	var out []string
	for _, t := range reason.MustTolerate(r.flavor) {
		out = append(out, t.String())
	}
	return strings.Join(out, ", ")
}

func topologyOf(r flavorRow) string {
	if r.flavor == nil {
		return ""
	}
	return r.flavor.Topology
}

func flavorHas(r flavorRow, field, text string) bool {
	queue := func() bool {
		return slices.ContainsFunc(r.uses, func(u flavorUse) bool { return filter.Holds(u.of.Name, text) })
	}
	resource := func() bool {
		return slices.ContainsFunc(r.sums, func(x flavorSum) bool { return strings.Contains(strings.ToLower(x.resource), text) })
	}
	label := func() bool { return strings.Contains(strings.ToLower(nodeLabels(r)), text) }
	switch field {
	case "name":
		return filter.Holds(r.name, text)
	case "state":
		return strings.HasPrefix(r.state.String(), text)
	case "queue":
		return queue()
	case "resource":
		return resource()
	case "label":
		return label()
	case "taint":
		return r.flavor != nil && slices.ContainsFunc(r.flavor.NodeTaints, func(t world.Taint) bool { return strings.Contains(strings.ToLower(t.String()), text) })
	}
	return strings.Contains(r.name, text) || strings.HasPrefix(r.state.String(), text) || queue() || resource() || label()
}

func flavorRole(s flavorState) theme.Role {
	switch s {
	case flavorMissing, flavorNoTopology:
		return theme.Alarm
	case flavorUnknown:
		return theme.Warn
	case flavorUnused:
		return theme.Dim
	}
	return theme.Plain
}

func flavorCells(e Env, r flavorRow, gone bool) []table.Cell {
	text, role := flavorNote(e, r)
	if gone {
		text, role = lostWords(e.Snap, r.ref(), r.there()), theme.Plain
	}
	switch sums, over := sumsText(e, r); {
	case text == "":
		text, role = sums, over
	case r.state == flavorUnknown && !gone && sums != "":
		text += "; " + sums
	}
	unknown := ""
	if r.flavor == nil {
		unknown = "?"
	}
	return []table.Cell{
		{Text: r.name, Role: theme.Strong}, {Text: r.state.String(), Role: flavorRole(r.state)}, queueCount(e, r.queues()), loadCount(e, r.loads),
		{Text: unknown + mustTolerate(r)}, {Text: unknown + nodeLabels(r)}, {Text: unknown + topologyOf(r)}, {Text: text, Role: role},
	}
}

// queueCount is a number of ClusterQueues.
func queueCount(e Env, n int) table.Cell {
	if word, ok := known(e, world.KindClusterQueue); !ok {
		return table.Cell{Text: word}
	}
	return table.Cell{Text: count(n)}
}

// loadCount is a number of Workloads.
func loadCount(e Env, n int) table.Cell {
	if word, ok := whole(e); !ok {
		return table.Cell{Text: word}
	}
	return table.Cell{Text: count(n)}
}

// loadWords is loadCount in words.
func loadWords(e Env, n int) string {
	if word, ok := whole(e); !ok {
		return word + " Workloads"
	}
	return plural(n, "Workload")
}

// flavorNote says what a person should know of the flavor before its numbers; empty for
// nothing.
func flavorNote(e Env, r flavorRow) (string, theme.Role) {
	switch r.state {
	case flavorMissing:
		return missingFlavor(e, r)
	case flavorNoTopology:
		return "Topology " + r.flavor.Topology + " does not exist: ClusterQueues with this flavor admit nothing", theme.Alarm
	case flavorUnknown:
		if r.flavor == nil {
			return "whether it exists is not known", theme.Warn
		}
		return "whether anything uses it is not known", theme.Warn
	case flavorUnused:
		return "no ClusterQueue and no Cohort has quota of it", theme.Dim
	}
	_, named := known(e, treeKinds...)
	switch {
	case r.flavor.Deleting:
		return "is being deleted, which ends when no ClusterQueue names it", theme.Warn
	case r.queues()+len(r.lent) == 0 && !named:
		return "whether a ClusterQueue names it is not known", theme.Warn
	case r.queues()+len(r.lent) == 0:
		return "no ClusterQueue names it any more, and Workloads still hold quota of it", theme.Warn
	}
	return "", theme.Plain
}

// flavorCall says who must do what about it; empty for nobody.
func flavorCall(s flavorState) string {
	switch s {
	case flavorMissing:
		return "platform admin: create it, or take it out of the specs that name it"
	case flavorNoTopology:
		return "platform admin: create the Topology, or edit the flavor"
	}
	return ""
}

// missingFlavor says who names what does not exist.
func missingFlavor(e Env, r flavorRow) (string, theme.Role) {
	var queues, cohorts []string
	waiting := 0
	for _, u := range r.uses {
		if u.named {
			queues = append(queues, u.of.Name)
			waiting += e.Snap.CountsOf(u.of.Name).Pending
		}
	}
	for _, u := range r.lent {
		cohorts = append(cohorts, u.of.Name)
	}
	switch {
	case len(queues) > 0:
		text := subject("ClusterQueue", queues, " names", " name") + " it; whoever waits there cannot start"
		if _, ok := known(e, world.KindWorkload, world.KindLocalQueue); ok && waiting > 0 {
			text += " (" + count(waiting) + " pending)"
		}
		return text, theme.Alarm
	case len(cohorts) > 0:
		return subject("Cohort", cohorts, " names", " name") + " it, and no ClusterQueue does", theme.Warn
	}
	return "no ClusterQueue names it any more, and Workloads still hold quota of it", theme.Warn
}

// sumsText is how much of each resource is reserved and how much quota there is.
func sumsText(e Env, r flavorRow) (string, theme.Role) {
	var parts []string
	role := theme.Plain
	_, used := known(e, world.KindWorkload, world.KindClusterQueue)
	_, whole := known(e, treeKinds...)
	for _, x := range r.sums {
		reserved, nominal := x.reserved.Text(x.resource), x.nominal.Text(x.resource)
		if !used || x.torn {
			reserved = "?"
		} else if x.reserved > x.nominal && whole {
			role = theme.Warn
		}
		if !whole {
			nominal = "?"
		}
		parts = append(parts, x.resource+" "+reserved+" of "+nominal)
	}
	return strings.Join(parts, ", "), role
}

func flavorStrip(e Env, r flavorRow, gone bool) strip {
	cells := flavorCells(e, r, gone)
	last := cells[len(cells)-1]
	out := strip{head: object(r.ref()), text: last.Text, role: last.Role}
	if !gone {
		out.call = flavorCall(r.state)
	}
	if t := mustTolerate(r); t != "" {
		out.tail = "  pods must tolerate " + t
	} else if l := nodeLabels(r); l != "" {
		out.tail = "  nodes with " + l
	}
	return out
}
