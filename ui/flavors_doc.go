package ui

import (
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// flavorBody is the page of a flavor.
func flavorBody(p *paper, r flavorRow, l loaded) {
	e := p.e
	state, role := flavorNote(e, r)
	switch {
	case state == "":
		queues, cohorts := plural(r.queues(), "ClusterQueue"), plural(len(r.lent), "Cohort")
		if word, ok := known(e, world.KindClusterQueue); !ok {
			queues = "? ClusterQueues (" + word + ")"
		}
		if word, ok := known(e, world.KindCohort); !ok {
			cohorts = "? Cohorts (" + word + ")"
		}
		state, role = "used by "+queues+" and "+cohorts, theme.Plain
	case r.state == flavorMissing:
		state = "does not exist: " + state
	}
	callDoc(p, state, role, flavorCall(r.state))
	if r.flavor != nil {
		ownerDoc(p, &r.flavor.Meta, r.ref())
		nodesDoc(p, r.flavor, l)
	}
	loads := loadCount(e, r.loads).Text
	if limit := e.Snap.Contract.Limit(); limit != "" {
		loads = "? (of " + limit + ", all that is read: " + count(r.loads) + ")"
	}
	p.text("WORKLOADS", loads+" hold quota of it", theme.Plain)
	p.gap()
	flavorSums(p, r)
	p.gap()
	flavorUses(p, r)
}

// nodesDoc says which nodes the pods of a flavor go to, and what they need for it.
func nodesDoc(p *paper, f *world.Flavor, l loaded) {
	p.text("LABELS", or(nodeLabels(flavorRow{flavor: f}), "none: Kueue sends its pods to no nodes in particular"), theme.Plain)
	must := reason.MustTolerate(f)
	for i, t := range f.NodeTaints {
		head, say := "", "   the flavor adds the toleration"
		if i == 0 {
			head = "TAINTS"
		}
		switch {
		case slices.Contains(must, t):
			say = "   pods must tolerate it themselves to get this flavor"
		case t.Effect == "PreferNoSchedule":
			say = "   keeps nobody away"
		}
		p.text(head, t.String()+say, theme.Plain)
	}
	topologyDoc(p, f)
	if len(f.NodeLabels) == 0 {
		return
	}
	d := l.detail
	switch {
	case l.ticket != 0 && !l.done:
		p.text("NODES", "reading"+p.e.Theme.Glyph.Ellipsis, theme.Dim)
	case !l.done:
		p.text("NODES", "? they are read when this page is opened", theme.Dim)
	case l.err != nil || d.NodesUnknown != "":
		p.text("NODES", "? "+or(d.NodesUnknown, "the flavor could not be read"), theme.Warn)
	case len(d.Nodes) == 0:
		p.text("NODES", "no node has these labels: pods that get this flavor start only when one comes", theme.Warn)
	default:
		ready := 0
		for _, n := range d.Nodes {
			if n.Ready {
				ready++
			}
		}
		role := theme.Plain
		if ready < len(d.Nodes) {
			role = theme.Warn
		}
		p.text("NODES", plural(len(d.Nodes), "node")+" with these labels, "+count(ready)+" ready; read "+age(p.e.Now, d.ReadAt)+" ago", role)
	}
}

func topologyDoc(p *paper, f *world.Flavor) {
	if f.Topology == "" {
		return
	}
	t := p.e.Snap.Topology(f.Topology)
	word, ok := known(p.e, world.KindTopology)
	switch {
	case t != nil:
		p.text("TOPOLOGY", t.Name+": "+strings.Join(t.Levels, " > "), theme.Plain)
	case ok:
		p.text("TOPOLOGY", f.Topology+" does not exist", theme.Alarm)
	default:
		p.text("TOPOLOGY", f.Topology+" (whether it exists is not known: "+word+")", theme.Warn)
	}
}

var sumColumns = []table.Column{
	{Title: "RESOURCE", Min: 14, Max: 30},
	{Title: "NOMINAL", Right: true, Min: 7, Max: 20},
	{Title: "RESERVED", Right: true, Min: 8, Max: 20},
	{Title: "ADMITTED", Right: true, Min: 8, Max: 20},
}

// flavorSums is the table of what there is of a flavor over all.
func flavorSums(p *paper, r flavorRow) {
	word, ok := known(p.e, world.KindWorkload, world.KindClusterQueue)
	part, whole := known(p.e, treeKinds...)
	if len(r.sums) == 0 {
		return
	}
	rows := make([]table.Row, 0, len(r.sums))
	for _, x := range r.sums {
		cells := []table.Cell{{Text: x.resource}, {Text: x.nominal.Text(x.resource)}, {Text: x.reserved.Text(x.resource)}, {Text: x.admitted.Text(x.resource)}}
		switch {
		case !ok:
			cells[2].Text, cells[3].Text = word, word
		case x.torn:
			cells[2].Text, cells[3].Text = "?", "?"
		case x.reserved > x.nominal && whole:
			cells[2].Role = theme.Warn
		}
		if !whole {
			cells[1].Text = part
		}
		rows = append(rows, table.Row{Cells: cells})
	}
	for _, l := range table.DrawPlain(p.e.Theme, sumColumns, rows, p.w) {
		p.raw(l)
	}
}

// flavorUses lists who has quota of the flavor.
func flavorUses(p *paper, r flavorRow) {
	e := p.e
	if word, ok := known(e, world.KindClusterQueue); !ok {
		p.text("QUEUES", "? ClusterQueues: "+word, theme.Warn)
	} else if len(r.uses) == 0 {
		p.text("QUEUES", "none", theme.Plain)
	}
	for i, u := range r.uses {
		head, role, text := "", theme.Info, u.of.Name
		if i == 0 {
			head = "QUEUES"
		}
		for _, c := range u.cells {
			text += "   " + useText(e, u, c)
		}
		text += "   " + loadWords(e, u.loads) + ", " + counts(e, e.Snap.CountsOf(u.of.Name))[0].Text + " pending"
		switch {
		case u.torn:
			text, role = text+"   in a cycle of cohorts: what is used is not known", theme.Alarm
		case !u.named:
			text, role = text+"   its spec does not name the flavor any more", theme.Warn
		}
		p.link(head, text, role, u.of)
	}
	for i, u := range r.lent {
		head, text := "", u.of.Name
		if i == 0 {
			head = "COHORTS"
		}
		for _, c := range u.cells {
			text += "   " + c.Nominal.Text(c.Resource) + " " + c.Resource + " of its own"
		}
		p.text(head, text, theme.Plain)
	}
}

func useText(e Env, u flavorUse, c quota.Cell) string {
	reserved := c.Reserved.Text(c.Resource)
	if _, ok := known(e, world.KindWorkload); !ok || u.torn {
		reserved = "?"
	}
	if !c.InSpec {
		return c.Resource + " " + reserved + ", no quota"
	}
	return c.Resource + " " + reserved + " of " + c.Nominal.Text(c.Resource)
}
