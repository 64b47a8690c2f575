package actions

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// multiKueue is the controller that sends Workloads to other clusters.
const multiKueue = "kueue.x-k8s.io/multikueue"

// PlanPriority plans to give a Workload the priority of a WorkloadPriorityClass, by
// the label of the job that owns it: Kueue carries that over, and would undo a change
// of the Workload itself. Execute then watches that the Workload's priority follows and
// stays. why is the person's and may be empty; it goes into the journal. It fails with
// a *Problem where Kueue would not follow, or the server refuses the dry-run.
func (d *Desk) PlanPriority(ctx context.Context, ref world.Ref, class, why string) (Plan, error) {
	c, o, w, row, err := d.openWorkload(ctx, ref)
	if err != nil {
		return Plan{}, err
	}
	no := func(format string, a ...any) error {
		return asIs{&Problem{What: text.Clean(fmt.Sprintf("cannot change the priority class of %s: %s", ref, fmt.Sprintf(format, a...))), Do: "Nothing was changed."}}
	}
	if why := WorkloadRefusal(row, Reprioritize); why != "" {
		return Plan{}, no("%s", why)
	}
	value, err := d.classValue(ctx, c, class)
	if err != nil {
		return Plan{}, err
	}
	if row.PriorityClass == class && row.Priority == value {
		return Plan{}, no("it has class %s (%d) already", class, value)
	}
	job := world.Ref{Kind: world.Kind(row.Owner.Kind), Key: world.Key{Namespace: row.Namespace, Name: row.Owner.Name}, UID: row.Owner.UID}
	api := ownerAPI(row.Owner)
	live, err := c.read(ctx, job, api)
	if err != nil {
		return Plan{}, err
	}
	labels := live.GetLabels()
	switch {
	case labels[prebuiltLabel] != "":
		return Plan{}, no("%s brought its Workload along (label %s): Kueue does not carry its class over", job, prebuiltLabel)
	case labels[priorityLabel] == class && row.PriorityClass == class:
		return Plan{}, no("%s has the class %s, and the Workload too, with priority %d: Kueue itself brings that to the class's %d when the class changes", job, class, row.Priority, value)
	case labels[priorityLabel] == class:
		return Plan{}, no("%s has the label %s=%s, and Kueue has not followed: see whether its controller is ready", job, priorityLabel, class)
	}
	p := d.plan(Reprioritize)
	p.Reason, p.Subject = text.Clean(why), refOf(o)
	t := target(job, live)
	t.API = api
	t.Change = text.Clean(fmt.Sprintf("priority class %s -> %s, so priority %d -> %d of %s", orNone(labels[priorityLabel]), class, row.Priority, value, ref))
	t.Patch = mustJSON(map[string]any{"metadata": map[string]any{"labels": map[string]any{priorityLabel: class}}})
	t.Follows = &Follow{Workload: p.Subject, Class: class, Value: value}
	if err := d.dryRun(ctx, c, &p, t, live); err != nil {
		return Plan{}, err
	}
	will := w.DeepCopy()
	will.Spec.PriorityClassRef, will.Spec.Priority = kueue.NewWorkloadPriorityClassRef(class), &value
	p.Edits = append(p.Edits, impact.Edit{Kind: world.KindWorkload, Key: row.Key, Object: will})
	p.Unknown = append(p.Unknown, NotComputed)
	d.afterPriority(&p, row, live, value)
	return p, nil
}

// afterPriority sorts the Workload, says what the change means for it, and asks for
// the name where others may lose quota to it, or it to others.
func (d *Desk) afterPriority(p *Plan, row *world.Workload, job *unstructured.Unstructured, value int32) {
	s := d.opts.World()
	a := d.affected(row)
	holds := row.HoldsQuota()
	if row.State == world.Reserving {
		a.Note = "holds its quota, and does not run yet"
	}
	if holds {
		p.RunsOn = append(p.RunsOn, a)
	} else {
		p.StaysPending = append(p.StaysPending, a)
	}
	p.Notes = append(p.Notes, "Only the job's label is written: Kueue takes the priority over into the Workload, which is watched afterwards.")
	p.Confirm = Confirm{ConfirmYes, "y"}
	queue, known := s.QueueOf(row)
	may := !known || preempts(s, world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: queue}})
	switch {
	case holds && value < row.Priority:
		p.Notes = append(p.Notes, "With a lower priority it can be preempted by more of the others.")
		p.Confirm = Confirm{ConfirmName, p.Subject.Name}
	case !holds && value > row.Priority && may:
		p.Notes = append(p.Notes, "With a higher priority it is tried before others, and its queue lets it preempt.")
		p.Confirm = Confirm{ConfirmName, p.Subject.Name}
	}
	if o := metav1.GetControllerOf(job); o != nil {
		p.Notes = append(p.Notes, text.Clean(fmt.Sprintf("%s is made by %s %s, which may set its label back.", p.Targets[0].Ref, o.Kind, o.Name)))
	}
	for _, x := range row.Checks {
		if k := s.Check(x.Name); k != nil && k.Controller == multiKueue {
			p.Notes = append(p.Notes, "MultiKueue sends it to another cluster: whether its copy there follows is not known here.")
		}
	}
}

// classValue is the priority of a WorkloadPriorityClass as it is now.
func (d *Desk) classValue(ctx context.Context, c *client, class string) (int32, error) {
	if class == "" {
		return 0, &Problem{What: "no priority class is named", Do: "Kueue does not let a class be taken away from a job; name the one that it is to have."}
	}
	o, err := c.get(ctx, world.Ref{Kind: world.KindWorkloadPriorityClass, Key: world.Key{Name: class}})
	if err != nil {
		var names []string
		for _, x := range d.opts.World().PriorityClasses {
			names = append(names, x.Name)
		}
		if p, ok := err.(*Problem); ok && len(names) > 0 {
			p.Do = "There are " + anyOf(names) + ". " + p.Do
		}
		return 0, err
	}
	value, _, err := unstructured.NestedInt64(o.Object, "value")
	if err != nil {
		return 0, fmt.Errorf("the value of %s cannot be read: %w", refOf(o), err)
	}
	return int32(value), nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
