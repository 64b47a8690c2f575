// Package engine runs Kueue's own scheduler, queues, caches and event handlers
// in process, on objects in memory, until nothing moves any more.
//
// Kueue's are: the scheduling cycle with its order, reservations and preemption
// targets (pkg/scheduler), the queues and the rules of requeueing
// (pkg/cache/queue), the quota (pkg/cache/scheduler), and what happens on a
// change of an object (pkg/controller/core). Ours are: the client that keeps the
// objects, the end of an eviction, which a job's controller brings about, the
// times at which ClusterQueues are counted and queues that wait are tried again, and
// the test for rest.
package engine

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/world"
)

// Objects is the state that a run starts from. A run does not change it.
type Objects struct {
	Flavors       []*kueue.ResourceFlavor
	Topologies    []*kueue.Topology
	Checks        []*kueue.AdmissionCheck
	Cohorts       []*kueue.Cohort
	ClusterQueues []*kueue.ClusterQueue
	LocalQueues   []*kueue.LocalQueue
	// Workloads are those that are not finished.
	Workloads      []*kueue.Workload
	Namespaces     []*corev1.Namespace
	LimitRanges    []*corev1.LimitRange
	RuntimeClasses []*nodev1.RuntimeClass
	Nodes          []*corev1.Node
}

// Change is one change of an object. Old is nil where it is made, New where it
// is deleted. It may be of a ClusterQueue, LocalQueue, Cohort, ResourceFlavor,
// AdmissionCheck or Workload.
type Change struct{ Old, New client.Object }

// Mode is one way in which the things that nobody can foretell may go: how long
// evictions take, and when what waits is tried again.
type Mode struct {
	Name string
	// Latency is how long an eviction takes from the condition to the quota.
	Latency time.Duration
	// Cycle is how long a scheduling cycle takes where Kueue is slow, because of
	// many queues or a busy API server; 0 is a moment.
	Cycle time.Duration
	// Eager tries what waits again before every cycle, not a second after its cause.
	Eager bool
	// Forgets runs as a manager that has just been started, which does not know who
	// preempted last (remember.go).
	Forgets bool
	// Between is how long Kueue's scheduler runs after each change before the next
	// comes: changes of several objects are several requests. 0: all at once; less
	// than 0: until nothing moves.
	Between time.Duration
	// Spread is the most that an eviction may take longer than Latency; how much,
	// Seed decides for each.
	Spread time.Duration
	Seed   int64
}

// Differs reports whether a run in the mode may end otherwise than one in the other
// mode, of the same objects and changes, that ended with out. Modes that differ in how
// long evictions take do not where nothing was evicted. Those of another seed do: each
// draws its own order of what is equal to Kueue.
func (m Mode) Differs(o Mode, out Outcome) bool {
	if !out.Evicts {
		m.Latency, m.Spread, o.Latency, o.Spread = 0, 0, 0, 0
	}
	m.Name = o.Name
	return m != o
}

// Options say how a run goes.
type Options struct {
	// Config is the manager's, with defaults filled in. Its feature gates must have
	// been set before (SetGates).
	Config configapi.Configuration
	// At is the time at which the state was read.
	At time.Time
	// MostCycles bounds the scheduling cycles, before and after the changes each;
	// 0 takes a bound that grows with the number of Workloads.
	MostCycles int
	// Progress is called now and then from the goroutine of Run; it may be nil.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	Mode string
	// Edited is set once the changes were applied.
	Edited bool
	// Cycles counts scheduling cycles since the start, Admitted and Preempted the
	// Workloads since the changes.
	Cycles, Admitted, Preempted int
}

// Outcome is how one run ended. It is plain data and can be sent as JSON.
type Outcome struct {
	Mode string
	// Restless are the Workloads that changed before the changes were applied: the
	// state was not at rest, or the controller remembers something that is in no
	// object.
	Restless []world.Key
	// Changed are the Workloads whose status differs from the one that the run
	// started with, as they are at the end, by namespace and name.
	Changed []*kueue.Workload
	// Preemptions and Evictions are what was done after the changes, in order. A
	// Workload may be preempted more than once. Evictions holds the others, by a
	// drain for example.
	Preemptions []Preemption
	Evictions   []Eviction
	// Queues are the ClusterQueues whose readiness the changes altered.
	Queues []Readiness
	// Evicts is set where an eviction was waited for, before the changes or after.
	Evicts bool
	// Cycles counts the scheduling cycles; Bound says what cut the run, empty when
	// it came to rest.
	Cycles int
	Bound  string
}

// Preemption is one preemption. Preemptor is the zero key where it is not one of
// the Workloads of the run.
type Preemption struct {
	Victim       world.Key
	Preemptor    world.Key
	PreemptorUID types.UID
	Reason       string // Kueue's: InClusterQueue, InCohortReclamation, ...
}

// Eviction is an eviction that is no preemption.
type Eviction struct {
	Workload        world.Key
	Reason, Message string
}

// Readiness is what Kueue's cache says of a ClusterQueue before and after.
type Readiness struct {
	ClusterQueue                string
	Before, After               bool
	ReasonBefore, ReasonAfter   string
	MessageBefore, MessageAfter string
}
