package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/compare"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Desk is what a session has done; *actions.Desk is one.
type Desk interface {
	PlanHold(ctx context.Context, ref world.Ref, drain bool, reason string) (actions.Plan, error)
	PlanResume(ctx context.Context, ref world.Ref) (actions.Plan, error)
	PlanExport(ctx context.Context, scope actions.Scope) (actions.Plan, error)
	PlanFile(ctx context.Context, f actions.File) (actions.Plan, error)
	Preview(ctx context.Context, p actions.Plan, progress func(impact.Progress)) actions.Plan
	Execute(ctx context.Context, p actions.Plan, typed string) (actions.Result, error)
}

// Runner does the steps of sessions. Its methods block for the disk and the API server,
// and may be called from any goroutine.
type Runner struct {
	Desk  Desk
	Store *Store
	// World returns the latest snapshot; it must not block.
	World func() *store.Snapshot
	// Verify reads the bundle of the path to its end; Compare holds it against the
	// cluster. Both return what they read.
	Verify  func(path string) (Exported, error)
	Compare func(ctx context.Context, path string) (compare.Result, Exported, error)
	// Who names the person, Now the time.
	Who func() string
	Now func() time.Time
	// Namespace is that of objects in a fix that name none.
	Namespace string
}

// Prepared is a step that is ready to be done: the plan to be confirmed, or, where
// there is nothing to write, what came of it already.
type Prepared struct {
	Step Name
	// Plan is nil where nothing is to be written.
	Plan *actions.Plan
	// Detail, Lines and Kept are the outcome where Plan is nil.
	Detail string
	Lines  []string
	Kept   *bool
}

// Prepare plans the step and changes nothing, neither in the cluster nor on disk. It
// fails with a *actions.Problem when the step cannot be done now.
func (r *Runner) Prepare(ctx context.Context, s Session, n Name) (Prepared, error) {
	if err := s.May(n); err != nil {
		return Prepared{}, err
	}
	out := Prepared{Step: n}
	switch n {
	case Hold:
		if held, all, names := r.held(s.Target); r.unread(s.Target) == nil && all > 0 && held == all {
			out.Detail = "nothing to do: held already: " + strings.Join(names, ", ")
			return out, nil
		}
		return out.planned(r.Desk.PlanHold(ctx, s.Target.Ref(), false, s.why()))
	case Export:
		return s.because(out.planned(r.Desk.PlanExport(ctx, s.Target.Scope())))
	case DryRun, Apply:
		p, err := r.Desk.PlanFile(ctx, s.file(r.Namespace))
		if errors.Is(err, actions.ErrNoChange) {
			out.Detail = "nothing to do: everything in the fix is so already"
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if n == DryRun {
			p = r.Desk.Preview(ctx, p, nil)
			out.Detail, out.Lines = told(p)
			return out, nil
		}
		return s.because(out.planned(p, nil))
	case Resume:
		if held, all, _ := r.held(s.Target); r.unread(s.Target) == nil && all > 0 && held == 0 {
			out.Detail = "nothing to do: no queue of it is held"
			return out, nil
		}
		return s.because(out.planned(r.Desk.PlanResume(ctx, s.Target.Ref())))
	case Compare:
		return r.compared(ctx, s, out)
	}
	return out, &actions.Problem{What: fmt.Sprintf("%s needs what a person says", n), Do: "Attach a file to fix, and attest the evidence."}
}

func (p Prepared) planned(plan actions.Plan, err error) (Prepared, error) {
	p.Plan = &plan
	return p, err
}

// because gives the plan the session's reason, which is to stand in the journal.
func (s *Session) because(p Prepared, err error) (Prepared, error) {
	if p.Plan != nil && p.Plan.Reason == "" {
		p.Plan.Reason = s.why()
	}
	return p, err
}

// why is the reason that stands in the hold's record.
func (s *Session) why() string {
	return strings.TrimSpace(s.Reason + " (session " + s.ID + ")")
}

func (s *Session) file(namespace string) actions.File {
	return actions.File{Name: s.Fix.Name, Content: []byte(s.Fix.Text), Namespace: namespace, TakeOver: s.TakeOver}
}

// held counts the target's queues that are stopped, names them, and counts all.
func (r *Runner) held(t Target) (held, all int, names []string) {
	s := r.World()
	one := func(name string, p world.StopPolicy, record *world.HoldRecord) {
		all++
		if p.Stopped() {
			held++
			if record != nil && record.By != "" {
				name += " by " + record.By
			}
			names = append(names, name)
		}
	}
	switch t.Kind {
	case world.KindLocalQueue:
		if q := s.LocalQueue(world.Key{Namespace: t.Namespace, Name: t.Name}); q != nil {
			one(q.Key.String(), q.StopPolicy, q.Hold)
		}
	case world.KindClusterQueue:
		if q := s.ClusterQueue(t.Name); q != nil {
			one(q.Name, q.StopPolicy, q.Hold)
		}
	default:
		for _, ref := range actions.QueuesBelow(s, t.Name) {
			if q := s.ClusterQueue(ref.Name); q != nil {
				one(q.Name, q.StopPolicy, q.Hold)
			}
		}
	}
	return held, all, names
}

// unread says why it is not known which of the target's queues are held; nil: it is.
func (r *Runner) unread(t Target) error { return actions.Unread(r.World(), t.Ref()) }

// told puts a plan with its preview into a sentence and lines.
func told(p actions.Plan) (string, []string) {
	var lines []string
	for _, t := range p.Targets {
		lines = append(lines, fmt.Sprintf("%s: %s", t.Ref, t.Change))
	}
	lines = append(lines, p.Diff...)
	lines = append(lines, p.Warnings...)
	detail := fmt.Sprintf("objects that the server takes: %d", len(p.Targets))
	switch {
	case p.Impact == nil:
		detail += "; what Kueue will do is not computed"
	case p.Impact.NotComputed != "":
		detail += "; what Kueue will do is not computed: " + p.Impact.NotComputed
	default:
		i := p.Impact
		detail += fmt.Sprintf("; %d would be preempted, %d evicted, %d admitted", len(i.Preempted), len(i.Evicted), len(i.Admitted))
		for _, x := range i.Preempted {
			lines = append(lines, fmt.Sprintf("preempted%s: %s by %s (%s)", unless(x.Certain), x.Victim.Ref, x.Preemptor.Ref, x.Reason))
		}
		for _, x := range i.Evicted {
			lines = append(lines, fmt.Sprintf("evicted%s: %s (%s)", unless(x.Certain), x.Workload.Ref, x.Reason))
		}
	}
	lines = append(lines, p.Unknown...)
	return detail, cleaned(lines)
}

func unless(certain bool) string {
	if certain {
		return ""
	}
	return ", depending on timing"
}

// mostLines bounds what is kept of one step.
const mostLines = 2_000

func cleaned(lines []string) []string {
	var out []string
	for _, l := range lines {
		if len(out) == mostLines-1 && len(lines) > mostLines {
			return append(out, fmt.Sprintf("and %d lines more", len(lines)-len(out)))
		}
		out = append(out, text.Clean(l))
	}
	return out
}

// compared runs the comparison.
func (r *Runner) compared(ctx context.Context, s Session, out Prepared) (Prepared, error) {
	c, read, unread := r.Compare(ctx, s.Bundle)
	err := unread
	if err == nil {
		err = s.owns(read.Manifest)
	}
	if err != nil {
		return out, &actions.Problem{What: "the export cannot be held against the cluster: " + text.Clean(err.Error()), Do: "If it is on another machine, copy it here and name it with --bundle.", Err: unread}
	}
	if err := s.Other(s.Bundle, read.SHA256); err != nil {
		return out, err
	}
	// That specs changed is what a rollback is for.
	harmed := len(c.Evicted)+len(c.Readmitted)+len(c.Stopped)+len(c.Lost) > 0
	if len(c.Unknown) > 0 && !harmed {
		return out, &actions.Problem{What: "what is unknown cannot be compared: " + strings.Join(c.Unknown, "; "), Do: "Try again once it is read."}
	}
	kept := !harmed
	out.Kept = &kept
	if s.BundleSHA256 == "" {
		out.Lines = append(out.Lines, unknownSum)
	}
	for _, u := range c.Unknown {
		out.Lines = append(out.Lines, "unknown: "+u)
	}
	out.Detail = fmt.Sprintf("%d as they were (%d running on), %d evicted, %d evicted and admitted again, %d lost, %d deactivated, %d started, %d finished, %d new, %d specs changed",
		len(c.Same), c.Running, len(c.Evicted), len(c.Readmitted), len(c.Lost), len(c.Stopped), len(c.Started), len(c.Finished), len(c.New), len(c.Specs))
	for _, l := range []struct {
		word string
		list []compare.Change
	}{{"lost", c.Lost}, {"evicted", c.Evicted}, {"admitted again", c.Readmitted}, {"deactivated", c.Stopped}} {
		for _, x := range l.list {
			out.Lines = append(out.Lines, fmt.Sprintf("%s: %s (job %s): %s", l.word, x.Ref.Key, x.Job, x.Note))
		}
	}
	for _, x := range c.Specs {
		out.Lines = append(out.Lines, "spec of "+x.Object+": "+x.Note)
		out.Lines = append(out.Lines, x.Diff...)
	}
	out.Lines = cleaned(out.Lines)
	return out, nil
}

// Do does a prepared step: what is to be written is executed if typed confirms its
// plan. The session is on disk before anything is written and after: where that fails,
// nothing is done. It returns the session as it is then, and the result of the
// execution, if there was one. The session is locked meanwhile; that somebody else did
// something since it was loaded is a *actions.Problem.
func (r *Runner) Do(ctx context.Context, s Session, p Prepared, typed string) (Session, *actions.Result, error) {
	unlock, err := r.Store.Lock(s.ID)
	if err != nil {
		return s, nil, err
	}
	defer func() { _ = unlock() }() // it ends with the process at the latest
	if err := r.same(s); err != nil {
		return s, nil, err
	}
	if err := s.May(p.Step); err != nil {
		return s, nil, err
	}
	if p.Plan != nil && !p.Plan.Confirm.Accepts(typed) {
		return s, nil, &actions.Problem{What: fmt.Sprintf("not confirmed: %q was expected", p.Plan.Confirm.Expects), Do: "Nothing was changed."}
	}
	s = s.copy()
	s.begin(p.Step, r.Who(), r.Now())
	if p.Plan != nil && p.Plan.Export != nil {
		s.EarlierBundle, s.EarlierBundleSHA256 = s.Bundle, s.BundleSHA256
		s.Bundle, s.BundleSHA256 = p.Plan.Export.Path, ""
	}
	if err := r.Store.Save(s); err != nil {
		return s, nil, unsaved(err)
	}
	if p.Plan == nil {
		x := s.Step(p.Step)
		x.Lines = p.Lines
		if p.Step == Compare {
			s.Kept = p.Kept
		}
		r.end(&s, p.Step, Done, p.Detail)
		return s, nil, r.Store.Save(s)
	}
	res, err := r.Desk.Execute(ctx, *p.Plan, typed)
	if err != nil {
		r.end(&s, p.Step, Failed, err.Error())
		return s, nil, errors.Join(err, r.Store.Save(s))
	}
	r.finish(&s, p.Step, res)
	return s, &res, r.Store.Save(s)
}

// finish writes the result of an execution into the step.
func (r *Runner) finish(s *Session, n Name, res actions.Result) {
	x := s.Step(n)
	x.JournalID = res.JournalID
	done, open := 0, false
	for _, o := range res.Objects {
		x.Lines = append(x.Lines, text.Clean(fmt.Sprintf("%s: %s. %s", o.Ref, o.Outcome, o.Detail)))
		open = open || o.Outcome == actions.OutcomeUnknown
		if o.Outcome == actions.Done {
			done++
		}
	}
	state, detail := Done, fmt.Sprintf("%d of %d objects are done", done, len(res.Objects))
	switch {
	case open:
		// As after an interruption: it is read from the cluster before anything goes on.
		state, detail = Running, "no answer came back: what became of it is read from the cluster"
	case done < len(res.Objects):
		state = Failed
	case !res.OK():
		detail += ", but Kueue was not seen to have taken all of them up"
	}
	if len(res.Objects) == 1 && !open {
		detail = res.Objects[0].Detail
	}
	if n == Export && state == Done {
		s.BundleSHA256 = res.Objects[0].SHA256
	}
	r.end(s, n, state, detail)
}

// end marks what came of a step that was done here.
func (r *Runner) end(s *Session, n Name, state State, detail string) {
	now := r.Now()
	s.end(n, state, detail, now)
	s.did(n, now)
	r.close(s)
}
