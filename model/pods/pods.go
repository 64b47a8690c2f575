// Package pods ties pods to the Workloads that Kueue counts for them, and finds
// the pods that use a flavor's nodes without any.
//
// Pure: rows in, values out. A pod is tied to a Workload only by what Kueue and
// the job controllers write on it; what cannot be tied with certainty is left
// out, and Count says so.
package pods

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"cli.holdfast.dev/holdfast/model/world"
)

// Count is how the pods of one Workload do.
type Count struct {
	// Pending, Running, Failed and Succeeded are numbers of pods by their phase.
	Pending, Running, Failed, Succeeded int
	// Unknown is set when no pod was found and that proves nothing: of this kind of
	// job not every pod says which Workload it belongs to. The numbers are 0 then
	// and must not be shown as such; Note says why.
	Unknown bool
	// Note is what the first pending pod says of why it does not run, the
	// scheduler's word in most cases; empty where nothing was said.
	Note string
}

// Index finds the pods of a Workload among many. It may be read by any number of
// goroutines.
type Index struct {
	pods []world.Pod
	by   map[tie][]int // places in pods, ascending
}

// NewIndex reads the pods once, in time linear in them, and keeps the slice,
// which must not change afterwards.
func NewIndex(all []world.Pod) *Index {
	x := &Index{pods: all, by: make(map[tie][]int, len(all))}
	for i := range all {
		for _, t := range tiesOfPod(&all[i]) {
			if at := x.by[t]; len(at) == 0 || at[len(at)-1] != i {
				x.by[t] = append(at, i)
			}
		}
	}
	return x
}

// Of returns the pods of the Workload in the order of the index; nil for none.
func (x *Index) Of(w *world.Workload) []world.Pod {
	var out []world.Pod
	for _, i := range x.places(w) {
		out = append(out, x.pods[i])
	}
	return out
}

// Count counts the pods of the Workload.
func (x *Index) Count(w *world.Workload) Count {
	c := CountOf(x.Of(w))
	if c == (Count{}) && !certain(w) {
		c.Unknown, c.Note = true, fmt.Sprintf("pods cannot be tied to this kind of job (%s)", kindOf(w))
	}
	return c
}

func (x *Index) places(w *world.Workload) []int {
	if replaced(w) {
		return nil
	}
	var out []int
	for _, t := range tiesOfWorkload(w) {
		for _, i := range x.by[t] {
			if mayBelong(&x.pods[i], w, t.by) {
				out = append(out, i)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Of returns those of the pods that belong to the Workload, in their order. Where
// more than one Workload is asked for, NewIndex saves going over all pods again.
func Of(w *world.Workload, all []world.Pod) []world.Pod { return NewIndex(all).Of(w) }

// CountOf counts pods. It cannot tell that there may be others; Index.Count can.
func CountOf(ps []world.Pod) Count {
	var c Count
	lost := 0
	for i := range ps {
		switch p := &ps[i]; corev1.PodPhase(p.Phase) {
		case corev1.PodPending:
			c.Pending++
			if c.Note == "" {
				c.Note = p.Message
			}
		case corev1.PodRunning:
			c.Running++
		case corev1.PodFailed:
			c.Failed++
		case corev1.PodSucceeded:
			c.Succeeded++
		default:
			lost++
		}
	}
	if lost > 0 {
		note := fmt.Sprintf("%d in no known phase", lost)
		if c.Note != "" {
			note += "; " + c.Note
		}
		c.Note = note
	}
	return c
}
