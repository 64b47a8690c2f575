package actions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// retries bounds how often a patch is made anew because labels or annotations
// moved, which the plan does not depend on.
const retries = 5

// Execute does what the plan says, if typed is what the plan's confirmation
// expects. Each object is read again first: if its spec, its hold record, or a
// label or annotation that the plan changes is not what it was, that is a refusal
// and nothing is written. With several objects it stops at the first that is not
// done. The journal has a line before and after; when it cannot be written,
// nothing else is. The error is set only when nothing was attempted; what became
// of each object is in the Result.
func (d *Desk) Execute(ctx context.Context, p Plan, typed string) (Result, error) {
	if !p.Confirm.Accepts(typed) {
		return Result{}, &Problem{What: fmt.Sprintf("not confirmed: %q was expected", p.Confirm.Expects), Do: "Nothing was changed."}
	}
	if p.Action == Export {
		return d.executeExport(ctx, p)
	}
	if err := d.mayWrite(); err != nil {
		return Result{}, err
	}
	if err := d.sameVictims(p); err != nil {
		return Result{}, err
	}
	c, err := d.client()
	if err != nil {
		return Result{}, err
	}
	id, err := d.opts.Journal.intent(p, d.opts.Clock.Now())
	if err != nil {
		return Result{}, err
	}
	r := Result{Action: p.Action, JournalID: id}
	stopped := false
	written := make([]*unstructured.Unstructured, len(p.Targets))
	for i, t := range p.Targets {
		if stopped || ctx.Err() != nil {
			r.Objects = append(r.Objects, ObjectResult{Ref: t.Ref, Outcome: NotDone, Detail: "not attempted: stopped before it"})
			continue
		}
		var o ObjectResult
		o, written[i] = d.apply(ctx, c, t)
		r.Objects = append(r.Objects, o)
		stopped = o.Outcome != Done
	}
	// Afterwards: a controller that is down must not keep the rest from being written.
	for i, t := range p.Targets {
		if written[i] != nil {
			d.look(ctx, c, p.Action, t, written[i], &r.Objects[i])
		}
	}
	if err := d.opts.Journal.result(id, p, r, d.opts.Clock.Now()); err != nil {
		r.Objects[len(r.Objects)-1].Detail += fmt.Sprintf(" (the journal could not be written: %v)", err)
	}
	return r, nil
}

// sameVictims holds the Workloads that a drain would evict now against those that
// the person agreed to. Fewer are no reason to stop.
func (d *Desk) sameVictims(p Plan) error {
	agreed := map[types.UID]bool{}
	for _, a := range p.Evicts {
		agreed[a.Ref.UID] = true
	}
	for _, t := range p.Targets {
		if !drains(t) {
			continue
		}
		var now Plan
		d.sortWorkloads(&now, t.Ref, true)
		for _, a := range now.Evicts {
			if !agreed[a.Ref.UID] {
				return &Problem{
					What: fmt.Sprintf("%s was admitted since the plan was made and would be evicted too", a.Ref), Do: "Nothing was written. Plan again to see all of them.", Conflict: true,
				}
			}
		}
	}
	return nil
}

// drains reports whether the target's change evicts what is admitted: from here on
// (a policy that stays is none).
func drains(t Target) bool {
	var patch, base struct {
		Spec struct{ StopPolicy world.StopPolicy }
	}
	if json.Unmarshal(t.Patch, &patch) != nil || json.Unmarshal(t.Base, &base) != nil {
		return false
	}
	return t.Method == MergePatch && patch.Spec.StopPolicy == world.StopHoldAndDrain && base.Spec.StopPolicy != world.StopHoldAndDrain
}

// apply writes one object and returns it as stored; nil where that is not known.
func (d *Desk) apply(ctx context.Context, c *client, t Target) (ObjectResult, *unstructured.Unstructured) {
	out := ObjectResult{Ref: t.Ref}
	written, sent, err := d.write(ctx, c, t, &out.Tries)
	if err != nil {
		out.Outcome, out.Detail = outcomeOf(err, sent), withAdvice(err)
		out.Meanwhile = meanwhile(ctx, c, t, err)
		return out, nil
	}
	out.Outcome = Done
	return out, written
}

// write patches the object under the plan's preconditions. sent says whether the
// error is that of the request which would have stored something; tries counts those.
func (d *Desk) write(ctx context.Context, c *client, t Target, tries *int) (o *unstructured.Unstructured, sent bool, err error) {
	if t.Method == Create {
		*tries++
		o, err := c.send(ctx, t, nil, false)
		if apierrors.IsAlreadyExists(err) {
			return nil, true, &Problem{What: fmt.Sprintf("somebody made %s since the plan was made", t.Ref), Do: "Nothing was written. Plan again to see what it is.", Conflict: true}
		}
		if err != nil {
			return nil, true, problem("make "+t.Ref.String(), err)
		}
		return o, true, nil
	}
	for {
		live, err := c.read(ctx, t.Ref, t.API)
		if err != nil {
			return nil, false, err
		}
		if err := unchanged(t, live); err != nil {
			return nil, false, err
		}
		*tries++
		o, err := c.send(ctx, t, live, false)
		if err == nil {
			return o, true, nil
		}
		if !moved(err) || *tries > retries {
			return nil, true, problem("write "+t.Ref.String(), err)
		}
	}
}

// meanwhile reads what somebody changed since the plan was made, where that is the
// error.
func meanwhile(ctx context.Context, c *client, t Target, err error) []Field {
	var p *Problem
	if !errors.As(err, &p) || !p.Conflict || len(t.After) == 0 {
		return nil
	}
	was, yours := &unstructured.Unstructured{Object: map[string]any{}}, &unstructured.Unstructured{}
	if len(t.Base) > 0 && was.UnmarshalJSON(t.Base) != nil || yours.UnmarshalJSON(t.After) != nil {
		return nil
	}
	t.Ref.UID = "" // one that was made anew is what is there now
	now, err := c.read(ctx, t.Ref, t.API)
	if err != nil {
		return nil // the error before says enough
	}
	return meanwhileIn(was, now, yours)
}

// unchanged holds the plan's preconditions against the object as it is now. The
// generation counts every change of the spec; annotations are not in it, so the
// hold record is compared too.
func unchanged(t Target, live *unstructured.Unstructured) error {
	if live.GetGeneration() != t.Generation {
		return &Problem{
			What: fmt.Sprintf("the spec of %s changed since the plan was made (generation %d, now %d)", t.Ref, t.Generation, live.GetGeneration()),
			Do:   "Nothing was written. Plan again to see what it is now.", Conflict: true,
		}
	}
	if live.GetAnnotations()[world.HoldAnnotation] != t.HoldBefore {
		return &Problem{What: fmt.Sprintf("the hold record of %s changed since the plan was made", t.Ref), Do: "Nothing was written. Plan again.", Conflict: true}
	}
	var patch struct {
		Metadata struct{ Labels, Annotations map[string]any }
	}
	if err := json.Unmarshal(t.Patch, &patch); err != nil && len(t.Patch) > 0 {
		return fmt.Errorf("the patch is not JSON: %w", err)
	}
	for _, m := range []struct {
		what         string
		wanted       map[string]any
		before, live map[string]string
	}{{"label", patch.Metadata.Labels, t.Labels, live.GetLabels()}, {"annotation", patch.Metadata.Annotations, t.Annotations, live.GetAnnotations()}} {
		for k := range m.wanted {
			was, had := m.before[k]
			is, has := m.live[k]
			if was != is || had != has {
				return &Problem{What: text.Clean(fmt.Sprintf("the %s %s of %s changed since the plan was made", m.what, k, t.Ref)), Do: "Nothing was written. Plan again.", Conflict: true}
			}
		}
	}
	return nil
}

// outcomeOf tells what became of an object whose write failed. Only a request
// that went out and was not answered, or was answered with trouble behind the
// API server, leaves it unknown whether something was stored.
func outcomeOf(err error, sent bool) Outcome {
	var refused *kube.RefusedError
	var status apierrors.APIStatus
	isStatus := errors.As(err, &status)
	var p *Problem
	ours := errors.As(err, &p) && p.Err == nil
	switch {
	case errors.As(err, &refused), errors.Is(err, syscall.ECONNREFUSED):
		return NotDone
	case ours, isStatus && status.Status().Code < 500, isStatus && strings.Contains(err.Error(), "failed calling webhook"):
		return Refused
	case !sent:
		return NotDone
	}
	return OutcomeUnknown
}

// withAdvice is the error and what to do next.
func withAdvice(err error) string {
	var p *Problem
	if errors.As(err, &p) && p.Do != "" {
		return err.Error() + ". " + p.Do
	}
	return err.Error()
}

// clean makes an error drawable.
func clean(err error) string { return text.Clean(err.Error()) }
