package actions

import (
	"context"
	"fmt"

	"github.com/aymanbagabas/go-udiff"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// dryRun asks the server what the target's patch would make of the object and
// adds the target, the difference, the warnings and the object as it will be to
// the plan. The server runs
// its schema, rules and webhooks and stores nothing.
func (d *Desk) dryRun(ctx context.Context, c *client, p *Plan, t Target, live *unstructured.Unstructured) error {
	result, err := c.send(ctx, t, live, true)
	if err != nil {
		return problem(fmt.Sprintf("%s %s (server dry-run)", p.Action, t.Ref), err)
	}
	diff, err := diffObjects(live, result)
	if err != nil {
		return err
	}
	if t.After, err = result.MarshalJSON(); err != nil {
		return err
	}
	p.Targets = append(p.Targets, t)
	p.Diff = append(p.Diff, diff...)
	p.Warnings = append(p.Warnings, c.said()...)
	p.willBe(t.Ref, live, result)
	if n := owned(t.Ref, live); n != "" {
		p.Notes = append(p.Notes, n)
	}
	return nil
}

// diffObjects compares two versions of an object as YAML, less what the server
// counts up by itself. It returns no lines when nothing differs.
func diffObjects(before, after *unstructured.Unstructured) ([]string, error) {
	a, err := comparable(before)
	if err != nil {
		return nil, err
	}
	b, err := comparable(after)
	if err != nil {
		return nil, err
	}
	if a == b {
		return nil, nil
	}
	name := refOf(after).String()
	return text.Lines(udiff.Unified("live "+name, "after "+name, a, b)), nil
}

func comparable(o *unstructured.Unstructured) (string, error) {
	y, err := yaml.Marshal(bare(o).Object)
	if err != nil {
		return "", fmt.Errorf("%s/%s cannot be written as YAML: %w", o.GetKind(), o.GetName(), err)
	}
	return string(y), nil
}

// bare is a copy of the object less what the server counts up by itself.
func bare(o *unstructured.Unstructured) *unstructured.Unstructured {
	c := o.DeepCopy()
	for _, f := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"} {
		unstructured.RemoveNestedField(c.Object, "metadata", f)
	}
	unstructured.RemoveNestedField(c.Object, "metadata", "annotations", lastApplied)
	unstructured.RemoveNestedField(c.Object, "status")
	return c
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// refOf names the object that o is.
func refOf(o *unstructured.Unstructured) world.Ref {
	return world.Ref{Kind: world.Kind(o.GetKind()), Key: world.Key{Namespace: o.GetNamespace(), Name: o.GetName()}, UID: o.GetUID()}
}
