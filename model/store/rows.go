package store

import (
	"slices"
	"sort"

	"cli.holdfast.dev/holdfast/model/world"
)

// rows keeps the rows of one kind: a map for writing and a sorted slice for
// reading that is patched, not sorted anew, when few rows changed.
type rows[T keyed] struct {
	by      map[world.Key]T
	sorted  []T
	changed map[world.Key]bool
}

func newRows[T keyed]() *rows[T] {
	return &rows[T]{by: map[world.Key]T{}, changed: map[world.Key]bool{}}
}

// put stores the row and returns the one it replaces (the zero value for none).
func (r *rows[T]) put(row T) T {
	k := row.GetKey()
	old := r.by[k]
	r.by[k] = row
	r.changed[k] = true
	return old
}

// drop removes the row of the key and returns it (the zero value for none).
func (r *rows[T]) drop(k world.Key) T {
	old, ok := r.by[k]
	if ok {
		delete(r.by, k)
		r.changed[k] = true
	}
	return old
}

// publish returns the sorted slice as it is now and whether it changed since the
// last call. The slice is never written to again.
func (r *rows[T]) publish() ([]T, bool) {
	if len(r.changed) == 0 {
		return r.sorted, false
	}
	keys := make([]world.Key, 0, len(r.changed))
	for k := range r.changed {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, world.Key.Compare)
	out := make([]T, 0, len(r.by))
	from := 0
	for _, k := range keys {
		i := from + sort.Search(len(r.sorted)-from, func(i int) bool { return !r.sorted[from+i].GetKey().Less(k) })
		out = append(out, r.sorted[from:i]...)
		if i < len(r.sorted) && r.sorted[i].GetKey() == k {
			i++
		}
		if row, ok := r.by[k]; ok {
			out = append(out, row)
		}
		from = i
	}
	r.sorted = append(out, r.sorted[from:]...)
	clear(r.changed)
	return r.sorted, true
}
