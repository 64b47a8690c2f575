package actions

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/world"
)

// The rights that the program prints are those that the change of a job's label
// needs, for each kind that it is done for and for no other.
func TestRightsOnJobs(t *testing.T) {
	raw, err := os.ReadFile("../cmd/holdfast/rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(raw), "\n---\n")
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict([]byte(first), &role); err != nil {
		t.Fatal(err)
	}
	verbs := map[string]map[string]bool{}
	for _, r := range role.Rules {
		for _, g := range r.APIGroups {
			for _, n := range r.Resources {
				if verbs[n+"."+g] == nil {
					verbs[n+"."+g] = map[string]bool{}
				}
				for _, v := range r.Verbs {
					verbs[n+"."+g][v] = true
				}
			}
		}
	}
	want, got := map[string]bool{}, map[string]bool{}
	for k, n := range followed {
		want[n+"."+k.Group] = true
	}
	for n, v := range verbs {
		if v["patch"] && !strings.HasSuffix(n, ".kueue.x-k8s.io") {
			got[n] = v["get"]
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("jobs that may be read and patched (-want +got):\n%s", d)
	}
}

func TestOwnerAPI(t *testing.T) {
	for _, tt := range []struct{ api, kind, want string }{
		{"batch/v1", "Job", "batch/v1, Resource=jobs"},
		{"v1", "Pod", "/v1, Resource=pods"},
		{"kubeflow.org/v2beta1", "MPIJob", "kubeflow.org/v2beta1, Resource=mpijobs"},
		{"batch/v1", "Pod", "/, Resource="},
		{"apps/v1", "Deployment", "/, Resource="},
		{"a/b/c", "Job", "/, Resource="},
	} {
		if got := ownerAPI(&world.Owner{APIVersion: tt.api, Kind: tt.kind}).String(); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.api, tt.kind, got, tt.want)
		}
	}
}
