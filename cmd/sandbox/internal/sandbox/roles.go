package sandbox

import (
	"context"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/manifests"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/pki"
)

const (
	fieldManager = "holdfast-sandbox"
	rbacGroup    = "rbac.authorization.k8s.io"
)

// ReadOncallRole reads a role file: YAML with ClusterRoles and Roles. It returns them with a binding of each to the
// on-call group.
func ReadOncallRole(path string) ([]*unstructured.Unstructured, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("role file: %w", err)
	}
	defer func() { _ = f.Close() }()
	roles, err := manifests.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("role file %s: %w", path, err)
	}
	out, err := bindAll(roles, subject{"Group", pki.OncallGroup})
	if err != nil {
		return nil, fmt.Errorf("role file %s: %w", path, err)
	}
	return out, nil
}

// ApplyOncallRole writes what ReadOncallRole returned, as the administrator. It blocks until all is written.
func ApplyOncallRole(ctx context.Context, c *cluster.Client, objs []*unstructured.Unstructured) error {
	return c.Apply(ctx, fieldManager, objs)
}

// subject is whom a role is bound to: a User or a Group.
type subject struct{ kind, name string }

// bindAll returns the ClusterRoles and Roles, each followed by its binding.
func bindAll(roles []*unstructured.Unstructured, to subject) ([]*unstructured.Unstructured, error) {
	if len(roles) == 0 {
		return nil, fmt.Errorf("there is no object in it; it needs a ClusterRole")
	}
	var out []*unstructured.Unstructured
	for _, r := range roles {
		kind := r.GetKind()
		switch {
		case r.GroupVersionKind().Group != rbacGroup || (kind != "ClusterRole" && kind != "Role"):
			return nil, fmt.Errorf("it holds a %s %q; only ClusterRole and Role are taken (the sandbox makes the bindings)", kind, r.GetName())
		case r.GetName() == "":
			return nil, fmt.Errorf("a %s has no name", kind)
		case kind == "Role" && r.GetNamespace() == "":
			return nil, fmt.Errorf("the Role %s has no metadata.namespace", r.GetName())
		}
		out = append(out, r, bind(kind, r.GetName(), r.GetNamespace(), to))
	}
	return out, nil
}

// bind gives the subject a role (of kind ClusterRole or Role): in the namespace, or in the whole cluster if that is "".
func bind(kind, name, namespace string, to subject) *unstructured.Unstructured {
	b := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": rbacGroup + "/v1",
		"kind":       "ClusterRoleBinding",
		"roleRef":    map[string]any{"apiGroup": rbacGroup, "kind": kind, "name": name},
		"subjects":   []any{map[string]any{"apiGroup": rbacGroup, "kind": to.kind, "name": to.name}},
	}}
	b.SetName(to.name + "-" + name)
	if namespace != "" {
		b.SetKind("RoleBinding")
		b.SetNamespace(namespace)
	}
	return b
}
