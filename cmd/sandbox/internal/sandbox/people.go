package sandbox

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/control"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/manifests"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/pki"
)

//go:embed roles/viewer.yaml
var viewerRoles []byte

const (
	// TenantNamespace is the one namespace in which user tenant has rights; the incident has work of all states in it.
	TenantNamespace = "team-a"
	tenantRole      = "kueue-batch-user-role" // of Kueue's own, for those who submit work
	tenantReadyFor  = 30 * time.Second

	kubeconfigSuffix = ".kubeconfig"
)

// Person is somebody a sandbox writes a kubeconfig for.
type Person struct {
	Name string
	May  string // what they may do, in a few words
	user pki.User
}

// People returns everybody who has a kubeconfig, the administrator first.
func People() []Person {
	return []Person{
		{"admin", "everything", pki.Admin()},
		{"oncall", "what the roles in the file of --oncall-role allow", pki.Oncall()},
		{"tenant", "what Kueue's own " + tenantRole + " allows, in namespace " + TenantNamespace + " alone", pki.Tenant()},
		{"viewer", "read everything of Kueue's in every namespace, and write nothing", pki.Viewer()},
	}
}

// Kubeconfig is the name of the person's kubeconfig in the sandbox's folder.
func (p Person) Kubeconfig() string { return p.Name + kubeconfigSuffix }

// FindPerson returns the person of that name; the error names those there are.
func FindPerson(name string) (Person, error) {
	var names []string
	for _, p := range People() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Person{}, fmt.Errorf("there is no kubeconfig %q; there is: %s", name, strings.Join(names, ", "))
}

// kubeconfigs tells where each person's kubeconfig is.
func (s *Sandbox) kubeconfigs() []control.Kubeconfig {
	var out []control.Kubeconfig
	for _, p := range People() {
		out = append(out, control.Kubeconfig{Person: p.Name, Path: s.folder.Path(p.Kubeconfig())})
	}
	return out
}

// peopleObjects are the rights of the people who always have the same: tenant and viewer.
func peopleObjects() ([]*unstructured.Unstructured, error) {
	roles, err := manifests.Decode(bytes.NewReader(viewerRoles))
	if err != nil {
		return nil, err
	}
	out, err := bindAll(roles, subject{"User", pki.ViewerUser})
	if err != nil {
		return nil, err
	}
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	namespace.SetName(TenantNamespace)
	return append(out, namespace, bind("ClusterRole", tenantRole, TenantNamespace, subject{"User", pki.TenantUser})), nil
}

// waitTenant blocks until the tenant has rights: Kueue's role has none of its own, a controller gathers those of other
// roles into it.
func (s *Sandbox) waitTenant(ctx context.Context) error {
	err := cluster.Poll(ctx, tenantReadyFor, func(ctx context.Context) error {
		for _, a := range []authorizationv1.ResourceAttributes{
			{Verb: "list", Group: "kueue.x-k8s.io", Resource: "workloads"},
			{Verb: "list", Group: "kueue.x-k8s.io", Resource: "localqueues"},
			{Verb: "get", Group: "visibility.kueue.x-k8s.io", Resource: "localqueues", Subresource: "pendingworkloads"},
			{Verb: "create", Group: "batch", Resource: "jobs"},
		} {
			a.Namespace = TenantNamespace
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: pki.TenantUser, ResourceAttributes: &a}}
			got, err := s.client.Typed.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			if !got.Status.Allowed {
				return errors.New("it does not let anybody " + a.Verb + " " + a.Resource)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("role %s is not complete: %w (see %s)", tenantRole, err, s.folder.Log(controllerManager))
	}
	return nil
}
