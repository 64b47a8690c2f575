// Package store keeps the rows of a cluster and publishes them as immutable
// snapshots. A Store takes deltas from the watches; a Snapshot is what the rest
// of the program reads. The work for a snapshot grows with the Workloads that
// changed since the one before and with the number of queues; of the Workloads
// that did not change only pointers are copied.
package store

import (
	"slices"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

// Counts are numbers of Workloads, as Kueue counts them. Reserving are all that
// hold quota; Admitted are those of them with Admitted=True; Evicting ones are
// in both. Pending counts every pending Workload, held and gated ones too.
type Counts struct {
	Pending, Reserving, Admitted, Evicting, Finished, Deactivated int
}

// Snapshot is one consistent view of the cluster. It never changes: any number
// of goroutines may read it. All slices are sorted by namespace and name and
// must not be written to.
type Snapshot struct {
	// Seq grows by one with each snapshot of a Store.
	Seq uint64
	// At is the clock's time when the snapshot was made.
	At time.Time

	Contract        world.Contract
	ClusterQueues   []*world.ClusterQueue
	LocalQueues     []*world.LocalQueue
	Cohorts         []*world.Cohort
	Workloads       []*world.Workload
	Flavors         []*world.Flavor
	Checks          []*world.Check
	PriorityClasses []*world.PriorityClass
	Namespaces      []*world.Namespace

	LimitRanges        []*world.LimitRange
	RuntimeClasses     []*world.RuntimeClass
	PodPriorityClasses []*world.PodPriorityClass
	Topologies         []*world.Topology
	// Tree has the quota of every cohort and ClusterQueue.
	Tree *quota.Tree

	fresh   map[world.Kind]world.Freshness
	byQueue map[string]Counts    // by ClusterQueue
	byLocal map[world.Key]Counts // by LocalQueue
	byUID   sharded[*world.Workload]
	byJob   sharded[[]*world.Workload]
	victims sharded[[]*world.Workload] // by the preemptor's UID
}

// AsOf returns the snapshot as it would be had its clock shown t. It does not block;
// the rows are shared.
func (s *Snapshot) AsOf(t time.Time) *Snapshot {
	out := *s
	out.At = t
	return &out
}

// Fresh returns how far the rows of the kind can be trusted. A kind that is not
// watched is Syncing and not Synced.
func (s *Snapshot) Fresh(k world.Kind) world.Freshness {
	f, ok := s.fresh[k]
	if !ok {
		return world.Freshness{Feed: world.Syncing}
	}
	return f
}

// Worst returns the kind whose feed is worst and its freshness.
func (s *Snapshot) Worst() (world.Kind, world.Freshness) {
	var kind world.Kind
	var worst world.Freshness
	for _, k := range world.WatchedKinds() {
		f := s.Fresh(k)
		if kind == "" || f.Feed > worst.Feed || f.Feed == worst.Feed && f.Heard.Before(worst.Heard) {
			kind, worst = k, f
		}
	}
	return kind, worst
}

type keyed interface {
	comparable
	GetKey() world.Key
}

func find[T keyed](rows []T, k world.Key) T {
	var none T
	i := sort.Search(len(rows), func(i int) bool { return !rows[i].GetKey().Less(k) })
	if i < len(rows) && rows[i].GetKey() == k {
		return rows[i]
	}
	return none
}

// ClusterQueue returns the row of the name, or nil.
func (s *Snapshot) ClusterQueue(name string) *world.ClusterQueue {
	return find(s.ClusterQueues, world.Key{Name: name})
}

// LocalQueue returns the row of the key, or nil.
func (s *Snapshot) LocalQueue(k world.Key) *world.LocalQueue { return find(s.LocalQueues, k) }

// Cohort returns the row of the Cohort object of the name, or nil.
func (s *Snapshot) Cohort(name string) *world.Cohort { return find(s.Cohorts, world.Key{Name: name}) }

// Flavor returns the row of the name, or nil.
func (s *Snapshot) Flavor(name string) *world.Flavor { return find(s.Flavors, world.Key{Name: name}) }

// Check returns the row of the name, or nil.
func (s *Snapshot) Check(name string) *world.Check { return find(s.Checks, world.Key{Name: name}) }

// Namespace returns the row of the name, or nil.
func (s *Snapshot) Namespace(name string) *world.Namespace {
	return find(s.Namespaces, world.Key{Name: name})
}

// PriorityClass returns the row of the name, or nil.
func (s *Snapshot) PriorityClass(name string) *world.PriorityClass {
	return find(s.PriorityClasses, world.Key{Name: name})
}

// PodPriorityClass returns the row of the PriorityClass of the name, or nil.
func (s *Snapshot) PodPriorityClass(name string) *world.PodPriorityClass {
	return find(s.PodPriorityClasses, world.Key{Name: name})
}

// Topology returns the row of the name, or nil.
func (s *Snapshot) Topology(name string) *world.Topology {
	return find(s.Topologies, world.Key{Name: name})
}

// RuntimeClass returns the row of the name, or nil.
func (s *Snapshot) RuntimeClass(name string) *world.RuntimeClass {
	return find(s.RuntimeClasses, world.Key{Name: name})
}

// LimitRangesIn returns the LimitRanges of the namespace.
func (s *Snapshot) LimitRangesIn(namespace string) []*world.LimitRange {
	n := len(s.LimitRanges)
	from := sort.Search(n, func(i int) bool { return s.LimitRanges[i].Namespace >= namespace })
	to := from
	for to < n && s.LimitRanges[to].Namespace == namespace {
		to++
	}
	return s.LimitRanges[from:to]
}

// Workload returns the row with the UID, or nil.
func (s *Snapshot) Workload(uid types.UID) *world.Workload { return s.byUID.get(uid) }

// WorkloadOf returns the row of the Ref, or nil. Where the Ref has no UID, as may be in
// a file, it is the row of its key that has none either.
func (s *Snapshot) WorkloadOf(r world.Ref) *world.Workload {
	if r.UID != "" {
		return s.Workload(r.UID)
	}
	if w := s.WorkloadByKey(r.Key); w != nil && w.UID == "" {
		return w
	}
	return nil
}

// WorkloadByKey returns the row of the key, or nil.
func (s *Snapshot) WorkloadByKey(k world.Key) *world.Workload { return find(s.Workloads, k) }

// WorkloadsOfJob returns the Workloads that carry the job UID.
func (s *Snapshot) WorkloadsOfJob(uid types.UID) []*world.Workload { return s.byJob.get(uid) }

// Victims returns the Workloads whose last preemption was for the Workload with
// the UID.
func (s *Snapshot) Victims(uid types.UID) []*world.Workload { return s.victims.get(uid) }

// FairSharing reports whether any object shows that fair sharing is on: Kueue
// writes shares into a status only then.
func (s *Snapshot) FairSharing() bool {
	return slices.ContainsFunc(s.ClusterQueues, func(q *world.ClusterQueue) bool { return q.WeightedShare != nil }) ||
		slices.ContainsFunc(s.Cohorts, func(c *world.Cohort) bool { return c.WeightedShare != nil })
}

// QueueOf returns the name of the ClusterQueue that the Workload is in or waits
// for, and false when its LocalQueue is not known.
func (s *Snapshot) QueueOf(w *world.Workload) (string, bool) {
	if w.ClusterQueue != "" {
		return w.ClusterQueue, true
	}
	lq := s.LocalQueue(world.Key{Namespace: w.Namespace, Name: w.LocalQueue})
	if lq == nil {
		return "", false
	}
	return lq.ClusterQueue, true
}

// CountsOf returns the numbers of Workloads of a ClusterQueue.
func (s *Snapshot) CountsOf(clusterQueue string) Counts { return s.byQueue[clusterQueue] }

// CountsOfLocal returns the numbers of Workloads of a LocalQueue.
func (s *Snapshot) CountsOfLocal(k world.Key) Counts { return s.byLocal[k] }
