package kube

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

func TestReadOnlyTransport(t *testing.T) {
	reached := 0
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer srv.Close()
	client := &http.Client{Transport: ReadOnly(http.DefaultTransport, "/k8s/clusters/c-1", "because")}
	const cq = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q"
	tests := []struct {
		method, path, upgrade string
		passes                bool
	}{
		{"GET", cq, "", true},
		{"HEAD", cq, "", true},
		{"GET", "/api/v1/namespaces/n/pods/p/exec", "SPDY/3.1", false},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", true},
		{"POST", "/k8s/clusters/c-1/apis/authentication.k8s.io/v1/selfsubjectreviews", "", true},
		{"POST", "/k8s/clusters/c-1/apis/batch/v1/namespaces/n/jobs", "", false},
		{"POST", "/api/v1/namespaces/n/services/s/proxy/apis/authentication.k8s.io/v1/selfsubjectreviews", "", false},
		{"POST", "/apis/authorization.k8s.io/v1/namespaces/n/localsubjectaccessreviews", "", true},
		{"POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "", true},
		{"POST", "/apis/authentication.k8s.io/v1/tokenreviews", "", false},
		{"POST", "/api/v1/namespaces/n/serviceaccounts/s/token", "", false},
		{"POST", "/apis/batch/v1/namespaces/n/jobs", "", false},
		{"PATCH", cq, "", false},
		{"PATCH", cq + "?dryRun=All", "", false},
		{"PUT", cq, "", false},
		{"DELETE", cq, "", false},
		{"OPTIONS", cq, "", false},
	}
	for _, tc := range tests {
		t.Run(tc.method+" "+tc.path, func(t *testing.T) {
			before := reached
			r, err := http.NewRequest(tc.method, srv.URL+tc.path, strings.NewReader(""))
			if err != nil {
				t.Fatal(err)
			}
			if tc.upgrade != "" {
				r.Header.Set("Upgrade", tc.upgrade)
			}
			resp, err := client.Do(r)
			if err == nil {
				_ = resp.Body.Close()
			}
			var refused *RefusedError
			if passed := reached == before+1; passed != tc.passes || errors.As(err, &refused) == tc.passes {
				t.Errorf("passed %v, error %v; want passed %v", passed, err, tc.passes)
			}
		})
	}
}

// client returns a Client of a server that answers each path with a status and a
// body.
func client(t *testing.T, answers map[string]struct {
	code int
	body string
}) *Client {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := answers[r.URL.Path]
		if !ok {
			a.code, a.body = 404, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.code)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(srv.Close)
	c, err := NewClient(Reader(&rest.Config{Host: srv.URL}, "test"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestServed(t *testing.T) {
	type result struct {
		Served []string
		Use    string
		Err    string
	}
	group := func(versions ...string) string {
		var vs []string
		for _, v := range versions {
			vs = append(vs, `{"groupVersion":"kueue.x-k8s.io/`+v+`","version":"`+v+`"}`)
		}
		return `{"kind":"APIGroup","apiVersion":"v1","name":"kueue.x-k8s.io","versions":[` + strings.Join(vs, ",") + `]}`
	}
	tests := map[string]struct {
		code int
		body string
		want result
	}{
		"both":      {200, group("v1beta2", "v1beta1"), result{[]string{"v1beta2", "v1beta1"}, "v1beta2", ""}},
		"old only":  {200, group("v1beta1"), result{[]string{"v1beta1"}, "v1beta1", ""}},
		"new only":  {200, group("v1", "v1beta2"), result{[]string{"v1", "v1beta2"}, "v1beta2", ""}},
		"unknown":   {200, group("v2"), result{[]string{"v2"}, "", "kueue.x-k8s.io is served as v2 only; this program speaks v1beta2 and v1beta1"}},
		"no kueue":  {404, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`, result{nil, "", ErrNoKueue.Error()}},
		"no answer": {200, `<html>`, result{nil, "", "the answer to GET /apis/kueue.x-k8s.io is not readable: invalid character '<' looking for beginning of value"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := client(t, map[string]struct {
				code int
				body string
			}{"/apis/kueue.x-k8s.io": {tc.code, tc.body}})
			served, use, err := c.Served(t.Context())
			got := result{served, use, ""}
			if err != nil {
				got.Err = err.Error()
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("served (-want +got):\n%s", d)
			}
		})
	}
}

func TestManager(t *testing.T) {
	c := client(t, map[string]struct {
		code int
		body string
	}{"/apis/apps/v1/namespaces/ks/deployments/km": {200, `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"km"},
		"spec":{"template":{"spec":{"containers":[{"name":"proxy","image":"p:1"},{"name":"manager","image":"reg.example.com:5000/kueue/kueue:v0.19.2@sha256:ab"}]}}},
		"status":{"conditions":[{"type":"Available","status":"True","message":"ok\u001b[2J"}]}}`}})
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
