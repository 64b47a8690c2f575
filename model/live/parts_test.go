package live

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/world"
)

// nowhere is the configuration of a server that is gone.
func nowhere(t *testing.T) *rest.Config {
	t.Helper()
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	return kube.Reader(&rest.Config{Host: srv.URL}, "test")
}

func inquire(t *testing.T, routes map[string]http.HandlerFunc) *inquiry {
	t.Helper()
	mux := http.NewServeMux()
	for path, h := range routes {
		mux.HandleFunc("GET "+path, h)
	}
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	c, err := kube.NewClient(kube.Reader(&rest.Config{Host: srv.URL}, "test"))
	if err != nil {
		t.Fatal(err)
	}
	return &inquiry{client: c, opts: Options{Clock: clock.RealClock{}, ManagerNamespace: "ks", ManagerName: "kueue-controller-manager"}, refused: &refusals{}}
}

const (
	v1, v2    = "/apis/kueue.x-k8s.io/v1beta1/", "/apis/kueue.x-k8s.io/v1beta2/"
	visible2  = "/apis/visibility.kueue.x-k8s.io/v1beta2/"
	crdPath   = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterqueues.kueue.x-k8s.io"
	apiPath   = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.visibility.kueue.x-k8s.io"
	groupPath = "/apis/kueue.x-k8s.io"

	broken = `conversion webhook for kueue.x-k8s.io/v1beta2, Kind=ClusterQueue failed: Post "https://kueue-webhook-service.kueue-system.svc:443/convert?timeout=30s": dial tcp 10.0.0.1:443: connect: connection refused`
)

func TestConversion(t *testing.T) {
	both := []string{"v1beta2", "v1beta1"}
	queue := says(200, `{"items":[{"metadata":{"name":"q"}}]}`)
	local := says(200, `{"items":[{"metadata":{"name":"l","namespace":"ns"}}]}`)
	none, denied := says(200, `{"items":[]}`), failure(403, "Forbidden", "no")
	fine := says(200, `{}`)
	tests := map[string]struct {
		served []string
		routes map[string]http.HandlerFunc
		want   world.Readiness
		detail string // begins so
	}{
		"works":    {both, map[string]http.HandlerFunc{v2 + "clusterqueues": queue, v2 + "clusterqueues/q": fine, v1 + "clusterqueues/q": fine}, world.Ready, "clusterqueues q was read as v1beta2 and as v1beta1"},
		"does not": {both, map[string]http.HandlerFunc{v2 + "clusterqueues": queue, v2 + "clusterqueues/q": fine, v1 + "clusterqueues/q": failure(500, "", broken)}, world.NotReady, broken},
		// A list may come from what the API server converted long ago.
		"does not, though lists come":         {both, map[string]http.HandlerFunc{v2 + "clusterqueues": queue, v1 + "clusterqueues": queue, v2 + "clusterqueues/q": fine, v1 + "clusterqueues/q": failure(500, "", broken)}, world.NotReady, broken},
		"does not, and the old one is stored": {both, map[string]http.HandlerFunc{v2 + "clusterqueues": failure(500, "InternalError", broken)}, world.NotReady, broken},
		"one version":                         {both[:1], map[string]http.HandlerFunc{v2 + "clusterqueues": queue}, world.Unknown, "not needed: v1beta2 is the only version that is served"},
		"nothing there":                       {both, map[string]http.HandlerFunc{v2 + "clusterqueues": none, v2 + "localqueues": none, v2 + "workloads": none, v2 + "cohorts": none}, world.Unknown, "no object to convert"},
		"nothing may be read":                 {both, map[string]http.HandlerFunc{v2 + "clusterqueues": denied, v2 + "localqueues": denied, v2 + "workloads": denied, v2 + "cohorts": denied}, world.Unknown, "no object to convert"},
		"another kind": {both, map[string]http.HandlerFunc{
			v2 + "clusterqueues": denied, v2 + "localqueues": local, v2 + "namespaces/ns/localqueues/l": fine, v1 + "namespaces/ns/localqueues/l": fine,
		}, world.Ready, "localqueues ns/l was read as v1beta2 and as v1beta1"},
		"gone meanwhile":    {both, map[string]http.HandlerFunc{v2 + "clusterqueues": queue, v2 + "clusterqueues/q": failure(404, "NotFound", "no")}, world.Unknown, "clusterqueues q, which was to be converted, is gone"},
		"the server is ill": {both, map[string]http.HandlerFunc{v2 + "clusterqueues": queue, v2 + "clusterqueues/q": fine, v1 + "clusterqueues/q": failure(500, "InternalError", "etcd is gone")}, world.Unknown, "etcd is gone"},
		"and at once":       {both, map[string]http.HandlerFunc{v2 + "clusterqueues": failure(500, "InternalError", "etcd is gone")}, world.Unknown, "etcd is gone"},
		"busy":              {both, map[string]http.HandlerFunc{v2 + "clusterqueues": queue, v2 + "clusterqueues/q": fine, v1 + "clusterqueues/q": failure(429, "TooManyRequests", "busy")}, world.Unknown, "busy"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := inquire(t, tc.routes).parts(t.Context(), tc.served, "v1beta2")
			if p.conversion.state != tc.want || !strings.HasPrefix(p.conversion.detail, tc.detail) {
				t.Errorf("%+v, want %s %q", p.conversion, tc.want, tc.detail)
			}
		})
	}
}

// What was asked about is gone: another object is looked for the next time.
func TestConversionLooksForAnotherObject(t *testing.T) {
	name := "q"
	fine := says(200, `{}`)
	q := inquire(t, map[string]http.HandlerFunc{
		v2 + "clusterqueues": func(w http.ResponseWriter, r *http.Request) {
			says(200, `{"items":[{"metadata":{"name":"`+name+`"}}]}`)(w, r)
		},
		v2 + "clusterqueues/r":       fine,
		v1 + "clusterqueues/r":       fine,
		groupPath:                    says(200, `{"versions":[{"version":"v1beta2"},{"version":"v1beta1"}]}`),
		visible2 + "clusterqueues/r": failure(404, "NotFound", "no"),
	})
	if p := q.parts(t.Context(), []string{"v1beta2", "v1beta1"}, "v1beta2"); !strings.Contains(p.conversion.detail, "is gone") {
		t.Errorf("first: %+v", p.conversion)
	}
	name = "r"
	for range 2 {
		if p := q.parts(t.Context(), []string{"v1beta2", "v1beta1"}, "v1beta2"); p.conversion.state != world.Ready {
			t.Errorf("then: %+v", p.conversion)
		}
		name = "s" // nobody looks again
	}
}

func TestVisibility(t *testing.T) {
	queue, local, denied := says(200, `{"items":[{"metadata":{"name":"q"}}]}`), says(200, `{"items":[{"metadata":{"name":"l","namespace":"ns"}}]}`), failure(403, "Forbidden", "no")
	const pending = visible2 + "clusterqueues/q/pendingworkloads"
	available := func(status string) http.HandlerFunc {
		return says(200, `{"status":{"conditions":[{"type":"Available","status":"`+status+`","message":"because"}]}}`)
	}
	with := func(answer http.HandlerFunc) map[string]http.HandlerFunc {
		return map[string]http.HandlerFunc{v2 + "clusterqueues": queue, pending: answer}
	}
	tests := map[string]struct {
		routes map[string]http.HandlerFunc
		want   world.Readiness
		detail string // begins so
	}{
		"works":            {with(says(200, `{"items":[]}`)), world.Ready, "Kueue told the order of q"},
		"not of the queue": {with(failure(404, "NotFound", "no such queue")), world.Ready, "Kueue answered, though not about q"},
		"of a LocalQueue": {map[string]http.HandlerFunc{
			v2 + "clusterqueues": denied, v2 + "localqueues": local, visible2 + "namespaces/ns/localqueues/l/pendingworkloads": says(200, `{}`),
		}, world.Ready, "Kueue told the order of ns/l"},
		"not served":              {map[string]http.HandlerFunc{v2 + "clusterqueues": queue}, world.NotReady, kube.ErrNoVisibility.Error()},
		"429":                     {with(failure(429, "TooManyRequests", "busy")), world.Unknown, "the server is busy (429)"},
		"500":                     {with(failure(500, "InternalError", "nil")), world.NotReady, "Kueue's Visibility API fails (500)"},
		"503":                     {with(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusServiceUnavailable) }), world.NotReady, "Kueue's Visibility API is not available (503)"},
		"403":                     {with(denied), world.Unknown, "no access: get clusterqueues.visibility.kueue.x-k8s.io/pendingworkloads is not allowed (403); the APIService: "},
		"403, but the APIService": {map[string]http.HandlerFunc{v2 + "clusterqueues": queue, pending: denied, apiPath: available("True")}, world.Ready, "the APIService is available"},
		"403, and the APIService": {map[string]http.HandlerFunc{v2 + "clusterqueues": queue, pending: denied, apiPath: available("False")}, world.NotReady, "the APIService is not available: because"},
		"no queue":                {map[string]http.HandlerFunc{v2 + "clusterqueues": denied, v2 + "localqueues": denied, apiPath: denied}, world.Unknown, "there is no queue to ask about, or none may be read; the APIService: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := inquire(t, tc.routes).parts(t.Context(), []string{"v1beta2"}, "v1beta2")
			if p.visibility.state != tc.want || !strings.HasPrefix(p.visibility.detail, tc.detail) {
				t.Errorf("%+v, want %s %q", p.visibility, tc.want, tc.detail)
			}
		})
	}
}

// Kueue's process stands still: connections are taken and nothing is answered.
func TestPartsThatHang(t *testing.T) {
	queue, fine := says(200, `{"items":[{"metadata":{"name":"q"}}]}`), says(200, `{}`)
	ctx := newDeadline(t)
	q := inquire(t, map[string]http.HandlerFunc{v2 + "clusterqueues/q": fine, v1 + "clusterqueues/q": ctx.hang})
	o := sample{Object: kube.Object{Resource: "clusterqueues", Key: world.Key{Name: "q"}}, ok: true}
	got, _ := q.conversion(ctx, o, []string{"v1beta2", "v1beta1"}, "v1beta2")
	if want := (verdict{world.NotReady, "clusterqueues q was read as v1beta2, but not within 8s as v1beta1"}); got != want {
		t.Errorf("conversion %+v, want %+v", got, want)
	}
	// When the version that is used hangs, too, it may be the server.
	ctx = newDeadline(t)
	q = inquire(t, map[string]http.HandlerFunc{v2 + "clusterqueues/q": ctx.hang})
	if got, _ := q.conversion(ctx, o, []string{"v1beta2", "v1beta1"}, "v1beta2"); got.state != world.Unknown || !strings.Contains(got.detail, "deadline exceeded") {
		t.Errorf("conversion %+v, want unknown", got)
	}
	ctx = newDeadline(t)
	q = inquire(t, map[string]http.HandlerFunc{v2 + "clusterqueues": queue, visible2 + "clusterqueues/q/pendingworkloads": ctx.hang})
	if got, want := q.visibility(ctx, o), (verdict{world.NotReady, "Kueue's Visibility API gave no answer in time"}); got != want {
		t.Errorf("visibility %+v, want %+v", got, want)
	}
}

func TestVersionsAreReadAnew(t *testing.T) {
	asked := 0
	q := inquire(t, map[string]http.HandlerFunc{
		groupPath: says(200, `{"versions":[{"version":"v1beta2"}]}`),
		crdPath: func(w http.ResponseWriter, r *http.Request) {
			asked++
			says(200, `{"spec":{"versions":[{"name":"v1beta1"},{"name":"v1beta2","storage":true}]}}`)(w, r)
		},
	})
	for range 3 {
		if p := q.parts(t.Context(), []string{"v1beta2", "v1beta1"}, "v1beta2"); len(p.served) != 1 || p.stored != "v1beta2" {
			t.Errorf("served %v, stored %q", p.served, p.stored)
		}
	}
	if asked != 1 {
		t.Errorf("the large definition was read %d times, want once", asked)
	}
}
