package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// takenWithin is how long ago a preemption may be to be news.
const takenWithin = time.Hour

// Taking is what one ClusterQueue took by preemption, in the last hour, from those
// who wait since.
type Taking struct {
	By     string // empty: not known
	From   []QueueCount
	N      int
	Newest time.Time
}

// QueueCount is a number of Workloads of a ClusterQueue; Queue is empty where that is
// not known.
type QueueCount struct {
	Queue string
	N     int
}

// loss is a Workload that waits since it was preempted.
type loss struct {
	w    *world.Workload
	from string
	step chain.Step
}

// losses are the preemptions of the last hour whose victims wait since. Kueue keeps
// one preemption of a Workload, the last.
func losses(s *store.Snapshot, f *chain.Finder, now time.Time) []loss {
	var out []loss
	for _, w := range s.Workloads {
		if l, ok := lossOf(s, f, w, now); ok {
			out = append(out, l)
		}
	}
	return out
}

func lossOf(s *store.Snapshot, f *chain.Finder, w *world.Workload, now time.Time) (loss, bool) {
	if w.State != world.Pending {
		return loss{}, false
	}
	l, ok := f.Last(w)
	if !ok || l.History || l.At.IsZero() || now.Sub(l.At) > takenWithin {
		return loss{}, false
	}
	from, _ := s.QueueOf(w)
	return loss{w, from, l}, true
}

// change is the one that the preemption came soon after; false: none is known.
func (l loss) change(s *store.Snapshot) (chain.Change, bool) {
	return chain.ChangeBefore(s, []string{l.step.PreemptorQueue, l.from}, l.step.At)
}

// allowed says whether the policy as it is now would allow the preemption; true also where
// that is not known.
func (l loss) allowed() bool { return l.step.PolicyHolds == nil || *l.step.PolicyHolds }

// Blame is an alert's view of one Workload: the change of a spec that its preemption came
// soon after, with how long after, and who would have to act if that was not meant. False:
// it waits for another reason, no such change is known, or the policy does not allow
// that preemption any more. It does not block.
func Blame(s *store.Snapshot, f *chain.Finder, w *world.Workload, now time.Time) (c chain.Change, after time.Duration, actor string, ok bool) {
	l, ok := lossOf(s, f, w, now)
	if !ok || !l.allowed() {
		return chain.Change{}, 0, "", false
	}
	if c, ok = l.change(s); !ok {
		return chain.Change{}, 0, "", false
	}
	return c, l.step.At.Sub(c.At), changer(c), true
}

func changer(c chain.Change) string { return "whoever changed it (" + c.Manager + ")" }

// Takings says who took quota by preemption in the last hour from Workloads that wait
// since, the queue that took most first. Its time is linear in Workloads.
func Takings(s *store.Snapshot, f *chain.Finder, now time.Time) []Taking {
	var out []Taking
	for _, l := range losses(s, f, now) {
		i := slices.IndexFunc(out, func(t Taking) bool { return t.By == l.step.PreemptorQueue })
		if i < 0 {
			out, i = append(out, Taking{By: l.step.PreemptorQueue}), len(out)
		}
		t := &out[i]
		t.N++
		if l.step.At.After(t.Newest) {
			t.Newest = l.step.At
		}
		t.From = counted(t.From, l.from)
	}
	for i := range out {
		mostFirst(out[i].From)
	}
	slices.SortFunc(out, func(a, b Taking) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.By, b.By)) })
	return out
}

func counted(in []QueueCount, queue string) []QueueCount {
	i := slices.IndexFunc(in, func(x QueueCount) bool { return x.Queue == queue })
	if i < 0 {
		return append(in, QueueCount{queue, 1})
	}
	in[i].N++
	return in
}

func mostFirst(in []QueueCount) {
	slices.SortFunc(in, func(a, b QueueCount) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Queue, b.Queue)) })
}

// burst is what came soon after one change.
type burst struct {
	chain.Change
	s       *store.Snapshot
	by      []string
	from    []QueueCount
	count   int
	last    time.Time
	longest *time.Duration
	// allowed says that the policy as it is now allows one of them, or may.
	allowed bool
}

// bursts adds the changes of a spec that preemptions followed whose victims wait
// since. That is how a mistake in a quota or a policy begins; it may have been meant.
func (c *collector) bursts() {
	found := map[world.Ref]*burst{}
	for _, l := range losses(c.s, chain.New(c.s, chain.Options{}), c.now) {
		change, ok := l.change(c.s)
		if !ok {
			continue
		}
		b := found[change.Object]
		if b == nil {
			b = &burst{Change: change, s: c.s}
			found[change.Object] = b
		}
		if change.At.After(b.At) {
			b.Change = change
		}
		if by := l.step.PreemptorQueue; by != "" && !slices.Contains(b.by, by) {
			b.by = append(b.by, by)
		}
		b.count, b.from, b.longest = b.count+1, counted(b.from, l.from), longer(b.longest, c.wait(l.w))
		b.allowed = b.allowed || l.allowed()
		if l.step.At.After(b.last) {
			b.last = l.step.At
		}
	}
	for _, b := range found {
		c.add(b.alert())
	}
}

// mostChanged is how many fields of a spec a sentence names.
const mostChanged = 3

func (b *burst) alert() Alert {
	slices.Sort(b.by)
	mostFirst(b.from)
	var from []string
	for _, x := range b.from {
		name := x.Queue
		switch {
		case name == "":
			name = "an unknown queue"
		case slices.Contains(b.by, name):
			name += " itself"
		}
		from = append(from, fmt.Sprintf("%d of %s", x.N, name))
	}
	by := "An unknown queue"
	if len(b.by) > 0 {
		by = some(b.by)
	}
	a := Alert{
		Class: Burst, Severity: Warning, Object: b.Object, Advice: reason.AdviceChange, Actor: changer(b.Change),
		Count: b.count, Since: b.At, Longest: b.longest,
		Explanation: fmt.Sprintf("%s preempted %s (%s) within %s of a change of %s %s by %s; they wait since. Of its spec %s has set %s.",
			by, workloads(b.count), some(from), b.last.Sub(b.At).Round(time.Second)+time.Second, b.Object.Kind, b.Object.Name, b.Manager, b.Manager, firstFew(b.Fields)),
	}
	later, again := chain.ChangeAfter(b.s, b.Object, b.last)
	if again {
		a.Explanation += fmt.Sprintf(" It was changed again since, by %s (%s).", later.Manager, firstFew(later.Fields))
	}
	switch {
	case !b.allowed:
		a.Severity, a.Advice, a.Actor = Info, reason.AdviceWait, ""
		a.Explanation += " The policy as it is now allows no such preemption any more."
	case again:
		a.Explanation += " If this was not meant and that did not put it right, hold the queue that preempts, and put the spec back."
	default:
		a.Explanation += " If this was not meant, hold the queue that preempts, and put the spec back."
	}
	return a
}

func firstFew(fields []string) string {
	out := strings.Join(fields[:min(len(fields), mostChanged)], ", ")
	if n := len(fields) - mostChanged; n > 0 {
		out += fmt.Sprintf(" and %d more", n)
	}
	return out
}
