package kube

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authzv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

func TestParseSubject(t *testing.T) {
	tests := map[string]struct {
		in   string
		want Subject
		bad  bool
	}{
		"user":            {"user:jane", Subject{User: "jane", Groups: []string{"system:authenticated"}, Name: "User/jane"}, false},
		"group":           {"group:team-a", Subject{Groups: []string{"system:authenticated", "team-a"}, Name: "Group/team-a"}, false},
		"service account": {"sa:ns/bot", Subject{User: "system:serviceaccount:ns:bot", Groups: []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:ns"}, Name: "ServiceAccount/ns/bot"}, false},
		"no namespace":    {"sa:bot", Subject{}, true},
		"nothing":         {"jane", Subject{}, true},
		"another kind":    {"robot:jane", Subject{}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseSubject(tc.in)
			if (err != nil) != tc.bad {
				t.Fatalf("error %v", err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("subject (-want +got):\n%s", d)
			}
		})
	}
}

// reviewer answers reviews as told and has one RoleBinding.
func reviewer(t *testing.T, answer func(authzv1.SubjectAccessReviewSpec) (int, authzv1.SubjectAccessReviewStatus)) *Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.URL.Path, "rolebindings") {
			_ = json.NewEncoder(w).Encode(rbacv1.RoleBindingList{
				TypeMeta: metav1.TypeMeta{Kind: "RoleBindingList", APIVersion: "rbac.authorization.k8s.io/v1"},
				Items: []rbacv1.RoleBinding{
					{Subjects: []rbacv1.Subject{{Kind: "User", Name: "jane"}, {Kind: "ServiceAccount", Name: "bot"}}},
					{Subjects: []rbacv1.Subject{{Kind: "User", Name: "jane"}, {Kind: "Group", Name: "team-a"}}},
				},
			})
			return
		}
		var in authzv1.SubjectAccessReview
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		code, status := answer(in.Spec)
		if code != http.StatusCreated {
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonForbidden, Code: int32(code)})
			return
		}
		in.TypeMeta, in.Status = metav1.TypeMeta{Kind: "SubjectAccessReview", APIVersion: "authorization.k8s.io/v1"}, status
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(in)
	}))
	t.Cleanup(s.Close)
	c, err := NewClient(Reader(&rest.Config{Host: s.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, "test"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMay(t *testing.T) {
	c := reviewer(t, func(s authzv1.SubjectAccessReviewSpec) (int, authzv1.SubjectAccessReviewStatus) {
		switch s.ResourceAttributes.Resource {
		case "clusterqueues":
			return http.StatusCreated, authzv1.SubjectAccessReviewStatus{Allowed: s.User == "jane" && s.ResourceAttributes.Verb == "patch"}
		case "cohorts":
			return http.StatusCreated, authzv1.SubjectAccessReviewStatus{EvaluationError: "role not found"}
		}
		return http.StatusForbidden, authzv1.SubjectAccessReviewStatus{}
	})
	jane, _ := ParseSubject("user:jane")
	tests := map[string]struct {
		right   Right
		allowed bool
		unknown bool
	}{
		"may":             {Right{Verb: "patch", Group: Group, Resource: "clusterqueues"}, true, false},
		"may not":         {Right{Verb: "create", Group: Group, Resource: "clusterqueues"}, false, false},
		"cannot decide":   {Right{Verb: "patch", Group: Group, Resource: "cohorts"}, false, true},
		"may not be told": {Right{Verb: "patch", Resource: "namespaces"}, false, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := c.May(context.Background(), jane, tc.right)
			if got != tc.allowed || (err != nil) != tc.unknown {
				t.Errorf("%v, %v; want %v, unknown %v", got, err, tc.allowed, tc.unknown)
			}
		})
	}
	bound, err := c.Bound(context.Background(), "ns")
	var names []string
	for _, s := range bound {
		names = append(names, s.Name)
	}
	if d := cmp.Diff([]string{"User/jane", "ServiceAccount/ns/bot", "Group/team-a"}, names); d != "" || err != nil {
		t.Errorf("bound %v (-want +got):\n%s", err, d)
	}
}
