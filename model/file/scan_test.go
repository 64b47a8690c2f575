package file

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	clean "cli.holdfast.dev/holdfast/model/text"
)

// anyJSON draws a value such as objects are made of, with the texts that could
// lead a scanner or a splitter astray.
func anyJSON() *rapid.Generator[any] {
	text := rapid.OneOf(
		rapid.SampledFrom([]string{"", "\"", "\\", "\\\"", "}", "]", "{[", "a\nitems:\n- b\n", "- a", "\n- a\n", "items:", "---", "\n---\n", "...", "# no comment", " #", "'", "a: b", "&a", "*a", "\t", "|", ">-\n  x", "yes", "1", "1e3", "~", "?", "%"}),
		// YAML has no control characters, and the encoder does not escape all of them.
		rapid.String().Filter(func(s string) bool { return clean.Clean(s) == s }),
	)
	return rapid.Custom(func(t *rapid.T) any { return drawJSON(t, text, 3) })
}

func drawJSON(t *rapid.T, text *rapid.Generator[string], deep int) any {
	most := 4
	if deep > 0 {
		most = 6
	}
	switch rapid.IntRange(0, most).Draw(t, "what") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Int32().Draw(t, "number")
	case 3, 4:
		return text.Draw(t, "text")
	case 5:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range list {
			list[i] = drawJSON(t, text, deep-1)
		}
		return list
	}
	return drawObject(t, text, deep)
}

func drawObject(t *rapid.T, text *rapid.Generator[string], deep int) map[string]any {
	m := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		m[text.Draw(t, "key")] = drawJSON(t, text, deep-1)
	}
	return m
}

func encode(t rapid.TB, v any, indent string) []byte {
	out, err := json.MarshalIndent(v, "", indent)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What the scanner cuts is what encoding/json would, whatever the buffer's bounds
// cut, and the line numbers are right.
func TestScannerCutsAsTheDecoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		var want []string
		for range rapid.IntRange(1, 4).Draw(t, "values") {
			raw := encode(t, anyJSON().Draw(t, "value"), rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
			text = append(append(text, raw...), rapid.SampledFrom([]string{" ", "\n", "\r\n\t"}).Draw(t, "space")...)
			want = append(want, string(raw))
		}
		var r io.Reader = bytes.NewReader(text)
		if rapid.Bool().Draw(t, "one byte at a time") {
			r = iotest.OneByteReader(r)
		}
		s := &scanner{r: r, buf: make([]byte, rapid.IntRange(1, 64).Draw(t, "buffer")), keep: -1, limit: len(text)}
		var got []string
		line := 1
		for _, v := range want {
			if _, ok := s.space(); !ok {
				break
			}
			line = 1 + bytes.Count(text[:bytes.Index(text, []byte(v))], newline)
			if n := s.line(); len(want) == 1 && n != line {
				t.Errorf("line %d, want %d", n, line)
			}
			raw, err := s.cut()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(raw))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("values (-want +got):\n%s", d)
		}
		if c, ok := s.space(); ok {
			t.Errorf("%q is left over", c)
		}
		if n := 1 + bytes.Count(text, newline); s.line() != n {
			t.Errorf("line %d at the end, want %d", s.line(), n)
		}
	})
}

func TestScannerGivesUpOnLongValues(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 100) + `"}`
	s := &scanner{r: strings.NewReader(`1 ` + long + ` {"b":2}`), buf: make([]byte, 8), keep: -1, limit: 50}
	var got []string
	for range 3 {
		raw, err := s.cut()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(raw))
	}
	if d := cmp.Diff([]string{"1", "", `{"b":2}`}, got); d != "" {
		t.Errorf("values (-want +got):\n%s", d)
	}
	if len(s.buf) > 200 {
		t.Errorf("the buffer grew to %d bytes for values of at most 50", len(s.buf))
	}
}

// A list cut into its items is the list, whenever the cutting claims to have
// worked; lists as kubectl and sigs.k8s.io/yaml write them can be cut.
func TestSplitItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}}
		var items []any
		text := rapid.Custom(func(t *rapid.T) string {
			s, ok := anyJSON().Draw(t, "text").(string)
			if !ok {
				return "key"
			}
			return s
		})
		for range rapid.IntRange(1, 4).Draw(t, "items") {
			items = append(items, drawObject(t, text, 3))
		}
		list["items"] = items
		doc, err := yaml.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		whole := parse(t, doc)
		rest, parts, ok := splitItems(doc)
		if !ok || len(parts) != len(items) {
			t.Fatalf("cut into %d of %d items:\n%s", len(parts), len(items), doc)
		}
		glued := parse(t, rest)
		var all []any
		for _, p := range parts {
			all = append(all, parse(t, p.text).([]any)...)
			if n := bytes.Count(doc[:bytes.Index(doc, p.text)], newline); len(parts) == 1 && n != p.line {
				t.Errorf("line %d, want %d", p.line, n)
			}
		}
		glued.(map[string]any)["items"] = all
		if d := cmp.Diff(whole, glued); d != "" {
			t.Errorf("the parts are not the document (-want +got):\n%s\n%s", d, doc)
		}
	})
}

func parse(t rapid.TB, doc []byte) any {
	var v any
	if err := yaml.Unmarshal(doc, &v); err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	return v
}

func TestSplitItemsRefuses(t *testing.T) {
	for name, doc := range map[string]string{
		"no items":          "kind: List\n",
		"items elsewhere":   "spec:\n  items:\n  - a\n",
		"flow style":        "items: [a, b]\n",
		"a reference":       "items: *a\n",
		"an object":         "items:\n  a: b\n",
		"nothing":           "items:\n",
		"twice":             "items:\n- a\nkind: b\nitems:\n- c\n",
		"tabs":              "items:\n- a\n\t- b\n",
		"a crooked item":    "items:\n  - a\n - b\n",
		"a field too far":   "items:\n  - a\n b: c\n",
		"a word with items": "items:x\n- a\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, items, ok := splitItems([]byte(doc)); ok {
				t.Errorf("cut into %d items", len(items))
			}
		})
	}
}

// Where the cutting misleads, the document is read as a whole, as the YAML parser
// understands it.
func TestSplitItemsMisled(t *testing.T) {
	w := read(t, `apiVersion: v1
kind: List
metadata: {note: "a
items:
- b"}
items:
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Workload
  metadata:
    name: a
    annotations:
      x: "one
- two: {"
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Workload
  metadata: {name: b}
`)
	if got := w.Snapshot.Workloads; len(got) != 2 || got[0].Annotations["x"] != "one - two: {" || got[1].Name != "b" {
		t.Errorf("Workloads %+v", got)
	}
}
