package actions

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/world"
)

// What an entry did not do is not taken back, and neither is a hold that somebody made
// after the entry's had been lifted.
func TestUndoTakesBackOnlyItsOwn(t *testing.T) {
	s := newAPIServer(t)
	d := treeDesk(t, s, nil)
	p, err := d.PlanHold(t.Context(), cohortRef, false, "ours")
	if err != nil {
		t.Fatal(err)
	}
	s.before = func(r *http.Request, _ int) int {
		if strings.HasSuffix(r.URL.Path, "/c") {
			return 403
		}
		return 0
	}
	r, err := d.Execute(t.Context(), p, "root")
	if err != nil {
		t.Fatal(err)
	}
	s.before = nil
	theirs := strings.Replace(record, "kim", "sam", 1)
	for _, name := range []string{"b", "c"} { // b was lifted and is held anew, c was never ours
		s.put("clusterqueues/"+name, "ClusterQueue", map[string]any{"annotations": map[string]any{world.HoldAnnotation: theirs}}, map[string]any{"stopPolicy": "Hold"})
	}
	p, err = d.PlanUndo(t.Context(), r.JournalID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a: stopPolicy Hold -> None"}, targets(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, words := range []string{"ClusterQueue/b is held anew", "ClusterQueue/c was refused then", "ClusterQueue/d was notDone then"} {
		if !strings.Contains(strings.Join(p.Notes, "\n"), words) {
			t.Errorf("notes %q do not say %q", p.Notes, words)
		}
	}
}

// A default that the server fills in is not somebody's change, and what an apply takes
// away comes back.
func TestUndoOfAnApplyIsOfWhatWasStored(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	s.stores = func(o map[string]any) {
		spec := o["spec"].(map[string]any)
		if f, ok := spec["flavorFungibility"].(map[string]any); ok {
			f["whenCanPreempt"] = "TryNextFlavor" // a default
			delete(spec, "cohortName")            // dropped out of the file that set it
		}
	}
	d := desk(t, s, nil)
	p, err := d.PlanFile(t.Context(), fileOf(head+"}\nspec: {flavorFungibility: {whenCanBorrow: TryNextFlavor}}\n"))
	id := did(t, d, p, err)
	s.stores = nil
	p, err = d.PlanUndo(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.Join(p.Notes, "\n"), "Somebody changed") {
		t.Errorf("notes %q", p.Notes)
	}
	did(t, d, p, nil)
	if got := spec(s); got["cohortName"] != "co" || got["flavorFungibility"] != nil {
		t.Errorf("spec %v", got)
	}
}

// A file that was taken from the server, generation and all, can be applied again after
// its own first write.
func TestFileWithGenerationsGoesOn(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	d := desk(t, s, nil)
	f := fileOf(head + ", uid: uid-q, generation: 1}\nspec: {cohortName: x}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: x}\nspec: {}\n")
	p, err := d.PlanFile(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	s.before = func(r *http.Request, _ int) int {
		if r.Method == http.MethodPatch {
			return 0
		}
		return 403 // the cohort, which is written first
	}
	if r, err := d.Execute(t.Context(), p, p.Confirm.Expects); err != nil || r.Objects[0].Outcome != Refused {
		t.Fatalf("%+v, %v", r, err)
	}
	s.before = nil
	did(t, d, p, nil)
	if _, err := d.PlanFile(t.Context(), f); !errors.Is(err, ErrNoChange) {
		t.Errorf("once more: %v", err)
	}
}

// What this program wrote as another kind of write is its own: no question of taking
// over.
func TestOwnFieldsAreNoConflict(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	s.owner = FieldManager
	d := desk(t, s, nil)
	p, err := d.PlanFile(t.Context(), fileOf(head+"}\nspec: {cohortName: x}\n"))
	did(t, d, p, err)
	if strings.Contains(strings.Join(p.Notes, "\n"), "TAKES OVER") || spec(s)["cohortName"] != "x" {
		t.Errorf("notes %q, spec %v", p.Notes, spec(s))
	}
}

// Kueue's status writes do not get in the way of a plan.
func TestPlanOfAFileWhileStatusIsWritten(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	tries := 0
	s.trying = func() {
		if tries++; tries < 4 {
			s.touch(queuePath)
		}
	}
	if _, err := desk(t, s, nil).PlanFile(t.Context(), fileOf(head+"}\nspec: {cohortName: x}\n")); err != nil || tries < 4 {
		t.Errorf("%v after %d tries", err, tries)
	}
	s.trying = func() {
		s.trying = nil
		s.edit(queuePath, "queueingStrategy", "StrictFIFO")
	}
	var p *Problem
	if _, err := desk(t, s, nil).PlanFile(t.Context(), fileOf(head+"}\nspec: {cohortName: x}\n")); !errors.As(err, &p) || !p.Conflict {
		t.Errorf("a colleague's edit: %v", err)
	}
}

// Where the controller is down every object of a set is still written: Kueue's reaction
// is waited for afterwards.
func TestAllAreWrittenBeforeAnyIsWaitedFor(t *testing.T) {
	s := newAPIServer(t)
	d := treeDesk(t, s, nil)
	p, err := d.PlanHold(t.Context(), cohortRef, false, "")
	if err != nil {
		t.Fatal(err)
	}
	s.react = func(map[string]any) {}
	order := ""
	s.before = func(r *http.Request, _ int) int { order += r.URL.Path[len(r.URL.Path)-1:]; return 0 }
	s.watched = func() { order += "." }
	d.opts.VerifyFor = 50 * time.Millisecond
	r, err := d.Execute(t.Context(), p, "root")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Outcome{Done, Done, Done, Done}, outcomes(r)); diff != "" || !strings.HasPrefix(order, "abcd") {
		t.Errorf("order %q (-want +got):\n%s", order, diff)
	}
}

// In a context that is marked as production several objects ask for its name and their
// number; one alone does not.
func TestProductionRaisesTheQuestion(t *testing.T) {
	s := newAPIServer(t)
	d := treeDesk(t, s, nil)
	d.opts.Production = true
	p, err := d.PlanHold(t.Context(), cohortRef, false, "")
	if err != nil {
		t.Fatal(err)
	}
	want := Confirm{ConfirmObjects, "prod 4"}
	if p.Confirm != want {
		t.Errorf("hold of a cohort: %+v", p.Confirm)
	}
	r, err := d.Execute(t.Context(), p, "prod 4")
	if err != nil || !r.OK() {
		t.Errorf("%+v, %v", r, err)
	}
	if p, err = d.PlanUndo(t.Context(), r.JournalID); err != nil || p.Confirm != want {
		t.Errorf("the undo of it: %+v, %v", p.Confirm, err)
	}
	putQueue(s, "None", "")
	if p, err = d.PlanFile(t.Context(), fileOf(five)); err != nil || p.Confirm != (Confirm{ConfirmObjects, "prod 5"}) {
		t.Errorf("a file: %+v, %v", p.Confirm, err)
	}
	if p, err = d.PlanFile(t.Context(), fileOf(head+"}\nspec: {cohortName: x}\n")); err != nil || p.Confirm != (Confirm{ConfirmName, "q"}) {
		t.Errorf("one object: %+v, %v", p.Confirm, err)
	}
}

// A cohort whose tree may not be read has no export: Workloads below would be left out
// unnoticed.
func TestExportOfACohortNeedsTheCohorts(t *testing.T) {
	s := newAPIServer(t)
	putWorkloads(s, 3)
	s.denied = "/cohorts"
	d := treeDesk(t, s, nil)
	p, err := d.PlanExport(t.Context(), Scope{Cohort: "root"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Execute(t.Context(), p, "y")
	if err != nil || r.Objects[0].Outcome != NotDone || !strings.Contains(r.Objects[0].Detail, "is forbidden") {
		t.Errorf("%+v, %v", r, err)
	}
	onlyFile(t, d.opts.ExportDir)
}
