package reason

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// mismatch finds the flavors that Kueue turned down for another reason than
// quota (pkg/scheduler/flavorassigner). Reasons are joined with commas and hold
// commas themselves, so they are searched for and never split.
var mismatch = []*regexp.Regexp{
	regexp.MustCompile(`untolerated taint \{[^}]*\} in flavor ([^\s,;.]+)`),
	regexp.MustCompile(`flavor ([^\s,;]+) doesn't match node affinity`),
	regexp.MustCompile(`flavor ([^\s,;]+) does not provide resource`),
}

var topologyText = regexp.MustCompile(`topology "|TopologyAwareScheduling|topology domains|TAS cache`)

var notCovered = regexp.MustCompile(`resource ([^\s,;]+) unavailable in ClusterQueue`)

// fromMessage explains a pending Workload whose queues are in order: by the
// quota arithmetic where Kueue speaks of quota, by Kueue's words otherwise.
func fromMessage(s *store.Snapshot, w *world.Workload, now time.Time) Explanation {
	c, ok := w.Conditions.Get(world.CondQuotaReserved)
	if !ok {
		return Explanation{Class: QueueOrder, Advice: AdviceWait, Sentence: "Kueue has not looked at it yet: it is new, or others are before it in the queue."}
	}
	m := c.Message
	switch {
	case strings.HasPrefix(m, "Preempted to accommodate"):
		e := quotaOrFlavor(s, w, "")
		said := fmt.Sprintf("Preempted %s ago and not tried again since.", short(now.Sub(c.At)))
		if e.Class != Quota || len(e.Shortfall) == 0 {
			return Explanation{Class: Preempted, Advice: AdviceWait, Sentence: said}
		}
		e.Class, e.Sentence = Preempted, said+" "+e.Sentence
		return e
	case strings.Contains(m, "Workload no longer fits after processing another workload"), strings.Contains(m, "overlapping preemption targets"):
		if e := quotaOrFlavor(s, w, ""); e.Class == Quota && len(e.Shortfall) > 0 {
			e.Sentence += fmt.Sprintf(" (It lost its place to another Workload when Kueue last tried, %s ago.)", short(now.Sub(c.At)))
			return e
		}
		return Explanation{Class: QueueOrder, Advice: AdviceWait, Sentence: fmt.Sprintf("Another Workload took its place when Kueue last tried, %s ago; Kueue tries again.", short(now.Sub(c.At)))}
	case strings.Contains(strings.ToLower(m), "namespace doesn't match clusterqueue selector"):
		return Explanation{Class: NamespaceSelector, Advice: AdviceChange, Actor: queueAdmin, Sentence: "Kueue says that the ClusterQueue does not admit this namespace."}
	case strings.Contains(m, "resources validation failed"), strings.Contains(m, "LimitRange"):
		return Explanation{
			Class: Misconfigured, Advice: AdviceChange, Actor: jobOwner, Sentence: "The job's resources are not valid: " + words("", m) + ".",
			Obstacles: []Obstacle{{Kind: ObstacleJobSpec, Object: w.Ref().String(), Detail: m}},
		}
	case c.Reason == "Waiting", strings.Contains(m, "waiting for all admitted workloads to be in PodsReady"):
		return Explanation{Class: QueueOrder, Advice: AdviceWait, Sentence: "Kueue admits nothing until the pods of all admitted Workloads are ready."}
	case notCovered.MatchString(m):
		r := notCovered.FindStringSubmatch(m)[1]
		return Explanation{
			Class: Quota, Advice: AdviceChange, Actor: jobOwner,
			Sentence:  fmt.Sprintf("Its ClusterQueue has no quota for %s: ask for another resource, or use another queue.", r),
			Obstacles: []Obstacle{{Kind: ObstacleQuota, Detail: r + " is not covered by the ClusterQueue"}},
		}
	case strings.Contains(m, "insufficient"), strings.Contains(m, "couldn't assign flavors"):
		return quotaOrFlavor(s, w, m)
	case c.Reason == "Inadmissible", c.Reason == "Pending" && (strings.HasSuffix(m, "is inactive") || strings.HasSuffix(m, "is stopped")):
		// The queues were looked at before and nothing was found wrong there, so
		// what Kueue wrote is older than the queues are now.
		return Explanation{Class: Unclear, Advice: AdviceWait, Sentence: fmt.Sprintf("Kueue's last word, %s ago: %s.", short(now.Sub(c.At)), words(c.Reason, m))}
	}
	return Explanation{Class: Unclear, Advice: AdviceWait, Sentence: "Kueue says: " + words(c.Reason, m) + "."}
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
			out[strings.TrimSuffix(m[1], ".")] = strings.TrimSpace(m[0])
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
