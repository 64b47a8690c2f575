package report

import "time"

// Cohort is a cohort, with an object of its own or only named by others
// (Implicit).
type Cohort struct {
	Name     string  `json:"name"`
	Parent   *string `json:"parent"` // null: none
	Implicit *bool   `json:"implicit"`
	// Cycle is the cycle of cohorts that this one reaches, null where there is none.
	Cycle         []string `json:"cycle"`
	WeightedShare *string  `json:"weightedShare"`
	Resources     []Quota  `json:"resources"`
	Unknown       string   `json:"unknown,omitempty"`
}

// ClusterQueue is a ClusterQueue. The numbers of Workloads are as Kueue counts
// them: Reserving are all that hold quota, Admitted those of them with
// Admitted=True, Evicting ones are in both.
type ClusterQueue struct {
	Name             string   `json:"name"`
	Cohort           *string  `json:"cohort"` // null: none
	StopPolicy       string   `json:"stopPolicy"`
	Active           *bool    `json:"active"` // what the scheduler does
	InactiveCauses   []string `json:"inactiveCauses"`
	QueueingStrategy string   `json:"queueingStrategy"`
	Pending          int      `json:"pending"`
	Reserving        int      `json:"reserving"`
	Admitted         int      `json:"admitted"`
	Evicting         *int     `json:"evicting"`
	StatusStale      bool     `json:"statusStale"`
	StatusNote       *string  `json:"statusNote"`
	WeightedShare    *string  `json:"weightedShare"` // null too where fair sharing is not shown to be on
	Hold             *Hold    `json:"hold"`
	ManagedBy        *string  `json:"managedBy"`
	Resources        []Quota  `json:"resources"`
	Unknown          string   `json:"unknown,omitempty"`
}

// Hold is the record that a hold leaves on a queue. Stale is a record on a queue
// that is no longer held.
type Hold struct {
	By       *string    `json:"by"`
	At       *time.Time `json:"at"`
	Reason   *string    `json:"reason"` // empty: none was given
	Previous *string    `json:"previous"`
	Stale    bool       `json:"stale"`
	Unknown  string     `json:"unknown,omitempty"`
}

// LocalQueue is a LocalQueue.
type LocalQueue struct {
	Namespace       string     `json:"namespace"`
	Name            string     `json:"name"`
	ClusterQueue    string     `json:"clusterQueue"`
	StopPolicy      string     `json:"stopPolicy"`
	Active          *bool      `json:"active"`
	InactiveCauses  []string   `json:"inactiveCauses"`
	Pending         int        `json:"pending"`
	Reserving       int        `json:"reserving"`
	Admitted        int        `json:"admitted"`
	SelectorMatches *bool      `json:"selectorMatches"`
	StatusStale     bool       `json:"statusStale"`
	StatusNote      *string    `json:"statusNote"`
	Hold            *Hold      `json:"hold"`
	Resources       []LocalUse `json:"resources"`
	Unknown         string     `json:"unknown,omitempty"`
}

// LocalUse is what the Workloads of a LocalQueue hold of one flavor and resource.
type LocalUse struct {
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
	Reserved string `json:"reserved"`
	Admitted string `json:"admitted"`
}

// Quota is one flavor and resource of a ClusterQueue or Cohort; quota.Cell has the
// formulas. A limit that is null is not set, Borrowed is null for a Cohort that is
// a root, and in a cycle of cohorts everything is that is not the queue's own.
type Quota struct {
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
	// InSpec is false for use of a flavor or resource that the spec no longer has,
	// and in a Cohort for quota that only those below it have.
	InSpec         bool    `json:"inSpec"`
	Nominal        *string `json:"nominal"`
	BorrowingLimit *string `json:"borrowingLimit"`
	LendingLimit   *string `json:"lendingLimit"`
	Subtree        *string `json:"subtree"`
	Local          *string `json:"local"`
	Reserved       *string `json:"reserved"`
	// Admitted is the part of Reserved that belongs to admitted Workloads; of a
	// Cohort, what Reserved would be if there were no others.
	Admitted     *string `json:"admitted"`
	Borrowed     *string `json:"borrowed"`
	Available    *string `json:"available"`
	Potential    *string `json:"potential"`
	Lendable     *string `json:"lendable"`
	IdleLendable *string `json:"idleLendable"`
	// Uncovered is the use beyond the quota that no idle quota covers. Where several
	// borrow from one pool nobody can say whose share is missing: it is what this one
	// owes at least, and UncoveredMost what it owes at most.
	Uncovered     *string  `json:"uncovered"`
	UncoveredMost *string  `json:"uncoveredMost"`
	Lenders       []Lender `json:"lenders"`
	Unknown       string   `json:"unknown,omitempty"`
}

// Lender is who may be lending: Kueue records no loans. Most is the part of Idle
// that can have reached the borrower.
type Lender struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	Idle string `json:"idle"`
	Most string `json:"most"`
}

// Flavor is a ResourceFlavor, or one that is only named (Exists false).
type Flavor struct {
	Name       string            `json:"name"`
	NodeLabels map[string]string `json:"nodeLabels"`
	NodeTaints []Taint           `json:"nodeTaints"`
	Topology   *string           `json:"topology"` // null: none
	Exists     *bool             `json:"exists"`
	UsedBy     []string          `json:"usedBy"` // ClusterQueues
	// Nodes is how many nodes have the labels; of a flavor without labels, all.
	Nodes   *int   `json:"nodes"`
	Unknown string `json:"unknown,omitempty"`
}

// Taint is a taint of a ResourceFlavor's nodes.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
}

// AdmissionCheck is an AdmissionCheck, or one that is only named (Exists false). One
// without a condition, whose controller is not there, is not active.
type AdmissionCheck struct {
	Name           string   `json:"name"`
	ControllerName *string  `json:"controllerName"`
	Active         *bool    `json:"active"`
	Exists         *bool    `json:"exists"`
	Reason         *string  `json:"reason"` // null where it has no condition
	Message        *string  `json:"message"`
	UsedBy         []string `json:"usedBy"`  // ClusterQueues
	Pending        int      `json:"pending"` // Workloads that hold quota and wait for it
	Unknown        string   `json:"unknown,omitempty"`
}

// PriorityClass is a WorkloadPriorityClass or PriorityClass, or one that is only
// named by Workloads.
type PriorityClass struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Value     *int32 `json:"value"`
	Exists    *bool  `json:"exists"`
	Workloads int    `json:"workloads"` // of the report that name it
	Unknown   string `json:"unknown,omitempty"`
}
