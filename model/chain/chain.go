// Package chain says who preempted whom.
package chain

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Link is one preemption: what Kueue wrote on the victim.
type Link struct {
	Victim *world.Workload
	// Preemptor is the Workload that took the quota; nil when it is deleted, in a
	// namespace that cannot be read, or was written as UNKNOWN.
	Preemptor    *world.Workload
	PreemptorUID types.UID
	// Recreated is set when the preemptor was found by its job: the Workload that
	// did it is gone and this is a later one of the same job.
	Recreated bool
	Reason    string
	At        time.Time
	// History is set when the victim has been admitted again since.
	History bool
}

// By returns the last preemption of the Workload, and false when nothing is
// known of one.
func By(s *store.Snapshot, w *world.Workload) (Link, bool) {
	p := w.Preempted
	if p == nil {
		return Link{}, false
	}
	l := Link{Victim: w, PreemptorUID: p.PreemptorUID, Reason: p.Reason, At: p.At, History: p.History}
	if p.PreemptorUID != "" {
		l.Preemptor = s.Workload(p.PreemptorUID)
	}
	if l.Preemptor == nil && p.PreemptorJobUID != "" {
		if ws := s.WorkloadsOfJob(p.PreemptorJobUID); len(ws) > 0 {
			l.Preemptor, l.Recreated = newest(ws), true
		}
	}
	return l, true
}

// Victims returns the Workloads whose last preemption was for the given one, the
// latest first. A victim that was preempted again by another is not among them:
// Kueue keeps one level of history only.
func Victims(s *store.Snapshot, w *world.Workload) []Link {
	var out []Link
	for _, v := range s.Victims(w.UID) {
		if l, ok := By(s, v); ok {
			out = append(out, l)
		}
	}
	sortLatest(out)
	return out
}
