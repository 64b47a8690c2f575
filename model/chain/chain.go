// Package chain says who preempted whom, link by link up to the first preemptor.
// Pure: values in, values out.
//
// A Workload remembers its last preemption only, in its Preempted condition, and
// Kueue writes there the preemptor's UID and job, not its name. The chain follows
// that to the preemptor, then the preemptor's own last preemption, and so on. It
// is followed whether the preemptor was itself preempted before it took the quota
// (it was pushed out and pushed others out) or after (the quota went on to the
// next): both explain why the victim waits.
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
	// At is the time of the preemption. It is zero, not known, with History: Kueue
	// then keeps the time of the reservation that followed in its place.
	At time.Time
	// History is set when the victim has been given quota again since.
	History bool
}

// By returns the last preemption of the Workload, and false when nothing is
// known of one.
func By(s *store.Snapshot, w *world.Workload) (Link, bool) {
	p := w.Preempted
	if p == nil {
		return Link{}, false
	}
	l := Link{Victim: w, PreemptorUID: p.PreemptorUID, Reason: p.Reason, History: p.History}
	if !p.History {
		l.At = p.At
	}
	l.Preemptor, l.Recreated = find(s, w, p.PreemptorUID, p.PreemptorJobUID)
	return l, true
}

// find looks for the preemptor of the victim, which is nil where it is gone
// itself, by the UIDs that Kueue wrote; empty ones stand for UNKNOWN and find
// nothing. A victim is not its own preemptor made again.
func find(s *store.Snapshot, victim *world.Workload, uid, job types.UID) (w *world.Workload, recreated bool) {
	if uid != "" {
		if w := s.Workload(uid); w != nil {
			return w, false
		}
	}
	if job == "" {
		return nil, false
	}
	w = newest(s.WorkloadsOfJob(job), victim)
	return w, w != nil
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

// Times returns how often the Workload was preempted in its life, as Kueue counts
// it; 0 also where Kueue kept no count.
func Times(w *world.Workload) int {
	n := 0
	for _, e := range w.Evictions {
		if e.Reason == "Preempted" {
			n += int(e.Count)
		}
	}
	return n
}
