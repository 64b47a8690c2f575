package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

// shelf is the client that Kueue's code reads and writes through. It holds the
// objects in memory, gives copies, and notes each change of a Workload as the
// watch would tell it. Preemptions are written by several goroutines at once.
type shelf struct {
	unsupported
	mu       sync.Mutex
	version  int
	work     map[types.NamespacedName]*kueue.Workload
	byLocal  map[types.NamespacedName][]types.NamespacedName // Workloads by LocalQueue, by name
	byQueue  map[string]map[types.NamespacedName]bool        // Workloads by the ClusterQueue that admitted them
	queues   map[string]*kueue.ClusterQueue
	cohorts  map[string]*kueue.Cohort
	locals   map[types.NamespacedName]*kueue.LocalQueue
	ofQueue  map[string][]types.NamespacedName // LocalQueues by ClusterQueue
	flavors  map[string]*kueue.ResourceFlavor
	checks   map[string]*kueue.AdmissionCheck
	spaces   map[string]*corev1.Namespace
	ranges   map[string][]*corev1.LimitRange
	runtimes map[string]*nodev1.RuntimeClass
	// changes are the Workloads' since they were last taken.
	changes []event.TypedUpdateEvent[*kueue.Workload]
}

// firstVersion is above every resourceVersion that a preview could bring along.
const firstVersion = 1 << 40

func newShelf(o Objects) *shelf {
	s := &shelf{
		unsupported: unsupported{&refusals{}},
		version:     firstVersion, work: map[types.NamespacedName]*kueue.Workload{}, byLocal: map[types.NamespacedName][]types.NamespacedName{}, byQueue: map[string]map[types.NamespacedName]bool{},
		queues: map[string]*kueue.ClusterQueue{}, cohorts: map[string]*kueue.Cohort{}, locals: map[types.NamespacedName]*kueue.LocalQueue{},
		ofQueue: map[string][]types.NamespacedName{}, flavors: map[string]*kueue.ResourceFlavor{}, checks: map[string]*kueue.AdmissionCheck{},
		spaces: map[string]*corev1.Namespace{}, ranges: map[string][]*corev1.LimitRange{}, runtimes: map[string]*nodev1.RuntimeClass{},
	}
	for _, w := range o.Workloads {
		k := client.ObjectKeyFromObject(w)
		if s.work[k] == nil {
			q := localOf(w)
			s.byLocal[q] = append(s.byLocal[q], k)
		}
		s.index(k, s.work[k], w)
		s.work[k] = w
	}
	for _, ks := range s.byLocal {
		slices.SortFunc(ks, byName)
	}
	for _, q := range o.LocalQueues {
		s.putLocal(q)
	}
	for _, q := range o.ClusterQueues {
		s.queues[q.Name] = q
	}
	for _, c := range o.Cohorts {
		s.cohorts[c.Name] = c
	}
	for _, f := range o.Flavors {
		s.flavors[f.Name] = f
	}
	for _, c := range o.Checks {
		s.checks[c.Name] = c
	}
	for _, n := range o.Namespaces {
		s.spaces[n.Name] = n
	}
	for _, r := range o.LimitRanges {
		s.ranges[r.Namespace] = append(s.ranges[r.Namespace], r)
	}
	for _, r := range o.RuntimeClasses {
		s.runtimes[r.Name] = r
	}
	return s
}

func byName(a, b types.NamespacedName) int { return world.Key(a).Compare(world.Key(b)) }

func localOf(w *kueue.Workload) types.NamespacedName {
	return types.NamespacedName{Namespace: w.Namespace, Name: string(w.Spec.QueueName)}
}

func (s *shelf) putLocal(q *kueue.LocalQueue) {
	k := client.ObjectKeyFromObject(q)
	if old := s.locals[k]; old != nil {
		name := string(old.Spec.ClusterQueue)
		s.ofQueue[name] = slices.DeleteFunc(s.ofQueue[name], func(x types.NamespacedName) bool { return x == k })
	}
	s.locals[k] = q
	name := string(q.Spec.ClusterQueue)
	s.ofQueue[name] = append(s.ofQueue[name], k)
}

func (s *shelf) dropLocal(k types.NamespacedName) {
	if old := s.locals[k]; old != nil {
		name := string(old.Spec.ClusterQueue)
		s.ofQueue[name] = slices.DeleteFunc(s.ofQueue[name], func(x types.NamespacedName) bool { return x == k })
		delete(s.locals, k)
	}
}

// keys returns those of all Workloads, by namespace and name.
func (s *shelf) keys() []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(s.work), byName)
}

// workload returns the Workload as it is now, not to be written to; nil: none.
func (s *shelf) workload(k types.NamespacedName) *kueue.Workload {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.work[k]
}

// take returns the changes since the last call.
func (s *shelf) take() []event.TypedUpdateEvent[*kueue.Workload] {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.changes
	s.changes = nil
	return out
}

// store puts a Workload in the place of the one of its key, with a new version,
// and notes the change. The caller holds the lock and gives the object away.
func (s *shelf) store(n *kueue.Workload) {
	k := client.ObjectKeyFromObject(n)
	old := s.work[k]
	s.index(k, old, n)
	s.version++
	n.ResourceVersion = strconv.Itoa(s.version)
	s.work[k] = n
	if old == nil {
		q := localOf(n)
		s.byLocal[q] = append(s.byLocal[q], k)
		return
	}
	if o, q := localOf(old), localOf(n); o != q {
		s.byLocal[o] = slices.DeleteFunc(s.byLocal[o], func(x types.NamespacedName) bool { return x == k })
		s.byLocal[q] = append(s.byLocal[q], k)
	}
	s.changes = append(s.changes, event.TypedUpdateEvent[*kueue.Workload]{ObjectOld: old, ObjectNew: n})
}

// index keeps byQueue when old becomes n.
func (s *shelf) index(k types.NamespacedName, old, n *kueue.Workload) {
	if old != nil && old.Status.Admission != nil {
		delete(s.byQueue[string(old.Status.Admission.ClusterQueue)], k)
	}
	if a := n.Status.Admission; a != nil {
		name := string(a.ClusterQueue)
		if s.byQueue[name] == nil {
			s.byQueue[name] = map[types.NamespacedName]bool{}
		}
		s.byQueue[name][k] = true
	}
}

func notFound(o any, k client.ObjectKey) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: kueue.SchemeGroupVersion.Group, Resource: fmt.Sprintf("%T", o)}, k.String())
}

// Get implements client.Reader.
func (s *shelf) Get(_ context.Context, k client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch t := o.(type) {
	case *kueue.Workload:
		return give(s.work[k], t, k)
	case *kueue.ClusterQueue:
		return give(s.queues[k.Name], t, k)
	case *kueue.LocalQueue:
		return give(s.locals[k], t, k)
	case *kueue.Cohort:
		return give(s.cohorts[k.Name], t, k)
	case *kueue.ResourceFlavor:
		return give(s.flavors[k.Name], t, k)
	case *kueue.AdmissionCheck:
		return give(s.checks[k.Name], t, k)
	case *corev1.Namespace:
		return give(s.spaces[k.Name], t, k)
	case *nodev1.RuntimeClass:
		return give(s.runtimes[k.Name], t, k)
	}
	return s.refuse("get", o)
}

// copier is what generated deep copies have.
type copier[T any] interface {
	*T
	DeepCopyInto(*T)
}

func give[T any, P copier[T]](from, into P, k client.ObjectKey) error {
	if from == nil {
		return notFound(into, k)
	}
	from.DeepCopyInto(into)
	return nil
}
