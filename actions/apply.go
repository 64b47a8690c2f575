package actions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// File is what PlanFile plans from.
type File struct {
	// Name is how errors call it, Path where it was read from; empty: that is not known.
	Name, Path string
	// Content is YAML or JSON: any number of objects, and Lists of them.
	Content []byte
	// Namespace is that of namespaced objects whose file names none.
	Namespace string
	// TakeOver makes this program the owner of fields that others own.
	TakeOver bool
}

// TakesOver is how a note of a plan begins that says what is taken from its owner.
const TakesOver = "TAKES OVER"

// PlanFile plans to apply the objects of a file by server-side apply, or to make
// those that are not there. What the file does not name stays, unless an earlier
// apply of this program's set it. It fails with a *Problem, and plans nothing, when
// any object is not one of the editable kinds, is refused by the server, was taken
// from another state, or has fields that others own (unless TakeOver is set).
// ErrNoChange means that everything is so already.
func (d *Desk) PlanFile(ctx context.Context, f File) (Plan, error) {
	docs, err := parseAll(f.Content)
	if err != nil {
		return Plan{}, err
	}
	if err := d.mayWrite(); err != nil {
		return Plan{}, err
	}
	c, err := d.client()
	if err != nil {
		return Plan{}, err
	}
	p := d.plan(ApplyFile)
	var wishes []wished
	seen := map[world.Ref]bool{}
	for _, doc := range docs {
		w, err := d.wishOf(ctx, c, f, doc)
		if err != nil {
			return Plan{}, err
		}
		if seen[w.target.Ref] {
			return Plan{}, &Problem{What: fmt.Sprintf("%s stands twice in %s", w.target.Ref, f.Name), Do: "Keep one of the two.", Rejected: true}
		}
		seen[w.target.Ref] = true
		wishes = append(wishes, w)
		p.Notes = union(p.Notes, w.notes)
	}
	aside := p.Notes
	order(wishes)
	var foreign []string
	var fields []Foreign
	for i := range wishes {
		err := d.tryWish(ctx, c, &p, &wishes[i], f.TakeOver)
		if own := owners(err); len(own) > 0 {
			for _, o := range others(own) {
				ref := wishes[i].target.Ref
				foreign = append(foreign, ref.String()+" "+o.String())
				fields = append(fields, Foreign{Ref: world.Ref{Kind: ref.Kind, Key: ref.Key}, Field: text.Clean(o.field), Manager: text.Clean(o.manager)})
			}
			continue
		}
		if err != nil {
			return Plan{}, err
		}
	}
	if len(foreign) > 0 {
		return Plan{}, &Problem{
			What: text.Clean("fields of the file belong to others: " + strings.Join(foreign, "; ")),
			Do:   "Nothing was written. Agree with whoever owns them, or leave them out of the file; to take them over, apply with --take-over.", Conflict: true, Foreign: fields,
		}
	}
	if len(p.Targets) == 0 {
		return Plan{}, noChange(aside)
	}
	d.finishFile(&p)
	return p, nil
}

// wished is one object of a file.
type wished struct {
	target Target
	live   *unstructured.Unstructured // nil: it is not there
	// stale says that the file was taken from another state of the object; nil: it was
	// not.
	stale error
	notes []string
}

// wishOf reads what the document wants of its object.
func (d *Desk) wishOf(ctx context.Context, c *client, f File, doc map[string]any) (wished, error) {
	w := &unstructured.Unstructured{Object: doc}
	ref := refOf(w)
	ref.UID = ""
	info, err := infoOf(ref.Kind)
	group, version, _ := strings.Cut(w.GetAPIVersion(), "/")
	if err != nil || !info.editable || group != kube.Group {
		return wished{}, &Problem{
			What: text.Clean(fmt.Sprintf("%s holds a %s %s, which is not edited here", f.Name, w.GetAPIVersion(), ref.Kind)),
			Do:   "Give it ClusterQueues, LocalQueues, Cohorts, ResourceFlavors and WorkloadPriorityClasses alone. Nothing was written.", Rejected: true,
		}
	}
	if ref.Name == "" {
		return wished{}, &Problem{What: text.Clean(fmt.Sprintf("a %s in %s has no name", ref.Kind, f.Name)), Do: "Name it in metadata.name.", Rejected: true}
	}
	if err := d.served(version); err != nil {
		return wished{}, err
	}
	if info.namespaced && ref.Namespace == "" {
		ref.Namespace = f.Namespace
	}
	out := wished{target: Target{Ref: ref, Method: Create}}
	var api schema.GroupVersionResource
	if version != c.version {
		api = schema.GroupVersionResource{Group: kube.Group, Version: version, Resource: info.resource}
		out.notes = append(out.notes, fmt.Sprintf("%s is written in %s, which Kueue converts; the cluster's preferred version is %s.", ref, version, c.version))
	}
	live, err := c.read(ctx, ref, api)
	switch {
	case apierrors.IsNotFound(errors.Unwrap(err)):
		if uid := w.GetUID(); uid != "" { // of an object that was there: perhaps not whole
			return wished{}, &Problem{
				What: text.Clean(fmt.Sprintf("the file is of %s with UID %s, which is not there any more", ref, uid)),
				Do:   "Look at what became of it. To make it anew, give the file all of its fields and no metadata.uid and metadata.generation.", Conflict: true,
			}
		}
	case err != nil:
		return wished{}, err
	default:
		out.target, out.live, out.stale = target(ref, live), live, stale(w, live)
		out.target.Method = Apply
	}
	out.target.API = api
	want := &unstructured.Unstructured{Object: wish(doc)}
	if info.namespaced {
		want.SetNamespace(ref.Namespace)
	}
	if err := onlyMaps(want.Object); err != nil {
		return wished{}, err
	}
	out.notes = append(out.notes, stripOwn(want)...)
	if out.target.Patch, err = want.MarshalJSON(); err != nil {
		return wished{}, err
	}
	return out, nil
}

// served refuses a version that the cluster does not serve.
func (d *Desk) served(version string) error {
	all := d.opts.World().Contract.Served
	if slices.Contains(all, version) || len(all) == 0 {
		return nil
	}
	p := &Problem{What: text.Clean(fmt.Sprintf("the cluster does not serve %s/%s but %s", kube.Group, version, strings.Join(all, ", "))), Do: "Write the objects in a version that it serves.", Rejected: true}
	if version == "v1beta1" {
		p.Do += " In v1beta2 " + strings.Join(renames("v1beta2"), ", ") + "."
	}
	return p
}

// stripOwn takes out of an object what only hold and resume write, and says so.
// Since an apply never has them, it never owns them and never takes them away.
func stripOwn(o *unstructured.Unstructured) []string {
	return setAside(map[string]any{}, o.Object)
}

// onlyMaps refuses objects whose parts are no maps.
func onlyMaps(o map[string]any) error {
	for _, path := range [][]string{{"metadata", "labels"}, {"metadata", "annotations"}, {"spec"}} {
		v, has, err := unstructured.NestedFieldNoCopy(o, path...)
		if _, isMap := v.(map[string]any); err != nil || has && !isMap && v != nil {
			return &Problem{What: strings.Join(path, ".") + " is not a map of names and values", Do: "Correct it and try again.", Rejected: true}
		}
	}
	return nil
}

// order brings the objects into the order in which they are written: what others
// name comes first, a cohort before those below it.
func order(ws []wished) {
	parents := map[string]string{}
	for _, w := range ws {
		if w.target.Ref.Kind == world.KindCohort {
			o := &unstructured.Unstructured{}
			_ = o.UnmarshalJSON(w.target.Patch) // it was made a moment ago
			parents[w.target.Ref.Name], _, _ = unstructured.NestedString(o.Object, "spec", "parentName")
		}
	}
	depth := func(name string) int {
		n := 0
		for at, ok := parents[name]; ok && at != "" && n <= len(parents); at, ok = parents[at] {
			n++
		}
		return n
	}
	rank := map[world.Kind]int{world.KindResourceFlavor: 0, world.KindWorkloadPriorityClass: 1, world.KindCohort: 2, world.KindClusterQueue: 3, world.KindLocalQueue: 4}
	slices.SortStableFunc(ws, func(a, b wished) int {
		x, y := a.target.Ref, b.target.Ref
		return cmp.Or(cmp.Compare(rank[x.Kind], rank[y.Kind]), cmp.Compare(depth(x.Name), depth(y.Name)), x.Key.Compare(y.Key))
	})
}

// tryWish has the server try one object and adds it to the plan, unless it is so
// already. The error of one with fields of other owners has owners, unless they are
// to be taken over: then it is tried again by force, and the plan says so.
func (d *Desk) tryWish(ctx context.Context, c *client, p *Plan, w *wished, takeOver bool) error {
	t := w.target
	result, err := d.tryApply(ctx, c, t, w)
	var took []string
	if own := owners(err); len(own) > 0 && (takeOver || len(others(own)) == 0) {
		t.Force = true
		for _, o := range others(own) {
			took = append(took, text.Clean(o.String()))
			p.Notes = append(p.Notes, text.Clean(fmt.Sprintf(TakesOver+" %s %s, which may write it again.", t.Ref, o)))
		}
		result, err = d.tryApply(ctx, c, t, w)
	}
	if err != nil {
		if len(owners(err)) > 0 {
			return err
		}
		return problem(fmt.Sprintf("apply %s (server dry-run)", t.Ref), err)
	}
	live := w.live
	if live == nil {
		live = &unstructured.Unstructured{Object: map[string]any{}}
	}
	diff, err := diffObjects(live, result)
	if err != nil {
		return err
	}
	p.Warnings = union(p.Warnings, c.said())
	if len(diff) == 0 {
		p.Notes = append(p.Notes, t.Ref.String()+" is so already.")
		return nil
	}
	if w.stale != nil {
		return w.stale
	}
	if t.After, err = result.MarshalJSON(); err != nil {
		return err
	}
	t.Change = "as in the difference"
	if t.Method == Create {
		t.Change = "is made"
	}
	if len(took) > 0 { // so that the journal has it too
		t.Change += "; takes over " + strings.Join(took, "; ")
	}
	p.Targets, p.Diff = append(p.Targets, t), append(p.Diff, diff...)
	p.willBe(t.Ref, live, result)
	if n := owned(t.Ref, live); n != "" {
		p.Notes = append(p.Notes, n)
	}
	return nil
}

// tryApply has the server try the object, anew where only its status moved.
func (d *Desk) tryApply(ctx context.Context, c *client, t Target, w *wished) (*unstructured.Unstructured, error) {
	for try := 0; ; try++ {
		result, err := c.send(ctx, t, w.live, true)
		if err == nil || t.Method == Create || !moved(err) || try >= retries {
			return result, err
		}
		live, err := c.read(ctx, t.Ref, t.API)
		if err != nil {
			return nil, err
		}
		if err := unchanged(t, live); err != nil {
			return nil, err
		}
		w.live = live
	}
}

// finishFile says what holds for the whole set, and asks.
func (d *Desk) finishFile(p *Plan) {
	p.Subject = p.Targets[0].Ref
	p.Unknown = union(nil, p.Unknown)
	p.Confirm = d.confirmSeveral(p)
	if n := len(p.Targets); n > 1 {
		p.Notes = append([]string{
			fmt.Sprintf("%d objects, written one after the other: flavors and classes, cohorts from the top, ClusterQueues, LocalQueues, so that what others name is there first. It stops at the first that is not done; to go on, apply again.", n),
			"Each dry-run sees the cluster as it is and not the other changes of the file; what Kueue will do is computed for all of them.",
		}, p.Notes...)
	}
}

// owner is a field that a server-side apply may not change, and who owns it.
type owner struct{ field, manager string }

func (o owner) String() string { return fmt.Sprintf("%s, which %q owns", o.field, o.manager) }

// owners are the fields that a server-side apply may not change, each with its owner;
// nil for any other error.
func owners(err error) []owner {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var out []owner
	for _, c := range status.Status().Details.Causes {
		if c.Type == metav1.CauseTypeFieldManagerConflict {
			_, rest, _ := strings.Cut(c.Message, `conflict with "`)
			name, _, _ := strings.Cut(rest, `"`)
			out = append(out, owner{c.Field, name})
		}
	}
	return out
}

// others are those that are not of this program: what it wrote by a patch or made
// counts for the server as another owner than what it applies.
func others(all []owner) []owner {
	return slices.DeleteFunc(slices.Clone(all), func(o owner) bool { return o.manager == FieldManager })
}
