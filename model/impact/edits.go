package impact

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// edit is an Edit that can be previewed, with what there is now.
type edit struct {
	kind world.Kind
	key  world.Key
	// old and new are the rows; nil where the object is made or deleted.
	old, new any
	// object is the object as it will be, with defaults; nil: deleted.
	object client.Object
}

func (e *edit) ref() string { return world.Ref{Kind: e.kind, Key: e.key}.String() }

// resolve looks at what is asked for and finds what there is now. The error is a
// sentence without a full stop: why it cannot be previewed.
func resolve(s *store.Snapshot, edits []Edit) ([]edit, error) {
	if len(edits) == 0 {
		return nil, fmt.Errorf("nothing is changed")
	}
	out := make([]edit, 0, len(edits))
	seen := map[world.Ref]bool{}
	for _, in := range edits {
		name := world.Ref{Kind: in.Kind, Key: in.Key}
		if seen[name] {
			return nil, fmt.Errorf("%s is changed twice", name)
		}
		seen[name] = true
		e, err := resolveOne(s, in)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func resolveOne(s *store.Snapshot, in Edit) (edit, error) {
	e := edit{kind: in.Kind, key: in.Key}
	if !previewed[in.Kind] {
		return e, fmt.Errorf("what a change of %s does cannot be previewed: only of a %s", e.ref(), strings.Join(kinds(), ", "))
	}
	e.old = rowOf(s, in.Kind, in.Key)
	if in.Object == nil {
		return e, deletable(s, &e)
	}
	obj, ok := in.Object.DeepCopyObject().(client.Object)
	if !ok {
		return e, fmt.Errorf("%s is no object that can be read (%T)", e.ref(), in.Object)
	}
	setDefaults(obj)
	row, err := project.Row(obj)
	if err != nil || rowKind(row) != in.Kind {
		return e, fmt.Errorf("%s is said to be changed to a %T", e.ref(), in.Object)
	}
	if k := row.(interface{ GetKey() world.Key }).GetKey(); k != in.Key {
		return e, fmt.Errorf("%s is said to be changed to an object that is called %s", e.ref(), k)
	}
	if e.kind == world.KindWorkload && e.old == nil {
		return e, fmt.Errorf("%s does not exist: Kueue makes a Workload when its job is made, and what that will be cannot be previewed", e.ref())
	}
	e.object, e.new = obj, settled(e.old, row)
	return e, nil
}

// previewed are the kinds whose changes the scheduler's own handlers follow
// (package engine), and that of priorities, which come down to changes of Workloads.
var previewed = map[world.Kind]bool{
	world.KindClusterQueue: true, world.KindLocalQueue: true, world.KindCohort: true, world.KindResourceFlavor: true,
	world.KindAdmissionCheck: true, world.KindWorkload: true, world.KindWorkloadPriorityClass: true,
}

func kinds() []string {
	var out []string
	for k := range maps.Keys(previewed) {
		out = append(out, string(k))
	}
	slices.Sort(out)
	return out
}

func rowOf(s *store.Snapshot, k world.Kind, key world.Key) any {
	switch k {
	case world.KindClusterQueue:
		return some(s.ClusterQueue(key.Name))
	case world.KindLocalQueue:
		return some(s.LocalQueue(key))
	case world.KindCohort:
		return some(s.Cohort(key.Name))
	case world.KindResourceFlavor:
		return some(s.Flavor(key.Name))
	case world.KindAdmissionCheck:
		return some(s.Check(key.Name))
	case world.KindWorkloadPriorityClass:
		return some(s.PriorityClass(key.Name))
	case world.KindWorkload:
		return some(s.WorkloadByKey(key))
	}
	return nil
}

// some is the row, or nil without a type.
func some[T any](row *T) any {
	if row == nil {
		return nil
	}
	return row
}

func rowKind(row any) world.Kind {
	if r, ok := row.(interface{ Ref() world.Ref }); ok {
		return r.Ref().Kind
	}
	return ""
}

// deletable reports why the deletion cannot be previewed. Kueue keeps a
// ClusterQueue, ResourceFlavor or AdmissionCheck that is in use until it is not
// (the finalizer kueue.x-k8s.io/resource-in-use), and what stands between the two
// is not part of a preview.
func deletable(s *store.Snapshot, e *edit) error {
	if e.old == nil {
		return fmt.Errorf("%s does not exist", e.ref())
	}
	name := e.key.Name
	inUse := false
	switch e.kind {
	case world.KindWorkload:
		return fmt.Errorf("the deletion of %s cannot be previewed: its job decides whether another one is made", e.ref())
	case world.KindClusterQueue:
		inUse = s.CountsOf(name).Reserving > 0
	case world.KindResourceFlavor:
		inUse = slices.ContainsFunc(s.ClusterQueues, func(q *world.ClusterQueue) bool { return slices.Contains(q.Flavors(), name) })
	case world.KindAdmissionCheck:
		inUse = slices.ContainsFunc(s.ClusterQueues, func(q *world.ClusterQueue) bool { return asksFor(q, name) })
	}
	if inUse {
		return fmt.Errorf("%s is in use: Kueue keeps it until nothing uses it any more, and what happens until then cannot be previewed", e.ref())
	}
	return nil
}

func asksFor(q *world.ClusterQueue, check string) bool {
	return slices.ContainsFunc(q.Checks, func(r world.CheckRule) bool { return r.Name == check })
}

// setDefaults sets what the API server would set in a ClusterQueue that never went
// through one and what Kueue does not take for the same when it is missing
// (kubebuilder:default in apis/kueue/v1beta2/clusterqueue_types.go).
func setDefaults(obj runtime.Object) {
	q, ok := obj.(*kueue.ClusterQueue)
	if !ok {
		return
	}
	or(&q.Spec.QueueingStrategy, kueue.BestEffortFIFO)
	if q.Spec.FlavorFungibility == nil {
		q.Spec.FlavorFungibility = &kueue.FlavorFungibility{}
	}
	or(&q.Spec.FlavorFungibility.WhenCanBorrow, kueue.MayStopSearch)
	or(&q.Spec.FlavorFungibility.WhenCanPreempt, kueue.TryNextFlavor)
	if q.Spec.Preemption == nil {
		q.Spec.Preemption = &kueue.ClusterQueuePreemption{}
	}
	p := q.Spec.Preemption
	or(&p.WithinClusterQueue, kueue.PreemptionPolicyNever)
	or(&p.ReclaimWithinCohort, kueue.PreemptionPolicyNever)
	if p.BorrowWithinCohort == nil {
		p.BorrowWithinCohort = &kueue.BorrowWithinCohort{}
	}
	or(&p.BorrowWithinCohort.Policy, kueue.BorrowWithinCohortPolicyNever)
}

func or[T ~string](s *T, otherwise T) {
	if *s == "" {
		*s = otherwise
	}
}
