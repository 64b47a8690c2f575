package proof

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
)

// direct is a forecast of package engine alone, on the objects as the server sent
// them. It tells a fault of the engine from one on the way to it.
func direct(ctx context.Context, r *record, modes []engine.Mode, cfg configapi.Configuration) (forecast, error) {
	began := time.Now()
	o := engine.Objects{
		Flavors: objectsOf[*kueue.ResourceFlavor](r.objects), Cohorts: objectsOf[*kueue.Cohort](r.objects),
		ClusterQueues: objectsOf[*kueue.ClusterQueue](r.objects), LocalQueues: objectsOf[*kueue.LocalQueue](r.objects),
		Workloads: objectsOf[*kueue.Workload](r.objects), Namespaces: objectsOf[*corev1.Namespace](r.objects),
	}
	var changes []engine.Change
	for _, c := range r.changes {
		changes = append(changes, c.of(o.Workloads))
	}
	var outcomes []engine.Outcome
	for _, m := range modes {
		out, err := engine.Run(ctx, o, changes, m, engine.Options{Config: cfg, At: r.At})
		if err != nil {
			return forecast{}, err
		}
		outcomes = append(outcomes, out)
	}
	f := compose(r.Before, outcomes)
	f.Took = time.Since(began)
	return f, nil
}

// of is the change as the preview takes it: that of a Job is one of its Workload.
func (c change) of(workloads []*kueue.Workload) engine.Change {
	j, ok := c.is.(*batchv1.Job)
	if !ok {
		out := engine.Change{New: c.is}
		if c.was != nil {
			out.Old = c.was
		}
		return out
	}
	for _, w := range workloads {
		if metav1.IsControlledBy(w, j) {
			n := w.DeepCopy()
			n.Generation++
			n.Spec.PriorityClassRef.Name = j.Labels[priorityLabel]
			n.Spec.Priority = new(priorities[j.Labels[priorityLabel]])
			return engine.Change{Old: w, New: n}
		}
	}
	panic("no Workload of Job " + j.Name)
}

// outcome is what one run says.
func outcomeFacts(before map[string]string, out engine.Outcome) facts {
	f := facts{Admitted: maps.Clone(before)}
	for _, w := range out.Changed {
		delete(f.Admitted, w.Name)
		if admitted(w) {
			f.Admitted[w.Name] = placement(w)
		}
	}
	for _, p := range out.Preemptions {
		f.Preempted = append(f.Preempted, preempted(p.Victim.Name, p.Preemptor.Name, p.Reason))
	}
	for _, e := range out.Evictions {
		f.Evicted = append(f.Evicted, evicted(e.Workload.Name, e.Reason))
	}
	f.Preempted, f.Evicted = set(f.Preempted), set(f.Evicted)
	return f
}

// compose is what the runs have in common, and what any of them says.
func compose(before map[string]string, outcomes []engine.Outcome) forecast {
	var f forecast
	for i, out := range outcomes {
		t := timing{Name: out.Mode, facts: outcomeFacts(before, out), Bound: out.Bound}
		f.Timings = append(f.Timings, t)
		if out.Bound != "" && f.Bounded == "" {
			f.Bounded = fmt.Sprintf("%s: %s", out.Mode, out.Bound)
		}
		for _, k := range out.Restless {
			f.Restless = append(f.Restless, k.Name)
		}
		more := facts{Admitted: map[string]string{}, Preempted: t.Preempted, Evicted: t.Evicted}
		for name, where := range t.Admitted {
			if before[name] != where {
				more.Admitted[name] = where
			}
		}
		if i == 0 {
			f.Likely, f.Certain, f.Listed = t.facts, more, more
			f.Certain.Admitted = maps.Clone(more.Admitted)
			f.Sure = true
			continue
		}
		f.Sure = f.Sure && maps.Equal(t.Admitted, f.Likely.Admitted) && slices.Equal(t.Preempted, f.Likely.Preempted) && slices.Equal(t.Evicted, f.Likely.Evicted)
		maps.DeleteFunc(f.Certain.Admitted, func(name, where string) bool { return t.Admitted[name] != where })
		f.Certain.Preempted, f.Certain.Evicted = both(f.Certain.Preempted, t.Preempted), both(f.Certain.Evicted, t.Evicted)
		maps.Copy(f.Listed.Admitted, more.Admitted)
		f.Listed.Preempted = set(slices.Concat(f.Listed.Preempted, t.Preempted))
		f.Listed.Evicted = set(slices.Concat(f.Listed.Evicted, t.Evicted))
	}
	f.Restless = set(f.Restless)
	if len(f.Restless) > 0 || f.Bounded != "" {
		f.Sure, f.Certain = false, facts{}
	}
	return f
}

// both are the texts that stand in both lists.
func both(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(x string) bool { return !slices.Contains(b, x) })
}
