package actions

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/text"
)

// Field is one field of an object that somebody changed between a plan and its
// execution, or that the plan changes.
type Field struct {
	// Path names it ("spec.resourceGroups[0].flavors[spot].resources[cpu].nominalQuota").
	// Entries of lists go by their name where all have one.
	Path string
	// Was is the value when the plan was made, Now the one of the cluster now, Yours
	// the one that the plan or the person's text has: YAML on one line, safe to draw;
	// empty where there is no such field.
	Was, Now, Yours string
}

// Theirs reports whether somebody else changed the field.
func (f Field) Theirs() bool { return f.Now != f.Was }

// Mine reports whether the plan or the text changes the field.
func (f Field) Mine() bool { return f.Yours != f.Was }

// Clash reports whether both changed it, and not to the same.
func (f Field) Clash() bool { return f.Theirs() && f.Mine() && f.Now != f.Yours }

// String is the field on one line.
func (f Field) String() string {
	show := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return s
	}
	switch {
	case f.Clash():
		return fmt.Sprintf("%s: was %s, is now %s, yours is %s: CHANGED BY BOTH", f.Path, show(f.Was), show(f.Now), show(f.Yours))
	case f.Theirs() && f.Mine():
		return fmt.Sprintf("%s: %s -> %s, by both alike", f.Path, show(f.Was), show(f.Now))
	case f.Theirs():
		return fmt.Sprintf("%s: %s -> %s, by somebody else", f.Path, show(f.Was), show(f.Now))
	}
	return fmt.Sprintf("%s: %s -> %s, by you", f.Path, show(f.Was), show(f.Yours))
}

// threeWay brings two changes of one object together: it returns was with the
// changes of now and of yours, and the fields that are not the same in all three, in
// the order of their paths. Where both changed a field, yours is taken. The arguments
// are decoded JSON and are not changed; the result shares parts with them.
func threeWay(was, now, yours map[string]any) (map[string]any, []Field) {
	m := merger{}
	out := m.walk("", value{was, true}, value{now, true}, value{yours, true})
	merged, _ := out.v.(map[string]any)
	return merged, m.fields
}

// value is a value of a field, or that there is none.
type value struct {
	v  any
	ok bool
}

func (a value) equal(b value) bool { return a.ok == b.ok && reflect.DeepEqual(a.v, b.v) }

// member is the value of a map's key; a value that is no map has none.
func (a value) member(key string) value {
	m, _ := a.v.(map[string]any)
	v, ok := m[key]
	return value{v, ok}
}

// line is the value as Field has it.
func (a value) line() string {
	if !a.ok {
		return ""
	}
	switch a.v.(type) {
	case map[string]any, []any:
		return text.Clean(string(mustJSON(a.v))) // JSON is YAML, too
	}
	y, err := yaml.Marshal(a.v)
	if s := strings.TrimSpace(string(y)); err == nil && !strings.Contains(s, "\n") {
		return text.Clean(s)
	}
	return text.Clean(string(mustJSON(a.v)))
}

type merger struct{ fields []Field }

func (m *merger) walk(path string, was, now, yours value) value {
	if now.equal(was) && yours.equal(was) {
		return was
	}
	if now.equal(yours) {
		return m.leaf(path, was, now, yours)
	}
	if allMaps(was, now, yours) {
		return m.maps(path, was, now, yours)
	}
	if !isList(now) || !isList(yours) || was.ok && !isList(was) {
		return m.leaf(path, was, now, yours)
	}
	if w, n, y := namesIn(was), namesIn(now), namesIn(yours); w.ok && n.ok && y.ok {
		return m.named(path, w, n, y)
	}
	if sameShape(was, now, yours) {
		return m.indexed(path, was, now, yours)
	}
	return m.leaf(path, was, now, yours)
}

// leaf takes a field as a whole.
func (m *merger) leaf(path string, was, now, yours value) value {
	m.fields = append(m.fields, Field{Path: text.Clean(path), Was: was.line(), Now: now.line(), Yours: yours.line()})
	if yours.equal(was) {
		return now
	}
	return yours
}

func (m *merger) maps(path string, was, now, yours value) value {
	out := map[string]any{}
	for _, k := range keysOf(was, now, yours) {
		if v := m.walk(memberOf(path, k), was.member(k), now.member(k), yours.member(k)); v.ok {
			out[k] = v.v
		}
	}
	return value{out, true}
}

// keysOf are the keys that one of the maps has, sorted.
func keysOf(vs ...value) []string {
	keys := map[string]any{}
	for _, v := range vs {
		maps.Copy(keys, mapOf(v))
	}
	return sortedKeys(keys)
}

// memberOf is the path of a map's member.
func memberOf(path, key string) string {
	if strings.ContainsAny(key, "./[] ") {
		return path + "[" + key + "]"
	}
	return strings.TrimPrefix(path+"."+key, ".")
}

// indexed brings lists of equally many maps together, one by one.
func (m *merger) indexed(path string, was, now, yours value) value {
	a, b, c := was.v.([]any), now.v.([]any), yours.v.([]any)
	out := make([]any, 0, len(a))
	for i := range a {
		v := m.walk(fmt.Sprintf("%s[%d]", path, i), value{a[i], true}, value{b[i], true}, value{c[i], true})
		out = append(out, v.v)
	}
	return value{out, true}
}

// entries is a list whose entries have names of their own.
type entries struct {
	names []string
	by    map[string]any
	ok    bool
}

func (e entries) entry(name string) value {
	v, ok := e.by[name]
	return value{v, ok}
}

// namesIn reads a list by the names of its entries; one that is not there is empty.
func namesIn(list value) entries {
	out := entries{by: map[string]any{}, ok: true}
	all, _ := list.v.([]any)
	for _, x := range all {
		item, _ := x.(map[string]any)
		name, named := item["name"].(string)
		if _, twice := out.by[name]; !named || twice {
			return entries{}
		}
		out.names, out.by[name] = append(out.names, name), item
	}
	return out
}

// named brings lists together by the names of their entries.
func (m *merger) named(path string, was, now, yours entries) value {
	order := m.order(path, was, now, yours)
	out := []any{}
	for _, n := range order {
		if v := m.walk(path+"["+n+"]", was.entry(n), now.entry(n), yours.entry(n)); v.ok {
			out = append(out, v.v)
		}
	}
	return value{out, true}
}

// order is the order of all entries of the three lists. Kueue tries flavors in the
// order in which they stand, so a change of it is a change.
func (m *merger) order(path string, was, now, yours entries) []string {
	common := func(e entries) value {
		out := []any{}
		for _, n := range e.names {
			if was.entry(n).ok && now.entry(n).ok && yours.entry(n).ok {
				out = append(out, n)
			}
		}
		return value{out, true}
	}
	a, b, c := common(was), common(now), common(yours)
	if !b.equal(a) || !c.equal(a) {
		m.leaf(path+" (order)", a, b, c)
	}
	first, rest := now.names, yours.names
	if !slices.Equal(yours.names, was.names) && (slices.Equal(now.names, was.names) || !c.equal(a)) {
		first, rest = rest, first
	}
	return union(union(union(nil, first), rest), was.names)
}

func mapOf(v value) map[string]any { m, _ := v.v.(map[string]any); return m }

func isMap(v value) bool { _, ok := v.v.(map[string]any); return ok }

func isList(v value) bool { _, ok := v.v.([]any); return ok }

// allMaps reports whether the fields can be looked at one by one.
func allMaps(was, now, yours value) bool {
	return isMap(now) && isMap(yours) && (isMap(was) || !was.ok)
}

// sameShape reports whether the three are lists of equally many maps.
func sameShape(was, now, yours value) bool {
	a, _ := was.v.([]any)
	b, _ := now.v.([]any)
	c, _ := yours.v.([]any)
	if !was.ok || len(a) != len(b) || len(a) != len(c) {
		return false
	}
	for _, l := range [][]any{a, b, c} {
		for _, x := range l {
			if _, ok := x.(map[string]any); !ok {
				return false
			}
		}
	}
	return true
}

// meanwhileIn compares the object that a plan was made from with what it is now and
// with what the plan makes of it. Before the plan there may have been none.
func meanwhileIn(was, now, yours *unstructured.Unstructured) []Field {
	_, fields := threeWay(bare(was).Object, bare(now).Object, bare(yours).Object)
	if len(was.Object) > 0 {
		return fields
	}
	return slices.DeleteFunc(fields, func(f Field) bool { return f.Now == f.Yours })
}
