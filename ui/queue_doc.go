package ui

import (
	"strconv"
	"strings"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// topWaiting bounds the Workloads and LocalQueues that a queue's page lists.
const topWaiting = 10

func (s queue) clusterDoc(p *paper) {
	e := p.e
	q := e.Snap.ClusterQueue(s.ref.Name)
	if q == nil || q.UID != s.ref.UID {
		p.text("", "This ClusterQueue does not exist any more. Esc: back.", theme.Alarm)
		return
	}
	s.clusterBody(p, q)
	s.tail(p, q.Conditions)
}

// clusterBody is what the snapshot tells of a ClusterQueue.
func (s queue) clusterBody(p *paper, q *world.ClusterQueue) {
	e := p.e
	s.state(p, q.Meta, q.StopPolicy, q.Hold, q.Conditions, clusterState(e.Snap, q))
	if obstacles, sentences := reason.QueueObstacles(e.Snap, q); len(obstacles) > 0 {
		for i, o := range obstacles {
			if o.Kind != reason.ObstacleClusterQueueHeld { // said above
				p.text("", e.Theme.Glyph.Dot+" "+sentences[i], theme.Alarm)
			}
		}
	}
	cohort := "none"
	if q.Cohort != "" {
		cohort = q.Cohort
	}
	p.text("COHORT", cohort, theme.Plain)
	p.text("ADMITS", "strategy "+q.Strategy+"; within the queue preempts "+or(q.Preemption.WithinClusterQueue, "Never")+
		", reclaims "+or(q.Preemption.ReclaimWithinCohort, "Never")+", while borrowing "+or(q.Preemption.BorrowWithinCohort, "Never"), theme.Plain)
	s.selector(p, q)
	for i, c := range q.Checks {
		head, text := "", c.Name
		if i == 0 {
			head = "CHECKS"
		}
		if len(c.OnFlavors) > 0 {
			text += "   for " + strings.Join(c.OnFlavors, ", ")
		}
		p.link(head, text, theme.Info, checkRow{name: c.Name, check: e.Snap.Check(c.Name)}.ref())
	}
	s.tally(p, counts(e, e.Snap.CountsOf(q.Name)), q.Status, e.fresh().queues.StaleOf(q))
	p.gap()
	quotaTable(p, e.Snap.Tree.ClusterQueue(q.Name))
	poolDoc(p, e.Snap.Tree.ClusterQueue(q.Name))
	if closed(e.Snap, q) {
		p.raw(e.Theme.Paint(theme.Dim, "FREE is what it could take if it were open; now it admits nothing."))
	}
	p.gap()
	var locals []*world.LocalQueue
	for _, lq := range e.Snap.LocalQueues {
		if lq.ClusterQueue == q.Name {
			locals = append(locals, lq)
		}
	}
	localsDoc(p, locals)
}

func or(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

func (s queue) localDoc(p *paper) {
	e := p.e
	q := e.Snap.LocalQueue(s.ref.Key)
	if q == nil || q.UID != s.ref.UID {
		p.text("", "This LocalQueue does not exist any more. Esc: back.", theme.Alarm)
		return
	}
	s.localBody(p, q)
	s.tail(p, q.Conditions)
}

// localBody is what the snapshot tells of a LocalQueue.
func (s queue) localBody(p *paper, q *world.LocalQueue) {
	e := p.e
	s.state(p, q.Meta, q.StopPolicy, q.Hold, q.Conditions, stateCell(q.Meta, q.StopPolicy, q.Conditions))
	if cq := e.Snap.ClusterQueue(q.ClusterQueue); cq != nil {
		text, role := q.ClusterQueue, theme.Info
		if note, r := queueNote(e, cq.Meta, cq.StopPolicy, cq.Hold, cq.Conditions); note != "" {
			text, role = text+": "+note, r
		}
		p.link("QUEUE", text, role, cq.Ref())
	} else if _, ok := knownKind(e.Snap, world.KindClusterQueue); ok {
		p.text("QUEUE", q.ClusterQueue+" does not exist", theme.Alarm)
	} else {
		p.text("QUEUE", q.ClusterQueue+" (whether it exists is not known)", theme.Warn)
	}
	s.tally(p, counts(e, e.Snap.CountsOfLocal(q.Key)), q.Status, e.fresh().queues.LocalStaleOf(q))
}

// state says first what needs a person; word is the state where there is nothing
// to add to it.
func (s queue) state(p *paper, m world.Meta, sp world.StopPolicy, h *world.HoldRecord, c world.Conditions, word table.Cell) {
	text, role := queueNote(p.e, m, sp, h, c)
	if text == "" {
		text, role = word.Text, word.Role
	}
	p.text("STATE", text+" (stopPolicy "+string(or2(sp))+")", role)
	if h != nil && h.Problem == "" {
		p.text("HELD", "by "+h.By+", "+stamp(p.e.Now, h.At)+" ("+age(p.e.Now, h.At)+" ago); before it was "+string(or2(h.Previous))+", to which a resume goes back", theme.Plain)
		if h.Reason != "" {
			p.text("", `"`+h.Reason+`"`, theme.Plain)
		}
	}
	ownedDoc(p, m)
}

// ownedDoc names the tool that owns the object.
func ownedDoc(p *paper, m world.Meta) {
	if m.ManagedBy == "" {
		return
	}
	as := ""
	if m.ManagedAs != "" {
		as = " (" + m.ManagedAs + ")"
	}
	p.text("OWNER", "managed by "+m.ManagedBy+as+", which may undo what is changed here", theme.Warn)
}

func or2(p world.StopPolicy) world.StopPolicy {
	if p == "" {
		return world.StopNone
	}
	return p
}

func (s queue) selector(p *paper, q *world.ClusterQueue) {
	switch {
	case q.NamespacesProblem != "":
		p.text("FROM", "the namespace selector cannot be read: "+q.NamespacesProblem, theme.Alarm)
	case q.Namespaces == nil:
		p.text("FROM", "no namespace: the spec has no namespaceSelector", theme.Warn)
	case q.Namespaces.Empty():
		p.text("FROM", "every namespace", theme.Plain)
	default:
		p.text("FROM", "namespaces with "+q.Namespaces.String(), theme.Plain)
	}
}

// tally says how many Workloads there are, and what Kueue itself last wrote.
func (s queue) tally(p *paper, c []table.Cell, st world.QueueStatus, stale reason.Stale) {
	p.text("WORKLOADS", c[0].Text+" pending, "+c[1].Text+" reserving, "+c[2].Text+" of them admitted", theme.Plain)
	n := func(i int32) string { return count(int(i)) }
	p.text("", "Kueue's status: "+n(st.Pending)+" pending, "+n(st.Reserving)+" reserving, "+n(st.Admitted)+" admitted", theme.Dim)
	switch {
	case stale.Stale:
		p.text("", "old or wrong: "+stale.Note, theme.Warn)
	case stale.Note != "":
		p.text("", stale.Note, theme.Dim)
	}
}

// poolDoc says what the node borrows and from whom it may come: Kueue records no
// loans, so nobody is named alone unless there is nobody else.
func poolDoc(p *paper, n *quota.Node) {
	if n == nil || n.Cycle != nil {
		return
	}
	if _, ok := known(p.e, world.KindWorkload, world.KindCohort); !ok {
		return
	}
	for _, c := range n.Cells {
		if c.UncoveredMost > 0 {
			t := showCell(c.FlavorResource) + ": over by " + c.UncoveredMost.Text(c.Resource)
			if c.Uncovered < c.UncoveredMost {
				t = showCell(c.FlavorResource) + ": over by " + c.Uncovered.Text(c.Resource) + " to " + c.UncoveredMost.Text(c.Resource) + ", since others borrow from the same pool"
			}
			p.text("", t+"; nobody's idle quota covers that. It runs on, and nothing new starts before it came back", theme.Alarm)
		}
		if c.Borrowed <= 0 {
			continue
		}
		var from []string
		for _, l := range n.Lenders(c.FlavorResource) {
			name := l.Name
			switch {
			case l.Own:
				name = "cohort " + name + "'s own"
			case l.Kind == world.KindCohort:
				name = "cohort " + name
			}
			from = append(from, name+" "+l.Most.Text(c.Resource))
		}
		if len(from) > 0 {
			p.text("", showCell(c.FlavorResource)+": borrows "+c.Borrowed.Text(c.Resource)+" from the pool; up to this may come from "+few3(from), theme.Plain)
		}
	}
	if share, ok := n.Share(); ok && p.e.Snap.FairSharing() {
		p.text("SHARE", "weighted share "+share.String(), theme.Plain)
	}
}

// few3 names three and how many more there are.
func few3(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + " and " + count(len(names)-3) + " more"
	}
	return strings.Join(names, ", ")
}

var quotaColumns = []table.Column{
	{Title: "FLAVOR", Min: 8, Max: 24},
	{Title: "RESOURCE", Min: 14, Max: 24},
	{Title: "NOMINAL", Right: true, Min: 7, Max: 20},
	{Title: "BORROW<=", Right: true, Min: 8, Max: 20, Drop: 2},
	{Title: "LEND<=", Right: true, Min: 8, Max: 20, Drop: 3},
	{Title: "USED", Right: true, Min: 5, Max: 20},
	{Title: "BORROWED", Right: true, Min: 8, Max: 20},
	{Title: "FREE", Right: true, Min: 5, Max: 20},
	{Title: "AT MOST", Right: true, Min: 7, Max: 20, Drop: 1},
}

// quotaTable writes every cell of a node.
func quotaTable(p *paper, n *quota.Node) {
	e := p.e
	switch {
	case n == nil:
		return
	case n.Cycle != nil:
		p.text("QUOTA", note(e, n, quota.Cell{}, false, nil).Text, theme.Alarm)
		return
	case len(n.Cells) == 0:
		p.text("QUOTA", "none in the spec", theme.Warn)
		return
	}
	rows := make([]table.Row, 0, len(n.Cells))
	for i := range n.Cells {
		rows = append(rows, quotaRow(e, n, n.Cells[i]))
	}
	for _, l := range table.DrawPlain(e.Theme, quotaColumns, rows, p.w) {
		p.raw(l)
	}
}

func quotaRow(e Env, n *quota.Node, c quota.Cell) table.Row {
	limit := func(a *world.Amount) string {
		if a == nil {
			return "no limit"
		}
		return a.Text(c.Resource)
	}
	nominal := c.Nominal.Text(c.Resource)
	if !c.InSpec {
		nominal = "not in spec"
	}
	cells := []table.Cell{{Text: c.Flavor}, {Text: c.Resource}, {Text: nominal}, {Text: limit(c.BorrowingLimit)}, {Text: limit(c.LendingLimit)}, {}, {}, {}, {}}
	word, ok := known(e, world.KindWorkload)
	up, upOK := known(e, world.KindWorkload, world.KindCohort)
	if n.Parent == nil {
		up, upOK = word, ok
	}
	cells[5].Text, cells[6].Text, cells[7].Text, cells[8].Text = word, up, up, up
	if ok {
		cells[5].Text = c.Reserved.Text(c.Resource)
	}
	if upOK {
		cells[6].Text, cells[8].Text = c.Borrowed.Text(c.Resource), c.Potential.Text(c.Resource)
		cells[7].Text = c.Available.Text(c.Resource)
		if c.Available < 0 {
			cells[7].Role = theme.Alarm
		}
	}
	return table.Row{Cells: cells}
}

func localsDoc(p *paper, locals []*world.LocalQueue) {
	if word, ok := knownKind(p.e.Snap, world.KindLocalQueue); !ok {
		p.text("LOCAL", "LocalQueues: "+or(word, "syncing"), theme.Warn)
		return
	}
	if len(locals) == 0 {
		p.text("LOCAL", "no LocalQueue "+p.ofNamespace()+"points here", theme.Warn)
	}
	for i, lq := range locals {
		head := ""
		if i == 0 {
			head = "LOCAL"
		}
		if i == topWaiting {
			p.text("", "and "+plural(len(locals)-i, "more LocalQueue"), theme.Dim)
			return
		}
		c := counts(p.e, p.e.Snap.CountsOfLocal(lq.Key))
		text := lq.Key.String() + "   " + c[0].Text + " pending, " + c[2].Text + " admitted"
		role := theme.Plain
		if note, r := queueNote(p.e, lq.Meta, lq.StopPolicy, lq.Hold, lq.Conditions); note != "" {
			text, role = text+"   "+note, r
		} else if note, r, _ := aboveNote(p.e.Snap, lq); r == theme.Alarm {
			text, role = text+"   "+note, r
		}
		p.link(head, text, role, lq.Ref())
	}
}

// tail writes what every queue's page ends with: who waits, conditions and
// timeline.
func (s queue) tail(p *paper, c world.Conditions) {
	p.gap()
	s.waitingDoc(p)
	p.gap()
	for i, x := range c {
		head := ""
		if i == 0 {
			head = "KUEUE"
		}
		role := theme.Plain
		if x.Type == world.CondActive && x.Status == "False" {
			role = theme.Alarm
		}
		p.text(head, x.Type+"="+x.Status+" "+x.Reason+" ("+stamp(p.e.Now, x.At)+"): "+x.Message, role)
	}
	p.gap()
	timelineDoc(p, s.detail)
}

// ofNamespace says of which namespace or part alone anything is known, with a blank
// behind it; empty where all is.
func (p *paper) ofNamespace() string {
	c := &p.e.Snap.Contract
	switch {
	case c.Part != "":
		return "of " + c.Part + ", all that was exported, "
	case c.Namespace != "":
		return "of namespace " + c.Namespace + ", the only one that is read, "
	}
	return ""
}

func (s queue) waitingDoc(p *paper) {
	if word, ok := known(p.e, world.KindWorkload, world.KindLocalQueue); !ok {
		p.text("WAITING", word, theme.Warn)
		return
	}
	if !s.waiting.done {
		p.text("WAITING", "reading"+p.e.Theme.Glyph.Ellipsis, theme.Dim)
		return
	}
	waiting := s.waiting.value
	if len(waiting) == 0 {
		p.text("WAITING", strings.TrimRight("nobody "+p.ofNamespace(), ", "), theme.Plain)
		return
	}
	for i, w := range waiting {
		head := ""
		if i == 0 {
			head = "WAITING"
		}
		if i == topWaiting {
			p.text("", "and "+plural(len(waiting)-i, "more Workload"), theme.Dim)
			return
		}
		now := p.e.Snap.WorkloadOf(w.Ref())
		if now == nil || now.State != world.Pending { // since the list was made
			p.text(head, w.Namespace+"/"+w.JobName()+"  waits no more", theme.Dim)
			continue
		}
		w = now
		x := p.e.why(w)
		waits := "waits ?"
		if t := reason.TimesOf(w, p.e.Now); t.Wait != nil {
			waits = "waits " + span(*t.Wait)
		}
		p.link(head, w.Namespace+"/"+w.JobName()+"  prio "+strconv.Itoa(int(w.Priority))+"  "+waits+"  "+sentence(x), adviceRole(x), w.Ref())
	}
}
