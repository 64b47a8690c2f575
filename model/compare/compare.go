// Package compare holds an exported state against the state of now and answers
// whether everything that ran then is still there. Pure: values in, values out.
package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

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

// Kept reports whether nothing was lost and nothing changed: nobody evicted, even for
// a while, nobody gone, and the specs are as they were.
func (r *Result) Kept() bool {
	return len(r.Evicted)+len(r.Readmitted)+len(r.Stopped)+len(r.Lost)+len(r.Specs)+len(r.Unknown) == 0
}

// Of compares. scope is what then is of: Workloads outside it are not looked at.
// belongs says for Workloads of now where they belong. It does not block and may be
// called from any goroutine.
func Of(then, now *store.Snapshot, scope bundle.Scope, belongs bundle.Queues) Result {
	c := &comparison{then: then, now: now}
	c.unknown()
	if len(c.out.Unknown) > 0 {
		return c.out
	}
	seen := map[types.UID]bool{}
	for _, w := range then.Workloads {
		seen[w.UID] = true
		c.workload(w)
	}
	for _, w := range now.Workloads {
		if !seen[w.UID] && scope.Has(belongs, w.Namespace, w.LocalQueue, w.ClusterQueue) {
			c.out.New = append(c.out.New, w.Ref())
		}
	}
	c.specs()
	c.sort()
	return c.out
}

type comparison struct {
	then, now *store.Snapshot
	byJob     map[types.UID]*world.Workload // of now, by the UID of the owner job
	out       Result
}

// unknown says which lists of now are not all there is: what is missing there would
// be called lost.
func (c *comparison) unknown() {
	for _, k := range []world.Kind{world.KindWorkload, world.KindClusterQueue, world.KindLocalQueue} {
		if f := c.now.Fresh(k); f.Feed != world.Live {
			c.out.Unknown = append(c.out.Unknown, fmt.Sprintf("the %ss of now are not known: %s %s", k, f.Feed, f.Detail))
		}
		if f := c.then.Fresh(k); f.Feed == world.Failing {
			c.out.Unknown = append(c.out.Unknown, fmt.Sprintf("not all %ss of the export can be read: %s", k, f.Detail))
		}
	}
	if ns := c.now.Contract.Namespace; ns != "" {
		c.out.Unknown = append(c.out.Unknown, fmt.Sprintf("only Workloads of namespace %s are read now", ns))
	}
}

func (c *comparison) workload(was *world.Workload) {
	is := c.now.Workload(was.UID)
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

// specs compares the specs of what decides who is admitted.
func (c *comparison) specs() {
	type pair struct{ was, is string }
	all := map[string]pair{}
	put := func(k world.Kind, key world.Key, spec string, old bool) {
		name := world.Ref{Kind: k, Key: key}.String()
		p := all[name]
		if old {
			p.was = spec + " "
		} else {
			p.is = spec + " "
		}
		all[name] = p
	}
	for i, s := range []*store.Snapshot{c.then, c.now} {
		known := func(k world.Kind) bool {
			return c.then.Fresh(k).Feed == world.Live && c.now.Fresh(k).Feed == world.Live
		}
		for _, q := range s.ClusterQueues {
			put(world.KindClusterQueue, q.Key, q.Spec, i == 0)
		}
		for _, q := range s.LocalQueues {
			put(world.KindLocalQueue, q.Key, q.Spec, i == 0)
		}
		if known(world.KindCohort) {
			for _, q := range s.Cohorts {
				put(world.KindCohort, q.Key, q.Spec, i == 0)
			}
		}
		if known(world.KindResourceFlavor) {
			for _, f := range s.Flavors {
				put(world.KindResourceFlavor, f.Key, f.Spec, i == 0)
			}
		}
		if known(world.KindWorkloadPriorityClass) {
			for _, p := range s.PriorityClasses {
				put(world.KindWorkloadPriorityClass, p.Key, fmt.Sprintf(`{"value":%d}`, p.Value), i == 0)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch p := all[name]; {
		case p.was == p.is:
		case p.was == "":
			c.out.Specs = append(c.out.Specs, SpecChange{Object: name, Note: "new"})
		case p.is == "":
			c.out.Specs = append(c.out.Specs, SpecChange{Object: name, Note: "gone"})
		default:
			if d := diff(p.was, p.is); len(d) > 0 {
				c.out.Specs = append(c.out.Specs, SpecChange{Object: name, Note: "changed", Diff: d})
			}
		}
	}
}

func diff(was, is string) []string {
	asYAML := func(spec string) string {
		y, err := yaml.JSONToYAML([]byte(spec))
		if err != nil {
			return spec
		}
		return string(y)
	}
	a, b := asYAML(was), asYAML(is)
	if a == b {
		return nil
	}
	return text.Lines(udiff.Unified("then", "now", a, b))
}

func (c *comparison) sort() {
	for _, l := range [][]world.Ref{c.out.Same, c.out.Finished, c.out.New} {
		slices.SortFunc(l, func(a, b world.Ref) int { return a.Key.Compare(b.Key) })
	}
	for _, l := range [][]Change{c.out.Evicted, c.out.Readmitted, c.out.Started, c.out.Stopped, c.out.Lost} {
		slices.SortFunc(l, func(a, b Change) int { return a.Ref.Key.Compare(b.Ref.Key) })
	}
}
