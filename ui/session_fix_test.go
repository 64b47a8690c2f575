package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/world"
)

// atFix is a session whose next step is fix.
func atFix(t *testing.T, w, h int) (*stage, *fakeKeep) {
	t.Helper()
	s, k := withSessions(t, w, h)
	s.onTeamA().press("S", "enter")
	k.over(rollback.Hold, rollback.Done, "held")
	k.over(rollback.Export, rollback.Done, "exported")
	s.pass(2 * time.Second)
	return s, k
}

// From the fix to the dry-run and back, by what stands on the screen.
func TestFixInTheEditor(t *testing.T) {
	s, k := atFix(t, 100, 30)
	s.sees("▸ [ ] fix").press("enter")
	s.sees("Fix: correct what?", "▸ Edit ClusterQueue team-a-cq in your editor", "Take a file of corrected objects", "Enter")
	k.attachErrs = []error{
		&actions.Problem{What: "your text leaves out spec.cohortName (co)", Do: "Put it back.", Rejected: true},
		actions.ErrNoChange,
		&actions.Problem{What: "it is another one", Do: "Edit on.", Conflict: true},
	}
	s.press("enter").sees("This edit is refused", "your text leaves out spec.cohortName (co)", "Put it back", "e: edit again, your text is kept")
	s.press("e").sees("Nothing was changed in the text", "nothing that is not so already", "e: edit again")
	s.press("e").sees("The object changed while you edited", "e: edit on")
	s.press("e").sees("Fix: ClusterQueue team-a-cq is in the fix", "edited ClusterQueue team-a-cq: spec.resourceGroups", "nominalQuota: 20 -> 4", "Nothing is written")
	if d := cmp.Diff([]any{4, 1, 2, 1}, []any{s.edited, s.desk.renewed, len(s.desk.notes), s.desk.closed}); d != "" {
		t.Errorf("editors, renewed, notes, closed (-want +got):\n%s", d)
	}
	s.press("enter")
	s.pass(2 * time.Second)
	s.sees("[x] fix", "edited ClusterQueue team-a-cq: spec.resourceGroups", "▸ [ ] evidence")
	s.press("up").sees("ClusterQueue team-a-cq: spec.resourceGroups[0].nominalQuota: 20 -> 4").press("down")
	s.press("enter").typeText("known").press("enter", "enter")
	s.pass(2 * time.Second)

	// The dry-run says what comes of it, and leads back.
	s.sees("▸ [ ] dry-run").press("enter").sees("dry-run is done", "e: correct the fix")
	s.press("e").sees("Fix: correct what?").press("enter").sees("is in the fix").press("enter")
	s.pass(2 * time.Second)
	s.sees("▸ [ ] dry-run")
	k.err = advised{errors.New("the server refuses it"), "Correct it."}
	s.press("enter").sees("the server refuses it", "e: correct the fix")
	k.err = nil
	s.press("e").sees("Fix: correct what?").press("esc")
	// And so does the checklist, wherever the cursor is.
	s.press("home", "e").sees("Fix: correct what?").press("down", "enter").sees("It takes the place of the fix that is there: edited ClusterQueue")
	s.press("esc")
	edit := "attach edit of ClusterQueue/team-a-cq"
	want := []string{"open ClusterQueue/team-a-cq", edit, edit, edit, edit, "attest known", "prepare dry-run", "open ClusterQueue/team-a-cq", edit, "prepare dry-run"}
	if d := cmp.Diff(want, k.calls[1:]); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
}

// What can be edited is what the session is about.
func TestFixChoices(t *testing.T) {
	tests := map[string]struct {
		target rollback.Target
		want   []string
	}{
		"a ClusterQueue":         {rollback.Target{Kind: world.KindClusterQueue, Name: "team-a-cq"}, []string{"ClusterQueue team-a-cq"}},
		"one that is gone":       {rollback.Target{Kind: world.KindClusterQueue, Name: "gone"}, nil},
		"a LocalQueue":           {rollback.Target{Kind: world.KindLocalQueue, Namespace: "team-a", Name: "batch"}, []string{"LocalQueue team-a/batch", "ClusterQueue team-a-cq"}},
		"a cohort, an object":    {rollback.Target{Kind: world.KindCohort, Name: "ai-shared"}, []string{"Cohort ai-shared", "ClusterQueue speech-cq", "ClusterQueue team-a-cq", "ClusterQueue team-b-cq", "ClusterQueue team-c-cq", "ClusterQueue vision-cq"}},
		"a cohort, only by name": {rollback.Target{Kind: world.KindCohort, Name: "named"}, []string{"ClusterQueue of-named"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 100, 30)
			s.store.Put(&world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: "of-named"}}, Cohort: "named"})
			s.refresh()
			d := newFix(s.root.env(), rollback.Session{Target: tc.target}).(chooser)
			var got []string
			for _, c := range d.choices {
				got = append(got, c.name)
			}
			var want []string
			for _, w := range tc.want {
				want = append(want, "Edit "+w+" in your editor")
			}
			if d := cmp.Diff(append(want, "Take a file of corrected objects"), got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestFixThatMayNotBeEdited(t *testing.T) {
	s, k := atFix(t, 100, 30)
	s.desk.may = func(_ world.Ref, a actions.Action) (bool, string) { return a != actions.Edit, "you may not patch it" }
	s.press("enter", "enter").sees("not possible", "you may not patch it").press("esc")
	if len(k.calls) != 1 || s.edited > 0 {
		t.Errorf("%v, %d editors", k.calls, s.edited)
	}
}

// An editor that fails, or a wait that is broken off, costs no text.
func TestFixKeepsTheText(t *testing.T) {
	s, k := atFix(t, 100, 30)
	k.attachErrs = []error{errors.New("the connection broke" + strings.Repeat(" again", 40))}
	s.press("enter", "enter").sees("the connection broke", "e: edit again").press("e").sees("is in the fix")
	s.press("enter", "e", "enter").sees("is in the fix")
	if s.desk.closed != 2 || s.desk.left != 0 {
		t.Errorf("%d closed, %d left", s.desk.closed, s.desk.left)
	}
}
