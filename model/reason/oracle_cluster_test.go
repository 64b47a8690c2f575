package reason_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// cluster is a random cluster in the objects that Kueue reads. Its first
// ClusterQueue, q0, is the one that Workloads are tried in.
type cluster struct {
	groups  []group
	flavors []*kueue.ResourceFlavor
	queues  []*kueue.ClusterQueue
	cohorts []*kueue.Cohort
	// holders hold quota; left held some when Kueue last looked and are gone now.
	holders, left []*kueue.Workload
	ranges        []*corev1.LimitRange
	class         *nodev1.RuntimeClass
}

// group is a resource group that specs may have.
type group struct {
	resources []corev1.ResourceName
	flavors   []string
}

// uncovered is a resource that no queue has quota for.
const uncovered = "example.com/license"

const kata = "kata"

// What there is, what is held and what is asked for, the most telling first: most
// of it fits when nothing is held, and not all of it does now. Quotas of 0 and
// debts come by too.
var (
	quotas = map[corev1.ResourceName][]string{
		"cpu": {"4", "2", "8", "1500m", "0"}, "memory": {"8Gi", "4Gi", "2Gi", "0"}, "example.com/gpu": {"4", "2", "8", "1", "0"}, "pods": {"8", "6", "4", "1", "0"},
	}
	held  = map[corev1.ResourceName][]string{"cpu": {"2", "1", "4", "500m", "0", "8"}, "memory": {"2Gi", "1Gi", "4Gi", "0"}, "example.com/gpu": {"2", "1", "4", "0"}, "pods": {"2", "4", "1", "0"}}
	asked = map[corev1.ResourceName][]string{"cpu": {"1", "500m", "2", "0", "4"}, "memory": {"1Gi", "2Gi", "500m", "0", "1.5Gi", "8Gi"}, "example.com/gpu": {"1", "2", "0", "4"}, uncovered: {"1", "0"}}
)

func amount(t *rapid.T, of map[corev1.ResourceName][]string, name corev1.ResourceName) resource.Quantity {
	return resource.MustParse(rapid.SampledFrom(of[name]).Draw(t, string(name)))
}

// one is true once in n.
func one(t *rapid.T, n int, what string) bool { return rapid.IntRange(1, n).Draw(t, what) == n }

func clusters(t *rapid.T) *cluster {
	c := &cluster{}
	first := group{resources: []corev1.ResourceName{"cpu"}}
	for _, r := range []corev1.ResourceName{"memory", "pods"} {
		if one(t, 2, "group has "+string(r)) {
			first.resources = append(first.resources, r)
		}
	}
	c.groups = append(c.groups, first)
	if one(t, 2, "second group") {
		c.groups = append(c.groups, group{resources: []corev1.ResourceName{"example.com/gpu"}})
	}
	for i := range c.groups {
		for j := range rapid.IntRange(1, 5).Draw(t, "flavors") {
			name := fmt.Sprintf("%c%d", 'f'+i, j)
			c.groups[i].flavors = append(c.groups[i].flavors, name)
			c.flavors = append(c.flavors, flavor(t, name))
		}
	}
	if one(t, 4, "runtime class") {
		c.class = &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: kata}, Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{"cpu": resource.MustParse("1")}}}
	}
	if one(t, 4, "limit range") {
		c.ranges = append(c.ranges, &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "defaults"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, DefaultRequest: some(t, 2, "cpu", "example.com/gpu"), Default: some(t, 2, "cpu", "memory"),
		}}}})
	}
	c.tree(t)
	for i := range rapid.IntRange(2, 12).Draw(t, "holders") {
		w := c.holder(t, fmt.Sprint("h", i))
		if one(t, 4, "left since") {
			c.left = append(c.left, w)
		} else {
			c.holders = append(c.holders, w)
		}
	}
	return c
}

// tree draws cohorts, the queue and its siblings. A queue without a cohort has no
// limits, since there is nobody to lend or to borrow from.
func (c *cluster) tree(t *rapid.T) {
	names := []string{"", "c0", "c1", "c2"}
	for i := 1; i < len(names); i++ {
		if one(t, 3, "implicit") {
			continue
		}
		parent := rapid.SampledFrom(names[:i]).Draw(t, "parent")
		o := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: names[i], UID: types.UID(names[i])}}
		o.Spec.ParentName = kueue.CohortReference(parent)
		if one(t, 2, "own quota") {
			o.Spec.ResourceGroups = c.groupsOf(t, parent != "", false)
		}
		c.cohorts = append(c.cohorts, o)
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "queues") {
		name := fmt.Sprint("q", i)
		cohort := rapid.SampledFrom(names).Draw(t, "cohort")
		o := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
		o.Spec.CohortName = kueue.CohortReference(cohort)
		o.Spec.ResourceGroups = c.groupsOf(t, cohort != "", i == 0)
		o.Spec.NamespaceSelector = &metav1.LabelSelector{}
		if i > 0 && one(t, 5, "held") {
			o.Spec.StopPolicy = ptr.To(kueue.Hold)
		}
		c.queues = append(c.queues, o)
	}
}

// groupsOf draws the quota of a spec: for all flavors, or for some.
func (c *cluster) groupsOf(t *rapid.T, limits, all bool) []kueue.ResourceGroup {
	var out []kueue.ResourceGroup
	for _, g := range c.groups {
		rg := kueue.ResourceGroup{CoveredResources: g.resources}
		for _, f := range g.flavors {
			if !all && one(t, 3, "without the flavor") {
				continue
			}
			q := kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(f)}
			for _, r := range g.resources {
				x := kueue.ResourceQuota{Name: r, NominalQuota: amount(t, quotas, r)}
				if limits && one(t, 3, "borrowing limit") {
					x.BorrowingLimit = ptr.To(amount(t, quotas, r))
				}
				if limits && one(t, 4, "lending limit") {
					x.LendingLimit = ptr.To(amount(t, quotas, r))
				}
				q.Resources = append(q.Resources, x)
			}
			rg.Flavors = append(rg.Flavors, q)
		}
		if len(rg.Flavors) > 0 {
			out = append(out, rg)
		}
	}
	return out
}

// holder is a Workload that holds quota of any queue, also more than there is.
func (c *cluster) holder(t *rapid.T, name string) *kueue.Workload {
	w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name)}}
	w.Spec.PodSets = []kueue.PodSet{{Name: "main", Count: 1}}
	w.Status.Conditions = []metav1.Condition{{Type: kueue.WorkloadQuotaReserved, Status: "True", Reason: "QuotaReserved"}, {Type: kueue.WorkloadAdmitted, Status: "True", Reason: "Admitted"}}
	a := kueue.PodSetAssignment{Name: "main", Count: ptr.To[int32](1), Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{}, ResourceUsage: corev1.ResourceList{}}
	for _, g := range c.groups {
		f := rapid.SampledFrom(g.flavors).Draw(t, "held flavor")
		for _, r := range g.resources {
			a.Flavors[r], a.ResourceUsage[r] = kueue.ResourceFlavorReference(f), amount(t, held, r)
		}
	}
	w.Status.Admission = &kueue.Admission{
		ClusterQueue:      kueue.ClusterQueueReference(c.queues[rapid.IntRange(0, len(c.queues)-1).Draw(t, "holder's queue")].Name),
		PodSetAssignments: []kueue.PodSetAssignment{a},
	}
	return w
}

// some draws a list with each of the resources once in n.
func some(t *rapid.T, n int, names ...corev1.ResourceName) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, r := range names {
		if one(t, n, "names "+string(r)) {
			out[r] = amount(t, asked, r)
		}
	}
	return out
}
