package ui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// checks lists the AdmissionChecks, and those that are only asked for.
type checks = board[world.Ref, checkRow]

func aboutChecks() *about[checkRow] {
	return &about[checkRow]{rows: checkRows, same: sameChecks, body: checkBody}
}

func newChecks() checks {
	return newBoard(aboutChecks().sheet(sheet[world.Ref, checkRow]{
		name: "Checks", noun: "AdmissionCheck", own: "need", of: []world.Kind{world.KindAdmissionCheck},
		columns: checkColumns(), fields: []string{"name", "state", "controller", "queue", "flavor"}, none: "There are no AdmissionChecks.",
		cells: checkCells, strip: checkStrip,
	}, func(look) func(checkRow, string, string) bool { return checkHas }))
}

func checkColumns() []column[checkRow] {
	type r = checkRow
	return []column[r]{
		{Column: table.Column{Title: "CHECK", Min: 12, Max: 30}, compare: by(func(r r) string { return r.name })},
		{Column: table.Column{Title: "STATE", Min: 10, Max: 10}, compare: by(func(r r) checkState { return r.state })},
		{Column: table.Column{Title: "CONTROLLER", Min: 14, Max: 36, Drop: 4}, compare: by(func(r r) string { return controllerOf(r) })},
		{Column: table.Column{Title: "QUEUES", Right: true, Min: 6, Max: 9, Drop: 2}, compare: by(func(r r) int { return len(r.uses) }), falling: true},
		{Column: table.Column{Title: "WAITING", Right: true, Min: 7, Max: 9}, compare: by(func(r r) int { return len(r.waits) }), falling: true},
		{Column: table.Column{Title: "OLDEST", Right: true, Min: 6, Max: 7}, compare: func(l look) func(a, b r) int {
			waited := func(r r) time.Duration { // nobody waits least
				if r.oldest.IsZero() {
					return -1
				}
				return l.now.Sub(r.oldest)
			}
			return func(a, b r) int { return cmp.Compare(waited(a), waited(b)) }
		}, falling: true},
		{Column: table.Column{Title: "RETRY", Right: true, Min: 5, Max: 9, Drop: 3}, compare: by(func(r r) int { return len(r.retries) }), falling: true},
		{Column: table.Column{Title: "REJECTED", Right: true, Min: 8, Max: 9}, compare: by(func(r r) int { return len(r.rejected) }), falling: true},
		{Column: table.Column{Title: "", Min: 30, Max: 100, Grow: 1, Drop: 1}},
	}
}

func controllerOf(r checkRow) string {
	if r.check == nil {
		return ""
	}
	return r.check.Controller
}

func conditionsOf(r checkRow) world.Conditions {
	if r.check == nil {
		return nil
	}
	return r.check.Conditions
}

func checkHas(r checkRow, field, text string) bool {
	queue := func() bool {
		return slices.ContainsFunc(r.uses, func(u checkUse) bool { return filter.Holds(u.of.Name, text) })
	}
	controller := func() bool { return strings.Contains(strings.ToLower(controllerOf(r)), text) }
	switch field {
	case "name":
		return filter.Holds(r.name, text)
	case "state":
		return strings.HasPrefix(r.state.String(), text)
	case "controller":
		return controller()
	case "queue":
		return queue()
	case "flavor":
		return slices.ContainsFunc(r.uses, func(u checkUse) bool {
			return len(u.onFlavors) == 0 || slices.ContainsFunc(u.onFlavors, func(f string) bool { return filter.Holds(f, text) })
		})
	}
	return strings.Contains(r.name, text) || strings.HasPrefix(r.state.String(), text) || queue() || controller()
}

func checkRole(s checkState) theme.Role {
	switch s {
	case checkMissing, checkInactive:
		return theme.Alarm
	case checkUnknown:
		return theme.Warn
	case checkUnused:
		return theme.Dim
	}
	return theme.Plain
}

func checkCells(e Env, r checkRow, gone bool) []table.Cell {
	text, role := checkNote(e, r)
	if gone {
		text, role = lostWords(e.Snap, r.ref(), r.there()), theme.Plain
	}
	controller := controllerOf(r)
	if r.check == nil {
		controller = "?"
	}
	if c, _ := conditionsOf(r).Get(world.CondActive); text == "" {
		text, role = c.Message, theme.Dim
	}
	rejected := loadCount(e, len(r.rejected))
	if len(r.rejected) > 0 {
		rejected.Role = theme.Warn
	}
	return []table.Cell{
		{Text: r.name, Role: theme.Strong}, {Text: r.state.String(), Role: checkRole(r.state)}, {Text: controller}, queueCount(e, len(r.uses)),
		loadCount(e, len(r.waits)), {Text: oldestWait(e, r)}, loadCount(e, len(r.retries)), rejected, {Text: text, Role: role},
	}
}

// oldestWait is how long the first of those that wait has waited.
func oldestWait(e Env, r checkRow) string {
	switch word, ok := whole(e); {
	case !ok:
		return word
	case len(r.waits) == 0:
		return e.Theme.Glyph.Dash
	}
	return age(e.Now, r.oldest)
}

// checkNote is what a person should know of the check, in a sentence.
func checkNote(e Env, r checkRow) (string, theme.Role) {
	var queues []string
	for _, u := range r.uses {
		queues = append(queues, u.of.Name)
	}
	stops := ""
	if len(queues) > 0 {
		stops = ": nobody answers, and " + subject("ClusterQueue", queues, ", which asks for it, admits", ", which ask for it, admit") + " nothing"
	}
	switch r.state {
	case checkMissing:
		if stops == "" {
			return "does not exist, no ClusterQueue asks for it, and Workloads wait for its answer", theme.Alarm
		}
		return "does not exist" + stops, theme.Alarm
	case checkInactive:
		return "not active (" + inactiveWhy(r.check) + ")" + stops, theme.Alarm
	case checkUnknown:
		if r.check == nil {
			return "whether it exists is not known", theme.Warn
		}
		return "whether a ClusterQueue asks for it is not known", theme.Warn
	case checkUnused:
		if !r.check.Conditions.True(world.CondActive) {
			return "no ClusterQueue asks for it; it is not active: " + inactiveWhy(r.check), theme.Dim
		}
		return "no ClusterQueue asks for it", theme.Dim
	}
	switch {
	case r.check.Deleting:
		return "is being deleted, which ends when no ClusterQueue asks for it", theme.Warn
	case behind(r.check.Meta, r.check.Conditions):
		return "its spec was changed and its controller has not taken that up yet", theme.Warn
	}
	return "", theme.Plain
}

// checkCall says who must do what about it; empty for nobody.
func checkCall(s checkState) string {
	switch s {
	case checkMissing:
		return "platform admin: create it, or take it out of the queues that ask for it"
	case checkInactive:
		return "owner of the admission check: see whether its controller runs"
	}
	return ""
}

// inactiveWhy is what the check's controller says of it.
func inactiveWhy(k *world.Check) string {
	c, ok := k.Conditions.Get(world.CondActive)
	if !ok {
		return "its controller " + k.Controller + " has said nothing"
	}
	return causes(c)
}

func checkStrip(e Env, r checkRow, gone bool) strip {
	cells := checkCells(e, r, gone)
	last := cells[len(cells)-1]
	out := strip{head: object(r.ref()), text: last.Text, role: last.Role}
	if !gone {
		out.call = checkCall(r.state)
	}
	if r.check != nil {
		out.tail = "  controller " + r.check.Controller
	}
	return out
}

// checkBody is the page of a check.
func checkBody(p *paper, r checkRow, _ loaded) {
	e := p.e
	state, role := checkNote(e, r)
	if state == "" {
		state, role = "active", theme.Plain
	}
	callDoc(p, state, role, checkCall(r.state))
	if r.check != nil {
		p.text("BY", "controller "+r.check.Controller, theme.Plain)
		if r.check.Deleting {
			p.text("DELETED", "it is being deleted, which ends when no ClusterQueue asks for it", theme.Warn)
		}
		ownedDoc(p, r.check.Meta)
		for i, c := range r.check.Conditions {
			head := ""
			if i == 0 {
				head = "SAYS"
			}
			role := theme.Plain
			if c.Type == world.CondActive && c.Status != "True" {
				role = theme.Alarm
			}
			p.text(head, c.Type+"="+c.Status+" "+c.Reason+" ("+stamp(e.Now, c.At)+"): "+c.Message, role)
		}
	}
	p.gap()
	if word, ok := known(e, world.KindClusterQueue); !ok {
		p.text("QUEUES", "? ClusterQueues: "+word, theme.Warn)
	} else if len(r.uses) == 0 {
		p.text("QUEUES", "none asks for it", theme.Plain)
	}
	for i, u := range r.uses {
		head, text := "", u.of.Name+"   for every flavor"
		if i == 0 {
			head = "QUEUES"
		}
		if len(u.onFlavors) > 0 {
			text = u.of.Name + "   for " + strings.Join(u.onFlavors, ", ")
		}
		p.link(head, text, theme.Info, u.of)
	}
	p.gap()
	if word, ok := known(e, world.KindWorkload); !ok {
		p.text("WAITING", "? Workloads: "+word, theme.Warn)
		return
	}
	if limit := e.Snap.Contract.Limit(); limit != "" {
		p.text("", "Only Workloads of "+limit+" are read: others are not told of.", theme.Warn)
	}
	r.loadsDoc(p, "WAITING", "no Workload that holds quota waits for it", r.waits)
	r.loadsDoc(p, "RETRY", "", r.retries)
	r.loadsDoc(p, "REJECTED", "", r.rejected)
}

// loadsDoc lists Workloads with what the check says of them.
func (r checkRow) loadsDoc(p *paper, head, none string, all []*world.Workload) {
	if len(all) == 0 && none != "" {
		p.text(head, none, theme.Plain)
	}
	for i, w := range all {
		if i == topWaiting {
			p.text("", "and "+plural(len(all)-i, "more Workload"), theme.Dim)
			return
		}
		c := checkOf(w, r.name)
		text := w.Namespace + "/" + w.JobName() + "  for " + age(p.e.Now, c.At)
		if c.Message != "" {
			text += ": " + c.Message
		}
		p.link(head, text, theme.Warn, w.Ref())
		head = ""
	}
}
