package actions

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/file"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// supposedWorld has queues in every state of being stopped, some below a cohort.
const supposedWorld = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a, uid: uid-a, generation: 3}
spec:
  cohortName: low
  queueingStrategy: StrictFIFO
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: b, annotations: {holdfast.dev/hold: '{"version":1,"by":"kim","at":"2026-12-02T10:00:00Z","policy":"HoldAndDrain","previous":"Hold"}'}}
spec: {cohortName: low, stopPolicy: HoldAndDrain}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: c}
spec: {cohortName: high, stopPolicy: Hold}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: d}
spec: {}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: low}
spec: {parentName: high}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {namespace: ns, name: lq}
spec: {clusterQueue: a}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
spec: {nodeLabels: {x: y}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 10
`

func supposed(t *testing.T) *store.Snapshot {
	t.Helper()
	w, err := file.Read(strings.NewReader(supposedWorld), "test", tick)
	if err != nil {
		t.Fatal(err)
	}
	return w.Snapshot
}

// specs are the edits' specs by Kind/name.
func specs(t *testing.T, x *Supposed) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, e := range x.Edits() {
		raw, err := json.Marshal(e.Object)
		if err != nil {
			t.Fatal(err)
		}
		var o map[string]any
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
		v := o["spec"]
		if v == nil {
			v = o["value"]
		}
		out[world.Ref{Kind: e.Kind, Key: e.Key}.String()] = v
	}
	return out
}

const (
	ofQueue = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\n"
	oldOf   = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\n"
)

func TestSupposeFile(t *testing.T) {
	quota := func(n string) []any {
		return []any{map[string]any{"coveredResources": []any{"cpu"}, "flavors": []any{map[string]any{"name": "f", "resources": []any{map[string]any{"name": "cpu", "nominalQuota": n}}}}}}
	}
	a := func(change map[string]any) map[string]any {
		out := map[string]any{
			"cohortName": "low", "queueingStrategy": "StrictFIFO", "namespaceSelector": map[string]any{},
			"preemption": map[string]any{"withinClusterQueue": "LowerPriority"}, "resourceGroups": quota("4"),
		}
		for k, v := range change {
			if out[k] = v; v == nil {
				delete(out, k)
			}
		}
		return out
	}
	tests := map[string]struct {
		text  string
		want  map[string]any
		notes string
	}{
		"one field": {ofQueue + "metadata: {name: a}\nspec: {cohortName: other}\n", map[string]any{"ClusterQueue/a": a(map[string]any{"cohortName": "other"})}, ""},
		"a field of a field": {ofQueue + "metadata: {name: a}\nspec: {preemption: {reclaimWithinCohort: Any}}\n",
			map[string]any{"ClusterQueue/a": a(map[string]any{"preemption": map[string]any{"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}})}, ""},
		"a field removed":        {ofQueue + "metadata: {name: a}\nspec: {cohortName: null}\n", map[string]any{"ClusterQueue/a": a(map[string]any{"cohortName": nil})}, ""},
		"the policy that it has": {ofQueue + "metadata: {name: c}\nspec: {stopPolicy: Hold, cohortName: x}\n", map[string]any{"ClusterQueue/c": map[string]any{"stopPolicy": "Hold", "cohortName": "x", "queueingStrategy": "BestEffortFIFO"}}, ""},
		"a list": {ofQueue + "metadata: {name: a}\nspec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 7}]}]}]}\n",
			map[string]any{"ClusterQueue/a": a(map[string]any{"resourceGroups": quota("7")})}, ""},
		"the older version": {oldOf + "metadata: {name: a}\nspec: {cohort: other}\n", map[string]any{"ClusterQueue/a": a(map[string]any{"cohortName": "other"})}, ""},
		"a value of the older version": {oldOf + "metadata: {name: a}\nspec: {flavorFungibility: {whenCanPreempt: Preempt}}\n",
			map[string]any{"ClusterQueue/a": a(map[string]any{"flavorFungibility": map[string]any{"whenCanPreempt": "MayStopSearch"}})}, ""},
		"as the server gave it": {ofQueue + "metadata: {name: a, uid: uid-a, generation: 3, managedFields: []}\nspec: {cohortName: other}\nstatus: {pendingWorkloads: 3}\n",
			map[string]any{"ClusterQueue/a": a(map[string]any{"cohortName": "other"})}, ""},
		"a new one": {ofQueue + "metadata: {name: new}\nspec: {cohortName: low}\n", map[string]any{"ClusterQueue/new": map[string]any{"cohortName": "low"}}, ""},
		"several": {ofQueue + "metadata: {name: a}\nspec: {cohortName: other}\n---\n# nothing\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {name: low}\nspec: {parentName: top}\n" +
			"---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: high}\nvalue: 11\n",
			map[string]any{"ClusterQueue/a": a(map[string]any{"cohortName": "other"}), "Cohort/low": map[string]any{"parentName": "top"}, "WorkloadPriorityClass/high": 11.0}, ""},
		"a list of objects": {"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: {nodeLabels: {x: z}}}\n" +
			"- {apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: k}, spec: {controllerName: me}}\n",
			map[string]any{"ResourceFlavor/f": map[string]any{"nodeLabels": map[string]any{"x": "z"}}, "AdmissionCheck/k": map[string]any{"controllerName": "me"}}, ""},
		"without a namespace": {"apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: lq}\nspec: {stopPolicy: Hold}\n",
			map[string]any{"LocalQueue/ns/lq": map[string]any{"clusterQueue": "a", "stopPolicy": "Hold"}}, "LocalQueue/ns/lq: the file's stopPolicy is taken as it stands"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.yaml")
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			x := Suppose(supposed(t))
			if err := x.File(path, "ns"); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, specs(t, x)); d != "" {
				t.Errorf("specs (-want +got):\n%s", d)
			}
			if got := strings.Join(x.Notes(), "\n"); !strings.Contains(got, tc.notes) || (tc.notes == "") != (got == "") {
				t.Errorf("notes %q, want %q", got, tc.notes)
			}
		})
	}
}

func TestSupposeRefuses(t *testing.T) {
	tests := map[string]struct{ text, what, do string }{
		"a field of the older version": {ofQueue + "metadata: {name: a}\nspec: {cohort: x}\n", `unknown field "spec.cohort"`, "In v1beta2 it is called spec.cohortName."},
		"a field of the newer version": {oldOf + "metadata: {name: a}\nspec: {cohortName: x}\n", `unknown field "spec.cohortName"`, "In v1beta1 it is called spec.cohort."},
		"no field at all":              {ofQueue + "metadata: {name: a}\nspec: {preemption: {withinQueue: Never}}\n", `unknown field "spec.preemption.withinQueue"`, "Correct it."},
		"a key twice":                  {ofQueue + "metadata: {name: a}\nspec: {cohortName: x, cohortName: y}\n", "already set", ""},
		"another type":                 {ofQueue + "metadata: {name: a}\nspec: {resourceGroups: 5}\n", "ClusterQueue/a", ""},
		"no spec":                      {ofQueue + "metadata: {name: a}\nspec: none\n", "ClusterQueue/a", ""},
		"no quantity":                  {ofQueue + "metadata: {name: a}\nspec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: many}]}]}]}\n", "ClusterQueue/a", ""},
		"an unknown value":             {ofQueue + "metadata: {name: a}\nspec: {queueingStrategy: Sometimes}\n", `spec.queueingStrategy: Unsupported value: "Sometimes"`, ""},
		"a value of the older version": {ofQueue + "metadata: {name: a}\nspec: {flavorFungibility: {whenCanBorrow: Borrow}}\n", `spec.flavorFungibility.whenCanBorrow: Unsupported value`, ""},
		"what the webhook refuses":     {ofQueue + "metadata: {name: a}\nspec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: -1}]}]}]}\n", "would be refused by Kueue's webhook: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota", ""},
		"another ClusterQueue":         {"apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: lq, namespace: ns}\nspec: {clusterQueue: b}\n", "field is immutable", ""},
		"another kind":                 {"apiVersion: v1\nkind: Pod\nmetadata: {name: p\n}\n", "v1 Pod", "ClusterQueues"},
		"another version":              {"apiVersion: kueue.x-k8s.io/v1\nkind: ClusterQueue\nmetadata: {name: p}\n", "kueue.x-k8s.io/v1 ClusterQueue", "v1beta2 or v1beta1"},
		"no name":                      {ofQueue + "spec: {}\n", "without metadata.name", ""},
		"no object":                    {"# nothing\n---\n", "holds no object", ""},
		"the same twice":               {ofQueue + "metadata: {name: a}\nspec: {}\n---\n" + ofQueue + "metadata: {name: a}\nspec: {}\n", "object 2 of the file: ClusterQueue/a stands in the file twice", ""},
		"an older spec":                {ofQueue + "metadata: {name: a, generation: 2}\nspec: {}\n", "generation 2, the object is at 3", ""},
		"another object of the name":   {ofQueue + "metadata: {name: a, uid: else}\nspec: {}\n", "UID else", ""},
		"hostile":                      {ofQueue + "metadata: {name: \"\\e[2J\"}\nspec: {\"\\e[2J\": 1}\n", `\x1b[2J`, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			x := Suppose(supposed(t))
			err := x.text([]byte(tc.text), "ns")
			var p *Problem
			if !errors.As(err, &p) || !p.Rejected && !p.Conflict || !strings.Contains(p.What, tc.what) || p.Do == "" || !strings.Contains(p.Do, tc.do) {
				t.Errorf("%v (%+v), want a refusal with %q and %q", err, p, tc.what, tc.do)
			}
			if err != nil && strings.Contains(err.Error(), "\x1b") {
				t.Errorf("not safe to draw: %q", err)
			}
		})
	}
}

func TestSupposeStopAndResume(t *testing.T) {
	ref := func(k world.Kind, ns, name string) world.Ref {
		return world.Ref{Kind: k, Key: world.Key{Namespace: ns, Name: name}}
	}
	cq := func(name string) world.Ref { return ref(world.KindClusterQueue, "", name) }
	tests := map[string]struct {
		do      func(*Supposed) error
		want    map[string]string // stopPolicy by object
		notes   []string
		problem string
	}{
		"hold":               {func(x *Supposed) error { return x.Stop(cq("a"), world.StopHold) }, map[string]string{"ClusterQueue/a": "Hold"}, nil, ""},
		"drain of a held":    {func(x *Supposed) error { return x.Stop(cq("c"), world.StopHoldAndDrain) }, map[string]string{"ClusterQueue/c": "HoldAndDrain"}, nil, ""},
		"hold of a held":     {func(x *Supposed) error { return x.Stop(cq("c"), world.StopHold) }, nil, nil, "already stopped with Hold"},
		"hold a LocalQueue":  {func(x *Supposed) error { return x.Stop(ref(world.KindLocalQueue, "ns", "lq"), world.StopHold) }, map[string]string{"LocalQueue/ns/lq": "Hold"}, nil, ""},
		"hold a cohort":      {func(x *Supposed) error { return x.Stop(ref(world.KindCohort, "", "high"), world.StopHold) }, map[string]string{"ClusterQueue/a": "Hold", "ClusterQueue/b": "Hold"}, nil, ""},
		"no such queue":      {func(x *Supposed) error { return x.Stop(cq("nope"), world.StopHold) }, nil, nil, "there is no ClusterQueue/nope"},
		"no such cohort":     {func(x *Supposed) error { return x.Resume(ref(world.KindCohort, "", "nope")) }, nil, nil, "there is no Cohort/nope"},
		"resume with record": {func(x *Supposed) error { return x.Resume(cq("b")) }, map[string]string{"ClusterQueue/b": "Hold"}, []string{"ClusterQueue/b stays stopped: the recorded policy is Hold."}, ""},
		"resume without one": {func(x *Supposed) error { return x.Resume(cq("c")) }, map[string]string{"ClusterQueue/c": "None"},
			[]string{"ClusterQueue/c carries no hold record: which policy it had before is not recorded, None is assumed."}, ""},
		"resume what flows": {func(x *Supposed) error { return x.Resume(cq("d")) }, nil, nil, "is not held"},
		"resume a cohort": {func(x *Supposed) error { return x.Resume(ref(world.KindCohort, "", "low")) }, map[string]string{"ClusterQueue/b": "Hold"},
			[]string{"ClusterQueue/b stays stopped: the recorded policy is Hold."}, ""},
		"after a file": {func(x *Supposed) error {
			return errors.Join(x.text([]byte(ofQueue+"metadata: {name: c}\nspec: {cohortName: other}\n"), "ns"), x.Resume(cq("c")))
		}, map[string]string{"ClusterQueue/c": "None"}, []string{"ClusterQueue/c carries no hold record: which policy it had before is not recorded, None is assumed."}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := supposed(t)
			x := Suppose(s)
			err := tc.do(x)
			var p *Problem
			if tc.problem != "" && (!errors.As(err, &p) || !strings.Contains(p.What, tc.problem)) || tc.problem == "" && err != nil {
				t.Fatalf("%v, want %q", err, tc.problem)
			}
			var got map[string]string
			for k, v := range specs(t, x) {
				if got == nil {
					got = map[string]string{}
				}
				got[k], _ = v.(map[string]any)["stopPolicy"].(string)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("policies (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.notes, x.Notes()); d != "" {
				t.Errorf("notes (-want +got):\n%s", d)
			}
			if name == "after a file" {
				if q := x.Edits()[0].Object.(*kueue.ClusterQueue); q.Spec.CohortName != "other" {
					t.Errorf("the file's change is lost: %+v", q.Spec)
				}
			}
		})
	}
}

func FuzzSuppose(f *testing.F) {
	for _, s := range []string{
		ofQueue + "metadata: {name: a}\nspec: {cohortName: x}\n", oldOf + "metadata: {name: a}\nspec: {cohort: x}\n", "a: 1\n---\nb: 2", "kind: List\napiVersion: v1\nitems: 3", "{",
		ofQueue + "metadata: {name: 5}\n", ofQueue + "metadata: 5\n", ofQueue + "metadata: {name: a, annotations: 5}\nspec: {resourceGroups: [null]}\n", "kind: [ClusterQueue]\napiVersion: {}\n",
		ofQueue + "metadata: {name: a}\nspec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 1e100000000}]}]}]}\n",
	} {
		f.Add([]byte(s))
	}
	w, err := file.Read(strings.NewReader(supposedWorld), "test", tick)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		x := Suppose(w.Snapshot)
		var p *Problem
		if err := x.text(raw, "ns"); err != nil && (!errors.As(err, &p) || p.Do == "") {
			t.Errorf("an error without advice: %v", err)
		}
	})
}
