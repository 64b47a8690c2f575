package impact

import (
	"fmt"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// ending is how one timing ends.
type ending struct {
	out engine.Outcome
	// rows are the Workloads that differ from those at the beginning.
	rows map[world.Key]*world.Workload
	// lost are those that lost their quota on the way, or were about to get some.
	lost map[world.Key]bool
	// snap is everything as it is then. Endings that differ in nothing but times share
	// one; first is set on the one of them that comes first.
	snap  *store.Snapshot
	first bool
}

// holds reports whether the Workload holds quota at the end, and keeps it.
func (e *ending) holds(st *stage, k world.Key) bool {
	w := e.rows[k]
	if w == nil {
		w = st.base(k)
	}
	return w != nil && keeps(w)
}

// keeps reports whether the Workload holds quota and is not being evicted.
func keeps(w *world.Workload) bool { return w.HoldsQuota() && w.State != world.Evicting }

// endings turns the outcomes into snapshots. The stage must have been filled.
func endings(st *stage, outs []engine.Outcome) []*ending {
	var all []*ending
	known := map[string]*store.Snapshot{}
	var put []world.Key // rows in the store that are not those of the beginning
	queues := queueRows(st)
	for _, out := range outs {
		e := &ending{out: out, rows: make(map[world.Key]*world.Workload, len(out.Changed)), lost: map[world.Key]bool{}}
		for _, o := range out.Changed {
			k := world.Key{Namespace: o.Namespace, Name: o.Name}
			e.rows[k] = ended(st.base(k), o)
		}
		for i := range out.Preemptions {
			e.lost[out.Preemptions[i].Victim] = true
		}
		for i := range out.Evictions {
			e.lost[out.Evictions[i].Workload] = true
		}
		text := e.text()
		if e.snap = known[text]; e.snap == nil {
			for _, k := range put {
				if w := st.base(k); w != nil {
					st.store.Put(w)
				} else {
					st.store.Delete(world.KindWorkload, k)
				}
			}
			put = put[:0]
			for k, w := range e.rows {
				st.store.Put(w)
				put = append(put, k)
			}
			queues(out.Queues)
			e.snap, e.first = st.store.Snapshot(), true
			known[text] = e.snap
		}
		all = append(all, e)
	}
	return all
}

// queueRows returns a function that writes the readiness of the ClusterQueues at
// the end into their rows, as Kueue would, over what an earlier call wrote.
func queueRows(st *stage) func([]engine.Readiness) {
	var put []string
	return func(ready []engine.Readiness) {
		for _, name := range put {
			st.store.Put(st.specs.ClusterQueue(name))
		}
		put = put[:0]
		for i := range ready {
			r := &ready[i]
			q := st.specs.ClusterQueue(r.ClusterQueue)
			if q == nil {
				continue // it was deleted
			}
			n := *q
			status := "False"
			if r.After {
				status = "True"
			}
			c := world.Condition{
				Type: world.CondActive, Status: status, Reason: clean(r.ReasonAfter), Message: clean(r.MessageAfter),
				At: st.from.At, ObservedGeneration: n.Generation,
			}
			n.Conditions = append(slices.DeleteFunc(slices.Clone(n.Conditions), func(x world.Condition) bool { return x.Type == c.Type }), c)
			st.store.Put(&n)
			put = append(put, q.Name)
		}
	}
}

// text writes down all that an ending says but for times.
func (e *ending) text() string {
	keys := make([]world.Key, 0, len(e.rows))
	for k := range e.rows {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, world.Key.Compare)
	var b strings.Builder
	for _, k := range keys {
		w := e.rows[k]
		fmt.Fprintf(&b, "%q %v %q %q %v\n", k.String(), w.Active, w.ClusterQueue, w.Assigned, w.Usage)
		for _, c := range w.Conditions {
			fmt.Fprintf(&b, " %s %s %s %q\n", c.Type, c.Status, c.Reason, c.Message)
		}
		for _, c := range w.Checks {
			fmt.Fprintf(&b, " %s %s\n", c.Name, c.State)
		}
	}
	for _, q := range e.out.Queues {
		fmt.Fprintf(&b, "%q %v %s\n", q.ClusterQueue, q.After, q.ReasonAfter)
	}
	return b.String()
}
