package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"cli.holdfast.dev/holdfast/model/text"
)

// A file, other than an API server's answer, was checked by nobody. What could
// stop or harm the program is looked for here before an object is decoded.

// inspect looks once at the bytes of an object. odd: there may be a number in it
// whose decoding takes for ever. dirty: there may be text in it that is not safe
// to draw (it has escapes, or is not all ASCII).
func inspect(raw []byte) (odd, dirty bool) {
	run := 0         // digits in a row
	escaped := false // the byte before was the beginning of an escape
	for i, c := range raw {
		switch {
		case c >= '0' && c <= '9' && !escaped:
			run++
			continue
		case escaped:
			// The escapes of these are the characters themselves; every object that
			// Kueue wrote has some.
			escaped, dirty = false, dirty || c != '"' && c != '\\' && c != '/'
		case c == '\\':
			escaped = true
		case c >= 0x7f:
			dirty = true
		}
		if run >= longExponent {
			odd = odd || run >= longNumber || exponent(raw[:i-run])
		}
		run = 0
	}
	return odd, dirty
}

// An exponent of so many digits, or a number of so many characters, is not read:
// the time for it grows with its value.
const (
	longExponent = 4
	longNumber   = 100
)

// exponent reports whether before, what stands before some digits, makes them
// the exponent of a number.
func exponent(before []byte) bool {
	before = bytes.TrimRight(before, "+-")
	if len(before) < 2 {
		return false
	}
	e, d := before[len(before)-1], before[len(before)-2]
	return (e == 'e' || e == 'E') && (d >= '0' && d <= '9' || d == '.')
}

var (
	longExponents = regexp.MustCompile(fmt.Sprintf(`[eE][+-]?[0-9]{%d,}$`, longExponent))
	quantityType  = reflect.TypeFor[resource.Quantity]()
	metaType      = reflect.TypeFor[metav1.ObjectMeta]()
)

// hugeQuantity says which quantity of the object in raw, which is to be decoded
// into obj, is too long a number; empty for none. It costs as much as a decoding.
func hugeQuantity(raw []byte, obj any) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return "" // the decoder proper will say why
	}
	path := hugeIn(reflect.TypeOf(obj), v)
	if path == nil {
		return ""
	}
	return text.Clean(strings.Join(path, ".")) + " is too long a number"
}

// hugeIn returns the path to the quantity, or nil.
func hugeIn(t reflect.Type, v any) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == quantityType {
		if s := fmt.Sprint(v); len(s) > longNumber || longExponents.MatchString(s) {
			return []string{}
		}
		return nil
	}
	switch t.Kind() {
	case reflect.Slice:
		list, _ := v.([]any)
		for _, x := range list {
			if p := hugeIn(t.Elem(), x); p != nil {
				return p
			}
		}
	case reflect.Map:
		m, _ := v.(map[string]any)
		for k, x := range m {
			if p := hugeIn(t.Elem(), x); p != nil {
				return append([]string{k}, p...)
			}
		}
	case reflect.Struct:
		m, _ := v.(map[string]any)
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" && f.Anonymous {
				if p := hugeIn(f.Type, v); p != nil {
					return p
				}
			} else if x, ok := m[name]; ok {
				if p := hugeIn(f.Type, x); p != nil {
					return append([]string{name}, p...)
				}
			}
		}
	}
	return nil
}

// scrub makes every text in v safe to draw but annotations, which model/project
// reads and cleans itself. What it changes was never valid in a cluster.
func scrub(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scrub(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if !f.CanSet() || v.Type() == metaType && v.Type().Field(i).Name == "Annotations" {
				continue
			}
			scrub(f)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return // bytes are no text
		}
		for i := range v.Len() {
			scrub(v.Index(i))
		}
	case reflect.Map:
		scrubMap(v)
	case reflect.String:
		if s := v.String(); text.Clean(s) != s {
			v.SetString(text.Clean(s))
		}
	}
}

func scrubMap(m reflect.Value) {
	for _, k := range m.MapKeys() {
		key, val := reflect.New(m.Type().Key()).Elem(), reflect.New(m.Type().Elem()).Elem()
		key.Set(k)
		val.Set(m.MapIndex(k))
		scrub(key)
		scrub(val)
		if key.String() != k.String() {
			m.SetMapIndex(k, reflect.Value{})
		}
		m.SetMapIndex(key, val)
	}
}
