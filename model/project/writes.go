package project

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Writes reads metadata.managedFields: who wrote to the spec, the oldest first. A manager
// that only took fields away, or whose fields were all written over, is not known to the
// server either.
func Writes(m metav1.Object) []world.SpecWrite {
	var out []world.SpecWrite
	for _, f := range m.GetManagedFields() {
		if f.FieldsV1 == nil || f.Time == nil || f.Subresource != "" {
			continue
		}
		var all map[string]json.RawMessage
		if json.Unmarshal([]byte(f.FieldsV1.GetRawString()), &all) != nil {
			continue
		}
		spec, ok := all["f:spec"]
		if !ok {
			continue
		}
		w := world.SpecWrite{Manager: intern(text.Clean(f.Manager)), At: f.Time.Time, Fields: leaves(nil, "", spec)}
		if len(w.Fields) > 0 {
			slices.Sort(w.Fields)
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b world.SpecWrite) int { return a.At.Compare(b.At) })
	return out
}

// leaves adds the paths of a set of fields that have no fields below them. An entry of a
// list ("k:{...}", "v:...") stands for the list.
func leaves(out []string, at string, raw json.RawMessage) []string {
	var in map[string]json.RawMessage
	if json.Unmarshal(raw, &in) != nil {
		return out
	}
	below := false
	for name, next := range in {
		field, ok := strings.CutPrefix(name, "f:")
		if !ok {
			continue
		}
		below = true
		path := text.Clean(field)
		if at != "" {
			path = at + "." + path
		}
		out = leaves(out, path, next)
	}
	if !below && at != "" {
		out = append(out, at)
	}
	return out
}
