package actions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Fix is what a person changed in an object, as a document of a file for PlanFile.
type Fix struct {
	// Ref is the object, without its UID.
	Ref world.Ref
	// Document is YAML: the changed fields, those that an earlier apply of this program
	// set (without them it would take them away), and the UID and generation that the
	// object had, by which PlanFile sees that it is another one by now.
	Document []byte
	// Paths are the changed fields as the document has them; what is a whole for the
	// server is one of them ("spec.resourceGroups"). Fields are the changed values, Kept
	// the fields of earlier applies. All are safe to draw.
	Paths  []string
	Fields []Field
	Kept   []string
	// Notes say what was set aside.
	Notes []string
}

// FixOf reads the draft's text and returns what the person changed. ErrNoChange means
// that this is nothing. A *Problem with Rejected set means that the text cannot be
// taken: it cannot be read, or fields were removed that an apply cannot remove. It reads
// the draft's file and does not talk to the cluster.
func FixOf(dr Draft) (Fix, error) {
	_, before, want, err := dr.read()
	if err != nil {
		return Fix{}, err
	}
	notes, err := mean(before, want)
	if err != nil {
		return Fix{}, err
	}
	var opened unstructured.Unstructured
	if err := opened.UnmarshalJSON(dr.Target.Base); err != nil {
		return Fix{}, err
	}
	f, err := fixOf(&opened, before, want)
	f.Notes = notes
	if errors.Is(err, ErrNoChange) {
		err = noChange(notes)
	}
	return f, err
}

// fixOf is FixOf for two editable parts of the object.
func fixOf(opened *unstructured.Unstructured, before, want map[string]any) (Fix, error) {
	own, err := ownersOf(opened)
	if err != nil {
		return Fix{}, err
	}
	d := document{api: opened.GetAPIVersion()}
	out := d.members(place{}, value{before, true}, value{want, true}, own.mine)
	var cannot []string
	for _, r := range d.removed {
		if own.removes(d.api, r) {
			d.changed = append(d.changed, text.Clean(r.name+" (removed)"))
		} else {
			cannot = append(cannot, text.Clean(r.name)+" ("+value{r.was, true}.line()+")")
		}
	}
	switch {
	case len(cannot) > 0:
		return Fix{}, &Problem{
			What: fmt.Sprintf("your text leaves out %s, and an apply cannot remove what others set", strings.Join(cannot, ", ")),
			Do:   "Put it back, or give it the value that it should have. Nothing was taken into the session.", Rejected: true,
		}
	case len(d.changed) == 0:
		return Fix{}, ErrNoChange
	}
	meta, _ := out["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	out["apiVersion"], out["kind"], out["metadata"] = opened.GetAPIVersion(), opened.GetKind(), meta
	meta["name"] = opened.GetName()
	if uid := opened.GetUID(); uid != "" {
		meta["uid"] = string(uid)
	}
	if ns := opened.GetNamespace(); ns != "" {
		meta["namespace"] = ns
	}
	if g := opened.GetGeneration(); g != 0 {
		meta["generation"] = g
	}
	f := Fix{Ref: refOf(opened), Paths: d.changed, Kept: d.kept}
	f.Ref.UID = ""
	_, f.Fields = threeWay(before, before, want)
	f.Document, err = yaml.Marshal(out)
	return f, err
}

// Amend returns the content of a file with the document of f in the place of what it had
// for that object, or behind all that it has. namespace is that of the file's objects that
// name none. A *Problem says that the content cannot be read.
func Amend(content []byte, namespace string, f Fix) ([]byte, error) {
	if documents(content) == 0 {
		return f.Document, nil
	}
	docs, err := parseAll(content)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(docs, func(doc map[string]any) bool { return f.of(doc, namespace) }) {
		return slices.Concat(bytes.TrimRight(content, "\n"), []byte("\n---\n"), f.Document), nil
	}
	var all [][]byte
	done := false
	for _, doc := range docs {
		body := f.Document
		switch same := f.of(doc, namespace); {
		case same && done:
			continue
		case same:
			done = true
		default:
			if body, err = yaml.Marshal(doc); err != nil {
				return nil, err
			}
		}
		all = append(all, body)
	}
	return bytes.Join(all, []byte("---\n")), nil
}

// of reports whether the document is of the object that f is of. namespace is meant where
// an object that has one does not say which.
func (f Fix) of(doc map[string]any, namespace string) bool {
	o := &unstructured.Unstructured{Object: doc}
	at := o.GetNamespace()
	if f.Ref.Namespace != "" {
		at = cmp.Or(at, namespace)
	}
	return o.GetKind() == string(f.Ref.Kind) && o.GetName() == f.Ref.Name && at == f.Ref.Namespace
}

// OpenFix is OpenEdit for an object of a fix: what the file's content says of the object
// is in the text already. Where it was made from another state of the object, the text
// says so on top. namespace is as for Amend.
func (d *Desk) OpenFix(ctx context.Context, ref world.Ref, content []byte, namespace string) (Draft, error) {
	dr, err := d.OpenEdit(ctx, ref)
	if err != nil || documents(content) == 0 {
		return dr, err
	}
	body, err := prefilled(dr, content, namespace)
	if err == nil && body != "" {
		err = dr.write(body)
	}
	if err != nil {
		return Draft{}, errors.Join(err, d.CloseDraft(dr))
	}
	return dr, nil
}

// prefilled is the draft's text with what the content says of its object; empty where
// that is nothing.
func prefilled(dr Draft, content []byte, namespace string) (string, error) {
	var opened unstructured.Unstructured
	if err := opened.UnmarshalJSON(dr.Target.Base); err != nil {
		return "", err
	}
	docs, err := parseAll(content)
	if err != nil {
		return "", err
	}
	f := Fix{Ref: refOf(&opened)}
	i := slices.IndexFunc(docs, func(doc map[string]any) bool { return f.of(doc, namespace) })
	if i < 0 {
		return "", nil
	}
	doc := &unstructured.Unstructured{Object: docs[i]}
	if v := doc.GetAPIVersion(); v != opened.GetAPIVersion() {
		return message + text.Clean(fmt.Sprintf("What the session's fix says of it in %s is not in this text; saved, this text takes its place.", v)) + "\n" + dr.Original, nil
	}
	now := value{editable(&opened), true}
	said, mine := "", &unstructured.Unstructured{Object: wish(doc.Object)}
	if err := onlyMaps(mine.Object); err != nil {
		return "", err
	}
	stripOwn(mine)
	is := laid(mine.GetAPIVersion(), place{}, now, value{mine.Object, true})
	if now.equal(value{is, true}) {
		return "", nil // it is applied
	}
	if stale(doc, &opened) != nil {
		said = message + fmt.Sprintf("The fix was made from generation %d of the object; it is at %d now. Look at every field.", doc.GetGeneration(), opened.GetGeneration()) + "\n"
	}
	body, err := yaml.Marshal(is)
	return said + editHeader(dr.Target) + string(body), err
}

// laid is what an apply of over makes of a field.
func laid(api string, p place, base, over value) any {
	switch s := shapeOf(api, p.schema); {
	case s == plain && isMap(base) && isMap(over):
		out := maps.Clone(mapOf(base))
		for k := range mapOf(over) {
			if v := over.member(k); v.v != nil {
				out[k] = laid(api, p.member(k), base.member(k), v)
			}
		}
		return out
	case s == named && namesIn(base).ok && namesIn(over).ok && isList(over):
		was, is := namesIn(base), namesIn(over)
		order := union(slices.Clone(was.names), is.names)
		if len(order) == len(is.names) {
			order = is.names // an apply that names all of them orders them
		}
		out := []any{}
		for _, n := range order {
			if !is.entry(n).ok {
				out = append(out, was.by[n])
				continue
			}
			out = append(out, laid(api, p.entry(n), was.entry(n), is.entry(n)))
		}
		return out
	case s == asASet && isList(base) && isList(over):
		out := slices.Clone(base.v.([]any))
		for _, x := range over.v.([]any) {
			if !contains(out, x) {
				out = append(out, x)
			}
		}
		return out
	}
	return over.v
}
