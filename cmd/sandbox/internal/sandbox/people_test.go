package sandbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestPeople(t *testing.T) {
	people := People()
	if people[0].Kubeconfig() != AdminKubeconfig {
		t.Errorf("the first kubeconfig is %s, want the administrator's", people[0].Kubeconfig())
	}
	contexts := map[string]bool{}
	for _, p := range people {
		if got, err := FindPerson(p.Name); err != nil || got.Name != p.Name {
			t.Errorf("FindPerson(%s) = %s, %v", p.Name, got.Name, err)
		}
		if p.user.Context != "sandbox-"+p.Name || contexts[p.user.Context] {
			t.Errorf("context of %s is %s", p.Name, p.user.Context)
		}
		contexts[p.user.Context] = true
	}
	if _, err := FindPerson("root"); err == nil || !strings.Contains(err.Error(), "admin, oncall, tenant, viewer") {
		t.Errorf("error %v does not say who there is", err)
	}
}

// TestViewerWritesNothing reads the viewer's roles as Kubernetes does; a field it does not know is an error.
func TestViewerWritesNothing(t *testing.T) {
	objs, err := peopleObjects()
	if err != nil {
		t.Fatal(err)
	}
	var rules []rbacv1.PolicyRule
	for _, o := range objs {
		if o.GetKind() != "ClusterRole" && o.GetKind() != "Role" {
			continue
		}
		var role rbacv1.ClusterRole // a Role has the same fields
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, &role, true); err != nil {
			t.Fatal(err)
		}
		rules = append(rules, role.Rules...)
	}
	if len(rules) == 0 {
		t.Fatal("no rules")
	}
	for _, r := range rules {
		for _, verb := range r.Verbs {
			if !slices.Contains([]string{"get", "list", "watch"}, verb) {
				t.Errorf("the viewer may %s %v", verb, r.Resources)
			}
		}
		if slices.Contains(r.Resources, "secrets") || slices.Contains(r.APIGroups, "*") {
			t.Errorf("the viewer may read secrets: %v", r)
		}
	}
}

func TestPeopleAreBound(t *testing.T) {
	objs, err := peopleObjects()
	if err != nil {
		t.Fatal(err)
	}
	type bound struct{ kind, namespace, name, role, user string }
	var got []bound
	for _, o := range objs {
		if !strings.HasSuffix(o.GetKind(), "Binding") {
			continue
		}
		var b rbacv1.RoleBinding
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, &b, true); err != nil {
			t.Fatal(err)
		}
		got = append(got, bound{o.GetKind(), b.Namespace, b.Name, b.RoleRef.Kind + " " + b.RoleRef.Name, b.Subjects[0].Kind + " " + b.Subjects[0].Name})
	}
	want := []bound{
		{"ClusterRoleBinding", "", "viewer-sandbox-viewer", "ClusterRole sandbox-viewer", "User viewer"},
		{"RoleBinding", "kueue-system", "viewer-sandbox-viewer", "Role sandbox-viewer", "User viewer"},
		{"RoleBinding", "team-a", "tenant-kueue-batch-user-role", "ClusterRole kueue-batch-user-role", "User tenant"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(bound{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
