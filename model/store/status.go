package store

import (
	"maps"
	"slices"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

// When only one namespace's Workloads are read, a sum over them would be too
// small. What Kueue wrote into the ClusterQueue is then the best that is known,
// though it may be older and leaves out flavors that the spec no longer has.

// statusUsage returns what the ClusterQueue's status says is in use.
func (s *Store) statusUsage(clusterQueue string) []quota.Usage {
	q := s.queues.by[world.Key{Name: clusterQueue}]
	if q == nil {
		return nil
	}
	cells := map[world.FlavorResource]quota.Usage{}
	for _, u := range q.Status.Reservation {
		cells[u.FlavorResource] = quota.Usage{FlavorResource: u.FlavorResource, Reserved: u.Amount}
	}
	for _, u := range q.Status.Usage {
		c := cells[u.FlavorResource]
		c.FlavorResource, c.Admitted = u.FlavorResource, u.Amount
		cells[u.FlavorResource] = c
	}
	return slices.Collect(maps.Values(cells))
}

// statusCounts returns the numbers of Workloads that the statuses give. How many
// are being evicted, finished or deactivated does not stand there.
func statusCounts(queues []*world.ClusterQueue) map[string]Counts {
	out := make(map[string]Counts, len(queues))
	for _, q := range queues {
		out[q.Name] = Counts{Pending: int(q.Status.Pending), Reserving: int(q.Status.Reserving), Admitted: int(q.Status.Admitted)}
	}
	return out
}
