// Package table draws lists of any length: only the lines that are seen are
// looked at, and the cursor stays on a thing, not on a number.
package table

// Motion is a step of the cursor.
type Motion uint8

// The motions.
const (
	Up Motion = iota
	Down
	PageUp
	PageDown
	HalfUp
	HalfDown
	Top
	Bottom
)

// List is a list of rows with a cursor. It is a value: a changed list is another
// list, and the slice that was given is never written to.
//
// The cursor belongs to the key of its row. When rows change it stays on that
// key and on its line of the screen. When its row vanishes, the row stays where
// it was, as a tombstone, until the cursor moves: no key that the person presses
// can meet another object than the one that was under the cursor.
type List[K comparable, T any] struct {
	key    func(T) K
	rows   []T
	cursor int
	line   int // the cursor's line on the screen
	gone   bool
	moved  bool
}

// NewList returns an empty list whose rows have the key.
func NewList[K comparable, T any](key func(T) K) List[K, T] { return List[K, T]{key: key} }

// Len is the number of rows, a tombstone included.
func (l List[K, T]) Len() int { return len(l.rows) }

// Standing is the number of rows without a tombstone.
func (l List[K, T]) Standing() int {
	if l.gone {
		return len(l.rows) - 1
	}
	return len(l.rows)
}

// At returns row i.
func (l List[K, T]) At(i int) T { return l.rows[i] }

// Cursor is the index of the cursor's row; -1 when there are no rows.
func (l List[K, T]) Cursor() int {
	if len(l.rows) == 0 {
		return -1
	}
	return l.cursor
}

// Selected returns the row under the cursor; ok is false when there is none.
// gone says that the row does not exist any more.
func (l List[K, T]) Selected() (row T, gone, ok bool) {
	if len(l.rows) == 0 {
		return row, false, false
	}
	return l.rows[l.cursor], l.gone, true
}

// Moved reports whether the person has ever moved the cursor.
func (l List[K, T]) Moved() bool { return l.moved }

// Gone reports whether row i is the tombstone.
func (l List[K, T]) Gone(i int) bool { return l.gone && i == l.cursor }

// Refresh takes the rows as they are now.
func (l List[K, T]) Refresh(rows []T) List[K, T] {
	if len(l.rows) == 0 {
		l.rows, l.cursor, l.line, l.gone = rows, 0, 0, false
		return l
	}
	old := l.rows[l.cursor]
	if i := l.find(rows, l.key(old)); i >= 0 {
		l.rows, l.cursor, l.gone = rows, i, false
		return l
	}
	at := min(l.cursor, len(rows))
	with := make([]T, 0, len(rows)+1)
	with = append(append(append(with, rows[:at]...), old), rows[at:]...)
	l.rows, l.cursor, l.gone = with, at, true
	return l
}

// FromTop returns the list with its window as near to the first row as the cursor
// allows, for lists whose first rows matter most.
func (l List[K, T]) FromTop() List[K, T] {
	l.line = l.cursor
	return l
}

// Reset takes rows that the person asked for (another filter or order): the
// cursor stays on its row where that is among them and goes to the top where
// not.
func (l List[K, T]) Reset(rows []T) List[K, T] {
	at := -1
	if len(l.rows) > 0 && !l.gone {
		at = l.find(rows, l.key(l.rows[l.cursor]))
	}
	l.rows, l.gone = rows, false
	if at < 0 {
		l.cursor, l.line = 0, 0
		return l
	}
	l.cursor = at
	return l
}

// find looks near the cursor first: most refreshes move nothing.
func (l List[K, T]) find(rows []T, k K) int {
	if l.cursor < len(rows) && l.key(rows[l.cursor]) == k {
		return l.cursor
	}
	for i := range rows {
		if l.key(rows[i]) == k {
			return i
		}
	}
	return -1
}

// Select puts the cursor on the key; ok is false when no row has it.
func (l List[K, T]) Select(k K) (List[K, T], bool) {
	i := l.find(l.rows, k)
	if i < 0 {
		return l, false
	}
	if l.gone && i != l.cursor {
		l = l.bury()
		i = l.find(l.rows, k)
	}
	l.line += i - l.cursor
	l.cursor, l.moved = i, true
	return l, true
}

// Point puts the cursor on the row that is on the line of a window of h lines, counted
// from 0; ok is false when there is none. same says that it was there already.
func (l List[K, T]) Point(line, h int) (to List[K, T], same, ok bool) {
	from, until := l.Window(h)
	i := from + line
	if line < 0 || i >= until {
		return l, false, false
	}
	same = i == l.cursor
	l, ok = l.Select(l.key(l.rows[i]))
	return l, same, ok
}

// Move moves the cursor in a window of h lines.
func (l List[K, T]) Move(m Motion, h int) List[K, T] {
	l.moved = true
	if len(l.rows) == 0 {
		return l
	}
	from, _ := l.Window(h)
	if l.gone {
		l = l.bury()
		if m == Down || m == Up {
			// The next row has moved into the tombstone's place.
			to := l.cursor
			if m == Up {
				to--
			}
			return l.to(to, from)
		}
	}
	step := map[Motion]int{Up: -1, Down: 1, PageUp: -max(1, h-1), PageDown: max(1, h-1), HalfUp: -max(1, h/2), HalfDown: max(1, h/2)}[m]
	switch m {
	case Top:
		return l.to(0, 0)
	case Bottom:
		return l.to(len(l.rows)-1, len(l.rows))
	case PageUp, PageDown, HalfUp, HalfDown:
		from += step
	}
	return l.to(l.cursor+step, from)
}

// to puts the cursor on row i with the window starting at from.
func (l List[K, T]) to(i, from int) List[K, T] {
	if len(l.rows) == 0 {
		l.cursor, l.line = 0, 0
		return l
	}
	l.cursor = max(0, min(i, len(l.rows)-1))
	l.line = max(0, l.cursor-max(0, from))
	return l
}

// bury takes the tombstone out.
func (l List[K, T]) bury() List[K, T] {
	rows := make([]T, 0, len(l.rows))
	l.rows = append(append(rows, l.rows[:l.cursor]...), l.rows[l.cursor+1:]...)
	l.gone = false
	return l
}

// Window returns the rows that h lines show: from, and up to but without to.
func (l List[K, T]) Window(h int) (from, to int) {
	if h <= 0 {
		return 0, 0
	}
	n := len(l.rows)
	line := max(0, min(l.line, h-1))
	from = max(0, min(l.cursor-line, n-h))
	return from, min(n, from+h)
}
