package actions

import (
	"context"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// PlanHold plans to stop new admissions of a ClusterQueue or LocalQueue, or of
// every ClusterQueue below a Cohort. With drain, admitted Workloads are evicted too.
// reason is the person's why and may be empty. It fails with a *Problem when the
// queue is stopped that way already, or when the server refuses the dry-run.
func (d *Desk) PlanHold(ctx context.Context, ref world.Ref, drain bool, reason string) (Plan, error) {
	action := Hold
	if drain {
		action = Drain
	}
	if ref.Kind != world.KindCohort {
		return d.holdOne(ctx, ref, action, reason)
	}
	p, err := d.planCohort(ctx, action, ref, func(q world.Ref) (Plan, error) { return d.holdOne(ctx, q, action, reason) })
	if err == nil {
		p.Confirm = d.confirmSeveral(&p)
	}
	return p, err
}

func (d *Desk) holdOne(ctx context.Context, ref world.Ref, action Action, reason string) (Plan, error) {
	drain, policy := action == Drain, world.StopHold
	if drain {
		policy = world.StopHoldAndDrain
	}
	c, o, err := d.openQueue(ctx, ref)
	if err != nil {
		return Plan{}, err
	}
	now := policyOf(o)
	if now == policy {
		return Plan{}, asIs{&Problem{What: fmt.Sprintf("%s is already stopped with %s%s", ref, policy, by(o)), Do: "Nothing to do; resume lifts it."}}
	}
	if now == world.StopHoldAndDrain {
		return Plan{}, asIs{&Problem{What: fmt.Sprintf("%s is being drained (HoldAndDrain)%s; a hold would stop the drain half-way", ref, by(o)), Do: "Resume it first if the drain is not wanted."}}
	}
	if r := standing(o); r != nil && r.Problem != "" {
		return Plan{}, &Problem{What: fmt.Sprintf("%s is stopped and carries a hold record that this program cannot read (%s); a new one would lose it", ref, r.Problem), Do: "Use the version that wrote it, or resume first."}
	}
	p := d.plan(action)
	p.Reason = text.Clean(reason)
	t := target(ref, o)
	p.Subject = t.Ref
	t.Change = fmt.Sprintf("stopPolicy %s -> %s", now, policy)
	t.Patch = mustJSON(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{world.HoldAnnotation: string(d.record(o, policy, reason))}},
		"spec":     map[string]any{"stopPolicy": string(policy)},
	})
	if err := d.dryRun(ctx, c, &p, t, o); err != nil {
		return Plan{}, err
	}
	d.sortWorkloads(&p, t.Ref, drain)
	if t.HoldBefore != "" && !now.Stopped() {
		p.Notes = append(p.Notes, "It was held before. "+liftedBy(o)+" That may happen again.")
	}
	p.Notes = append(p.Notes, holdNotes(t.Ref.Kind, drain)...)
	p.Confirm = d.confirmHold(&p, t.Ref, drain)
	return p, nil
}

func by(o *unstructured.Unstructured) string {
	raw := o.GetAnnotations()[world.HoldAnnotation]
	if raw == "" {
		return ""
	}
	r := project.ParseHold(raw)
	if r.Problem != "" {
		return " (" + r.Problem + ")"
	}
	return fmt.Sprintf(" by %s at %s", r.By, r.At.Local().Format("2006-01-02 15:04:05"))
}

// record makes the annotation's value. While a valid record stands on a held
// queue its previous policy is kept: it is what the first hold found.
func (d *Desk) record(o *unstructured.Unstructured, policy world.StopPolicy, reason string) []byte {
	r := world.HoldRecord{Version: 1, By: d.who(), At: d.opts.Clock.Now().UTC().Truncate(1e9), Reason: reason, Policy: policy, Previous: policyOf(o)}
	if old := standing(o); old != nil {
		r.Previous = old.Previous
	}
	return mustJSON(r)
}

// standing returns the record of a queue that is stopped; nil where there is
// none, or the queue flows and the record is stale.
func standing(o *unstructured.Unstructured) *world.HoldRecord {
	raw := o.GetAnnotations()[world.HoldAnnotation]
	if raw == "" || !policyOf(o).Stopped() {
		return nil
	}
	return project.ParseHold(raw)
}

func holdNotes(k world.Kind, drain bool) []string {
	var out []string
	if k == world.KindClusterQueue {
		out = append(out, "While it is held its nominal quota stays lendable: the cohort may borrow all of it.")
		if !drain {
			out = append(out, "Its running Workloads cannot be preempted while it is held, so what they borrow cannot be reclaimed.")
		}
	} else {
		out = append(out, "Kueue shows 0 pending Workloads on a held LocalQueue; they are still there.")
	}
	if drain {
		out = append([]string{"A drain evicts every admitted Workload of the queue. What they have done since their last checkpoint is lost; each line says what is known of it."}, out...)
	}
	return out
}

func (d *Desk) confirmHold(p *Plan, ref world.Ref, drain bool) Confirm {
	if drain {
		return d.confirmDrain(p)
	}
	if len(p.LosesReservation) > 0 || p.Incomplete != "" {
		return Confirm{ConfirmName, ref.Name}
	}
	return Confirm{ConfirmYes, "y"}
}

// confirmDrain asks for the context and the number of Workloads that are evicted,
// or the word "unknown" where that number is not known.
func (d *Desk) confirmDrain(p *Plan) Confirm {
	n := strconv.Itoa(len(p.Evicts))
	if p.Incomplete != "" {
		n = "unknown"
	}
	return Confirm{ConfirmContext, d.opts.Context + " " + n}
}

// PlanResume plans to give a queue the stop policy back that its hold record
// names, and to take the record away. Without a usable record it plans None and
// says that this is a guess. For a Cohort it does so with every ClusterQueue below
// that has a record; those that were stopped otherwise are left.
func (d *Desk) PlanResume(ctx context.Context, ref world.Ref) (Plan, error) {
	if ref.Kind != world.KindCohort {
		return d.resumeOne(ctx, ref)
	}
	p, err := d.planCohort(ctx, Resume, ref, func(q world.Ref) (Plan, error) {
		if row := d.opts.World().ClusterQueue(q.Name); row != nil && row.StopPolicy.Stopped() && row.Hold == nil {
			return Plan{}, asIs{&Problem{What: fmt.Sprintf("%s is stopped (%s), but not with holdfast; resume it by itself if that is wanted", q, row.StopPolicy)}}
		}
		return d.resumeOne(ctx, q)
	})
	if err == nil {
		p.Confirm = d.confirmSeveral(&p)
	}
	return p, err
}

func (d *Desk) resumeOne(ctx context.Context, ref world.Ref) (Plan, error) {
	c, o, err := d.openQueue(ctx, ref)
	if err != nil {
		return Plan{}, err
	}
	now := policyOf(o)
	raw := o.GetAnnotations()[world.HoldAnnotation]
	p := d.plan(Resume)
	t := target(ref, o)
	p.Subject = t.Ref
	to, doubt := world.StopNone, false
	switch {
	case raw == "" && !now.Stopped():
		return Plan{}, asIs{&Problem{What: fmt.Sprintf("%s is not held", ref), Do: "Nothing to do."}}
	case raw == "":
		doubt = true
		p.Notes = append(p.Notes, "It was not held with holdfast: which policy it had before is not recorded, None is assumed.")
	default:
		to, doubt = d.recorded(&p, raw, now, o)
	}
	t.Change = fmt.Sprintf("stopPolicy %s -> %s", now, to)
	if now == to {
		t.Change = fmt.Sprintf("stopPolicy stays %s; the hold record is taken away", now)
	}
	t.Patch = mustJSON(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{world.HoldAnnotation: nil}},
		"spec":     map[string]any{"stopPolicy": string(to)},
	})
	if err := d.dryRun(ctx, c, &p, t, o); err != nil {
		return Plan{}, err
	}
	d.sortWorkloads(&p, t.Ref, to == world.StopHoldAndDrain)
	d.afterResume(&p, t.Ref, now, to)
	if doubt && p.Confirm.Level < ConfirmName {
		p.Confirm = Confirm{ConfirmName, t.Ref.Name}
	}
	return p, nil
}

// recorded returns the policy to restore and notes what is odd about the record.
// doubt says that the record may not be of what stands there now.
func (d *Desk) recorded(p *Plan, raw string, now world.StopPolicy, o *unstructured.Unstructured) (to world.StopPolicy, doubt bool) {
	r := project.ParseHold(raw)
	if r.Problem != "" {
		p.Notes = append(p.Notes, r.Problem+"; None is assumed.")
		return world.StopNone, true
	}
	p.Notes = append(p.Notes, fmt.Sprintf("Held by %s at %s%s; before that its policy was %s.", r.By, r.At.Local().Format("2006-01-02 15:04:05"), quoted(r.Reason), r.Previous))
	switch {
	case !now.Stopped():
		p.Notes = append(p.Notes, liftedBy(o)+" Only the record is left.")
		return now, false
	case now != r.Policy:
		p.Notes = append(p.Notes, fmt.Sprintf("Its policy was changed since%s: the hold set %s, now it is %s.", setBy(o), r.Policy, now))
		return r.Previous, true
	}
	if m, _ := project.Setter(o, "spec", "stopPolicy"); m != "" && m != FieldManager {
		p.Notes = append(p.Notes, fmt.Sprintf("Its stopPolicy was last set%s and not by holdfast: the record may be of an earlier hold.", setBy(o)))
		return r.Previous, true
	}
	return r.Previous, false
}

// liftedBy says who lifted a hold whose record still stands.
func liftedBy(o *unstructured.Unstructured) string {
	if by := setBy(o); by != "" {
		return "The hold was undone" + by + "."
	}
	return "The hold was undone; by whom is not recorded."
}

// setBy says which field manager set the stopPolicy, and when; empty where
// managedFields does not tell.
func setBy(o *unstructured.Unstructured) string {
	m, at := project.Setter(o, "spec", "stopPolicy")
	switch {
	case m == "":
		return ""
	case at.IsZero():
		return " by " + m
	}
	return fmt.Sprintf(" by %s at %s", m, at.Local().Format("2006-01-02 15:04:05"))
}

func quoted(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + strconv.Quote(reason) + ")"
}

// openQueue reads a queue for hold or resume.
func (d *Desk) openQueue(ctx context.Context, ref world.Ref) (*client, *unstructured.Unstructured, error) {
	info, err := infoOf(ref.Kind)
	if err != nil {
		return nil, nil, err
	}
	if !info.holdable {
		return nil, nil, &Problem{What: fmt.Sprintf("a %s has no stopPolicy", ref.Kind), Do: "Hold or resume its ClusterQueue or LocalQueue."}
	}
	if err := d.mayWrite(); err != nil {
		return nil, nil, err
	}
	c, err := d.client()
	if err != nil {
		return nil, nil, err
	}
	o, err := c.get(ctx, ref)
	return c, o, err
}

// mayWrite fails when the program was started read-only.
func (d *Desk) mayWrite() error {
	if d.opts.ReadOnly {
		return &Problem{What: "holdfast was started with --read-only", Do: "Start it without --read-only to act. Nothing was changed."}
	}
	return nil
}
