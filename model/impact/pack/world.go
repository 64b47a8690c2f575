// Package pack turns the rows of a snapshot back into the typed objects that
// Kueue's own scheduler runs on (package engine). Between the two stands a World:
// plain data that can be sent as JSON to another process and is small, since what
// Workloads have in common stands in it once.
package pack

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/world"
)

// World is what of a snapshot a run of Kueue's scheduler reads. Of makes it and
// Objects reads it; it is not to be changed in between, and it may be read by any
// number of goroutines. Its JSON form is for programs of one build to talk to each
// other: it has no version.
//
// Numbers that are called an index point into one of the tables below; the first
// entry of each table is the empty one. Times are seconds after At, mostly negative,
// or noTime.
type World struct {
	// At is when the snapshot was made.
	At time.Time
	// AnyNamespace is set where the namespaces could not be read: every selector of a
	// ClusterQueue but one that selects nothing is taken to match.
	AnyNamespace bool `json:",omitempty"`
	// NoTopology is set where no nodes are known: flavors have no topology then, and
	// pod sets ask for none where a flavor of their ClusterQueue had one.
	NoTopology bool `json:",omitempty"`

	Flavors       []Object       `json:",omitempty"`
	Topologies    []Topology     `json:",omitempty"`
	Checks        []Object       `json:",omitempty"`
	Cohorts       []Object       `json:",omitempty"`
	ClusterQueues []Object       `json:",omitempty"`
	LocalQueues   []Object       `json:",omitempty"`
	Workloads     []Workload     `json:",omitempty"`
	Namespaces    []Namespace    `json:",omitempty"`
	LimitRanges   []LimitRange   `json:",omitempty"`
	Runtimes      []RuntimeClass `json:",omitempty"`
	// Nodes have their labels, taints, allocatable resources, readiness and whether
	// they take pods, and nothing else. Nothing fills them yet.
	Nodes []*corev1.Node `json:",omitempty"`

	// Texts are names and other words.
	Texts      []string
	Owners     []Owner
	Conditions []Condition
	// PodSets are the lists of pod sets that Workloads have.
	PodSets [][]PodSet
	// Shapes are pod specs, Requests are topologyRequests, Assigned lists of
	// podSetAssignments, and Rests of type project.Rest, all as JSON.
	Shapes, Requests, Assigned, Rests []json.RawMessage
}

// Object is a ClusterQueue, Cohort, LocalQueue, ResourceFlavor or AdmissionCheck.
type Object struct {
	Namespace  string          `json:"ns,omitempty"`
	Name       string          `json:"n"`
	UID        UID             `json:"u,omitempty"`
	Generation int64           `json:"g,omitempty"`
	Deleting   bool            `json:"d,omitempty"`
	Spec       json.RawMessage `json:"s"`
	// Conditions has three numbers for each: the index of the Condition, when it came
	// to that, and the generation that it was found for.
	Conditions []int64 `json:"c,omitempty"`
	// Counts are, of a ClusterQueue, the Workloads that wait, that have quota reserved
	// and that are admitted, as its status says.
	Counts [3]int32 `json:"k,omitzero"`
}

// Topology is a Topology with the node labels of its levels.
type Topology struct {
	Name   string   `json:"n"`
	Levels []string `json:"l"`
}

// Namespace is a Namespace.
type Namespace struct {
	Name   string            `json:"n"`
	Labels map[string]string `json:"l,omitempty"`
}

// LimitRange is a LimitRange.
type LimitRange struct {
	Namespace string                  `json:"ns"`
	Name      string                  `json:"n"`
	Limits    []corev1.LimitRangeItem `json:"l,omitempty"`
}

// RuntimeClass is a RuntimeClass.
type RuntimeClass struct {
	Name     string              `json:"n"`
	Overhead corev1.ResourceList `json:"o,omitempty"`
}

// Condition is a condition without its time and generation.
type Condition struct {
	Type    string `json:"t"`
	Status  string `json:"s"`
	Reason  string `json:"r"`
	Message string `json:"m,omitempty"`
}

// Owner is the kind of an owner. Which object of the kind it is stands there only
// where the scheduler looks: at a Workload that has variants.
type Owner struct {
	APIVersion string    `json:"v,omitempty"`
	Kind       string    `json:"k,omitempty"`
	Name       string    `json:"n,omitempty"`
	UID        types.UID `json:"u,omitempty"`
}

// PodSet is a pod set without its assignment. Name is an index of Texts, Shape of
// Shapes, Topology of Requests.
type PodSet struct {
	Name     int    `json:"n"`
	Count    int32  `json:"c"`
	MinCount *int32 `json:"m,omitempty"`
	// Reclaimable is the number of pods that have ended and whose quota is free.
	Reclaimable int32 `json:"r,omitempty"`
	Shape       int   `json:"s"`
	Topology    int   `json:"t,omitempty"`
	// Published is what Kueue wrote into status.resourceRequests; nil: nothing.
	Published []Request `json:"p,omitempty"`
}

// Request is an amount of a resource, the name of which is an index of Texts.
type Request struct {
	Resource int          `json:"r"`
	Amount   world.Amount `json:"a"`
}

// Workload is a Workload that is not finished.
type Workload struct {
	Namespace  int    `json:"ns"` // index of Texts
	Name       string `json:"n"`
	UID        UID    `json:"u,omitempty"`
	Created    int64  `json:"t,omitempty"`
	Generation int64  `json:"g,omitempty"`
	// Job is the label kueue.x-k8s.io/job-uid.
	Job        UID   `json:"j,omitempty"`
	LocalQueue int   `json:"l,omitempty"` // index of Texts
	Inactive   bool  `json:"i,omitempty"`
	Priority   int32 `json:"p,omitempty"`
	// Class is an index of Texts; PodClass tells that it is a PriorityClass of pods.
	Class    int  `json:"k,omitempty"`
	PodClass bool `json:"kp,omitempty"`
	Owner    int  `json:"o,omitempty"` // index of Owners
	PodSets  int  `json:"s"`           // index of PodSets
	// ClusterQueue, an index of Texts, has admitted it with Assigned, an index, too; 0
	// for none.
	ClusterQueue int     `json:"q,omitempty"`
	Assigned     int     `json:"a,omitempty"`
	Conditions   []int64 `json:"c,omitempty"` // as in Object
	Checks       []Check `json:"x,omitempty"`
	// Backoff is set where Kueue does not try it again before a time that has not come.
	Backoff        bool             `json:"b,omitempty"`
	RequeueCount   int32            `json:"rc,omitempty"`
	Evictions      []world.Eviction `json:"e,omitempty"`
	PastSeconds    *int32           `json:"ps,omitempty"`
	UnhealthyNodes []string         `json:"un,omitempty"`
	Rest           int              `json:"r,omitempty"` // index of Rests
}

// Check is the state of an admission check.
type Check struct {
	Name       int    `json:"n"` // index of Texts
	State      string `json:"s"`
	Message    string `json:"m,omitempty"`
	At         int64  `json:"t,omitempty"`
	RetryCount int32  `json:"r,omitempty"`
}
