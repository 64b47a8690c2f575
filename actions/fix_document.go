package actions

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"cli.holdfast.dev/holdfast/model/text"
)

// What a server-side apply has to say so that an object becomes as a person edited it.

// shape is how a server-side apply brings a field together with what it was.
type shape int

const (
	plain  shape = iota // maps member by member, all else as a whole
	whole               // as a whole, be it a map
	named               // a list, entry by entry, which go by their names
	asASet              // a list, item by item
)

// shapes are the fields of the editable kinds that are not plain, by their path, as
// Kueue's definitions mark them.
var shapes = map[string]shape{
	"spec.namespaceSelector":                                   whole,
	"spec.nodeLabels":                                          whole,
	"spec.admissionChecksStrategy.admissionChecks":             named,
	"spec.admissionChecksStrategy.admissionChecks[].onFlavors": asASet,
}

// shapeOf is the shape of the field in the API version. Lists are marked as merged from
// v1beta2 on.
func shapeOf(api, schema string) shape {
	s := shapes[schema]
	if s > whole && api != "kueue.x-k8s.io/v1beta2" {
		return whole
	}
	return s
}

// place is a field: as shapes call it, as a person reads it, and as it stands in
// managedFields.
type place struct {
	schema, name string
	owned        []string
}

func (p place) member(key string) place {
	return place{memberOf(p.schema, key), memberOf(p.name, key), append(slices.Clone(p.owned), "f:"+key)}
}

func (p place) entry(name string) place {
	return place{p.schema + "[]", p.name + "[" + name + "]", append(slices.Clone(p.owned), "k:"+string(mustJSON(map[string]any{"name": name})))}
}

func (p place) item(v any) place {
	return place{p.schema + "[]", p.name + "[" + value{v, true}.line() + "]", append(slices.Clone(p.owned), "v:"+string(mustJSON(v)))}
}

// document is made by a walk over an object before and after an edit.
type document struct {
	api string
	// changed are the fields that the edit sets, kept those that it leaves and that an
	// earlier apply set: left out, they would be taken away.
	changed, kept []string
	removed       []removal
}

// removal is a field that is not in the edited text any more.
type removal struct {
	place
	was any
}

// value is what the document says of a field; false: nothing. mine are the parts of
// the field that an earlier apply set; nil: none.
func (d *document) value(p place, was, is value, mine holding) (any, bool) {
	was.ok, is.ok = was.ok && was.v != nil, is.ok && is.v != nil
	switch {
	case !is.ok && was.ok:
		d.removed = append(d.removed, removal{p, was.v})
		return nil, false
	case !is.ok:
		return nil, false
	case !was.ok:
		d.changed = append(d.changed, text.Clean(p.name))
		return withoutNull(is.v), true
	}
	switch s := shapeOf(d.api, p.schema); {
	case s == plain && isMap(was) && isMap(is):
		out := d.members(p, was, is, mine)
		return out, len(out) > 0 || mine.itself()
	case s == named && namesIn(was).ok && namesIn(is).ok && isList(is):
		return d.entries(p, namesIn(was), namesIn(is), mine)
	case s == asASet && isList(was) && isList(is):
		return d.items(p, was.v.([]any), is.v.([]any), mine)
	case !is.equal(was):
		d.changed = append(d.changed, text.Clean(p.name))
		return withoutNull(is.v), true
	case mine != nil:
		d.kept = append(d.kept, text.Clean(p.name))
		return is.v, true
	}
	return nil, false
}

func (d *document) members(p place, was, is value, mine holding) map[string]any {
	out := map[string]any{}
	for _, k := range keysOf(was, is) {
		if v, ok := d.value(p.member(k), was.member(k), is.member(k), mine.below("f:"+k)); ok {
			out[k] = v
		}
	}
	return out
}

// entries says of a list what is new and changed in it; all of its names where they
// would come into another order otherwise.
func (d *document) entries(p place, was, is entries, mine holding) (any, bool) {
	var stay, fresh []string
	for _, n := range was.names {
		if is.entry(n).ok {
			stay = append(stay, n)
		} else {
			d.removed = append(d.removed, removal{p.entry(n), was.by[n]})
		}
	}
	for _, n := range is.names {
		if !was.entry(n).ok {
			fresh = append(fresh, n)
		}
	}
	moved := !slices.Equal(append(slices.Clone(stay), fresh...), is.names)
	if moved {
		d.changed = append(d.changed, text.Clean(p.name+" (order)"))
	}
	out := []any{}
	for _, n := range is.names {
		q := p.entry(n)
		own := mine.below(q.owned[len(q.owned)-1])
		v, says := d.value(q, was.entry(n), is.entry(n), own)
		if !says && own == nil && !moved {
			continue
		}
		m, _ := v.(map[string]any)
		if m == nil {
			m = map[string]any{}
		}
		m["name"] = n
		out = append(out, m)
	}
	return out, len(out) > 0
}

// items says what is new in a set.
func (d *document) items(p place, was, is []any, mine holding) (any, bool) {
	for _, x := range was {
		if !contains(is, x) {
			d.removed = append(d.removed, removal{p.item(x), x})
		}
	}
	out := []any{}
	for _, x := range is {
		q := p.item(x)
		switch {
		case !contains(was, x):
			d.changed = append(d.changed, text.Clean(q.name))
		case mine.below(q.owned[len(q.owned)-1]) != nil:
			d.kept = append(d.kept, text.Clean(q.name))
		default:
			continue
		}
		out = append(out, x)
	}
	return out, len(out) > 0
}

// contains reports whether the list has an equal of x.
func contains(all []any, x any) bool {
	return slices.ContainsFunc(all, func(y any) bool { return value{x, true}.equal(value{y, true}) })
}

// withoutNull is v without the members that are null: they ask for nothing.
func withoutNull(v any) any {
	if m, ok := v.(map[string]any); ok {
		return mergeApply(nil, m)
	}
	return v
}

// holding is a part of managedFields: what a manager owns at a place. Nil is nothing; an
// empty one is a field that is owned as a whole.
type holding map[string]any

func (o holding) below(key string) holding {
	m, ok := o[key].(map[string]any)
	if !ok {
		return nil
	}
	return m
}

// itself reports whether a map is owned beside its members.
func (o holding) itself() bool { return o != nil && (len(o) == 0 || o.below(".") != nil) }

// at is what is owned at the path.
func (o holding) at(path []string) holding {
	for _, k := range path {
		o = o.below(k)
	}
	return o
}

// all reports whether everything of the value is owned.
func (o holding) all(api string, p place, v any) bool {
	m, ok := v.(map[string]any)
	if !ok || shapeOf(api, p.schema) != plain {
		return o.at(p.owned) != nil
	}
	for k, x := range m {
		if !o.all(api, p.member(k), x) {
			return false
		}
	}
	return len(m) > 0 || o.at(p.owned) != nil
}

// ownership is who owns fields of an object.
type ownership struct {
	// mine are the fields that this program's applies set.
	mine   holding
	others []holding
	// converted is set where others own fields in another API version, in which they
	// may have other names.
	converted bool
}

// ownersOf reads managedFields. A *Problem says that this program applied the object in
// another API version: which fields these are in this one is not known.
func ownersOf(o *unstructured.Unstructured) (ownership, error) {
	var out ownership
	for _, m := range o.GetManagedFields() {
		if m.Subresource != "" {
			continue
		}
		ours := m.Manager == FieldManager && m.Operation == "Apply"
		if m.APIVersion != o.GetAPIVersion() {
			if ours {
				return out, &Problem{
					What: text.Clean(fmt.Sprintf("%s %s was applied in %s by this program before, and is edited in %s: what that apply set could be lost", o.GetKind(), o.GetName(), m.APIVersion, o.GetAPIVersion())),
					Do:   "Take a file with all of the object's corrected fields.",
				}
			}
			out.converted = true
			continue
		}
		var fields holding
		if m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields) != nil {
			out.converted = out.converted || !ours
			continue
		}
		if ours {
			out.mine = fields
		} else {
			out.others = append(out.others, fields)
		}
	}
	return out, nil
}

// removes reports whether leaving the field out of the next apply takes it away.
func (w ownership) removes(api string, r removal) bool {
	if w.converted || !w.mine.all(api, r.place, r.was) {
		return false
	}
	for _, o := range w.others {
		if o.at(r.owned) != nil {
			return false
		}
	}
	return true
}
