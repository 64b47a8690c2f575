// Package report is the machine-readable form of what is known: one document for
// a whole cluster (Report), one for a single Workload (Explanation).
//
// Everything in it is computed elsewhere (quota, reason, chain, position, pods,
// health); this package brings it into the documented form. That form is a
// contract within v1alpha1: fields may be added, none is renamed or changes its
// meaning. Lists are sorted and never null. A null is something unknown, or a thing
// that there is none of where the field says so; Unknown of the same object says
// what is unknown and why. Quantities are strings in Kubernetes' canonical form,
// rounded as Kueue does; "unlimited" is Kueue's sentinel. Times are UTC, in whole
// seconds.
//
// Pure: values in, values out; only the writers do I/O.
package report

import "time"

// APIVersion is that of all documents.
const APIVersion = "holdfast.dev/v1alpha1"

// The kinds of the documents of this package.
const (
	KindReport      = "Report"
	KindExplanation = "Explanation"
)

// Report is the document about everything that was read.
type Report struct {
	APIVersion      string           `json:"apiVersion"`
	Kind            string           `json:"kind"`
	Source          Source           `json:"source"`
	Contract        Contract         `json:"contract"`
	Cohorts         []Cohort         `json:"cohorts"`
	ClusterQueues   []ClusterQueue   `json:"clusterQueues"`
	LocalQueues     []LocalQueue     `json:"localQueues"`
	Flavors         []Flavor         `json:"flavors"`
	AdmissionChecks []AdmissionCheck `json:"admissionChecks"`
	PriorityClasses []PriorityClass  `json:"priorityClasses"`
	Workloads       []Workload       `json:"workloads"`
	Chains          []Chain          `json:"chains"`
	Alerts          []Alert          `json:"alerts"`
	SLO             SLO              `json:"slo"`
	// Unknown names the lists that are empty or not complete because something could
	// not be read.
	Unknown string `json:"unknown,omitempty"`
}

// Source says what a document is made from.
type Source struct {
	Type string `json:"type"` // cluster, file or bundle
	Name string `json:"name"` // context or path
	// ReadAt is when it was read, Now the time at which ages are measured.
	ReadAt time.Time `json:"readAt"`
	Now    time.Time `json:"now"`
	// Notes are sentences on what was not read, or not as it stands.
	Notes []string `json:"notes"`
}

// Contract is which versions speak, and whether the parts of Kueue work.
type Contract struct {
	Served []string `json:"served"`
	Used   string   `json:"used"`
	// KueueVersion and where it comes from; null where it could not be read.
	KueueVersion       *string `json:"kueueVersion"`
	KueueVersionSource *string `json:"kueueVersionSource"`

	Controller          Readiness  `json:"controller"`
	ValidatingWebhook   Readiness  `json:"validatingWebhook"`
	ConversionWebhook   Readiness  `json:"conversionWebhook"`
	Visibility          Readiness  `json:"visibility"`
	WebhookCAValidUntil *time.Time `json:"webhookCAValidUntil"`

	Unreadable []Unreadable `json:"unreadable"`
	Unknown    string       `json:"unknown,omitempty"`
}

// Readiness is whether a part of Kueue works. State is ready, notReady or unknown.
type Readiness struct {
	State  string `json:"state"`
	Detail string `json:"detail"`
}

// Unreadable is one thing that the server refuses to the user; an empty namespace
// is all of them.
type Unreadable struct {
	Resource  string `json:"resource"`
	Verb      string `json:"verb"`
	Namespace string `json:"namespace"`
}

// Chain runs from the last victim up to the first preemptor. End is root, unknown
// or loop.
type Chain struct {
	Links []Link `json:"links"`
	End   string `json:"end"`
}

// Link is one preemption. A Preemptor and its priority are those of now, or what
// events say of one that is gone.
type Link struct {
	Victim            string  `json:"victim"` // namespace/name
	VictimUID         string  `json:"victimUID"`
	VictimPriority    *int32  `json:"victimPriority"`
	Preemptor         *string `json:"preemptor"`
	PreemptorUID      *string `json:"preemptorUID"`
	PreemptorPriority *int32  `json:"preemptorPriority"`
	// PreemptorClusterQueue is where the quota was taken.
	PreemptorClusterQueue *string    `json:"preemptorClusterQueue"`
	Reason                string     `json:"reason"`
	PolicyHolds           *bool      `json:"policyHolds"`
	At                    *time.Time `json:"at"`
	History               bool       `json:"history"`
	Recreated             bool       `json:"recreated"`
	Recovery              Recovery   `json:"recovery"`
	Unknown               string     `json:"unknown,omitempty"`
}

// Recovery is how the victim goes on. State is pending, running, finished,
// deactivated or gone. RequeueAt is null where it is not in backoff, Checkpoint
// where no annotation was configured or the victim has none.
type Recovery struct {
	State                string      `json:"state"`
	RequeueAt            *time.Time  `json:"requeueAt"`
	RequeueCount         int32       `json:"requeueCount"`
	PastExecutionSeconds *int64      `json:"pastExecutionSeconds"`
	ReclaimablePods      int         `json:"reclaimablePods"`
	Checkpoint           *Checkpoint `json:"checkpoint"`
}

// Checkpoint is the annotation in which a job records how far it got.
type Checkpoint struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Alert is one thing to act on or to know; Severity is critical, warning or info.
type Alert struct {
	Class       string `json:"class"`
	Severity    string `json:"severity"`
	Object      Object `json:"object"`
	Explanation string `json:"explanation"`
	Advice      string `json:"advice"`
	Actor       string `json:"actor"` // empty: nobody
	Count       int    `json:"count"` // of Workloads
}

// Object names an object; Namespace is empty for a cluster-scoped one.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// SLO is how the queues serve, as far as the objects tell it.
type SLO struct {
	PendingCount      *int        `json:"pendingCount"`
	OldestWaitSeconds *int64      `json:"oldestWaitSeconds"` // null where none is pending, too
	WaitSeconds       *Spread     `json:"waitSeconds"`
	BorrowingRatio    []Borrowing `json:"borrowingRatio"`
	Evictions         []Evictions `json:"evictions"`
	EvictionRatio     *float64    `json:"evictionRatio"`
	Scope             string      `json:"scope"`
	Unknown           string      `json:"unknown,omitempty"`
}

// Spread is two percentiles.
type Spread struct {
	P50 int64 `json:"p50"`
	P95 int64 `json:"p95"`
}

// Borrowing is what all ClusterQueues together use beyond their nominal quota.
type Borrowing struct {
	Flavor   string  `json:"flavor"`
	Resource string  `json:"resource"`
	Borrowed string  `json:"borrowed"`
	Reserved string  `json:"reserved"`
	Ratio    float64 `json:"ratio"`
}

// Evictions is a number of evictions for one of Kueue's reasons.
type Evictions struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}
