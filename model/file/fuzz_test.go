package file

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"cli.holdfast.dev/holdfast/model/text"
)

// dirtyTexts returns the texts of the world that are not safe to draw.
func dirtyTexts(w *World) []string {
	var out []string
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(path, v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() {
					walk(path+"."+f.Name, v.Field(i))
				}
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(path, v.Index(i))
			}
		case reflect.Map:
			for _, k := range v.MapKeys() {
				walk(path, k)
				walk(path, v.MapIndex(k))
			}
		case reflect.String:
			if s := v.String(); text.Clean(s) != s {
				out = append(out, fmt.Sprintf("%s: %s", path, s))
			}
		}
	}
	walk("", reflect.ValueOf(rows(w.Snapshot)))
	walk("", reflect.ValueOf(w.Snapshot.Contract))
	walk("", reflect.ValueOf(*w))
	return out
}

// FuzzRead feeds anything at all: it is refused, or becomes a world whose texts
// are safe to draw.
func FuzzRead(f *testing.F) {
	f.Add([]byte(flavorYAML + "---\n" + queueYAML + "---\n" + workloadYAML))
	f.Add([]byte(`{"apiVersion":"v1","items":[` + flavorJSON + "," + queueJSON + "," + workloadJSON + `],"kind":"List"}`))
	f.Add([]byte(exported(workloadJSON)))
	f.Add([]byte(packed(tarred(member{"a.json", workloadJSON}, member{"manifest.json", `{"files":[{"name":"a.json"}]}`}))))
	f.Fuzz(func(t *testing.T, content []byte) {
		w, err := Read(bytes.NewReader(content), "f", now)
		if err != nil {
			if s := err.Error(); text.Clean(s) != s {
				t.Errorf("an error that is not safe to draw: %q", s)
			}
			return
		}
		if dirty := dirtyTexts(w); len(dirty) > 0 {
			t.Errorf("texts that are not safe to draw: %q", dirty)
		}
	})
}
