package actions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/world"
)

// OpenEdit reads the object and writes the part of it that can be edited into a
// private file, in the API version that the cluster serves. It also finds what the
// person wrote about the object before and never applied (Draft.Left).
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
	body, err := yaml.Marshal(editable(o))
	if err != nil {
		return Draft{}, err
	}
	t := target(ref, o)
	dr := Draft{Target: t, Original: editHeader(t) + string(body)}
	dr.Left = d.drafts.left(d.opts.DraftDir, t.Ref.UID)
	dr.Path, err = d.drafts.create(d.opts.DraftDir, dr)
	return dr, err
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

// PlanEdit reads the draft's file and asks the server what it would make of it.
// A *Problem with Rejected set means that the content was refused: it may be
// edited again. One with Conflict set says what somebody changed meanwhile:
// RenewDraft brings both together. ErrNoChange means that nothing was edited.
func (d *Desk) PlanEdit(ctx context.Context, dr Draft) (Plan, error) {
	_, before, want, err := dr.read()
	if err != nil {
		return Plan{}, err
	}
	return d.planChange(ctx, dr.Target, before, want)
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
	notes, err := mean(before, want)
	if err != nil {
		return Plan{}, err
	}
	p := d.plan(Edit)
	p.Subject, p.Notes = t.Ref, notes
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
		var p *Problem
		if errors.As(err, &p) {
			_, p.Meanwhile = threeWay(before, editable(live), want)
		}
		return Plan{}, err
	}
	t.Patch, t.Change = mustJSON(patch), "spec as in the difference"
	if err := d.dryRun(ctx, c, &p, t, live); err != nil {
		return Plan{}, err
	}
	if len(p.Diff) == 0 {
		return Plan{}, noChange(p.Notes) // the server's defaults make it the same
	}
	p.Confirm = Confirm{ConfirmName, t.Ref.Name}
	return p, nil
}
