// Package health says what of a cluster needs a person: alerts, each with the
// object that must change or be looked at, and figures of how the queues serve.
//
// Pure: values in, values out. What cannot be read makes no alert and no figure.
package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/pods"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Class is what an alert is about: the class of the Workloads that it stops, or
// one of those below.
type Class string

// The classes that no Workload has.
const (
	Controller   Class = "controller"   // a part of Kueue does not work
	Readiness    Class = "readiness"    // whether it works is not known
	Debt         Class = "debt"         // more is in use than all quota of a tree
	Stuck        Class = "stuck"        // an eviction or a retry that does not end
	Burst        Class = "preemptions"  // preemptions that came soon after a change of a spec
	PingPong     Class = "pingPong"     // Workloads that preempt each other in turn
	NeverFits    Class = "neverFits"    // Workloads that no quota could ever serve
	StaleStatus  Class = "staleStatus"  // a queue's status that is not to be believed
	Strangers    Class = "strangers"    // pods that take a flavor's nodes outside Kueue
	UnusedFlavor Class = "unusedFlavor" // a ResourceFlavor that nothing has quota of
)

// Severity is how much an alert matters.
type Severity string

// The severities. Critical: somebody is stuck until a person acts. Warning: a
// person should act. Info: to know, nothing is wrong with Kueue.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
	Info     Severity = "info"
)

// rank orders severities, the greater the more severe.
func (s Severity) rank() int {
	switch s {
	case Critical:
		return 2
	case Warning:
		return 1
	}
	return 0
}

func worse(a, b Severity) Severity {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// KindKueue is the kind of the objects of alerts about Kueue itself, whose own
// objects may have any name. Their names are those that the report gives to the
// parts: controller, validatingWebhook, conversionWebhook, visibility.
const KindKueue world.Kind = "Kueue"

// Alert is one thing to act on or to know. There is one for each class and
// object.
type Alert struct {
	Class    Class
	Severity Severity
	// Object is what must change or be looked at. Its UID is empty where the object
	// does not exist or is not known.
	Object world.Ref
	// Explanation is one or a few plain sentences with the numbers.
	Explanation string
	Advice      reason.Advice
	Actor       string // who must act, one phrase; empty: nobody
	// Count is the number of Workloads that it stops; 0 where it stops none now. In
	// alerts of one class no Workload is counted twice.
	Count int
	// Since is since when the object is so by its own word: a hold's record, or the
	// last change of the condition that says it; zero: not known.
	Since time.Time
	// Longest is the longest wait so far of the Workloads that it stops; nil where none
	// of them waits.
	Longest *time.Duration
}

// Input is what the alerts are made from.
type Input struct {
	Snapshot *store.Snapshot
	// Explanations are those of Snapshot.Workloads, in their order.
	Explanations []reason.Explanation
	// Chains are those of the snapshot that are not over (chain.All).
	Chains    []chain.Chain
	Strangers []pods.Stranger
	Now       time.Time
}

// Who can act, beside those that reason names.
const (
	platformAdmin = "platform admin"
	holder        = "whoever holds the queue"
)

// Alerts lists what needs a person: the most severe first, then those that stop
// the most Workloads, then by object. Its time is linear in Workloads, queues and
// quota cells.
func Alerts(in Input) []Alert {
	c := newCollector(in)
	c.workloads(in.Explanations)
	c.queues()
	c.cycles()
	c.debts(in.Explanations)
	c.stale()
	c.readiness()
	c.pingPong(in.Chains)
	c.bursts()
	c.strangers(in.Strangers)
	c.unusedFlavors()
	c.rest()
	out := make([]Alert, 0, len(c.found))
	for _, a := range c.found {
		out = append(out, *a)
	}
	slices.SortFunc(out, func(a, b Alert) int {
		return cmp.Or(cmp.Compare(b.Severity.rank(), a.Severity.rank()), cmp.Compare(b.Count, a.Count), compareRefs(a.Object, b.Object), strings.Compare(string(a.Class), string(b.Class)))
	})
	return out
}

func compareRefs(a, b world.Ref) int {
	return cmp.Or(strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
