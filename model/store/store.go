package store

import (
	"fmt"
	"maps"
	"reflect"
	"sync"

	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

// Store takes rows and makes snapshots. All methods may be called from any
// goroutine; none blocks for longer than another one's work.
type Store struct {
	clock clock.PassiveClock

	mu        sync.Mutex
	seq       uint64
	dirty     bool
	stale     chan struct{} // one slot; filled when dirty becomes true
	contract  world.Contract
	fresh     map[world.Kind]world.Freshness
	queues    *rows[*world.ClusterQueue]
	locals    *rows[*world.LocalQueue]
	cohorts   *rows[*world.Cohort]
	workloads *rows[*world.Workload]
	flavors   *rows[*world.Flavor]
	checks    *rows[*world.Check]
	classes   *rows[*world.PriorityClass]
	spaces    *rows[*world.Namespace]
	ranges    *rows[*world.LimitRange]
	runtimes  *rows[*world.RuntimeClass]
	podClass  *rows[*world.PodPriorityClass]
	topology  *rows[*world.Topology]
	index     index
	tree      *quota.Tree
	byQueue   map[string]Counts
}

// New returns an empty store that stamps its snapshots with the clock.
func New(c clock.PassiveClock) *Store {
	return &Store{
		clock: c, fresh: map[world.Kind]world.Freshness{}, dirty: true, stale: make(chan struct{}, 1),
		queues: newRows[*world.ClusterQueue](), locals: newRows[*world.LocalQueue](), cohorts: newRows[*world.Cohort](),
		workloads: newRows[*world.Workload](), flavors: newRows[*world.Flavor](), checks: newRows[*world.Check](),
		classes: newRows[*world.PriorityClass](), spaces: newRows[*world.Namespace](),
		ranges: newRows[*world.LimitRange](), runtimes: newRows[*world.RuntimeClass](),
		podClass: newRows[*world.PodPriorityClass](), topology: newRows[*world.Topology](), index: newIndex(),
	}
}

// Put stores a row, replacing the one of the same kind and key. The row must be
// a pointer to one of the row types of package world and is not to be changed
// afterwards; anything else is a programming error and panics.
func (s *Store) Put(row any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(row)
}

func (s *Store) put(row any) {
	s.soil()
	switch r := row.(type) {
	case *world.Workload:
		s.index.replace(s.workloads.put(r), r)
	case *world.ClusterQueue:
		s.queues.put(r)
	case *world.LocalQueue:
		s.locals.put(r)
	case *world.Cohort:
		s.cohorts.put(r)
	case *world.Flavor:
		s.flavors.put(r)
	case *world.Check:
		s.checks.put(r)
	case *world.PriorityClass:
		s.classes.put(r)
	case *world.Namespace:
		s.spaces.put(r)
	case *world.LimitRange:
		s.ranges.put(r)
	case *world.RuntimeClass:
		s.runtimes.put(r)
	case *world.PodPriorityClass:
		s.podClass.put(r)
	case *world.Topology:
		s.topology.put(r)
	default:
		panic(fmt.Sprintf("store: %T is not a row", row))
	}
}

// Delete removes the row of the kind and key, if there is one.
func (s *Store) Delete(k world.Kind, key world.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(k, key)
}

func (s *Store) drop(k world.Kind, key world.Key) {
	s.soil()
	switch k {
	case world.KindWorkload:
		s.index.replace(s.workloads.drop(key), nil)
	case world.KindClusterQueue:
		s.queues.drop(key)
	case world.KindLocalQueue:
		s.locals.drop(key)
	case world.KindCohort:
		s.cohorts.drop(key)
	case world.KindResourceFlavor:
		s.flavors.drop(key)
	case world.KindAdmissionCheck:
		s.checks.drop(key)
	case world.KindWorkloadPriorityClass:
		s.classes.drop(key)
	case world.KindNamespace:
		s.spaces.drop(key)
	case world.KindLimitRange:
		s.ranges.drop(key)
	case world.KindRuntimeClass:
		s.runtimes.drop(key)
	case world.KindPriorityClass:
		s.podClass.drop(key)
	case world.KindTopology:
		s.topology.drop(key)
	default:
		panic("store: unknown kind " + string(k))
	}
}

// Replace makes the given rows the only ones of the kind.
func (s *Store) Replace(k world.Kind, all []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keep := make(map[world.Key]bool, len(all))
	for _, row := range all {
		keep[row.(interface{ GetKey() world.Key }).GetKey()] = true
	}
	for _, key := range s.keys(k) {
		if !keep[key] {
			s.drop(k, key)
		}
	}
	for _, row := range all {
		s.put(row)
	}
}

func (s *Store) keys(k world.Kind) []world.Key {
	switch k {
	case world.KindWorkload:
		return keysOf(s.workloads)
	case world.KindClusterQueue:
		return keysOf(s.queues)
	case world.KindLocalQueue:
		return keysOf(s.locals)
	case world.KindCohort:
		return keysOf(s.cohorts)
	case world.KindResourceFlavor:
		return keysOf(s.flavors)
	case world.KindAdmissionCheck:
		return keysOf(s.checks)
	case world.KindWorkloadPriorityClass:
		return keysOf(s.classes)
	case world.KindNamespace:
		return keysOf(s.spaces)
	case world.KindLimitRange:
		return keysOf(s.ranges)
	case world.KindRuntimeClass:
		return keysOf(s.runtimes)
	case world.KindPriorityClass:
		return keysOf(s.podClass)
	case world.KindTopology:
		return keysOf(s.topology)
	}
	panic("store: unknown kind " + string(k))
}

func keysOf[T keyed](r *rows[T]) []world.Key {
	out := make([]world.Key, 0, len(r.by))
	for k := range r.by {
		out = append(out, k)
	}
	return out
}

// SetContract stores what is known of the cluster's versions and readiness.
func (s *Store) SetContract(c world.Contract) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !reflect.DeepEqual(s.contract, c) {
		if s.contract.Limit() != c.Limit() {
			s.tree, s.byQueue = nil, nil // they come from elsewhere now
		}
		s.contract = c
		s.soil()
	}
}

// SetFreshness stores how far the rows of the kind can be trusted.
func (s *Store) SetFreshness(k world.Kind, f world.Freshness) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fresh[k] != f {
		s.fresh[k] = f
		s.soil()
	}
}

// soil marks that a new snapshot would differ. The caller holds the lock.
func (s *Store) soil() {
	if s.dirty {
		return
	}
	s.dirty = true
	select {
	case s.stale <- struct{}{}:
	default:
	}
}

// Stale gives one token when a snapshot made now would differ from the last one.
// It is meant for one reader.
func (s *Store) Stale() <-chan struct{} { return s.stale }

// Dirty reports whether a snapshot made now would differ from the last one.
func (s *Store) Dirty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dirty
}

// Snapshot returns a new view of all rows.
func (s *Store) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	s.dirty = false
	out := &Snapshot{Seq: s.seq, At: s.clock.Now(), Contract: s.contract, fresh: maps.Clone(s.fresh)}
	var cohorts, queues, locals, workloads bool
	out.ClusterQueues, queues = s.queues.publish()
	out.LocalQueues, locals = s.locals.publish()
	out.Cohorts, cohorts = s.cohorts.publish()
	out.Workloads, workloads = s.workloads.publish()
	out.Flavors, _ = s.flavors.publish()
	out.Checks, _ = s.checks.publish()
	out.PriorityClasses, _ = s.classes.publish()
	out.Namespaces, _ = s.spaces.publish()
	out.LimitRanges, _ = s.ranges.publish()
	out.RuntimeClasses, _ = s.runtimes.publish()
	out.PodPriorityClasses, _ = s.podClass.publish()
	out.Topologies, _ = s.topology.publish()
	use, count := s.index.usageOf, func() map[string]Counts { return s.index.countQueues(out.LocalQueues) }
	if s.contract.Limit() != "" {
		use, count = s.statusUsage, func() map[string]Counts { return statusCounts(out.ClusterQueues) }
	}
	if s.tree == nil || cohorts || queues || workloads {
		s.tree = quota.Build(out.ClusterQueues, out.Cohorts, use)
	}
	if s.byQueue == nil || queues || locals || workloads {
		s.byQueue = count()
	}
	out.Tree, out.byQueue = s.tree, s.byQueue
	s.index.publish(out)
	return out
}
