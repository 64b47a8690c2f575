package ui

import (
	"maps"

	"cli.holdfast.dev/holdfast/ui/table"
)

// marking reports whether the person has marked rows: then keys are for those, also
// where all of them are gone by now.
func (s board[K, T]) marking() bool { return len(s.marks)+s.lost > 0 }

// unmarked is the board without marks.
func (s board[K, T]) unmarked() board[K, T] {
	s.marks, s.lost = nil, 0
	return s
}

// markedWords says how many rows are marked, and how many of those that were are gone.
func (s board[K, T]) markedWords() string {
	out := count(len(s.marks)) + " marked"
	if s.lost > 0 {
		out += ", " + count(s.lost) + " more gone"
	}
	return out
}

// chosen are the marked rows as they are listed.
func (s board[K, T]) chosen() (rows []T, why string) {
	if len(s.marks) == 0 {
		return nil, "what was marked does not exist any more: Esc takes the marks away"
	}
	left := maps.Clone(s.marks)
	for i := range s.list.Len() {
		if k := s.sheet.key(s.list.At(i)); len(left) > 0 {
			if _, ok := left[k]; ok {
				rows = append(rows, s.list.At(i))
				delete(left, k)
			}
		}
	}
	if n := len(left); n > 0 {
		return nil, plural(n, "marked "+s.sheet.noun) + " not in sight: clear the filter first, or take the marks away"
	}
	return rows, ""
}

func (s board[K, T]) mark(e Env) (Screen, Intent) {
	row, _ := s.picked()
	marks := maps.Clone(s.marks)
	if marks == nil {
		marks = map[K]T{}
	}
	k := s.sheet.key(row)
	if _, ok := marks[k]; ok {
		delete(marks, k)
	} else {
		marks[k] = row
	}
	s.marks = marks
	s.list = s.list.Move(table.Down, s.lines(e))
	return s, nil
}

// standing is the board with those marks whose rows are still there: a mark must not
// wait for a later object of the same place.
func (s board[K, T]) standing(e Env) board[K, T] {
	var gone []K
	for k := range s.marks {
		if !s.sheet.alive(e, k) {
			gone = append(gone, k)
		}
	}
	if len(gone) == 0 {
		return s
	}
	s.marks, s.lost = maps.Clone(s.marks), s.lost+len(gone)
	for _, k := range gone {
		delete(s.marks, k)
	}
	return s
}
