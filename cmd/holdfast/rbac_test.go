package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// printed are the rules that `holdfast rbac` prints, by kind of role.
func printed(t *testing.T, args ...string) map[string][]rbacv1.PolicyRule {
	t.Helper()
	var out bytes.Buffer
	a := &app{out: &out}
	c := a.command()
	c.SetArgs(append([]string{"rbac"}, args...))
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	rules := map[string][]rbacv1.PolicyRule{}
	for _, doc := range strings.Split(out.String(), "\n---\n") {
		var role rbacv1.Role // a ClusterRole's rules are read the same
		if err := yaml.UnmarshalStrict([]byte(doc), &role); err != nil {
			t.Fatal(err)
		}
		if role.Kind == "Role" && role.Namespace != "kueue-system" && len(args) == 0 {
			t.Errorf("the Role is for namespace %s", role.Namespace)
		}
		rules[role.Kind] = role.Rules
	}
	return rules
}

// jobKinds are what owns Workloads, by API group: every resource that may be patched
// outside Kueue.
var jobKinds = map[string]string{
	"batch": "jobs", "jobset.x-k8s.io": "jobsets", "kubeflow.org": "mpijobs pytorchjobs tfjobs xgboostjobs paddlejobs jaxjobs",
	"trainer.kubeflow.org": "trainjobs", "ray.io": "rayjobs rayclusters rayservices", "workload.codeflare.dev": "appwrappers",
	"sparkoperator.k8s.io": "sparkapplications", "": "pods",
}

// Who holds these rights may make and change queues, change Workloads and what owns
// them, and nothing else, and read no secrets: of the ConfigMaps of Kueue's namespace
// only the one that is the manager's.
func TestRightsAreNoMoreThanNeeded(t *testing.T) {
	rules := printed(t)
	if len(rules["ClusterRole"]) == 0 || len(rules["Role"]) == 0 {
		t.Fatalf("rules %v", rules)
	}
	for kind, all := range rules {
		for _, r := range all {
			for _, word := range slices.Concat(r.APIGroups, r.Resources, r.Verbs) {
				if word == "*" || word == "secrets" {
					t.Errorf("%s gives %q: %v", kind, word, r)
				}
			}
			for _, verb := range r.Verbs {
				reads := slices.Contains([]string{"get", "list", "watch"}, verb)
				queues := slices.Equal(r.APIGroups, []string{"kueue.x-k8s.io"})
				makes := verb == "create" && queues && !slices.Contains(r.Resources, "workloads")
				changes := verb == "patch" && (queues || jobKinds[strings.Join(r.APIGroups, " ")] == strings.Join(r.Resources, " "))
				if !reads && !makes && !changes {
					t.Errorf("%s gives %s on %v of %v", kind, verb, r.Resources, r.APIGroups)
				}
			}
			if slices.Contains(r.Resources, "configmaps") && (kind != "Role" || !slices.Equal(r.ResourceNames, []string{"kueue-manager-config"}) || !slices.Equal(r.Verbs, []string{"get"})) {
				t.Errorf("%s gives too much of ConfigMaps: %v", kind, r)
			}
		}
	}
}

func TestRightsFollowTheChartsNames(t *testing.T) {
	var names []string
	for _, r := range printed(t, "--kueue-namespace=ks", "--kueue-deployment=blue-kueue-controller-manager")["Role"] {
		names = append(names, r.ResourceNames...)
	}
	if d := cmp.Diff([]string{"blue-kueue-controller-manager", "blue-kueue-manager-config"}, names); d != "" {
		t.Errorf("names (-want +got):\n%s", d)
	}
}
