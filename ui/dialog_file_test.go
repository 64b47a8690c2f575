package ui

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/world"
)

func (d *fakeDesk) ReadFile(_ context.Context, path string) (actions.File, error) {
	return actions.File{Name: filepath.Base(path), Path: path}, d.readErr
}
func (d *fakeDesk) PlanFile(_ context.Context, f actions.File) (actions.Plan, error) {
	d.files = append(d.files, f)
	if len(d.fileErrs) > 0 {
		err := d.fileErrs[0]
		d.fileErrs = d.fileErrs[1:]
		if err != nil {
			return actions.Plan{}, err
		}
	}
	return d.plan, d.planErr
}

// filePlan is the plan of a file of two objects.
func filePlan() actions.Plan {
	p := editPlan()
	p.Action = actions.ApplyFile
	p.Targets = append(p.Targets, actions.Target{Ref: world.Ref{Kind: world.KindLocalQueue, Key: world.Key{Namespace: "team-a", Name: "batch"}}, Method: actions.Create, Change: "is made"})
	p.Targets[0].Change, p.Subject = "as in the difference", p.Targets[0].Ref
	p.Notes = []string{"2 objects, written one after the other.", "stopPolicy in the text was set aside."}
	p.Confirm = actions.Confirm{Level: actions.ConfirmName, Expects: "team-a-cq"}
	return p
}

// foreign is the problem of a file of which others own two fields.
func foreign() error {
	cq := world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: "team-a-cq"}}
	return &actions.Problem{What: "fields of the file belong to others", Do: "apply with --take-over", Conflict: true, Foreign: []actions.Foreign{
		{Ref: cq, Field: ".spec.cohortName", Manager: "argocd-controller"}, {Ref: cq, Field: ".spec.preemption.reclaimWithinCohort", Manager: "kubectl-edit\x1b[2J"},
	}}
}

// taking is the plan with those taken over.
func taking() actions.Plan {
	p := filePlan()
	p.Notes = append([]string{actions.TakesOver + ` ClusterQueue/team-a-cq .spec.cohortName, which "argocd-controller" owns, which may write it again.`}, p.Notes...)
	p.Targets[0].Force = true
	return p
}

func TestApplyAFile(t *testing.T) {
	s := begin(t, 120, 40)
	s.desk.plan = filePlan()
	s.desk.result = actions.Result{Action: actions.ApplyFile, JournalID: "j-1", Objects: []actions.ObjectResult{
		{Ref: filePlan().Targets[0].Ref, Outcome: actions.Refused, Detail: "the spec of ClusterQueue/team-a-cq changed since the plan was made",
			Meanwhile: []actions.Field{{Path: "spec.queueingStrategy", Was: "BestEffortFIFO", Now: "StrictFIFO", Yours: "BestEffortFIFO"}}},
		{Ref: filePlan().Targets[1].Ref, Outcome: actions.NotDone, Detail: "not attempted: stopped before it"},
	}}
	s.press(":").typeText("apply ~/Fix/q.yaml").sees("apply FILE").press("enter")
	s.sees("Apply 2 objects", "FILE      ~/Fix/q.yaml", "as in the difference", "is made", "stopPolicy in the text was set aside", "+        nominalQuota: 4", "Type team-a-cq to apply:")
	s.typeText("team-a-cq").press("enter").sees("Type team-a-cq to apply: ▏") // typed too early
	s.pass(time.Second)
	s.send(paste("team-a-cq"))
	s.press("enter").sees("Not done")
	s.typeText("team-a-cq").press("enter").sees("NOT ALL DONE", "refused: the spec of ClusterQueue/team-a-cq changed", "is now  StrictFIFO", "not done: not attempted", "p: plan again what is not done")
	if d := cmp.Diff([]string{"team-a-cq"}, s.desk.executed); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	s.press("p").sees("NOT ALL DONE") // in the grace of the result
	s.pass(time.Second)
	s.press("p").sees("Type team-a-cq to apply:")
	s.press("esc").sees("Nothing is changed.")
	want := []actions.File{{Name: "q.yaml", Path: "~/Fix/q.yaml"}, {Name: "q.yaml", Path: "~/Fix/q.yaml"}}
	if d := cmp.Diff(want, s.desk.files); d != "" || len(s.desk.executed) != 1 {
		t.Errorf("executed %d times, planned (-want +got):\n%s", len(s.desk.executed), d)
	}
}

// The key asks for the file; what is done says so, and there is nothing to plan again.
func TestApplyByItsKey(t *testing.T) {
	s := begin(t, 120, 40)
	s.desk.plan, s.desk.result = filePlan(), done(filePlan())
	s.press("A").sees("Apply a file", "Which file?").press("enter").sees("type something first")
	s.typeText("/tmp/q.yaml").press("enter").sees("Apply 2 objects")
	s.pass(time.Second)
	s.typeText("team-a-cq").press("enter").sees("Apply 2 objects: done").seesNot("plan again")
}

// What is told about a file's plan that Kueue's scheduler has a word on.
func TestApplyShowsWhatKueueWillDo(t *testing.T) {
	s := begin(t, 120, 40)
	s.desk.plan, s.desk.impact = policyPlan(), burst(s.store.Snapshot())
	s.desk.plan.Action = actions.ApplyFile
	s.press(":").typeText("apply q.yaml").press("enter").sees("PREEMPTS 3 to 5", "FILE      q.yaml")
	s.press("ctrl+p").sees("PREEMPTS 3 to 5", "FILE      q.yaml")
}

func TestFilesThatCannotBeApplied(t *testing.T) {
	for name, c := range map[string]struct {
		read, plan error
		sees       []string
	}{
		"missing":  {read: &actions.Problem{What: "there is no file /tmp/q.yaml\x1b[2J", Do: "Look at how it is written."}, sees: []string{`there is no file /tmp/q.yaml\x1b[2J`, "Look at how it is written.", "f: another file"}},
		"invalid":  {plan: &actions.Problem{What: "spec is not a map", Do: "Correct it and try again.", Rejected: true}, sees: []string{"spec is not a map", "Correct it", "p: read it and plan again"}},
		"so alike": {plan: fmt.Errorf("%w. stopPolicy in the text was set aside.", actions.ErrNoChange), sees: []string{"there is nothing to apply", "stopPolicy in the text was set aside."}},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 100, 30)
			s.desk.readErr, s.desk.planErr, s.desk.plan = c.read, c.plan, filePlan()
			s.press(":").typeText("apply /tmp/q.yaml").press("enter").sees(c.sees...).sees("Nothing is changed.")
			s.pass(time.Second)
			s.desk.readErr, s.desk.planErr = nil, nil
			switch name {
			case "missing":
				s.press("f").sees("Which file?", "/tmp/q.yaml▏").press("enter").sees("Type team-a-cq to apply:")
			case "invalid":
				s.press("p").sees("Type team-a-cq to apply:")
			}
			if s.press("esc"); s.root.dialog() != nil {
				t.Errorf("not closed:\n%s", s.frame())
			}
			if len(s.desk.executed) != 0 {
				t.Error("executed")
			}
		})
	}
}

func TestWhyNoFileIsApplied(t *testing.T) {
	s := begin(t, 120, 40)
	s.root.opt.ReadOnly = true
	s.press("A").sees("apply: started with --read-only")
	s.press(":").sees("apply FILE  not now: started with --read-only").typeText("apply x").press("enter").sees("apply FILE: started with --read-only", "Go to")
	s.press("esc", "?").sees("(not now: started with --read-only)")
	s = begin(t, 120, 40)
	s.desk.may = func(world.Ref, actions.Action) (bool, string) { return false, "this is a file" }
	s.press("A").sees("apply: this is a file")
}

// A name that only begins like a command is still gone to first.
func TestCommandsStandAsideForNames(t *testing.T) {
	s := begin(t, 100, 30)
	s.store.Put(clusterQueue("apollo-cq", "", 1))
	s.refresh()
	s.press(":").typeText("ap").sees("apply FILE").press("enter").sees("Queues › apollo-cq")
	s.press(":").sees("apply FILE").typeText("APPLY").press("enter").sees("Which file?")
}

func TestTakeOver(t *testing.T) {
	s := begin(t, 120, 40)
	s.desk.plan, s.desk.fileErrs = taking(), []error{foreign()}
	s.press(":").typeText("apply q.yaml").press("enter")
	s.sees("Apply q.yaml: 2 fields of others", ".spec.cohortName  owned by argocd-controller", `owned by kubectl-edit\x1b[2J`, "T: take them over (asks first)").seesNot("--take-over")
	s.press("T").sees("2 fields of others") // typed before it could be read
	s.pass(time.Second)
	s.press("T").sees("TAKE OVER 2 fields?", "argocd-controller", `Type "take over" and Enter`)
	s.typeText("take over").press("enter").sees("TAKE OVER 2 fields?") // too early
	s.pass(time.Second)
	s.press("enter").sees("Not done: type take over first")
	s.send(paste("take over"))
	s.press("enter").sees("TAKE OVER 2 fields?")
	if len(s.desk.files) != 1 {
		t.Fatalf("planned %d times before the words were typed", len(s.desk.files))
	}
	s.typeText("take over").press("enter").sees("TAKES     ClusterQueue/team-a-cq .spec.cohortName", "Type team-a-cq to apply and TAKE OVER 1 field:")
	s.pass(time.Second)
	s.press("enter").sees("Not done: type team-a-cq")
	if d := cmp.Diff([]actions.File{{Name: "q.yaml", Path: "q.yaml"}, {Name: "q.yaml", Path: "q.yaml", TakeOver: true}}, s.desk.files); d != "" || len(s.desk.executed) != 0 {
		t.Errorf("executed %d times (-want +got):\n%s", len(s.desk.executed), d)
	}
	// What was not done is planned again without: the fields may be others by then.
	s.desk.result = actions.Result{Objects: []actions.ObjectResult{{Ref: taking().Targets[0].Ref, Outcome: actions.Refused, Detail: "moved"}}}
	s.typeText("team-a-cq").press("enter").sees("moved")
	s.pass(time.Second)
	s.desk.fileErrs = []error{foreign()}
	s.press("p").sees("2 fields of others")
	if s.desk.files[2].TakeOver {
		t.Error("taken over again without a word")
	}
}

func TestTakingOverIsNoByDefault(t *testing.T) {
	for _, keys := range [][]string{{"esc"}, {"enter"}, {"q"}, {"T", "esc"}, {"p", "esc"}} {
		s := begin(t, 80, 24)
		s.desk.plan, s.desk.fileErrs = taking(), []error{foreign(), foreign()}
		s.press(":").typeText("apply q.yaml").press("enter")
		for _, k := range keys {
			s.pass(time.Second)
			s.press(k)
		}
		if s.sees("Nothing is changed."); len(s.desk.executed) != 0 || s.desk.files[len(s.desk.files)-1].TakeOver {
			t.Errorf("%v: %+v", keys, s.desk.files)
		}
	}
}

// The dry-run of a session offers it the same way, and is made again with it.
func TestTakeOverInASession(t *testing.T) {
	s, k := withSessions(t, 120, 40)
	s.onTeamA().press("S", "enter")
	for _, n := range []rollback.Name{rollback.Hold, rollback.Export, rollback.Fix, rollback.Evidence} {
		k.over(n, rollback.Done, "x")
	}
	k.s.Fix = &rollback.File{Name: "q.yaml"}
	s.pass(time.Second)
	k.err = foreign()
	s.press("home", "down", "down", "down", "down", "enter").sees("2 fields of others", "owned by argocd-controller")
	s.pass(time.Second)
	s.press("T").sees("The fix stays in the session")
	s.pass(time.Second)
	s.typeText("take over").press("enter").sees("dry-run is done.")
	if d := cmp.Diff([]string{"prepare dry-run", "take over", "prepare dry-run"}, k.calls[1:]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
