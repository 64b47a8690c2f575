package chain

import (
	"regexp"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/world"
)

// Kueue's text (IssuePreemptions in pkg/scheduler/preemption). Versions differ in
// what they append and events are cut at 1024 bytes, so each part is looked for by
// itself. The UIDs of a message come first in it; names hold no spaces.
var (
	preemptedWorkload = regexp.MustCompile(`^Preempted workload ([^\s/]+)/([^\s/]+) \(UID: ([^\s,)]+)\)`)
	accommodated      = regexp.MustCompile(`^Preempted to accommodate a workload \(UID: ([^\s,)]+)(?:, JobUID: ([^\s,)]+))?\)`)
	preemptorPriority = regexp.MustCompile(`preemptor (?:effective )?priority: (-?\d+)`)
	preempteePriority = regexp.MustCompile(`preemptee (?:effective )?priority: (-?\d+)`)
)

// told is a preemption as one event tells it; empty and nil for what it leaves
// out.
type told struct {
	victim, preemptor, job            types.UID
	victimName, preemptorName         world.Key
	victimPriority, preemptorPriority *int32
	at                                time.Time
}

// tell reads an event of Kueue's on the victim (Preempted, EvictedDueToPreempted)
// or on the preemptor (PreemptedWorkload); false for any other. Without the
// victim's UID an event names nobody for certain and is not used.
func tell(e world.Event) (told, bool) {
	t := told{at: e.At, victimPriority: number(preempteePriority, e.Message), preemptorPriority: number(preemptorPriority, e.Message)}
	if e.Kind != world.KindWorkload {
		return told{}, false
	}
	switch e.Reason {
	case "PreemptedWorkload":
		m := preemptedWorkload.FindStringSubmatch(e.Message)
		if m == nil {
			return told{}, false
		}
		t.preemptor, t.preemptorName = e.ObjectUID, e.Object
		t.victim, t.victimName = known(m[3]), world.Key{Namespace: m[1], Name: m[2]}
	case "Preempted", "EvictedDueToPreempted":
		m := accommodated.FindStringSubmatch(e.Message)
		if m == nil {
			return told{}, false
		}
		t.victim, t.victimName = e.ObjectUID, e.Object
		t.preemptor, t.job = known(m[1]), known(m[2])
	default:
		return told{}, false
	}
	return t, t.victim != "" && (t.preemptor != "" || t.job != "")
}

func known(uid string) types.UID {
	if uid == "UNKNOWN" {
		return ""
	}
	return types.UID(uid)
}

func number(re *regexp.Regexp, message string) *int32 {
	m := re.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	if err != nil {
		return nil // beyond what a priority can be
	}
	p := int32(n)
	return &p
}

// memory is what events tell of Workloads that may be gone, by UID. Of several
// events the latest counts.
type memory struct {
	names      map[types.UID]world.Key
	priorities map[types.UID]priority
	last       map[types.UID]told // the last preemption, by the victim's UID
}

type priority struct {
	value *int32
	at    time.Time
}

func remember(events []world.Event) memory {
	m := memory{names: map[types.UID]world.Key{}, priorities: map[types.UID]priority{}, last: map[types.UID]told{}}
	for _, e := range events {
		if e.Kind == world.KindWorkload && e.ObjectUID != "" {
			m.names[e.ObjectUID] = e.Object
		}
		t, ok := tell(e)
		if !ok {
			continue
		}
		if _, ok := m.names[t.victim]; !ok {
			m.names[t.victim] = t.victimName
		}
		m.price(t.victim, t.victimPriority, t.at)
		m.price(t.preemptor, t.preemptorPriority, t.at)
		if old, ok := m.last[t.victim]; ok {
			t = latest(old, t)
		}
		m.last[t.victim] = t
	}
	return m
}

// latest returns the later of two tales of one victim. Kueue writes a preemption
// into several events, not all of which name the job.
func latest(a, b told) told {
	if a.at.After(b.at) {
		a, b = b, a
	}
	if b.job == "" && a.preemptor == b.preemptor {
		b.job = a.job
	}
	return b
}

func (m memory) price(uid types.UID, p *int32, at time.Time) {
	if old, ok := m.priorities[uid]; uid != "" && p != nil && (!ok || !at.Before(old.at)) {
		m.priorities[uid] = priority{p, at}
	}
}
