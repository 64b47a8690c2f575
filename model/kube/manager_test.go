package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"cli.holdfast.dev/holdfast/model/world"
)

// serving returns a Client of a server whose handlers go by path; other paths lead
// nowhere.
func serving(t *testing.T, routes map[string]http.HandlerFunc) *Client {
	t.Helper()
	mux := http.NewServeMux()
	for path, h := range routes {
		mux.HandleFunc("GET "+path, h)
	}
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	c, err := NewClient(Reader(&rest.Config{Host: srv.URL}, "test"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func says(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// failure is an answer as the API server gives it.
func failure(code int, reason, message string) http.HandlerFunc {
	m, _ := json.Marshal(message) // of a string it cannot fail
	return says(code, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":%s,"code":%d}`, reason, m, code))
}

func TestManager(t *testing.T) {
	c := serving(t, map[string]http.HandlerFunc{"/apis/apps/v1/namespaces/ks/deployments/km": says(200, `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"km"},
		"spec":{"template":{"spec":{"containers":[{"name":"proxy","image":"p:1"},{"name":"manager","image":"reg.example.com:5000/kueue/kueue:v0.19.2@sha256:ab"}]}}},
		"status":{"conditions":[{"type":"Available","status":"True","message":"ok\u001b[2J"}]}}`)})
	m, err := c.Manager(t.Context(), "ks", "km")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Manager{Version: "v0.19.2", Available: true, Detail: `ok\x1b[2J`}, m); d != "" {
		t.Errorf("manager (-want +got):\n%s", d)
	}
}

func TestTag(t *testing.T) {
	for image, want := range map[string]string{
		"kueue": "", "kueue:v1": "v1", "r.example.com:5000/kueue": "", "r.example.com:5000/kueue:v0.19.2": "v0.19.2", "kueue@sha256:ab": "", "kueue:v1@sha256:ab": "v1",
	} {
		if got := tag(image); got != want {
			t.Errorf("tag of %s is %q, want %q", image, got, want)
		}
	}
}

func TestLease(t *testing.T) {
	const one, all = "/apis/coordination.k8s.io/v1/namespaces/ks/leases/c1f6bfd2.kueue.x-k8s.io", "/apis/coordination.k8s.io/v1/namespaces/ks/leases"
	lease := func(name, holder, renewed string) string {
		return fmt.Sprintf(`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":%q},"spec":{"holderIdentity":%q,"renewTime":%q}}`, name, holder, renewed)
	}
	list := func(items ...string) http.HandlerFunc {
		return says(200, `{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","items":[`+strings.Join(items, ",")+`]}`)
	}
	const kueues, at = "c1f6bfd2.kueue.x-k8s.io", "2026-12-02T12:00:00.000000Z"
	renewed := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	dated := func(h http.HandlerFunc) http.HandlerFunc { // five seconds later
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", renewed.Add(5*time.Second).Format(http.TimeFormat))
			h(w, r)
		}
	}
	undated := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { w.Header()["Date"] = nil; h(w, r) }
	}
	missing, forbidden := failure(404, "NotFound", "gone"), failure(403, "Forbidden", "no")
	tests := map[string]struct {
		one, all http.HandlerFunc
		want     Lease
		err      func(error) bool
	}{
		"by the server's clock":       {dated(says(200, lease(kueues, "m", at))), nil, Lease{Name: kueues, Renewed: renewed, Age: 5 * time.Second}, nil},
		"by ours where it has none":   {undated(says(200, lease(kueues, "m", at))), nil, Lease{Name: kueues, Renewed: renewed, Age: time.Hour}, nil},
		"nobody holds it":             {says(200, lease(kueues, "", at)), nil, Lease{Name: kueues}, nil},
		"another name":                {missing, dated(list(lease("x", "m", "2026-12-02T12:00:04.000000Z"), lease("a.kueue.x-k8s.io", "m", "2026-12-02T11:00:00.000000Z"), lease("b.kueue.x-k8s.io", "m", at))), Lease{Name: "b.kueue.x-k8s.io", Renewed: renewed, Age: 5 * time.Second}, nil},
		"only lists are allowed":      {forbidden, dated(list(lease(kueues, "m", at))), Lease{Name: kueues, Renewed: renewed, Age: 5 * time.Second}, nil},
		"none":                        {missing, list(lease("x", "m", at)), Lease{}, func(err error) bool { return errors.Is(err, ErrNoLease) }},
		"nothing is allowed":          {forbidden, forbidden, Lease{}, apierrors.IsForbidden},
		"missing, and no list either": {missing, forbidden, Lease{}, apierrors.IsNotFound},
		"broken":                      {failure(500, "InternalError", "etcd"), list(), Lease{}, apierrors.IsInternalError},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			routes := map[string]http.HandlerFunc{one: tc.one}
			if tc.all != nil {
				routes[all] = tc.all
			}
			got, err := serving(t, routes).Lease(t.Context(), "ks", renewed.Add(time.Hour))
			if tc.err == nil && err != nil || tc.err != nil && !tc.err(err) {
				t.Errorf("error %v", err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("lease (-want +got):\n%s", d)
			}
		})
	}
}

func TestEndpoints(t *testing.T) {
	slice := func(endpoints string) string { return `{"metadata":{"name":"s"},"endpoints":[` + endpoints + `]}` }
	tests := map[string]struct {
		slices []string
		want   Endpoints
	}{
		"no slice":             {nil, Endpoints{}},
		"no pod":               {[]string{slice("")}, Endpoints{Slices: 1}},
		"none ready":           {[]string{slice(`{"addresses":["10.0.0.1"],"conditions":{"ready":false}}`)}, Endpoints{Slices: 1}},
		"ready, and not":       {[]string{slice(`{"addresses":["10.0.0.1"],"conditions":{"ready":false}}`), slice(`{"addresses":["10.0.0.2"],"conditions":{"ready":true}}`)}, Endpoints{2, 1}},
		"not said means ready": {[]string{slice(`{"addresses":["10.0.0.1"],"conditions":{}}`)}, Endpoints{1, 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := serving(t, map[string]http.HandlerFunc{"/apis/discovery.k8s.io/v1/namespaces/ks/endpointslices": func(w http.ResponseWriter, r *http.Request) {
				if got := r.URL.Query().Get("labelSelector"); got != "kubernetes.io/service-name=hook" {
					t.Errorf("asked for %q", got)
				}
				says(200, `{"kind":"EndpointSliceList","apiVersion":"discovery.k8s.io/v1","items":[`+strings.Join(tc.slices, ",")+`]}`)(w, r)
			}})
			got, err := c.Endpoints(t.Context(), "ks", "hook")
			if err != nil || got != tc.want {
				t.Errorf("%+v, %v; want %+v", got, err, tc.want)
			}
		})
	}
}

func TestBuildInfo(t *testing.T) {
	const path = "/api/v1/namespaces/ks/services/https:km-metrics-service:https/proxy/metrics"
	// As Prometheus' client writes it: labels sorted by name (Kueue's pkg/metrics).
	const line = `kueue_build_info{build_date="2026-08-20",compiler="gc",git_commit="ab",git_version="v0.19.2",go_version="go1.26",platform="linux/amd64"} 1`
	tests := map[string]struct {
		answer http.HandlerFunc
		want   string
		err    string
	}{
		"found":   {says(200, "# HELP kueue_build_info Kueue build information.\nother{git_version=\"v9\"} 1\n"+line+"\n"), "v0.19.2", ""},
		"missing": {says(200, "other 1\n"), "", "do not hold kueue_build_info"},
		"refused": {failure(401, "Unauthorized", "who are you"), "", "who are you"},
		"hostile": {says(200, "kueue_build_info{git_version=\"\x1b[2J\"} 1\n"), `\x1b[2J`, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := serving(t, map[string]http.HandlerFunc{path: tc.answer}).BuildInfo(t.Context(), "ks", "km-metrics-service")
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%q, %v; want %q, %q", got, err, tc.want, tc.err)
			}
		})
	}
}

func TestStoredVersion(t *testing.T) {
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterqueues.kueue.x-k8s.io"
	c := serving(t, map[string]http.HandlerFunc{path: says(200, `{"spec":{"versions":[{"name":"v1beta1","served":true,"storage":false},{"name":"v1beta2","served":true,"storage":true}]}}`)})
	if v, err := c.Stored(t.Context()); v != "v1beta2" || err != nil {
		t.Errorf("%q, %v; want v1beta2", v, err)
	}
	c = serving(t, map[string]http.HandlerFunc{path: failure(403, "Forbidden", "said the server")})
	if v, err := c.Stored(t.Context()); v != "" || !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "said the server") {
		t.Errorf("%q, %v; want a refusal in the server's words", v, err)
	}
}

func TestAnyAndRead(t *testing.T) {
	var asked []string
	note := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.RequestURI())
			h(w, r)
		}
	}
	c := serving(t, map[string]http.HandlerFunc{
		"/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/localqueues":      note(says(200, `{"items":[{"metadata":{"name":"main","namespace":"ns"}}]}`)),
		"/apis/kueue.x-k8s.io/v1beta1/namespaces/ns/localqueues/main": note(says(200, `{}`)),
		"/apis/kueue.x-k8s.io/v1beta2/clusterqueues":                  note(says(200, `{"items":[]}`)),
	})
	if _, ok, err := c.Any(t.Context(), "v1beta2", "clusterqueues", ""); ok || err != nil {
		t.Errorf("an empty list gave one: %v, %v", ok, err)
	}
	o, ok, err := c.Any(t.Context(), "v1beta2", "localqueues", "ns")
	if d := cmp.Diff(Object{"localqueues", world.Key{Namespace: "ns", Name: "main"}}, o); d != "" || !ok || err != nil {
		t.Errorf("%v, %v (-want +got):\n%s", ok, err, d)
	}
	if err := c.Read(t.Context(), "v1beta1", o); err != nil {
		t.Error(err)
	}
	if err := c.Read(t.Context(), "v1beta2", o); !apierrors.IsNotFound(err) {
		t.Errorf("an object that is not there: %v", err)
	}
	want := []string{
		"/apis/kueue.x-k8s.io/v1beta2/clusterqueues?limit=1", "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/localqueues?limit=1",
		"/apis/kueue.x-k8s.io/v1beta1/namespaces/ns/localqueues/main",
	}
	if d := cmp.Diff(want, asked); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
}

// counter counts warnings.
type counter struct{ n int }

// HandleWarningHeader implements rest.WarningHandler.
func (c *counter) HandleWarningHeader(int, string, string) { c.n++ }

// The old version is asked on purpose; the server's warning of it must go nowhere.
func TestNoWarnings(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Warning", `299 - "kueue.x-k8s.io/v1beta1 is deprecated"`)
		says(200, `{}`)(w, r)
	}))
	defer srv.Close()
	var seen counter
	c, err := NewClient(Reader(&rest.Config{Host: srv.URL, WarningHandler: &seen}, "test"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Read(t.Context(), "v1beta1", Object{Resource: "clusterqueues", Key: world.Key{Name: "q"}}); err != nil || seen.n != 0 {
		t.Errorf("%d warnings, error %v; want none", seen.n, err)
	}
}
