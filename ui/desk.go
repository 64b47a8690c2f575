package ui

import (
	"context"
	"os/exec"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Source is where snapshots come from. Both methods may be called from any
// goroutine.
type Source interface {
	// Snapshot returns the cluster as it is known now; never nil.
	Snapshot() *store.Snapshot
	// Changed has one slot, which is filled when Snapshot would return another one.
	Changed() <-chan struct{}
}

// Desk does what a person asks for. All methods but May, Granted and EditorCommand may
// take their time and are called outside the drawing loop, with a deadline. An
// error may have a method Advice() string that says what to do next.
type Desk interface {
	PlanHold(ctx context.Context, ref world.Ref, drain bool, reason string) (actions.Plan, error)
	PlanResume(ctx context.Context, ref world.Ref) (actions.Plan, error)
	PlanDeactivate(ctx context.Context, workload world.Ref, why string) (actions.Plan, error)
	PlanReactivate(ctx context.Context, workload world.Ref, why string) (actions.Plan, error)
	PlanPriority(ctx context.Context, workload world.Ref, class, why string) (actions.Plan, error)
	// PlanSeveral plans one action for several objects.
	PlanSeveral(ctx context.Context, several actions.Several) (actions.Plan, error)
	// Preview returns the plan with what Kueue will do when it is carried out, and the
	// question that then fits. It blocks until that is computed, or ctx ends, and
	// calls progress meanwhile, from any goroutine.
	Preview(ctx context.Context, plan actions.Plan, progress func(impact.Progress)) actions.Plan
	PlanExport(ctx context.Context, scope actions.Scope) (actions.Plan, error)
	// OpenEdit writes the object into a private file for the editor.
	OpenEdit(ctx context.Context, ref world.Ref) (actions.Draft, error)
	// PlanEdit reads the edited file and asks the server for a dry-run.
	PlanEdit(ctx context.Context, draft actions.Draft) (actions.Plan, error)
	// RenewDraft brings the edited text together with what the object is now.
	RenewDraft(ctx context.Context, draft actions.Draft) (actions.Draft, error)
	// AnnotateDraft writes the problem as comments on top of the file.
	AnnotateDraft(draft actions.Draft, problem error) error
	// LeaveDraft leaves the file for another edit of the object.
	LeaveDraft(draft actions.Draft)
	// CloseDraft removes the file.
	CloseDraft(draft actions.Draft) error
	// EditorCommand is the person's editor on the draft's file. No I/O.
	EditorCommand(draft actions.Draft) *exec.Cmd
	// ReadFile reads a file of objects that a person named; "~" is their home.
	ReadFile(ctx context.Context, path string) (actions.File, error)
	// PlanFile plans to apply the file's objects. A *actions.Problem with Foreign set
	// names fields that others own: with File.TakeOver they are taken.
	PlanFile(ctx context.Context, file actions.File) (actions.Plan, error)
	// Execute carries out the plan if typed confirms it. Cancelling ctx stops after
	// the object under way; the result says what was done.
	Execute(ctx context.Context, plan actions.Plan, typed string) (actions.Result, error)
	Detail(ctx context.Context, ref world.Ref) (actions.Detail, error)
	// May says whether the action is worth offering and, if not, why. No I/O.
	May(ref world.Ref, action actions.Action) (ok bool, why string)
	// Granted says whether the server said that the person may patch the object; where
	// it did not, a yes of May only means that nothing is known against it. No I/O.
	Granted(ref world.Ref) bool
}
