package project

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"cli.holdfast.dev/holdfast/model/text"
)

// Write is what the server remembers of a field manager that wrote to an object's spec.
type Write struct {
	// Manager is the program's name for itself, safe to draw; not that of a person.
	Manager string
	// At is when it last added, changed or removed any of its fields; earlier writes of
	// the same manager are forgotten.
	At time.Time
	// Fields are those of the spec that it has set and nobody has changed since, as paths
	// below spec ("preemption.reclaimWithinCohort"), sorted. Lists that are written as a
	// whole are one field.
	Fields []string
}

// Writes reads metadata.managedFields: who wrote to the spec, the oldest first. A manager
// that only took fields away, or whose fields were all written over, is not known to the
// server either.
func Writes(m metav1.Object) []Write {
	var out []Write
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
		w := Write{Manager: text.Clean(f.Manager), At: f.Time.Time, Fields: leaves(nil, "", spec)}
		if len(w.Fields) > 0 {
			slices.Sort(w.Fields)
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b Write) int { return a.At.Compare(b.At) })
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
