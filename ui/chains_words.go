package ui

import (
	"strconv"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// chainName is namespace and job; of one that is gone, what is known of its name.
func chainName(m *chain.Member) string {
	switch {
	case m.Row != nil:
		return m.Row.Namespace + "/" + m.Row.JobName()
	case m.Key != (world.Key{}):
		return m.Key.String()
	case m.UID != "":
		return "uid " + string(m.UID)
	}
	return "not named by Kueue"
}

// chainQueue is the ClusterQueue of the Workload; of one that is gone the one for
// which it preempted. Empty: not known.
func chainQueue(s *store.Snapshot, r chainRow) string {
	if r.Row != nil {
		q, _ := s.QueueOf(r.Row)
		return q
	}
	for _, v := range r.Victims {
		if q := v.Step.PreemptorQueue; q != "" {
			return q
		}
	}
	return ""
}

// chainState is one word for where the Workload stands, by which it can be filtered;
// nil is one that is gone.
func chainState(w *world.Workload) string {
	if w == nil {
		return "gone"
	}
	return [...]string{
		world.Pending: "waiting", world.Reserving: "reserving", world.Admitted: "running", world.Evicting: "stopping",
		world.Finished: "finished", world.Deactivated: "deactivated",
	}[w.State]
}

// became says where the Workload stands now and since when.
func (r chainRow) became(e Env, w *world.Workload) string {
	switch {
	case w == nil && r.UID == "":
		return "unknown"
	case w == nil:
		return "gone"
	}
	out := chainState(w)
	if r.Step != nil && (w.State == world.Pending || w.State == world.Admitted || w.State == world.Reserving) {
		out += " again"
	}
	if at, ok := since(w); ok {
		if r.Step != nil && at.Before(r.Step.At) {
			at = r.Step.At // again, and no longer than that
		}
		out += " " + age(e.Now, at)
		if w.State == world.Finished {
			out += " ago"
		}
	}
	return out
}

// recovery says what is known of how a victim goes on.
func (r chainRow) recovery(e Env, w *world.Workload) []string {
	if w == nil || r.Step == nil {
		return nil
	}
	var out []string
	x := chain.RecoveryOf(w, e.checkpoint)
	if x.RequeueAt.After(e.Now) {
		out = append(out, "not tried before "+stamp(e.Now, x.RequeueAt))
	}
	if x.PastExecutionSeconds != nil {
		out = append(out, "ran "+span(time.Duration(*x.PastExecutionSeconds)*time.Second)+" before")
	}
	if x.ReclaimablePods > 0 {
		out = append(out, plural(x.ReclaimablePods, "pod")+" done")
	}
	if x.Checkpoint != nil {
		out = append(out, "checkpoint "+x.Checkpoint.Value)
	}
	return out
}

// loopWord marks who is on a loop.
func (r chainRow) loopWord(e Env) string {
	switch {
	case !r.tree.on[r.Member]:
		return ""
	case !r.tree.again:
		return "took each other's place"
	case r.Member != r.tree.Root:
		return "ping-pong"
	}
	n := 0
	for _, m := range r.tree.Loop {
		if w := e.Snap.Workload(m.UID); w != nil {
			n += chain.Times(w)
		}
	}
	if n == 0 {
		return "ping-pong"
	}
	return "ping-pong, " + plural(n, "preemption") + " so far"
}

// loopSentence says who preempts whom in turn; empty for who is on no such loop.
func (r chainRow) loopSentence(e Env) string {
	if !r.tree.again || !r.tree.on[r.Member] {
		return ""
	}
	var who []string
	const most = 3
	for i, m := range r.tree.Loop {
		if n := len(r.tree.Loop) - i; i == most && n > 1 {
			who = append(who, count(n)+" more")
			break
		}
		name := chainName(m)
		if w := e.Snap.Workload(m.UID); w != nil && chain.Times(w) > 0 {
			name += " (" + plural(chain.Times(w), "time") + ")"
		}
		who = append(who, name)
	}
	if len(who) == 1 {
		return who[0] + " is preempted by a Workload of its own job, again and again. "
	}
	return strings.Join(who[:len(who)-1], ", ") + " and " + who[len(who)-1] +
		" are preempted in turn, by each other, until a priority or a policy changes. "
}

// policyOfStep is what the policy that Kueue's reason names says now, and whether it would
// let the preemption be; empty where that is not known, or there is no preemption.
func policyOfStep(e Env, s *chain.Step) (text string, holds *bool) {
	if s == nil {
		return "", nil
	}
	q := e.Snap.ClusterQueue(s.PreemptorQueue)
	if q == nil {
		return "", nil
	}
	return chain.Policy(q.Preemption, s.Reason), s.PolicyHolds
}

// changeBefore says which spec was written to soon before the preemption; empty where
// none is known of. queue is the victim's.
func changeBefore(e Env, s *chain.Step, queue string) string {
	if s == nil || s.At.IsZero() {
		return ""
	}
	c, ok := chain.ChangeBefore(e.Snap, []string{s.PreemptorQueue, queue}, s.At)
	if !ok {
		return ""
	}
	return object(c.Object) + " was changed by " + c.Manager + " at " + stamp(e.Now, c.At) + ", shortly before (of its spec it set " + few3(c.Fields) + ")"
}

// policyCells are whether the policy holds, and which it is.
func policyCells(e Env, r chainRow) []table.Cell {
	text, holds := policyOfStep(e, r.Step)
	switch {
	case r.Step == nil:
		return []table.Cell{{}, {}}
	case holds == nil:
		return []table.Cell{{Text: "?"}, {Text: or(text, "?")}}
	case *holds:
		return []table.Cell{{Text: "yes"}, {Text: text}}
	}
	return []table.Cell{{Text: "NO", Role: theme.Warn}, {Text: text, Role: theme.Warn}}
}

// trailed draws the way to a row in its tree.
func trailed(e Env, trail string) string {
	g := e.Theme.Glyph
	return strings.NewReplacer("+", g.Branch+" ", "`", g.Last+" ", "|", g.Upright+" ", " ", "  ", "~", g.Ellipsis+" ").Replace(trail)
}

func chainCells(e Env, r chainRow, _ bool) []table.Cell {
	w := r.now(e)
	name := table.Cell{Text: trailed(e, r.trail) + chainName(r.Member)}
	if r.trail == "" {
		name.Role = theme.Strong
	}
	prio, queue := "?", or(chainQueue(e.Snap, r), "?")
	if r.Priority != nil {
		prio = strconv.Itoa(int(*r.Priority))
	}
	ago, reason := "", ""
	if r.Step != nil {
		ago, reason = age(e.Now, r.Step.At), or(r.Step.Reason, "?")
	}
	var parts []string
	note := table.Cell{}
	if word := r.loopWord(e); word != "" {
		parts, note.Role = append(parts, word), theme.Warn
		if r.tree.again {
			note.Role = theme.Alarm
		}
	}
	if n := len(r.Victims); n > 0 && len(parts) == 0 {
		parts = append(parts, "preempted "+count(n))
	}
	parts = append(append(parts, r.became(e, w)), r.recovery(e, w)...)
	note.Text = strings.Join(parts, "; ")
	cells := append([]table.Cell{name, {Text: prio}, {Text: queue}, {Text: ago}, {Text: reason}}, policyCells(e, r)...)
	return append(cells, note)
}

// chainStrip says all about the Workload under the cursor.
func chainStrip(e Env, r chainRow, gone bool) strip {
	w := r.now(e)
	out := strip{head: chainName(r.Member), tail: "  " + or(chainQueue(e.Snap, r), "queue unknown")}
	if r.Priority != nil {
		out.tail += "  priority " + strconv.Itoa(int(*r.Priority))
	}
	if gone {
		out.text = "does not exist any more"
		return out
	}
	out.text = r.loopSentence(e)
	if out.text != "" {
		out.role = theme.Alarm
	}
	out.text += r.sentence(e)
	rest := append([]string{r.became(e, w)}, r.recovery(e, w)...)
	switch {
	case r.Row == nil:
		rest = []string{r.absent(e)}
	case r.Step != nil && e.checkpoint != "" && w.State == world.Pending && len(w.Annotations[e.checkpoint]) == 0:
		rest = append(rest, "no checkpoint is recorded")
	}
	out.text += "Now " + strings.Join(rest, "; ") + "."
	return out
}

// sentence says who preempted the Workload, or whom it preempted.
func (r chainRow) sentence(e Env) string {
	if r.Step == nil {
		return "Preempted " + plural(len(r.Victims), "Workload") + "; was not preempted itself, as far as is known. "
	}
	by := chainName(r.By)
	if r.By.Priority != nil {
		by += " (prio " + strconv.Itoa(int(*r.By.Priority)) + ")"
	}
	if r.Step.Recreated {
		by += ", or rather by an earlier Workload of that job"
	}
	at := "at an unknown time"
	if !r.Step.At.IsZero() {
		at = "at " + stamp(e.Now, r.Step.At)
	}
	out := "Preempted " + at + " by " + by
	if q := r.Step.PreemptorQueue; q != "" {
		out += " for " + q
	}
	out += ", " + or(r.Step.Reason, "for a reason that is not known") + ". "
	if words := changeBefore(e, r.Step, chainQueue(e.Snap, r)); words != "" {
		out += words + ". "
	}
	switch text, holds := policyOfStep(e, r.Step); {
	case text == "":
		return out + "The policy is not known. "
	case holds == nil:
		return out + "Policy now: " + text + "; whether that allows it is not known. "
	case *holds:
		return out + "Policy now: " + text + ", allows it. "
	default:
		return out + "Policy now: " + text + ", does NOT allow it. "
	}
}

// absent says why there is no Workload.
func (r chainRow) absent(e Env) string {
	if r.UID == "" && r.Key == (world.Key{}) {
		return "not known: Kueue wrote neither name nor UID"
	}
	return goneWord(e)
}

// chainPane is the page of the Workload, without what has to be read for it.
func chainPane(e Env, r chainRow, w int) []string {
	if now := r.now(e); now != nil {
		return workloadPane(e, now, w)
	}
	p := newPaper(e)
	p.raw(e.Theme.Paint(theme.Strong, chainName(r.Member)))
	p.gap()
	p.text("", "It is "+r.absent(e)+".", theme.Warn)
	p.text("", r.sentence(e), theme.Plain)
	return p.plainLines()
}
