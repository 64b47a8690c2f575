package impact

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// waits are those that wait in the ClusterQueues that were looked at.
func (c *composer) waits(s *store.Snapshot) []*world.Workload {
	var out []*world.Workload
	for _, w := range s.Workloads {
		if w.State != world.Pending {
			continue
		}
		if q, ok := s.QueueOf(w); ok && c.queues[q] {
			out = append(out, w)
		}
	}
	return out
}

type changeKey struct {
	workload world.Key
	class    reason.Class
	why      string
}

// waiting tells of those that still wait. Its work is an explanation of each of
// them, before and in every ending; it stops when the context ends.
func (c *composer) waiting(ctx context.Context, now time.Time) (Waiting, []Workload) {
	before := map[world.Key]reason.Explanation{}
	x := reason.New(c.st.from, now)
	u := newUnion[changeKey, Change]()
	var lost []Workload
	out := Waiting{Queues: len(c.queues), Certain: c.end(true)}
	keys := map[*store.Snapshot][]changeKey{}
	for i, e := range c.ends {
		if !e.first {
			u.add(keys[e.snap], nil)
			continue
		}
		waits := c.waits(e.snap)
		if i == 0 {
			out.Count = len(waits)
		}
		out.Certain = out.Certain && len(waits) == out.Count
		after := reason.New(e.snap, now)
		said := map[changeKey]Change{}
		for _, w := range waits {
			if ctx.Err() != nil {
				return out, lost
			}
			was := c.now(w.Key)
			if was == nil {
				continue
			}
			old, ok := before[w.Key]
			if !ok {
				old = x.Explain(was)
				before[w.Key] = old
			}
			is := after.Explain(w)
			if i == 0 && never(&is) && could(was, &old) {
				lost = append(lost, c.workload(w.Key))
			}
			if was.State != world.Pending || !differs(was, &old, &is) {
				continue
			}
			k := changeKey{w.Key, is.Class, obstacles(&is)}
			keys[e.snap] = append(keys[e.snap], k)
			said[k] = Change{Workload: c.workload(w.Key), Before: because(&old), After: because(&is)}
		}
		u.add(keys[e.snap], func(k changeKey) Change { return said[k] })
	}
	out.Changed = u.all(len(c.ends), func(x *Change, inAll bool) { x.Certain = c.end(inAll) })
	slices.SortStableFunc(out.Changed, func(a, b Change) int {
		return cmp.Or(byHurt(&a.Workload, &b.Workload, a.Certain, b.Certain), cmp.Compare(a.After, b.After))
	})
	slices.SortStableFunc(lost, func(a, b Workload) int { return byHurt(&a, &b, true, true) })
	return out, lost
}

// could reports whether the Workload is known to have fitted before: it holds
// quota, or the numbers told so.
func could(w *world.Workload, e *reason.Explanation) bool {
	return w.HoldsQuota() || e.NeverFits != nil && !*e.NeverFits
}

// differs reports whether a Workload waits for another reason. That Kueue has come
// to look at it is none: a Workload that it never tried may have met the same
// before, as far as quota and flavors go.
func differs(was *world.Workload, old, is *reason.Explanation) bool {
	if _, tried := was.Conditions.Get(world.CondQuotaReserved); !tried && old.Class == reason.QueueOrder {
		switch is.Class {
		case reason.Quota, reason.Flavor, reason.Topology, reason.QueueOrder, reason.Unclear:
			return never(is) && !never(old)
		}
	}
	return old.Class != is.Class || obstacles(old) != obstacles(is)
}

func never(e *reason.Explanation) bool { return e.NeverFits != nil && *e.NeverFits }

func because(e *reason.Explanation) string { return string(e.Class) + ": " + e.Sentence }

// obstacles writes down what stands in a Workload's way, without numbers.
func obstacles(e *reason.Explanation) string {
	var b strings.Builder
	if never(e) {
		b.WriteString("never ")
	}
	for _, o := range e.Obstacles {
		fmt.Fprintf(&b, "%s %s;", o.Kind, o.Object)
	}
	return b.String()
}
