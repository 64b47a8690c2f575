package reason

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"cli.holdfast.dev/holdfast/model/requests"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Who can act, as they are named on the screen.
const (
	jobOwner   = "job owner"
	queueAdmin = "platform admin"
	checkOwner = "owner of the admission check"
	holder     = "whoever holds the queue"
)

// Explainer explains the Workloads of one snapshot at one time. It remembers what
// it worked out, since most Workloads are like another one. It is for one
// goroutine; nothing of it blocks.
type Explainer struct {
	s        *store.Snapshot
	now      time.Time
	requests *requests.Counter
	specs    map[string]*corev1.PodSpec
	matches  map[match]refusal
	queues   map[string][]finding
	locals   map[string][]*world.LocalQueue // by ClusterQueue
	aside    map[string][]*world.Workload   // by ClusterQueue, see asides
	changed  map[string]time.Time           // the last change of a Workload, by ClusterQueue
}

// New returns an Explainer. now is the clock's time.
func New(s *store.Snapshot, now time.Time) *Explainer {
	return &Explainer{
		s: s, now: now, requests: requests.New(s),
		specs: map[string]*corev1.PodSpec{}, matches: map[match]refusal{}, queues: map[string][]finding{},
	}
}

// Explain says why w, a Workload of the Explainer's snapshot, stands where it
// stands.
func (x *Explainer) Explain(w *world.Workload) Explanation {
	e := x.explain(w)
	if c, ok := w.Conditions.Get(lastWord(w)); ok && (w.State != world.Pending || c.Status != "True") {
		e.Reason, e.Message, e.MessageAt = c.Reason, c.Message, c.At
	}
	return e
}

// lastWord is the type of the condition that says most of the Workload's state.
func lastWord(w *world.Workload) string {
	switch w.State {
	case world.Evicting, world.Deactivated:
		return world.CondEvicted
	case world.Finished:
		return world.CondFinished
	case world.Admitted:
		if c, ok := w.Conditions.Get(world.CondPodsReady); ok && c.Status != "True" {
			return world.CondPodsReady
		}
		return world.CondAdmitted
	case world.Reserving:
		if c, ok := w.Conditions.Get(world.CondAdmitted); ok && c.Status != "True" {
			return world.CondAdmitted
		}
	}
	return world.CondQuotaReserved
}

func (x *Explainer) explain(w *world.Workload) Explanation {
	switch w.State {
	case world.Finished:
		c, _ := w.Conditions.Get(world.CondFinished)
		return Explanation{Class: OK, Advice: AdviceNone, Sentence: "Finished: " + words(c.Reason, c.Message) + "."}
	case world.Deactivated:
		return deactivated(w)
	case world.Evicting:
		return x.evicting(w)
	case world.Admitted:
		return admitted(w)
	case world.Reserving:
		return x.reserving(w)
	}
	return x.pending(w)
}

func deactivated(w *world.Workload) Explanation {
	e := Explanation{
		Class: Deactivated, Advice: AdviceChange, Actor: jobOwner,
		Sentence:  "Deactivated (spec.active is false): nobody tries it again until it is set to true.",
		Obstacles: []Obstacle{{Kind: ObstacleDeactivated, Object: w.Ref().String(), Detail: "spec.active is false"}},
	}
	c, ok := w.Conditions.Get(world.CondEvicted)
	cause, due := strings.CutPrefix(c.Reason, "DeactivatedDueTo")
	rejected := rejections(w)
	switch {
	case len(rejected) > 0:
		e.Sentence = fmt.Sprintf("Deactivated because %s: settle that, then set spec.active to true.", strings.Join(rejected, ", "))
	case ok && due:
		e.Sentence = fmt.Sprintf("Deactivated by Kueue because of %s: fix that, then set spec.active to true.", cause)
	case len(w.Evictions) > 0 && deactivatedBy(w) != "":
		e.Sentence = fmt.Sprintf("Deactivated by Kueue because of %s: fix that, then set spec.active to true.", deactivatedBy(w))
	}
	if w.Conditions.True(world.CondQuotaReserved) && w.ClusterQueue != "" {
		e.Sentence += " Its job may still be stopping; the quota is free already."
	}
	return e
}

// deactivatedBy is the cause that the eviction counts give.
func deactivatedBy(w *world.Workload) string {
	for _, ev := range w.Evictions {
		if ev.Reason == "Deactivated" && ev.Cause != "" {
			return ev.Cause
		}
		if cause, ok := strings.CutPrefix(ev.Reason, "DeactivatedDueTo"); ok {
			return cause
		}
	}
	return ""
}

// rejections names the checks that rejected the Workload, also before an eviction
// reset their states.
func rejections(w *world.Workload) []string {
	var out []string
	for _, c := range w.Checks {
		if c.State == "Rejected" || strings.Contains(c.Message, "Previously: Rejected") {
			out = append(out, "admission check "+c.Name+" rejected it")
		}
	}
	return out
}

func (x *Explainer) evicting(w *world.Workload) Explanation {
	c, _ := w.Conditions.Get(world.CondEvicted)
	e := Explanation{Class: evictionClass(c.Reason), Advice: AdviceWait}
	age := since(x.now, c.At)
	e.Sentence = fmt.Sprintf("Being evicted (%s) for %s: its pods have not ended, the quota is still taken.", c.Reason, age)
	if !c.At.IsZero() && x.now.Sub(c.At) > patience+w.Grace {
		e.Advice, e.Actor, e.Stuck = AdviceEscalate, jobOwner+" or "+queueAdmin, true
		e.Sentence = fmt.Sprintf("Eviction (%s) has not ended for %s: the job still has active pods and holds its quota.", c.Reason, age)
		if late := x.now.Sub(w.RequeueAt); !w.RequeueAt.IsZero() && late > 0 {
			e.Sentence += fmt.Sprintf(" Its retry has been due for %s.", short(late))
		}
	}
	return e
}

func evictionClass(reason string) Class {
	switch reason {
	case "Preempted", "FlavorMigration":
		return Preempted
	case "PodsReadyTimeout":
		return PodsNotReady
	case "AdmissionCheck":
		return AdmissionCheck
	case "ClusterQueueStopped", "LocalQueueStopped":
		return Held
	case "NodeFailures":
		return NodeFailure
	}
	if strings.HasPrefix(reason, "Deactivated") {
		return Deactivated
	}
	return Unclear
}

func admitted(w *world.Workload) Explanation {
	if len(w.UnhealthyNodes) > 0 {
		return Explanation{
			Class: NodeFailure, Advice: AdviceWait, Actor: "infrastructure",
			Sentence: "Admitted; Kueue is replacing failed nodes: " + strings.Join(w.UnhealthyNodes, ", ") + ".",
		}
	}
	c, ok := w.Conditions.Get(world.CondPodsReady)
	switch {
	case !ok:
		return Explanation{Class: OK, Advice: AdviceNone, Sentence: "Admitted; whether its pods run is not known."}
	case c.Status == "True":
		return Explanation{Class: OK, Advice: AdviceNone, Sentence: "Admitted, and its pods are ready."}
	}
	return Explanation{
		Class: PodsNotReady, Advice: AdviceWait, Actor: jobOwner,
		Sentence: "Admitted, but its pods are not ready: " + words(c.Reason, c.Message) + ".",
	}
}

// words prefers a message over a reason and takes the full stop away.
func words(reason, message string) string {
	if message != "" {
		return strings.TrimSuffix(message, ".")
	}
	if reason != "" {
		return reason
	}
	return "no reason given"
}

// since is the time since at in words, also where nobody wrote down when that was.
func since(now, at time.Time) string {
	if at.IsZero() {
		return "an unknown time"
	}
	return short(now.Sub(at))
}

// short writes a duration as a person says it: 45s, 12m, 2h05m, 30h, 5d.
func short(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 10*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
