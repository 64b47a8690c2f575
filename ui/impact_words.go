package ui

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/world"
)

// headline is a preview in a few words, for a title: "PREEMPTS 3 to 5, admits 9".
func headline(r *impact.Result) string {
	if r.NotComputed != "" {
		return "who is preempted is NOT KNOWN"
	}
	if out := deeds(r); len(out) > 0 {
		return strings.Join(out, ", ")
	}
	return "nobody is admitted or preempted"
}

// deeds are what is done to how many Workloads, what hurts most first.
func deeds(r *impact.Result) []string {
	var out []string
	doubt := false
	add := func(what string, t tally) {
		if t.all == 0 {
			return
		}
		n, sure := t.text(r)
		if !sure && !doubt {
			// Said once, it holds for all that follows.
			what, doubt = "perhaps "+what, true
		}
		out = append(out, what+" "+n)
	}
	add("PREEMPTS", countOf(r.Preempted, func(x *impact.Preemption) (world.Key, bool) { return x.Victim.Ref.Key, x.Certain }))
	add("EVICTS", countOf(r.Evicted, func(x *impact.Eviction) (world.Key, bool) { return x.Workload.Ref.Key, x.Certain }))
	add("admits", countOf(r.Admitted, func(x *impact.Admission) (world.Key, bool) { return x.Workload.Ref.Key, x.Certain }))
	return out
}

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
	return reason
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
