package actions

import (
	"context"
	"fmt"
	"slices"

	"cli.holdfast.dev/holdfast/model/world"
)

// Several is one action on objects that a person chose one by one.
type Several struct {
	// Action is Hold, Drain or Resume for queues; Deactivate, Reactivate or Reprioritize
	// for Workloads.
	Action Action
	// Refs are the objects, in any order.
	Refs []world.Ref
	// Class is the new priority class, for Reprioritize.
	Class string
	// Reason is the person's own why and may be empty.
	Reason string
}

// mostSeveral bounds a plan: each object is dry-run on the server, and a person must be
// able to read whom it is about.
const mostSeveral = 100

// PlanSeveral plans the action for each of the objects, by kind and name. Those for
// which there is nothing to do are named in the notes. The question asks for the context
// and the number of objects (of evicted Workloads, where any are). It fails with a
// *Problem where there is nothing to do for any, where they are too many, or as the plan
// of a single one does; nothing is changed then.
func (d *Desk) PlanSeveral(ctx context.Context, s Several) (Plan, error) {
	one, err := d.oneOf(ctx, s)
	if err != nil {
		return Plan{}, err
	}
	if err := d.mayWrite(); err != nil {
		return Plan{}, err
	}
	if len(s.Refs) > mostSeveral {
		return Plan{}, &Problem{What: fmt.Sprintf("%d objects are too many to %s at once", len(s.Refs), s.Action), Do: fmt.Sprintf("Choose at most %d, or a queue or cohort as a whole. Nothing was changed.", mostSeveral)}
	}
	refs := slices.Clone(s.Refs)
	slices.SortFunc(refs, func(a, b world.Ref) int {
		if a.Kind != b.Kind {
			return compareKinds(a.Kind, b.Kind)
		}
		return a.Key.Compare(b.Key)
	})
	seen := map[world.Ref]bool{}
	var subject world.Ref // of the last plan
	p, err := d.planEach(s.Action, slices.Compact(refs), "of what was chosen", func(ref world.Ref) (Plan, error) {
		p, err := one(ref)
		if err != nil {
			return Plan{}, err
		}
		// Two Workloads may have one owner, whose label is what is written.
		if t := p.Targets[0].Ref; seen[t] {
			return Plan{}, asIs{&Problem{What: fmt.Sprintf("%s is changed already for another of its Workloads than %s", t, ref)}}
		} else {
			seen[t] = true
		}
		subject = p.Subject
		return p, nil
	})
	if err != nil {
		return Plan{}, err
	}
	if len(p.Targets) == 1 {
		p.Subject = subject
		return p, nil
	}
	p.Subject = world.Ref{}
	if p.Confirm.Level == ConfirmContext {
		p.Confirm = d.confirmDrain(&p)
	} else {
		p.Confirm = Confirm{ConfirmObjects, fmt.Sprintf("%s %d", d.opts.Context, len(p.Targets))}
	}
	return p, nil
}

// oneOf is the plan for a single one of the objects.
func (d *Desk) oneOf(ctx context.Context, s Several) (func(world.Ref) (Plan, error), error) {
	switch s.Action {
	case Hold, Drain:
		return func(r world.Ref) (Plan, error) { return d.holdOne(ctx, r, s.Action, s.Reason) }, nil
	case Resume:
		return func(r world.Ref) (Plan, error) { return d.resumeOne(ctx, r) }, nil
	case Deactivate:
		return func(r world.Ref) (Plan, error) { return d.PlanDeactivate(ctx, r, s.Reason) }, nil
	case Reactivate:
		return func(r world.Ref) (Plan, error) { return d.PlanReactivate(ctx, r, s.Reason) }, nil
	case Reprioritize:
		return func(r world.Ref) (Plan, error) { return d.PlanPriority(ctx, r, s.Class, s.Reason) }, nil
	}
	return nil, &Problem{What: fmt.Sprintf("%s is not done for several objects at once", s.Action), Do: "Do it for one after the other."}
}

// compareKinds puts ClusterQueues before LocalQueues.
func compareKinds(a, b world.Kind) int {
	if a < b {
		return -1
	}
	return 1
}
