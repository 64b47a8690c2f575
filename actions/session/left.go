package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Left is what is not well with the queues of a session, in sentences: a rollback gives
// no quota back, and somebody may have stopped a queue again.
type Left struct {
	// Unknown says what could not be looked at, Stopped which of the session's queues
	// are stopped or gone, and Over which queues of their tree use more than they may.
	Unknown, Stopped, Over []string
}

// Lines are all of them, what is not known first.
func (l Left) Lines() []string { return slices.Concat(l.Unknown, l.Stopped, l.Over) }

// LeftOf looks at the target in the snapshot. It does not block.
func LeftOf(s *store.Snapshot, t Target) Left {
	var out Left
	if err := actions.Unread(s, t.Ref()); err != nil {
		what, _, _ := strings.Cut(err.Error(), "\n")
		return Left{Unknown: []string{text.Clean(what)}}
	}
	for _, r := range t.queues(s) {
		switch p, h, ok := stop(s, r); {
		case !ok:
			out.Stopped = append(out.Stopped, fmt.Sprintf("%s %s is not there any more.", r.Kind, r.Key))
		case p.Stopped() && h != nil && h.By != "":
			out.Stopped = append(out.Stopped, text.Clean(fmt.Sprintf("%s %s is stopped (%s, by %s).", r.Kind, r.Key, p, h.By)))
		case p.Stopped():
			out.Stopped = append(out.Stopped, fmt.Sprintf("%s %s is stopped (%s).", r.Kind, r.Key, p))
		}
	}
	for _, k := range []world.Kind{world.KindClusterQueue, world.KindCohort, world.KindWorkload} {
		if f := s.Fresh(k); f.Feed != world.Live && (k != world.KindCohort || f.Feed != world.Absent) {
			out.Unknown = append(out.Unknown, fmt.Sprintf("Whether a queue of its tree uses more than it may is not known: the list of %ss is %s.", k, f.Feed))
			return out
		}
	}
	queues := treeOf(s, t)
	seen := map[*quota.Node]bool{}
	for _, name := range queues {
		n := s.Tree.ClusterQueue(name)
		if n == nil {
			continue
		}
		out.Over = append(out.Over, overuse(n)...)
		for up := n.Parent; up != nil && !seen[up] && up.Cycle == nil; up = up.Parent {
			seen[up] = true
			out.Over = append(out.Over, overuse(up)...)
		}
	}
	return out
}

// queues are the target's own queues: itself, or the ClusterQueues below the cohort.
func (t Target) queues(s *store.Snapshot) []world.Ref {
	if t.Kind == world.KindCohort {
		return actions.QueuesBelow(s, t.Name)
	}
	return []world.Ref{t.Ref()}
}

// stop says how the queue is stopped; false: there is none.
func stop(s *store.Snapshot, r world.Ref) (world.StopPolicy, *world.HoldRecord, bool) {
	if r.Kind == world.KindLocalQueue {
		if q := s.LocalQueue(r.Key); q != nil {
			return q.StopPolicy, q.Hold, true
		}
	} else if q := s.ClusterQueue(r.Name); q != nil {
		return q.StopPolicy, q.Hold, true
	}
	return "", nil, false
}

// treeOf names the ClusterQueues that share quota with the target.
func treeOf(s *store.Snapshot, t Target) []string {
	kind, name, _ := strings.Cut(rootOf(s, t), " ")
	if kind == "queue" {
		return []string{name}
	}
	var out []string
	for _, r := range actions.QueuesBelow(s, name) {
		out = append(out, r.Name)
	}
	return out
}

// overuse says of each cell of the node that is used more than it may be what that means.
// The debt of a Cohort is that of the queues below it.
func overuse(n *quota.Node) []string {
	who, drain := "nothing else starts there on that quota", "drain the queue"
	if n.Parent != nil {
		who = "nobody in its cohort gets that quota"
	}
	if n.Kind == world.KindCohort {
		drain = "drain a queue below it"
	}
	var out []string
	for i := range n.Cells {
		c := n.Cells[i]
		words := n.Overuse(c)
		if words == "" || n.Kind == world.KindCohort && c.UncoveredMost > 0 {
			continue
		}
		out = append(out, text.Clean(fmt.Sprintf("%s %s is %s of %s %s: what runs there runs on, and %s until it ends or is evicted (%s).",
			n.Kind, n.Name, words, c.Resource, c.Flavor, who, drain)))
	}
	return out
}

// close notes what is left in the cluster when nothing of the session is left to do, and
// forgets it when something is again.
func (r *Runner) close(s *Session) {
	s.Left, s.LeftAt = nil, time.Time{}
	if s.Over() {
		s.Left, s.LeftAt = cleaned(LeftOf(r.World(), s.Target).Lines()), r.Now().UTC()
	}
}
