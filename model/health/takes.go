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
		if w.State != world.Pending {
			continue
		}
		l, ok := f.Last(w)
		if !ok || l.History || l.At.IsZero() || now.Sub(l.At) > takenWithin {
			continue
		}
		from, _ := s.QueueOf(w)
		out = append(out, loss{w, from, l})
	}
	return out
}

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
	by      []string
	from    []QueueCount
	count   int
	last    time.Time
	longest *time.Duration
}

// bursts adds the changes of a spec that preemptions followed whose victims wait
// since. That is how a mistake in a quota or a policy begins; it may have been meant.
func (c *collector) bursts() {
	found := map[world.Ref]*burst{}
	for _, l := range losses(c.s, chain.New(c.s, chain.Options{}), c.now) {
		change, ok := chain.ChangeBefore(c.s, []string{l.step.PreemptorQueue, l.from}, l.step.At)
		if !ok {
			continue
		}
		b := found[change.Object]
		if b == nil {
			b = &burst{Change: change}
			found[change.Object] = b
		}
		if change.At.After(b.At) {
			b.Change = change
		}
		if by := l.step.PreemptorQueue; by != "" && !slices.Contains(b.by, by) {
			b.by = append(b.by, by)
		}
		b.count, b.from, b.longest = b.count+1, counted(b.from, l.from), longer(b.longest, c.wait(l.w))
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
	fields := strings.Join(b.Fields[:min(len(b.Fields), mostChanged)], ", ")
	if n := len(b.Fields) - mostChanged; n > 0 {
		fields += fmt.Sprintf(" and %d more", n)
	}
	return Alert{
		Class: Burst, Severity: Warning, Object: b.Object, Advice: reason.AdviceChange, Actor: "whoever changed it (" + b.Manager + ")",
		Count: b.count, Since: b.At, Longest: b.longest,
		Explanation: fmt.Sprintf("%s preempted %s (%s) within %s of a change of %s %s by %s; they wait since. Of its spec %s has set %s. If this was not meant, hold the queue that preempts, and put the spec back.",
			by, workloads(b.count), some(from), b.last.Sub(b.At).Round(time.Second)+time.Second, b.Object.Kind, b.Object.Name, b.Manager, b.Manager, fields),
	}
}
