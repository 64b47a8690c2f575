package actions

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// verify watches the object until Kueue has taken up what was written, or says
// after a while what is missing.
func (d *Desk) verify(ctx context.Context, c *client, a Action, t Target, written *unstructured.Unstructured) (ok bool, detail string) {
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, d.opts.VerifyFor)
	defer cancel()
	last := written
	for {
		if last.GetGeneration() > written.GetGeneration() {
			return false, "written, but somebody changed the spec again before Kueue was seen to take it up; look at it"
		}
		if ok, detail = seen(a, written, last); ok {
			return ok, detail
		}
		next, err := d.await(ctx, c, t, last)
		if parent.Err() != nil {
			return false, "written; the wait for Kueue was interrupted: " + detail
		}
		if err != nil {
			return false, fmt.Sprintf("written, but Kueue was not seen to have taken it up in %s: %s", d.opts.VerifyFor, detail)
		}
		last = next
	}
}

// seen reports whether the object, whose spec is the one that was written, shows
// that Kueue has taken it up, with what it shows or what is missing.
func seen(a Action, written, now *unstructured.Unstructured) (bool, string) {
	switch a {
	case Deactivate:
		return deactivated(now)
	case Reactivate:
		return reactivated(now)
	}
	active, found := condition(now, world.CondActive)
	switch {
	case !found:
		return false, "it has no Active condition"
	case active.observed < written.GetGeneration():
		return false, fmt.Sprintf("its Active condition is of generation %d, the spec of %d", active.observed, written.GetGeneration())
	case (a == Hold || a == Drain) && active.status == "True":
		return false, "it still says that it admits Workloads"
	}
	return true, text.Clean(fmt.Sprintf("Kueue has looked at generation %d: Active=%s (%s): %s", active.observed, active.status, active.reason, active.message))
}

type observedCondition struct {
	status, reason, message string
	observed                int64
}

func condition(o *unstructured.Unstructured, typ string) (observedCondition, bool) {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, e := range list {
		m, _ := e.(map[string]any)
		if m["type"] != typ {
			continue
		}
		var c observedCondition
		c.status, _ = m["status"].(string)
		c.reason, _ = m["reason"].(string)
		c.message, _ = m["message"].(string)
		c.observed, _ = m["observedGeneration"].(int64)
		return c, true
	}
	return observedCondition{}, false
}

// await blocks until the object is newer than last. A watch that ends early is
// begun again from a fresh read.
func (d *Desk) await(ctx context.Context, c *client, t Target, last *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	r, err := c.resource(t.Ref, t.API)
	if err != nil {
		return nil, err
	}
	for {
		w, err := r.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + t.Ref.Name, ResourceVersion: last.GetResourceVersion()})
		if err == nil {
			for e := range w.ResultChan() {
				if o, ok := e.Object.(*unstructured.Unstructured); ok && e.Type != watch.Deleted && o.GetUID() == last.GetUID() {
					w.Stop()
					return o, nil
				}
			}
			w.Stop()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-d.opts.Clock.After(rewatchPause):
		}
		now, err := r.Get(ctx, t.Ref.Name, metav1.GetOptions{})
		if err == nil && now.GetResourceVersion() != last.GetResourceVersion() {
			return now, nil
		}
	}
}
