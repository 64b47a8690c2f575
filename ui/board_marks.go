package ui

import (
	"maps"

	"cli.holdfast.dev/holdfast/ui/table"
)

// chosen are the marked rows as they are listed, else the one under the cursor.
func (s board[K, T]) chosen() (rows []T, why string) {
	if len(s.marks) == 0 {
		row, why := s.picked()
		if why != "" {
			return nil, why
		}
		return []T{row}, ""
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

// standing are the marks whose rows are still there: a mark must not wait for a later
// object of the same place.
func (s board[K, T]) standing(e Env) map[K]T {
	var gone []K
	for k := range s.marks {
		if !s.sheet.alive(e, k) {
			gone = append(gone, k)
		}
	}
	if len(gone) == 0 {
		return s.marks
	}
	marks := maps.Clone(s.marks)
	for _, k := range gone {
		delete(marks, k)
	}
	return marks
}
