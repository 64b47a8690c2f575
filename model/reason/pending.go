package reason

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// finding is an obstacle with what it means when it is the first one.
type finding struct {
	Obstacle
	class    Class
	advice   Advice
	actor    string
	sentence string
}

// pending collects everything in the way and speaks of the first that no waiting
// removes; only then of quota.
func pending(s *store.Snapshot, w *world.Workload, now time.Time) Explanation {
	var all []finding
	all = append(all, queueFindings(s, w)...)
	all = append(all, ownFindings(w, now)...)
	e := fromMessage(s, w, now)
	for _, f := range all {
		e.Obstacles = append(e.Obstacles, f.Obstacle)
	}
	if len(all) == 0 {
		if f, ok := inactive(s, w); ok {
			e.Obstacles = append(e.Obstacles, f.Obstacle)
			e.Class, e.Advice, e.Actor, e.Sentence = f.class, f.advice, f.actor, f.sentence
		}
		return e
	}
	// What only waiting removes (a backoff) speaks last.
	slices.SortStableFunc(all, func(a, b finding) int { return weight(a.advice) - weight(b.advice) })
	first := all[0]
	e.Class, e.Advice, e.Actor, e.Sentence = first.class, first.advice, first.actor, first.sentence
	if n := len(all) - 1; n > 0 {
		e.Sentence += fmt.Sprintf(" (%d more in the way)", n)
	}
	return e
}

// inactive explains by Kueue's own word a queue that it holds for inactive though
// nothing that is looked for here is wrong with it.
func inactive(s *store.Snapshot, w *world.Workload) (finding, bool) {
	name, ok := s.QueueOf(w)
	q := s.ClusterQueue(name)
	if !ok || q == nil {
		return finding{}, false
	}
	f := finding{class: Misconfigured, advice: AdviceChange, actor: queueAdmin}
	if q.Deleting {
		f.Obstacle = Obstacle{ObstacleClusterQueueMissing, q.Ref().String(), "is being deleted"}
		f.sentence = fmt.Sprintf("ClusterQueue %s is being deleted: nothing is admitted any more.", q.Name)
		return f, true
	}
	c, ok := q.Conditions.Get(world.CondActive)
	if !ok || c.Status != "False" || c.ObservedGeneration < q.Generation {
		return finding{}, false
	}
	switch c.Reason {
	case "Stopped":
		return finding{}, false // lifted in the spec, which the condition is about to follow
	case "TopologyNotFound":
		f.class = Topology
	}
	f.Obstacle = Obstacle{ObstacleClusterQueueMissing, q.Ref().String(), "inactive: " + words(c.Reason, c.Message)}
	if f.class == Topology {
		f.Kind = ObstacleTopology
	}
	f.sentence = fmt.Sprintf("ClusterQueue %s is inactive, says Kueue: %s.", q.Name, words(c.Reason, c.Message))
	return f, true
}

func weight(a Advice) int {
	if a == AdviceWait {
		return 1
	}
	return 0
}

// queueFindings looks at the queues, their cohort and their namespace rule.
func queueFindings(s *store.Snapshot, w *world.Workload) []finding {
	if !s.Fresh(world.KindLocalQueue).Usable() {
		return nil
	}
	key := world.Key{Namespace: w.Namespace, Name: w.LocalQueue}
	lq := s.LocalQueue(key)
	if lq == nil {
		return []finding{{
			Obstacle{ObstacleLocalQueueMissing, "LocalQueue/" + key.String(), "does not exist"}, Misconfigured, AdviceChange, jobOwner,
			fmt.Sprintf("LocalQueue %s does not exist in namespace %s: name one that does, or have it created.", w.LocalQueue, w.Namespace),
		}}
	}
	var out []finding
	if lq.StopPolicy.Stopped() {
		out = append(out, finding{
			Obstacle{ObstacleLocalQueueHeld, lq.Ref().String(), "stopPolicy " + string(lq.StopPolicy)}, Held, AdviceChange, holder,
			fmt.Sprintf("LocalQueue %s is held%s: nothing is admitted until it is resumed%s.", lq.Key, heldBy(lq.Hold), notYet(lq.Meta, lq.Conditions)),
		})
	}
	if !s.Fresh(world.KindClusterQueue).Usable() {
		return out
	}
	q := s.ClusterQueue(lq.ClusterQueue)
	if q == nil {
		return append(out, finding{
			Obstacle{ObstacleClusterQueueMissing, "ClusterQueue/" + lq.ClusterQueue, "does not exist"}, Misconfigured, AdviceChange, queueAdmin,
			fmt.Sprintf("ClusterQueue %s, which LocalQueue %s names, does not exist.", lq.ClusterQueue, lq.Key),
		})
	}
	out = append(out, clusterQueueFindings(s, q)...)
	return append(out, selectorFindings(s, w, q)...)
}

func heldBy(r *world.HoldRecord) string {
	if r == nil || r.Problem != "" {
		return ""
	}
	out := " by " + r.By
	if r.Reason != "" {
		out += fmt.Sprintf(" (%q)", r.Reason)
	}
	return out
}

// notYet says that Kueue has not been seen to follow the spec; empty when it has,
// or where it says nothing of the generation that it looked at.
func notYet(m world.Meta, c world.Conditions) string {
	if a, ok := c.Get(world.CondActive); ok && a.ObservedGeneration > 0 && a.ObservedGeneration < m.Generation {
		return " (asked for, not yet taken up by Kueue)"
	}
	return ""
}

func clusterQueueFindings(s *store.Snapshot, q *world.ClusterQueue) []finding {
	var out []finding
	if q.StopPolicy.Stopped() {
		out = append(out, finding{
			Obstacle{ObstacleClusterQueueHeld, q.Ref().String(), "stopPolicy " + string(q.StopPolicy)}, Held, AdviceChange, holder,
			fmt.Sprintf("ClusterQueue %s is held%s: nothing is admitted until it is resumed%s.", q.Name, heldBy(q.Hold), notYet(q.Meta, q.Conditions)),
		})
	}
	if n := s.Tree.ClusterQueue(q.Name); n != nil && n.Cycle != nil {
		path := strings.Join(append(slices.Clone(n.Cycle), n.Cycle[0]), " > ")
		out = append(out, finding{
			Obstacle{ObstacleCohortCycle, "Cohort/" + n.Cycle[0], path}, Misconfigured, AdviceChange, queueAdmin,
			fmt.Sprintf("The cohorts form a cycle (%s): Kueue admits nothing in them.", path),
		})
	}
	if s.Fresh(world.KindResourceFlavor).Usable() {
		for _, name := range flavorsOf(q) {
			if s.Flavor(name) == nil {
				out = append(out, finding{
					Obstacle{ObstacleFlavorMissing, "ResourceFlavor/" + name, "named by " + q.Ref().String() + ", does not exist"}, Flavor, AdviceChange, queueAdmin,
					fmt.Sprintf("ClusterQueue %s is inactive: ResourceFlavor %s does not exist.", q.Name, name),
				})
			}
		}
	}
	if s.Fresh(world.KindAdmissionCheck).Usable() {
		for _, rule := range q.Checks {
			c := s.Check(rule.Name)
			switch {
			case c == nil:
				out = append(out, finding{
					Obstacle{ObstacleCheckMissing, "AdmissionCheck/" + rule.Name, "named by " + q.Ref().String() + ", does not exist"}, AdmissionCheck, AdviceChange, queueAdmin,
					fmt.Sprintf("ClusterQueue %s is inactive: AdmissionCheck %s does not exist.", q.Name, rule.Name),
				})
			case !c.Conditions.True(world.CondActive):
				out = append(out, finding{
					Obstacle{ObstacleCheckInactive, c.Ref().String(), "its controller " + c.Controller + " does not answer for it"}, AdmissionCheck, AdviceEscalate, checkOwner,
					fmt.Sprintf("ClusterQueue %s is inactive: AdmissionCheck %s has no active controller (%s).", q.Name, rule.Name, c.Controller),
				})
			}
		}
	}
	return out
}

func flavorsOf(q *world.ClusterQueue) []string {
	var out []string
	for _, g := range q.Groups {
		for _, f := range g.Flavors {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

func selectorFindings(s *store.Snapshot, w *world.Workload, q *world.ClusterQueue) []finding {
	match, known := SelectorMatches(s, q, w.Namespace)
	if !known || match {
		return nil
	}
	want := "no namespace"
	if q.Namespaces != nil {
		want = q.Namespaces.String()
	}
	return []finding{{
		Obstacle{ObstacleNamespaceSelector, "Namespace/" + w.Namespace, "ClusterQueue " + q.Name + " admits " + want}, NamespaceSelector, AdviceChange, queueAdmin,
		fmt.Sprintf("Namespace %s is not one that ClusterQueue %s admits (it wants %s): have the namespace labelled, or use another queue.", w.Namespace, q.Name, want),
	}}
}

// SelectorMatches reports whether the ClusterQueue admits Workloads of the
// namespace; known is false when the namespace's labels cannot be read.
func SelectorMatches(s *store.Snapshot, q *world.ClusterQueue, namespace string) (match, known bool) {
	if q.NamespacesProblem != "" {
		return false, false
	}
	if q.Namespaces == nil {
		return false, true // no selector matches nothing
	}
	if q.Namespaces.Empty() {
		return true, true
	}
	if !s.Fresh(world.KindNamespace).Usable() {
		return false, false
	}
	ns := s.Namespace(namespace)
	if ns == nil {
		return false, false
	}
	return q.Namespaces.Matches(labels.Set(ns.Labels)), true
}

// ownFindings looks at what the Workload itself says.
func ownFindings(w *world.Workload, now time.Time) []finding {
	var out []finding
	// Before 0.19 the gate is off by default and the annotation does nothing, so
	// Kueue's own word is waited for.
	if c, ok := w.Conditions.Get(world.CondQuotaReserved); ok && w.GatedBy != "" && c.Reason == "AdmissionGated" {
		out = append(out, finding{
			Obstacle{ObstacleGate, w.Ref().String(), "gated by " + w.GatedBy}, Gated, AdviceChange, w.GatedBy,
			fmt.Sprintf("Gated by %s: Kueue leaves it alone until that gate is cleared.", w.GatedBy),
		})
	}
	for _, c := range w.Checks {
		if c.State == "Rejected" {
			out = append(out, finding{
				Obstacle{ObstacleCheckRejected, "AdmissionCheck/" + c.Name, words("", c.Message)}, AdmissionCheck, AdviceChange, checkOwner,
				fmt.Sprintf("Admission check %s rejected it: %s.", c.Name, words("", c.Message)),
			})
		}
	}
	if !w.RequeueAt.IsZero() {
		out = append(out, backoff(w, now))
	}
	return out
}

func backoff(w *world.Workload, now time.Time) finding {
	f := finding{Obstacle{ObstacleBackoff, w.Ref().String(), "requeueAt " + w.RequeueAt.UTC().Format(time.RFC3339)}, Backoff, AdviceWait, "", ""}
	late := now.Sub(w.RequeueAt)
	if late <= overdue {
		f.sentence = fmt.Sprintf("In backoff after %d tries: Kueue puts it back into the queue in %s.", w.RequeueCount, short(-late))
		return f
	}
	f.advice, f.actor = AdviceEscalate, queueAdmin
	f.sentence = fmt.Sprintf("Its backoff ended %s ago and Kueue has not put it back: the controller may be stuck.", short(late))
	return f
}
