package proof

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"
	"sigs.k8s.io/kueue/pkg/workload/finish"
)

// facts is what came of an edit, or is said to come of it. The lists are sorted
// and name each thing once.
type facts struct {
	// Admitted are the Workloads that are admitted in the end, with their flavors
	// and pods (placement).
	Admitted map[string]string
	// Preempted are "victim by preemptor (reason)".
	Preempted []string
	// Evicted are "workload (reason)", for evictions without a preemptor.
	Evicted []string
}

func preempted(victim, preemptor, reason string) string {
	return fmt.Sprintf("%s by %s (%s)", victim, preemptor, reason)
}

func evicted(name, reason string) string { return fmt.Sprintf("%s (%s)", name, reason) }

// set is the list sorted, with each text once.
func set(l []string) []string {
	out := slices.Sorted(slices.Values(l))
	return slices.Compact(out)
}

// placement is where an admitted Workload is: each pod set's flavors and pods.
func placement(w *kueue.Workload) string {
	var sets []string
	for _, p := range w.Status.Admission.PodSetAssignments {
		var cells []string
		for res, f := range p.Flavors {
			cells = append(cells, string(res)+"="+string(f))
		}
		n := int32(0)
		if p.Count != nil {
			n = *p.Count
		}
		sets = append(sets, placed(string(p.Name), cells, n))
	}
	return strings.Join(sets, "; ")
}

func placed(podSet string, cells []string, pods int32) string {
	slices.Sort(cells)
	return fmt.Sprintf("%s x%d %s", podSet, pods, strings.Join(cells, " "))
}

// admitted reports whether the Workload is admitted for good.
func admitted(w *kueue.Workload) bool {
	return w.Status.Admission != nil && workload.IsAdmitted(w) && !evict.IsEvicted(w) && !finish.IsFinished(w)
}

// evicting reports whether the Workload is being evicted and holds its quota still.
func evicting(w *kueue.Workload) bool { return evict.IsEvicted(w) && workload.HasQuotaReservation(w) }

// forecast is what a preview says, as far as it can be compared.
type forecast struct {
	// NotComputed, Restless and Bounded are the preview's own.
	NotComputed string   `json:",omitempty"`
	Restless    []string `json:",omitempty"`
	Bounded     string   `json:",omitempty"`
	Unknown     []string `json:",omitempty"`
	// Likely is what the first of the timings says.
	Likely facts
	// Certain is what it says will happen for sure: who is admitted that was not,
	// and who loses its quota. Listed is all that it says may happen.
	Certain, Listed facts
	// Sure is set where the preview says nothing that depends on timing, and the
	// world is at rest.
	Sure bool
	// Timings is what each of the timings says, in their order.
	Timings []timing
	Took    time.Duration
}

type timing struct {
	Name string
	facts
	Bound string `json:",omitempty"`
}

// verdict is what a comparison says.
type verdict struct {
	Changed    bool // the edit changed who is admitted, and where
	Preempts   bool
	Equal      bool // the likely outcome is the true one
	Sure       bool
	Unexpected []string // what the preview called certain and did not happen, or the reverse
	Unlisted   []string // what happened although no timing has it
	Fitting    []string // the timings that are right
	Diff       string
}

// right reports whether nothing that was called certain is wrong.
func (v verdict) right() bool { return len(v.Unexpected) == 0 && (v.Equal || !v.Sure) }

// judge compares what a preview says of a world with what became of it. before
// are the Workloads that were admitted before the edit.
func judge(before map[string]string, f forecast, truth facts) verdict {
	v := verdict{
		Changed:  !maps.Equal(before, truth.Admitted),
		Preempts: len(truth.Preempted) > 0,
		Sure:     f.Sure,
		Diff:     cmp.Diff(f.Likely, truth),
	}
	v.Equal = f.NotComputed == "" && v.Diff == ""
	for _, t := range f.Timings {
		if cmp.Equal(t.facts, truth) {
			v.Fitting = append(v.Fitting, t.Name)
		}
	}
	for name, where := range f.Certain.Admitted {
		if truth.Admitted[name] != where {
			v.Unexpected = append(v.Unexpected, fmt.Sprintf("%s is certain to be admitted to %q; it is in %q", name, where, truth.Admitted[name]))
		}
	}
	v.Unexpected = append(v.Unexpected, missing("certain, did not happen: preemption of ", f.Certain.Preempted, truth.Preempted)...)
	v.Unexpected = append(v.Unexpected, missing("certain, did not happen: eviction of ", f.Certain.Evicted, truth.Evicted)...)
	for name, where := range truth.Admitted {
		if _, ok := f.Listed.Admitted[name]; !ok && before[name] != where {
			v.Unlisted = append(v.Unlisted, "admitted: "+name)
		}
	}
	v.Unlisted = append(v.Unlisted, missing("happened: preemption of ", truth.Preempted, f.Listed.Preempted)...)
	v.Unlisted = append(v.Unlisted, missing("happened: eviction of ", truth.Evicted, f.Listed.Evicted)...)
	slices.Sort(v.Unexpected)
	slices.Sort(v.Unlisted)
	return v
}

// missing says of which of the one list the other has nothing.
func missing(what string, of, in []string) []string {
	var out []string
	for _, x := range of {
		if !slices.Contains(in, x) {
			out = append(out, what+x)
		}
	}
	return out
}
