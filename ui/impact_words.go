package ui

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/world"
)

// tally is a number of Workloads: those of which something is certain, and all.
type tally struct{ certain, all int }

// countOf counts each Workload once, however often something happens to it.
func countOf[T any](all []T, of func(*T) (world.Key, bool)) tally {
	certain := map[world.Key]bool{}
	for i := range all {
		k, sure := of(&all[i])
		certain[k] = certain[k] || sure
	}
	t := tally{all: len(certain)}
	for _, sure := range certain {
		if sure {
			t.certain++
		}
	}
	return t
}

// text is the number as far as it is known, and whether that much is sure. Every
// timing has those that are certain, and none has others than all; a run that was
// cut may have come to more, and what is not at rest may come to anything.
func (t tally) text(r *impact.Result) (string, bool) {
	switch {
	case r.Bounded != "" && t.certain > 0:
		return "at least " + count(t.certain), true
	case r.Bounded != "" || len(r.Restless) > 0:
		return count(t.all), false
	case t.certain == t.all:
		return count(t.all), true
	case t.certain == 0:
		return "up to " + count(t.all), true
	}
	return count(t.certain) + " to " + count(t.all), true
}

// because is Kueue's reason for a preemption in a person's words.
func because(reason string) string {
	switch reason {
	case "InClusterQueue":
		return "the queue puts others first"
	case "InCohortReclamation":
		return "borrowed quota is taken back"
	case "InCohortReclaimWhileBorrowing":
		return "borrowed quota goes to another borrower"
	case "InCohortFairSharing":
		return "fair sharing moves the quota"
	case "":
		return "the reason is not known"
	}
	return "reason " + reason
}

// whyPreempted is the reason and the policy that allows it, as a heading.
func whyPreempted(x *impact.Preemption) string {
	out := because(x.Reason)
	if x.Policy != "" {
		out += " (" + x.Policy + ")"
	}
	if x.PolicyHolds != nil && !*x.PolicyHolds {
		out += ", which that policy does not allow by their priorities"
	}
	return out + ":"
}

// lot is what is out of the ordinary about one that loses its quota.
func lot(runs, back bool) string {
	out := ""
	if !runs {
		out = ", not running now"
	}
	if back {
		out += ", gets quota again"
	}
	return out
}

// party names a side of something that happens: job, priority and queue.
func party(w *impact.Workload) string {
	if w.Ref.Name == "" {
		return "unknown"
	}
	out := w.Ref.Namespace + "/" + or(w.Job, w.Ref.Name) + " (prio " + strconv.Itoa(int(w.Priority))
	if w.ClusterQueue != "" {
		out += ", " + w.ClusterQueue
	}
	return out + ")"
}

// placed names the flavors, each once.
func placed(flavors map[string]string) string {
	return strings.Join(slices.Compact(slices.Sorted(maps.Values(flavors))), ", ")
}

// sentenceOf takes the class off "class: sentence", as impact.Change has it.
func sentenceOf(s string) string {
	if _, sentence, ok := strings.Cut(s, ": "); ok {
		return sentence
	}
	return s
}
