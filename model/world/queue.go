package world

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// FlavorResource is one cell of quota: a resource in a ResourceFlavor.
type FlavorResource struct{ Flavor, Resource string }

// Less orders by flavor, then resource.
func (f FlavorResource) Less(o FlavorResource) bool {
	if f.Flavor != o.Flavor {
		return f.Flavor < o.Flavor
	}
	return f.Resource < o.Resource
}

// Quota is what a spec gives for one cell. A nil limit is no limit; zero is a
// limit.
type Quota struct {
	FlavorResource
	Nominal        Amount
	BorrowingLimit *Amount
	LendingLimit   *Amount
}

// Use is an amount of one cell, as a status or an admission states it.
type Use struct {
	FlavorResource
	Amount Amount
}

// ResourceGroup lists resources that are given from the same flavors, in the
// order in which Kueue tries them.
type ResourceGroup struct {
	Resources []string
	Flavors   []string
}

// PreemptionPolicy is spec.preemption of a ClusterQueue, in Kueue's words.
type PreemptionPolicy struct {
	WithinClusterQueue, ReclaimWithinCohort, BorrowWithinCohort string
	BorrowMaxPriority                                           *int32
}

// CheckRule names an AdmissionCheck that a ClusterQueue asks for; empty
// OnFlavors means every flavor.
type CheckRule struct {
	Name      string
	OnFlavors []string
}

// QueueStatus is what Kueue last wrote into a queue's status. It may be older
// than the spec.
type QueueStatus struct {
	Pending, Reserving, Admitted int32
	Reservation, Usage           []Use
}

// ClusterQueue is the row of a ClusterQueue.
type ClusterQueue struct {
	Meta
	Cohort     string // empty: none
	StopPolicy StopPolicy
	Strategy   string // BestEffortFIFO or StrictFIFO
	// Namespaces selects the namespaces whose Workloads may be admitted. Nil means
	// that the spec has no selector, which matches nothing.
	Namespaces labels.Selector
	// NamespacesProblem says why the selector could not be read.
	NamespacesProblem string
	Preemption        PreemptionPolicy
	Groups            []ResourceGroup
	Quotas            []Quota // every cell of the spec, in its order
	Checks            []CheckRule
	// FairWeight is spec.fairSharing.weight, as a float like Kueue's own; nil where
	// not set (1).
	FairWeight *float64
	Hold       *HoldRecord
	Conditions Conditions
	Status     QueueStatus
	// WeightedShare is status.fairSharing.weightedShare; nil where fair sharing is
	// not shown to be on.
	WeightedShare *int64
	// Writes are who wrote to the spec as far as the server remembers, the oldest first;
	// none where it does not tell, as in most files.
	Writes []SpecWrite
	// Spec is the spec of version v1beta2 as JSON, for Kueue's own code: as it came,
	// never to be drawn.
	Spec string
}

// Ref names the row.
func (q *ClusterQueue) Ref() Ref { return Ref{KindClusterQueue, q.Key, q.UID} }

// Flavors lists the ResourceFlavors that the spec names, each once, in its order.
func (q *ClusterQueue) Flavors() []string {
	var out []string
	for _, g := range q.Groups {
		for _, f := range g.Flavors {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// LocalQueue is the row of a LocalQueue.
type LocalQueue struct {
	Meta
	ClusterQueue string
	StopPolicy   StopPolicy
	Hold         *HoldRecord
	Conditions   Conditions
	Status       QueueStatus
	// Spec is the spec of version v1beta2 as JSON, for Kueue's own code: as it came,
	// never to be drawn.
	Spec string
}

// Ref names the row.
func (q *LocalQueue) Ref() Ref { return Ref{KindLocalQueue, q.Key, q.UID} }

// Cohort is the row of a Cohort object. Cohorts that are only named by others
// have no row; model/quota makes nodes for them.
type Cohort struct {
	Meta
	Parent     string
	Quotas     []Quota
	FairWeight *float64
	// WeightedShare is status.fairSharing.weightedShare, nil where absent.
	WeightedShare *int64
	// Writes are who wrote to the spec as far as the server remembers, the oldest first;
	// none where it does not tell, as in most files.
	Writes []SpecWrite
	// Spec is the spec of version v1beta2 as JSON, for Kueue's own code: as it came,
	// never to be drawn.
	Spec string
}

// Ref names the row.
func (c *Cohort) Ref() Ref { return Ref{KindCohort, c.Key, c.UID} }

// Taint is a taint of a ResourceFlavor's nodes.
type Taint struct{ Key, Value, Effect string }

// String is the taint as kubectl writes it: key=value:effect.
func (t Taint) String() string {
	out := t.Key
	if t.Value != "" {
		out += "=" + t.Value
	}
	return out + ":" + t.Effect
}

// Flavor is the row of a ResourceFlavor.
type Flavor struct {
	Meta
	NodeLabels map[string]string
	NodeTaints []Taint
	// Tolerations are given to every pod that is admitted to the flavor.
	Tolerations []corev1.Toleration
	Topology    string
	// Spec is the spec of version v1beta2 as JSON, for Kueue's own code: as it came,
	// never to be drawn.
	Spec string
}

// Ref names the row.
func (f *Flavor) Ref() Ref { return Ref{KindResourceFlavor, f.Key, f.UID} }

// Check is the row of an AdmissionCheck.
type Check struct {
	Meta
	Controller string
	Conditions Conditions
	// Spec is the spec of version v1beta2 as JSON, for Kueue's own code: as it came,
	// never to be drawn.
	Spec string
}

// Ref names the row.
func (c *Check) Ref() Ref { return Ref{KindAdmissionCheck, c.Key, c.UID} }

// PriorityClass is the row of a WorkloadPriorityClass.
type PriorityClass struct {
	Meta
	Value int32
}

// Ref names the row.
func (p *PriorityClass) Ref() Ref { return Ref{KindWorkloadPriorityClass, p.Key, p.UID} }

// Namespace is the row of a Namespace: its labels decide who may be admitted.
type Namespace struct {
	Meta
	Labels map[string]string
}

// Ref names the row.
func (n *Namespace) Ref() Ref { return Ref{KindNamespace, n.Key, n.UID} }
