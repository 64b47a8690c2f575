package live

import (
	"cmp"
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/world"
)

// mostEvents bounds how many events are read at once.
const mostEvents = 5000

// EventList is what was read of the events, the oldest first.
type EventList struct {
	Events []world.Event
	// Cut is set where there are more. Those that are left out are not the oldest:
	// the server lists events by name.
	Cut bool
}

// Events lists the events that speak of the object with the UID, empty for all, in
// the namespace, empty for all. The same events stand in two APIs: events.k8s.io
// is asked, and core/v1 where that is forbidden or not served. With an error comes
// what was read before it.
func (r *Reader) Events(ctx context.Context, namespace string, uid types.UID) (EventList, error) {
	l, err := r.events(ctx, "regarding.uid", uid, func(ctx context.Context, o metav1.ListOptions, take func(world.Event)) (string, error) {
		l, err := r.core.EventsV1().Events(namespace).List(ctx, o)
		if err != nil {
			return "", err
		}
		for i := range l.Items {
			take(project.NewEvent(&l.Items[i]))
		}
		return l.Continue, nil
	})
	resource := "events.events.k8s.io"
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		resource = "events"
		l, err = r.events(ctx, "involvedObject.uid", uid, func(ctx context.Context, o metav1.ListOptions, take func(world.Event)) (string, error) {
			l, err := r.core.CoreV1().Events(namespace).List(ctx, o)
			if err != nil {
				return "", err
			}
			for i := range l.Items {
				take(project.Event(&l.Items[i]))
			}
			return l.Continue, nil
		})
	}
	if err != nil {
		return l, &ReadError{resource, namespace, err}
	}
	return l, nil
}

type eventPage func(ctx context.Context, o metav1.ListOptions, take func(world.Event)) (next string, err error)

func (r *Reader) events(ctx context.Context, field string, uid types.UID, page eventPage) (EventList, error) {
	var o metav1.ListOptions
	if uid != "" {
		o.FieldSelector = fields.OneTermEqualSelector(field, string(uid)).String()
	}
	var out EventList
	err := paged(ctx, o, func() { out = EventList{} }, func(ctx context.Context, o metav1.ListOptions) (string, error) {
		next, err := page(ctx, o, func(e world.Event) { out.Events = append(out.Events, e) })
		if n := len(out.Events); n > mostEvents || n == mostEvents && next != "" {
			out.Events, out.Cut = out.Events[:mostEvents], true
			return "", nil
		}
		return next, err
	})
	slices.SortStableFunc(out.Events, func(a, b world.Event) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out, err
}
