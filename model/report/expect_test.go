package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// An expectation has the shape of a report, which may hold more. Its keys:
//
//	key     a scalar, null or a list of scalars is equal; of an object each key is
//	        looked at; of a list of objects each is found by its identity
//	key~    a string or strings that occur in the value, in any case; "~" alone:
//	        anywhere in the object itself
//	key|    the value is one of these
//	key#    the list has exactly so many entries
//	key!    nothing with these identities is in the list
//	forbid  at the top: code points that no string may hold, "U+0000-U+001F"
type comparison struct {
	checks int
	bad    int
	lines  []string // a mismatch each, with its path; of what is missing with all that is in it only the first
	spoils []spoil
}

// spoil is one place where the report was found right. wrong makes it wrong there
// and returns what makes it right again.
type spoil struct {
	path  string
	wrong func() (right func())
}

func matched(want map[string]any, got any) *comparison {
	c := &comparison{}
	forbid, _ := want["forbid"].([]any)
	rest := maps.Clone(want)
	delete(rest, "forbid")
	c.object(rest, got, "$")
	for _, f := range forbid {
		c.forbid(f.(string), got)
	}
	return c
}

// missing stands for a value that is not there.
type missing struct{}

func show(v any) string {
	if v == (missing{}) {
		return "nothing"
	}
	b, _ := json.Marshal(v)
	// In ASCII, so that a hostile report does not act on this terminal.
	out := strings.ReplaceAll(strconv.QuoteToASCII(string(b)), `\"`, `"`)
	return out[1:min(len(out)-1, 300)]
}

// expect counts a check. An empty path is inside of something that is missing: it
// was said once.
func (c *comparison) expect(ok bool, path, want string, got any) {
	c.checks++
	if ok {
		return
	}
	c.bad++
	if path != "" {
		c.lines = append(c.lines, fmt.Sprintf("%s: expected %s, found %s", path, want, show(got)))
	}
}

// spoiled notes a place: to be wrong, the key of the object gets the value.
func (c *comparison) spoiled(path string, in map[string]any, key string, value any) {
	c.spoils = append(c.spoils, spoil{path, func() func() {
		old, ok := in[key]
		in[key] = value
		return func() {
			if in[key] = old; !ok {
				delete(in, key)
			}
		}
	}})
}

func (c *comparison) object(want map[string]any, got any, path string) {
	g, ok := got.(map[string]any)
	c.expect(ok, path, "an object", got)
	if !ok {
		g, path = map[string]any{}, ""
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		name, kind := key, byte(0)
		if last := len(key) - 1; strings.IndexByte("~|#!", key[last]) >= 0 {
			name, kind = key[:last], key[last]
		}
		c.key(name, kind, want[key], g, path)
	}
}

func (c *comparison) key(name string, kind byte, want any, in map[string]any, path string) {
	got, ok := in[name]
	if !ok {
		got = missing{}
	}
	if name == "" {
		got = in
	} else if path != "" {
		path += "." + name
	}
	wrong := func(v any) { c.spoiled(path, in, name, v) }
	of, isList := got.([]any)
	switch kind {
	case '~':
		words, many := want.([]any)
		if !many {
			words = []any{want}
		}
		text := strings.ToLower(strings.Join(stringsIn(got), "\n"))
		for _, word := range words {
			c.expect(strings.Contains(text, strings.ToLower(word.(string))), path, "text with "+show(word), got)
			if name != "" {
				wrong("?")
			} else {
				c.spoils = append(c.spoils, spoil{path, func() func() { return strip(in, word.(string)) }})
			}
		}
	case '|':
		c.expect(slices.ContainsFunc(want.([]any), func(w any) bool { return same(w, got) }), path, "one of "+show(want), got)
		wrong([]any{"?"})
	case '#':
		n := int(want.(float64))
		c.expect(isList && len(of) == n, path, fmt.Sprintf("%d entries", n), got)
		wrong(append(slices.Clone(of), map[string]any{}))
	case '!':
		for _, w := range want.([]any) {
			e := w.(map[string]any)
			c.expect(isList && len(find(e, slices.Collect(maps.Keys(e)), of)) == 0, path, "a list without "+show(w), got)
			wrong(append(slices.Clone(of), w))
		}
	default:
		c.plain(want, got, path, wrong)
	}
}

func (c *comparison) plain(want, got any, path string, wrong func(any)) {
	if w, ok := want.(map[string]any); ok {
		c.object(w, got, path)
		return
	}
	if w, ok := want.([]any); ok && len(w) > 0 {
		if _, ok := w[0].(map[string]any); ok {
			of, isList := got.([]any)
			c.expect(isList, path, "a list", got)
			if !isList {
				path = ""
			}
			c.entries(w, of, path)
			return
		}
	}
	c.expect(same(want, got), path, show(want), got)
	switch v := got.(type) {
	case bool:
		wrong(!v)
	case float64:
		wrong(v + 1)
	case []any:
		wrong([]any{v})
	default:
		wrong("?")
	}
}

// identities are the keys by which an entry of a list is found; the first of which
// the expectation has all.
var identities = [][]string{
	{"uid"}, {"namespace", "name"}, {"name"}, {"flavor", "resource"}, {"victim"}, {"reason", "underlyingCause"}, {"kind", "object"}, {"reason"},
}

func (c *comparison) entries(want, found []any, path string) {
	last := -1
	for _, x := range want {
		w := x.(map[string]any)
		keys := identity(w)
		at := find(w, keys, found)
		switch {
		case len(keys) == 0: // a chain: the one that differs least
			at = nearest(w, found, at)
		case keys[0] == "victim": // links run from the last victim up
			at = slices.DeleteFunc(at, func(i int) bool { return i <= last })
		}
		label, rest := path, maps.Clone(w)
		for _, k := range keys {
			delete(rest, k)
		}
		if label != "" {
			label += "[" + idText(w, keys) + "]"
		}
		var got any = fmt.Sprintf("%d such entries here", len(at))
		if len(at) == 1 {
			got = found[at[0]]
			for _, k := range keys {
				c.spoiled(label+"."+k, got.(map[string]any), k, "?")
			}
		}
		c.object(rest, got, label)
		for _, i := range at {
			last = max(last, i)
		}
	}
}

func identity(w map[string]any) []string {
	for _, keys := range identities {
		if !slices.ContainsFunc(keys, func(k string) bool { _, ok := w[k]; return !ok }) {
			return keys
		}
	}
	return nil
}

func idText(w map[string]any, keys []string) string {
	var out []string
	for _, k := range keys {
		out = append(out, fmt.Sprintf("%s=%v", k, w[k]))
	}
	return strings.Join(out, ",")
}

// find returns where objects stand that have the same values of the keys.
func find(want map[string]any, keys []string, found []any) []int {
	var out []int
	for i, f := range found {
		g, ok := f.(map[string]any)
		if ok && !slices.ContainsFunc(keys, func(k string) bool { v, ok := g[k]; return !ok || !same(want[k], v) }) {
			out = append(out, i)
		}
	}
	return out
}

func nearest(want map[string]any, found []any, at []int) []int {
	least, best := 0, -1
	for _, i := range at {
		if bad := matched(want, found[i]).bad; best < 0 || bad < least {
			least, best = bad, i
		}
	}
	if best < 0 {
		return nil
	}
	return []int{best}
}

// same compares values of JSON.
func same(want, got any) bool {
	w, ok := want.([]any)
	g, also := got.([]any)
	if ok && also {
		return slices.EqualFunc(w, g, same)
	}
	wm, ok := want.(map[string]any)
	gm, also := got.(map[string]any)
	if ok && also {
		return maps.EqualFunc(wm, gm, same)
	}
	switch want.(type) {
	case []any, map[string]any:
		return false
	}
	switch got.(type) {
	case []any, map[string]any:
		return false
	}
	return want == got
}

// stringsIn lists every string in the value, not the keys.
func stringsIn(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, stringsIn(x)...)
		}
		return out
	case map[string]any:
		var out []string
		for _, x := range v {
			out = append(out, stringsIn(x)...)
		}
		return out
	}
	return nil
}

// strip takes the word out of every string in the object, and returns what puts
// the object back.
func strip(in map[string]any, word string) func() {
	old := maps.Clone(in)
	for k, v := range in {
		in[k] = without(v, strings.ToLower(word))
	}
	return func() { maps.Copy(in, old) }
}

func without(v any, word string) any {
	switch v := v.(type) {
	case string:
		if strings.Contains(strings.ToLower(v), word) {
			return "?"
		}
	case []any:
		out := make([]any, 0, len(v))
		for _, x := range v {
			out = append(out, without(x, word))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = without(x, word)
		}
		return out
	}
	return v
}

func (c *comparison) forbid(span string, got any) {
	first, last, ok := strings.Cut(span, "-")
	if !ok {
		last = first
	}
	from, to := codePoint(first), codePoint(last)
	bad := slices.IndexFunc(stringsIn(got), func(s string) bool {
		return strings.IndexFunc(s, func(r rune) bool { return from <= r && r <= to }) >= 0
	})
	c.expect(bad < 0, "$", "no "+span, "a string with it")
	if in, ok := got.(map[string]any); ok {
		c.spoiled(span, in, "text", string(from))
		c.spoiled(span, in, "text", string(to))
	}
}

func codePoint(s string) rune {
	n, err := strconv.ParseInt(strings.TrimPrefix(s, "U+"), 16, 32)
	if err != nil {
		panic(err)
	}
	return rune(n)
}
