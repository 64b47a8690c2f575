package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// word is the method in the journal; empty for the usual one.
func (m Method) word() string {
	return map[Method]string{Apply: "apply", Create: "create"}[m]
}

// inverse is the merge patch that takes the target's change back; nil where there is
// none. It has the fields that change and no others.
func inverse(t Target) json.RawMessage {
	var base, patch map[string]any
	if t.Method == Create || len(t.Patch) == 0 || utiljson.Unmarshal(t.Base, &base) != nil || utiljson.Unmarshal(t.Patch, &patch) != nil {
		return nil
	}
	back := undone(patch, base)
	if is := stored(t); is != nil {
		back = mergeDiff(is, editable(&unstructured.Unstructured{Object: base}))
	}
	for _, path := range [][]string{{"metadata", "name"}, {"metadata", "namespace"}, {"apiVersion"}, {"kind"}} {
		unstructured.RemoveNestedField(back, path...)
	}
	if m, ok := back["metadata"].(map[string]any); ok && len(m) == 0 {
		delete(back, "metadata")
	}
	if len(back) == 0 {
		return nil
	}
	return mustJSON(back)
}

// stored is what a person may change of the object that an apply makes, by the
// server's dry-run: it may take fields away that its file does not name any more, and
// have defaults that it never named. nil for other methods, whose patch says it all.
func stored(t Target) map[string]any {
	o := &unstructured.Unstructured{}
	if t.Method != Apply || len(t.After) == 0 || o.UnmarshalJSON(t.After) != nil {
		return nil
	}
	return editable(o)
}

// changed is the merge patch of what the target's change makes of its object.
func changed(t Target) json.RawMessage {
	base := &unstructured.Unstructured{}
	is := stored(t)
	if is == nil || base.UnmarshalJSON(t.Base) != nil {
		return nil
	}
	return mustJSON(mergeDiff(editable(base), is))
}

// undone gives every field that patch sets to something else the value that it has in
// base; null takes away what was not there.
func undone(patch, base map[string]any) map[string]any {
	out := map[string]any{}
	for k, p := range patch {
		b, had := base[k]
		pm, isMap := p.(map[string]any)
		bm, wasMap := b.(map[string]any)
		switch {
		case isMap && wasMap:
			if sub := undone(pm, bm); len(sub) > 0 {
				out[k] = sub
			}
		case !had && p == nil, reflect.DeepEqual(p, b):
		case !had:
			out[k] = nil
		default:
			out[k] = b
		}
	}
	return out
}

// PlanUndo plans to take back what the journal's entry of the ID did, as far as it
// still stands: a hold is resumed, a resume becomes a hold, of other changes the
// fields that still have the entry's value get back what they had. What somebody
// changed since is left, and said. It fails with a *Problem where the entry cannot be
// taken back.
func (d *Desk) PlanUndo(ctx context.Context, id string) (Plan, error) {
	entries, _, err := d.opts.Journal.Read()
	if err != nil {
		return Plan{}, err
	}
	all := Deeds(entries)
	i := slices.IndexFunc(all, func(x Deed) bool { return x.Intent.ID == id && x.Intent.Entry == "intent" })
	if i < 0 {
		return Plan{}, &Problem{What: text.Clean(fmt.Sprintf("the journal has no entry %q", id)), Do: "See `holdfast journal` for the IDs."}
	}
	x := all[i]
	e := x.Intent
	if e.Server != d.opts.World().Contract.Server {
		return Plan{}, &Problem{What: text.Clean(fmt.Sprintf("entry %s is of %s (context %s), not of this cluster", id, e.Server, e.Context)), Do: "Choose that context."}
	}
	if err := d.mayWrite(); err != nil {
		return Plan{}, err
	}
	p, err := d.undo(ctx, x)
	if err != nil {
		return Plan{}, err
	}
	p.Undoes = id
	if x.Result == nil {
		p.Notes = append([]string{"That entry was interrupted: whether it was carried out is seen from the cluster alone."}, p.Notes...)
	}
	return p, nil
}

func (d *Desk) undo(ctx context.Context, x Deed) (Plan, error) {
	var p Plan
	e := x.Intent
	var one func(world.Ref, JournalEvent) (Plan, error)
	switch e.Action {
	case Hold, Drain:
		p = d.plan(Resume)
		one = func(r world.Ref, o JournalEvent) (Plan, error) { return d.lift(ctx, r, o) }
	case Resume:
		p = d.plan(Hold)
		one = func(r world.Ref, o JournalEvent) (Plan, error) { return d.holdOne(ctx, r, Hold, heldFor(o, e)) }
	case Export:
		return Plan{}, &Problem{What: nothingChanged, Do: "Remove the file if it is not wanted."}
	default:
		p = d.plan(Edit)
		one = func(r world.Ref, o JournalEvent) (Plan, error) { return d.revert(ctx, r, o) }
	}
	var left []string
	for _, o := range e.Objects {
		ref, err := refOfEvent(o)
		if err != nil {
			return Plan{}, err
		}
		if was, _ := x.Of(o.Object); was.Outcome == Refused || was.Outcome == NotDone {
			left = append(left, leftUndone(ref.String(), was.Outcome))
			continue
		}
		q, err := one(ref, o)
		if err != nil {
			left = append(left, err.Error())
			continue
		}
		p.add(q)
	}
	if len(p.Targets) == 0 {
		return Plan{}, &Problem{What: "nothing of it can be taken back: " + strings.Join(left, "; "), Do: "Nothing was changed."}
	}
	for _, l := range left {
		p.Notes = append(p.Notes, "Left as it is: "+l+".")
	}
	p.Subject = p.Targets[0].Ref
	switch {
	case len(p.Targets) > 1:
		p.Confirm = d.confirmSeveral(&p)
	case p.Confirm.Level == ConfirmContext:
		p.Confirm = d.confirmDrain(&p)
	}
	return p, nil
}

// lift plans to resume a queue if it is still held by the record that the entry wrote.
func (d *Desk) lift(ctx context.Context, ref world.Ref, o JournalEvent) (Plan, error) {
	p, err := d.resumeOne(ctx, ref)
	if err != nil {
		return p, err
	}
	if raw := p.Targets[0].HoldBefore; raw != holdIn(o.Patch) {
		return Plan{}, &Problem{What: fmt.Sprintf("%s is held anew since, by another record", ref)}
	}
	return p, nil
}

// holdIn is the record of a hold in a merge patch; empty for none.
func holdIn(patch json.RawMessage) string {
	var m struct {
		Metadata struct{ Annotations map[string]string }
	}
	if json.Unmarshal(patch, &m) != nil {
		return ""
	}
	return m.Metadata.Annotations[world.HoldAnnotation]
}

// heldFor is the reason of the hold that a resume took away.
func heldFor(o JournalEvent, e JournalEntry) string {
	if raw := holdIn(o.Inverse); raw != "" {
		if r := project.ParseHold(raw); r.Problem == "" && r.Reason != "" {
			return r.Reason
		}
	}
	return "taken back: resume of " + e.ID
}

// refOfEvent reads the object of a journal's entry back.
func refOfEvent(o JournalEvent) (world.Ref, error) {
	parts := strings.Split(o.Object, "/")
	r := world.Ref{UID: types.UID(o.UID)}
	switch len(parts) {
	case 2:
		r.Kind, r.Name = world.Kind(parts[0]), parts[1]
	case 3:
		r.Kind, r.Namespace, r.Name = world.Kind(parts[0]), parts[1], parts[2]
	default:
		return r, &Problem{What: text.Clean(fmt.Sprintf("the journal names no object: %q", o.Object)), Do: "Undo it by hand."}
	}
	return r, nil
}

// apiText is how the journal says by what API an object was addressed; empty for
// Kueue's own.
func apiText(api schema.GroupVersionResource) string {
	if api.Empty() {
		return ""
	}
	return api.Group + "/" + api.Version + "/" + api.Resource
}

func apiOf(o JournalEvent) (schema.GroupVersionResource, error) {
	if o.API == "" {
		return schema.GroupVersionResource{}, nil
	}
	parts := strings.Split(o.API, "/")
	if len(parts) != 3 || slices.Contains(parts[1:], "") {
		return schema.GroupVersionResource{}, &Problem{What: text.Clean(fmt.Sprintf("the journal names no API: %q", o.API)), Do: "Undo it by hand."}
	}
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}, nil
}

// revert plans to give the fields of one object back what they had, those alone that
// still have the value which the entry gave them.
func (d *Desk) revert(ctx context.Context, ref world.Ref, o JournalEvent) (Plan, error) {
	if why := o.oneWay(); why != "" {
		return Plan{}, &Problem{What: why}
	}
	var back, sent map[string]any
	if utiljson.Unmarshal(o.Inverse, &back) != nil || utiljson.Unmarshal(o.wrote(), &sent) != nil {
		return Plan{}, &Problem{What: fmt.Sprintf("the journal does not say what %s was before", ref)}
	}
	// Only hold and resume write these.
	unstructured.RemoveNestedField(back, "spec", "stopPolicy")
	unstructured.RemoveNestedField(back, "metadata", "annotations", world.HoldAnnotation)
	c, err := d.client()
	if err != nil {
		return Plan{}, err
	}
	api, err := apiOf(o)
	if err != nil {
		return Plan{}, err
	}
	live, err := c.read(ctx, ref, api)
	if err != nil {
		return Plan{}, err
	}
	changed := stillOurs("", back, sent, live.Object)
	if len(back) == 0 {
		return Plan{}, &Problem{What: fmt.Sprintf("somebody changed all of it on %s since", ref)}
	}
	p := d.plan(Edit)
	t := target(ref, live)
	t.API, t.Patch, t.Change = api, mustJSON(back), "back to what it was"
	p.Subject = t.Ref
	for _, f := range changed {
		p.Notes = append(p.Notes, text.Clean(fmt.Sprintf("Somebody changed %s of %s since: it is left.", f, ref)))
	}
	if err := d.dryRun(ctx, c, &p, t, live); err != nil {
		return Plan{}, err
	}
	p.Confirm = Confirm{ConfirmName, ref.Name}
	return p, nil
}

// stillOurs takes out of back the fields that do not have the value any more which
// sent gave them, and returns their names.
func stillOurs(at string, back, sent, live map[string]any) []string {
	var out []string
	for _, k := range sortedKeys(back) {
		name := strings.TrimPrefix(at+"."+k, ".")
		bm, isMap := back[k].(map[string]any)
		sm, sentMap := sent[k].(map[string]any)
		lm, liveMap := live[k].(map[string]any)
		now, has := live[k]
		switch {
		case isMap && sentMap && liveMap:
			out = append(out, stillOurs(name, bm, sm, lm)...)
			if len(bm) == 0 {
				delete(back, k)
			}
		case sent[k] == nil && !has, sent[k] != nil && has && reflect.DeepEqual(sent[k], now):
		default:
			delete(back, k)
			out = append(out, name)
		}
	}
	return out
}
