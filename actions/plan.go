// Package actions is the only part of holdfast that writes to a cluster. Every
// change goes the same way: a Plan says what will happen and is read-only; a
// person confirms it; Execute does exactly that under preconditions; Verify
// watches until Kueue has taken it up; the journal has a line before and after.
package actions

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/world"
)

// Action is what a plan does.
type Action string

// The actions.
const (
	Hold   Action = "hold"
	Drain  Action = "drain"
	Resume Action = "resume"
	Edit   Action = "edit"
	// ApplyFile is the change of any number of objects from a file.
	ApplyFile Action = "apply"
	Export    Action = "export"
	// Deactivate and Reactivate set spec.active of a Workload; Reprioritize sets the
	// label of its job from which Kueue takes its priority.
	Deactivate   Action = "deactivate"
	Reactivate   Action = "reactivate"
	Reprioritize Action = "reprioritize"
)

// Level is how much a person must type to confirm, growing with the blast
// radius.
type Level uint8

// The levels.
const (
	// ConfirmYes asks for y: one object, nobody evicted or preempted.
	ConfirmYes Level = iota
	// ConfirmName asks for the object's name: several objects, or somebody is
	// evicted or may be preempted.
	ConfirmName
	// ConfirmContext asks for the context's name and the number of Workloads: a
	// drain.
	ConfirmContext
	// ConfirmObjects asks for the context's name and the number of objects: several of
	// them in a context that is marked as production.
	ConfirmObjects
)

// Confirm is the question at the end of a plan. The default is always No.
type Confirm struct {
	Level Level
	// Expects is exactly what must be typed: "y", a name, or "context count".
	Expects string
}

// Accepts reports whether typed confirms the plan.
func (c Confirm) Accepts(typed string) bool { return c.Expects != "" && typed == c.Expects }

// Method is how a target is written.
type Method uint8

// The methods.
const (
	// MergePatch: Patch is a JSON merge patch. It is sent as a JSON patch that tests
	// what the plan rests on.
	MergePatch Method = iota
	// Apply: Patch is the object as the file has it, for server-side apply.
	Apply
	// Create: Patch is the object, which is not there yet.
	Create
)

// Target is one object that a plan changes, as it was when the plan was made.
type Target struct {
	Ref world.Ref
	// API is how the object is addressed; zero: as Kueue's kind of that name.
	API        schema.GroupVersionResource
	Generation int64
	// ResourceVersion is that of the object which the plan was made from.
	ResourceVersion string
	// Patch is what is sent, by Method. Empty when nothing is written to this object.
	Patch  []byte
	Method Method
	// Force takes fields over from their owners (Apply).
	Force bool
	// Base is the server's JSON of the object which the plan was made from; empty for
	// one that is made.
	Base []byte
	// After is the server's JSON of what its dry-run made of the object.
	After []byte
	// Labels and Annotations are those of the object which the plan was made from.
	Labels, Annotations map[string]string
	// HoldBefore is the raw value of the hold annotation when planned; "" for none.
	HoldBefore string
	// Change says in words what becomes of the object ("stopPolicy None -> Hold").
	Change string
	// Follows is set where it is the Workload of the object that shows whether Kueue has
	// taken the change up.
	Follows *Follow
}

// Follow is the priority that Kueue is to give a Workload because of a change of its
// job: that of a WorkloadPriorityClass.
type Follow struct {
	Workload world.Ref
	Class    string
	Value    int32
}

// Affected is a Workload that a plan touches, with what becomes of it.
type Affected struct {
	Ref      world.Ref
	Job      string // name of the owner job
	Priority int32
	Uses     []world.Use
	Note     string
}

// Plan is everything that a person must see before saying yes, and everything
// that Execute needs. A Plan is a value: a dialog holds it, and what is executed
// is that plan and never "the current row".
type Plan struct {
	Action  Action
	Context string // kubeconfig context
	Server  string
	User    string
	// Subject is what the person chose: the object itself, or the cohort of the
	// objects.
	Subject world.Ref
	Targets []Target
	// RunsOn, LosesReservation, StaysPending and Evicts sort the Workloads of the
	// targets by what becomes of them. After a resume StaysPending are the ones
	// that will be tried again.
	RunsOn, LosesReservation, StaysPending, Evicts []Affected
	// Incomplete says why the lists above may lack Workloads; empty: they are whole.
	Incomplete string
	// Diff is a unified diff of the live object against the server's dry-run
	// result, one line an entry.
	Diff []string
	// Notes are facts that the person should weigh, most important first.
	Notes []string
	// Warnings are the API server's own words.
	Warnings []string
	// Unknown lists what could not be found out and matters.
	Unknown []string
	// Edits are the objects as Kueue's scheduler will read them once the plan is
	// carried out, and Impact what it will do then; nil: it is not computed (Preview).
	Edits   []impact.Edit
	Impact  *impact.Result
	Confirm Confirm
	// Reason is the person's own why; it goes into the hold record and journal.
	Reason string
	// Session is the ticket of the rollback session that the plan is a step of
	// (session.Ticket); empty for most.
	Session string
	// Undoes is the ID of the journal's entry that the plan takes back; empty for most.
	Undoes string
	// Export is set for Export plans only.
	Export *ExportPlan
}

// ExportPlan says what an export will contain and where it goes.
type ExportPlan struct {
	Scope Scope
	Path  string // absolute; must not exist
	Count int    // Workloads known now
	// IncludePodEnv keeps env values and args; otherwise they are redacted.
	IncludePodEnv bool
}

// Scope selects Workloads.
type Scope = bundle.Scope

// Outcome is what became of one object of a plan.
type Outcome string

// The outcomes.
const (
	Done    Outcome = "done"
	NotDone Outcome = "notDone"
	// OutcomeUnknown: the request went out and no answer came back.
	OutcomeUnknown Outcome = "unknown"
	Refused        Outcome = "refused"
)

// ObjectResult is what became of one target.
type ObjectResult struct {
	Ref     world.Ref
	Outcome Outcome
	// Detail is one sentence: what was seen, or what to do next.
	Detail string
	// Verified is set when Kueue was seen to have taken up the change.
	Verified bool
	// Meanwhile is what somebody changed since the plan was made, beside what the plan
	// changes, where that is why nothing was written.
	Meanwhile []Field
	// SHA256 is the checksum of the file that an export wrote, as hex digits; empty for
	// all else.
	SHA256 string
	// Tries is how often the write was sent: more than once where the server refused it
	// because the object had moved in what the plan does not rest on. 0: never.
	Tries int
	// Unverifiable is set on objects on which Kueue reports nothing that would show
	// it: that it was stored is all that can be known.
	Unverifiable bool
}

// Result is the outcome of Execute.
type Result struct {
	Action    Action
	Objects   []ObjectResult
	JournalID string
}

// OK reports whether every object is done, and verified where that is possible.
func (r Result) OK() bool {
	for _, o := range r.Objects {
		if o.Outcome != Done || !o.Verified && !o.Unverifiable {
			return false
		}
	}
	return len(r.Objects) > 0
}
