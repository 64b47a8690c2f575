package world

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Kind names one of Kueue's kinds as the API spells it.
type Kind string

// The kinds that the console watches.
const (
	KindClusterQueue          Kind = "ClusterQueue"
	KindLocalQueue            Kind = "LocalQueue"
	KindCohort                Kind = "Cohort"
	KindWorkload              Kind = "Workload"
	KindResourceFlavor        Kind = "ResourceFlavor"
	KindAdmissionCheck        Kind = "AdmissionCheck"
	KindWorkloadPriorityClass Kind = "WorkloadPriorityClass"
	KindNamespace             Kind = "Namespace"
)

// WatchedKinds lists every kind that the console watches, the most telling
// first.
func WatchedKinds() []Kind {
	return []Kind{
		KindWorkload, KindClusterQueue, KindLocalQueue, KindCohort, KindResourceFlavor,
		KindAdmissionCheck, KindWorkloadPriorityClass, KindNamespace,
	}
}

// Key identifies an object among those of its kind: by namespace and name.
// Namespace is empty for cluster-scoped kinds.
type Key struct{ Namespace, Name string }

// String is "namespace/name", or "name" for a cluster-scoped object.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// GetKey returns the key itself; rows promote it.
func (k Key) GetKey() Key { return k }

// Less orders keys by namespace, then name.
func (k Key) Less(o Key) bool {
	return k.Compare(o) < 0
}

// Compare orders keys as Less does: -1 before, 0 the same, 1 after.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Namespace, o.Namespace), cmp.Compare(k.Name, o.Name))
}

// Ref names one particular object: the UID tells it from a later object of the
// same name. UID is empty where it is not known (an object named by another
// that does not exist, or a file without UIDs).
type Ref struct {
	Kind Kind
	Key
	UID types.UID
}

// String is "Kind/name" or "Kind/namespace/name".
func (r Ref) String() string { return string(r.Kind) + "/" + r.Key.String() }

// Meta is what every row keeps of its object's metadata.
type Meta struct {
	Key
	UID             types.UID
	ResourceVersion string
	Generation      int64
	Created         time.Time
	// ManagedBy names the tool that owns the object and may undo an edit (Argo CD,
	// Flux, Helm); empty when no sign of one was found.
	ManagedBy string
	// ManagedAs is what the object is a part of there: an application, Kustomization
	// or release; empty where that is not said.
	ManagedAs string
	// Deleting is set when the object has a deletionTimestamp.
	Deleting bool
}

// Condition is one entry of status.conditions. At is lastTransitionTime.
type Condition struct {
	Type, Reason, Message string
	Status                string // True, False or Unknown
	At                    time.Time
	ObservedGeneration    int64
}

// Conditions is a list of conditions with at most one entry of each type.
type Conditions []Condition

// Get returns the condition of the type, and whether there is one.
func (c Conditions) Get(typ string) (Condition, bool) {
	for i := range c {
		if c[i].Type == typ {
			return c[i], true
		}
	}
	return Condition{}, false
}

// True reports whether the condition of the type exists with status True.
func (c Conditions) True(typ string) bool {
	x, ok := c.Get(typ)
	return ok && x.Status == "True"
}

// StopPolicy is spec.stopPolicy of a ClusterQueue or LocalQueue.
type StopPolicy string

// The stop policies. An absent policy reads as StopNone.
const (
	StopNone         StopPolicy = "None"
	StopHold         StopPolicy = "Hold"
	StopHoldAndDrain StopPolicy = "HoldAndDrain"
)

// Stopped reports whether the policy keeps new Workloads out.
func (p StopPolicy) Stopped() bool { return p == StopHold || p == StopHoldAndDrain }

// HoldAnnotation is the annotation in which a Hold records itself.
const HoldAnnotation = "holdfast.dev/hold"

// HoldRecord is what HoldAnnotation says. Version 1 is written; a record of
// another version, or one that cannot be read, has Problem set and nothing else
// may be relied on.
type HoldRecord struct {
	Version int       `json:"version"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Reason  string    `json:"reason,omitempty"`
	// Policy is what the hold set; a queue that has another one now was changed by
	// somebody since.
	Policy   StopPolicy `json:"policy"`
	Previous StopPolicy `json:"previous"`
	Problem  string     `json:"-"`
	// UndoneBy is the field manager that gave the queue another policy since, and
	// UndoneAt when it last wrote; for a record on a queue that flows. Empty: not known.
	UndoneBy string    `json:"-"`
	UndoneAt time.Time `json:"-"`
}
