package impact

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// What an API server or Kueue's webhooks would refuse is for the dry-run to say; a
// preview of it comes to an end like any other.
func TestOddSpecs(t *testing.T) {
	quota := func(change func(*kueue.ResourceQuota)) func(*kueue.ClusterQueue) {
		return func(q *kueue.ClusterQueue) { change(&q.Spec.ResourceGroups[0].Flavors[0].Resources[0]) }
	}
	of := func(s string) *resource.Quantity { q := resource.MustParse(s); return &q }
	tests := map[string]func(*kueue.ClusterQueue){
		"lends more than it has": quota(func(r *kueue.ResourceQuota) { r.LendingLimit = of("99") }),
		"limits without a cohort": func(q *kueue.ClusterQueue) {
			q.Spec.CohortName = ""
			quota(func(r *kueue.ResourceQuota) { r.BorrowingLimit, r.LendingLimit = of("1"), of("1") })(q)
		},
		"less than nothing":          quota(func(r *kueue.ResourceQuota) { r.NominalQuota = *of("-3") }),
		"more than 64 bits":          quota(func(r *kueue.ResourceQuota) { r.NominalQuota = *of("1e30") }),
		"an exponent without an end": quota(func(r *kueue.ResourceQuota) { r.NominalQuota = *of("1e100000000") }),
		"no quota at all":            func(q *kueue.ClusterQueue) { q.Spec.ResourceGroups = nil },
		"a group without flavors":    func(q *kueue.ClusterQueue) { q.Spec.ResourceGroups[0].Flavors = nil },
		"one flavor twice": func(q *kueue.ClusterQueue) {
			g := &q.Spec.ResourceGroups[0]
			g.Flavors = append(g.Flavors, g.Flavors[0])
		},
		"one group twice": func(q *kueue.ClusterQueue) {
			q.Spec.ResourceGroups = append(q.Spec.ResourceGroups, q.Spec.ResourceGroups[0])
		},
		"covers more than it gives": func(q *kueue.ClusterQueue) {
			g := &q.Spec.ResourceGroups[0]
			g.CoveredResources = append(g.CoveredResources, "cpu")
		},
		"gives more than it covers": func(q *kueue.ClusterQueue) {
			f := &q.Spec.ResourceGroups[0].Flavors[0]
			f.Resources = append(f.Resources, kueue.ResourceQuota{Name: "cpu"})
		},
		"no selector": func(q *kueue.ClusterQueue) { q.Spec.NamespaceSelector = nil },
		"a selector that is none": func(q *kueue.ClusterQueue) {
			q.Spec.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Sometimes"}}}
		},
		"a policy of tomorrow":         func(q *kueue.ClusterQueue) { q.Spec.Preemption.WithinClusterQueue = "Sometimes" },
		"a strategy of tomorrow":       func(q *kueue.ClusterQueue) { q.Spec.QueueingStrategy = "LIFO" },
		"a stop policy of tomorrow":    func(q *kueue.ClusterQueue) { q.Spec.StopPolicy = ptr(kueue.StopPolicy("Pause")) },
		"a weight below nothing":       func(q *kueue.ClusterQueue) { q.Spec.FairSharing = &kueue.FairSharing{Weight: of("-1")} },
		"a flavor that does not exist": func(q *kueue.ClusterQueue) { q.Spec.ResourceGroups[0].Flavors[0].Name = "h100" },
		"a check without a name":       checks(""),
		"a status of its own": func(q *kueue.ClusterQueue) {
			q.Status.FlavorsUsage = []kueue.FlavorUsage{{Name: "a100", Resources: []kueue.ResourceUsage{{Name: corev1.ResourceCPU}}}}
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.queue("a", "pool", 2, reclaim(kueue.PreemptionPolicyAny))
			s.queue("b", "pool", 2)
			s.running("runs", "a", 2, 1)
			s.running("borrows", "b", 2, 1)
			s.job("waits", "a", 1, 5)
			r := Preview(t.Context(), one{}, s.question(s.edited("a", change)), nil)
			if (r.NotComputed == "") != (r.After != nil) {
				t.Errorf("not computed: %q, and there is a state after: %v", r.NotComputed, r.After != nil)
			}
			if len(r.Restless) > 0 || len(r.Preempted) > 0 {
				t.Errorf("restless: %v; preempted: %v", r.Restless, r.Preempted)
			}
		})
	}
}
