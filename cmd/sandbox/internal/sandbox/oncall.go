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
	out, err := bindAll(roles)
	if err != nil {
		return nil, fmt.Errorf("role file %s: %w", path, err)
	}
	return out, nil
}

// ApplyOncallRole writes what ReadOncallRole returned, as the administrator. It blocks until all is written.
func ApplyOncallRole(ctx context.Context, c *cluster.Client, objs []*unstructured.Unstructured) error {
	return c.Apply(ctx, fieldManager, objs)
}

func bindAll(roles []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
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
		out = append(out, r, binding(r))
	}
	return out, nil
}

// binding gives the on-call group the role, in the role's namespace if it has one.
func binding(role *unstructured.Unstructured) *unstructured.Unstructured {
	b := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": rbacGroup + "/v1",
		"kind":       role.GetKind() + "Binding",
		"roleRef":    map[string]any{"apiGroup": rbacGroup, "kind": role.GetKind(), "name": role.GetName()},
		"subjects":   []any{map[string]any{"apiGroup": rbacGroup, "kind": "Group", "name": pki.OncallGroup}},
	}}
	b.SetName(pki.OncallGroup + "-" + role.GetName())
	if ns := role.GetNamespace(); ns != "" {
		b.SetNamespace(ns)
	}
	return b
}
