package impact

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/impact/worker"
	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// drawScene makes two or three ClusterQueues of one cohort with some Workloads,
// of which a part runs, and an edit of the first.
func drawScene(t *rapid.T) (*scene, Edit) {
	s := newScene()
	policy := rapid.SampledFrom([]kueue.PreemptionPolicy{kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny})
	queues := []string{"a", "b", "c"}[:rapid.IntRange(2, 3).Draw(t, "queues")]
	quotas := map[string]int64{}
	for _, q := range queues {
		quotas[q] = rapid.Int64Range(0, 4).Draw(t, q)
		p := policy.Draw(t, q+" policy")
		s.queue(q, "pool", quotas[q], reclaim(p), func(o *kueue.ClusterQueue) {
			if p == kueue.PreemptionPolicyAny {
				p = kueue.PreemptionPolicyLowerPriority
			}
			o.Spec.Preemption.WithinClusterQueue = p
		})
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "workloads") {
		q := rapid.SampledFrom(queues).Draw(t, "in")
		n, priority := rapid.Int64Range(1, 3).Draw(t, "gpus"), rapid.Int32Range(0, 2).Draw(t, "priority")
		w := s.job(fmt.Sprintf("w%d", i), q, n, priority)
		if rapid.Bool().Draw(t, "runs") && quotas[q] >= n {
			quotas[q] -= n
			admit(w, q)
		}
	}
	change := rapid.SampledFrom([]func(*kueue.ClusterQueue){
		nominal(rapid.Int64Range(0, 6).Draw(t, "nominal")), within(kueue.PreemptionPolicyLowerPriority), reclaim(kueue.PreemptionPolicyAny),
		into(""), into("pool"), stop(kueue.Hold), stop(kueue.HoldAndDrain),
	}).Draw(t, "change")
	return s, s.edited("a", change)
}

// drawOutcome makes one up: Workloads start, are preempted, and come back, in no
// order that Kueue would keep.
func drawOutcome(t *rapid.T, s *scene) engine.Outcome {
	var out engine.Outcome
	var all []*kueue.Workload
	for _, o := range s.objects {
		if w, ok := o.(*kueue.Workload); ok {
			all = append(all, w)
		}
	}
	slices.SortFunc(all, func(a, b *kueue.Workload) int { return world.Key.Compare(key(a.Name), key(b.Name)) })
	for _, w := range all {
		queue := string(w.Spec.QueueName)
		switch rapid.IntRange(0, 5).Draw(t, w.Name) {
		case 0:
			out.Changed = append(out.Changed, left(w, admitIn(queue)))
		case 1:
			out.Preemptions = append(out.Preemptions, preempts(w.Name, rapid.SampledFrom(all).Draw(t, "by").Name))
			out.Changed = append(out.Changed, left(w, away))
		case 2:
			out.Preemptions = append(out.Preemptions, preempts(w.Name, "w0"), preempts(w.Name, "w1"))
			out.Changed = append(out.Changed, left(w, away, admitIn(queue), func(w *kueue.Workload) { set(w, kueue.WorkloadEvicted, "False", "QuotaReserved", "x") }))
		case 3:
			out.Evictions = append(out.Evictions, engine.Eviction{Workload: key(w.Name), Reason: "ClusterQueueStopped"})
			out.Changed = append(out.Changed, left(w, away))
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "restless") == 0 && len(all) > 0 {
		out.Restless = []world.Key{key(all[0].Name)}
	}
	if rapid.IntRange(0, 9).Draw(t, "bound") == 0 {
		out.Bound = "cut"
	}
	return out
}

type certainty map[string]bool

func (c certainty) put(certain bool, format string, a ...any) { c[fmt.Sprintf(format, a...)] = certain }

// said is what a result says, and of what it is certain.
func said(r *Result) certainty {
	out := certainty{}
	for _, p := range r.Preempted {
		out.put(p.Certain, "%s by %s: %s %v %v %s", p.Victim.Ref.Key, p.Preemptor.Ref.Key, p.Reason, p.Runs, p.Back, p.Policy)
	}
	for _, e := range r.Evicted {
		out.put(e.Certain, "%s out: %s %v %v", e.Workload.Ref.Key, e.Reason, e.Running, e.Back)
	}
	for _, a := range r.Admitted {
		out.put(a.Certain, "%s in: %v %v %v", a.Workload.Ref.Key, a.Flavors, a.Borrows, a.Again)
	}
	for _, c := range r.Waiting.Changed {
		out.put(c.Certain, "%s: %s", c.Workload.Ref.Key, c.Before)
	}
	return out
}

// All that any timing says is said, certain is what all say, and which timing came
// first does not matter.
func TestUnionAndIntersection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, edit := drawScene(t)
		few := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) engine.Outcome { return drawOutcome(t, s) }), 1, 3).Draw(t, "outcomes")
		outs := make([]engine.Outcome, len(engine.Modes(1)))
		for i := range outs {
			outs[i] = few[i%len(few)]
		}
		r, _ := s.play(outs, edit)
		count := map[string]int{}
		agreed, whole := true, true
		for _, o := range outs {
			once := map[string]bool{}
			for _, p := range o.Preemptions {
				once[fmt.Sprint(p.Victim, p.Preemptor, p.Reason)] = true
			}
			for k := range once {
				count[k]++
			}
			agreed, whole = agreed && len(o.Restless) == 0, whole && o.Bound == ""
		}
		if len(r.Preempted) != len(count) {
			t.Fatalf("%d preemptions, the timings have %d", len(r.Preempted), len(count))
		}
		for _, p := range r.Preempted {
			n := count[fmt.Sprint(p.Victim.Ref.Key, p.Preemptor.Ref.Key, p.Reason)]
			if n == 0 || p.Certain != (n == len(outs) && agreed) {
				t.Errorf("%s by %s is in %d of %d; certain: %v", p.Victim.Ref, p.Preemptor.Ref, n, len(outs), p.Certain)
			}
		}
		if certain := r.Waiting.Certain || slices.ContainsFunc(r.Admitted, func(a Admission) bool { return a.Certain }); certain && !(agreed && whole) {
			t.Error("certain of an end that not every timing reached, or of a world that moves by itself")
		}
		turned, _ := s.play(rapid.Permutation(outs).Draw(t, "turned"), edit)
		if d := cmp.Diff(said(&r), said(&turned)); d != "" {
			t.Errorf("in another order (-first +then):\n%s", d)
		}
	})
}

// Steps and ends do not contradict each other, in any timing.
func TestNoContradiction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, edit := drawScene(t)
		out := drawOutcome(t, s)
		r, _ := s.play([]engine.Outcome{out}, edit)
		checkEnds(t, &r)
	})
}

// checkEnds holds a result of one ending against the state before and after.
func checkEnds(t *rapid.T, r *Result) {
	in, back, again, lost := map[world.Key]bool{}, map[world.Key]bool{}, map[world.Key]bool{}, map[world.Key]bool{}
	for _, a := range r.Admitted {
		in[a.Workload.Ref.Key], again[a.Workload.Ref.Key] = true, a.Again
	}
	for _, p := range r.Preempted {
		lost[p.Victim.Ref.Key], back[p.Victim.Ref.Key] = true, p.Back
	}
	for _, e := range r.Evicted {
		lost[e.Workload.Ref.Key], back[e.Workload.Ref.Key] = true, e.Back
	}
	waits := 0
	for _, w := range r.After.Workloads {
		k := w.Key
		was := keeps(r.Before.WorkloadByKey(k))
		is := keeps(w)
		if w.State == world.Pending {
			waits++
		}
		switch {
		case in[k] && !is:
			t.Errorf("%s is admitted and holds nothing at the end", k)
		case lost[k] && back[k] != is:
			t.Errorf("%s loses its quota, back: %v, holds some at the end: %v", k, back[k], is)
		case was && !is && !lost[k]:
			t.Errorf("%s loses its quota and nobody says so", k)
		case !was && is && !in[k]:
			t.Errorf("%s gets quota and nobody says so", k)
		case in[k] && again[k] != (was && lost[k]):
			t.Errorf("%s is admitted again: %v; had quota: %v, lost it: %v", k, again[k], was, lost[k])
		case was && is && lost[k] && !in[k]:
			t.Errorf("%s is stopped and started, and only the first is said", k)
		}
	}
	if waits != r.Waiting.Count {
		t.Errorf("%d wait, %d is said", waits, r.Waiting.Count)
	}
	for _, c := range r.Waiting.Changed {
		if w := r.After.WorkloadByKey(c.Workload.Ref.Key); w.State != world.Pending {
			t.Errorf("%s waits for another reason, and is %s", c.Workload.Ref, w.State)
		}
	}
}

// The same of what Kueue's scheduler really does: nothing that changes is left
// unsaid.
func TestKueueLeavesNothingUnsaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, edit := drawScene(t)
		q := s.question(edit)
		r := Preview(t.Context(), one{}, q, nil)
		if r.NotComputed != "" {
			t.Fatalf("not computed: %s", r.NotComputed)
		}
		if len(r.Restless) > 0 {
			return // what moved before the edit is not its effect
		}
		checkEnds(t, &r)
		for _, w := range q.Snapshot.Workloads {
			if d := cmp.Diff(s.snapshot().WorkloadByKey(w.Key), w, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("the snapshot that was asked about has changed (-before +after):\n%s", d)
			}
		}
	})
}

// one runs Kueue's scheduler in the first of the timings, and says that it is all.
type one struct{}

func (one) Run(ctx context.Context, t worker.Task, each func(engine.Outcome), progress func(engine.Progress)) error {
	all := len(t.Modes)
	t.Modes = t.Modes[:1]
	return worker.InProcess{}.Run(ctx, t, func(o engine.Outcome) {
		for range all {
			each(o)
		}
	}, progress)
}

// The snapshot after is that of a cluster in which the objects are as they then
// are.
func TestAfterIsTheClusterAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, edit := drawScene(t)
		outs := []engine.Outcome{drawOutcome(t, s), drawOutcome(t, s)}
		r, _ := s.play(outs, edit)
		s.put(edit.Object.(*kueue.ClusterQueue))
		for _, w := range outs[0].Changed {
			s.put(w)
		}
		want := s.snapshot()
		if d := cmp.Diff(want.Workloads, r.After.Workloads, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("Workloads (-rebuilt +after):\n%s", d)
		}
		if d := cmp.Diff(sums(want), sums(r.After)); d != "" {
			t.Errorf("sums (-rebuilt +after):\n%s", d)
		}
	})
}

func sums(s *store.Snapshot) map[string]any {
	out := map[string]any{}
	var walk func(n *quota.Node)
	walk = func(n *quota.Node) {
		out[string(n.Kind)+n.Name] = n.Cells
		for _, c := range n.Children {
			walk(c)
		}
	}
	for _, n := range s.Tree.Roots {
		walk(n)
	}
	for _, q := range s.ClusterQueues {
		out["counts of "+q.Name] = s.CountsOf(q.Name)
		out["stop "+q.Name] = q.StopPolicy
	}
	return out
}
