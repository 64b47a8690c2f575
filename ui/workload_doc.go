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
	if call, why := blame(p.e, s.row); call != "" && !s.gone {
		p.text("", p.e.Theme.Glyph.Arrow+" "+why+" "+call, theme.Warn)
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
	if where := e.place(w); where != "" {
		p.text("PLACE", where, theme.Plain)
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
	e, w := p.e, s.row
	unasked := e.fresh().queues.Unasked(w)
	for i := range w.PodSets {
		ps := &w.PodSets[i]
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
		n := e.asks(w, ps)
		var reqs []string
		for _, r := range n.PerPod {
			q := r.Resource + " " + r.Amount.Text(r.Resource)
			if f := ps.Flavors[r.Resource]; f != "" {
				q += " of " + f
			}
			reqs = append(reqs, q)
		}
		if len(reqs) > 0 {
			t += "  each asks for " + strings.Join(reqs, ", ")
		}
		p.text(head, t, theme.Plain)
		if n.Unknown != "" {
			p.text("", "or more: "+n.Unknown, theme.Warn)
		}
		switch what, named := unasked[ps.Name]; {
		case named && len(what) == 0:
			p.text("", "asks for nothing that its ClusterQueue counts", theme.Warn)
		case named:
			p.text("", "asks for no "+strings.Join(what, ", ")+": what it uses of that is counted nowhere", theme.Warn)
		}
	}
	s.runningDoc(p)
	if ev := evictions(w); len(ev) > 0 {
		p.text("EVICTED", strings.Join(ev, ", "), theme.Plain)
	}
}

// topPods bounds the pods that are named one by one.
const topPods = 10

// runningDoc tells of the pods as they were when the page was read: those that do
// not run first, with their reason.
func (s workload) runningDoc(p *paper) {
	l := s.detail
	if !l.done || l.err != nil {
		return
	}
	if l.detail.PodsUnknown != "" {
		p.text("", "pods unknown: "+l.detail.PodsUnknown, theme.Warn)
		return
	}
	if len(l.detail.Pods) == 0 {
		p.text("", "no pod of it exists", theme.Dim)
		return
	}
	byPhase := map[string]int{}
	var bad []world.Pod
	for _, x := range l.detail.Pods {
		byPhase[x.Phase]++
		if x.Phase == "Pending" || x.Phase == "Failed" {
			bad = append(bad, x)
		}
	}
	var parts []string
	for _, phase := range []string{"Running", "Pending", "Failed", "Succeeded", "Unknown"} {
		if n := byPhase[phase]; n > 0 {
			parts = append(parts, count(n)+" "+strings.ToLower(phase))
		}
	}
	role := theme.Plain
	if len(bad) > 0 {
		role = theme.Warn
	}
	p.text("", "of its pods "+strings.Join(parts, ", ")+" "+age(p.e.Now, l.detail.ReadAt)+" ago", role)
	for i, x := range bad {
		if i == topPods {
			p.text("", "and "+plural(len(bad)-i, "more pod"), theme.Dim)
			return
		}
		p.text("", p.e.Theme.Glyph.Dot+" "+x.Name+" "+x.Phase+": "+or(x.Message, "no reason given"), theme.Warn)
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
		step, _ := chain.New(e.Snap, chain.Options{}).Last(s.row)
		if words, role := allowedBy(e, &step); words != "" {
			p.text("", words, role)
		}
		queue, _ := e.Snap.QueueOf(s.row)
		if words := changeBefore(e, &step, queue); words != "" {
			p.text("", words, theme.Warn)
		}
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

// allowedBy says which policy let the preemptor take the quota, and whether it still
// would; empty where that is not known.
func allowedBy(e Env, step *chain.Step) (string, theme.Role) {
	policy, holds := policyOfStep(e, step)
	words := "ClusterQueue " + step.PreemptorQueue + " has " + policy
	switch {
	case policy == "":
		return "", theme.Plain
	case holds == nil:
		return words + "; whether that allows it now cannot be told", theme.Dim
	case *holds:
		return words + ", which allows it", theme.Plain
	}
	return words + ", which does NOT allow it now", theme.Warn
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
