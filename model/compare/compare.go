// Package compare holds an exported state against the state of now and answers
// whether everything that ran then is still there. Pure: values in, values out.
package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Result is what became of the Workloads of a scope and of the queues. Each Workload
// is in one list; the lists are in the order of namespace and name.
type Result struct {
	// Same hold their quota without a break, in the same flavors, or wait as they did;
	// Running is how many of them hold quota.
	Same    []world.Ref
	Running int
	// Evicted held quota and do not now, or are about to lose it.
	Evicted []Change
	// Readmitted lost their quota in between and hold some again.
	Readmitted []Change
	// Started waited and hold quota now.
	Started []Change
	// Stopped waited and are deactivated now.
	Stopped []Change
	// Lost were not finished and are gone.
	Lost []Change
	// Finished were not finished and are, New were not there. What finished before and
	// is gone now is in no list.
	Finished, New []world.Ref
	// Specs are the objects whose spec is another one, or that came or went.
	Specs []SpecChange
	// Unknown are sentences on what could not be compared.
	Unknown []string
}

// Verdict answers whether everything was kept.
type Verdict uint8

// The verdicts.
const (
	// Kept: nobody was evicted, even for a while, nobody is gone, and the specs are as
	// they were.
	Kept Verdict = iota
	// NotKept: somebody or something was not, whatever else is unknown.
	NotKept
	// Unknown: nothing speaks against it, but not all could be compared.
	Unknown
)

// Change is what became of one Workload.
type Change struct {
	Ref world.Ref
	Job string
	// Before and After are its flavors by resource, as text ("cpu: spot"); empty where it
	// held or holds none.
	Before, After string
	// Note is one sentence without a full stop.
	Note string
}

// SpecChange is one object whose spec differs. Diff is a unified diff of the specs
// as YAML, one line an entry; it is empty where the object came or went.
type SpecChange struct {
	Object string
	Note   string // "changed", "new" or "gone"
	Diff   []string
}

// Verdict says whether everything was kept.
func (r *Result) Verdict() Verdict {
	switch {
	case len(r.Evicted)+len(r.Readmitted)+len(r.Stopped)+len(r.Lost)+len(r.Specs) > 0:
		return NotKept
	case len(r.Unknown) > 0:
		return Unknown
	}
	return Kept
}

// Of compares the state of an export, with its manifest, with now. Workloads outside
// the export's scope are not looked at; belongs says for Workloads of now where they
// belong. It does not block and may be called from any goroutine.
func Of(then *store.Snapshot, m *bundle.Manifest, now *store.Snapshot, belongs bundle.Queues) Result {
	c := &comparison{then: then, now: now, scope: m.Scope}
	if why := c.apart(m); why != "" {
		c.out.Unknown = append(c.out.Unknown, why)
		return c.out
	}
	if c.complete() {
		c.workloads(belongs)
	}
	c.specs()
	c.sort()
	return c.out
}

type comparison struct {
	then, now *store.Snapshot
	scope     bundle.Scope
	byJob     map[types.UID]*world.Workload // of now, by the UID of the owner job
	out       Result
}

// apart says that the two states are of different clusters, where all would be lost
// and all new; empty where they are not known to be.
func (c *comparison) apart(m *bundle.Manifest) string {
	ns := c.now.Namespace(metav1.NamespaceSystem)
	if m.ClusterUID == "" || ns == nil || ns.UID == "" || string(ns.UID) == m.ClusterUID {
		return ""
	}
	return text.Clean(fmt.Sprintf("the export is of another cluster (context %s, server %s, %s's UID %s; here it is %s): use its --context", m.Context, m.Server, metav1.NamespaceSystem, m.ClusterUID, ns.UID))
}

// complete reports whether the Workloads of both states are all there are, and says
// what is not: what is missing now would be called lost.
func (c *comparison) complete() bool {
	before := len(c.out.Unknown)
	if f := c.then.Fresh(world.KindWorkload); f.Feed != world.Live {
		c.out.Unknown = append(c.out.Unknown, "Workloads: not all of the export can be read"+because(f))
	}
	if f := c.now.Fresh(world.KindWorkload); f.Feed != world.Live {
		c.out.Unknown = append(c.out.Unknown, fmt.Sprintf("Workloads: those of now are not known, their list is %s%s", f.Feed, because(f)))
	}
	if limit := c.now.Contract.Limit(); limit != "" && limit != c.scope.String() && (c.now.Contract.Namespace == "" || c.scope.InNamespace() != c.now.Contract.Namespace) {
		c.out.Unknown = append(c.out.Unknown, fmt.Sprintf("Workloads: only those of %s are known now, the export is of %s", limit, c.scope))
	}
	return len(c.out.Unknown) == before
}

func because(f world.Freshness) string {
	if f.Detail == "" {
		return ""
	}
	return ": " + f.Detail
}

func (c *comparison) workloads(belongs bundle.Queues) {
	seen := map[world.Ref]bool{}
	for _, w := range c.then.Workloads {
		seen[w.Ref()] = true
		c.workload(w)
	}
	// Without the LocalQueues nobody knows to which queue a pending Workload belongs.
	if f := c.now.Fresh(world.KindLocalQueue); f.Feed != world.Live && (c.scope.Cohort != "" || c.scope.ClusterQueue != "") {
		c.out.Unknown = append(c.out.Unknown, fmt.Sprintf("which Workloads are new: the list of LocalQueues is %s now%s", f.Feed, because(f)))
	}
	for _, w := range c.now.Workloads {
		if !seen[w.Ref()] && c.scope.Has(belongs, w.Namespace, w.LocalQueue, w.ClusterQueue) {
			c.out.New = append(c.out.New, w.Ref())
		}
	}
}

func (c *comparison) workload(was *world.Workload) {
	is := c.now.WorkloadOf(was.Ref())
	over := was.State == world.Finished || was.State == world.Deactivated
	x := Change{Ref: was.Ref(), Job: was.JobName(), Before: flavors(was)}
	if is == nil {
		if was.State != world.Finished {
			x.Note = c.again(was)
			c.out.Lost = append(c.out.Lost, x)
		}
		return
	}
	x.After = flavors(is)
	held, holds := keeps(was), keeps(is)
	switch {
	case is.State == world.Finished && held && since(was, is):
		x.Note = "it lost its quota in between" + evictionOf(is) + ", and finished"
		c.out.Readmitted = append(c.out.Readmitted, x)
	case is.State == world.Finished:
		if was.State != world.Finished {
			c.out.Finished = append(c.out.Finished, x.Ref)
		}
	case held && holds && !since(was, is) && x.Before == x.After:
		c.out.Same, c.out.Running = append(c.out.Same, x.Ref), c.out.Running+1
	case held && holds:
		x.Note = "it lost its quota in between" + evictionOf(is)
		if !since(was, is) {
			x.Note = "its flavors are others"
		}
		c.out.Readmitted = append(c.out.Readmitted, x)
	case held:
		x.Note = "it is " + is.State.String() + " now" + evictionOf(is)
		c.out.Evicted = append(c.out.Evicted, x)
	case holds:
		c.out.Started = append(c.out.Started, x)
	case is.State == world.Deactivated && !over:
		x.Note = "it is deactivated now"
		c.out.Stopped = append(c.out.Stopped, x)
	default:
		c.out.Same = append(c.out.Same, x.Ref)
	}
}

// keeps reports whether the Workload holds quota and is not about to lose it.
func keeps(w *world.Workload) bool { return w.HoldsQuota() && w.State != world.Evicting }

// since reports whether the Workload got its quota later than it had then.
func since(was, is *world.Workload) bool {
	a, _ := was.Conditions.Get(world.CondQuotaReserved)
	b, _ := is.Conditions.Get(world.CondQuotaReserved)
	return b.At.After(a.At)
}

// evictionOf tells of the last eviction; empty: no condition does.
func evictionOf(w *world.Workload) string {
	e, ok := w.Conditions.Get(world.CondEvicted)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" (evicted %s: %s)", e.At.UTC().Format(time.RFC3339), e.Reason)
}

// again says whether the job of a Workload that is gone has another one now.
func (c *comparison) again(was *world.Workload) string {
	if was.Owner == nil || was.Owner.UID == "" {
		return "it is gone"
	}
	if c.byJob == nil {
		c.byJob = map[types.UID]*world.Workload{}
		for _, w := range c.now.Workloads {
			if w.Owner != nil && w.Owner.UID != "" {
				c.byJob[w.Owner.UID] = w
			}
		}
	}
	if w := c.byJob[was.Owner.UID]; w != nil {
		return fmt.Sprintf("it is gone; its job has Workload %s now, which is %s", w.Key, w.State)
	}
	return "it is gone, and its job has no other one"
}

// flavors are the Workload's flavors by pod set and resource.
func flavors(w *world.Workload) string {
	if !w.HoldsQuota() {
		return ""
	}
	var out []string
	for _, p := range w.PodSets {
		for _, r := range slices.Sorted(maps.Keys(p.Flavors)) {
			one := r + ": " + p.Flavors[r]
			if len(w.PodSets) > 1 {
				one = p.Name + " " + one
			}
			out = append(out, one)
		}
	}
	return strings.Join(out, ", ")
}

func (c *comparison) sort() {
	for _, l := range [][]world.Ref{c.out.Same, c.out.Finished, c.out.New} {
		slices.SortFunc(l, func(a, b world.Ref) int { return a.Key.Compare(b.Key) })
	}
	for _, l := range [][]Change{c.out.Evicted, c.out.Readmitted, c.out.Started, c.out.Stopped, c.out.Lost} {
		slices.SortFunc(l, func(a, b Change) int { return a.Ref.Key.Compare(b.Ref.Key) })
	}
}
