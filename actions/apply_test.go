package actions

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/model/world"
)

const head = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q"

func fileOf(text string) File {
	return File{Name: "queues.yaml", Content: []byte(text), Namespace: "default"}
}

func TestFileOfOneObject(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "Hold", record)
	d := desk(t, s, nil)
	// As the server gave it: what is not the person's wish is left alone.
	p, err := d.PlanFile(t.Context(), fileOf(head+", uid: uid-q, generation: 1, finalizers: [f], managedFields: [], annotations: {holdfast.dev/hold: forged, kubectl.kubernetes.io/last-applied-configuration: old, a: b}}\nspec: {cohortName: third, stopPolicy: None}\nstatus: {pendingWorkloads: 4}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"annotations":{"a":"b"},"name":"q"},"spec":{"cohortName":"third"}}`
	if got := strings.TrimSpace(string(p.Targets[0].Patch)); got != want {
		t.Errorf("patch %s", got)
	}
	for _, words := range []string{"holdfast.dev/hold in the text was set aside", "stopPolicy in the text was set aside"} {
		if !strings.Contains(strings.Join(p.Notes, "\n"), words) {
			t.Errorf("notes %q", p.Notes)
		}
	}
	if s.writes != 0 || p.Confirm != (Confirm{ConfirmName, "q"}) || p.Targets[0].Method != Apply || len(p.Edits) != 1 {
		t.Errorf("%d writes, plan %+v", s.writes, p)
	}
	r, err := d.Execute(t.Context(), p, "q")
	if err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	spec := s.get(queuePath)["spec"].(map[string]any)
	if spec["cohortName"] != "third" || spec["stopPolicy"] != "Hold" || dump(spec["futureField"]) != `{"keep":true}` {
		t.Errorf("spec %v", spec)
	}
	if a := metaOf(s.get(queuePath))["annotations"].(map[string]any); a[world.HoldAnnotation] != record || a["a"] != "b" {
		t.Errorf("annotations %v", a)
	}
	if _, err := d.PlanFile(t.Context(), fileOf(head+"}\nspec: {cohortName: third}\n")); !errors.Is(err, ErrNoChange) {
		t.Errorf("once more: %v", err)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	for words, text := range map[string]string{
		"of an object with UID gone":              head + ", uid: gone}\nspec: {cohortName: x}\n",
		"with UID u, which is not there any more": strings.Replace(head, "name: q", "name: gone", 1) + ", uid: u}\nspec: {cohortName: x}\n",
		"was taken at generation 7":               head + ", generation: 7}\nspec: {cohortName: x}\n",
		"holds a v1 Pod":                          head + "}\nspec: {cohortName: x}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n",
		"holds a kueue.x-k8s.io/v1beta2 Workload": "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: p, namespace: ns}\n",
		"holds a example.com/v1 ClusterQueue":     "apiVersion: example.com/v1\nkind: ClusterQueue\nmetadata: {name: q}\n",
		"has no name":                             "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nspec: {}\n",
		"stands twice":                            head + "}\nspec: {cohortName: x}\n---\n" + head + "}\nspec: {cohortName: y}\n",
		"holds no object":                         "# nothing\n---\n",
		"is no object":                            "apiVersion: v1\nkind: List\nitems: [1]\n",
		"not one YAML object":                     "a: [\n",
		"does not serve":                          strings.Replace(head, "v1beta2", "v1alpha1", 1) + "}\nspec: {}\n",
		"field not declared":                      head + "}\nspec: {cohort: x}\n",
		"spec is not a map":                       head + "}\nspec: 3\n",
	} {
		s := newAPIServer(t)
		putQueue(s, "None", "")
		d := desk(t, s, nil)
		_, err := d.PlanFile(t.Context(), fileOf(text))
		var p *Problem
		if !errors.As(err, &p) || !strings.Contains(p.What, words) || p.Do == "" || s.writes != 0 {
			t.Errorf("%v (%d writes), want %q", err, s.writes, words)
		}
		if words == "field not declared" && !strings.Contains(p.Do, "spec.cohortName") {
			t.Errorf("the new name is not said: %q", p.Do)
		}
	}
}

// What others own is not taken without a word.
func TestFieldsOfOthers(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	s.owner = "argocd\x1b[2J"
	d := desk(t, s, nil)
	f := fileOf(head + "}\nspec: {cohortName: x}\n")
	_, err := d.PlanFile(t.Context(), f)
	var p *Problem
	if !errors.As(err, &p) || !strings.Contains(p.What, `ClusterQueue/q .spec.cohortName, which "argocd`) || !strings.Contains(p.Do, "--take-over") || strings.ContainsRune(p.What, 0x1b) {
		t.Errorf("%v", err)
	}
	want := []Foreign{{Ref: world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: "q"}}, Field: ".spec.cohortName", Manager: `argocd\x1b[2J`}}
	if diff := cmp.Diff(want, p.Foreign); diff != "" {
		t.Errorf("fields of others (-want +got):\n%s", diff)
	}
	f.TakeOver = true
	plan, err := d.PlanFile(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(plan.Notes, "\n"), "TAKES OVER ClusterQueue/q .spec.cohortName") || !plan.Targets[0].Force || plan.Confirm.Level < ConfirmName {
		t.Errorf("%+v", plan)
	}
	if got, want := plan.Targets[0].Change, `as in the difference; takes over .spec.cohortName, which "argocd\x1b[2J" owns`; got != want {
		t.Errorf("what the journal will say is %q, not %q", got, want)
	}
	if r, err := d.Execute(t.Context(), plan, "q"); err != nil || !r.OK() || s.writes != 1 {
		t.Errorf("%+v, %v, %d writes", r, err, s.writes)
	}

	// Somebody becomes the owner after the plan was made.
	s.owner = ""
	putQueue(s, "None", "")
	if plan, err = d.PlanFile(t.Context(), fileOf(head+"}\nspec: {cohortName: y}\n")); err != nil {
		t.Fatal(err)
	}
	s.owner = "flux"
	r, err := d.Execute(t.Context(), plan, "q")
	if err != nil || r.Objects[0].Outcome != Refused || !strings.Contains(r.Objects[0].Detail, "conflict") {
		t.Errorf("%+v, %v", r, err)
	}
}

// five is a file of five objects, not in the order in which they are written.
const five = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq}
spec: {clusterQueue: q}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec: {cohortName: leaf}
---
apiVersion: v1
kind: List
items:
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Cohort
  metadata: {name: leaf}
  spec: {parentName: top}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Cohort
  metadata: {name: top}
  spec: {}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: spot}
spec: {nodeLabels: {a: b}}
`

func TestFiveObjects(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	d := desk(t, s, nil)
	p, err := d.PlanFile(t.Context(), fileOf(five))
	if err != nil {
		t.Fatal(err)
	}
	made := "is made"
	want := []string{"spot: " + made, "top: " + made, "leaf: " + made, "q: as in the difference", "lq: " + made}
	if diff := cmp.Diff(want, targets(p)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if p.Targets[4].Ref.Namespace != "default" || s.writes != 0 || !strings.Contains(strings.Join(p.Notes, "\n"), "not the other changes of the file") {
		t.Errorf("%+v, %d writes", p, s.writes)
	}
	s.before = func(r *http.Request, n int) int {
		if n == 2 {
			return 403
		}
		return 0
	}
	r, err := d.Execute(t.Context(), p, "spot")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Outcome{Done, Done, Refused, NotDone, NotDone}, outcomes(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Once more: what is done is left, the rest goes on.
	s.before = nil
	if p, err = d.PlanFile(t.Context(), fileOf(five)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[2:], targets(p)); diff != "" {
		t.Errorf("the rest (-want +got):\n%s", diff)
	}
	if r, err = d.Execute(t.Context(), p, "leaf"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Outcome{Done, Done, Done}, outcomes(r)); diff != "" {
		t.Errorf("(-want +got):\n%s\n%+v", diff, r)
	}
}

func outcomes(r Result) []Outcome {
	var out []Outcome
	for _, o := range r.Objects {
		out = append(out, o.Outcome)
	}
	return out
}

func TestWhatComesBetweenPlanAndApply(t *testing.T) {
	for name, c := range map[string]struct {
		between   func(s *apiServer)
		last      func(s *apiServer) // at the moment of the write, once
		outcome   Outcome
		words     string
		meanwhile string
	}{
		"a colleague's edit":         {between: func(s *apiServer) { s.edit(queuePath, "queueingStrategy", "StrictFIFO") }, outcome: Refused, words: "the spec of ClusterQueue/q changed", meanwhile: "spec.queueingStrategy: nothing -> StrictFIFO, by somebody else"},
		"an edit at the last moment": {last: func(s *apiServer) { s.edit(queuePath, "queueingStrategy", "StrictFIFO") }, outcome: Refused, words: "the spec of ClusterQueue/q changed", meanwhile: "spec.queueingStrategy: nothing -> StrictFIFO, by somebody else"},
		"a status write":             {last: func(s *apiServer) { s.touch(queuePath) }, outcome: Done},
		"deleted and made again": {between: func(s *apiServer) {
			s.put(queuePath, "ClusterQueue", map[string]any{"uid": "another"}, map[string]any{})
		}, outcome: Refused, words: "deleted and made again"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putQueue(s, "None", "")
			d := desk(t, s, nil)
			p, err := d.PlanFile(t.Context(), fileOf(head+"}\nspec: {cohortName: x}\n"))
			if err != nil {
				t.Fatal(err)
			}
			if c.between != nil {
				c.between(s)
			}
			once := c.last
			s.before = func(*http.Request, int) int {
				if once != nil {
					once(s)
					once = nil
				}
				return 0
			}
			r, err := d.Execute(t.Context(), p, "q")
			if err != nil || r.Objects[0].Outcome != c.outcome || !strings.Contains(r.Objects[0].Detail, c.words) {
				t.Fatalf("%+v, %v", r, err)
			}
			if !strings.Contains(fmt.Sprint(r.Objects[0].Meanwhile), c.meanwhile) {
				t.Errorf("meanwhile %q", r.Objects[0].Meanwhile)
			}
			if got := s.get(queuePath)["spec"].(map[string]any)["cohortName"]; (got == "x") != (c.outcome == Done) {
				t.Errorf("cohortName %v", got)
			}
		})
	}
	// What is to be made is made by somebody else.
	s := newAPIServer(t)
	d := desk(t, s, nil)
	p, err := d.PlanFile(t.Context(), fileOf(head+"}\nspec: {cohortName: x}\n"))
	if err != nil {
		t.Fatal(err)
	}
	putQueue(s, "None", "")
	r, err := d.Execute(t.Context(), p, "q")
	if err != nil || r.Objects[0].Outcome != Refused || !strings.Contains(r.Objects[0].Detail, "somebody made ClusterQueue/q") || s.writes != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Whatever a file holds, what is sent never has a stop policy or a record of ours.
func TestFilesNeverHoldOrResume(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawJSON(t, 2)
		meta := map[string]any{"name": "q"}
		if rapid.Bool().Draw(t, "annotated") {
			meta["annotations"] = map[string]any{ownPrefix + rapid.SampledFrom([]string{"hold", "x"}).Draw(t, "annotation"): "y", "other": "z"}
		}
		spec := map[string]any{"stopPolicy": rapid.SampledFrom([]any{"None", "Hold", nil, int64(3)}).Draw(t, "policy")}
		for k, v := range drawJSON(t, 1) {
			spec[k] = v
		}
		o["apiVersion"], o["kind"], o["metadata"], o["spec"] = "kueue.x-k8s.io/v1beta2", "ClusterQueue", meta, spec
		want := &unstructured.Unstructured{Object: wish(o)}
		stripOwn(want)
		if text := fmt.Sprint(want.Object); strings.Contains(text, "stopPolicy") || strings.Contains(text, ownPrefix) {
			t.Fatal(text)
		}
	})
}
