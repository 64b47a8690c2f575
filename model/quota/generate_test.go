package quota_test

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// cluster is a random cluster in the objects that Kueue reads.
type cluster struct {
	huge bool // quotas and use reach the ends of 64 bits
	// What specs mostly have and Workloads mostly use, so that they meet.
	resources [2][]corev1.ResourceName
	flavors   [2][]string

	queues  []*kueue.ClusterQueue
	cohorts []*kueue.Cohort
	// earlier are versions of Workloads that were seen before workloads.
	earlier, workloads []*kueue.Workload
	// A cohort whose parent, set last of all, closes a cycle; empty for none.
	closes, under string
}

// nowhere is a ClusterQueue that does not exist.
const nowhere = "nowhere"

// The quota that specs can have: two resource groups, each with two flavors.
var (
	groupResources = [2][2]corev1.ResourceName{{"cpu", "memory"}, {"nvidia.com/gpu", "ephemeral-storage"}}
	groupFlavors   = [2][2]string{{"spot", "stable"}, {"a100", "t4"}}
)

// amounts are few and small, so that queues fill up, borrow and overdraw; some
// round up, and some of the huge ones are Unlimited or become so when added.
var (
	amounts = map[corev1.ResourceName][]string{
		"cpu":               {"0", "1", "2", "4", "500m", "1500m", "8", "1m", "3", "12"},
		"memory":            {"0", "1Gi", "2Gi", "1.5Gi", "512Mi", "4Gi", "500m", "1", "100k", "8Gi"},
		"nvidia.com/gpu":    {"0", "1", "2", "3", "4", "8", "500m"},
		"ephemeral-storage": {"0", "1G", "2G", "10G", "1Gi", "1e3", "4G"},
	}
	hugeCPU   = []string{"1E", "9223372036854776", "9223372036854774", "4611686018427387", "3E15"}
	hugeOther = []string{"9223372036854775807", "9223372036854775806", "4611686018427387904", "3E18", "9E", "8Ei"}
)

func (c *cluster) amount(t *rapid.T, name corev1.ResourceName) resource.Quantity {
	from := amounts[name]
	if c.huge && rapid.IntRange(0, 3).Draw(t, "huge amount") == 3 {
		from = hugeOther
		if name == corev1.ResourceCPU {
			from = hugeCPU
		}
	}
	return resource.MustParse(rapid.SampledFrom(from).Draw(t, string(name)))
}

// limit is none, or an amount, zero included.
func (c *cluster) limit(t *rapid.T, name corev1.ResourceName) *resource.Quantity {
	if rapid.Bool().Draw(t, "no limit") {
		return nil
	}
	return ptr.To(c.amount(t, name))
}

// likely is true in most cases.
func likely(t *rapid.T, what string) bool { return rapid.IntRange(0, 4).Draw(t, what) > 0 }

func rarely(t *rapid.T, what string) bool { return !likely(t, what) }

// some picks a subset; most is whether most of it is picked.
func some[T any](t *rapid.T, what string, of []T, most bool) []T {
	var out []T
	for i := range of {
		if most && likely(t, what) || !most && rapid.Bool().Draw(t, what) {
			out = append(out, of[i])
		}
	}
	return out
}

func (c *cluster) resourceGroups(t *rapid.T) []kueue.ResourceGroup {
	var out []kueue.ResourceGroup
	for i := range groupResources {
		resources, flavors := some(t, "resource", c.resources[i], true), some(t, "flavor", c.flavors[i], true)
		if len(resources) == 0 || len(flavors) == 0 {
			continue
		}
		g := kueue.ResourceGroup{CoveredResources: resources}
		if rarely(t, "one flavor twice") && rarely(t, "really") {
			flavors = append(flavors, flavors[0]) // the webhook refuses it
		}
		for _, f := range flavors {
			q := kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(f)}
			for _, r := range resources {
				q.Resources = append(q.Resources, kueue.ResourceQuota{
					Name: r, NominalQuota: c.amount(t, r), BorrowingLimit: c.limit(t, r), LendingLimit: c.limit(t, r),
				})
			}
			g.Flavors = append(g.Flavors, q)
		}
		out = append(out, g)
	}
	return out
}

func fairSharing(t *rapid.T) *kueue.FairSharing {
	w := rapid.SampledFrom([]string{"", "none", "0", "1", "2", "500m", "1500m", "0.007", "3", "10"}).Draw(t, "weight")
	switch w {
	case "":
		return nil
	case "none":
		return &kueue.FairSharing{}
	}
	return &kueue.FairSharing{Weight: ptr.To(resource.MustParse(w))}
}

// clusters draws a cluster.
func clusters(t *rapid.T, huge bool) *cluster {
	c := &cluster{huge: huge}
	for i := range groupResources {
		c.resources[i] = some(t, "known resource", groupResources[i][:], false)
		c.flavors[i] = some(t, "known flavor", groupFlavors[i][:], false)
	}
	if len(c.resources[0]) == 0 || len(c.flavors[0]) == 0 {
		c.resources[0], c.flavors[0] = groupResources[0][:1], groupFlavors[0][:1]
	}
	names := []string{"c0", "c1", "c2", "c3", "c4", "c5"}[:rapid.IntRange(1, 6).Draw(t, "cohorts")]
	parents := map[string]string{}
	for i := range names {
		// One that has no object is implicit where it is named, or not there at all.
		if rarely(t, "without object") {
			continue
		}
		o := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: names[i], UID: types.UID(names[i])}}
		// A parent has a lower number, or is named by nobody else.
		above := append([]string{"", "lost"}, names[:i]...)
		o.Spec.ParentName = kueue.CohortReference(above[len(above)-1-rapid.IntRange(0, len(above)-1).Draw(t, "parent")])
		o.Spec.ResourceGroups = c.resourceGroups(t)
		o.Spec.FairSharing = fairSharing(t)
		parents[names[i]] = string(o.Spec.ParentName)
		c.cohorts = append(c.cohorts, o)
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "queues") {
		name := fmt.Sprint("q", i)
		o := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
		if likely(t, "in a cohort") {
			o.Spec.CohortName = kueue.CohortReference(rapid.SampledFrom(names).Draw(t, "cohort"))
		}
		o.Spec.ResourceGroups = c.resourceGroups(t)
		o.Spec.FairSharing = fairSharing(t)
		o.Spec.NamespaceSelector = &metav1.LabelSelector{}
		if rarely(t, "stopped") {
			o.Spec.StopPolicy = ptr.To(rapid.SampledFrom([]kueue.StopPolicy{kueue.Hold, kueue.HoldAndDrain}).Draw(t, "policy"))
		}
		c.queues = append(c.queues, o)
	}
	for i := range rapid.IntRange(0, 20).Draw(t, "workloads") {
		w := c.workload(t, fmt.Sprint("w", i))
		c.workloads = append(c.workloads, w)
		// A sum that has reached the end of 64 bits does not come back in Kueue, nor
		// does what a Workload held that is now in a queue that does not exist.
		gone := w.Status.Admission != nil && w.Status.Admission.ClusterQueue == nowhere
		if !c.huge && !gone && rarely(t, "seen before") {
			c.earlier = append(c.earlier, c.workload(t, w.Name))
		}
	}
	if rarely(t, "cycle") && rarely(t, "really") && len(parents) > 0 {
		c.closes = rapid.SampledFrom(slices.Sorted(maps.Keys(parents))).Draw(t, "closes")
		var below []string
		for n := range parents {
			for x, ok := n, true; ok; x, ok = parents[x], parents[x] != "" {
				if x == c.closes {
					below = append(below, n)
				}
			}
		}
		slices.Sort(below)
		c.under = rapid.SampledFrom(below).Draw(t, "under")
	}
	return c
}

// workload is one in any state: pending, reserving, admitted, evicting, finished
// or deactivated, admitted in part, with pods that are done, on flavors and
// resources that its queue may not have.
func (c *cluster) workload(t *rapid.T, name string) *kueue.Workload {
	w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name)}}
	w.Spec.QueueName = "lq"
	switch rapid.IntRange(0, 9).Draw(t, "active") {
	case 0:
		w.Spec.Active = ptr.To(false)
	case 1:
		w.Spec.Active = ptr.To(true)
	}
	set := func(kind string, p int) {
		if rapid.IntRange(0, 9).Draw(t, kind) >= p {
			return
		}
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{
			Type: kind, Status: rapid.SampledFrom([]metav1.ConditionStatus{"True", "True", "True", "False"}).Draw(t, "status"), Reason: "x",
		})
	}
	set(kueue.WorkloadQuotaReserved, 9)
	set(kueue.WorkloadAdmitted, 6)
	set(kueue.WorkloadEvicted, 2)
	set(kueue.WorkloadFinished, 1)
	a := &kueue.Admission{ClusterQueue: nowhere}
	if n := rapid.IntRange(0, len(c.queues)).Draw(t, "queue"); n < len(c.queues) {
		a.ClusterQueue = kueue.ClusterQueueReference(c.queues[n].Name)
	}
	for i := range rapid.IntRange(1, 2).Draw(t, "pod sets") {
		ps := kueue.PodSet{Name: kueue.NewPodSetReference(fmt.Sprint("ps", i)), Count: rapid.Int32Range(0, 6).Draw(t, "count")}
		w.Spec.PodSets = append(w.Spec.PodSets, ps)
		if done := rapid.Int32Range(0, ps.Count).Draw(t, "done"); done > 0 {
			w.Status.ReclaimablePods = append(w.Status.ReclaimablePods, kueue.ReclaimablePod{Name: ps.Name, Count: done})
		}
		as := kueue.PodSetAssignment{Name: ps.Name, Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{}, ResourceUsage: corev1.ResourceList{}}
		if likely(t, "counted") {
			as.Count = ptr.To(rapid.Int32Range(0, ps.Count).Draw(t, "admitted"))
		}
		for g := range groupResources {
			resources, flavors := c.resources[g], c.flavors[g]
			if len(resources) == 0 || len(flavors) == 0 || rarely(t, "others") && rarely(t, "really") {
				resources, flavors = groupResources[g][:], groupFlavors[g][:]
				if likely(t, "nothing of them") {
					continue
				}
			}
			for _, r := range some(t, "uses", resources, false) {
				as.ResourceUsage[r] = c.amount(t, r)
				if likely(t, "has a flavor") || likely(t, "really") {
					as.Flavors[r] = kueue.ResourceFlavorReference(rapid.SampledFrom(flavors).Draw(t, "flavor"))
				}
			}
		}
		a.PodSetAssignments = append(a.PodSetAssignments, as)
	}
	// Kueue keeps no reservation without an admission.
	if likely(t, "assigned") {
		w.Status.Admission = a
	} else {
		w.Status.Conditions = slices.DeleteFunc(w.Status.Conditions, func(x metav1.Condition) bool { return x.Type == kueue.WorkloadQuotaReserved })
	}
	return w
}
