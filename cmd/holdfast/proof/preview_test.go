package proof

import (
	"context"
	"strings"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/impact/worker"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// listener is a runner that keeps what each timing said.
type listener struct {
	worker.InProcess
	heard []engine.Outcome
}

// Run implements impact.Runner.
func (l *listener) Run(ctx context.Context, t worker.Task, each func(engine.Outcome), progress func(engine.Progress)) error {
	return l.InProcess.Run(ctx, t, func(o engine.Outcome) {
		l.heard = append(l.heard, o)
		each(o)
	}, progress)
}

// preview is what the product says of the record's edit, from the snapshot.
func preview(ctx context.Context, s *store.Snapshot, r *record) forecast {
	began := time.Now()
	var edits []impact.Edit
	for _, c := range r.changes {
		o := c.of(objectsOf[*kueue.Workload](r.objects)).New
		edits = append(edits, impact.Edit{
			Kind: world.Kind(kindName(o)), Key: world.Key{Namespace: o.GetNamespace(), Name: o.GetName()}, Object: o,
		})
	}
	l := &listener{}
	res := impact.Preview(ctx, l, impact.Question{Snapshot: s, Edits: edits, Settings: r.Settings, Now: s.At}, nil)
	f := forecast{
		NotComputed: res.NotComputed, Bounded: res.Bounded, Unknown: res.Unknown, Took: time.Since(began),
		Certain: facts{Admitted: map[string]string{}}, Listed: facts{Admitted: map[string]string{}},
		Sure: res.NotComputed == "" && res.Bounded == "" && len(res.Restless) == 0 && res.Waiting.Certain,
	}
	for _, w := range res.Restless {
		f.Restless = append(f.Restless, w.Name)
	}
	for _, out := range l.heard {
		f.Timings = append(f.Timings, timing{Name: out.Mode, facts: outcomeFacts(r.Before, out), Bound: out.Bound})
	}
	f.claims(&res)
	if res.After == nil {
		return f
	}
	// What the first timing ends with is read where the console reads it.
	f.Likely.Admitted = map[string]string{}
	for _, w := range res.After.Workloads {
		if w.Namespace == r.ID && w.State == world.Admitted {
			f.Likely.Admitted[w.Name] = placementOf(w)
		}
	}
	if len(f.Timings) > 0 {
		f.Likely.Preempted, f.Likely.Evicted = f.Timings[0].Preempted, f.Timings[0].Evicted
	}
	return f
}

// claims sorts what the result lists into what is certain and what may be.
func (f *forecast) claims(res *impact.Result) {
	say := func(certain bool, add func(*facts)) {
		add(&f.Listed)
		if certain {
			add(&f.Certain)
		}
		f.Sure = f.Sure && certain
	}
	for _, p := range res.Preempted {
		text := preempted(p.Victim.Ref.Name, p.Preemptor.Ref.Name, p.Reason)
		say(p.Certain, func(x *facts) { x.Preempted = append(x.Preempted, text) })
	}
	for _, e := range res.Evicted {
		text := evicted(e.Workload.Ref.Name, reasonOf(e.Reason))
		say(e.Certain, func(x *facts) { x.Evicted = append(x.Evicted, text) })
	}
	for _, a := range res.Admitted {
		var cells []string
		for res, flavor := range a.Flavors {
			cells = append(cells, res+"="+flavor)
		}
		where := placed("main", cells, a.Pods)
		say(a.Certain, func(x *facts) { x.Admitted[a.Workload.Ref.Name] = where })
	}
	for _, q := range res.Quota {
		f.Sure = f.Sure && q.Certain
	}
	for _, x := range []*facts{&f.Certain, &f.Listed} {
		x.Preempted, x.Evicted = set(x.Preempted), set(x.Evicted)
	}
}

// reasonOf is Kueue's word for an eviction that the result has a sentence for.
func reasonOf(sentence string) string {
	switch drained := strings.HasSuffix(sentence, " is drained"); {
	case drained && strings.HasPrefix(sentence, "ClusterQueue "):
		return "ClusterQueueStopped"
	case drained && strings.HasPrefix(sentence, "LocalQueue "):
		return "LocalQueueStopped"
	}
	return sentence
}

// placementOf is placement of a row.
func placementOf(w *world.Workload) string {
	var sets []string
	for _, p := range w.PodSets {
		var cells []string
		for res, f := range p.Flavors {
			cells = append(cells, res+"="+f)
		}
		n := int32(0)
		if p.Admitted != nil {
			n = *p.Admitted
		}
		sets = append(sets, placed(p.Name, cells, n))
	}
	return strings.Join(sets, "; ")
}
