package actions

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/world"
)

// object reads an object that is written as YAML.
func objectOf(t *testing.T, body string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return o
}

// draftOf is a draft of the object in which replace was done.
func draftOf(t *testing.T, o *unstructured.Unstructured, replace ...string) Draft {
	t.Helper()
	body, err := yaml.Marshal(editable(o))
	if err != nil {
		t.Fatal(err)
	}
	dr := Draft{Target: target(refOf(o), o), Path: t.TempDir() + "/draft", Original: string(body)}
	if err := dr.write(strings.NewReplacer(replace...).Replace(dr.Original)); err != nil {
		t.Fatal(err)
	}
	return dr
}

const wholeQueue = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: q
  uid: u
  generation: 7
  annotations: {team: a, holdfast.dev/hold: record}
  labels: {tier: gold}
  managedFields:
  - {manager: kubectl, operation: Update, apiVersion: kueue.x-k8s.io/v1beta2, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:cohortName": {}, "f:preemption": {"f:reclaimWithinCohort": {}}}}}
spec:
  cohortName: co
  stopPolicy: Hold
  namespaceSelector:
    matchLabels: {a: "1", b: "2"}
  preemption: {reclaimWithinCohort: Any, withinClusterQueue: Never}
  admissionChecksStrategy:
    admissionChecks:
    - name: one
      onFlavors: [f, g]
    - name: two
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: f
      resources:
      - {name: cpu, nominalQuota: "20"}
    - name: g
      resources:
      - {name: cpu, nominalQuota: "5"}
`

func TestFixOf(t *testing.T) {
	const head = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"generation":7,"name":"q","uid":"u"}`
	flavor := func(name, quota string) string {
		return `{"name":"` + name + `","resources":[{"name":"cpu","nominalQuota":"` + quota + `"}]}`
	}
	tests := map[string]struct {
		replace []string
		want    string // the document
		paths   string
		fields  string
		problem string
		notes   string
	}{
		"a quota: the groups are a whole": {
			replace: []string{`"20"`, `"4"`},
			want:    head + `,"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[` + flavor("f", "4") + "," + flavor("g", "5") + `]}]}}`,
			paths:   "spec.resourceGroups",
			fields:  `spec.resourceGroups[0].flavors[f].resources[cpu].nominalQuota: "20" -> "4", by you`,
		},
		"a flavor removed": {
			replace: []string{"    - name: g\n      resources:\n      - name: cpu\n        nominalQuota: \"5\"\n", ""},
			want:    head + `,"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[` + flavor("f", "20") + `]}]}}`,
			paths:   "spec.resourceGroups",
		},
		"one of a map":            {replace: []string{"Any", "Never"}, want: head + `,"spec":{"preemption":{"reclaimWithinCohort":"Never"}}}`, paths: "spec.preemption.reclaimWithinCohort"},
		"one more in a map":       {replace: []string{"preemption:", "preemption:\n    x: z"}, want: head + `,"spec":{"preemption":{"x":"z"}}}`, paths: "spec.preemption.x"},
		"a selector is a whole":   {replace: []string{"      b: \"2\"\n", ""}, want: head + `,"spec":{"namespaceSelector":{"matchLabels":{"a":"1"}}}}`, paths: "spec.namespaceSelector"},
		"a check more":            {replace: []string{"- name: two", "- name: two\n    - name: three"}, want: head + `,"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"three"}]}}}`, paths: "spec.admissionChecksStrategy.admissionChecks[three]"},
		"a check on one more":     {replace: []string{"      - g\n", "      - g\n      - h\n"}, want: head + `,"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"one","onFlavors":["h"]}]}}}`, paths: "spec.admissionChecksStrategy.admissionChecks[one].onFlavors[h]"},
		"a check on one less":     {replace: []string{"      - g\n", ""}, problem: "your text leaves out spec.admissionChecksStrategy.admissionChecks[one].onFlavors[g] ("},
		"a check less":            {replace: []string{"    - name: two\n", ""}, problem: "your text leaves out spec.admissionChecksStrategy.admissionChecks[two] ("},
		"a label":                 {replace: []string{"tier: gold", "tier: tin"}, want: `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"generation":7,"labels":{"tier":"tin"},"name":"q","uid":"u"}}`, paths: "metadata.labels.tier"},
		"a label less":            {replace: []string{"  labels:\n    tier: gold\n", ""}, problem: "your text leaves out metadata.labels.tier ("},
		"a field less":            {replace: []string{"  cohortName: co\n", ""}, problem: "your text leaves out spec.cohortName ("},
		"a field null":            {replace: []string{"cohortName: co", "cohortName:"}, problem: "your text leaves out spec.cohortName ("},
		"two fields less":         {replace: []string{"  cohortName: co\n", "", "    withinClusterQueue: Never\n", ""}, problem: "your text leaves out spec.cohortName (co), spec.preemption.withinClusterQueue (Never)"},
		"nothing":                 {},
		"a comment":               {replace: []string{"spec:", "# hm\nspec:"}},
		"a large number":          {replace: []string{"cohortName: co", "cohortName: co\n  size: 9007199254740993"}, want: head + `,"spec":{"size":9007199254740993}}`, paths: "spec.size"},
		"the hold lifted":         {replace: []string{"stopPolicy: Hold", "stopPolicy: None"}, notes: "use hold and resume"},
		"the hold lifted, beside": {replace: []string{"stopPolicy: Hold", "stopPolicy: None", "cohortName: co", "cohortName: b"}, want: head + `,"spec":{"cohortName":"b"}}`, paths: "spec.cohortName", notes: "use hold and resume"},
		"another name":            {replace: []string{"  name: q", "  name: r"}, problem: `metadata.name is "r"`},
		"not YAML":                {replace: []string{"spec:", "spec: ["}, problem: "not one YAML object"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := FixOf(draftOf(t, objectOf(t, wholeQueue), tc.replace...))
			var p *Problem
			switch {
			case tc.problem != "":
				if !errors.As(err, &p) || !p.Rejected || p.Do == "" || !strings.Contains(p.What, tc.problem) || f.Document != nil {
					t.Errorf("%v, %s; want a refusal with %q", err, f.Document, tc.problem)
				}
				return
			case tc.want == "":
				if !errors.Is(err, ErrNoChange) || !strings.Contains(err.Error(), tc.notes) {
					t.Errorf("%v, want ErrNoChange with %q", err, tc.notes)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			got, err := yaml.YAMLToJSONStrict(f.Document)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, string(got)); d != "" {
				t.Errorf("document (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.paths, strings.Join(f.Paths, ", ")); d != "" {
				t.Errorf("paths (-want +got):\n%s", d)
			}
			if tc.fields != "" && (len(f.Fields) != 1 || f.Fields[0].String() != tc.fields) {
				t.Errorf("fields %v, want %s", f.Fields, tc.fields)
			}
			if !strings.Contains(strings.Join(f.Notes, " "), tc.notes) {
				t.Errorf("notes %q lack %q", f.Notes, tc.notes)
			}
		})
	}
}

// What an apply of this program's set before stays in its documents, and can be removed.
func TestFixOfWhatWasAppliedBefore(t *testing.T) {
	applied := func(api, fields, others string) *unstructured.Unstructured {
		o := objectOf(t, wholeQueue)
		o.Object["metadata"].(map[string]any)["managedFields"] = []any{
			map[string]any{"manager": FieldManager, "operation": "Apply", "apiVersion": api, "fieldsType": "FieldsV1", "fieldsV1": jsonOf(t, fields)},
			map[string]any{"manager": "kubectl", "operation": "Update", "apiVersion": "kueue.x-k8s.io/v1beta2", "fieldsType": "FieldsV1", "fieldsV1": jsonOf(t, others)},
		}
		return o
	}
	const mine = `{"f:spec":{"f:cohortName":{},"f:preemption":{"f:withinClusterQueue":{}}}}`
	tests := map[string]struct {
		api, others string
		replace     []string
		spec, paths string
		kept        string
		problem     string
	}{
		"another field": {replace: []string{"Any", "Never"}, spec: `{"cohortName":"co","preemption":{"reclaimWithinCohort":"Never","withinClusterQueue":"Never"}}`,
			paths: "spec.preemption.reclaimWithinCohort", kept: "spec.cohortName, spec.preemption.withinClusterQueue"},
		"it again": {replace: []string{"cohortName: co", "cohortName: b"}, spec: `{"cohortName":"b","preemption":{"withinClusterQueue":"Never"}}`,
			paths: "spec.cohortName", kept: "spec.preemption.withinClusterQueue"},
		"removed": {replace: []string{"  cohortName: co\n", ""}, spec: `{"preemption":{"withinClusterQueue":"Never"}}`,
			paths: "spec.cohortName (removed)", kept: "spec.preemption.withinClusterQueue"},
		"removed, of two":        {others: `{"f:spec":{"f:cohortName":{}}}`, replace: []string{"  cohortName: co\n", ""}, problem: "your text leaves out spec.cohortName ("},
		"removed, partly ours":   {replace: []string{"    reclaimWithinCohort: Any\n    withinClusterQueue: Never\n", "", "  preemption:\n", ""}, problem: "your text leaves out spec.preemption ("},
		"in another API version": {api: "kueue.x-k8s.io/v1beta1", replace: []string{"Any", "Never"}, problem: "was applied in kueue.x-k8s.io/v1beta1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			api, others := tc.api, tc.others
			if api == "" {
				api = "kueue.x-k8s.io/v1beta2"
			}
			if others == "" {
				others = `{"f:spec":{"f:stopPolicy":{}}}`
			}
			f, err := FixOf(draftOf(t, applied(api, mine, others), tc.replace...))
			var p *Problem
			if tc.problem != "" {
				if !errors.As(err, &p) || !strings.Contains(p.What, tc.problem) {
					t.Errorf("%v, want %q", err, tc.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var doc map[string]any
			if err := yaml.Unmarshal(f.Document, &doc); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]string{tc.spec, tc.paths, tc.kept}, []string{dump(doc["spec"]), strings.Join(f.Paths, ", "), strings.Join(f.Kept, ", ")}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func jsonOf(t *testing.T, s string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(s), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAmend(t *testing.T) {
	doc := func(kind, name, ns, body string) string {
		out := "apiVersion: kueue.x-k8s.io/v1beta2\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n"
		if ns != "" {
			out += "  namespace: " + ns + "\n"
		}
		return out + "spec:\n  cohortName: " + body + "\n"
	}
	one := Fix{Ref: queueRef, Document: []byte(doc("ClusterQueue", "q", "", "new"))}
	tests := map[string]struct{ content, want, problem string }{
		"nothing":              {"# hm\n", doc("ClusterQueue", "q", "", "new"), ""},
		"another object":       {"# mine\n" + doc("ClusterQueue", "r", "", "r"), "# mine\n" + doc("ClusterQueue", "r", "", "r") + "---\n" + doc("ClusterQueue", "q", "", "new"), ""},
		"another kind":         {doc("Cohort", "q", "", "r"), doc("Cohort", "q", "", "r") + "---\n" + doc("ClusterQueue", "q", "", "new"), ""},
		"the object":           {doc("ClusterQueue", "q", "", "old") + "---\n" + doc("Cohort", "c", "", "c"), doc("ClusterQueue", "q", "", "new") + "---\n" + doc("Cohort", "c", "", "c"), ""},
		"the object, twice":    {doc("ClusterQueue", "q", "", "old") + "---\n" + doc("ClusterQueue", "q", "", "older"), doc("ClusterQueue", "q", "", "new"), ""},
		"a file of no objects": {"- a\n", "", "not one YAML object"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Amend([]byte(tc.content), "ns", one)
			if tc.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tc.problem) {
					t.Errorf("%v, want %q", err, tc.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, string(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A document that does not say its namespace is of the object in the namespace that is
// meant, and of no other.
func TestAmendWithoutANamespace(t *testing.T) {
	const doc = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: q}\nspec: {stopPolicy: None}\n"
	for namespace, same := range map[string]bool{"ns": true, "other": false} {
		f := Fix{Ref: world.Ref{Kind: world.KindLocalQueue, Key: world.Key{Namespace: "ns", Name: "q"}}, Document: []byte("new\n")}
		got, err := Amend([]byte(doc), namespace, f)
		if err != nil || (string(got) == "new\n") != same {
			t.Errorf("in %s: %q, %v", namespace, got, err)
		}
	}
}

// The editor opens on what the fix says already, and says where that is of another state.
func TestOpenFix(t *testing.T) {
	const head = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q"
	tests := map[string]struct{ content, sees, not string }{
		"no fix":              {"", "cohortName: co", "#!"},
		"of another":          {"apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: q}\nspec: {cohortName: mine}\n", "cohortName: co", "#!"},
		"of it":               {head + ", generation: 1}\nspec: {cohortName: mine}\n", "cohortName: mine", "#!"},
		"of another state":    {head + ", generation: 8}\nspec: {cohortName: mine}\n", "made from generation 8", "cohortName: co\n"},
		"applied already":     {head + ", generation: 8}\nspec: {cohortName: co}\n", "cohortName: co", "#!"},
		"in another version":  {strings.Replace(head, "v1beta2", "v1beta1", 1) + "}\nspec: {cohort: mine}\n", "v1beta1 is not in this text", "cohort: mine"},
		"with what is a hold": {head + "}\nspec: {cohortName: mine, stopPolicy: None}\n", "stopPolicy: Hold", "stopPolicy: None"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putQueue(s, "Hold", "")
			d := desk(t, s, nil)
			dr, err := d.OpenFix(t.Context(), queueRef, []byte(tc.content), "ns")
			if err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(dr.Path)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(raw); !strings.Contains(got, tc.sees) || strings.Contains(got, tc.not) || !strings.Contains(got, "keep: true") {
				t.Errorf("wants %q and not %q:\n%s", tc.sees, tc.not, got)
			}
		})
	}
}
