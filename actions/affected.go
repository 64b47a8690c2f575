package actions

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// workloadsOf returns the unfinished Workloads of a queue.
func workloadsOf(s *store.Snapshot, ref world.Ref) []*world.Workload {
	var out []*world.Workload
	for _, w := range s.Workloads {
		if w.State == world.Finished || w.State == world.Deactivated {
			continue
		}
		if inQueue(s, w, ref) {
			out = append(out, w)
		}
	}
	return out
}

func inQueue(s *store.Snapshot, w *world.Workload, ref world.Ref) bool {
	if ref.Kind == world.KindLocalQueue {
		return w.Namespace == ref.Namespace && w.LocalQueue == ref.Name
	}
	q, ok := s.QueueOf(w)
	return ok && q == ref.Name
}

// sortWorkloads fills the plan's lists with what a stop of the queue does to its
// Workloads (Kueue: admitted ones run on under Hold and are evicted under
// HoldAndDrain, those with only a reservation lose it at once, pending ones
// stay).
func (d *Desk) sortWorkloads(p *Plan, ref world.Ref, drain bool) {
	s := d.opts.World()
	p.Incomplete = Incomplete(s, ref)
	for _, w := range workloadsOf(s, ref) {
		a := d.affected(w)
		switch w.State {
		case world.Admitted, world.Evicting:
			if drain {
				a = d.loses(a, w)
				p.Evicts = append(p.Evicts, a)
			} else {
				p.RunsOn = append(p.RunsOn, a)
			}
		case world.Reserving:
			p.LosesReservation = append(p.LosesReservation, a)
		default:
			p.StaysPending = append(p.StaysPending, a)
		}
	}
}

// loses adds what an eviction costs the Workload.
func (d *Desk) loses(a Affected, w *world.Workload) Affected {
	a.Note = strings.TrimPrefix(a.Note+"; "+d.recovery(w), "; ")
	return a
}

// recovery says how long a Workload has run and from where it could go on.
func (d *Desk) recovery(w *world.Workload) string {
	out := "runtime not known"
	if c, ok := w.Conditions.Get(world.CondAdmitted); ok && c.Status == "True" {
		out = "admitted for " + d.opts.Clock.Now().Sub(c.At).Truncate(time.Second).String()
	}
	switch v, ok := w.Annotations[d.opts.Checkpoint]; {
	case d.opts.Checkpoint == "":
		return out + ", checkpoint not known"
	case !ok:
		return out + ", checkpoint not known: no annotation " + d.opts.Checkpoint
	default:
		return out + ", checkpoint " + v
	}
}

// Incomplete says why the Workloads of the queue may not all be known; empty when
// they are. It does not block.
func Incomplete(s *store.Snapshot, ref world.Ref) string {
	var why []string
	for _, k := range []world.Kind{world.KindWorkload, world.KindLocalQueue} {
		if f := s.Fresh(k); f.Feed != world.Live {
			why = append(why, fmt.Sprintf("the list of %ss is %s%s", k, f.Feed, colon(f.Detail)))
		}
	}
	if part := s.Contract.Part; part != "" {
		why = append(why, fmt.Sprintf("only Workloads of %s were exported", part))
	} else if ns := s.Contract.Namespace; ns != "" && (ref.Kind == world.KindClusterQueue || ref.Namespace != ns) {
		why = append(why, fmt.Sprintf("only Workloads of namespace %s are read", ns))
	}
	if len(why) == 0 {
		return ""
	}
	return "Not all Workloads may be listed here: " + strings.Join(why, "; ") + "."
}

func colon(detail string) string {
	if detail == "" {
		return ""
	}
	return " (" + detail + ")"
}

// owned says which deployment tool looks after the object and may undo a change of
// it; empty where there is no sign of one.
func owned(ref world.Ref, o *unstructured.Unstructured) string {
	tool, as := project.Owned(o)
	if tool == "" {
		return ""
	}
	if as != "" {
		as = " (" + as + ")"
	}
	who := "its controller"
	if tool == "Helm" {
		who = "the next upgrade of the release"
	}
	return fmt.Sprintf("%s is managed by %s%s: %s may undo this change.", ref, tool, as, who)
}

// afterResume moves the Workloads to where a resume leaves them, says what still
// stops the queue, and asks for the name when others may be preempted.
func (d *Desk) afterResume(p *Plan, ref world.Ref, from, to world.StopPolicy) {
	if to == world.StopHoldAndDrain {
		p.Notes = append(p.Notes, "The recorded policy is HoldAndDrain: this resumes a drain, and evicts what is admitted.")
		p.Confirm = d.confirmDrain(p)
		if from == to {
			p.Confirm = Confirm{ConfirmYes, "y"} // only the record is taken away
		}
		return
	}
	// Reservations were lost when the queue was held; one that is still listed was
	// made before the hold reached it.
	p.StaysPending = append(p.StaysPending, p.LosesReservation...)
	p.LosesReservation = nil
	p.Confirm = Confirm{ConfirmYes, "y"}
	if to.Stopped() {
		p.Notes = append(p.Notes, fmt.Sprintf("It stays stopped: the recorded policy is %s.", to))
		return
	}
	s := d.opts.World()
	notes, unknown := stillStopped(s, ref)
	p.Notes, p.Unknown = append(p.Notes, notes...), append(p.Unknown, unknown...)
	if from == to {
		return // the queue flows already; only the record is taken away
	}
	if ref.Kind == world.KindClusterQueue && len(p.RunsOn) > 0 {
		p.Notes = append(p.Notes, "Its running Workloads can be preempted again once it flows, those that borrow before others.")
	}
	if (len(p.StaysPending) > 0 || p.Incomplete != "") && preempts(s, ref) {
		p.Confirm = Confirm{ConfirmName, ref.Name}
	}
}

// preempts reports whether the queue's policy lets its Workloads preempt others;
// true when that cannot be told.
func preempts(s *store.Snapshot, ref world.Ref) bool {
	name := ref.Name
	if ref.Kind == world.KindLocalQueue {
		lq := s.LocalQueue(ref.Key)
		if lq == nil {
			return true
		}
		name = lq.ClusterQueue
	}
	q := s.ClusterQueue(name)
	return q == nil || q.Preemption.WithinClusterQueue != "Never" || q.Preemption.ReclaimWithinCohort != "Never" || q.Preemption.BorrowWithinCohort != "Never"
}
