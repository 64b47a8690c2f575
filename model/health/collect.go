package health

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// collector gathers alerts of one snapshot.
type collector struct {
	s     *store.Snapshot
	now   time.Time
	x     *reason.Explainer
	found map[id]*Alert
	// stopped are Workloads that an object other than themselves stops, by that
	// object. What looks at the object takes them along; rest reports the others.
	stopped map[id]*tally
	// own are Workloads that have to change or be looked at themselves, by their
	// ClusterQueue.
	own map[id]*tally
}

func newCollector(in Input) *collector {
	return &collector{
		s: in.Snapshot, now: in.Now, x: reason.New(in.Snapshot, in.Now),
		found: map[id]*Alert{}, stopped: map[id]*tally{}, own: map[id]*tally{},
	}
}

// tally counts Workloads of which the same is to be said.
type tally struct {
	count    int
	severity Severity
	severe   int // how many of them are as severe as that
	// example is the first of the most severe, why its explanation.
	example *world.Workload
	why     *reason.Explanation
	since   time.Time      // since when the first of them is so, by its own conditions
	longest *time.Duration // their longest wait
}

func (c *collector) count(in map[id]*tally, k id, severity Severity, w *world.Workload, e *reason.Explanation) {
	t := in[k]
	if t == nil {
		t = &tally{}
		in[k] = t
	}
	t.count++
	t.since, t.longest = earlier(t.since, since(w)), longer(t.longest, c.wait(w))
	switch {
	case t.example == nil || severity.rank() > t.severity.rank():
		t.severity, t.severe, t.example, t.why = severity, 1, w, e
	case severity == t.severity:
		t.severe++
	}
}

// since is since when the Workload is evicted, deactivated or without ready pods;
// zero where it is none of these or does not say.
func since(w *world.Workload) time.Time {
	typ, status := world.CondEvicted, "True"
	switch w.State {
	case world.Admitted:
		typ, status = world.CondPodsReady, "False"
	case world.Evicting, world.Deactivated:
	default:
		return time.Time{}
	}
	if c, ok := w.Conditions.Get(typ); ok && c.Status == status {
		return c.At
	}
	return time.Time{}
}

// wait is how long a Workload that waits has waited.
func (c *collector) wait(w *world.Workload) *time.Duration {
	if w.State != world.Pending && w.State != world.Reserving {
		return nil
	}
	return reason.TimesOf(w, c.now).Wait
}

// earlier is the first of two times that are known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func longer(a, b *time.Duration) *time.Duration {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// id is what there is one alert of.
type id struct {
	class Class
	kind  world.Kind
	key   world.Key
}

func idOf(class Class, object world.Ref) id { return id{class, object.Kind, object.Key} }

// add keeps the alert. One of the same class and object is joined with it: the
// more severe speaks first.
func (c *collector) add(a Alert) {
	k := idOf(a.Class, a.Object)
	old := c.found[k]
	if old == nil {
		a.Object.UID = c.uid(a.Object)
		c.found[k] = &a
		return
	}
	first, second := *old, a
	if second.Severity.rank() > first.Severity.rank() {
		first, second = second, first
	}
	first.Object = old.Object
	first.Count = old.Count + a.Count
	first.Since, first.Longest = earlier(old.Since, a.Since), longer(old.Longest, a.Longest)
	first.Explanation += " " + second.Explanation
	*old = first
}

// about adds an alert on an object that was looked at, with the Workloads that it
// stops. a.Explanation is what was seen; their number is added to it.
func (c *collector) about(a Alert) {
	k := idOf(a.Class, a.Object)
	if t := c.stopped[k]; t != nil {
		delete(c.stopped, k)
		a.Count, a.Severity, a.Longest = t.count, worse(a.Severity, t.severity), t.longest
		a.Explanation += fmt.Sprintf(" It stops %s.", workloads(t.count))
	}
	c.add(a)
}

// workloads is a number of them, in words.
func workloads(n int) string {
	if n == 1 {
		return "1 Workload"
	}
	return fmt.Sprintf("%d Workloads", n)
}

// uid returns the UID of the object, empty where it does not exist.
func (c *collector) uid(r world.Ref) types.UID {
	switch r.Kind {
	case world.KindClusterQueue:
		if q := c.s.ClusterQueue(r.Name); q != nil {
			return q.UID
		}
	case world.KindLocalQueue:
		if q := c.s.LocalQueue(r.Key); q != nil {
			return q.UID
		}
	case world.KindCohort:
		if q := c.s.Cohort(r.Name); q != nil {
			return q.UID
		}
	case world.KindWorkload:
		if w := c.s.WorkloadByKey(r.Key); w != nil {
			return w.UID
		}
	case world.KindResourceFlavor:
		if f := c.s.Flavor(r.Name); f != nil {
			return f.UID
		}
	case world.KindAdmissionCheck:
		if k := c.s.Check(r.Name); k != nil {
			return k.UID
		}
	case world.KindNamespace:
		if n := c.s.Namespace(r.Name); n != nil {
			return n.UID
		}
	case world.KindTopology:
		if t := c.s.Topology(r.Name); t != nil {
			return t.UID
		}
	}
	return ""
}
