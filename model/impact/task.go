package impact

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/impact/pack"
	"cli.holdfast.dev/holdfast/model/impact/worker"
	"cli.holdfast.dev/holdfast/model/world"
)

// packed is the world as it is now, but for two things that are ahead of it. A
// LocalQueue that does not exist yet takes the Workloads along that name it already:
// nothing else ties them to a ClusterQueue. And what ends a cycle of cohorts has been
// done, while those that it cut off are kept inactive (cutOff).
func packed(st *stage, r reach, edits []edit) (*pack.World, []string, error) {
	made := map[world.Key]bool{}
	var ahead []edit
	for i := range edits {
		switch e := &edits[i]; {
		case e.kind == world.KindLocalQueue && e.old == nil:
			made[e.key] = true
			ahead = append(ahead, *e)
		case ends(st, e):
			ahead = append(ahead, *e)
		}
	}
	if len(ahead) == 0 {
		w, gaps := pack.Of(st.from, r.queues)
		return w, gaps, nil
	}
	with := newStage(st.from, ahead)
	with.fill()
	w, gaps := pack.Of(with.store.Snapshot(), r.queues)
	w.LocalQueues = slices.DeleteFunc(w.LocalQueues, func(o pack.Object) bool { return made[world.Key{Namespace: o.Namespace, Name: o.Name}] })
	return w, gaps, cutOff(w, r.freed)
}

// ends reports whether the edit takes something off a cycle.
func ends(st *stage, e *edit) bool { return cyclic(nodeOf(st.from, e)) && !cyclic(nodeOf(st.specs, e)) }

// task is what the runner is given.
func (p *preview) task(st *stage, r reach, edits []edit) (worker.Task, error) {
	w, gaps, err := packed(st, r, edits)
	if err != nil {
		return worker.Task{}, err
	}
	p.unknown(gaps...)
	changes, err := p.changes(st, r, w, edits)
	if err != nil {
		return worker.Task{}, err
	}
	return worker.Task{World: w, Edits: changes, Config: p.settings.Config, At: p.q.Snapshot.At, Modes: engine.Modes(len(changes))}, nil
}

// changes are the edits as events. A change of a priority class comes last: it
// becomes one of each Workload that has the class, in the order of their names. What
// a cycle cut off comes first.
func (p *preview) changes(st *stage, r reach, w *pack.World, edits []edit) ([]worker.Edit, error) {
	now, err := objectsNow(w, st.edited)
	if err != nil {
		return nil, err
	}
	var out []worker.Edit
	for _, name := range r.freed {
		if q, ok := now[world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: name}}].(*kueue.ClusterQueue); ok && !isEdited(edits, name) {
			out = append(out, worker.Edit{Kind: world.KindClusterQueue, Old: q, New: letIn(q)})
		}
	}
	specs := map[world.Key]*kueue.Workload{}
	for i := range edits {
		e := &edits[i]
		if e.kind == world.KindCohort && ends(st, e) {
			continue // the world is ahead
		}
		if o, ok := e.object.(*kueue.Workload); ok {
			specs[e.key] = o
		}
		if e.kind == world.KindWorkload || e.kind == world.KindWorkloadPriorityClass {
			continue
		}
		c := worker.Edit{Kind: e.kind, Old: now[world.Ref{Kind: e.kind, Key: e.key}], New: e.object}
		if c.Old == nil && e.old != nil {
			continue // it is left out
		}
		if c.New != nil {
			keep(c.Old, c.New)
			w.Adjust(c.New)
		}
		out = append(out, c)
	}
	for _, k := range slices.SortedFunc(maps.Keys(st.edited), world.Key.Compare) {
		o, ok := now[world.Ref{Kind: world.KindWorkload, Key: k}].(*kueue.Workload)
		if !ok {
			if st.edited[k].State != world.Finished {
				p.unknown("what the change of Workload/" + k.String() + " does: it is not among those that are looked at")
			}
			continue
		}
		n := o.DeepCopy()
		if spec := specs[k]; spec != nil {
			n.Spec, n.Labels, n.Annotations = spec.Spec, spec.Labels, spec.Annotations
		}
		priority := st.edited[k].Priority
		n.Spec.Priority = &priority
		n.Generation++
		w.Adjust(n)
		out = append(out, worker.Edit{Kind: world.KindWorkload, Old: o, New: n})
	}
	return out, nil
}

func isEdited(edits []edit, clusterQueue string) bool {
	return slices.ContainsFunc(edits, func(e edit) bool { return e.kind == world.KindClusterQueue && e.key.Name == clusterQueue })
}

// objectsNow are the objects of a world that edits may be about; of the Workloads
// only those of the keys.
func objectsNow(w *pack.World, keys map[world.Key]*world.Workload) (map[world.Ref]client.Object, error) {
	few := *w
	few.Workloads = nil
	for i := range w.Workloads {
		if x := &w.Workloads[i]; keys[world.Key{Namespace: w.Texts[x.Namespace], Name: x.Name}] != nil {
			few.Workloads = append(few.Workloads, *x)
		}
	}
	o, err := few.Objects()
	if err != nil {
		return nil, err
	}
	out := map[world.Ref]client.Object{}
	put(out, world.KindClusterQueue, o.ClusterQueues)
	put(out, world.KindLocalQueue, o.LocalQueues)
	put(out, world.KindCohort, o.Cohorts)
	put(out, world.KindResourceFlavor, o.Flavors)
	put(out, world.KindAdmissionCheck, o.Checks)
	put(out, world.KindWorkload, o.Workloads)
	return out, nil
}

func put[T client.Object](into map[world.Ref]client.Object, k world.Kind, objects []T) {
	for _, o := range objects {
		into[world.Ref{Kind: k, Key: world.Key{Namespace: o.GetNamespace(), Name: o.GetName()}}] = o
	}
}

// keep gives the edited object what an edit cannot change of the one that there is:
// its identity, and what of its status Kueue reads.
func keep(old, edited client.Object) {
	if old == nil {
		if o, ok := edited.(*kueue.AdmissionCheck); ok {
			o.Status = kueue.AdmissionCheckStatus{} // nobody has answered for it yet
		}
		return
	}
	edited.SetUID(old.GetUID())
	edited.SetResourceVersion(old.GetResourceVersion())
	edited.SetGeneration(old.GetGeneration() + 1)
	edited.SetDeletionTimestamp(old.GetDeletionTimestamp())
	switch o := edited.(type) {
	case *kueue.AdmissionCheck:
		o.Status = old.(*kueue.AdmissionCheck).Status
	case *kueue.ClusterQueue:
		o.Status = old.(*kueue.ClusterQueue).Status
	}
}

// run has all timings computed. An error means that not even one was.
func (p *preview) run(ctx context.Context, t worker.Task, progress func(Progress)) ([]engine.Outcome, error) {
	var outs []engine.Outcome
	err := p.runner.Run(ctx, t, func(o engine.Outcome) { outs = append(outs, o) }, func(e engine.Progress) {
		if progress != nil {
			progress(Progress{Timing: min(len(outs)+1, len(t.Modes)), Timings: len(t.Modes), Progress: e})
		}
	})
	switch {
	case err == nil && len(outs) == len(t.Modes):
		return outs, nil
	case err == nil:
		err = fmt.Errorf("the computation ended without a word")
	}
	if len(outs) == 0 {
		return nil, err
	}
	p.res.Bounded = notEnded(len(outs), len(t.Modes), err)
	return outs, nil
}
