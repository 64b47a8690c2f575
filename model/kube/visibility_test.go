package kube

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"cli.holdfast.dev/holdfast/model/world"
)

// deadline is a context that runs out when hang is asked.
type deadline struct {
	context.Context
	once sync.Once
	done chan struct{}
}

func newDeadline(t *testing.T) *deadline {
	return &deadline{Context: t.Context(), done: make(chan struct{})}
}

// Done implements context.Context.
func (d *deadline) Done() <-chan struct{} { return d.done }

// Err implements context.Context.
func (d *deadline) Err() error {
	select {
	case <-d.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// hang is a handler that never answers.
func (d *deadline) hang(_ http.ResponseWriter, r *http.Request) {
	d.once.Do(func() { close(d.done) })
	<-r.Context().Done()
}

func TestPending(t *testing.T) {
	const cq, lq = "/clusterqueues/team-a/pendingworkloads", "/namespaces/ns/localqueues/main/pendingworkloads"
	const v1, v2 = "/apis/visibility.kueue.x-k8s.io/v1beta1", "/apis/visibility.kueue.x-k8s.io/v1beta2"
	one := says(200, `{"kind":"PendingWorkloadsSummary","items":[{"metadata":{"name":"w","namespace":"ns"},"priority":5,"localQueueName":"main","positionInClusterQueue":3,"positionInLocalQueue":2}]}`)
	queue, local := world.Key{Name: "team-a"}, world.Key{Namespace: "ns", Name: "main"}
	tests := map[string]struct {
		path   string
		answer http.HandlerFunc
		queue  world.Key
		limit  int
		asked  string // limit
		err    func(error) bool
	}{
		"a ClusterQueue":    {v2 + cq, one, queue, 20, "20", nil},
		"a LocalQueue":      {v2 + lq, one, local, 1000, "1000", nil},
		"the older version": {v1 + cq, one, queue, 1, "1", nil},
		"a negative limit":  {v2 + cq, one, queue, -5, "1", nil},
		"too large a limit": {v2 + cq, one, queue, 1 << 40, "1000", nil},
		"403":               {v2 + cq, failure(403, "Forbidden", "no"), queue, 1, "1", apierrors.IsForbidden},
		"404 of the queue":  {v2 + cq, failure(404, "NotFound", `clusterqueue.visibility.kueue.x-k8s.io "team-a" not found`), queue, 1, "1", apierrors.IsNotFound},
		"429":               {v2 + cq, failure(429, "TooManyRequests", "busy"), queue, 1, "1", apierrors.IsTooManyRequests},
		"500":               {v2 + cq, failure(500, "InternalError", "nil pointer"), queue, 1, "1", apierrors.IsInternalError},
		"503": {v2 + cq, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		}, queue, 1, "1", apierrors.IsServiceUnavailable},
		"hanging":           {v2 + cq, nil, queue, 1, "1", func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
		"no such API":       {"/else", one, queue, 1, "", func(err error) bool { return errors.Is(err, ErrNoVisibility) && !apierrors.IsNotFound(err) }},
		"a path for a name": {v2 + cq, one, world.Key{Name: "team-a/pendingworkloads"}, 1, "", func(err error) bool { return err != nil }},
		"a way out":         {v2 + cq, one, world.Key{Namespace: "..", Name: "main"}, 1, "", func(err error) bool { return err != nil }},
		"no name":           {v2 + cq, one, world.Key{}, 1, "", func(err error) bool { return err != nil }},
		"an answer in HTML": {v2 + cq, says(200, "<html>"), queue, 1, "1", func(err error) bool { return err != nil && !apierrors.IsInternalError(err) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx := newDeadline(t)
			if tc.answer == nil {
				tc.answer = ctx.hang
			}
			limits := make(chan string, 1)
			c := serving(t, map[string]http.HandlerFunc{tc.path: func(w http.ResponseWriter, r *http.Request) {
				limits <- r.URL.Query().Get("limit")
				tc.answer(w, r)
			}})
			got, err := c.Pending(ctx, tc.queue, tc.limit)
			if tc.err == nil && err != nil || tc.err != nil && !tc.err(err) {
				t.Fatalf("error %v", err)
			}
			asked := ""
			select {
			case asked = <-limits:
			default:
			}
			if asked != tc.asked {
				t.Errorf("asked for %q, want %q", asked, tc.asked)
			}
			if tc.err == nil && (len(got) != 1 || got[0].Name != "w" || got[0].PositionInClusterQueue != 3) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// The version that answered is asked first the next time, and one that is gone is
// looked for anew.
func TestPendingRemembersTheVersion(t *testing.T) {
	var asked []string
	served := "v1beta1"
	answer := func(w http.ResponseWriter, r *http.Request) {
		v := r.PathValue("version")
		asked = append(asked, v)
		if v != served {
			http.NotFound(w, r)
			return
		}
		says(200, `{"items":[]}`)(w, r)
	}
	c := serving(t, map[string]http.HandlerFunc{"/apis/visibility.kueue.x-k8s.io/{version}/clusterqueues/q/pendingworkloads": answer})
	for _, served = range []string{"v1beta1", "v1beta1", "v1beta2"} {
		if _, err := c.Pending(t.Context(), world.Key{Name: "q"}, 1); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{"v1beta2", "v1beta1", "v1beta1", "v1beta1", "v1beta2"}, asked); d != "" {
		t.Errorf("versions asked (-want +got):\n%s", d)
	}
}

func TestAPIAvailable(t *testing.T) {
	const base = "/apis/apiregistration.k8s.io/v1/apiservices/"
	service := func(status string) http.HandlerFunc {
		return says(200, `{"status":{"conditions":[{"type":"Available","status":"`+status+`","message":"because"}]}}`)
	}
	tests := map[string]struct {
		routes    map[string]http.HandlerFunc
		available bool
		detail    string
		err       func(error) bool
	}{
		"available":     {map[string]http.HandlerFunc{base + "v1beta2.visibility.kueue.x-k8s.io": service("True")}, true, "because", nil},
		"not available": {map[string]http.HandlerFunc{base + "v1beta2.visibility.kueue.x-k8s.io": service("False")}, false, "because", nil},
		"only the older": {map[string]http.HandlerFunc{
			base + "v1beta2.visibility.kueue.x-k8s.io": failure(404, "NotFound", "no"), base + "v1beta1.visibility.kueue.x-k8s.io": service("True"),
		}, true, "because", nil},
		"new":       {map[string]http.HandlerFunc{base + "v1beta2.visibility.kueue.x-k8s.io": says(200, `{}`)}, false, "the APIService has no Available condition yet", nil},
		"forbidden": {map[string]http.HandlerFunc{base + "v1beta2.visibility.kueue.x-k8s.io": failure(403, "Forbidden", "no")}, false, "", apierrors.IsForbidden},
		"none":      {nil, false, "", apierrors.IsNotFound},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			available, detail, err := serving(t, tc.routes).APIAvailable(t.Context())
			if available != tc.available || detail != tc.detail || tc.err == nil && err != nil || tc.err != nil && !tc.err(err) {
				t.Errorf("%v, %q, %v", available, detail, err)
			}
		})
	}
}
