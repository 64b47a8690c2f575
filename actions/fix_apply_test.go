package actions

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// definition is the schema of a kind as Kueue's CRD has it, by API version.
func definition(t *testing.T, plural string) map[string]map[string]any {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		t.Skipf("where Kueue's module is cannot be told: %v", err)
	}
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "config/components/crd/bases/kueue.x-k8s.io_"+plural+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]any{}
	for _, v := range crd.Spec.Versions {
		out["kueue.x-k8s.io/"+v.Name] = v.Schema.OpenAPIV3Schema
	}
	return out
}

// The shapes are those of Kueue's definitions, in every API version.
func TestShapes(t *testing.T) {
	for _, plural := range []string{"clusterqueues", "localqueues", "cohorts", "resourceflavors", "workloadpriorityclasses"} {
		for api, s := range definition(t, plural) {
			var walk func(path string, s map[string]any)
			walk = func(path string, s map[string]any) {
				want := plain // lists that are not marked are taken as a whole, and so are plain ones
				switch {
				case s["x-kubernetes-map-type"] == "atomic":
					want = whole
				case s["x-kubernetes-list-type"] == "set":
					want = asASet
				case s["x-kubernetes-list-type"] == "map":
					want = named
					if d := cmp.Diff([]any{"name"}, s["x-kubernetes-list-map-keys"]); d != "" {
						t.Errorf("%s %s: keys (-want +got):\n%s", api, path, d)
					}
				}
				got := shapeOf(api, path)
				if got == whole && s["type"] == "array" {
					got = plain
				}
				if got != want {
					t.Errorf("%s %s %s: shape %d, want %d", plural, api, path, got, want)
				}
				if want == whole || s["type"] == "array" && want == plain {
					return // what is below goes with it
				}
				for k, v := range mapOf(value{s["properties"], true}) {
					walk(memberOf(path, k), v.(map[string]any))
				}
				if items, ok := s["items"].(map[string]any); ok {
					walk(path+"[]", items)
				}
			}
			for k, v := range mapOf(value{s["properties"], true}) {
				if k != "status" && k != "metadata" {
					walk(k, v.(map[string]any))
				}
			}
		}
	}
}

// converterOf is made of schemas as decoded JSON; the type in which make takes them is
// told by it.
func converterOf[T any](t *testing.T, make func(map[string]*T, bool) (managedfields.TypeConverter, error), gvk schema.GroupVersionKind, s map[string]any) managedfields.TypeConverter {
	t.Helper()
	s["x-kubernetes-group-version-kind"] = []any{map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}}
	texts := map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}
	s["properties"].(map[string]any)["metadata"] = map[string]any{"type": "object", "properties": map[string]any{
		"name": map[string]any{"type": "string"}, "labels": texts, "annotations": texts,
		"managedFields": map[string]any{"type": "array", "items": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
	}}
	var one T
	if err := json.Unmarshal([]byte(dump(s)), &one); err != nil {
		t.Fatal(err)
	}
	c, err := make(map[string]*T{"it": &one}, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// drawQueue draws what a person may write of a ClusterQueue.
func drawQueue(t *rapid.T) map[string]any {
	some := func(m map[string]any, key string, v func() any) {
		if rapid.IntRange(0, 3).Draw(t, key) > 0 {
			m[key] = v()
		}
	}
	word := func() any { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "word") }
	words := func() map[string]any {
		out := map[string]any{}
		some(out, "x", word)
		some(out, "y/z", word)
		return out
	}
	list := func(of func(name string) any) []any {
		var out []any
		for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"f", "g", "h"}), 1, 3, func(s string) string { return s }).Draw(t, "names") {
			out = append(out, of(n))
		}
		return out
	}
	spec := map[string]any{}
	some(spec, "cohortName", word)
	some(spec, "namespaceSelector", func() any {
		out := map[string]any{}
		some(out, "matchLabels", func() any { return words() })
		return out
	})
	some(spec, "preemption", func() any {
		out := map[string]any{}
		some(out, "reclaimWithinCohort", word)
		some(out, "borrowWithinCohort", func() any { return map[string]any{"policy": word()} })
		return out
	})
	some(spec, "admissionChecksStrategy", func() any {
		return map[string]any{"admissionChecks": list(func(n string) any {
			out := map[string]any{"name": n}
			some(out, "onFlavors", func() any { return list(func(n string) any { return n }) })
			return out
		})}
	})
	some(spec, "resourceGroups", func() any {
		return []any{map[string]any{"coveredResources": []any{"cpu"}, "flavors": list(func(n string) any {
			return map[string]any{"name": n, "resources": []any{map[string]any{"name": "cpu", "nominalQuota": word()}}}
		})}}
	})
	meta := map[string]any{"name": "q"}
	some(meta, "labels", func() any { return words() })
	some(meta, "annotations", func() any { return words() })
	return map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": meta, "spec": spec}
}

// canonical is an object as the document of a fix can make it: what is empty and the
// order of sets do not count.
func canonical(v any) string {
	raw, _ := json.Marshal(v)
	var o any
	_ = json.Unmarshal(raw, &o)
	var clean func(path string, v any) any
	clean = func(path string, v any) any {
		switch v := v.(type) {
		case map[string]any:
			out := map[string]any{}
			for k, x := range v {
				x = clean(k, x)
				if m, ok := x.(map[string]any); x == nil || ok && len(m) == 0 && k != "namespaceSelector" {
					continue
				}
				out[k] = x
			}
			return out
		case []any:
			if path == "onFlavors" {
				set := map[string]any{}
				for _, x := range v {
					set[x.(string)] = true
				}
				return set
			}
			out := []any{}
			for _, x := range v {
				out = append(out, clean("", x))
			}
			return out
		}
		return v
	}
	return dump(clean("", o))
}

// leaves are the fields that are merged one by one, independent of the code under test.
func leaves(path string, v any, into map[string]bool) {
	switch x := v.(type) {
	case map[string]any:
		if path != ".spec.namespaceSelector" && len(x) > 0 {
			for k, y := range x {
				leaves(path+"."+k, y, into)
			}
			return
		}
	case []any:
		if !strings.HasSuffix(path, "resourceGroups") {
			for _, y := range x {
				if m, ok := y.(map[string]any); ok {
					leaves(path+"["+m["name"].(string)+"]", m, into)
				} else {
					into[path+"["+y.(string)+"]"] = true
				}
			}
			return
		}
	}
	into[path] = true
}

// Whatever is edited, and whatever was applied before: the real merge of the document
// makes the edited object of the one before, and nothing is refused but removals.
func TestFixIsTheEdit(t *testing.T) {
	gvk := schema.GroupVersionKind{Group: "kueue.x-k8s.io", Version: "v1beta2", Kind: "ClusterQueue"}
	converter := converterOf(t, managedfields.NewTypeConverter, gvk, definition(t, "clusterqueues")["kueue.x-k8s.io/v1beta2"])
	of := func(m map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: clone(m)}
	}
	refused, made, again := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		server := managedfieldstest.NewTestFieldManager(converter, gvk)
		if err := server.Update(of(drawQueue(t)), "kubectl"); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 3).Draw(t, "edits") {
			live := server.Live().(*unstructured.Unstructured)
			before, after := editable(live), drawQueue(t)
			if _, ok := before["spec"].(map[string]any); ok && rapid.Bool().Draw(t, "one field alone") {
				after = clone(before)
				spec := after["spec"].(map[string]any)
				field := rapid.SampledFrom([]string{"cohortName", "queueingStrategy"}).Draw(t, "field")
				spec[field] = rapid.SampledFrom([]string{"one", "two", "three"}).Draw(t, "its value")
			}
			keepMaps(before, after)
			f, err := fixOf(live, before, clone(after))
			var p *Problem
			switch {
			case errors.Is(err, ErrNoChange):
				if canonical(before) != canonical(after) {
					t.Fatalf("no change from %s\nto %s", canonical(before), canonical(after))
				}
				continue
			case errors.As(err, &p):
				had, has := map[string]bool{}, map[string]bool{}
				leaves("", before, had)
				leaves("", after, has)
				gone := false
				for k := range had {
					gone = gone || !has[k]
				}
				if !gone {
					t.Fatalf("refused, and nothing was removed: %v\nfrom %s\nto %s", err, canonical(before), canonical(after))
				}
				refused++
				continue
			case err != nil:
				t.Fatal(err)
			}
			var doc map[string]any
			if err := yaml.Unmarshal(f.Document, &doc); err != nil {
				t.Fatal(err)
			}
			if err := server.Apply(of(wish(doc)), FieldManager, true); err != nil {
				t.Fatalf("%v\n%s", err, f.Document)
			}
			got := editable(server.Live().(*unstructured.Unstructured))
			if canonical(got) != canonical(after) {
				t.Fatalf("from   %s\nwanted %s\ngot    %s\nby\n%s", canonical(before), canonical(after), canonical(got), f.Document)
			}
			// What the editor shows when the fix is edited again is what it makes.
			shown := laid("kueue.x-k8s.io/v1beta2", place{}, value{before, true}, value{wish(doc), true})
			if !strings.Contains(strings.Join(f.Paths, ","), "(removed)") && canonical(shown) != canonical(after) {
				t.Fatalf("shown %s\nwanted %s", canonical(shown), canonical(after))
			}
			made++
			if len(f.Kept) > 0 {
				again++
			}
		}
	})
	if made == 0 || refused == 0 || again == 0 {
		t.Errorf("%d made, %d of them after another, %d refused: it tests nothing", made, again, refused)
	}
}
