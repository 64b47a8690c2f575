// Package reason says why a Workload stands where it stands and what would help.
//
// It reads Kueue's conditions and checks them against the quota arithmetic and
// the objects they speak of; what it cannot tell it calls unknown. Pure: values
// in, values out.
package reason

import (
	"time"

	"cli.holdfast.dev/holdfast/model/world"
)

// Class is what stops a Workload now.
type Class string

// The classes. OK says only that nothing in Kueue stops the Workload.
const (
	OK                Class = "ok"
	Quota             Class = "quota"
	Flavor            Class = "flavor"
	Topology          Class = "topology"
	AdmissionCheck    Class = "admissionCheck"
	Webhook           Class = "webhook"
	NamespaceSelector Class = "namespaceSelector"
	Held              Class = "held"
	Misconfigured     Class = "misconfigured"
	Preempted         Class = "preempted"
	Backoff           Class = "backoff"
	PodsNotReady      Class = "podsNotReady"
	Gated             Class = "gated"
	Deactivated       Class = "deactivated"
	NodeFailure       Class = "nodeFailure"
	QueueOrder        Class = "queueOrder"
	Unclear           Class = "unknown"
)

// Advice is what a person should do about it.
type Advice string

// The pieces of advice.
const (
	AdviceNone     Advice = "none"
	AdviceWait     Advice = "wait"
	AdviceChange   Advice = "change"
	AdviceEscalate Advice = "escalate"
)

// ObstacleKind names something that must change before a Workload can start.
type ObstacleKind string

// The kinds of obstacle.
const (
	ObstacleQuota               ObstacleKind = "quota"
	ObstacleFlavorMismatch      ObstacleKind = "flavorMismatch"
	ObstacleFlavorMissing       ObstacleKind = "flavorMissing"
	ObstacleTopology            ObstacleKind = "topology"
	ObstacleCheckMissing        ObstacleKind = "checkMissing"
	ObstacleCheckInactive       ObstacleKind = "checkInactive"
	ObstacleCheckPending        ObstacleKind = "checkPending"
	ObstacleCheckRejected       ObstacleKind = "checkRejected"
	ObstacleNamespaceSelector   ObstacleKind = "namespaceSelector"
	ObstacleLocalQueueMissing   ObstacleKind = "localQueueMissing"
	ObstacleClusterQueueMissing ObstacleKind = "clusterQueueMissing"
	ObstacleLocalQueueHeld      ObstacleKind = "localQueueHeld"
	ObstacleClusterQueueHeld    ObstacleKind = "clusterQueueHeld"
	ObstacleCohortCycle         ObstacleKind = "cohortCycle"
	ObstacleGate                ObstacleKind = "gate"
	ObstacleBackoff             ObstacleKind = "backoff"
	ObstacleDeactivated         ObstacleKind = "deactivated"
	ObstacleWebhook             ObstacleKind = "webhook"
	ObstacleJobSpec             ObstacleKind = "jobSpec"
)

// Obstacle is one thing in the way. Object is "Kind/name" or
// "Kind/namespace/name", empty where no object is to blame.
type Obstacle struct {
	Kind   ObstacleKind
	Object string
	Detail string
}

// Explanation is the answer for one Workload.
type Explanation struct {
	Class  Class
	Advice Advice
	Actor  string // who must act, one phrase; empty: nobody
	// Sentence is one plain sentence with the numbers.
	Sentence string
	// Reason and Message are Kueue's own words, MessageAt when it wrote them; empty
	// where it has said nothing.
	Reason, Message string
	MessageAt       time.Time
	// Stuck is set when an eviction, a retry or a check is long overdue: nothing
	// will happen until somebody looks.
	Stuck bool
	// NeverFits is set when the arithmetic shows that no flavor can ever serve the
	// Workload under today's quota; nil when that cannot be told.
	NeverFits *bool
	Obstacles []Obstacle
	Shortfall []Shortfall
}

// never reports whether it is known that nothing fits.
func (e *Explanation) never() bool { return e.NeverFits != nil && *e.NeverFits }

// Shortfall is what must come back in one flavor that could serve the Workload,
// debt included.
type Shortfall struct {
	world.FlavorResource
	Need, Free, Most, Missing world.Amount
}
