package actions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/convert"
	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// WorkloadRefusal says why the action on the Workload makes no sense as it stands,
// as a phrase; empty where it does. Deactivate, Reactivate and Reprioritize are
// judged. It does not block.
func WorkloadRefusal(w *world.Workload, a Action) string {
	switch {
	case w.State == world.Finished:
		return "it is finished"
	case a == Deactivate && !w.Active:
		return "it is deactivated already"
	case a == Reactivate && w.Active:
		return "it is active"
	case a == Reprioritize:
		return priorityRefusal(w)
	}
	return ""
}

// PlanDeactivate plans to set spec.active of a Workload to false: Kueue evicts it
// and does not queue it again until it is reactivated
// (pkg/controller/core/workload_controller.go). why is the person's and may be empty;
// it goes into the journal. It fails with a *Problem where that makes no sense or the
// server refuses the dry-run.
func (d *Desk) PlanDeactivate(ctx context.Context, ref world.Ref, why string) (Plan, error) {
	p, w, row, err := d.planActive(ctx, ref, Deactivate, why)
	if err != nil {
		return Plan{}, err
	}
	a := d.affected(row)
	switch row.State {
	case world.Admitted, world.Evicting:
		p.Evicts = append(p.Evicts, d.loses(a, row))
		p.Notes = append(p.Notes, "Kueue evicts it: its job is stopped, and what it has done since its last checkpoint is lost. Its quota is free for others at once, even while its pods still end.")
	case world.Reserving:
		p.LosesReservation = append(p.LosesReservation, a)
		p.Notes = append(p.Notes, "It loses its reservation, and its admission checks begin anew when it is reactivated.")
	default:
		p.Notes = append(p.Notes, "It leaves the queue: it is not tried any more until it is reactivated.")
	}
	p.Notes = append(p.Notes, stopNotes(row)...)
	if row.RequeueCount > 0 || !row.RequeueAt.IsZero() {
		p.Notes = append(p.Notes, fmt.Sprintf("Its count of requeues (%d) and its time to wait are forgotten.", row.RequeueCount))
	}
	if limit := w.Spec.MaximumExecutionTimeSeconds; limit != nil && row.State == world.Admitted {
		p.Notes = append(p.Notes, fmt.Sprintf("The time that it ran counts: its maximum execution time of %s goes on from there when it is reactivated.", seconds(*limit)))
	}
	p.Confirm = Confirm{ConfirmYes, "y"}
	if len(p.Evicts)+len(p.LosesReservation) > 0 {
		p.Confirm = Confirm{ConfirmName, p.Subject.Name}
	}
	return p, nil
}

// PlanReactivate plans to set spec.active of a deactivated Workload to true: Kueue
// queues it again. The plan lists what else keeps it from starting. why and the
// errors are as with PlanDeactivate.
func (d *Desk) PlanReactivate(ctx context.Context, ref world.Ref, why string) (Plan, error) {
	p, w, row, err := d.planActive(ctx, ref, Reactivate, why)
	if err != nil {
		return Plan{}, err
	}
	p.StaysPending = append(p.StaysPending, d.affected(row))
	p.Notes = append(p.Notes, "Kueue queues it again, at its old place: the order goes by priority and age.")
	if e, ok := row.Conditions.Get(world.CondEvicted); ok && e.Status == "True" {
		if cause, ok := strings.CutPrefix(e.Reason, kueue.WorkloadDeactivated+"DueTo"); ok {
			p.Notes = append(p.Notes, fmt.Sprintf("Kueue deactivated it (%s: %s). Unless that was put right, it will do so again.", cause, e.Message))
		}
		if row.Conditions.True(world.CondQuotaReserved) {
			p.Notes = append(p.Notes, "Its job has not stopped yet: Kueue ends that eviction first.")
		}
	}
	if limit := w.Spec.MaximumExecutionTimeSeconds; limit != nil && row.PastExecutionSeconds != nil {
		left := *limit - *row.PastExecutionSeconds
		switch {
		case left <= 0:
			p.Notes = append(p.Notes, fmt.Sprintf("Its maximum execution time of %s is used up (it ran %s): once it is admitted, Kueue deactivates it again at once.", seconds(*limit), seconds(*row.PastExecutionSeconds)))
		default:
			p.Notes = append(p.Notes, fmt.Sprintf("Of its maximum execution time of %s, %s are left; then Kueue deactivates it again.", seconds(*limit), seconds(left)))
		}
	}
	if o := row.Owner; o != nil && o.Kind == "Pod" {
		p.Notes = append(p.Notes, "Its owner is a Pod: if Kueue stopped it, that Pod was deleted and does not come back.")
	}
	on := *row
	on.Active, on.State = true, world.StateOf(true, row.Conditions)
	s := d.opts.World()
	for _, o := range reason.New(s, d.opts.Clock.Now()).Explain(&on).Obstacles {
		if o.Kind != reason.ObstacleDeactivated {
			p.Notes = append(p.Notes, fmt.Sprintf("Reactivating is not enough: %s %s.", o.Object, o.Detail))
		}
	}
	p.Confirm = Confirm{ConfirmYes, "y"}
	if queue, ok := s.QueueOf(row); ok && preempts(s, world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: queue}}) {
		p.Confirm = Confirm{ConfirmName, p.Subject.Name}
	}
	return p, nil
}

// planActive is what the two have in common: the object as it is, its row, and the
// server's dry-run of the change.
func (d *Desk) planActive(ctx context.Context, ref world.Ref, a Action, why string) (Plan, *kueue.Workload, *world.Workload, error) {
	c, o, w, row, err := d.openWorkload(ctx, ref)
	if err != nil {
		return Plan{}, nil, nil, err
	}
	if no := WorkloadRefusal(row, a); no != "" {
		return Plan{}, nil, nil, asIs{&Problem{What: fmt.Sprintf("cannot %s %s: %s", a, ref, no), Do: "Nothing was changed."}}
	}
	p := d.plan(a)
	p.Reason = text.Clean(why)
	t := target(ref, o)
	p.Subject = t.Ref
	t.Change = fmt.Sprintf("active %t -> %t", row.Active, a == Reactivate)
	t.Patch = mustJSON(map[string]any{"spec": map[string]any{"active": a == Reactivate}})
	if err := d.dryRun(ctx, c, &p, t, o); err != nil {
		return Plan{}, nil, nil, err
	}
	return p, w, row, nil
}

// stopNotes say what the end of its pods means for the job.
func stopNotes(w *world.Workload) []string {
	switch {
	case w.Owner == nil:
		return []string{"Nothing that Kueue knows owns it: what runs for it is not stopped by this."}
	case w.Owner.Kind == "Pod" && w.HoldsQuota():
		return []string{"Its owner is a Pod: Kueue stops it by deleting that Pod, and reactivating does not bring it back. What made the Pod may make another one, with a Workload of its own that is active."}
	}
	return nil
}

// affected is the Workload as plans list it.
func (d *Desk) affected(w *world.Workload) Affected {
	a := Affected{Ref: w.Ref(), Job: w.JobName(), Priority: w.Priority, Uses: w.Usage}
	if w.State == world.Evicting {
		a.Note = "already being evicted"
	}
	return a
}

// openWorkload reads a Workload for an action: as the server's JSON, as an object of
// version v1beta2, and as its row.
func (d *Desk) openWorkload(ctx context.Context, ref world.Ref) (*client, *unstructured.Unstructured, *kueue.Workload, *world.Workload, error) {
	if ref.Kind != world.KindWorkload {
		return nil, nil, nil, nil, &Problem{What: fmt.Sprintf("a %s is no Workload", ref.Kind), Do: "Name a Workload or its job."}
	}
	if err := d.mayWrite(); err != nil {
		return nil, nil, nil, nil, err
	}
	c, err := d.client()
	if err != nil {
		return nil, nil, nil, nil, err
	}
	o, err := c.get(ctx, ref)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	w, row, err := workloadOf(o)
	return c, o, w, row, err
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }

// anyOf names a few of the words.
func anyOf(words []string) string {
	const most = 8
	slices.Sort(words)
	if len(words) > most {
		words = append(words[:most:most], "...")
	}
	return strings.Join(words, ", ")
}

// workloadOf reads the server's JSON as a Workload of version v1beta2, and as its row.
func workloadOf(o *unstructured.Unstructured) (*kueue.Workload, *world.Workload, error) {
	var in runtime.Object = &kueue.Workload{}
	if o.GetAPIVersion() == v1beta1.SchemeGroupVersion.String() {
		in = &v1beta1.Workload{}
	}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, in)
	if err == nil {
		in, err = convert.ToHub(in)
	}
	w, ok := in.(*kueue.Workload)
	if err != nil || !ok {
		return nil, nil, &Problem{What: fmt.Sprintf("%s cannot be read: %s", refOf(o), text.Clean(fmt.Sprint(err))), Do: "Look at the object itself.", Err: err}
	}
	return w, project.Workload(w), nil
}
