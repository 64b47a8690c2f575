package ui

import (
	"context"
	"os/exec"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/world"
)

// fakeDesk answers as told and remembers what it was asked to do.
type fakeDesk struct {
	plan      actions.Plan
	planErr   error
	result    actions.Result
	execErr   error
	detail    actions.Detail
	detailErr error
	may       func(world.Ref, actions.Action) (bool, string)
	granted   func(world.Ref) bool

	// impact is what Preview answers, with the question that fits; computing is called
	// by it.
	impact        *impact.Result
	impactConfirm actions.Confirm
	computing     func(context.Context, func(impact.Progress))
	previewed     []actions.Plan // the plans that were to be previewed

	files    []actions.File // what was planned
	readErr  error
	fileErrs []error // of the next plans of files; then planErr

	during    func() // called by Execute
	reason    string
	drain     bool
	asked     []string // the plans for Workloads
	several   []actions.Several
	executed  []string // what was typed, for each Execute
	ran       []actions.Plan
	opened    int
	openedRef world.Ref // of the last OpenEdit
	closed    int
	renewed   int
	left      int            // drafts left behind
	leftText  *actions.Draft // an earlier text that OpenEdit finds
	renewErr  error
	notes     []string // problems written onto drafts
}

func (d *fakeDesk) PlanHold(_ context.Context, _ world.Ref, drain bool, why string) (actions.Plan, error) {
	d.reason, d.drain = why, drain
	return d.plan, d.planErr
}
func (d *fakeDesk) PlanResume(context.Context, world.Ref) (actions.Plan, error) {
	return d.plan, d.planErr
}
func (d *fakeDesk) PlanDeactivate(_ context.Context, w world.Ref, why string) (actions.Plan, error) {
	d.asked, d.reason = append(d.asked, "deactivate "+w.String()), why
	return d.plan, d.planErr
}
func (d *fakeDesk) PlanReactivate(_ context.Context, w world.Ref, _ string) (actions.Plan, error) {
	d.asked = append(d.asked, "reactivate "+w.String())
	return d.plan, d.planErr
}
func (d *fakeDesk) PlanPriority(_ context.Context, w world.Ref, class, _ string) (actions.Plan, error) {
	d.asked = append(d.asked, "priority "+class+" of "+w.String())
	return d.plan, d.planErr
}
func (d *fakeDesk) PlanSeveral(_ context.Context, x actions.Several) (actions.Plan, error) {
	d.several, d.reason = append(d.several, x), x.Reason
	return d.plan, d.planErr
}
func (d *fakeDesk) Preview(ctx context.Context, p actions.Plan, progress func(impact.Progress)) actions.Plan {
	d.previewed = append(d.previewed, p)
	if d.computing != nil {
		d.computing(ctx, progress)
	}
	p.Impact = d.impact
	if d.impactConfirm.Expects != "" {
		p.Confirm = d.impactConfirm
	}
	return p
}
func (d *fakeDesk) PlanExport(_ context.Context, s actions.Scope) (actions.Plan, error) {
	p := d.plan
	if p.Export != nil {
		x := *p.Export
		x.Scope = s
		p.Export = &x
	}
	return p, d.planErr
}
func (d *fakeDesk) OpenEdit(_ context.Context, r world.Ref) (actions.Draft, error) {
	d.opened++
	d.openedRef = r
	return actions.Draft{Target: actions.Target{Ref: r}, Path: "/tmp/draft.yaml", Left: d.leftText}, nil
}
func (d *fakeDesk) PlanEdit(context.Context, actions.Draft) (actions.Plan, error) {
	return d.plan, d.planErr
}
func (d *fakeDesk) RenewDraft(_ context.Context, x actions.Draft) (actions.Draft, error) {
	d.renewed++
	return x, d.renewErr
}
func (d *fakeDesk) AnnotateDraft(_ actions.Draft, err error) error {
	d.notes = append(d.notes, err.Error())
	return nil
}
func (d *fakeDesk) LeaveDraft(actions.Draft)                { d.left++ }
func (d *fakeDesk) CloseDraft(actions.Draft) error          { d.closed++; return nil }
func (d *fakeDesk) EditorCommand(x actions.Draft) *exec.Cmd { return exec.Command("editor", x.Path) }
func (d *fakeDesk) Detail(context.Context, world.Ref) (actions.Detail, error) {
	return d.detail, d.detailErr
}
func (d *fakeDesk) Execute(_ context.Context, p actions.Plan, typed string) (actions.Result, error) {
	if d.during != nil {
		d.during()
	}
	d.executed, d.ran = append(d.executed, typed), append(d.ran, p)
	return d.result, d.execErr
}
func (d *fakeDesk) May(r world.Ref, a actions.Action) (bool, string) {
	if d.may != nil {
		return d.may(r, a)
	}
	return true, ""
}

func (d *fakeDesk) Granted(r world.Ref) bool { return d.granted != nil && d.granted(r) }
