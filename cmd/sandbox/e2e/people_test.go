//go:build sandbox

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
)

const (
	kueueAPI = "kueue.x-k8s.io"
	pendingA = "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team-a/localqueues/batch/pendingworkloads"
	pendingC = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/team-a-cq/pendingworkloads"
)

// right is something a person may do or not: a verb on a resource (with its subresource), "" for the whole cluster.
type right struct{ verb, group, resource, namespace string }

func as(t *testing.T, dir, person string) *cluster.Client {
	t.Helper()
	c, err := cluster.Open(filepath.Join(dir, person+".kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checkRights asks the API server, as the person, about each right.
func checkRights(t *testing.T, c *cluster.Client, rights map[right]bool) {
	t.Helper()
	for r, want := range rights {
		resource, sub, _ := strings.Cut(r.resource, "/")
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: r.verb, Group: r.group, Resource: resource, Subresource: sub, Namespace: r.namespace,
		}}}
		got, err := c.Typed.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Status.Allowed != want {
			t.Errorf("%+v: allowed %v, want %v", r, got.Status.Allowed, want)
		}
	}
}

// count lists a resource and returns how many there are.
func count(t *testing.T, c *cluster.Client, group, version, resource, namespace string) (int, error) {
	t.Helper()
	list, err := c.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).Namespace(namespace).
		List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	return len(list.Items), nil
}

// pending asks the visibility API for the number of Workloads that wait.
func pending(t *testing.T, c *cluster.Client, path string) (int, error) {
	t.Helper()
	raw, err := c.Typed.Discovery().RESTClient().Get().AbsPath(path).Do(t.Context()).Raw()
	if err != nil {
		return 0, err
	}
	var answer struct {
		Items []struct{ PositionInLocalQueue int }
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return 0, err
	}
	return len(answer.Items), nil
}

// patch writes a label as a dry run and returns the refusal.
func patch(t *testing.T, c *cluster.Client, group, version, resource, namespace, name string) error {
	t.Helper()
	_, err := c.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).Namespace(namespace).
		Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

func refused(t *testing.T, what string, err error) {
	t.Helper()
	if !apierrors.IsForbidden(err) {
		t.Errorf("%s: %v, want a refusal", what, err)
	}
}

// some fails unless there are at least so many.
func some(t *testing.T, what string, least, got int, err error) {
	t.Helper()
	if err != nil || got < least {
		t.Errorf("%s: %d, %v; want at least %d", what, got, err, least)
	}
}

// checkTenant looks at the incident as a user whom Kueue's own role gives rights in team-a.
func checkTenant(t *testing.T, dir string) {
	c := as(t, dir, "tenant")
	checkRights(t, c, map[right]bool{
		{"list", kueueAPI, "workloads", "team-a"}:                                   true,
		{"watch", kueueAPI, "workloads", "team-a"}:                                  true,
		{"list", kueueAPI, "localqueues", "team-a"}:                                 true,
		{"create", "batch", "jobs", "team-a"}:                                       true,
		{"get", "visibility." + kueueAPI, "localqueues/pendingworkloads", "team-a"}: true,
		{"patch", kueueAPI, "workloads", "team-a"}:                                  false,
		{"patch", kueueAPI, "localqueues", "team-a"}:                                false,
		{"list", "", "pods", "team-a"}:                                              false,
		{"list", "", "events", "team-a"}:                                            false,
		{"list", "", "limitranges", "team-a"}:                                       false,
		{"list", kueueAPI, "workloads", "team-b"}:                                   false,
		{"list", kueueAPI, "workloads", ""}:                                         false,
		{"list", kueueAPI, "clusterqueues", ""}:                                     false,
		{"list", kueueAPI, "cohorts", ""}:                                           false,
		{"list", kueueAPI, "resourceflavors", ""}:                                   false,
		{"list", kueueAPI, "workloadpriorityclasses", ""}:                           false,
		{"list", "", "namespaces", ""}:                                              false,
		{"patch", "", "namespaces", ""}:                                             false,
		{"get", "visibility." + kueueAPI, "clusterqueues/pendingworkloads", ""}:     false,
	})
	n, err := count(t, c, kueueAPI, "v1beta2", "workloads", "team-a")
	some(t, "Workloads of team-a", 8, n, err)
	n, err = count(t, c, kueueAPI, "v1beta2", "localqueues", "team-a")
	some(t, "LocalQueues of team-a", 1, n, err)
	n, err = pending(t, c, pendingA)
	some(t, "pending Workloads of batch", 3, n, err)
	for _, resource := range []string{"clusterqueues", "cohorts", "resourceflavors"} {
		_, err := count(t, c, kueueAPI, "v1beta2", resource, "")
		refused(t, resource, err)
	}
	_, err = count(t, c, kueueAPI, "v1beta2", "workloads", "")
	refused(t, "Workloads of every namespace", err)
	_, err = pending(t, c, pendingC)
	refused(t, "pending Workloads of team-a-cq", err)
	refused(t, "patch of the namespace", patch(t, c, "", "v1", "namespaces", "", "team-a"))
}

// checkViewer looks at the incident as a user who may read everything and write nothing.
func checkViewer(t *testing.T, dir string) {
	c := as(t, dir, "viewer")
	for _, k := range []struct {
		group, version, resource string
		least                    int
	}{
		{kueueAPI, "v1beta2", "workloads", 19}, {kueueAPI, "v1beta2", "clusterqueues", 5}, {kueueAPI, "v1beta2", "localqueues", 6},
		{kueueAPI, "v1beta2", "cohorts", 1}, {kueueAPI, "v1beta2", "resourceflavors", 3}, {kueueAPI, "v1beta2", "admissionchecks", 2},
		{kueueAPI, "v1beta2", "workloadpriorityclasses", 3}, {kueueAPI, "v1beta2", "topologies", 0},
		{"", "v1", "namespaces", 5}, {"", "v1", "nodes", 10}, {"", "v1", "pods", 10}, {"", "v1", "events", 10}, {"", "v1", "limitranges", 0},
		{"events.k8s.io", "v1", "events", 10}, {"batch", "v1", "jobs", 19}, {"node.k8s.io", "v1", "runtimeclasses", 0},
		{"scheduling.k8s.io", "v1", "priorityclasses", 2}, {"apiregistration.k8s.io", "v1", "apiservices", 2},
	} {
		n, err := count(t, c, k.group, k.version, k.resource, "")
		some(t, k.resource, k.least, n, err)
	}
	for what, path := range map[string]string{"team-a/batch": pendingA, "team-a-cq": pendingC} {
		n, err := pending(t, c, path)
		some(t, "pending Workloads of "+what, 3, n, err)
	}
	for _, verb := range []string{"create", "update", "patch", "delete"} {
		for _, r := range []right{
			{verb, kueueAPI, "clusterqueues", ""}, {verb, kueueAPI, "localqueues", "team-a"}, {verb, kueueAPI, "cohorts", ""},
			{verb, kueueAPI, "resourceflavors", ""}, {verb, kueueAPI, "workloads", "team-a"}, {verb, kueueAPI, "workloadpriorityclasses", ""},
			{verb, "", "namespaces", ""}, {verb, "batch", "jobs", "team-a"},
		} {
			checkRights(t, c, map[right]bool{r: false})
		}
	}
	checkRights(t, c, map[right]bool{{"get", "", "secrets", "kueue-system"}: false})
	for resource, name := range map[string]string{"clusterqueues": "team-b-cq", "cohorts": "ai-shared", "resourceflavors": "a100-80g"} {
		refused(t, fmt.Sprintf("patch of %s", resource), patch(t, c, kueueAPI, "v1beta2", resource, "", name))
	}
}
