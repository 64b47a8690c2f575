package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"cli.holdfast.dev/holdfast/model/convert"
	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// outcome is what became of one object of the file: a row, a reason why there is
// none, a kind that is not read, or something that can be told only once the
// whole document is known.
type outcome struct {
	at place
	// id names the object as far as it can be told; its texts are clean.
	id objectID
	// version is that of Kueue's API, or empty.
	version string
	// row is what model/project makes of it, a pointer for the snapshot's kinds and
	// a value for events, pods and nodes.
	row         any
	noNamespace bool   // it named none and was put into "default"
	why         string // it cannot be read, for this reason
	notYAML     bool   // for the reason that its text is no YAML
	noObject    bool   // for the reason that it is none
	other       string // it is of this kind, which is not read
	kindless    []byte // it names no kind; only the head of its list could
	head        *head  // no object, but the head of a list
}

type objectID struct {
	kind world.Kind
	key  world.Key
}

// String is "Kind namespace/name", as far as it is known.
func (o objectID) String() string {
	if o.key.Name == "" {
		return string(o.kind)
	}
	return strings.TrimSpace(string(o.kind) + " " + o.key.String())
}

// deepestList is how many lists may stand in each other.
const deepestList = 4

// decode reads the object, or all objects of the list, in raw and appends what
// became of them. of is the type of an object that names none.
func decode(out []outcome, raw []byte, at place, of typeMeta) []outcome {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return out
	case raw[0] == '[':
		return decodeItems(out, raw, at, typeMeta{}, nil)
	case raw[0] != '{':
		return append(out, outcome{at: at, noObject: true, why: "it is no object but " + sample(raw)})
	}
	t, list := typeOf(raw)
	if list || t.isList() {
		if h, items, ok := headOf(raw); ok {
			return decodeItems(out, items, at, h.typeMeta().element(), h)
		}
	}
	if t.kind == "" {
		if of.kind == "" {
			return append(out, outcome{at: at, kindless: bytes.Clone(raw)})
		}
		t = of
	}
	return append(out, decodeObject(raw, at, t))
}

// decodeItems reads the elements of the array in raw, then h, the head of their
// list where there is one.
func decodeItems(out []outcome, raw []byte, at place, of typeMeta, h *head) []outcome {
	if at.depth == deepestList {
		return append(out, outcome{at: at, why: fmt.Sprintf("lists stand in each other more than %d deep", deepestList)})
	}
	n := 0
	if raw != nil {
		if err := elements(raw, func(item []byte) {
			n++
			out = decode(out, item, at.within(n), of)
		}); err != nil {
			out = append(out, outcome{at: at, why: err.Error()})
		}
	}
	if h != nil {
		h.items = n
		out = append(out, outcome{at: at, head: h})
	}
	return out
}

// sample is the beginning of a text that is shown in a note.
func sample(raw []byte) string {
	const most = 40
	if len(raw) > most {
		return text.Clean(string(raw[:most])) + "..."
	}
	return text.Clean(string(raw))
}

// decodeObject reads one object of the type.
func decodeObject(raw []byte, at place, t typeMeta) outcome {
	out := outcome{at: at, id: objectID{kind: world.Kind(text.Clean(t.kind))}}
	gv, err := schema.ParseGroupVersion(t.apiVersion)
	if err != nil || t.apiVersion == "" {
		return out.broken(raw, fmt.Sprintf("its apiVersion %q is none", text.Clean(t.apiVersion)))
	}
	read, ok := readKinds[schema.GroupKind{Group: gv.Group, Kind: t.kind}]
	if !ok {
		out.other = text.Clean(t.apiVersion + " " + t.kind)
		return out
	}
	create, ok := read.versions[gv.Version]
	if !ok {
		return out.broken(raw, fmt.Sprintf("version %s of its kind is not one that is read", text.Clean(gv.Version)))
	}
	if gv.Group == kueueGroup {
		out.version = gv.Version
	}
	obj := create()
	odd, dirty := inspect(raw)
	if odd {
		if why := hugeQuantity(raw, obj); why != "" {
			return out.broken(raw, why)
		}
	}
	if err := utiljson.Unmarshal(raw, obj); err != nil {
		return out.broken(raw, explain(err))
	}
	m := obj.(metav1.Object) // every kind of readKinds has metadata
	if m.GetName() == "" {
		return out.broken(raw, "it has no name")
	}
	switch {
	case !read.namespaced:
		m.SetNamespace("")
	case m.GetNamespace() == "":
		m.SetNamespace(metav1.NamespaceDefault)
		out.noNamespace = true
	}
	if dirty {
		scrub(reflect.ValueOf(obj))
	}
	if out.row, err = row(obj, raw); err != nil {
		return out.broken(raw, text.Clean(err.Error()))
	}
	out.id.key = out.row.(interface{ GetKey() world.Key }).GetKey()
	return out
}

// broken makes the outcome one that has no row but a reason for that.
func (o outcome) broken(raw []byte, why string) outcome {
	name, namespace := nameOf(raw)
	o.id.key = world.Key{Namespace: text.Clean(namespace), Name: text.Clean(name)}
	o.why, o.row = why, nil
	return o
}

func row(obj runtime.Object, raw []byte) (any, error) {
	switch o := obj.(type) {
	case *corev1.Event:
		return project.Event(o), nil
	case *eventsv1.Event:
		return project.NewEvent(o), nil
	case *corev1.Pod:
		return project.Pod(o), nil
	case *corev1.Node:
		return project.Node(o), nil
	}
	hub, err := convert.ToHub(obj)
	if err != nil {
		return nil, err
	}
	setDefaults(hub, raw)
	return project.Row(hub)
}

// explain puts a decoder's error into words that name the field.
func explain(err error) string {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) && t.Field != "" {
		return text.Clean(fmt.Sprintf("%s is %s %s where %s is needed", t.Field, article(t.Value), t.Value, needed(t.Type)))
	}
	return text.Clean(strings.TrimPrefix(err.Error(), "json: "))
}

func article(word string) string {
	if word == "array" || word == "object" {
		return "an"
	}
	return "a"
}

func needed(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Pointer:
		return needed(t.Elem())
	}
	return t.String()
}
