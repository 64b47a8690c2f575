package project

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// ClusterQueue returns the row of a ClusterQueue.
func ClusterQueue(o *kueue.ClusterQueue) *world.ClusterQueue {
	groups, quotas := resourceGroups(o.Spec.ResourceGroups)
	q := &world.ClusterQueue{
		Meta:       meta(&o.ObjectMeta),
		Cohort:     intern(o.Spec.CohortName),
		StopPolicy: stopPolicy(o.Spec.StopPolicy),
		Strategy:   intern(o.Spec.QueueingStrategy),
		Preemption: preemption(o.Spec.Preemption),
		Groups:     groups,
		Quotas:     quotas,
		FairWeight: weight(o.Spec.FairSharing),
		Hold:       hold(&o.ObjectMeta, stopPolicy(o.Spec.StopPolicy)),
		Conditions: conditions(o.Status.Conditions),
		Status: world.QueueStatus{
			Pending: o.Status.PendingWorkloads, Reserving: o.Status.ReservingWorkloads, Admitted: o.Status.AdmittedWorkloads,
			Reservation: flavorUsage(o.Status.FlavorsReservation), Usage: flavorUsage(o.Status.FlavorsUsage),
		},
		WeightedShare: share(o.Status.FairSharing),
		Writes:        Writes(o),
		Spec:          faithful(&o.Spec),
	}
	if o.Spec.NamespaceSelector != nil {
		sel, err := metav1.LabelSelectorAsSelector(o.Spec.NamespaceSelector)
		if err != nil {
			q.NamespacesProblem = text.Clean("the namespace selector cannot be read: " + err.Error())
		} else {
			q.Namespaces = sel
		}
	}
	if s := o.Spec.AdmissionChecksStrategy; s != nil {
		for _, r := range s.AdmissionChecks {
			rule := world.CheckRule{Name: intern(r.Name)}
			for _, f := range r.OnFlavors {
				rule.OnFlavors = append(rule.OnFlavors, intern(f))
			}
			q.Checks = append(q.Checks, rule)
		}
	}
	return q
}

// LocalQueue returns the row of a LocalQueue.
func LocalQueue(o *kueue.LocalQueue) *world.LocalQueue {
	return &world.LocalQueue{
		Meta:         meta(&o.ObjectMeta),
		ClusterQueue: intern(o.Spec.ClusterQueue),
		StopPolicy:   stopPolicy(o.Spec.StopPolicy),
		Hold:         hold(&o.ObjectMeta, stopPolicy(o.Spec.StopPolicy)),
		Conditions:   conditions(o.Status.Conditions),
		Status: world.QueueStatus{
			Pending: o.Status.PendingWorkloads, Reserving: o.Status.ReservingWorkloads, Admitted: o.Status.AdmittedWorkloads,
			Reservation: localUsage(o.Status.FlavorsReservation), Usage: localUsage(o.Status.FlavorsUsage),
		},
		Spec: faithful(&o.Spec),
	}
}

// Cohort returns the row of a Cohort.
func Cohort(o *kueue.Cohort) *world.Cohort {
	_, quotas := resourceGroups(o.Spec.ResourceGroups)
	return &world.Cohort{
		Meta: meta(&o.ObjectMeta), Parent: intern(o.Spec.ParentName), Quotas: quotas,
		FairWeight: weight(o.Spec.FairSharing), WeightedShare: share(o.Status.FairSharing),
		Writes: Writes(o), Spec: faithful(&o.Spec),
	}
}

// Flavor returns the row of a ResourceFlavor.
func Flavor(o *kueue.ResourceFlavor) *world.Flavor {
	f := &world.Flavor{Meta: meta(&o.ObjectMeta), Spec: faithful(&o.Spec)}
	for k, v := range o.Spec.NodeLabels {
		if f.NodeLabels == nil {
			f.NodeLabels = map[string]string{}
		}
		f.NodeLabels[intern(k)] = intern(v)
	}
	for _, t := range o.Spec.NodeTaints {
		f.NodeTaints = append(f.NodeTaints, world.Taint{Key: intern(t.Key), Value: intern(t.Value), Effect: intern(t.Effect)})
	}
	f.Tolerations = o.Spec.Tolerations
	if o.Spec.TopologyName != nil {
		f.Topology = intern(*o.Spec.TopologyName)
	}
	return f
}

// Check returns the row of an AdmissionCheck.
func Check(o *kueue.AdmissionCheck) *world.Check {
	return &world.Check{
		Meta: meta(&o.ObjectMeta), Controller: intern(o.Spec.ControllerName), Conditions: conditions(o.Status.Conditions), Spec: faithful(&o.Spec),
	}
}

func resourceGroups(in []kueue.ResourceGroup) ([]world.ResourceGroup, []world.Quota) {
	var groups []world.ResourceGroup
	var quotas []world.Quota
	for _, g := range in {
		var group world.ResourceGroup
		for _, r := range g.CoveredResources {
			group.Resources = append(group.Resources, intern(r))
		}
		for _, f := range g.Flavors {
			name := intern(f.Name)
			group.Flavors = append(group.Flavors, name)
			for _, r := range f.Resources {
				q := world.Quota{FlavorResource: world.FlavorResource{Flavor: name, Resource: intern(r.Name)}}
				q.Nominal = world.ParseAmount(q.Resource, r.NominalQuota)
				if r.BorrowingLimit != nil {
					a := world.ParseAmount(q.Resource, *r.BorrowingLimit)
					q.BorrowingLimit = &a
				}
				if r.LendingLimit != nil {
					a := world.ParseAmount(q.Resource, *r.LendingLimit)
					q.LendingLimit = &a
				}
				quotas = append(quotas, q)
			}
		}
		groups = append(groups, group)
	}
	return groups, quotas
}

func preemption(p *kueue.ClusterQueuePreemption) world.PreemptionPolicy {
	never := string(kueue.PreemptionPolicyNever)
	out := world.PreemptionPolicy{WithinClusterQueue: never, ReclaimWithinCohort: never, BorrowWithinCohort: never}
	if p == nil {
		return out
	}
	if p.WithinClusterQueue != "" {
		out.WithinClusterQueue = intern(p.WithinClusterQueue)
	}
	if p.ReclaimWithinCohort != "" {
		out.ReclaimWithinCohort = intern(p.ReclaimWithinCohort)
	}
	if b := p.BorrowWithinCohort; b != nil {
		if b.Policy != "" {
			out.BorrowWithinCohort = intern(b.Policy)
		}
		out.BorrowMaxPriority = b.MaxPriorityThreshold
	}
	return out
}

func weight(f *kueue.FairSharing) *float64 {
	if f == nil || f.Weight == nil {
		return nil
	}
	tame := world.Tame(*f.Weight)
	w := tame.AsFloat64Slow()
	return &w
}

func share(f *kueue.FairSharingStatus) *int64 {
	if f == nil {
		return nil
	}
	return &f.WeightedShare
}

func flavorUsage(in []kueue.FlavorUsage) []world.Use {
	var out []world.Use
	for _, f := range in {
		for _, r := range f.Resources {
			fr := world.FlavorResource{Flavor: intern(f.Name), Resource: intern(r.Name)}
			out = append(out, world.Use{FlavorResource: fr, Amount: world.ParseAmount(fr.Resource, r.Total)})
		}
	}
	return sortUses(out)
}

func localUsage(in []kueue.LocalQueueFlavorUsage) []world.Use {
	var out []world.Use
	for _, f := range in {
		for _, r := range f.Resources {
			fr := world.FlavorResource{Flavor: intern(f.Name), Resource: intern(r.Name)}
			out = append(out, world.Use{FlavorResource: fr, Amount: world.ParseAmount(fr.Resource, r.Total)})
		}
	}
	return sortUses(out)
}
