package live

import (
	"cmp"
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/world"
)

// MostEvents bounds how many events are read at once; of KueueEvents, of each kind.
const MostEvents = 5000

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
	return r.eventsWith(ctx, namespace, "uid", string(uid), func(string) bool { return true })
}

// Eventful are the kinds of Kueue that KueueEvents asks for.
func Eventful() []world.Kind {
	return []world.Kind{world.KindWorkload, world.KindClusterQueue, world.KindLocalQueue, world.KindCohort, world.KindAdmissionCheck}
}

// KueueEvents lists the events that speak of Kueue's Workloads, queues, cohorts and
// checks in the namespace, empty for all, as Events does.
func (r *Reader) KueueEvents(ctx context.Context, namespace string) (EventList, error) {
	var out EventList
	for _, k := range Eventful() {
		// Others may have kinds of these names.
		l, err := r.eventsWith(ctx, namespace, "kind", string(k), func(apiVersion string) bool {
			return apiVersion == "" || strings.HasPrefix(apiVersion, kube.Group+"/")
		})
		out.Events, out.Cut = append(out.Events, l.Events...), out.Cut || l.Cut
		if err != nil {
			return out, err
		}
	}
	slices.SortStableFunc(out.Events, oldestFirst)
	return out, nil
}

// eventsWith lists the events whose object has the value, empty for any, in the field,
// as far as of takes the object's API.
func (r *Reader) eventsWith(ctx context.Context, namespace, field, value string, of func(apiVersion string) bool) (EventList, error) {
	l, err := r.events(ctx, "regarding."+field, value, func(ctx context.Context, o metav1.ListOptions, take func(world.Event)) (string, error) {
		l, err := r.core.EventsV1().Events(namespace).List(ctx, o)
		if err != nil {
			return "", err
		}
		for i := range l.Items {
			if of(l.Items[i].Regarding.APIVersion) {
				take(project.NewEvent(&l.Items[i]))
			}
		}
		return l.Continue, nil
	})
	resource := "events.events.k8s.io"
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		resource = "events"
		l, err = r.events(ctx, "involvedObject."+field, value, func(ctx context.Context, o metav1.ListOptions, take func(world.Event)) (string, error) {
			l, err := r.core.CoreV1().Events(namespace).List(ctx, o)
			if err != nil {
				return "", err
			}
			for i := range l.Items {
				if of(l.Items[i].InvolvedObject.APIVersion) {
					take(project.Event(&l.Items[i]))
				}
			}
			return l.Continue, nil
		})
	}
	if err != nil {
		return l, &ReadError{resource, namespace, err}
	}
	return l, nil
}

func oldestFirst(a, b world.Event) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

type eventPage func(ctx context.Context, o metav1.ListOptions, take func(world.Event)) (next string, err error)

func (r *Reader) events(ctx context.Context, field, value string, page eventPage) (EventList, error) {
	var o metav1.ListOptions
	if value != "" {
		o.FieldSelector = fields.OneTermEqualSelector(field, value).String()
	}
	var out EventList
	err := paged(ctx, o, func() { out = EventList{} }, func(ctx context.Context, o metav1.ListOptions) (string, error) {
		next, err := page(ctx, o, func(e world.Event) { out.Events = append(out.Events, e) })
		if n := len(out.Events); n > MostEvents || n == MostEvents && next != "" {
			out.Events, out.Cut = out.Events[:MostEvents], true
			return "", nil
		}
		return next, err
	})
	slices.SortStableFunc(out.Events, oldestFirst)
	return out, err
}
