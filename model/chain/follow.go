package chain

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/position"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Options is what chains may use beside the snapshot.
type Options struct {
	// Events, of both APIs, name Workloads that are gone. Kueue's live an hour.
	Events []world.Event
	// Checkpoint is the annotation key by which jobs record their progress; empty:
	// none was configured.
	Checkpoint string
}

// All returns the chains that are not over, sorted by their first victim: each
// begins with a Workload that was preempted and holds no quota again since, and
// none begins inside another, so a victim for which others were preempted is found
// in their chains. Preemptions that are over (History) appear only as later links;
// ask Of for those of one Workload.
//
// The work is linear in the number of Workloads and events and the links
// returned; victims of one preemptor each have a chain of their own.
func All(s *store.Snapshot, o Options) []Chain { return New(s, o).All() }

// Of returns the chain from the Workload, which must be of the snapshot, up; nil
// when nothing is known of a preemption of it. Its first link may be History. For
// many Workloads use a Finder.
func Of(s *store.Snapshot, w *world.Workload, o Options) *Chain { return New(s, o).Of(w) }

// Finder follows the preemptions of one snapshot and remembers what it found. It
// is for one goroutine; nothing of it blocks.
type Finder struct {
	s          *store.Snapshot
	checkpoint string
	events     memory
	found      map[node]link
}

// New returns a Finder. It reads each event once.
func New(s *store.Snapshot, o Options) *Finder {
	return &Finder{s: s, checkpoint: o.Checkpoint, events: remember(o.Events), found: map[node]link{}}
}

// node is a Workload on a chain: its row, or the UID alone of one that is gone.
type node struct {
	row *world.Workload
	uid types.UID
}

func at(w *world.Workload) node { return node{w, w.UID} }

// link is the step from a victim to who preempted it.
type link struct {
	step Step
	by   node // the zero node when nobody is known
	ok   bool // whether anything is known of a preemption
}

// All is the function All.
func (f *Finder) All() []Chain {
	var victims []*world.Workload
	for _, w := range f.s.Workloads {
		if w.Preempted != nil && !w.Preempted.History {
			victims = append(victims, w)
		}
	}
	passed := map[node]bool{} // by the chain of another
	for _, v := range victims {
		for n := f.link(at(v)).by; n != (node{}) && !passed[n]; n = f.link(n).by {
			passed[n] = true
		}
	}
	var out []Chain
	on := map[member]bool{}
	start := func(v *world.Workload) {
		c := f.follow(at(v))
		for i := range c.Links {
			on[c.Links[i].victim()] = true
		}
		out = append(out, c)
	}
	for _, v := range victims {
		if !passed[at(v)] {
			start(v)
		}
	}
	// What is left is on loops to which nobody else leads: they begin with their
	// last victim.
	slices.SortStableFunc(victims, func(a, b *world.Workload) int { return b.Preempted.At.Compare(a.Preempted.At) })
	for _, v := range victims {
		if !on[member{v.Key, v.UID}] {
			start(v)
		}
	}
	slices.SortFunc(out, func(a, b Chain) int {
		if a.Links[0].Victim.Less(b.Links[0].Victim) {
			return -1
		}
		return 1 // each begins with another victim
	})
	return out
}

// Of is the function Of.
func (f *Finder) Of(w *world.Workload) *Chain {
	if !f.link(at(w)).ok {
		return nil
	}
	c := f.follow(at(w))
	return &c
}

// Last is the last preemption of the Workload, and false when nothing is known of one.
func (f *Finder) Last(w *world.Workload) (Step, bool) {
	l := f.link(at(w))
	return l.step, l.ok
}

// follow builds the chain from a victim of which a preemption is known.
func (f *Finder) follow(n node) Chain {
	var c Chain
	seen := map[node]int{}
	for {
		if i, again := seen[n]; again {
			for ; i < len(c.Links); i++ {
				c.Links[i].Loop = true
			}
			c.End = Loop
			return c
		}
		l := f.link(n)
		switch {
		case l.ok:
		case n.row != nil:
			c.End = Root
			return c
		default:
			c.End = Unknown
			return c
		}
		seen[n] = len(c.Links)
		c.Links = append(c.Links, l.step)
		n = l.by
	}
}

func (f *Finder) link(n node) link {
	l, ok := f.found[n]
	if !ok {
		if n.row != nil {
			l = f.linkOf(n.row)
		} else if n.uid != "" {
			l = f.linkOfGone(n.uid)
		}
		f.found[n] = l
	}
	return l
}

// linkOf is the last preemption of a Workload that is there: its condition's, and
// what events add to that.
func (f *Finder) linkOf(w *world.Workload) link {
	p, ok := By(f.s, w)
	if !ok {
		return link{}
	}
	t := f.events.last[w.UID]
	if p.PreemptorUID == "" && p.Preemptor == nil && !p.History && w.UID != "" && !t.at.Before(p.At) {
		// The condition names nobody. An event that is not older than it tells of the
		// same preemption, since a later one would have rewritten the condition.
		p.PreemptorUID = t.preemptor
		p.Preemptor, p.Recreated = find(f.s, w, t.preemptor, t.job)
	}
	if p.History && t.preemptor != "" && t.preemptor == p.PreemptorUID {
		p.At = t.at
	}
	priority := w.Priority
	step := Step{
		Victim: w.Key, VictimUID: w.UID, VictimPriority: &priority, PreemptorUID: p.PreemptorUID,
		Reason: p.Reason, Recovery: RecoveryOf(w, f.checkpoint), At: p.At, Recreated: p.Recreated, History: p.History,
	}
	by := f.name(&step, p.Preemptor)
	step.PreemptorQueue = f.queueOf(w, p.Preemptor)
	if q := f.s.ClusterQueue(step.PreemptorQueue); q != nil {
		preemptor, victim := party{priority: step.PreemptorPriority}, party{priority: &priority}
		if p.Preemptor != nil && !p.Recreated {
			a, b := position.QueuedAt(p.Preemptor), position.QueuedAt(w)
			preemptor.queued, victim.queued = &a, &b
		}
		step.PolicyHolds = holds(q.Preemption, step.Reason, preemptor, victim)
	}
	return link{step, by, true}
}

// linkOfGone is the last preemption of a Workload that is gone, as events tell it.
// They do not say in words that are kept why.
func (f *Finder) linkOfGone(uid types.UID) link {
	t, ok := f.events.last[uid]
	if !ok {
		return link{}
	}
	step := Step{
		Victim: f.events.names[uid], VictimUID: uid, VictimPriority: f.events.priorities[uid].value,
		PreemptorUID: t.preemptor, Recovery: RecoveryOf(nil, ""), At: t.at,
	}
	w, recreated := find(f.s, nil, t.preemptor, t.job)
	step.Recreated = recreated
	by := f.name(&step, w)
	if w != nil {
		step.PreemptorQueue, _ = f.s.QueueOf(w)
	}
	return link{step, by, true}
}

// name fills in who the preemptor is and returns where the chain goes on. w is its
// row; nil: events may know a name.
func (f *Finder) name(step *Step, w *world.Workload) node {
	if w != nil {
		key, priority := w.Key, w.Priority
		step.Preemptor, step.PreemptorPriority = &key, &priority
		return at(w)
	}
	if step.PreemptorUID == "" {
		return node{}
	}
	if key, ok := f.events.names[step.PreemptorUID]; ok {
		step.Preemptor = &key
	}
	step.PreemptorPriority = f.events.priorities[step.PreemptorUID].value
	return node{uid: step.PreemptorUID}
}

// queueOf returns the ClusterQueue that took the quota: the last of the path that
// Kueue wrote, else that of the preemptor, else the victim's own where the reason
// says that it is the same.
func (f *Finder) queueOf(victim, preemptor *world.Workload) string {
	p := victim.Preempted
	if p.PreemptorPath != "" {
		return p.PreemptorPath[strings.LastIndexByte(p.PreemptorPath, '/')+1:]
	}
	w := preemptor
	if w == nil && p.Reason == "InClusterQueue" {
		w = victim
	}
	if w == nil {
		return ""
	}
	name, _ := f.s.QueueOf(w)
	return name
}
