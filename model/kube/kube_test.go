package kube

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestNeverDeleteTransport(t *testing.T) {
	reached := 0
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer srv.Close()
	const group = "/apis/kueue.x-k8s.io/v1beta2"
	const job = "/apis/batch/v1/namespaces/n/jobs"
	for base, client := range map[string]*http.Client{
		"":                   {Transport: NeverDelete(http.DefaultTransport, "")},
		"/k8s/clusters/c-1/": {Transport: NeverDelete(http.DefaultTransport, "/k8s/clusters/c-1/")},
	} {
		for _, tc := range []struct {
			method, path string
			passes       bool
		}{
			{"GET", group + "/clusterqueues", true},
			{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", true},
			{"PATCH", group + "/clusterqueues/q", true},
			{"PATCH", group + "/namespaces/n/localqueues/q?dryRun=All", true},
			{"PATCH", job + "/j", true},
			{"POST", group + "/clusterqueues", true},
			{"POST", group + "/namespaces/n/localqueues", true},
			{"DELETE", group + "/clusterqueues/q", false},
			{"DELETE", group + "/clusterqueues", false},
			{"DELETE", group + "/namespaces/n/workloads/w?dryRun=All", false},
			{"DELETE", job + "/j", false},
			{"DELETE", "/api/v1/namespaces/n", false},
			{"PUT", group + "/clusterqueues/q", false},
			{"PATCH", group + "/clusterqueues/q/status", false},
			{"PATCH", group + "/namespaces/n/workloads/w/status", false},
			{"PATCH", job + "/j/scale", false},
			{"PATCH", group + "/clusterqueues", false},
			{"PATCH", group + "/clusterqueues//", false},
			{"PATCH", "/api/v1/namespaces/n/pods/p", false},
			{"PATCH", "/api/v1/namespaces/n", false},
			{"POST", job, false},
			{"POST", "/api/v1/namespaces/n/pods/p/eviction", false},
			{"POST", "/apis/policy/v1/namespaces/n/pods/p/eviction", false},
			{"OPTIONS", group + "/clusterqueues", false},
		} {
			t.Run(base+" "+tc.method+" "+tc.path, func(t *testing.T) {
				before := reached
				r, err := http.NewRequest(tc.method, srv.URL+strings.TrimSuffix(base, "/")+tc.path, strings.NewReader(""))
				if err != nil {
					t.Fatal(err)
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
			c := serving(t, map[string]http.HandlerFunc{"/apis/kueue.x-k8s.io": says(tc.code, tc.body)})
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
