package health

import (
	"maps"
	"math"
	"slices"
	"time"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// SLO is how the cluster serves its queues, as far as the objects tell it. Kueue
// keeps nothing of Workloads that are gone, of waits before the last requeue, and
// no rates: these are figures of the Workloads that can be seen now.
type SLO struct {
	// Pending is the number of pending Workloads, held and gated ones too. Where
	// Workloads cannot be read it is the sum that the ClusterQueues' statuses give;
	// nil when those cannot be read either.
	Pending *int
	// OldestWait is the longest wait so far of a pending Workload, Wait how the
	// waits of all of them are spread; nil when none is pending or nothing is known.
	// A wait is Kueue's own (reason.Times.Wait).
	OldestWait *time.Duration
	Wait       *Spread
	// Borrowing is sorted by flavor and resource; cells in which nothing is reserved
	// are left out, and so are ClusterQueues in a cohort cycle.
	Borrowing []Borrowing
	// Evictions counts evictions by reason over the life of the Workloads
	// (status.schedulingStats), sorted by reason.
	Evictions []Evictions
	// EvictionRatio is the part of the Workloads that were evicted at least once, 0
	// to 1, to four digits; nil when there are none or they cannot be read.
	EvictionRatio *float64
	// Scope is what the figures speak of.
	Scope string
	// Unknown says what could not be read; empty when nothing is missing.
	Unknown string
}

// Spread is two percentiles by nearest rank: the least value that at least so
// many of a hundred do not exceed.
type Spread struct{ P50, P95 time.Duration }

// Borrowing is what all ClusterQueues together use beyond their nominal quota of
// one cell. Ratio is Borrowed/Reserved to four digits.
type Borrowing struct {
	world.FlavorResource
	Borrowed, Reserved world.Amount
	Ratio              float64
}

// Evictions is a number of evictions for one of Kueue's reasons.
type Evictions struct {
	Reason string
	Count  int
}

// readable reports whether the rows of the kind can be counted on.
func readable(s *store.Snapshot, k world.Kind) bool {
	f := s.Fresh(k)
	return f.Usable() && f.Feed != world.Denied
}

const scope = "workloads visible now"

// SLOOf computes the figures of the snapshot at the time now, in time linear in
// Workloads and quota cells but for sorting the waits.
func SLOOf(s *store.Snapshot, now time.Time) SLO {
	out := SLO{Scope: scope}
	queues, workloads := readable(s, world.KindClusterQueue), readable(s, world.KindWorkload)
	if queues && workloads {
		out.Borrowing = borrowing(s)
	}
	if !workloads {
		out.Unknown = "Workloads cannot be read: waits, evictions and borrowing are not known"
		if queues {
			out.Unknown += ", and pendingCount is what the ClusterQueues' statuses say"
			sum := 0
			for _, q := range s.ClusterQueues {
				sum += int(q.Status.Pending)
			}
			out.Pending = &sum
		}
		return out
	}
	var waits []time.Duration
	pending, evicted := 0, 0
	counts := map[string]int{}
	for _, w := range s.Workloads {
		if w.State == world.Pending {
			pending++
			if t := reason.TimesOf(w, now); t.Wait != nil {
				waits = append(waits, *t.Wait)
			}
		}
		once := w.Conditions.True(world.CondEvicted) // releases without the counts
		for _, e := range w.Evictions {
			if e.Count > 0 {
				counts[e.Reason] += int(e.Count)
				once = true
			}
		}
		if once {
			evicted++
		}
	}
	out.Pending = &pending
	out.OldestWait, out.Wait = spread(waits)
	for _, r := range slices.Sorted(maps.Keys(counts)) {
		out.Evictions = append(out.Evictions, Evictions{Reason: r, Count: counts[r]})
	}
	if n := len(s.Workloads); n > 0 {
		r := round(float64(evicted) / float64(n))
		out.EvictionRatio = &r
	}
	return out
}

// spread sorts the waits.
func spread(waits []time.Duration) (*time.Duration, *Spread) {
	if len(waits) == 0 {
		return nil, nil
	}
	slices.Sort(waits)
	oldest := waits[len(waits)-1]
	return &oldest, &Spread{P50: nearestRank(waits, 50), P95: nearestRank(waits, 95)}
}

// nearestRank returns the percentile of sorted values, of which there is at least
// one.
func nearestRank(sorted []time.Duration, percent int) time.Duration {
	return sorted[(percent*len(sorted)+99)/100-1]
}

func borrowing(s *store.Snapshot) []Borrowing {
	sums := map[world.FlavorResource]*Borrowing{}
	for _, q := range s.ClusterQueues {
		n := s.Tree.ClusterQueue(q.Name)
		for i := range n.Cells {
			c := &n.Cells[i]
			if c.Reserved == 0 {
				continue
			}
			b := sums[c.FlavorResource]
			if b == nil {
				b = &Borrowing{FlavorResource: c.FlavorResource}
				sums[c.FlavorResource] = b
			}
			b.Borrowed, b.Reserved = b.Borrowed.Add(c.Borrowed), b.Reserved.Add(c.Reserved)
		}
	}
	out := make([]Borrowing, 0, len(sums))
	for _, b := range sums {
		b.Ratio = round(float64(b.Borrowed) / float64(b.Reserved))
		out = append(out, *b)
	}
	slices.SortFunc(out, func(a, b Borrowing) int {
		if a.FlavorResource.Less(b.FlavorResource) {
			return -1
		}
		return 1
	})
	return out
}

func round(ratio float64) float64 { return math.Round(ratio*1e4) / 1e4 }
