package actions

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// OpenEdit reads the object and writes the part of it that can be edited into a
// private file, in the API version that the cluster serves.
func (d *Desk) OpenEdit(ctx context.Context, ref world.Ref) (Draft, error) {
	info, err := infoOf(ref.Kind)
	if err != nil {
		return Draft{}, err
	}
	if !info.editable {
		return Draft{}, &Problem{What: fmt.Sprintf("a %s is not edited here", ref.Kind), Do: "Edit the object that it comes from."}
	}
	if err := d.mayWrite(); err != nil {
		return Draft{}, err
	}
	c, err := d.client()
	if err != nil {
		return Draft{}, err
	}
	o, err := c.get(ctx, ref)
	if err != nil {
		return Draft{}, err
	}
	live, err := o.MarshalJSON()
	if err != nil {
		return Draft{}, err
	}
	body, err := yaml.Marshal(editable(o))
	if err != nil {
		return Draft{}, err
	}
	t := target(ref, o)
	dr := Draft{Target: t, Live: live, Original: editHeader(t) + string(body)}
	if err := os.MkdirAll(d.opts.DraftDir, 0o700); err != nil {
		return Draft{}, err
	}
	f, err := os.CreateTemp(d.opts.DraftDir, fmt.Sprintf("%s-%s-*.yaml", strings.ToLower(string(ref.Kind)), ref.Name)) // 0600
	if err != nil {
		return Draft{}, err
	}
	dr.Path = f.Name()
	_, err = f.WriteString(dr.Original)
	return dr, errors.Join(err, f.Close())
}

func editHeader(t Target) string {
	return fmt.Sprintf("# %s, generation %d. Save and quit to see the server's dry-run; nothing is written before you confirm.\n"+
		"# stopPolicy and the hold record are not changed by an edit: use hold and resume.\n", t.Ref, t.Generation)
}

// editable is the part of an object that a person may change.
func editable(o *unstructured.Unstructured) map[string]any {
	meta := map[string]any{"name": o.GetName()}
	if o.GetNamespace() != "" {
		meta["namespace"] = o.GetNamespace()
	}
	if l, ok, _ := unstructured.NestedMap(o.Object, "metadata", "labels"); ok && len(l) > 0 {
		meta["labels"] = l
	}
	a := map[string]any{}
	for k, v := range o.GetAnnotations() {
		if k != lastApplied && !strings.HasPrefix(k, ownPrefix) {
			a[k] = v
		}
	}
	if len(a) > 0 {
		meta["annotations"] = a
	}
	out := map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "metadata": meta}
	for k, v := range o.Object {
		switch k {
		case "apiVersion", "kind", "metadata", "status":
		default:
			out[k] = v // spec, and the value of a WorkloadPriorityClass
		}
	}
	return out
}

// EditorCommand returns the person's editor on the draft. It is run with the
// terminal as its own.
func (d *Desk) EditorCommand(dr Draft) *exec.Cmd {
	words := strings.Fields(d.opts.Editor)
	if len(words) == 0 {
		words = []string{"vi"}
	}
	return exec.Command(words[0], append(words[1:], dr.Path)...)
}

// AnnotateDraft puts the problem as comments on top of the draft's file and
// keeps the person's text. Comments of an earlier problem are replaced.
func (d *Desk) AnnotateDraft(dr Draft, problem error) error {
	body, err := os.ReadFile(dr.Path)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, l := range text.Lines(problem.Error()) {
		b.WriteString("#! " + l + "\n")
	}
	for _, l := range strings.SplitAfter(string(body), "\n") {
		if !strings.HasPrefix(l, "#! ") {
			b.WriteString(l)
		}
	}
	// Beside it and renamed: a full disk must not cost the person's text.
	tmp := dr.Path + ".new"
	if err := os.WriteFile(tmp, []byte(b.String()), 0o600); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return os.Rename(tmp, dr.Path)
}

// CloseDraft removes the draft's file.
func (d *Desk) CloseDraft(dr Draft) error {
	if err := os.Remove(dr.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// PlanEdit reads the draft's file and asks the server what it would make of it.
// A *Problem with Rejected set means that the content was refused: it may be
// edited again. ErrNoChange means that nothing was edited.
func (d *Desk) PlanEdit(ctx context.Context, dr Draft) (Plan, error) {
	raw, err := os.ReadFile(dr.Path)
	if err != nil {
		return Plan{}, err
	}
	var live unstructured.Unstructured
	if err := live.UnmarshalJSON(dr.Live); err != nil {
		return Plan{}, err
	}
	want, err := parseOne(raw)
	if err != nil {
		return Plan{}, err
	}
	return d.planChange(ctx, dr.Target, editable(&live), want)
}

// PlanFile plans to give an existing object the content of a YAML or JSON file
// with one object: what stands in the file is set, what the file does not name
// stays as it is.
// namespace is that of namespaced objects whose file names none.
func (d *Desk) PlanFile(ctx context.Context, path, namespace string) (Plan, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Plan{}, &Problem{What: clean(err), Do: "Name a file that can be read.", Err: err}
	}
	want, err := parseOne(raw)
	if err != nil {
		return Plan{}, err
	}
	w := unstructured.Unstructured{Object: want}
	ref := refOf(&w)
	info, err := infoOf(ref.Kind)
	if err != nil || !info.editable {
		return Plan{}, &Problem{What: text.Clean(fmt.Sprintf("%s holds a %s, which is not edited here", filepath.Base(path), ref.Kind)), Do: "Give it a ClusterQueue, LocalQueue, Cohort, ResourceFlavor or WorkloadPriorityClass."}
	}
	ref.UID = ""
	if info.namespaced && ref.Namespace == "" {
		ref.Namespace = namespace
		w.SetNamespace(namespace)
	}
	if err := d.mayWrite(); err != nil {
		return Plan{}, err
	}
	c, err := d.client()
	if err != nil {
		return Plan{}, err
	}
	live, err := c.get(ctx, ref)
	if err != nil {
		return Plan{}, err
	}
	if err := stale(&w, live); err != nil {
		return Plan{}, err
	}
	base := editable(live)
	// What a file taken from the server repeats (status, managedFields, finalizers)
	// is not the person's wish.
	return d.planChange(ctx, target(ref, live), base, mergeApply(base, wish(want)))
}

// stale refuses a file that was taken from another object of the name, or from an
// older spec: applied, it would undo what was done since.
func stale(file, live *unstructured.Unstructured) error {
	const do = "Take the object anew, or remove metadata.uid and metadata.generation if the file's content is meant as it stands."
	if uid := file.GetUID(); uid != "" && uid != live.GetUID() {
		return &Problem{What: text.Clean(fmt.Sprintf("the file is of an object with UID %s, the one in the cluster has %s", uid, live.GetUID())), Do: do, Conflict: true}
	}
	if g := file.GetGeneration(); g != 0 && g != live.GetGeneration() {
		return &Problem{What: fmt.Sprintf("the file was taken at generation %d, the object is at %d", g, live.GetGeneration()), Do: do, Conflict: true}
	}
	return nil
}

// wish is the part of a file that a person can mean.
func wish(file map[string]any) map[string]any {
	out := maps.Clone(file)
	delete(out, "status")
	meta, _ := file["metadata"].(map[string]any)
	keep := map[string]any{}
	for _, k := range []string{"name", "namespace", "labels", "annotations"} {
		if v, ok := meta[k]; ok {
			keep[k] = v
		}
	}
	if a, ok := keep["annotations"].(map[string]any); ok {
		a = maps.Clone(a)
		delete(a, lastApplied)
		keep["annotations"] = a
	}
	out["metadata"] = keep
	return out
}

// parseOne reads exactly one object out of YAML or JSON. Duplicate keys are
// errors: the person meant one of the two.
func parseOne(raw []byte) (map[string]any, error) {
	if n := documents(raw); n > 1 {
		return nil, &Problem{What: fmt.Sprintf("the text holds %d documents", n), Do: "Keep one; each object is changed on its own.", Rejected: true}
	}
	var out map[string]any
	asJSON, err := yaml.YAMLToJSONStrict(raw)
	if err == nil {
		err = utiljson.Unmarshal(asJSON, &out) // keeps whole numbers whole
	}
	if err != nil {
		return nil, &Problem{What: "the text is not one YAML object: " + clean(err), Do: "Correct it and save again.", Rejected: true, Err: err}
	}
	if len(out) == 0 {
		return nil, &Problem{What: "the text is empty", Do: "Nothing was changed.", Rejected: true}
	}
	return out, nil
}

// documents counts the YAML documents in raw that hold more than comments.
func documents(raw []byte) int {
	n := 0
	for r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw))); ; {
		doc, err := r.Read()
		for _, l := range strings.Split(string(doc), "\n") {
			if l = strings.TrimSpace(l); l != "" && l != "---" && !strings.HasPrefix(l, "#") {
				n++
				break
			}
		}
		if err != nil {
			return n
		}
	}
}

// ErrNoChange is returned when an edit changes nothing. What was set aside stands
// in the error's text.
var ErrNoChange = errors.New("the text asks for nothing that is not so already")

func noChange(notes []string) error {
	if len(notes) == 0 {
		return ErrNoChange
	}
	return fmt.Errorf("%w. %s", ErrNoChange, strings.Join(notes, " "))
}

// planChange plans the difference between two editable parts of one object.
func (d *Desk) planChange(ctx context.Context, t Target, before, want map[string]any) (Plan, error) {
	if err := sameObject(before, want); err != nil {
		return Plan{}, err
	}
	if err := wellFormed(before, want); err != nil {
		return Plan{}, err
	}
	p := d.plan(Edit)
	p.Notes = append(p.Notes, setAside(before, want)...)
	keepMaps(before, want)
	patch := mergeDiff(before, want)
	if len(patch) == 0 {
		return Plan{}, noChange(p.Notes)
	}
	c, err := d.client()
	if err != nil {
		return Plan{}, err
	}
	live, err := c.get(ctx, t.Ref)
	if err != nil {
		return Plan{}, err
	}
	if err := unchanged(t, live); err != nil {
		return Plan{}, err
	}
	t.Patch, t.Change = mustJSON(patch), "spec as in the difference"
	if err := d.dryRun(ctx, c, &p, t, live); err != nil {
		return Plan{}, err
	}
	if len(p.Diff) == 0 {
		return Plan{}, noChange(p.Notes) // the server's defaults make it the same
	}
	if m := managedBy(d.opts.World(), t.Ref); m != "" {
		p.Notes = append(p.Notes, fmt.Sprintf("%s is managed by %s, which may undo this change.", t.Ref, m))
	}
	p.Notes = append(p.Notes, "The dry-run is validation only: it ran the server's rules and Kueue's webhooks.")
	p.Unknown = append(p.Unknown, "Who will be admitted or preempted because of this change is not computed.")
	p.Confirm = Confirm{ConfirmName, t.Ref.Name}
	return p, nil
}

// sameObject refuses a text that speaks of another object than was opened.
func sameObject(before, want map[string]any) error {
	a, b := unstructured.Unstructured{Object: before}, unstructured.Unstructured{Object: want}
	for _, f := range []struct{ field, was, is string }{
		{"apiVersion", a.GetAPIVersion(), b.GetAPIVersion()}, {"kind", a.GetKind(), b.GetKind()},
		{"metadata.name", a.GetName(), b.GetName()}, {"metadata.namespace", a.GetNamespace(), b.GetNamespace()},
	} {
		if f.was != f.is {
			return &Problem{What: text.Clean(fmt.Sprintf("%s is %q, it must stay %q", f.field, f.is, f.was)), Do: "Set it back; another object is edited on its own.", Rejected: true}
		}
	}
	return nil
}

// wellFormed refuses a text in which a map became something else: taken as it
// stands it would remove all that the map held.
func wellFormed(before, want map[string]any) error {
	for _, path := range [][]string{{"metadata"}, {"metadata", "labels"}, {"metadata", "annotations"}, {"spec"}} {
		if _, had, err := unstructured.NestedMap(before, path...); !had || err != nil {
			continue
		}
		v, has, err := unstructured.NestedFieldNoCopy(want, path...)
		if _, isMap := v.(map[string]any); err == nil && (isMap || !has && len(path) > 1) {
			continue
		}
		return &Problem{What: strings.Join(path, ".") + " is not a map of names and values any more", Do: "Put it back; to remove single entries, remove their lines.", Rejected: true}
	}
	return nil
}

// ownPrefix begins the names of the annotations that only this program writes.
const ownPrefix = "holdfast.dev/"

// keepMaps makes sure that labels and annotations are removed one by one: a
// patch that sets the whole map to null would take away what the text never
// showed, the hold record among it.
func keepMaps(before, want map[string]any) {
	for _, f := range []string{"labels", "annotations"} {
		if _, had, _ := unstructured.NestedMap(before, "metadata", f); had {
			if m, has, err := unstructured.NestedMap(want, "metadata", f); !has || err != nil || m == nil {
				_ = unstructured.SetNestedMap(want, map[string]any{}, "metadata", f)
			}
		}
	}
}

// setAside takes out of want what only hold and resume may change, and says so.
func setAside(before, want map[string]any) []string {
	var notes []string
	was, had, _ := unstructured.NestedFieldCopy(before, "spec", "stopPolicy")
	is, has, _ := unstructured.NestedFieldCopy(want, "spec", "stopPolicy")
	if had != has || was != is {
		notes = append(notes, "stopPolicy in the text was set aside: use hold and resume.")
		if had {
			_ = unstructured.SetNestedField(want, was, "spec", "stopPolicy")
		} else {
			unstructured.RemoveNestedField(want, "spec", "stopPolicy")
		}
	}
	ann, _, _ := unstructured.NestedMap(want, "metadata", "annotations")
	for k := range ann {
		if strings.HasPrefix(k, ownPrefix) {
			notes = append(notes, text.Clean(k)+" in the text was set aside: only hold and resume write it.")
			unstructured.RemoveNestedField(want, "metadata", "annotations", k)
		}
	}
	return notes
}
