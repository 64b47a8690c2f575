package live

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/world"
)

// Bounds of the polling. Kueue makes the whole order of a queue anew for every
// answer, so it must be asked rarely, about little, and less when it is slow.
const (
	mostQueues  = 8
	pollEvery   = 5 * time.Second
	pollRarely  = 2 * time.Minute // after many failures
	pollIdleFor = 20              // times what the last answer took
)

// Positions keeps Kueue's order of a few ClusterQueues, those on the screen, up to
// date. Its methods may be called from any goroutine; only Run blocks.
type Positions struct {
	ask   func(ctx context.Context, clusterQueue string) ([]Position, error)
	clock clock.Clock
	wake  chan struct{} // one slot: the wanted queues have changed

	mu     sync.Mutex
	wanted []string
	over   map[string]bool // wanted beyond mostQueues
	queues map[string]*polled
}

// polled is one queue and its last answer. Queues that are not wanted any more
// stay until they would be due, so that whoever goes back and forth does not ask
// more often.
type polled struct {
	due    time.Time
	failed int // times in a row
	at     map[world.Key]int
	readAt time.Time
	why    string
}

// NewPositions returns a poller of the reader's cluster, which asks nothing before
// Run.
func NewPositions(r *Reader, c clock.Clock) *Positions {
	return &Positions{
		ask: func(ctx context.Context, q string) ([]Position, error) {
			items, err := r.client.Pending(ctx, world.Key{Name: q}, kube.MostPending)
			return positions(items, ""), err
		},
		clock: c, wake: make(chan struct{}, 1), queues: map[string]*polled{},
	}
}

// SetQueues says which ClusterQueues are wanted from now on, the most wanted
// first. Only the first few are asked about.
func (p *Positions) SetQueues(clusterQueues []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	p.wanted, p.over = nil, map[string]bool{}
	wanted := map[string]bool{}
	for _, q := range clusterQueues {
		switch {
		case wanted[q]:
		case len(p.wanted) == mostQueues:
			p.over[q] = true
		default:
			p.wanted, wanted[q] = append(p.wanted, q), true
		}
	}
	for q, x := range p.queues {
		if !wanted[q] && !x.due.After(now) {
			delete(p.queues, q)
		}
	}
	for _, q := range p.wanted {
		if p.queues[q] == nil {
			p.queues[q] = &polled{due: now, why: "Kueue was not asked yet"}
		}
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Get returns the places of a ClusterQueue's first pending Workloads, counted from
// 1, and when they were read; or none and why, and the order can only be estimated
// then. The map must not be changed.
func (p *Positions) Get(clusterQueue string) (places map[world.Key]int, readAt time.Time, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.queues[clusterQueue]; x != nil {
		return x.at, x.readAt, x.why
	}
	if p.over[clusterQueue] {
		return nil, time.Time{}, fmt.Sprintf("Kueue is asked about no more than %d queues at a time", mostQueues)
	}
	return nil, time.Time{}, "Kueue was not asked about this queue"
}

// Run asks, one question at a time, until ctx ends.
func (p *Positions) Run(ctx context.Context) {
	for ctx.Err() == nil {
		queue, wait, any := p.next()
		switch {
		case any && wait <= 0:
			p.poll(ctx, queue)
			continue
		case any:
			t := p.clock.NewTimer(wait)
			select {
			case <-ctx.Done():
			case <-p.wake:
			case <-t.C():
			}
			t.Stop()
		default:
			select {
			case <-ctx.Done():
			case <-p.wake:
			}
		}
	}
}

// next returns the wanted queue that is due first, and in how long.
func (p *Positions) next() (queue string, wait time.Duration, any bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var due time.Time
	for _, q := range p.wanted {
		if x := p.queues[q]; !any || x.due.Before(due) {
			queue, due, any = q, x.due, true
		}
	}
	return queue, due.Sub(p.clock.Now()), any
}

func (p *Positions) poll(ctx context.Context, queue string) {
	begun := p.clock.Now()
	ask, cancel := context.WithTimeout(ctx, kube.Patience)
	places, err := p.ask(ask, queue)
	cancel()
	if ctx.Err() != nil {
		return
	}
	now := p.clock.Now()
	at := make(map[world.Key]int, len(places))
	for _, x := range places {
		at[x.Key] = x.ClusterQueue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.queues[queue]
	if x == nil {
		return // not wanted any more
	}
	pause := max(pollEvery, pollIdleFor*now.Sub(begun))
	if err == nil {
		x.failed, x.at, x.readAt, x.why = 0, at, now, ""
	} else {
		x.failed++
		pause = min(pollRarely, pollEvery<<min(x.failed, 10))
		if s, ok := apierrors.SuggestsClientDelay(err); ok {
			pause = max(pause, time.Duration(s)*time.Second)
		}
		x.at, x.readAt, x.why = nil, time.Time{}, estimated(err, world.Key{Name: queue})
	}
	x.due = now.Add(pause)
}
