package health

import (
	"fmt"
	"strings"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
)

// workloads sorts the Workloads by what stops them. Those that only wait their
// turn, or come back after an eviction as they should, make no alert.
func (c *collector) workloads(all []reason.Explanation) {
	for i, w := range c.s.Workloads {
		e := &all[i]
		v, ok := c.judge(w, e)
		switch {
		case !ok:
		case v.object == (world.Ref{}):
			c.count(c.own, idOf(v.class, c.queueOf(w)), v.severity, w, e)
		default:
			c.count(c.stopped, idOf(v.class, v.object), v.severity, w, e)
		}
	}
}

// verdict is what is to be said of one Workload. Without an object it is the
// Workload itself that has to change or be looked at.
type verdict struct {
	class    Class
	severity Severity
	object   world.Ref
}

// judge gives the alert that the Workload belongs to; none for most.
func (c *collector) judge(w *world.Workload, e *reason.Explanation) (verdict, bool) {
	is := e.Class
	if is == reason.Backoff && !e.Stuck {
		is = behind(e)
	}
	class := Class(is)
	silent, isSilent := decisive(e, reason.ObstacleCheckMissing, reason.ObstacleCheckInactive)
	switch {
	case e.Stuck && w.State == world.Evicting: // whatever it was evicted for
		return verdict{class: Stuck, severity: Critical}, true
	case is == reason.Held:
		q, ok := c.heldBy(w, e)
		return verdict{class, Warning, q}, ok
	case is == reason.Deactivated && byKueue(w):
		return verdict{class: class, severity: Warning}, true
	case is == reason.Gated, is == reason.Deactivated:
		return verdict{class: class, severity: Info}, true
	case is == reason.AdmissionCheck && isSilent:
		return verdict{class, Critical, silent}, true
	case e.Stuck:
		return verdict{class: Stuck, severity: Critical}, true
	case e.NeverFits != nil && *e.NeverFits && (is == reason.Quota || is == reason.Topology || is == reason.Preempted || is == reason.Backoff):
		return verdict{class: NeverFits, severity: Warning}, true
	}
	return c.byClass(is, w, e)
}

// behind is the class of what stands behind a backoff and no waiting removes.
func behind(e *reason.Explanation) reason.Class {
	if e.Advice == reason.AdviceWait {
		return e.Class
	}
	for i := range e.Obstacles {
		switch e.Obstacles[i].Kind {
		case reason.ObstacleCohortCycle, reason.ObstacleLocalQueueMissing, reason.ObstacleClusterQueueMissing:
			return reason.Misconfigured
		case reason.ObstacleFlavorMissing:
			return reason.Flavor
		case reason.ObstacleTopology:
			return reason.Topology
		case reason.ObstacleCheckMissing, reason.ObstacleCheckInactive, reason.ObstacleCheckRejected:
			return reason.AdmissionCheck
		case reason.ObstacleNamespaceSelector:
			return reason.NamespaceSelector
		}
	}
	return e.Class
}

// byClass judges what only the class decides.
func (c *collector) byClass(is reason.Class, w *world.Workload, e *reason.Explanation) (verdict, bool) {
	class := Class(is)
	switch is {
	case reason.Flavor:
		if _, ok := decisive(e, reason.ObstacleFlavorMissing); ok {
			return verdict{class, Critical, c.queueOf(w)}, true
		}
		return verdict{class: class, severity: Critical}, true
	case reason.NamespaceSelector:
		return verdict{class, Critical, world.Ref{Kind: world.KindNamespace, Key: world.Key{Name: w.Namespace}}}, true
	case reason.Misconfigured:
		o, _ := decisive(e, reason.ObstacleLocalQueueMissing, reason.ObstacleClusterQueueMissing, reason.ObstacleCohortCycle)
		return verdict{class, Critical, o}, true
	case reason.Webhook:
		return verdict{class, Critical, webhookOf(e)}, true
	case reason.AdmissionCheck:
		if o, ok := decisive(e, reason.ObstacleCheckRejected); ok {
			return verdict{class, Warning, o}, true
		}
		o, ok := decisive(e, reason.ObstacleCheckPending)
		return verdict{class, Info, o}, ok
	case reason.Topology:
		if o, ok := decisive(e, reason.ObstacleTopology); ok && e.Advice == reason.AdviceChange && o.Kind != world.KindWorkload {
			return verdict{class, Critical, o}, true
		}
		return verdict{class: class, severity: Info}, true
	case reason.Quota:
		return verdict{class, Info, c.queueOf(w)}, true
	case reason.PodsNotReady, reason.NodeFailure, reason.Unclear:
		return verdict{class: class, severity: Info}, true
	}
	return verdict{}, false
}

// heldBy returns the queue whose stop policy keeps the Workload out or drains it.
func (c *collector) heldBy(w *world.Workload, e *reason.Explanation) (world.Ref, bool) {
	if o, ok := decisive(e, reason.ObstacleLocalQueueHeld, reason.ObstacleClusterQueueHeld); ok {
		return o, true
	}
	ev, _ := w.Conditions.Get(world.CondEvicted)
	switch ev.Reason {
	case "ClusterQueueStopped":
		q := c.s.ClusterQueue(w.ClusterQueue)
		if q != nil && q.StopPolicy.Stopped() {
			return q.Ref(), true
		}
	case "LocalQueueStopped":
		q := c.s.LocalQueue(world.Key{Namespace: w.Namespace, Name: w.LocalQueue})
		if q != nil && q.StopPolicy.Stopped() {
			return q.Ref(), true
		}
	}
	return world.Ref{}, false // resumed since
}

// byKueue reports whether Kueue deactivated the Workload, or is about to, and not
// a person. A count may be of an earlier time; it speaks where no condition does.
func byKueue(w *world.Workload) bool {
	if w.Conditions.True("DeactivationTarget") {
		return true
	}
	if c, ok := w.Conditions.Get(world.CondEvicted); ok && strings.HasPrefix(c.Reason, "Deactivated") {
		return c.Reason != "Deactivated"
	}
	for _, e := range w.Evictions {
		if e.Reason == "Deactivated" && e.Cause != "" || strings.HasPrefix(e.Reason, "DeactivatedDueTo") {
			return true
		}
	}
	return false
}

// webhookOf names the part of Kueue whose webhook is in the way.
func webhookOf(e *reason.Explanation) world.Ref {
	if strings.Contains(e.Message, "conversion webhook") {
		return part("conversionWebhook")
	}
	return part("validatingWebhook")
}

func part(name string) world.Ref { return world.Ref{Kind: KindKueue, Key: world.Key{Name: name}} }

// decisive returns the object of the first obstacle of one of the kinds.
func decisive(e *reason.Explanation, kinds ...reason.ObstacleKind) (world.Ref, bool) {
	for i := range e.Obstacles {
		for _, k := range kinds {
			if e.Obstacles[i].Kind == k {
				return parse(e.Obstacles[i].Object)
			}
		}
	}
	return world.Ref{}, false
}

// parse reads "Kind/name" or "Kind/namespace/name".
func parse(object string) (world.Ref, bool) {
	kind, name, ok := strings.Cut(object, "/")
	if !ok {
		return world.Ref{}, false
	}
	r := world.Ref{Kind: world.Kind(kind), Key: world.Key{Name: name}}
	if ns, rest, namespaced := strings.Cut(name, "/"); namespaced {
		r.Key = world.Key{Namespace: ns, Name: rest}
	}
	return r, true
}

// queueOf names the ClusterQueue that the Workload is in or waits for, or its
// LocalQueue where that is not known.
func (c *collector) queueOf(w *world.Workload) world.Ref {
	if name, ok := c.s.QueueOf(w); ok {
		return world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: name}}
	}
	return world.Ref{Kind: world.KindLocalQueue, Key: world.Key{Namespace: w.Namespace, Name: w.LocalQueue}}
}

// rest adds what nothing has taken along.
func (c *collector) rest() {
	for k, t := range c.stopped {
		c.add(t.alert(k, false))
	}
	for k, t := range c.own {
		c.add(t.alert(k, true))
	}
}

// alert speaks of the Workloads of the tally. One that has to change itself is
// the object itself; several are found through the ClusterQueue of the id.
func (t *tally) alert(k id, own bool) Alert {
	a := Alert{
		Class: k.class, Severity: t.severity, Object: world.Ref{Kind: k.kind, Key: k.key},
		Explanation: t.why.Sentence, Advice: t.why.Advice, Actor: t.why.Actor, Count: t.count,
		Since: t.since, Longest: t.longest,
	}
	switch {
	case t.count > 1:
		a.Explanation = fmt.Sprintf("%s. For example %s: %s", t.headline(k, own), t.example.Key, t.why.Sentence)
	case own:
		a.Object = t.example.Ref()
	}
	return a
}

// headline says what several Workloads have in common.
func (t *tally) headline(k id, own bool) string {
	n, at := workloads(t.count), fmt.Sprintf("%s %s", k.kind, k.key)
	switch k.class {
	case Class(reason.Quota):
		return n + " wait for quota of " + at
	case NeverFits:
		return n + " of " + at + " can never fit under today's quota"
	case Stuck:
		return n + " of " + at + " are stuck: an eviction or a retry that is long overdue does not end"
	case Class(reason.Flavor):
		return n + " of " + at + " find no flavor that could serve them"
	case Class(reason.NamespaceSelector):
		return n + " of " + at + " are sent to ClusterQueues that do not admit it"
	case Class(reason.AdmissionCheck):
		switch {
		case t.severity == Warning:
			return fmt.Sprintf("%s concern %s, which rejected %d of them", n, at, t.severe)
		}
		return n + " wait for " + at
	case Class(reason.Deactivated):
		if t.severity == Warning {
			return fmt.Sprintf("%s of %s are deactivated, %d of them by Kueue", n, at, t.severe)
		}
		return n + " of " + at + " are deactivated"
	case Class(reason.PodsNotReady):
		return n + " of " + at + " have pods that are not ready, or wait for such"
	case Class(reason.NodeFailure):
		return n + " of " + at + " lost nodes"
	case Class(reason.Topology):
		return n + " of " + at + " find no room in their topology"
	case Class(reason.Gated):
		return n + " of " + at + " are gated"
	case Class(reason.Unclear):
		return "Why " + n + " of " + at + " wait is not known"
	}
	if own {
		return fmt.Sprintf("%s of %s are stopped (%s)", n, at, k.class)
	}
	return at + " stops " + n
}
