package reason

import (
	"time"

	"cli.holdfast.dev/holdfast/model/world"
)

// Times are the durations of one Workload; nil is unknown or does not apply. None
// is negative: where the clocks of the cluster and of this machine disagree,
// Skew is set.
type Times struct {
	// Wait is Kueue's own waiting time (QueuedWaitTime): since it was last put back
	// into the queue, else since it was made, until it was admitted or until now.
	Wait *time.Duration
	// Running is the time since the admission.
	Running *time.Duration
	// PastExecution is what earlier admissions ran, as Kueue counted it.
	PastExecution *time.Duration
	// Overdue is for how long something that Kueue or a job should have done by
	// itself has not happened: a retry that is due, an eviction that does not end.
	Overdue *time.Duration
	Skew    bool
}

// tolerance is how far clocks may differ before that is worth a word: the
// timestamps have seconds only, and nobody's clock is exact.
const tolerance = 5 * time.Second

// TimesOf measures the Workload's durations at the time now.
func TimesOf(w *world.Workload, now time.Time) Times {
	var t Times
	if w.PastExecutionSeconds != nil {
		d := time.Duration(*w.PastExecutionSeconds) * time.Second
		t.PastExecution = &d
	}
	queued := w.Created
	if c, ok := w.Conditions.Get(world.CondRequeued); ok {
		queued = c.At
	}
	reserved, admitted := at(w, world.CondQuotaReserved), at(w, world.CondAdmitted)
	t.Skew = w.Created.After(now.Add(tolerance)) || !reserved.IsZero() && !admitted.IsZero() && reserved.After(admitted.Add(time.Second))
	for _, c := range w.Conditions {
		t.Skew = t.Skew || c.At.After(now.Add(tolerance))
	}
	switch w.State {
	case world.Pending, world.Reserving:
		t.Wait = t.between(queued, now)
	case world.Admitted, world.Evicting:
		t.Running = t.between(admitted, now)
		if !admitted.IsZero() {
			t.Wait = t.between(queued, admitted)
		}
	}
	t.Overdue = overdueOf(w, now)
	return t
}

// at is when the condition became True; zero if it is not.
func at(w *world.Workload, typ string) time.Time {
	if c, ok := w.Conditions.Get(typ); ok && c.Status == "True" {
		return c.At
	}
	return time.Time{}
}

// between is the time from one moment to another, which must not be before it;
// none where the first is not known.
func (t *Times) between(from, to time.Time) *time.Duration {
	if from.IsZero() {
		return nil
	}
	d := max(0, to.Sub(from))
	t.Skew = t.Skew || from.After(to.Add(tolerance))
	return &d
}

// patience is how long an eviction or a retry may take before somebody should
// look.
const patience = 5 * time.Minute

// overdueOf is how long a retry is due, or how long an eviction has lasted beyond
// patience and what its pods may take to end.
func overdueOf(w *world.Workload, now time.Time) *time.Duration {
	var late time.Duration
	if (w.State == world.Pending || w.State == world.Evicting) && !w.RequeueAt.IsZero() {
		late = now.Sub(w.RequeueAt)
	}
	if c, ok := w.Conditions.Get(world.CondEvicted); ok && !c.At.IsZero() && w.State == world.Evicting {
		late = max(late, now.Sub(c.At)-patience-w.Grace)
	}
	if late <= 0 {
		return nil
	}
	return &late
}
