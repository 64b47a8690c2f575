package actions

import (
	"container/heap"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/project"
)

// newest keeps the newest events of a list that comes in the order of names, so that
// which those are is known at its end only. They are held as JSON, which takes a
// fraction of the memory that objects do.
type newest struct {
	most, seen int
	kept       oldestFirst
	tooOld     bool // the list ended before all was read
}

type keptEvent struct {
	at  time.Time
	nth int // in the list
	raw []byte
}

// oldestFirst is a heap whose first event is the one to be left out next: of two of
// one time the later in the list.
type oldestFirst []keptEvent

// Len implements heap.Interface, as do the others.
func (h oldestFirst) Len() int { return len(h) }

// Less reports whether the one is left out before the other.
func (h oldestFirst) Less(i, j int) bool {
	if c := h[i].at.Compare(h[j].at); c != 0 {
		return c < 0
	}
	return h[i].nth > h[j].nth
}

// Swap swaps two.
func (h oldestFirst) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push adds a keptEvent.
func (h *oldestFirst) Push(x any) { *h = append(*h, x.(keptEvent)) }

// Pop takes the last away.
func (h *oldestFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = slices.Delete(*h, len(*h)-1, len(*h))
	return last
}

// add takes the events of a page.
func (n *newest) add(items []unstructured.Unstructured) error {
	for i := range items {
		e := keptEvent{at: eventTime(&items[i]), nth: n.seen}
		n.seen++
		if len(n.kept) == n.most && !n.kept[0].at.Before(e.at) {
			continue
		}
		var err error
		if e.raw, err = items[i].MarshalJSON(); err != nil {
			return err
		}
		heap.Push(&n.kept, e)
		if len(n.kept) > n.most {
			heap.Pop(&n.kept)
		}
	}
	return nil
}

// eventTime is when the event was last seen; the beginning of time where it does not
// say so.
func eventTime(o *unstructured.Unstructured) time.Time {
	var e corev1.Event
	if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &e) != nil {
		return time.Time{}
	}
	return project.Event(&e).At
}

// writeNewest writes what is kept in the order of the list, and says in done what is
// not.
func (e *exporter) writeNewest(l exportList, n *newest, done *bundle.List) error {
	slices.SortFunc(n.kept, func(a, b keptEvent) int { return a.nth - b.nth })
	page := 0
	for some := range slices.Chunk(n.kept, pageSize) {
		page++
		items := make([]unstructured.Unstructured, len(some))
		for i := range some {
			if err := items[i].UnmarshalJSON(some[i].raw); err != nil {
				return err
			}
		}
		objects := e.take(l, items)
		if err := e.w.Objects(pageName(l, page), objects); err != nil {
			return err
		}
		done.Count += len(objects)
	}
	done.LeftOut = n.seen - len(n.kept)
	switch {
	case n.tooOld:
		done.Cut = fmt.Sprintf("the list grew too old after %d were read: the newest %d of those are taken", n.seen, done.Count)
	case done.LeftOut == 1:
		done.Cut = fmt.Sprintf("the newest %d are taken, 1 older one is left out", done.Count)
	case done.LeftOut > 0:
		done.Cut = fmt.Sprintf("the newest %d are taken, %d older ones are left out", done.Count, done.LeftOut)
	}
	return nil
}

func pageName(l exportList, page int) string {
	return fmt.Sprintf("%s/%04d.yaml", l.resource.Resource, page)
}
