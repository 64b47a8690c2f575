package ui

import (
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
	"cli.holdfast.dev/holdfast/ui/table"
)

// sheet is what a board lists: rows of type T that are known by a K. It never
// changes, and what it holds may be called from any goroutine.
type sheet[K comparable, T any] struct {
	name string
	// noun is what one row is, own the name of the order that is nobody's column.
	noun, own string
	// of are the kinds that the rows are; what cannot be read of them is said.
	of      []world.Kind
	columns []column[T]
	// fields are those that a filter may name.
	fields []string
	key    func(T) K
	// list makes the rows, outside the drawing loop. last is an earlier answer or the
	// zero value: what is still right of it may be used.
	list func(last listing[T], l look, q filter.Query, o order) listing[T]
	// same says that the two snapshots give the same rows for the query.
	same func(a, b *store.Snapshot, q filter.Query) bool
	// dear says that the query takes long where there are many Workloads, so that it is
	// asked with pauses; nil: none does.
	dear func(q filter.Query) bool
	// now is the row as it is now; gone where it is there no more. Nil: as listed.
	now func(e Env, row T) (_ T, gone bool)
	// alive says whether the row of the key is still there, listed or not; nil: rows are
	// not marked.
	alive func(e Env, k K) bool
	// cells are the row's, one for each column.
	cells func(e Env, row T, gone bool) []table.Cell
	strip func(e Env, row T, gone bool) strip
	// pane is all about a row for the side of a wide screen; nil: there is none.
	pane func(e Env, row T, w int) []string
	// open is what Enter does.
	open func(e Env, row T) Intent
	// yaml says that the page which open opens can show the object as YAML.
	yaml bool
	// keys are what can be done here besides. stay is the screen as it is.
	keys func(stay board[K, T]) []Binding
	// fit narrows the columns to the width.
	fit func(e Env, cols []table.Column)
	// total counts what there is, for the title; nil: the number of rows.
	total func(e Env) string
	// none is the sentence where there are no rows at all.
	none string
}

// column is a column and how rows are sorted by it.
type column[T any] struct {
	table.Column
	// compare begins a comparison, the least first; nil: the column is none to sort by.
	compare func(look) func(a, b T) int
	// falling says that the greatest come first when the person sorts by it.
	falling bool
}

// look is what rows are made from.
type look struct {
	snap    *store.Snapshot
	now     time.Time
	explain explainer
}

// order is what rows are sorted by. The zero value is the sheet's own order.
type order struct {
	// column counts from 1.
	column int
	// turned says that the order is the other way round.
	turned bool
}

// listing is the answer to a filter and an order.
type listing[T any] struct {
	// of, query and order are what it answers.
	of    *store.Snapshot
	query filter.Query
	order order
	rows  []T
	// all is the number of rows without a filter.
	all int
	// fuzzy says that nothing had the words and the rows are those that resemble them.
	fuzzy bool
}

// arranged is the list of a sheet whose rows are filtered and sorted one by one. all
// returns the rows in the sheet's own order, another slice each time; has begins to
// look into rows; letters is the text of a row.
func arranged[T any](columns []column[T], all func(look) []T, has func(look) func(row T, field, text string) bool, letters func(T) string) func(listing[T], look, filter.Query, order) listing[T] {
	return func(_ listing[T], l look, q filter.Query, o order) listing[T] {
		rows := all(l)
		out := listing[T]{of: l.snap, query: q, order: o, all: len(rows)}
		out.rows, out.fuzzy = sift(rows, q, has(l), letters)
		if c := compares(columns, l, o); c != nil {
			slices.SortStableFunc(out.rows, c)
		} else if o.turned {
			slices.Reverse(out.rows)
		}
		return out
	}
}

// sift returns the rows that the query lets through, or those that resemble it where
// none does.
func sift[T any](rows []T, q filter.Query, has func(row T, field, text string) bool, letters func(T) string) ([]T, bool) {
	if q.Empty() {
		return rows, false
	}
	var out []T
	for _, r := range rows {
		if q.Match(func(field, text string) bool { return has(r, field, text) }) {
			out = append(out, r)
		}
	}
	if len(out) > 0 || len(q.Unknown) > 0 {
		return out, false
	}
	return filter.Resembling(rows, q, has, letters), true
}

// compares is the comparison of the order; nil for the sheet's own.
func compares[T any](columns []column[T], l look, o order) func(a, b T) int {
	if o.column == 0 {
		return nil
	}
	c := columns[o.column-1].compare(l)
	if columns[o.column-1].falling != o.turned {
		return func(a, b T) int { return c(b, a) }
	}
	return c
}

// next is the order by the next column that can be sorted by.
func next[T any](columns []column[T], o order) order {
	for i := o.column; i < len(columns); i++ {
		if columns[i].compare != nil {
			return order{column: i + 1}
		}
	}
	return order{}
}

// said is the order in words.
func (s *sheet[K, T]) said(o order) string {
	if o.column == 0 {
		if o.turned {
			return s.own + ", turned"
		}
		return s.own
	}
	return strings.ToLower(s.columns[o.column-1].Title)
}

// sorted is the direction in which the column is sorted.
func (s *sheet[K, T]) sorted(o order, i int) table.Direction {
	switch {
	case o.column != i+1:
		return 0
	case s.columns[i].falling != o.turned:
		return table.Falling
	}
	return table.Rising
}
