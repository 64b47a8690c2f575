package file

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/world"
)

// lists are the rows that go into no snapshot.
type lists struct {
	pods   keyed[world.Pod]
	nodes  keyed[world.Node]
	events keyed[world.Event]
	byUID  map[types.UID]world.Key // of events
}

// keyed are rows of which a later one takes the place of one of the same key.
type keyed[T interface{ GetKey() world.Key }] map[world.Key]T

func (k keyed[T]) put(key world.Key, row T) { k[key] = row }

// sorted returns the rows by namespace and name.
func (k keyed[T]) sorted() []T {
	out := make([]T, 0, len(k))
	for _, row := range k {
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b T) int { return a.GetKey().Compare(b.GetKey()) })
	return out
}

func newLists() lists {
	return lists{pods: keyed[world.Pod]{}, nodes: keyed[world.Node]{}, events: keyed[world.Event]{}, byUID: map[types.UID]world.Key{}}
}

// event takes an event and reports whether it is a new one. The same event may
// come through both APIs, or twice when it repeated itself; the later news of it
// stays.
func (l *lists) event(e world.Event) bool {
	key, known := l.byUID[e.UID]
	if !known || e.UID == "" {
		key = e.Key
	}
	old, known := l.events[key]
	if known && cmp.Or(e.At.Compare(old.At), cmp.Compare(e.Count, old.Count)) <= 0 {
		return false
	}
	l.events[key] = e
	if e.UID != "" {
		l.byUID[e.UID] = key
	}
	return !known
}

// timeline returns the events in the order of time.
func (l *lists) timeline() []world.Event {
	out := l.events.sorted()
	slices.SortStableFunc(out, func(a, b world.Event) int { return a.At.Compare(b.At) })
	return out
}

// fixed is a clock that stands still.
type fixed struct{ now time.Time }

// Now implements clock.PassiveClock.
func (f *fixed) Now() time.Time { return f.now }

// Since implements clock.PassiveClock.
func (f *fixed) Since(t time.Time) time.Duration { return f.now.Sub(t) }
