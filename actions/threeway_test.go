package actions

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

func fromYAML(t *testing.T, text string) map[string]any {
	t.Helper()
	out, err := parseOne([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestThreeWay(t *testing.T) {
	const was = "spec: {cohortName: a, groups: [{flavors: [{name: spot, cpu: \"10\"}, {name: own, cpu: \"4\"}], covers: [cpu]}]}"
	tests := map[string]struct {
		now, yours, merged string
		fields             []string
	}{
		"different fields": {
			now:    "spec: {cohortName: b, groups: [{flavors: [{name: spot, cpu: \"10\"}, {name: own, cpu: \"4\"}], covers: [cpu]}]}",
			yours:  "spec: {cohortName: a, groups: [{flavors: [{name: spot, cpu: \"10\"}, {name: own, cpu: \"8\"}], covers: [cpu]}]}",
			merged: "spec: {cohortName: b, groups: [{flavors: [{name: spot, cpu: \"10\"}, {name: own, cpu: \"8\"}], covers: [cpu]}]}",
			fields: []string{"spec.cohortName: a -> b, by somebody else", `spec.groups[0].flavors[own].cpu: "4" -> "8", by you`},
		},
		"the same field": {
			now:    "spec: {cohortName: b, groups: [{flavors: [{name: spot, cpu: \"12\"}, {name: own, cpu: \"4\"}], covers: [cpu]}]}",
			yours:  "spec: {cohortName: b, groups: [{flavors: [{name: spot, cpu: \"20\"}, {name: own, cpu: \"4\"}], covers: [cpu]}]}",
			merged: "spec: {cohortName: b, groups: [{flavors: [{name: spot, cpu: \"20\"}, {name: own, cpu: \"4\"}], covers: [cpu]}]}",
			fields: []string{"spec.cohortName: a -> b, by both alike", `spec.groups[0].flavors[spot].cpu: was "10", is now "12", yours is "20": CHANGED BY BOTH`},
		},
		// A list written whole would take the colleague's new flavor away.
		"entries of a list": {
			now:    "spec: {cohortName: a, groups: [{flavors: [{name: new, cpu: \"1\"}, {name: spot, cpu: \"10\"}, {name: own, cpu: \"4\"}], covers: [cpu]}]}",
			yours:  "spec: {cohortName: a, groups: [{flavors: [{name: spot, cpu: \"11\"}], covers: [cpu]}]}",
			merged: "spec: {cohortName: a, groups: [{flavors: [{name: new, cpu: \"1\"}, {name: spot, cpu: \"11\"}], covers: [cpu]}]}",
			fields: []string{`spec.groups[0].flavors[new]: nothing -> {"cpu":"1","name":"new"}, by somebody else`, `spec.groups[0].flavors[spot].cpu: "10" -> "11", by you`, `spec.groups[0].flavors[own]: {"cpu":"4","name":"own"} -> nothing, by you`},
		},
		"an order": {
			now:    "spec: {groups: [{flavors: [{name: own, cpu: \"4\"}, {name: spot, cpu: \"10\"}], covers: [cpu]}]}",
			yours:  was,
			merged: "spec: {groups: [{flavors: [{name: own, cpu: \"4\"}, {name: spot, cpu: \"10\"}], covers: [cpu]}]}",
			fields: []string{"spec.cohortName: a -> nothing, by somebody else", `spec.groups[0].flavors (order): ["spot","own"] -> ["own","spot"], by somebody else`},
		},
		"removed and changed": {
			now:    "spec: {cohortName: a, groups: [{flavors: [{name: own, cpu: \"4\"}], covers: [cpu]}]}",
			yours:  "spec: {cohortName: a, groups: [{flavors: [{name: spot, cpu: \"3\"}, {name: own, cpu: \"4\"}], covers: [cpu]}]}",
			merged: "spec: {cohortName: a, groups: [{flavors: [{name: own, cpu: \"4\"}, {name: spot, cpu: \"3\"}], covers: [cpu]}]}",
			fields: []string{`spec.groups[0].flavors[spot]: was {"cpu":"10","name":"spot"}, is now nothing, yours is {"cpu":"3","name":"spot"}: CHANGED BY BOTH`},
		},
		"a group more": {
			now:    "spec: {cohortName: a, groups: []}",
			yours:  was,
			merged: "spec: {cohortName: a, groups: []}",
			fields: []string{`spec.groups: [{"covers":["cpu"],"flavors":[{"cpu":"10","name":"spot"},{"cpu":"4","name":"own"}]}] -> [], by somebody else`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			merged, fields := threeWay(fromYAML(t, was), fromYAML(t, tc.now), fromYAML(t, tc.yours))
			if diff := cmp.Diff(fromYAML(t, tc.merged), merged); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			var got []string
			for _, f := range fields {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(tc.fields, got); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}

// drawLists draws an object that has lists of named and nameless entries in it.
func drawLists(t *rapid.T) map[string]any {
	o := drawJSON(t, 2)
	var named, plain []any
	for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y", "z"}), 0, 3, func(s string) string { return s }).Draw(t, "names") {
		item := drawJSON(t, 1)
		item["name"] = n
		named = append(named, item)
	}
	for range rapid.IntRange(0, 2).Draw(t, "plain") {
		plain = append(plain, drawJSON(t, 1))
	}
	o["named"], o["plain"] = append([]any{}, named...), append([]any{}, plain...)
	return o
}

func TestThreeWayLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawLists(t), drawLists(t), drawLists(t)
		before := dump([]any{a, b, c})
		same := func(law string, want, got map[string]any) {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", law, diff)
			}
		}
		merged, _ := threeWay(a, a, b)
		same("only yours changed", b, merged)
		merged, _ = threeWay(a, b, a)
		same("only theirs changed", b, merged)
		merged, fields := threeWay(a, b, b)
		same("both changed alike", b, merged)
		for _, f := range fields {
			if f.Clash() {
				t.Fatalf("a clash where both are alike: %s", f)
			}
		}
		merged, fields = threeWay(a, b, c)
		if _, again := threeWay(a, merged, merged); len(fields) > 0 != (dump(a) != dump(b) || dump(a) != dump(c)) || len(again) > 0 && len(fields) == 0 {
			t.Fatalf("fields %v of %s", fields, before)
		}
		if dump([]any{a, b, c}) != before {
			t.Fatalf("the arguments were changed: %s, now %s", before, dump([]any{a, b, c}))
		}
		// What nobody but one changed is as they have it; what both changed is yours.
		for _, f := range fields {
			if !f.Theirs() && !f.Mine() {
				t.Fatalf("nobody changed %s", f)
			}
		}
	})
}

// A colleague was faster: the text goes on from what they made.
func TestRenewDraft(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "Hold", record)
	d := desk(t, s, nil)
	dr := edited(t, d, "cohortName: co", "cohortName: mine # as agreed", "spec:", "# my own words\nspec:")
	s.edit(queuePath, "queueingStrategy", "StrictFIFO")
	s.edit(queuePath, "cohortName", "theirs")
	_, err := d.PlanEdit(t.Context(), dr)
	var p *Problem
	if !errors.As(err, &p) || !p.Conflict {
		t.Fatalf("%v", err)
	}
	want := []Field{{Path: "spec.cohortName", Was: "co", Now: "theirs", Yours: "mine"}, {Path: "spec.queueingStrategy", Now: "StrictFIFO"}}
	if diff := cmp.Diff(want, p.Meanwhile); diff != "" {
		t.Errorf("meanwhile (-want +got):\n%s", diff)
	}
	next, err := d.RenewDraft(t.Context(), dr)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(next.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"#! spec.cohortName: was co, is now theirs, yours is mine: CHANGED BY BOTH", "# my own words", "# cohortName: mine # as agreed", "generation 3", "cohortName: mine\n", "queueingStrategy: StrictFIFO"} {
		if !strings.Contains(string(raw), words) {
			t.Errorf("%q is not in the text:\n%s", words, raw)
		}
	}
	if strings.Count(string(raw), "Save and quit") != 1 {
		t.Errorf("two headers:\n%s", raw)
	}
	plan, err := d.PlanEdit(t.Context(), next)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(plan.Targets[0].Patch); got != `{"spec":{"cohortName":"mine"}}` {
		t.Errorf("patch %s", got)
	}
	if r, err := d.Execute(t.Context(), plan, "q"); err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	spec := s.get(queuePath)["spec"].(map[string]any)
	if spec["queueingStrategy"] != "StrictFIFO" || spec["cohortName"] != "mine" || spec["stopPolicy"] != "Hold" {
		t.Errorf("spec %v", spec)
	}

	// What cannot be read is left as it is.
	if err := os.WriteFile(next.Path, []byte("a: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.RenewDraft(t.Context(), next); !errors.As(err, &p) || !p.Rejected {
		t.Errorf("%v", err)
	}
	if raw, _ = os.ReadFile(next.Path); string(raw) != "a: [" {
		t.Errorf("the text was changed: %s", raw)
	}
	if _, err := yaml.YAMLToJSON([]byte(next.Original)); err != nil {
		t.Error(err)
	}
}
