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
	stuck    bool
}

// pending collects everything in the way and speaks of the first that no waiting
// removes; only then of quota.
func (x *Explainer) pending(w *world.Workload) Explanation {
	queues := x.queueFindings(w)
	all := append(slices.Clone(queues), x.ownFindings(w)...)
	e := x.fromMessage(w)
	own := e
	if len(all) > 0 && e.NeverFits == nil {
		// What Kueue wrote is about its queue; whether it would fit is worth knowing
		// before the queue is mended.
		if n, ok := x.quotaOrFlavor(w, ""); ok {
			e.NeverFits, e.Shortfall, e.Obstacles = n.NeverFits, n.Shortfall, append(e.Obstacles, n.Obstacles...)
			own = n
		}
	}
	if len(all) == 0 {
		if f, ok := x.inactive(w); ok {
			e.Obstacles = append([]Obstacle{f.Obstacle}, e.Obstacles...)
			e.Class, e.Advice, e.Actor, e.Sentence = f.class, f.advice, f.actor, f.sentence
		}
		return e
	}
	// A hold is lifted by a person and speaks first, then a backoff, since Kueue
	// will not even look until it ends, then the rest; what only waiting removes
	// speaks last.
	slices.SortStableFunc(all, func(a, b finding) int { return a.weight() - b.weight() })
	var obstacles []Obstacle
	for _, f := range all {
		obstacles = append(obstacles, f.Obstacle)
		e.Stuck = e.Stuck || f.stuck
	}
	e.Obstacles = append(obstacles, e.Obstacles...)
	first := all[0]
	e.Class, e.Advice, e.Actor, e.Sentence = first.class, first.advice, first.actor, first.sentence
	if first.class == Backoff && first.advice == AdviceWait {
		next := slices.IndexFunc(all, func(f finding) bool { return f.advice != AdviceWait })
		switch {
		case next >= 0:
			e.Advice, e.Actor = all[next].advice, all[next].actor
			e.Sentence += " Then it still meets this: " + all[next].sentence
		case own.never():
			e.Advice, e.Actor = own.Advice, own.Actor
			e.Sentence += " Then it still meets this: " + own.Sentence
		}
		return e
	}
	if len(all) > 1 {
		e.Sentence += " Also: " + all[1].sentence
	}
	if n := len(all) - 2; n > 0 {
		e.Sentence += fmt.Sprintf(" (%d more in the way)", n)
	}
	return e
}

func (f finding) weight() int {
	switch {
	case f.class == Held, f.class == Gated, f.class == Deactivated:
		return 0
	case f.class == Backoff:
		return 1
	case f.advice == AdviceWait:
		return 3
	}
	return 2
}

// inactive explains by Kueue's own word a queue that it holds for inactive though
// nothing that is looked for here is wrong with it.
func (x *Explainer) inactive(w *world.Workload) (finding, bool) {
	name, ok := x.s.QueueOf(w)
	q := x.s.ClusterQueue(name)
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
	f.Obstacle = Obstacle{ObstacleClusterQueueMissing, q.Ref().String(), "inactive: " + words(c.Reason, c.Message)}
	switch c.Reason {
	case "Stopped":
		return finding{}, false // lifted in the spec, which the condition is about to follow
	case "TopologyNotFound":
		f.class, f.Kind = Topology, ObstacleTopology
	case "FlavorNotFound":
		f.class, f.Kind = Flavor, ObstacleFlavorMissing
	case "AdmissionCheckNotFound":
		f.class, f.Kind = AdmissionCheck, ObstacleCheckMissing
	case "AdmissionCheckInactive":
		f.class, f.Kind, f.advice, f.actor = AdmissionCheck, ObstacleCheckInactive, AdviceEscalate, checkOwner
	}
	f.sentence = fmt.Sprintf("ClusterQueue %s is inactive, says Kueue: %s.", q.Name, words(c.Reason, c.Message))
	return f, true
}

// queueFindings looks at the queues, their cohort and their namespace rule. All
// Workloads of a LocalQueue meet the same.
func (x *Explainer) queueFindings(w *world.Workload) []finding {
	key := w.Namespace + "/" + w.LocalQueue
	out, ok := x.queues[key]
	if !ok {
		out = queueFindings(x.s, w)
		x.queues[key] = out
	}
	return out
}

func queueFindings(s *store.Snapshot, w *world.Workload) []finding {
	if !s.Fresh(world.KindLocalQueue).Usable() {
		return nil
	}
	key := world.Key{Namespace: w.Namespace, Name: w.LocalQueue}
	lq := s.LocalQueue(key)
	if lq == nil {
		return []finding{{
			Obstacle{ObstacleLocalQueueMissing, "LocalQueue/" + key.String(), "does not exist"}, Misconfigured, AdviceChange, jobOwner,
			fmt.Sprintf("LocalQueue %s does not exist in namespace %s: name one that does, or have it created.", w.LocalQueue, w.Namespace), false,
		}}
	}
	var out []finding
	if lq.StopPolicy.Stopped() {
		out = append(out, finding{
			Obstacle{ObstacleLocalQueueHeld, lq.Ref().String(), "stopPolicy " + string(lq.StopPolicy)}, Held, AdviceChange, holder,
			fmt.Sprintf("LocalQueue %s is held%s: nothing is admitted until it is resumed%s.", lq.Key, heldBy(lq.Hold), notYet(lq.Meta, lq.Conditions)), false,
		})
	}
	if !s.Fresh(world.KindClusterQueue).Usable() {
		return out
	}
	q := s.ClusterQueue(lq.ClusterQueue)
	if q == nil {
		return append(out, finding{
			Obstacle{ObstacleClusterQueueMissing, "ClusterQueue/" + lq.ClusterQueue, "does not exist"}, Misconfigured, AdviceChange, queueAdmin,
			fmt.Sprintf("ClusterQueue %s, which LocalQueue %s names, does not exist.", lq.ClusterQueue, lq.Key), false,
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
	if a, ok := c.Get(world.CondActive); ok && a.Reason != "Stopped" && a.ObservedGeneration > 0 && a.ObservedGeneration < m.Generation {
		return " (asked for, not yet taken up by Kueue)"
	}
	return ""
}

func clusterQueueFindings(s *store.Snapshot, q *world.ClusterQueue) []finding {
	var out []finding
	if q.StopPolicy.Stopped() {
		out = append(out, finding{
			Obstacle{ObstacleClusterQueueHeld, q.Ref().String(), "stopPolicy " + string(q.StopPolicy)}, Held, AdviceChange, holder,
			fmt.Sprintf("ClusterQueue %s is held%s: nothing is admitted until it is resumed%s.", q.Name, heldBy(q.Hold), notYet(q.Meta, q.Conditions)), false,
		})
	}
	if n := s.Tree.ClusterQueue(q.Name); n != nil && n.Cycle != nil {
		path := strings.Join(append(slices.Clone(n.Cycle), n.Cycle[0]), " > ")
		out = append(out, finding{
			Obstacle{ObstacleCohortCycle, "Cohort/" + n.Cycle[0], path}, Misconfigured, AdviceChange, queueAdmin,
			fmt.Sprintf("The cohorts form a cycle (%s): Kueue admits nothing in them.", path), false,
		})
	}
	if s.Fresh(world.KindResourceFlavor).Usable() {
		for _, name := range q.Flavors() {
			if s.Flavor(name) == nil {
				out = append(out, finding{
					Obstacle{ObstacleFlavorMissing, "ResourceFlavor/" + name, "named by " + q.Ref().String() + ", does not exist"}, Flavor, AdviceChange, queueAdmin,
					fmt.Sprintf("ClusterQueue %s is inactive: ResourceFlavor %s does not exist.", q.Name, name), false,
				})
			}
		}
	}
	for _, f := range MissingTopologies(s, q) {
		out = append(out, finding{
			Obstacle{ObstacleTopology, "Topology/" + f.Topology, "named by " + f.Ref().String() + ", does not exist"}, Topology, AdviceChange, queueAdmin,
			fmt.Sprintf("ClusterQueue %s is inactive: Topology %s of ResourceFlavor %s does not exist.", q.Name, f.Topology, f.Name), false,
		})
	}
	if s.Fresh(world.KindAdmissionCheck).Usable() {
		for _, rule := range q.Checks {
			c := s.Check(rule.Name)
			switch {
			case c == nil:
				out = append(out, finding{
					Obstacle{ObstacleCheckMissing, "AdmissionCheck/" + rule.Name, "named by " + q.Ref().String() + ", does not exist"}, AdmissionCheck, AdviceChange, queueAdmin,
					fmt.Sprintf("ClusterQueue %s is inactive: AdmissionCheck %s does not exist.", q.Name, rule.Name), false,
				})
			case !c.Conditions.True(world.CondActive):
				out = append(out, finding{
					Obstacle{ObstacleCheckInactive, c.Ref().String(), "its controller " + c.Controller + " does not answer for it"}, AdmissionCheck, AdviceEscalate, checkOwner,
					fmt.Sprintf("ClusterQueue %s is inactive: AdmissionCheck %s has no active controller (%s).", q.Name, rule.Name, c.Controller), false,
				})
			}
		}
		for _, m := range misuses(s, q) {
			out = append(out, finding{
				Obstacle{ObstacleCheckInactive, q.Ref().String(), m.words}, Misconfigured, AdviceChange, queueAdmin,
				fmt.Sprintf("ClusterQueue %s is inactive: %s.", q.Name, m.words), false,
			})
		}
	}
	return out
}

// QueueObstacles lists everything that keeps Kueue from admitting through the
// ClusterQueue, each with a sentence that says what it means; none for a queue
// that is open.
func QueueObstacles(s *store.Snapshot, q *world.ClusterQueue) (obstacles []Obstacle, sentences []string) {
	for _, f := range clusterQueueFindings(s, q) {
		obstacles, sentences = append(obstacles, f.Obstacle), append(sentences, f.sentence)
	}
	return obstacles, sentences
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
		fmt.Sprintf("Namespace %s is not one that ClusterQueue %s admits (it wants %s): have the namespace labelled, or use another queue.", w.Namespace, q.Name, want), false,
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
func (x *Explainer) ownFindings(w *world.Workload) []finding {
	var out []finding
	c, _ := w.Conditions.Get(world.CondQuotaReserved)
	// Before 0.19 the gate is off by default and the annotation does nothing, so
	// Kueue's own word is waited for.
	if w.GatedBy != "" && c.Reason == "AdmissionGated" {
		out = append(out, finding{
			Obstacle{ObstacleGate, w.Ref().String(), "gated by " + w.GatedBy}, Gated, AdviceChange, w.GatedBy,
			fmt.Sprintf("Gated by %s: Kueue leaves it alone until that gate is cleared.", w.GatedBy), false,
		})
	}
	if w.Conditions.True("BlockedOnPreemptionGates") {
		g, _ := w.Conditions.Get("BlockedOnPreemptionGates")
		out = append(out, finding{
			Obstacle{ObstacleGate, w.Ref().String(), words(g.Reason, g.Message)}, Gated, AdviceChange, "owner of the preemption gate",
			fmt.Sprintf("It may not preempt while a preemption gate is closed: %s.", words(g.Reason, g.Message)), false,
		})
	}
	for _, k := range w.Checks {
		if k.State == "Rejected" {
			out = append(out, finding{
				Obstacle{ObstacleCheckRejected, "AdmissionCheck/" + k.Name, words("", k.Message)}, AdmissionCheck, AdviceChange, checkOwner,
				fmt.Sprintf("Admission check %s rejected it: %s.", k.Name, words("", k.Message)), false,
			})
		}
	}
	if !w.RequeueAt.IsZero() {
		out = append(out, x.backoff(w))
	}
	return out
}

// backoff explains a Workload that Kueue put aside for a while.
func (x *Explainer) backoff(w *world.Workload) finding {
	f := finding{Obstacle{ObstacleBackoff, w.Ref().String(), "requeueAt " + w.RequeueAt.UTC().Format(time.RFC3339)}, Backoff, AdviceWait, "", "", false}
	late := x.now.Sub(w.RequeueAt)
	why := ""
	if c, ok := w.Conditions.Get(world.CondRequeued); ok && c.Status == "False" && c.Reason == "PodsReadyTimeout" {
		why = " (its pods were not ready in time)"
	}
	for _, k := range w.Checks {
		if k.State == "Retry" || strings.Contains(k.Message, "Previously: Retry") {
			why = fmt.Sprintf(" (admission check %s asked for a retry)", k.Name)
		}
	}
	tries := ""
	if w.RequeueCount > 0 {
		tries = fmt.Sprintf(" after %d tries", w.RequeueCount)
	}
	switch {
	case late <= 0:
		f.sentence = fmt.Sprintf("In backoff%s%s: Kueue puts it back into the queue in %s.", tries, why, short(-late))
	case late <= patience:
		f.sentence = fmt.Sprintf("Its backoff%s%s ended %s ago: Kueue is about to put it back into the queue.", tries, why, short(late))
	default:
		f.advice, f.actor, f.stuck = AdviceEscalate, queueAdmin, true
		f.sentence = fmt.Sprintf("Its backoff%s ended %s ago and Kueue has not put it back: the controller may be stuck.", why, short(late))
	}
	return f
}
