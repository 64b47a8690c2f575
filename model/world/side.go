package world

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The kinds that are not Kueue's queues but bear on what Kueue counts and says.
const (
	KindLimitRange    Kind = "LimitRange"
	KindRuntimeClass  Kind = "RuntimeClass"
	KindPriorityClass Kind = "PriorityClass"
	KindTopology      Kind = "Topology"
)

// SideKinds lists the kinds that are watched beside WatchedKinds. Without them
// some answers widen to unknown; none of the rows themselves is less true.
func SideKinds() []Kind {
	return []Kind{KindLimitRange, KindRuntimeClass, KindPriorityClass, KindTopology}
}

// LimitRange is the row of a LimitRange: its defaults become requests of pods
// that name none.
type LimitRange struct {
	Meta
	Limits []corev1.LimitRangeItem
}

// Ref names the row.
func (l *LimitRange) Ref() Ref { return Ref{KindLimitRange, l.Key, l.UID} }

// RuntimeClass is the row of a RuntimeClass. Overhead is what each of its pods
// needs beside its containers; nil where it has none.
type RuntimeClass struct {
	Meta
	Overhead corev1.ResourceList
}

// Ref names the row.
func (r *RuntimeClass) Ref() Ref { return Ref{KindRuntimeClass, r.Key, r.UID} }

// PodPriorityClass is the row of a PriorityClass of scheduling.k8s.io.
type PodPriorityClass struct {
	Meta
	Value int32
}

// Ref names the row.
func (p *PodPriorityClass) Ref() Ref { return Ref{KindPriorityClass, p.Key, p.UID} }

// Topology is the row of a Topology: the node labels of its levels, the widest
// first.
type Topology struct {
	Meta
	Levels []string
}

// Ref names the row.
func (t *Topology) Ref() Ref { return Ref{KindTopology, t.Key, t.UID} }

// Event is one event of either API. At is when it was last seen: core/v1 events
// of new recorders have no lastTimestamp.
type Event struct {
	Key
	UID          types.UID
	Kind         Kind // of the object it speaks of
	Object       Key
	ObjectUID    types.UID
	Type, Reason string
	Message      string
	At           time.Time
	Count        int32
}

// Pod is what is kept of a pod: which Workload it may belong to and how it does.
type Pod struct {
	Meta
	Phase string
	// Message says why it does not run: the scheduler's or the kubelet's word.
	Message string
	Node    string
	// Workload is the annotation kueue.x-k8s.io/workload, which Kueue sets on started
	// pods while topology aware scheduling is on, as it is by default.
	Workload string
	// Group is the name of the pod group, from the label or, since Kueue 0.18, the
	// annotation kueue.x-k8s.io/pod-group-name.
	Group string
	// PodSet is the label kueue.x-k8s.io/podset, which every pod of a Workload has.
	PodSet string
	// Owner is the controlling owner; a pod's is often not the Workload's own but
	// one below it (a Job of a JobSet).
	Owner *Owner
	// Labels are those by which the pod may be tied to a job.
	Labels map[string]string
	// Selector is spec.nodeSelector, and Requests what the pod asks for.
	Selector map[string]string
	Requests []Request
}

// Node is what is kept of a node.
type Node struct {
	Meta
	Labels map[string]string
	Ready  bool
}
