package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"sigs.k8s.io/yaml"
)

// A document of a large cluster is mostly one list. The writers go through a
// document entry by entry, so that besides it only one entry's text is held: the
// encoders of the libraries hold the whole text, indented and not.

// batch is how many entries of a list become YAML at once.
const batch = 64

// WriteJSON writes the document to which doc points: a line for each entry of its
// lists, so that a large one can be searched and cut by line, and the rest with an
// indent of two spaces; nothing is escaped for HTML. It blocks as w does. After an
// error a part of it may have been written.
func WriteJSON(w io.Writer, doc any) error {
	out := bufio.NewWriter(w)
	var text bytes.Buffer
	var failed error
	put := func(v any, entry bool) {
		text.Reset()
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		if !entry { // indenting takes as long as encoding
			e.SetIndent("  ", "  ")
		}
		failed = errors.Join(failed, e.Encode(v))
		_, _ = out.Write(bytes.TrimSuffix(text.Bytes(), []byte("\n"))) // Flush has the error
	}
	separator := "{\n"
	each(doc, func(name string, v reflect.Value) {
		fmt.Fprintf(out, "%s  %q: ", separator, name)
		separator = ",\n"
		if v.Kind() != reflect.Slice || v.Len() == 0 {
			put(v.Interface(), false)
			return
		}
		bracket := "[\n    "
		for i := range v.Len() {
			_, _ = out.WriteString(bracket)
			bracket = ",\n    "
			put(v.Index(i).Interface(), true)
		}
		_, _ = out.WriteString("\n  ]")
	})
	_, _ = out.WriteString("\n}\n")
	return errors.Join(failed, out.Flush())
}

// WriteYAML writes what WriteJSON writes as YAML.
func WriteYAML(w io.Writer, doc any) error {
	out := bufio.NewWriter(w)
	var failed error
	put := func(v any) {
		text, err := yaml.Marshal(v)
		failed = errors.Join(failed, err)
		_, _ = out.Write(text) // Flush has the error
	}
	each(doc, func(name string, v reflect.Value) {
		if v.Kind() != reflect.Slice || v.Len() == 0 {
			put(map[string]any{name: v.Interface()})
			return
		}
		fmt.Fprintf(out, "%s:\n", name)
		for i := 0; i < v.Len(); i += batch {
			put(v.Slice(i, min(i+batch, v.Len())).Interface())
		}
	})
	return errors.Join(failed, out.Flush())
}

// each calls f with every field of the document and its name there.
func each(doc any, f func(name string, v reflect.Value)) {
	v := reflect.ValueOf(doc).Elem()
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if options == "omitempty" && v.Field(i).IsZero() {
			continue
		}
		f(name, v.Field(i))
	}
}
