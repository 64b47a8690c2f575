package ui

import (
	"slices"
	"strconv"
	"strings"

	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// priorities lists the priority classes.
type priorities = board[world.Ref, classRow]

func aboutClasses() *about[classRow] {
	return &about[classRow]{rows: classRows, same: sameClasses, body: classBody}
}

func newPriorities() priorities {
	return newBoard(aboutClasses().sheet(sheet[world.Ref, classRow]{
		name: "Priorities", noun: "priority class", own: "value", of: classKinds,
		columns: classColumns(), fields: []string{"name", "kind", "state", "queue", "value"}, none: "There are no WorkloadPriorityClasses, and no Workload has a PriorityClass.",
		cells: classCells, strip: classStrip,
	}, func(look) func(classRow, string, string) bool { return classHas }))
}

func classColumns() []column[classRow] {
	type r = classRow
	return []column[r]{
		{Column: table.Column{Title: "CLASS", Min: 12, Max: 30}, compare: by(func(r r) string { return r.name })},
		{Column: table.Column{Title: "OF", Min: 10, Max: 10, Drop: 4}, compare: by(func(r r) string { return side(r.kind) })},
		{Column: table.Column{Title: "VALUE", Right: true, Min: 5, Max: 14}, compare: by(func(r r) int32 { return r.value }), falling: true},
		{Column: table.Column{Title: "STATE", Min: 7, Max: 7}, compare: by(func(r r) classState { return r.state })},
		{Column: table.Column{Title: "PENDING", Right: true, Min: 7, Max: 9}, compare: by(func(r r) int { return r.pending }), falling: true},
		{Column: table.Column{Title: "RESERVING", Right: true, Min: 9, Max: 9}, compare: by(func(r r) int { return r.running }), falling: true},
		{Column: table.Column{Title: "QUEUES", Right: true, Min: 6, Max: 9, Drop: 3}, compare: by(func(r r) int { return len(r.queues) }), falling: true},
		{Column: table.Column{Title: "EDIT", Min: 4, Max: 4, Drop: 2}},
		{Column: table.Column{Title: "", Min: 28, Max: 100, Grow: 1, Drop: 1}},
	}
}

// side says whose a class is.
func side(k world.Kind) string {
	if k == world.KindPriorityClass {
		return "Kubernetes"
	}
	return "Kueue"
}

func classValue(r classRow) string {
	if r.meta == nil {
		return "?"
	}
	return strconv.Itoa(int(r.value))
}

func classHas(r classRow, field, text string) bool {
	queue := func() bool {
		return slices.ContainsFunc(r.queues, func(u classUse) bool { return filter.Holds(u.queue, text) })
	}
	kind := func() bool {
		return strings.HasPrefix(strings.ToLower(string(r.kind)), text) || strings.HasPrefix(strings.ToLower(side(r.kind)), text)
	}
	switch field {
	case "name":
		return filter.Holds(r.name, text)
	case "kind":
		return kind()
	case "state":
		return strings.HasPrefix(r.state.String(), text)
	case "queue":
		return queue()
	case "value":
		return classValue(r) == text
	}
	return strings.Contains(r.name, text) || strings.HasPrefix(r.state.String(), text) || kind() || queue() || classValue(r) == text
}

func classRole(s classState) theme.Role {
	switch s {
	case classMissing, classUnknown:
		return theme.Warn
	case classUnused:
		return theme.Dim
	}
	return theme.Plain
}

func classCells(e Env, r classRow, gone bool) []table.Cell {
	text, role := classNote(e, r)
	if gone {
		text, role = lostWords(e.Snap, r.ref(), r.there()), theme.Plain
	}
	if text == "" && len(r.queues) > 0 {
		text = inQueues(r)
	}
	note := table.Cell{Text: text, Role: role}
	if r.meta != nil {
		note = withOwner(text, role, r.meta.ManagedBy)
	}
	queues := loadCount(e, len(r.queues))
	if word, ok := known(e, world.KindLocalQueue); !ok {
		queues.Text = word
	}
	return []table.Cell{
		{Text: r.name, Role: theme.Strong}, {Text: side(r.kind)}, {Text: classValue(r)}, {Text: r.state.String(), Role: classRole(r.state)},
		loadCount(e, r.pending), loadCount(e, r.running), queues, {Text: mayEdit(e, r)}, note,
	}
}

// inQueues names the ClusterQueues in which the class is.
func inQueues(r classRow) string {
	var names []string
	for _, u := range r.queues {
		names = append(names, or(u.queue, "one not known"))
	}
	return "in " + few3(names)
}

// mayEdit is one word for whether the person may edit the class.
func mayEdit(e Env, r classRow) string {
	switch {
	case r.meta == nil:
		return ""
	case unedited(e, r.ref()) != "":
		return "no"
	case e.Desk.Granted(r.ref()):
		return "yes"
	}
	return "?"
}

// classNote is what a person should know of the class, in a sentence.
func classNote(e Env, r classRow) (string, theme.Role) {
	switch {
	case r.state == classMissing && r.kind == world.KindPriorityClass:
		return "does not exist: Workloads keep the priority that they have, and no new pod may name it", theme.Warn
	case r.state == classMissing:
		return "does not exist: Workloads keep the priority that they have, and a new job that names it gets no Workload", theme.Warn
	case r.state == classUnknown && r.meta == nil:
		return "whether it exists is not known", theme.Warn
	case r.state == classUnknown:
		return "whether a Workload has it is not known", theme.Warn
	case len(r.odd) == 1:
		return "1 Workload has another priority than the class's value", theme.Warn
	case len(r.odd) > 1:
		return count(len(r.odd)) + " Workloads have another priority than the class's value", theme.Warn
	case r.meta.Deleting:
		return "is being deleted", theme.Warn
	case r.state == classUnused:
		return "no Workload has it", theme.Dim
	}
	return "", theme.Plain
}

// classCall says who must do what about it; empty for nobody.
func classCall(r classRow) string {
	if r.state == classMissing {
		return "platform admin: create it, or have the jobs name another one"
	}
	return ""
}

func classStrip(e Env, r classRow, gone bool) strip {
	cells := classCells(e, r, gone)
	last := cells[len(cells)-1]
	call := ""
	if !gone {
		call = classCall(r)
	}
	return strip{head: object(r.ref()), call: call, tail: "  value " + classValue(r), text: last.Text, role: last.Role}
}

// classBody is the page of a class.
func classBody(p *paper, r classRow, _ loaded) {
	e := p.e
	p.text("VALUE", classValue(r), theme.Plain)
	state, role := classNote(e, r)
	callDoc(p, or(state, "used"), role, classCall(r))
	ownerDoc(p, r.meta, r.ref())
	p.gap()
	if word, ok := known(e, world.KindWorkload); !ok {
		p.text("WORKLOADS", "? Workloads: "+word, theme.Warn)
		return
	}
	text := count(r.pending) + " pending, " + count(r.running) + " hold quota"
	if r.off > 0 {
		text += ", " + count(r.off) + " deactivated"
	}
	if limit := e.Snap.Contract.Limit(); limit != "" {
		text += ", of " + limit + " alone: others are not read"
	}
	p.text("WORKLOADS", text, theme.Plain)
	for i, u := range r.queues {
		head := ""
		if i == 0 {
			head = "QUEUES"
		}
		text := or(u.queue, "ClusterQueue not known") + "   " + count(u.pending) + " pending, " + count(u.running) + " hold quota"
		var to world.Ref
		if q := e.Snap.ClusterQueue(u.queue); q != nil {
			to = q.Ref()
		}
		p.link(head, text, theme.Info, to)
	}
	r.oddDoc(p)
}

// oddDoc lists the Workloads that have another priority than the class says.
func (r classRow) oddDoc(p *paper) {
	if len(r.odd) == 0 {
		return
	}
	p.gap()
	why := "Kueue sets it when the Workload is made, and again when the class's value changes: that is under way, or somebody changed the Workload."
	if r.kind == world.KindPriorityClass {
		why = "Kueue takes it when the Workload is made: since then the class was made anew, or somebody changed the Workload."
	}
	p.text("OTHER", plural(len(r.odd), "Workload")+" with another priority than "+classValue(r)+". "+why, theme.Warn)
	for i, w := range r.odd {
		if i == topWaiting {
			p.text("", "and "+plural(len(r.odd)-i, "more Workload"), theme.Dim)
			return
		}
		p.link("", w.Namespace+"/"+w.JobName()+"  "+strconv.Itoa(int(w.Priority))+"  "+w.State.String(), theme.Plain, w.Ref())
	}
}
