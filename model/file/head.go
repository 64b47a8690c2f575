package file

import (
	"bytes"
	"encoding/json"
	"strings"
)

// exportKind is the kind of the document that the console's export action
// writes: a head, then the items.
const exportKind = "WorkloadExport"

// typeMeta names a kind of object, as its apiVersion and kind do.
type typeMeta struct{ apiVersion, kind string }

// isList reports whether a document of the kind may be a list. Only one that has
// items is.
func (t typeMeta) isList() bool { return strings.HasSuffix(t.kind, "List") || t.kind == exportKind }

// element is the type of the items of a list that do not name their own, as the
// API server sends them for its built-in kinds; empty where the list names none.
func (t typeMeta) element() typeMeta {
	kind, ok := strings.CutSuffix(t.kind, "List")
	if !ok || kind == "" {
		return typeMeta{}
	}
	return typeMeta{t.apiVersion, kind}
}

// head is what a document says beside its items: of a list the first two, the
// rest of an export.
type head struct {
	APIVersion   string `json:"apiVersion"`
	Kind         string `json:"kind"`
	Context      string `json:"context"`
	User         string `json:"user"`
	KueueVersion string `json:"kueueVersion"`
	KueueAPI     string `json:"kueueAPI"`
	Scope        string `json:"scope"`
	At           string `json:"at"`
	Redacted     bool   `json:"redacted"`
	Count        *int   `json:"count"`
	// items is how many items the document holds.
	items int
}

func (h *head) typeMeta() typeMeta { return typeMeta{h.APIVersion, h.Kind} }

// Names of fields that a scanner tells apart.
const (
	keyAPIVersion = "apiVersion"
	keyKind       = "kind"
	keyItems      = "items"
	keyMetadata   = "metadata"
	keyName       = "name"
	keyNamespace  = "namespace"
)

// headKeys are the names that scanner.key returns, each by itself.
var headKeys = func() map[string]string {
	m := map[string]string{}
	for _, k := range []string{keyAPIVersion, keyKind, keyItems, keyMetadata, keyName, keyNamespace, "context", "user", "kueueVersion", "kueueAPI", "scope", "at", "redacted", "count"} {
		m[k] = k
	}
	return m
}()

// longestHead bounds what is kept of one field of a head, in bytes.
const longestHead = 4096

// headFields gathers the fields of a head as they come.
type headFields map[string]json.RawMessage

func (f headFields) put(key string, raw []byte) {
	if key != "" && key != keyMetadata && len(raw) <= longestHead && json.Valid(raw) {
		f[key] = bytes.Clone(raw)
	}
}

// typeMeta is what is known so far.
func (f headFields) typeMeta() typeMeta {
	return typeMeta{unquote(f[keyAPIVersion]), unquote(f[keyKind])}
}

// head reads what was gathered; a field of another type is passed over.
func (f headFields) head(items int) *head {
	h := &head{items: items}
	for key, raw := range f {
		one, err := json.Marshal(map[string]json.RawMessage{key: raw})
		if err == nil {
			_ = json.Unmarshal(one, h) // a field that cannot be read says nothing
		}
	}
	return h
}

// unquote returns the text of a JSON string, and "" for any other value.
func unquote(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// fields walks through the members of the object in raw until f returns false. f
// has to take the member's value from s.
func fields(raw []byte, f func(s *scanner, key string) (bool, error)) error {
	s := scan(raw)
	if err := s.take('{', "where an object begins"); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := s.next('}', first)
		if err != nil || !more {
			return err
		}
		key, err := s.key()
		if err != nil {
			return err
		}
		if more, err = f(s, key); err != nil || !more {
			return err
		}
	}
}

// typeOf returns the type that the object in raw names; list is set where it
// names no kind and has items. It stops as soon as the type is known.
func typeOf(raw []byte) (t typeMeta, list bool) {
	_ = fields(raw, func(s *scanner, key string) (bool, error) { // what is broken shows when it is decoded
		v, err := s.cut()
		switch key {
		case keyAPIVersion:
			t.apiVersion = unquote(v)
		case keyKind:
			t.kind = unquote(v)
		case keyItems:
			list = len(v) > 0 && v[0] == '['
		}
		return t.apiVersion == "" || t.kind == "", err
	})
	return t, list && t.kind == ""
}

// nameOf returns the name and namespace of the object in raw, as far as they can
// be found in one that does not decode.
func nameOf(raw []byte) (name, namespace string) {
	_ = fields(raw, func(s *scanner, key string) (bool, error) {
		v, err := s.cut()
		if key != keyMetadata || err != nil {
			return true, err
		}
		return false, fields(v, func(s *scanner, key string) (bool, error) {
			v, err := s.cut()
			switch key {
			case keyName:
				name = unquote(v)
			case keyNamespace:
				namespace = unquote(v)
			}
			return true, err
		})
	})
	return name, namespace
}

// headOf returns the head of the list in raw and the bytes of its items; nil for
// none, "null" among them.
func headOf(raw []byte) (h *head, items []byte, list bool) {
	f := headFields{}
	_ = fields(raw, func(s *scanner, key string) (bool, error) {
		v, err := s.cut()
		if key == keyItems {
			list = len(v) > 0 && (v[0] == '[' || string(v) == "null")
			items = nil
			if list && v[0] == '[' {
				items = v
			}
		} else {
			f.put(key, v)
		}
		return true, err
	})
	return f.head(0), items, list
}

// elements walks through the elements of the array in raw.
func elements(raw []byte, f func(raw []byte)) error {
	s := scan(raw)
	if err := s.take('[', "where a list begins"); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := s.next(']', first)
		if err != nil || !more {
			return err
		}
		v, err := s.cut()
		if err != nil {
			return err
		}
		f(v)
	}
}
