package actions

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/text"
)

// What a person wrote: reading it, and refusing what it cannot mean.

// stale refuses a file that was taken from another object of the name, or from an
// older spec: applied, it would undo what was done since.
func stale(file, live *unstructured.Unstructured) error {
	const do = "Take the object anew, or remove metadata.uid and metadata.generation if the file's content is meant as it stands."
	if uid := file.GetUID(); uid != "" && uid != live.GetUID() {
		return &Problem{What: text.Clean(fmt.Sprintf("the file is of an object with UID %s, the one in the cluster has %s", uid, live.GetUID())), Do: do, Conflict: true}
	}
	if g := file.GetGeneration(); g != 0 && g != live.GetGeneration() {
		return &Problem{What: fmt.Sprintf("the file was taken at generation %d, the object is at %d", g, live.GetGeneration()), Do: do, Conflict: true}
	}
	return nil
}

// wish is the part of a file that a person can mean.
func wish(file map[string]any) map[string]any {
	out := maps.Clone(file)
	delete(out, "status")
	meta, _ := file["metadata"].(map[string]any)
	keep := map[string]any{}
	for _, k := range []string{"name", "namespace", "labels", "annotations"} {
		if v, ok := meta[k]; ok {
			keep[k] = v
		}
	}
	if a, ok := keep["annotations"].(map[string]any); ok {
		a = maps.Clone(a)
		delete(a, lastApplied)
		keep["annotations"] = a
	}
	out["metadata"] = keep
	return out
}

// parseOne reads exactly one object out of YAML or JSON. Duplicate keys are
// errors: the person meant one of the two.
func parseOne(raw []byte) (map[string]any, error) {
	if n := documents(raw); n > 1 {
		return nil, &Problem{What: fmt.Sprintf("the text holds %d documents", n), Do: "Keep one; each object is changed on its own.", Rejected: true}
	}
	var out map[string]any
	asJSON, err := yaml.YAMLToJSONStrict(raw)
	if err == nil {
		err = utiljson.Unmarshal(asJSON, &out) // keeps whole numbers whole
	}
	if err != nil {
		return nil, &Problem{What: "the text is not one YAML object: " + clean(err), Do: "Correct it and save again.", Rejected: true, Err: err}
	}
	if len(out) == 0 {
		return nil, &Problem{What: "the text is empty", Do: "Nothing was changed.", Rejected: true}
	}
	return out, nil
}

// parseAll reads all objects out of YAML or JSON, those in Lists one by one.
func parseAll(raw []byte) ([]map[string]any, error) {
	var out []map[string]any
	for r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw))); ; {
		doc, err := r.Read()
		if documents(doc) > 0 {
			one, err := parseOne(doc)
			if err != nil {
				return nil, err
			}
			items, isList := one["items"].([]any)
			if kind, _ := one["kind"].(string); !isList || !strings.HasSuffix(kind, "List") {
				items = []any{one}
			}
			for i, item := range items {
				m, ok := item.(map[string]any)
				if !ok {
					return nil, &Problem{What: fmt.Sprintf("item %d of a list is no object", i+1), Do: "Correct it and try again.", Rejected: true}
				}
				out = append(out, m)
			}
		}
		if err != nil {
			break
		}
	}
	if len(out) == 0 {
		return nil, &Problem{What: "the file holds no object", Do: "Nothing was changed.", Rejected: true}
	}
	return out, nil
}

// documents counts the YAML documents in raw that hold more than comments.
func documents(raw []byte) int {
	n := 0
	for r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw))); ; {
		doc, err := r.Read()
		for _, l := range strings.Split(string(doc), "\n") {
			if l = strings.TrimSpace(l); l != "" && l != "---" && !strings.HasPrefix(l, "#") {
				n++
				break
			}
		}
		if err != nil {
			return n
		}
	}
}

// mean makes of want, the text of a person who edited before, what an edit may
// change: it refuses what cannot be meant and says what it set aside.
func mean(before, want map[string]any) ([]string, error) {
	if err := sameObject(before, want); err != nil {
		return nil, err
	}
	if err := wellFormed(before, want); err != nil {
		return nil, err
	}
	notes := setAside(before, want)
	keepMaps(before, want)
	return notes, nil
}

// sameObject refuses a text that speaks of another object than was opened.
func sameObject(before, want map[string]any) error {
	a, b := unstructured.Unstructured{Object: before}, unstructured.Unstructured{Object: want}
	for _, f := range []struct{ field, was, is string }{
		{"apiVersion", a.GetAPIVersion(), b.GetAPIVersion()}, {"kind", a.GetKind(), b.GetKind()},
		{"metadata.name", a.GetName(), b.GetName()}, {"metadata.namespace", a.GetNamespace(), b.GetNamespace()},
	} {
		if f.was != f.is {
			return &Problem{What: text.Clean(fmt.Sprintf("%s is %q, it must stay %q", f.field, f.is, f.was)), Do: "Set it back; another object is edited on its own.", Rejected: true}
		}
	}
	return nil
}

// wellFormed refuses a text in which a map became something else: taken as it
// stands it would remove all that the map held.
func wellFormed(before, want map[string]any) error {
	for _, path := range [][]string{{"metadata"}, {"metadata", "labels"}, {"metadata", "annotations"}, {"spec"}} {
		if _, had, err := unstructured.NestedMap(before, path...); !had || err != nil {
			continue
		}
		v, has, err := unstructured.NestedFieldNoCopy(want, path...)
		if _, isMap := v.(map[string]any); err == nil && (isMap || !has && len(path) > 1) {
			continue
		}
		return &Problem{What: strings.Join(path, ".") + " is not a map of names and values any more", Do: "Put it back; to remove single entries, remove their lines.", Rejected: true}
	}
	return nil
}

// ownPrefix begins the names of the annotations that only this program writes.
const ownPrefix = "holdfast.dev/"

// keepMaps makes sure that labels and annotations are removed one by one: a
// patch that sets the whole map to null would take away what the text never
// showed, the hold record among it.
func keepMaps(before, want map[string]any) {
	for _, f := range []string{"labels", "annotations"} {
		if _, had, _ := unstructured.NestedMap(before, "metadata", f); had {
			if m, has, err := unstructured.NestedMap(want, "metadata", f); !has || err != nil || m == nil {
				_ = unstructured.SetNestedMap(want, map[string]any{}, "metadata", f)
			}
		}
	}
}

// setAside takes out of want what only hold and resume may change, and says so.
func setAside(before, want map[string]any) []string {
	var notes []string
	was, had, _ := unstructured.NestedFieldCopy(before, "spec", "stopPolicy")
	is, has, _ := unstructured.NestedFieldCopy(want, "spec", "stopPolicy")
	if had != has || was != is {
		notes = append(notes, "stopPolicy in the text was set aside: use hold and resume.")
		if had {
			_ = unstructured.SetNestedField(want, was, "spec", "stopPolicy")
		} else {
			unstructured.RemoveNestedField(want, "spec", "stopPolicy")
		}
	}
	ann, _, _ := unstructured.NestedMap(want, "metadata", "annotations")
	for k := range ann {
		if strings.HasPrefix(k, ownPrefix) {
			notes = append(notes, text.Clean(k)+" in the text was set aside: only hold and resume write it.")
			unstructured.RemoveNestedField(want, "metadata", "annotations", k)
		}
	}
	return notes
}
