package ui

import (
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// From paneFrom cells on, all about the row under the cursor stands at the side of
// the list, in the share of the width that paneShare is of 100.
const (
	paneFrom  = 160
	paneShare = 42
)

// paned reports whether there is a side pane.
func (s board[K, T]) paned(e Env) bool { return s.sheet.pane != nil && e.W >= paneFrom }

// lines is the number of lines for rows: the body less heads, strip and filter.
func (s board[K, T]) lines(e Env) int {
	foot := stripHeight(e)
	if s.paned(e) {
		foot = 0
	}
	return max(1, e.H-1-foot-len(s.above(e)))
}

// above are the lines above the table: what is not known, and the filter.
func (s board[K, T]) above(e Env) []string {
	var out []string
	for _, k := range s.sheet.of {
		word, gone := absence(e, k)
		if !gone || e.Snap.Fresh(k).Feed == world.Syncing || s.list.Len() == 0 {
			continue
		}
		if f := e.Snap.Fresh(k); f.Synced {
			word += ". What follows is from before."
		}
		out = append(out, " "+e.Theme.Paint(theme.Warn, term.Clip(word, e.W-1, e.Theme.Glyph.Ellipsis)))
	}
	if s.typing || s.filter.text != "" {
		out = append(out, filterLine(e, s.filter, s.typing, s.query(), s.sheet.fields))
	}
	return out
}

// View is Screen's.
func (s board[K, T]) View(e Env) []string {
	out := s.above(e)
	if s.list.Len() == 0 {
		return append(out, s.nothing(e))
	}
	if !s.paned(e) {
		return withStrip(e, append(out, s.table(e, e.W)...), s.strip(e))
	}
	w := s.left(e)
	left := append(out, s.table(e, w)...)
	return beside(e, left, s.pane(e, e.W-w-3), w)
}

// left is the width of the list beside a side pane and the rule between them.
func (s board[K, T]) left(e Env) int { return e.W - e.W*paneShare/100 - 1 }

// table draws the rows in w cells.
func (s board[K, T]) table(e Env, w int) []string {
	from, to := s.list.Window(s.lines(e))
	rows := make([]table.Row, 0, to-from)
	for i := from; i < to; i++ {
		row, gone := s.current(e, s.list.At(i), s.list.Gone(i))
		_, marked := s.marks[s.sheet.key(row)]
		rows = append(rows, table.Row{Gone: gone, Marked: marked, Cells: s.sheet.cells(e, row, gone)})
	}
	cols := make([]table.Column, len(s.sheet.columns))
	for i, c := range s.sheet.columns {
		cols[i] = c.Column
		cols[i].Sorted = s.sheet.sorted(s.last.order, i)
	}
	if s.sheet.fit != nil {
		narrow := e
		narrow.W = w
		s.sheet.fit(narrow, cols)
	}
	return table.Draw(e.Theme, cols, rows, s.list.Cursor()-from, w)
}

// Point is pointed's.
func (s board[K, T]) Point(e Env, x, line int) (Screen, bool, bool) {
	if s.paned(e) && x >= s.left(e) {
		return s, false, false
	}
	list, same, ok := s.list.Point(line-len(s.above(e))-1, s.lines(e))
	s.list = list
	return s, same, ok
}

// seenOf says which of the rows are seen, where not all are: before the rest of a title.
func seenOf[K comparable, T any](l *table.List[K, T], lines int) string {
	from, to := l.Window(lines)
	if to-from >= l.Len() {
		return ""
	}
	return "rows " + count(from+1) + " to " + count(to) + " of "
}

// current is the row as it is now: the list may be a moment older.
func (s board[K, T]) current(e Env, row T, gone bool) (T, bool) {
	if s.sheet.now == nil {
		return row, gone
	}
	row, left := s.sheet.now(e, row)
	return row, gone || left
}

func (s board[K, T]) strip(e Env) strip {
	row, gone, _ := s.list.Selected()
	row, gone = s.current(e, row, gone)
	return s.sheet.strip(e, row, gone)
}

// pane is all about the row under the cursor in w cells.
func (s board[K, T]) pane(e Env, w int) []string {
	row, gone, _ := s.list.Selected()
	row, gone = s.current(e, row, gone)
	if gone {
		return []string{e.Theme.Paint(theme.Warn, "does not exist any more")}
	}
	narrow := e
	narrow.W = w
	return s.sheet.pane(narrow, row, w)
}

// beside puts the right lines beside the left ones, which are w cells wide.
func beside(e Env, left, right []string, w int) []string {
	out := make([]string, 0, e.H)
	rule := e.Theme.Paint(theme.Dim, e.Theme.Glyph.Upright)
	for i := range e.H {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out = append(out, term.Fit(l, w, "")+rule+" "+r)
	}
	return out
}
