package impact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/world"
)

// Preview answers the question. It blocks as long as the runner does and may be
// called from any goroutine; when the context ends it comes back with what it has.
// progress may be nil; it is called from the goroutine that the runner calls from.
//
// What is Kueue's and what is ours: package engine tells. Here outcomes are only
// compared and put into words.
func Preview(ctx context.Context, r Runner, q Question, progress func(Progress)) Result {
	settings := q.Settings.Seen(q.Snapshot)
	res := Result{
		ComputedWith: engine.Version, ClusterRuns: q.Snapshot.Contract.KueueVersion,
		Assumptions: assumptions(settings), Unknown: append(slices.Clone(settings.Unknown), settings.Limits(q.Snapshot)...),
	}
	p := &preview{runner: r, q: q, settings: settings, res: &res}
	if err := p.compute(ctx, progress); err != nil {
		labels := res
		res = Result{
			NotComputed: clean(err.Error()), ComputedWith: labels.ComputedWith, ClusterRuns: labels.ClusterRuns,
			Assumptions: labels.Assumptions, Unknown: labels.Unknown,
		}
	}
	return res
}

// assumptions are what every preview takes for granted, and what this one's
// settings do.
func assumptions(s manager.Settings) []string {
	out := []string{"running jobs do not end, no new ones come, and admission checks stay as they are"}
	if !slices.ContainsFunc(s.Assumed, func(a string) bool { return strings.Contains(a, s.Source) }) {
		out = append(out, "the manager runs with the configuration of "+s.Source)
	}
	return append(out, s.Assumed...)
}

type preview struct {
	runner   Runner
	q        Question
	settings manager.Settings
	res      *Result
}

// compute fills the result. An error is a sentence: why there is none.
func (p *preview) compute(ctx context.Context, progress func(Progress)) error {
	s := p.q.Snapshot
	if err := unreadable(s); err != nil {
		return err
	}
	edits, err := resolve(s, p.q.Edits)
	if err != nil {
		return err
	}
	st := newStage(s, edits)
	if err := refuseCycles(s, st.specs, edits); err != nil {
		return err
	}
	reach, err := reachOf(st, edits)
	if err != nil {
		return err
	}
	p.unknown(doubts(s)...)
	p.unknown(reach.leftOut)
	if reach.assumed != "" {
		p.res.Assumptions = append(p.res.Assumptions, reach.assumed)
	}
	p.answered(edits)
	filled := make(chan struct{}) // while the scheduler runs
	go func() {
		defer close(filled)
		st.fill()
	}()
	var outs []engine.Outcome
	all := 0
	if len(reach.queues) > 0 {
		t, err := p.task(st, reach, edits)
		if err != nil {
			return err
		}
		all = len(t.Modes)
		if outs, err = p.run(ctx, t, progress); err != nil {
			return err
		}
	} else {
		outs = []engine.Outcome{{}} // nobody is concerned, and nothing moves
	}
	<-filled
	c := &composer{st: st, ends: endings(st, outs), queues: reach.queues}
	p.compose(ctx, c, outs, all)
	return nil
}

// answered says what is taken for granted of checks that nobody has seen yet.
func (p *preview) answered(edits []edit) {
	for i := range edits {
		if e := &edits[i]; e.kind == world.KindAdmissionCheck && e.old == nil {
			p.res.Assumptions = append(p.res.Assumptions, e.ref()+" is new: it counts as inactive, as it does for Kueue until its controller answers for it")
		}
	}
}

func (p *preview) unknown(sentences ...string) {
	for _, s := range sentences {
		if s != "" && !slices.Contains(p.res.Unknown, s) {
			p.res.Unknown = append(p.res.Unknown, s)
		}
	}
}

// compose puts the outcomes of all timings, or of as many as came to an end, into
// the result.
func (p *preview) compose(ctx context.Context, c *composer, outs []engine.Outcome, all int) {
	res := p.res
	if all > 0 {
		res.Timings = len(outs)
	}
	restless := map[world.Key]bool{}
	var cut []string
	for i := range outs {
		for _, k := range outs[i].Restless {
			restless[k] = true
		}
		if b := clean(outs[i].Bound); b != "" && !slices.Contains(cut, b) {
			cut = append(cut, b)
		}
	}
	res.Bounded = strings.Join(append(nonEmpty(res.Bounded), cut...), "; ")
	c.agreed = len(restless) == 0 && (all == 0 || len(outs) == all)
	c.whole = len(cut) == 0
	for _, w := range c.st.from.Workloads {
		if restless[w.Key] {
			res.Restless = append(res.Restless, w.Ref())
		}
	}
	res.Preempted, res.Evicted, res.Queues, res.Admitted = c.preempted(), c.evicted(), c.activity(), c.admitted()
	res.Quota, res.OverQuota = c.cells()
	res.Waiting, res.NeverFits = c.waiting(ctx, p.q.Now)
	if err := ctx.Err(); err != nil {
		res.Bounded = strings.Join(append(nonEmpty(res.Bounded), "why the others wait was not looked at any more: "+err.Error()), "; ")
		res.Waiting.Certain = false
	}
	res.Before, res.After = c.st.from, c.ends[0].snap
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// notEnded says that only some of the timings were computed.
func notEnded(done, all int, err error) string {
	return fmt.Sprintf("only %d of %d timings were computed, so that nothing is certain: %v", done, all, err)
}
