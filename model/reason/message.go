package reason

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"cli.holdfast.dev/holdfast/model/world"
)

// mismatch finds the flavors that Kueue turned down for another reason than
// quota (pkg/scheduler/flavorassigner). Reasons are joined with commas and hold
// commas themselves, so they are searched for and never split.
var mismatch = []*regexp.Regexp{
	regexp.MustCompile(`untolerated taint \{[^}]*\} in flavor ([^\s,;]+)`),
	regexp.MustCompile(`flavor ([^\s,;]+) doesn't match node affinity`),
	regexp.MustCompile(`flavor ([^\s,;]+) does not provide resource`),
}

var topologyText = regexp.MustCompile(`topology "|TopologyAwareScheduling|topology domains|TAS cache`)

var notCovered = regexp.MustCompile(`resource ([^\s,;]+) unavailable in ClusterQueue`)

// queueText is what Kueue says when a queue is to blame.
var queueText = regexp.MustCompile(`^(The )?(LocalQueue|ClusterQueue) (\S+ )?(doesn't exist|is inactive|is stopped|is terminating or missing|not found)`)

// webhookText is what an API server says of a webhook that does not answer.
var webhookText = regexp.MustCompile(`failed calling webhook|failed to call webhook|conversion webhook for`)

// knownReason reports whether the reason of QuotaReserved=False is one that Kueue
// 0.17 to 0.19 writes.
func knownReason(reason string) bool {
	switch reason {
	case "Pending", "Waiting", "Inadmissible", "AdmissionGated", "OnHold",
		"NoMatchingFlavor", "WaitingForQuota", "ExceedsMaxQuota", "TopologyPlacementFailed", "WaitingForPreemptedWorkloads",
		"Misconfigured", "Suspended", "PendingEvaluation", "WaitingForPodsReady", "Deactivated":
		return true
	}
	return false
}

func speaksOfQuota(c world.Condition) bool {
	switch c.Reason {
	case "WaitingForQuota", "ExceedsMaxQuota", "WaitingForPreemptedWorkloads", "NoMatchingFlavor":
		return true
	}
	return strings.Contains(c.Message, "insufficient") || strings.Contains(c.Message, "couldn't assign flavors") ||
		// A node affinity that cannot be read, which the flavors before it do not mind.
		strings.Contains(c.Message, "failed to assign flavors") && strings.Contains(c.Message, "nodeSelectorTerms[")
}

// fromMessage explains a pending Workload whose queues are in order: by the
// quota arithmetic where Kueue speaks of quota or says what cannot be parsed, by
// Kueue's words otherwise.
func (x *Explainer) fromMessage(w *world.Workload) Explanation {
	c, ok := w.Conditions.Get(world.CondQuotaReserved)
	if !ok {
		return x.notLookedAt(w)
	}
	m := c.Message
	if e, special := x.special(w, c); special {
		return e
	}
	if !knownReason(c.Reason) {
		return Explanation{Class: Unclear, Advice: AdviceWait, Sentence: fmt.Sprintf("Kueue gives a reason that is not known here, %s: %s.", c.Reason, words("", m))}
	}
	switch {
	case strings.HasPrefix(m, "Preempted to accommodate"):
		e, ok := x.quotaOrFlavor(w, "")
		said := fmt.Sprintf("Preempted %s ago and not tried again since.", since(x.now, c.At))
		if ok && (e.never() || len(e.Shortfall) > 0) {
			e.Class, e.Sentence = Preempted, said+" "+e.Sentence
			return e
		}
		return Explanation{Class: Preempted, Advice: AdviceWait, Sentence: said, NeverFits: e.NeverFits}
	case strings.Contains(m, "Workload no longer fits after processing another workload"), strings.Contains(m, "overlapping preemption targets"):
		e, ok := x.quotaOrFlavor(w, "")
		if ok && e.Class != QueueOrder {
			if len(e.Shortfall) > 0 {
				e.Sentence += fmt.Sprintf(" (It lost its place to another Workload when Kueue last tried, %s ago.)", since(x.now, c.At))
			}
			return e
		}
		return Explanation{
			Class: QueueOrder, Advice: AdviceWait, NeverFits: e.NeverFits,
			Sentence: fmt.Sprintf("Another Workload took its place when Kueue last tried, %s ago; Kueue tries again.", since(x.now, c.At)),
		}
	case c.Reason == "Inadmissible", c.Reason == "Suspended", queueText.MatchString(m):
		if !queueText.MatchString(m) {
			return Explanation{
				Class: Misconfigured, Advice: AdviceChange, Actor: jobOwner + " or " + queueAdmin, Sentence: "Kueue does not take it up: " + words(c.Reason, m) + ".",
				Obstacles: []Obstacle{{ObstacleJobSpec, w.Ref().String(), words(c.Reason, m)}},
			}
		}
		// The queues were looked at before and nothing was found wrong there, so
		// what Kueue wrote is older than the queues are now. Where there is no room,
		// Kueue will say that, when it comes to it.
		e, ok := x.quotaOrFlavor(w, "")
		if e.never() {
			return e
		}
		if ok && len(e.Shortfall) > 0 {
			e.Sentence += fmt.Sprintf(" (Kueue's last word, %s ago, is older than the queue's state: %s.)", since(x.now, c.At), words(c.Reason, m))
			return e
		}
		return Explanation{Class: Unclear, Advice: AdviceWait, NeverFits: e.NeverFits, Sentence: fmt.Sprintf("Kueue's last word, %s ago: %s.", since(x.now, c.At), words(c.Reason, m))}
	}
	return x.byNumbers(w, c)
}

// byNumbers lets the arithmetic speak; Kueue's words where it has nothing to say.
func (x *Explainer) byNumbers(w *world.Workload, c world.Condition) Explanation {
	m := c.Message
	if e, ok := x.quotaOrFlavor(w, m); ok {
		if strings.Contains(m, "Pending the preemption of") || c.Reason == "WaitingForPreemptedWorkloads" {
			e.Sentence += " Kueue is preempting others to make room."
		}
		if e.Class != QueueOrder || speaksOfQuota(c) {
			return e
		}
		if c.Reason == "PendingEvaluation" || returned(w, c) {
			return e
		}
		// There is room, and Kueue says something else.
		return Explanation{Class: Unclear, Advice: AdviceWait, Sentence: "Kueue says: " + words(c.Reason, m) + ".", NeverFits: e.NeverFits}
	}
	if r := notCovered.FindStringSubmatch(m); r != nil {
		return Explanation{
			Class: Quota, Advice: AdviceChange, Actor: jobOwner + " or " + queueAdmin,
			Sentence:  fmt.Sprintf("Its ClusterQueue has no quota for %s: ask for another resource, or use another queue.", r[1]),
			Obstacles: []Obstacle{{ObstacleQuota, "", r[1] + " is not covered by the ClusterQueue"}},
		}
	}
	switch {
	case c.Reason == "NoMatchingFlavor":
		return Explanation{Class: Flavor, Advice: AdviceChange, Actor: jobOwner, Sentence: "Kueue finds no flavor for it: " + words("", m) + "."}
	case c.Reason == "TopologyPlacementFailed", topologyText.MatchString(m):
		return Explanation{Class: Topology, Advice: AdviceWait, Sentence: "The nodes of its topology have no room for it now: " + words("", m) + "."}
	case tooLarge(c):
		// The numbers are not known here, and Kueue's own are enough: in every flavor that
		// could serve it the queue may never have so much. That it never fits is left open:
		// the quota may have been raised since.
		return Explanation{
			Class: Quota, Advice: AdviceChange, Actor: jobOwner + " or " + queueAdmin,
			Sentence: fmt.Sprintf("Kueue said %s ago that it can never fit: %s.", since(x.now, c.At), words("", m)),
		}
	case speaksOfQuota(c):
		return Explanation{Class: Quota, Advice: AdviceWait, Sentence: "Kueue found no quota for it: " + words("", m) + "."}
	}
	return Explanation{Class: Unclear, Advice: AdviceWait, Sentence: "Kueue says: " + words(c.Reason, m) + "."}
}

// tooLarge reports whether Kueue says of no flavor that its quota is merely in use, and
// of one that the most that the queue may ever have is too little
// (pkg/scheduler/flavorassigner: fitsResourceQuota).
func tooLarge(c world.Condition) bool {
	return (strings.Contains(c.Message, "> maximum capacity (") || c.Reason == "ExceedsMaxQuota") &&
		!strings.Contains(c.Message, "insufficient unused quota")
}

// returned reports whether the condition still carries the text of the eviction
// that ended: the Workload waits to be tried again.
func returned(w *world.Workload, c world.Condition) bool {
	ev, ok := w.Conditions.Get(world.CondEvicted)
	return ok && ev.Message != "" && ev.Message == c.Message
}

// notLookedAt explains a Workload without a word from Kueue.
func (x *Explainer) notLookedAt(w *world.Workload) Explanation {
	e := Explanation{Class: QueueOrder, Advice: AdviceWait, Sentence: "Kueue has not looked at it yet: it is new, or others are before it in the queue."}
	if n, ok := x.quotaOrFlavor(w, ""); ok {
		if n.never() {
			n.Sentence += " Kueue has not looked at it yet."
			return n
		}
		e.NeverFits, e.Shortfall = n.NeverFits, n.Shortfall
	}
	return e
}

// podSetStart begins the part of a message that speaks of one pod set.
var podSetStart = regexp.MustCompile(`couldn't assign flavors to pod set ([^:\s]+): `)

// refusals are the flavors that Kueue turned down for another reason than quota,
// with its words, by pod set.
type refusals map[string]map[string]string

// turnedDown reads the refusals out of a message. What stands before the first
// pod set is taken to be of every one, under the name "".
func turnedDown(message string) refusals {
	out := refusals{}
	starts := podSetStart.FindAllStringSubmatchIndex(message, -1)
	first := len(message)
	for i, at := range starts {
		end := len(message)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		out[message[at[2]:at[3]]] = refused(message[at[1]:end])
		first = min(first, at[0])
	}
	out[""] = refused(message[:first])
	return out
}

func refused(part string) map[string]string {
	out := map[string]string{}
	for _, re := range mismatch {
		for _, m := range re.FindAllStringSubmatch(part, -1) {
			out[strings.TrimSuffix(m[1], ".")] = strings.TrimSuffix(strings.TrimSpace(m[0]), ".")
		}
	}
	return out
}

// of returns what is turned down for the pod set; for all together, with an empty
// name, what is turned down for any.
func (r refusals) of(podSet string) map[string]string {
	out := maps.Clone(r[""])
	for name, flavors := range r {
		if podSet == "" || name == podSet {
			maps.Copy(out, flavors)
		}
	}
	return out
}
