package ui

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/world"
)

func begin(t *testing.T, w, h int) *stage {
	t.Helper()
	st, c := scene()
	return newStage(t, st, c, w, h)
}

func done(p actions.Plan) actions.Result {
	return actions.Result{Action: p.Action, JournalID: "j-1", Objects: []actions.ObjectResult{{Ref: p.Targets[0].Ref, Outcome: actions.Done, Verified: true}}}
}

func TestHoldAQueue(t *testing.T) {
	s := begin(t, 100, 30)
	s.desk.plan = holdPlan()
	s.desk.result = done(holdPlan())

	s.onTeamA().press("H").sees("Hold ClusterQueue team-a-cq", "Why?")
	s.typeText("bad quota").press("enter").sees("Type team-a-cq to hold:", "1 Workload loses its reservation at once", "prod-eu")
	if s.desk.reason != "bad quota" || s.desk.drain {
		t.Errorf("planned with reason %q, drain %v", s.desk.reason, s.desk.drain)
	}
	s.typeText("team-a-cq").press("enter") // typed too early: not for this dialog
	s.sees("Type team-a-cq to hold: ▏")
	s.pass(500 * time.Millisecond)
	s.press("enter").sees("Not done: type team-a-cq first")
	s.send(paste("team-a-cq"))
	s.press("enter")
	if len(s.desk.executed) != 0 {
		t.Fatal("confirmed by pasted text")
	}
	s.typeText("team-a").press("enter").sees("Not done")
	s.typeText("-cq").press("enter").sees("done, and seen to be taken up", "j-1")
	if diff := cmp.Diff([]string{"team-a-cq"}, s.desk.executed); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]actions.Plan{holdPlan()}, s.desk.ran); diff != "" {
		t.Errorf("another plan was executed than the one that was shown: %s", diff)
	}
	s.press("enter").sees("done, and seen") // still in the grace of the result
	s.pass(time.Second)
	s.press("enter").cursorOn("team-a-cq")
}

func TestEscapeChangesNothing(t *testing.T) {
	s := begin(t, 100, 30)
	s.desk.plan = holdPlan()
	s.onTeamA().press("H", "esc").sees("Nothing is changed.").cursorOn("team-a-cq")
	s.press("H", "enter")
	s.pass(time.Second)
	s.typeText("team-a-cq").press("esc").sees("Nothing is changed.")
	if len(s.desk.executed) != 0 {
		t.Error("executed")
	}
}

func TestLatePlanIsDropped(t *testing.T) {
	s := begin(t, 100, 30)
	s.desk.plan = holdPlan()
	s.onTeamA().press("H")
	s.held = true
	s.press("enter").sees("Looking at who would be affected")
	s.press("esc").sees("Nothing is changed.")
	s.release()
	if s.root.dialog() != nil {
		t.Errorf("a plan that nobody waits for opened a dialog:\n%s", s.frame())
	}
}

func TestFailureSaysWhatToDo(t *testing.T) {
	s := begin(t, 100, 30)
	s.desk.planErr = advised{errors.New("cannot patch clusterqueues (403)\x1b[2J"), "ask a platform admin for the right to patch it"}
	s.onTeamA().press("H", "enter").sees("cannot patch clusterqueues (403)\\x1b[2J", "ask a platform admin", "Nothing is changed.")
	s.press("esc").cursorOn("team-a-cq")
}

type advised struct {
	error
	advice string
}

func (a advised) Advice() string { return a.advice }

func TestReadOnly(t *testing.T) {
	s := begin(t, 100, 30)
	s.sees(" WRITE ")
	s.root.opt.ReadOnly = true
	s.sees("READ-ONLY").onTeamA()
	for _, k := range []string{"H", "D", "R", "e"} {
		s.press(k).sees("started with --read-only")
		if s.root.dialog() != nil {
			t.Errorf("%s opened a dialog", k)
		}
	}
	s.seesNot(" WRITE ")
}

func TestDisabledSaysWhy(t *testing.T) {
	s := begin(t, 100, 30)
	for range 7 {
		s.press("down")
	}
	s.cursorOn("loop-a").press("R").sees("resume: no ClusterQueue below loop-a was held with holdfast")
	if s.press("g").press("R"); s.root.dialog() == nil { // team-c-cq below it was
		t.Error("no plan for ai-shared")
	}
	s.press("esc")
	s.onTeamA().press("R").sees("resume: team-a-cq is not held")
	s.desk.may = func(world.Ref, actions.Action) (bool, string) {
		return false, "you may not patch clusterqueues"
	}
	s.press("H").sees("hold: you may not patch clusterqueues")
	s.press("down").seesNot("you may not")
}

func TestEditRefusedAndDoneAgain(t *testing.T) {
	s := begin(t, 100, 30)
	s.desk.planErr = &actions.Problem{What: "spec.x: Invalid value\nspec.y: Required", Rejected: true}
	s.onTeamA().press("e").sees("This edit is refused", "spec.x: Invalid value", "spec.y: Required")
	s.desk.planErr, s.desk.plan, s.desk.result = nil, editPlan(), done(editPlan())
	s.press("e").sees("dry-run result (validation only)", "+        nominalQuota: 4")
	if s.edited != 2 || s.desk.opened != 1 {
		t.Errorf("the editor ran %d times on %d drafts", s.edited, s.desk.opened)
	}
	if diff := cmp.Diff([]string{"spec.x: Invalid value\nspec.y: Required"}, s.desk.notes); diff != "" {
		t.Error(diff)
	}
	s.pass(time.Second)
	s.press("y", "enter").sees("done, and seen to be taken up")
	if s.desk.closed != 1 {
		t.Errorf("the draft was closed %d times", s.desk.closed)
	}
}

// Not every failure is a refusal, and the title must not claim one.
func TestWhatWentWrongWithAnEdit(t *testing.T) {
	tests := map[string]struct {
		err   error
		title string
		stays bool // the person's text stays in its file
	}{
		"nothing was edited":      {actions.ErrNoChange, "There is nothing to apply", false},
		"a colleague was faster":  {&actions.Problem{What: "the spec changed", Conflict: true}, "The object changed while you edited", true},
		"the server is not there": {errors.New("connection refused"), "There is no dry-run of this edit", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 100, 30)
			s.desk.planErr = tc.err
			s.onTeamA().press("e").sees(tc.title, tc.err.Error())
			s.pass(time.Second)
			s.press("esc").seesNot(tc.title)
			if kept := s.desk.closed == 0; kept != tc.stays {
				t.Errorf("the text was kept: %v, want %v", kept, tc.stays)
			}
		})
	}
}

// A colleague was faster: what they did stands beside what the person did, and the
// text goes on from both.
func TestEditOfWhatAColleagueChanged(t *testing.T) {
	fields := []actions.Field{
		{Path: "spec.queueingStrategy", Was: "BestEffortFIFO", Now: "StrictFIFO", Yours: "BestEffortFIFO"},
		{Path: "spec.cohortName", Was: "co", Now: "theirs", Yours: "mine"},
		{Path: "spec.fairSharing", Yours: `{"weight":"2"}`},
	}
	s := begin(t, 100, 34)
	s.desk.planErr = &actions.Problem{What: "the spec changed", Conflict: true, Meanwhile: fields}
	s.onTeamA().press("e").sees("Somebody else changed 2 fields meanwhile, 1 of them to something else than you:", "spec.cohortName  CHANGED BY BOTH",
		"was     co", "is now  theirs", "yours   mine", "spec.queueingStrategy  changed by somebody else", "spec.fairSharing  changed by you", "not there")
	s.desk.renewErr = &actions.Problem{What: "the text cannot be read", Rejected: true}
	s.press("e").sees("could not be brought together", "the text cannot be read", "e: edit again, your text is kept")
	s.desk.renewErr = nil
	s.press("esc")
	s.onTeamA().press("e")
	p := editPlan()
	s.desk.plan, s.desk.planErr = p, nil
	s.desk.result = actions.Result{Action: actions.Edit, Objects: []actions.ObjectResult{{Ref: p.Targets[0].Ref, Outcome: actions.Refused, Detail: "moved again", Meanwhile: fields[:1]}}}
	s.press("e").sees("dry-run result")
	s.pass(time.Second)
	s.press("y", "enter").sees("moved again", "meanwhile, none that you change:", "spec.queueingStrategy  changed by somebody else")
	s.pass(time.Second)
	s.press("e").sees("dry-run result")
	if s.desk.renewed != 3 || len(s.desk.notes) != 0 || s.edited != 4 {
		t.Errorf("renewed %d times, annotated %q, edited %d times", s.desk.renewed, s.desk.notes, s.edited)
	}
}

// A text of an edit that was broken off is offered, and thrown away only by its own key.
func TestTextOfAnEditThatWasBrokenOff(t *testing.T) {
	for key, want := range map[string]struct{ renewed, left, closed, edited int }{
		"e":   {renewed: 1, closed: 1, edited: 1},
		"n":   {left: 1, edited: 1},
		"X":   {closed: 1, edited: 1},
		"esc": {left: 1, closed: 1},
	} {
		t.Run(key, func(t *testing.T) {
			s := begin(t, 100, 30)
			s.desk.planErr = &actions.Problem{What: "spec.x: Invalid value", Rejected: true}
			s.desk.leftText = &actions.Draft{Target: actions.Target{Ref: world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: "team-a-cq"}}}, Path: "/tmp/left.yaml", At: now.Add(-time.Hour)}
			s.onTeamA().press("e").sees("there is a text of yours", "/tmp/left.yaml", "saved 13:03:22", "X: throw it away")
			s.press("X", "n").sees("there is a text of yours") // typed before it could be read
			s.pass(time.Second)
			s.press(key)
			got := struct{ renewed, left, closed, edited int }{s.desk.renewed, s.desk.left, s.desk.closed, s.edited}
			if got != want {
				t.Errorf("%+v, want %+v\n%s", got, want, s.frame())
			}
		})
	}
}

// A text that could not be applied is not thrown away with the dialog.
func TestTextOfAnEditThatWasNotApplied(t *testing.T) {
	s := begin(t, 100, 30)
	p := editPlan()
	s.desk.plan = p
	s.desk.result = actions.Result{Action: actions.Edit, Objects: []actions.ObjectResult{{Ref: p.Targets[0].Ref, Outcome: actions.Refused, Detail: "the spec changed"}}}
	s.onTeamA().press("e")
	s.pass(time.Second)
	s.press("y", "enter").sees("the spec changed")
	s.pass(time.Second)
	s.press("enter").seesNot("the spec changed").sees("Your text stays in")
	if s.desk.closed != 0 {
		t.Error("the draft was removed")
	}
}

// With one namespace read, what is not listed may still be there.
func TestOneNamespace(t *testing.T) {
	s := begin(t, 120, 40)
	s.store.SetContract(world.Contract{Context: "prod-eu", User: "oncall", UserFrom: "server", Used: "v1beta2", Namespace: "team-z"})
	s.refresh()
	s.sees("only ns team-z")
	s.press("3", "down", "down", "down", "down").cursorOn("speech-cq")
	s.press("enter").sees("no LocalQueue of namespace team-z, the only one that is read, points here", "nobody of namespace team-z, the only one that is read")
}

func TestEditWithoutChanges(t *testing.T) {
	s := begin(t, 100, 30)
	s.desk.plan = editPlan()
	s.desk.plan.Diff = nil
	s.onTeamA().press("e").sees("nothing to apply")
	if s.desk.closed != 1 {
		t.Error("the draft is left behind")
	}
}

func TestDraftOfClosedDialogIsRemoved(t *testing.T) {
	s := begin(t, 100, 30)
	s.onTeamA()
	s.held = true
	s.press("e", "esc")
	s.release()
	if s.edited != 0 || s.desk.closed != 1 {
		t.Errorf("editor ran %d times, draft closed %d times", s.edited, s.desk.closed)
	}
}

func TestStopWhileWorking(t *testing.T) {
	s := begin(t, 100, 30)
	s.desk.plan = holdPlan()
	s.onTeamA().press("H", "enter")
	s.pass(time.Second)
	s.typeText("team-a-cq")
	s.held = true
	s.press("enter").sees("Working")
	s.press("esc", "q").sees("Working")
	s.press("ctrl+c").sees("Stopping after the object under way")
	if s.quit {
		t.Error("left before the object under way was done")
	}
	s.desk.execErr = errors.New("stopped")
	s.release()
	s.sees("NOT ALL DONE", "stopped")
}

func TestExport(t *testing.T) {
	s := begin(t, 100, 30)
	s.desk.plan = actions.Plan{Action: actions.Export, Export: &actions.ExportPlan{Path: "/home/kim/out.tar.gz", Count: 5}, Confirm: actions.Confirm{Expects: "y"}}
	s.desk.result = actions.Result{Objects: []actions.ObjectResult{{Ref: world.Ref{Kind: "File"}, Outcome: actions.Done, Verified: true}}}
	s.press("4", "x").sees("Workloads of namespace team-a", "all Workloads")
	s.press("down", "enter").sees("/home/kim/out.tar.gz", "5 Workloads of LocalQueue team-a/batch")
	s.pass(time.Second)
	s.press("y", "enter").sees("FILE", "/home/kim/out.tar.gz")
}

// A hold that somebody else lifted is said to every colleague, with who it was.
func TestHoldUndoneByAnother(t *testing.T) {
	s := begin(t, 120, 40)
	q := *s.store.Snapshot().ClusterQueue("team-a-cq")
	q.StopPolicy = world.StopNone
	q.Hold = &world.HoldRecord{Version: 1, By: "kim", At: now.Add(-time.Hour), Policy: world.StopHold, Previous: world.StopNone, UndoneBy: "argocd-controller", UndoneAt: now.Add(-time.Minute)}
	q.ManagedBy, q.ManagedAs = "Argo CD", "queues"
	s.store.Put(&q)
	s.refresh()
	s.onTeamA().press("enter").sees("hold of kim undone by argocd-controller, 14:02", "managed by Argo CD (queues), which may undo")
}
