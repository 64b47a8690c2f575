package ui

import (
	"sort"
	"strconv"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// since is when the Workload came into its state; false when no condition says.
func since(w *world.Workload) (time.Time, bool) {
	typ := map[world.State]string{
		world.Pending: world.CondQuotaReserved, world.Reserving: world.CondQuotaReserved, world.Admitted: world.CondAdmitted,
		world.Evicting: world.CondEvicted, world.Finished: world.CondFinished,
	}[w.State]
	c, ok := w.Conditions.Get(typ)
	if w.State == world.Pending && !ok {
		return w.Created, true
	}
	return c.At, ok && !c.At.IsZero()
}

func (s workload) whyDoc(p *paper) {
	if s.gone {
		p.text("", "This Workload does not exist any more. What follows is how it was last seen.", theme.Warn)
		p.gap()
	}
	x := p.e.why(s.row)
	p.text("WHY", sentence(x), adviceRole(x))
	if a := advice(x); a != "" {
		p.text("", p.e.Theme.Glyph.Arrow+" "+a, adviceRole(x))
	}
	if x.NeverFits != nil && *x.NeverFits {
		p.text("", "It can never fit under today's quota.", theme.Alarm)
	}
	for _, o := range x.Obstacles {
		t := o.Detail
		if o.Object != "" {
			t = o.Object + ": " + t
		}
		p.text("", p.e.Theme.Glyph.Dot+" "+t, theme.Plain)
	}
	for _, f := range x.Shortfall {
		p.text("", p.e.Theme.Glyph.Dot+" "+showCell(f.FlavorResource)+": needs "+f.Need.Text(f.Resource)+", free "+f.Free.Text(f.Resource)+
			", at most "+f.Most.Text(f.Resource)+", missing "+f.Missing.Text(f.Resource), theme.Plain)
	}
	if x.Reason != "" || x.Message != "" {
		p.text("KUEUE", strings.TrimSpace(x.Reason+": "+x.Message), theme.Dim)
	}
}

func (s workload) placeDoc(p *paper) {
	e, w := p.e, s.row
	lk := world.Key{Namespace: w.Namespace, Name: w.LocalQueue}
	lq := e.Snap.LocalQueue(lk)
	switch {
	case w.LocalQueue == "":
		p.text("QUEUE", "it names no LocalQueue", theme.Alarm)
	case lq != nil:
		p.link("QUEUE", "LocalQueue "+lk.String(), theme.Info, lq.Ref())
	default:
		p.text("QUEUE", "LocalQueue "+lk.String()+" is not known", theme.Warn)
	}
	if name, ok := e.Snap.QueueOf(w); ok {
		if cq := e.Snap.ClusterQueue(name); cq != nil {
			p.link("", "ClusterQueue "+name, theme.Info, cq.Ref())
		} else {
			p.text("", "ClusterQueue "+name+" is not known", theme.Warn)
		}
	}
	prio := strconv.Itoa(int(w.Priority))
	if w.PriorityClass != "" {
		prio += " (" + w.PriorityClass + ")"
	}
	owner := "no owner"
	if w.Owner != nil {
		owner = w.Owner.Kind + " " + w.Owner.Name
	}
	p.text("JOB", owner+"   Workload "+w.Name+"   priority "+prio+"   created "+stamp(e.Now, w.Created), theme.Plain)
	if !w.RequeueAt.IsZero() {
		p.text("BACKOFF", "tried again at "+stamp(e.Now, w.RequeueAt)+", requeued "+plural(int(w.RequeueCount), "time"), theme.Warn)
	}
	if len(w.UnhealthyNodes) > 0 {
		p.text("NODES", "unhealthy: "+strings.Join(w.UnhealthyNodes, ", "), theme.Warn)
	}
}

func (s workload) podsDoc(p *paper) {
	for i, ps := range s.row.PodSets {
		head := ""
		if i == 0 {
			head = "PODS"
		}
		t := ps.Name + "  " + plural(int(ps.Count), "pod")
		if ps.MinCount != nil {
			t += " (may start with " + strconv.Itoa(int(*ps.MinCount)) + ")"
		}
		if ps.Admitted != nil {
			t += ", " + strconv.Itoa(int(*ps.Admitted)) + " admitted"
		}
		if ps.Reclaimable > 0 {
			t += ", " + strconv.Itoa(int(ps.Reclaimable)) + " finished"
		}
		var reqs []string
		for _, r := range ps.Requests {
			q := r.Resource + " " + r.Amount.Text(r.Resource)
			if f := ps.Flavors[r.Resource]; f != "" {
				q += " of " + f
			}
			reqs = append(reqs, q)
		}
		if len(reqs) > 0 {
			t += "  asks for " + strings.Join(reqs, ", ")
		}
		if !ps.Exact && len(reqs) > 0 {
			t += " or more (LimitRanges and RuntimeClasses may add)"
		}
		p.text(head, t, theme.Plain)
	}
	ev := append([]string(nil), evictions(s.row)...)
	if len(ev) > 0 {
		p.text("EVICTED", strings.Join(ev, ", "), theme.Plain)
	}
}

func evictions(w *world.Workload) []string {
	var out []string
	for _, x := range w.Evictions {
		t := x.Reason
		if x.Cause != "" {
			t += "/" + x.Cause
		}
		out = append(out, t+" "+plural(int(x.Count), "time"))
	}
	sort.Strings(out)
	return out
}

func (s workload) checksDoc(p *paper) {
	for i, c := range s.row.Checks {
		head := ""
		if i == 0 {
			head = "CHECKS"
		}
		role := theme.Plain
		switch c.State {
		case "Retry", "Pending":
			role = theme.Warn
		case "Rejected":
			role = theme.Alarm
		}
		t := c.Name + " " + c.State + " since " + stamp(p.e.Now, c.At)
		if c.Message != "" {
			t += ": " + c.Message
		}
		p.text(head, t, role)
	}
}

// chainDoc says who preempted this Workload and whom it preempted.
func (s workload) chainDoc(p *paper) {
	e := p.e
	l, ok := chain.By(e.Snap, s.row)
	switch {
	case !ok:
		p.text("CHAIN", "no preemption of it is known", theme.Dim)
	default:
		s.preemptedBy(p, l)
	}
	victims := chain.Victims(e.Snap, s.row)
	if word, ok := known(e, world.KindWorkload); !ok {
		p.text("", "whom it preempted: "+word, theme.Warn)
		return
	}
	if len(victims) == 0 {
		p.text("", "no Workload is known whose last preemption it caused", theme.Dim)
	}
	for i, v := range victims {
		if i == topWaiting {
			p.text("", "and "+plural(len(victims)-i, "more Workload"), theme.Dim)
			return
		}
		p.link("", "preempted "+who(v.Victim)+" at "+stamp(e.Now, v.At)+", "+or(v.Reason, "reason unknown")+readmitted(v), theme.Plain, v.Victim.Ref())
	}
}

func (s workload) preemptedBy(p *paper, l chain.Link) {
	how := " at " + stamp(p.e.Now, l.At) + ", " + or(l.Reason, "reason unknown") + readmitted(l)
	if l.Preemptor == nil {
		uid := string(l.PreemptorUID)
		if uid == "" {
			uid = "not written by Kueue"
		}
		p.text("CHAIN", "preempted by unknown (uid "+uid+")"+how, theme.Warn)
		return
	}
	by := who(l.Preemptor)
	if l.Recreated {
		by += " (a later Workload of the same job; the one that did it is gone)"
	}
	p.link("CHAIN", "preempted by "+by+how, theme.Warn, l.Preemptor.Ref())
}

func readmitted(l chain.Link) string {
	if l.History {
		return "; since readmitted"
	}
	return ""
}

// who names a Workload by its job and priority.
func who(w *world.Workload) string {
	return w.Namespace + "/" + w.JobName() + " (prio " + strconv.Itoa(int(w.Priority)) + ")"
}
