package actions

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// look watches for what Kueue makes of a target that was written.
func (d *Desk) look(ctx context.Context, c *client, a Action, t Target, written *unstructured.Unstructured, out *ObjectResult) {
	switch {
	case t.Follows != nil:
		out.Verified, out.Detail = d.follows(ctx, c, t)
	case reports(a, t):
		out.Verified, out.Detail = d.verify(ctx, c, a, t, written)
	default:
		out.Unverifiable, out.Detail = true, fmt.Sprintf("stored as generation %d; Kueue reports nothing on a %s that would show it has taken it up", written.GetGeneration(), t.Ref.Kind)
		if a == Reactivate {
			out.Detail = "stored; it waits in its queue, and Kueue writes nothing on it until its turn comes"
		}
	}
}

// reports says whether Kueue will write into the object's status that it has taken up
// what was written, by what the object was. A Workload that is reactivated says so only where it lost quota
// when a person deactivated it: Kueue looks for that reason alone
// (pkg/controller/core/workload_controller.go).
func reports(a Action, t Target) bool {
	switch a {
	case Deactivate:
		return true
	case Reactivate:
		was := &unstructured.Unstructured{}
		if was.UnmarshalJSON(t.Base) != nil {
			return false
		}
		requeued, _ := condition(was, world.CondRequeued)
		evicted, _ := condition(was, world.CondEvicted)
		reserved, _ := condition(was, world.CondQuotaReserved)
		stopping := evicted.status == "True" && evicted.reason == kueue.WorkloadDeactivated && reserved.status == "True"
		return stopping || requeued.status == "False" && requeued.reason == kueue.WorkloadDeactivated
	}
	return t.Ref.Kind == world.KindClusterQueue || t.Ref.Kind == world.KindLocalQueue
}

// deactivated reports whether Kueue has evicted the Workload.
func deactivated(now *unstructured.Unstructured) (bool, string) {
	evicted, _ := condition(now, world.CondEvicted)
	if evicted.status != "True" {
		return false, "it is not marked as evicted yet"
	}
	reserved, _ := condition(now, world.CondQuotaReserved)
	detail := fmt.Sprintf("Kueue took it out of the queue (Evicted: %s)", evicted.reason)
	if reserved.status == "True" {
		detail += "; its job is being stopped, its pods may still run"
	}
	return true, text.Clean(detail)
}

// reactivated reports whether Kueue has queued the Workload again.
func reactivated(now *unstructured.Unstructured) (bool, string) {
	requeued, _ := condition(now, world.CondRequeued)
	reserved, _ := condition(now, world.CondQuotaReserved)
	evicted, _ := condition(now, world.CondEvicted)
	switch {
	case reserved.status == "True" && evicted.status != "True":
		return true, "it has quota already"
	case requeued.status == "True" && requeued.reason == kueue.WorkloadReactivated:
		return true, text.Clean(fmt.Sprintf("Kueue queued it again (Requeued: %s)", requeued.reason))
	case reserved.status == "True":
		return false, "its job has not stopped yet since the deactivation"
	}
	return false, "it is not marked as requeued yet"
}

// follows watches the Workload of a job until it has the priority that the job's new
// label asks for, and then for a while whether that lasts.
func (d *Desk) follows(parent context.Context, c *client, t Target) (ok bool, detail string) {
	ctx, cancel := context.WithTimeout(parent, d.opts.VerifyFor)
	defer cancel()
	on := Target{Ref: t.Follows.Workload}
	now, err := c.get(ctx, on.Ref)
	for err == nil && !hasPriority(now, t.Follows) {
		now, err = d.await(ctx, c, on, now)
	}
	switch {
	case parent.Err() != nil:
		return false, "the label is written; the wait for Kueue was interrupted"
	case err != nil && ctx.Err() == nil:
		return false, "the label is written, but the Workload cannot be read: " + clean(err)
	case err != nil:
		return false, fmt.Sprintf("the label is written, but the priority of %s did not follow in %s: look at whether Kueue's controller is ready", on.Ref, d.opts.VerifyFor)
	}
	lasting, stop := context.WithTimeout(parent, d.opts.LastsFor)
	defer stop()
	for {
		next, err := d.await(lasting, c, on, now)
		if err != nil {
			break
		}
		if now = next; !hasPriority(now, t.Follows) {
			m, _ := project.Setter(now, "spec", "priority")
			return false, fmt.Sprintf("the priority of %s followed and was changed again by %s", on.Ref, orUnknown(m))
		}
	}
	if parent.Err() != nil {
		return false, fmt.Sprintf("%s has priority %d; whether that lasts was not waited for", on.Ref, t.Follows.Value)
	}
	job, err := c.read(parent, t.Ref, t.API)
	if err != nil || job.GetLabels()[priorityLabel] != t.Follows.Class {
		return false, fmt.Sprintf("the priority of %s followed, but the label of %s is not there any more", on.Ref, t.Ref)
	}
	return true, fmt.Sprintf("%s has priority %d of class %s, and that has lasted %s", on.Ref, t.Follows.Value, t.Follows.Class, d.opts.LastsFor)
}

func hasPriority(o *unstructured.Unstructured, f *Follow) bool {
	_, w, err := workloadOf(o)
	return err == nil && w.PriorityClass == f.Class && w.PriorityKind == world.KindWorkloadPriorityClass && w.Priority == f.Value
}

func orUnknown(who string) string {
	if who == "" {
		return "somebody"
	}
	return who
}
