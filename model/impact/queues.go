package impact

import (
	"cmp"
	"slices"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// activity lists the queues that become active or inactive: those that become
// inactive first, ClusterQueues before LocalQueues. It depends on the specs, not
// on timing, and is that of the first ending.
func (c *composer) activity() []Queue {
	e := c.ends[0]
	var out []Queue
	for i := range e.out.Queues {
		r := &e.out.Queues[i]
		if r.Before == r.After && (r.After || r.ReasonBefore == r.ReasonAfter) {
			continue
		}
		q := e.snap.ClusterQueue(r.ClusterQueue)
		if q == nil {
			q = c.st.from.ClusterQueue(r.ClusterQueue)
		}
		x := Queue{ActiveBefore: r.Before, ActiveAfter: r.After}
		x.Ref = world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: r.ClusterQueue}}
		if q != nil {
			x.Ref = q.Ref()
		}
		if !r.After {
			x.Why = whyInactive(e.snap, q, clean(r.MessageAfter))
		}
		out = append(out, x)
	}
	for _, after := range e.snap.LocalQueues {
		if !c.queues[after.ClusterQueue] {
			continue
		}
		before := c.st.from.LocalQueue(after.Key)
		if before == nil {
			continue
		}
		was, is := reason.LocalActivityOf(c.st.from, before), reason.LocalActivityOf(e.snap, after)
		if was.Active == nil || is.Active == nil || *was.Active == *is.Active {
			continue
		}
		x := Queue{Ref: after.Ref(), ActiveBefore: *was.Active, ActiveAfter: *is.Active}
		if !*is.Active {
			x.Why = whyLocal(after, is.Causes)
		}
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(a, b Queue) int {
		return cmp.Or(first(!a.ActiveAfter, !b.ActiveAfter), first(a.Ref.Kind == world.KindClusterQueue, b.Ref.Kind == world.KindClusterQueue), a.Ref.Key.Compare(b.Ref.Key))
	})
	return out
}

// whyInactive is the first thing that keeps the ClusterQueue from admitting, else
// what Kueue says.
func whyInactive(s *store.Snapshot, q *world.ClusterQueue, message string) string {
	if q != nil {
		if _, sentences := reason.QueueObstacles(s, q); len(sentences) > 0 {
			return sentences[0]
		}
	}
	return message
}

func whyLocal(q *world.LocalQueue, causes []string) string {
	switch {
	case slices.Contains(causes, "Stopped"):
		return "LocalQueue " + q.Key.String() + " is held: nothing is admitted until it is resumed."
	case slices.Contains(causes, "ClusterQueueDoesNotExist"):
		return "ClusterQueue " + q.ClusterQueue + " does not exist."
	}
	return "ClusterQueue " + q.ClusterQueue + " admits nothing."
}
