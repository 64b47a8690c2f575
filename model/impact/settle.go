package impact

import (
	"slices"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// settled is the row of an edited object as it will be once Kueue has taken the
// edit up: the spec of row, which is changed, and the status of the old row; none
// where there is no old row.
func settled(old, row any) any {
	switch n := row.(type) {
	case *world.ClusterQueue:
		n.Conditions, n.Status, n.WeightedShare = nil, world.QueueStatus{}, nil
		if o, ok := old.(*world.ClusterQueue); ok {
			n.Meta = next(o.Meta, n.Meta, o.Spec == n.Spec)
			n.Conditions, n.Status, n.WeightedShare = observed(o.Conditions, n.Generation), o.Status, o.WeightedShare
		}
	case *world.LocalQueue:
		n.Conditions, n.Status = nil, world.QueueStatus{}
		if o, ok := old.(*world.LocalQueue); ok {
			n.Meta = next(o.Meta, n.Meta, o.Spec == n.Spec)
			n.Conditions, n.Status = observed(o.Conditions, n.Generation), o.Status
		}
	case *world.Cohort:
		n.WeightedShare = nil
		if o, ok := old.(*world.Cohort); ok {
			n.Meta, n.WeightedShare = next(o.Meta, n.Meta, o.Spec == n.Spec), o.WeightedShare
		}
	case *world.Flavor:
		if o, ok := old.(*world.Flavor); ok {
			n.Meta = next(o.Meta, n.Meta, o.Spec == n.Spec)
		}
	case *world.Check:
		n.Conditions = nil
		if o, ok := old.(*world.Check); ok {
			n.Meta = next(o.Meta, n.Meta, o.Spec == n.Spec)
			n.Conditions = observed(o.Conditions, n.Generation)
		}
	case *world.PriorityClass:
		if o, ok := old.(*world.PriorityClass); ok {
			n.Meta = next(o.Meta, n.Meta, o.Value == n.Value)
		}
	case *world.Workload:
		if o, ok := old.(*world.Workload); ok {
			return respecified(o, n)
		}
	}
	return row
}

// next is the metadata of an object after an edit of its spec.
func next(old, edited world.Meta, sameSpec bool) world.Meta {
	m := old
	if edited.ManagedBy != "" {
		m.ManagedBy = edited.ManagedBy
	}
	if !sameSpec {
		m.Generation++
	}
	return m
}

// observed are the conditions once Kueue has looked at the generation.
func observed(in world.Conditions, generation int64) world.Conditions {
	out := slices.Clone(in)
	for i := range out {
		out[i].ObservedGeneration = generation
	}
	return out
}

// respecified is the Workload with what of its spec may change.
func respecified(old, edited *world.Workload) *world.Workload {
	w := *old
	w.Active, w.LocalQueue, w.GatedBy, w.Annotations = edited.Active, edited.LocalQueue, edited.GatedBy, edited.Annotations
	w.PriorityClass, w.PriorityKind, w.Priority = edited.PriorityClass, edited.PriorityKind, edited.Priority
	w.State = world.StateOf(w.Active, w.Conditions)
	if !w.HoldsQuota() {
		w.Usage = nil
	}
	return &w
}

// reprioritized are the Workloads that a WorkloadPriorityClass's new value gives
// another priority: Kueue writes it into the spec of all that name the class,
// whatever their state (pkg/controller/core/workloadpriorityclass_controller.go).
// It does nothing when the class is deleted.
func reprioritized(s *store.Snapshot, c *world.PriorityClass) []*world.Workload {
	var out []*world.Workload
	for _, w := range s.Workloads {
		if w.PriorityKind == world.KindWorkloadPriorityClass && w.PriorityClass == c.Name && w.Priority != c.Value {
			n := *w
			n.Priority = c.Value
			out = append(out, &n)
		}
	}
	return out
}

// ended is the row of a Workload as a run left it. The object was built from the
// row that base is, and has nothing of what the scheduler does not look at.
func ended(base *world.Workload, o *kueue.Workload) *world.Workload {
	w := project.Workload(o)
	if base == nil {
		return w
	}
	w.Meta, w.Owner, w.JobUID, w.Annotations, w.Grace = base.Meta, base.Owner, base.JobUID, base.Annotations, base.Grace
	w.Rest, w.GatedBy = base.Rest, base.GatedBy
	for i := range w.PodSets {
		if i < len(base.PodSets) {
			w.PodSets[i].Shape, w.PodSets[i].Topology, w.PodSets[i].TopologyJSON = base.PodSets[i].Shape, base.PodSets[i].Topology, base.PodSets[i].TopologyJSON
		}
	}
	return w
}

// stage is a store with the rows of a snapshot and the edits applied. Workloads
// come in later (fill), since what is asked first is about the queues alone.
type stage struct {
	from  *store.Snapshot
	store *store.Store
	// specs has the edited rows, and no Workloads.
	specs *store.Snapshot
	// edited are the Workloads that the edits change, as they are before Kueue's
	// scheduler does anything about it.
	edited map[world.Key]*world.Workload
}

func newStage(s *store.Snapshot, edits []edit) *stage {
	st := &stage{from: s, store: store.New(moment(s.At)), edited: map[world.Key]*world.Workload{}}
	st.store.SetContract(s.Contract)
	for _, k := range slices.Concat(world.WatchedKinds(), world.SideKinds()) {
		st.store.SetFreshness(k, s.Fresh(k))
	}
	putAll(st.store, s.ClusterQueues)
	putAll(st.store, s.LocalQueues)
	putAll(st.store, s.Cohorts)
	putAll(st.store, s.Flavors)
	putAll(st.store, s.Checks)
	putAll(st.store, s.PriorityClasses)
	putAll(st.store, s.Namespaces)
	putAll(st.store, s.LimitRanges)
	putAll(st.store, s.RuntimeClasses)
	putAll(st.store, s.PodPriorityClasses)
	putAll(st.store, s.Topologies)
	for i := range edits {
		e := &edits[i]
		if c, ok := e.new.(*world.PriorityClass); ok {
			for _, w := range reprioritized(s, c) {
				st.edited[w.Key] = w
			}
		}
		switch w, ok := e.new.(*world.Workload); {
		case ok:
			st.edited[w.Key] = w
		case e.new == nil:
			st.store.Delete(e.kind, e.key)
		default:
			st.store.Put(e.new)
		}
	}
	st.specs = st.store.Snapshot()
	return st
}

func putAll[T any](s *store.Store, rows []T) {
	for _, r := range rows {
		s.Put(r)
	}
}

// fill adds the Workloads, which are not copied.
func (st *stage) fill() {
	for _, w := range st.from.Workloads {
		st.store.Put(st.row(w))
	}
}

// row is the Workload as it is when the scheduler begins.
func (st *stage) row(w *world.Workload) *world.Workload {
	if e := st.edited[w.Key]; e != nil {
		return e
	}
	return w
}

// base is the row of the key, as row gives it; nil where there is none.
func (st *stage) base(k world.Key) *world.Workload {
	w := st.from.WorkloadByKey(k)
	if w == nil {
		return nil
	}
	return st.row(w)
}

// moment is a clock that stands still: a preview is of one time.
type moment time.Time

// Now implements clock.PassiveClock.
func (m moment) Now() time.Time { return time.Time(m) }

// Since implements clock.PassiveClock.
func (m moment) Since(t time.Time) time.Duration { return time.Time(m).Sub(t) }
