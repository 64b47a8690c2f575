package ui

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// foretold is a preview sorted for the screen, once, since a frame must not take
// longer when something happens to very many. It is not changed afterwards.
type foretold struct {
	r *impact.Result
	// deeds are what is done to how many Workloads ("PREEMPTS 3 to 5"); hits is set
	// when some lose quota besides those that the action itself is for.
	deeds []string
	hits  bool
	// own are those of the plan's own that lose their quota by the preview, too.
	own int
	// certain happens in every timing, maybe in some.
	certain, maybe      share
	inactive, activated []*impact.Queue
}

// share is what is certain of a preview, or what is not.
type share struct {
	certain   bool
	preempted []preemption
	// victims are those that are preempted, running as many of them as run now, and
	// held is what these use.
	victims, running int
	held             string
	evicted          []*impact.Eviction // others than those that the plan names itself
	over             []*impact.Over
	changed          []*impact.Change
	admitted         []*impact.Admission
	// starters are those that are admitted, gets is what they use then.
	starters int
	gets     string
	cells    []*impact.Cell
}

// preemption is one with its reason in words. first and last are set on the ends
// of what one Workload takes for one reason.
type preemption struct {
	*impact.Preemption
	why         string
	first, last bool
}

func (s *share) empty() bool {
	return len(s.preempted)+len(s.evicted)+len(s.over)+len(s.changed)+len(s.admitted)+len(s.cells) == 0
}

// foretell sorts the preview of a plan.
func foretell(p *actions.Plan) *foretold {
	r := p.Impact
	own := map[world.Key]bool{}
	for _, as := range [][]actions.Affected{p.Evicts, p.LosesReservation} {
		for i := range as {
			own[as[i].Ref.Key] = true
		}
	}
	t := &foretold{r: r, deeds: deeds(r), certain: shareOf(r, own, true), maybe: shareOf(r, own, false)}
	t.hits = len(r.Preempted)+len(t.certain.evicted)+len(t.maybe.evicted) > 0
	found := map[world.Key]bool{}
	for i := range r.Evicted {
		if k := r.Evicted[i].Workload.Ref.Key; own[k] {
			found[k] = true
		}
	}
	t.own = len(found)
	t.inactive = only(r.Queues, func(q *impact.Queue) bool { return !q.ActiveAfter })
	t.activated = only(r.Queues, func(q *impact.Queue) bool { return q.ActiveAfter })
	return t
}

func shareOf(r *impact.Result, own map[world.Key]bool, certain bool) share {
	s := share{
		certain:  certain,
		evicted:  only(r.Evicted, func(x *impact.Eviction) bool { return x.Certain == certain && !own[x.Workload.Ref.Key] }),
		over:     only(r.OverQuota, func(x *impact.Over) bool { return x.Certain == certain }),
		changed:  only(r.Waiting.Changed, func(x *impact.Change) bool { return x.Certain == certain }),
		admitted: only(r.Admitted, func(x *impact.Admission) bool { return x.Certain == certain }),
		cells:    only(r.Quota, func(x *impact.Cell) bool { return x.Certain == certain }),
	}
	preempted := only(r.Preempted, func(x *impact.Preemption) bool { return x.Certain == certain })
	s.preempted = bySide(preempted)
	victims, running, starters := map[world.Key]bool{}, map[world.Key]bool{}, map[world.Key]bool{}
	for _, x := range preempted {
		victims[x.Victim.Ref.Key] = true
		if x.Runs {
			running[x.Victim.Ref.Key] = true
		}
	}
	for _, x := range s.admitted {
		starters[x.Workload.Ref.Key] = true
	}
	s.victims, s.running, s.starters = len(victims), len(running), len(starters)
	if certain {
		s.held, s.gets = uses(r.Before, running), uses(r.After, starters)
	}
	slices.SortStableFunc(s.cells, func(a, b *impact.Cell) int { return cmp.Compare(rank(a), rank(b)) })
	return s
}

func only[T any](all []T, keep func(*T) bool) []*T {
	var out []*T
	for i := range all {
		if keep(&all[i]) {
			out = append(out, &all[i])
		}
	}
	return out
}

// bySide puts together what is for the same reason, and there what is by the same
// Workload, in the order in which they first come.
func bySide(in []*impact.Preemption) []preemption {
	type side struct {
		why string
		by  world.Ref
	}
	whys, sides := map[string]int{}, map[side]int{}
	at := make(map[*impact.Preemption]side, len(in))
	out := make([]preemption, 0, len(in))
	for _, x := range in {
		s := side{whyPreempted(x), x.Preemptor.Ref}
		at[x] = s
		if _, ok := whys[s.why]; !ok {
			whys[s.why] = len(whys)
		}
		if _, ok := sides[s]; !ok {
			sides[s] = len(sides)
		}
		out = append(out, preemption{Preemption: x, why: s.why})
	}
	slices.SortStableFunc(out, func(a, b preemption) int {
		return cmp.Or(cmp.Compare(whys[a.why], whys[b.why]), cmp.Compare(sides[at[a.Preemption]], sides[at[b.Preemption]]))
	})
	for i := range out {
		s := at[out[i].Preemption]
		out[i].first = i == 0 || at[out[i-1].Preemption] != s
		out[i].last = i == len(out)-1 || at[out[i+1].Preemption] != s
	}
	return out
}

// rank orders cells: those whose limits change before those that only fill.
func rank(x *impact.Cell) int {
	switch {
	case x.NominalBefore != x.NominalAfter:
		return 0
	case x.BorrowedBefore != x.BorrowedAfter:
		return 1
	}
	return 2
}

// uses sums what the Workloads hold in a snapshot; empty where that is not known.
func uses(s *store.Snapshot, keys map[world.Key]bool) string {
	if s == nil {
		return ""
	}
	var all [][]world.Use
	for _, k := range slices.SortedFunc(maps.Keys(keys), func(a, b world.Key) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}) {
		w := s.WorkloadByKey(k)
		if w == nil {
			return ""
		}
		all = append(all, w.Usage)
	}
	return usesOf(all)
}

// headline is the preview in a few words, for a title: "PREEMPTS 3 to 5, admits
// 9".
func (t *foretold) headline() string {
	switch {
	case t.r.NotComputed != "":
		return unknownFate
	case len(t.deeds) > 0:
		return strings.Join(t.deeds, ", ")
	}
	return "nobody is admitted or preempted"
}

const unknownFate = "who is preempted is NOT KNOWN"

// deeds are what is done to how many Workloads, what hurts most first.
func deeds(r *impact.Result) []string {
	var out []string
	doubt := false
	add := func(what string, t tally) {
		if t.all == 0 {
			return
		}
		n, sure := t.text(r)
		if !sure && !doubt {
			// Said once, it holds for all that follows.
			what, doubt = "perhaps "+what, true
		}
		out = append(out, what+" "+n)
	}
	add("PREEMPTS", countOf(r.Preempted, func(x *impact.Preemption) (world.Key, bool) { return x.Victim.Ref.Key, x.Certain }))
	add("EVICTS", countOf(r.Evicted, func(x *impact.Eviction) (world.Key, bool) { return x.Workload.Ref.Key, x.Certain }))
	add("admits", countOf(r.Admitted, func(x *impact.Admission) (world.Key, bool) { return x.Workload.Ref.Key, x.Certain }))
	return out
}
