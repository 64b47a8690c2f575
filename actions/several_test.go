package actions

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/world"
)

func chosenQueue(name string) world.Ref {
	return world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: name}, UID: types.UID("uid-" + name)}
}

// Chosen queues are held one after the other, by name, whatever the order in which they
// were chosen; those that are held already are left and named, and the question asks for
// the context and how many.
func TestPlanSeveralQueues(t *testing.T) {
	s := newAPIServer(t)
	d := treeDesk(t, s, map[string]string{"c": "Hold"})
	p, err := d.PlanSeveral(t.Context(), Several{Action: Hold, Refs: []world.Ref{chosenQueue("e"), chosenQueue("a"), chosenQueue("c"), chosenQueue("a")}, Reason: "why"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a: stopPolicy None -> Hold", "e: stopPolicy None -> Hold"}
	if diff := cmp.Diff(want, targets(p)); diff != "" {
		t.Error(diff)
	}
	if p.Confirm != (Confirm{ConfirmObjects, d.opts.Context + " 2"}) || p.Reason != "why" {
		t.Errorf("confirm %+v, reason %q", p.Confirm, p.Reason)
	}
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "2 ClusterQueues one after the other") || !strings.Contains(notes, "Left as it is: ClusterQueue/c is already stopped") {
		t.Errorf("notes:\n%s", notes)
	}
	if len(p.RunsOn) != 2 {
		t.Errorf("who runs on: %+v", p.RunsOn)
	}
	r, err := d.Execute(t.Context(), p, "y")
	if err == nil {
		t.Fatalf("done without the words: %+v", r)
	}
	r, err = d.Execute(t.Context(), p, p.Confirm.Expects)
	if err != nil || len(r.Objects) != 2 || r.Objects[0].Outcome != Done || r.Objects[1].Outcome != Done {
		t.Fatalf("%+v, %v", r, err)
	}
	for name, want := range map[string]any{"a": "Hold", "b": nil, "e": "Hold"} {
		if got := s.get("clusterqueues/" + name)["spec"].(map[string]any)["stopPolicy"]; got != want {
			t.Errorf("%s has the policy %v, not %v", name, got, want)
		}
	}
}

// A drain asks for the number of those whom it evicts, one object for what it asks alone.
func TestPlanSeveralAsks(t *testing.T) {
	s := newAPIServer(t)
	d := treeDesk(t, s, map[string]string{"c": "Hold"})
	p, err := d.PlanSeveral(t.Context(), Several{Action: Drain, Refs: []world.Ref{chosenQueue("a"), chosenQueue("b"), chosenQueue("e")}})
	if err != nil || p.Confirm != (Confirm{ConfirmContext, d.opts.Context + " 3"}) {
		t.Errorf("%+v, %v", p.Confirm, err)
	}
	// A resume to a drain evicts, too: the question is about who is, not about the action.
	drains := strings.Replace(record, `"previous":"None"`, `"previous":"HoldAndDrain"`, 1)
	for _, name := range []string{"a", "b", "e"} {
		s.put("clusterqueues/"+name, "ClusterQueue", map[string]any{"annotations": map[string]any{world.HoldAnnotation: drains}}, map[string]any{"stopPolicy": "Hold"})
	}
	p, err = d.PlanSeveral(t.Context(), Several{Action: Resume, Refs: []world.Ref{chosenQueue("a"), chosenQueue("b"), chosenQueue("e")}})
	if err != nil || p.Confirm.Level != ConfirmContext {
		t.Errorf("%+v, %v", p.Confirm, err)
	}
	d = treeDesk(t, s, map[string]string{"c": "Hold"})
	p, err = d.PlanSeveral(t.Context(), Several{Action: Hold, Refs: []world.Ref{chosenQueue("a"), chosenQueue("c")}})
	if err != nil || p.Confirm != (Confirm{ConfirmYes, "y"}) || p.Subject.Name != "a" {
		t.Errorf("%+v of %s, %v", p.Confirm, p.Subject, err)
	}
}

// What cannot be planned changes nothing and says what to do.
func TestPlanSeveralRefuses(t *testing.T) {
	s := newAPIServer(t)
	d := treeDesk(t, s, map[string]string{"c": "Hold"})
	var many []world.Ref
	for i := range mostSeveral + 1 {
		many = append(many, chosenQueue(fmt.Sprintf("q%d", i)))
	}
	for name, c := range map[string]struct {
		do   Several
		want string
	}{
		"nothing to do": {Several{Action: Hold, Refs: []world.Ref{chosenQueue("c")}}, "nothing to hold of what was chosen: ClusterQueue/c is already stopped"},
		"nothing":       {Several{Action: Hold}, "nothing to hold of what was chosen"},
		"too many":      {Several{Action: Hold, Refs: many}, "101 objects are too many to hold at once"},
		"no such thing": {Several{Action: Edit, Refs: []world.Ref{chosenQueue("a")}}, "edit is not done for several objects at once"},
		"a lost one":    {Several{Action: Hold, Refs: []world.Ref{chosenQueue("a"), chosenQueue("gone")}}, "gone"},
	} {
		_, err := d.PlanSeveral(t.Context(), c.do)
		var p *Problem
		if !errors.As(err, &p) || !strings.Contains(p.What, c.want) || p.Do == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A Workload that two of the chosen evict, its ClusterQueue and its LocalQueue, is one:
// the question asks for how many lose what they have done.
func TestPlanSeveralCountsEachWorkloadOnce(t *testing.T) {
	s := newAPIServer(t)
	d := treeDesk(t, s, nil)
	s.put("namespaces/ns/localqueues/a", "LocalQueue", map[string]any{}, map[string]any{"clusterQueue": "a"})
	local := world.Ref{Kind: world.KindLocalQueue, Key: world.Key{Namespace: "ns", Name: "a"}}
	p, err := d.PlanSeveral(t.Context(), Several{Action: Drain, Refs: []world.Ref{local, chosenQueue("a"), chosenQueue("b")}})
	if err != nil {
		t.Fatal(err)
	}
	var evicted []string
	for _, a := range p.Evicts {
		evicted = append(evicted, a.Ref.Name)
	}
	if diff := cmp.Diff([]string{"runs-a", "runs-b"}, evicted); diff != "" || len(p.Targets) != 3 {
		t.Errorf("%d targets evict (-want +got):\n%s", len(p.Targets), diff)
	}
	if p.Confirm != (Confirm{ConfirmContext, d.opts.Context + " 2"}) {
		t.Errorf("asks for %+v", p.Confirm)
	}
	p, err = d.PlanSeveral(t.Context(), Several{Action: Hold, Refs: []world.Ref{local, chosenQueue("a")}})
	if err != nil || len(p.RunsOn) != 1 {
		t.Errorf("who runs on: %+v, %v", p.RunsOn, err)
	}
}
