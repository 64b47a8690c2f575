package table

import (
	"strings"

	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// Column describes a column.
type Column struct {
	Title string
	// Right aligns at the right, for numbers.
	Right bool
	// Min and Max bound the width; between them it follows the cells that are
	// seen. A Max of 0 is Min. Words are narrowed below Min where else no column
	// that may go is left.
	Min, Max int
	// Grow is the share of the room that is left over.
	Grow int
	// Drop lets the column go when there is no room: the highest goes first, then, of
	// those with 0, the last. The first column stays.
	Drop int
	// Sorted says that the rows are in the order of this column.
	Sorted Direction
}

// Direction is the way in which a column is sorted.
type Direction int8

// The directions; the zero value is none.
const (
	Rising  Direction = 1
	Falling Direction = -1
)

// title is the head of the column with the sign of its order.
func (c Column) title(th *theme.Theme) string {
	switch c.Sorted {
	case Rising:
		return c.Title + th.Glyph.Up
	case Falling:
		return c.Title + th.Glyph.Down
	}
	return c.Title
}

// Cell is one cell of a row.
type Cell struct {
	Text string
	Role theme.Role
}

// Row is one line of a table.
type Row struct {
	Cells []Cell
	// Gone draws the row as one that does not exist any more.
	Gone bool
	// Marked shows that the person chose the row for something.
	Marked bool
}

// Draw returns the header and the rows, each exactly w cells wide. selected is
// the index among rows of the one under the cursor, or -1.
func Draw(th *theme.Theme, cols []Column, rows []Row, selected, w int) []string {
	widths := layout(th, cols, rows, w-2)
	out := make([]string, 0, len(rows)+1)
	head := Row{Cells: make([]Cell, len(cols))}
	for i, c := range cols {
		head.Cells[i] = Cell{Text: c.title(th), Role: theme.Dim}
	}
	out = append(out, line(th, cols, widths, head, "  ", theme.Dim, w))
	for i, r := range rows {
		mark, whole := "  ", theme.Plain
		switch {
		case i == selected:
			mark, whole = th.Glyph.Cursor+" ", theme.Selected
		case r.Gone:
			whole = theme.Dim
		}
		if r.Gone {
			mark = th.Glyph.Gone + " "
		}
		if r.Marked {
			mark = strings.TrimSuffix(mark, " ") + th.Glyph.Marked
		}
		out = append(out, line(th, cols, widths, r, mark, whole, w))
	}
	return out
}

// DrawPlain is Draw for rows without a cursor: no room is left for its mark.
func DrawPlain(th *theme.Theme, cols []Column, rows []Row, w int) []string {
	widths := layout(th, cols, rows, w)
	head := Row{Cells: make([]Cell, len(cols))}
	for i, c := range cols {
		head.Cells[i] = Cell{Text: c.title(th)}
	}
	out := []string{line(th, cols, widths, head, "", theme.Dim, w)}
	for _, r := range rows {
		out = append(out, line(th, cols, widths, r, "", theme.Plain, w))
	}
	return out
}

// line draws one row. A role for the whole line overrides those of the cells.
func line(th *theme.Theme, cols []Column, widths []int, r Row, mark string, whole theme.Role, w int) string {
	var b strings.Builder
	b.Grow(w + 32)
	used := term.Width(mark)
	b.WriteString(mark)
	first := true
	for i, c := range cols {
		if widths[i] <= 0 {
			continue
		}
		if !first {
			b.WriteByte(' ')
			used++
		}
		first = false
		cell := Cell{}
		if i < len(r.Cells) {
			cell = r.Cells[i]
		}
		s := ""
		if c.Right {
			s = term.Right(cell.Text, widths[i], th.Glyph.Ellipsis)
		} else {
			s = term.Fit(cell.Text, widths[i], th.Glyph.Ellipsis)
		}
		used += widths[i]
		if whole == theme.Plain {
			s = th.Paint(cell.Role, s)
		}
		b.WriteString(s)
	}
	s := b.String()
	s += term.Spaces(w - used)
	if used > w {
		s = term.Clip(s, w, th.Glyph.Ellipsis)
	}
	return th.Paint(whole, s)
}

// layout gives each column its width within w cells, one blank between two; 0
// takes a column out.
func layout(th *theme.Theme, cols []Column, rows []Row, w int) []int {
	widths := make([]int, len(cols))
	for i, c := range cols {
		widths[i] = max(c.Min, min(term.Width(c.Title), c.Max))
		if c.Sorted != 0 {
			widths[i] = max(widths[i], term.Width(c.title(th)))
		}
		for _, r := range rows {
			if i < len(r.Cells) && c.Max > widths[i] {
				widths[i] = max(widths[i], min(term.Width(r.Cells[i].Text), c.Max))
			}
		}
	}
	over := total(widths) - w
	for over > 0 {
		if !shrink(widths, &over, func(i int) int { return least(cols[i], cols[i].Min, widths[i]) }) &&
			!drop(cols, widths) && !squeeze(cols, widths, &over) && !dropLast(widths) {
			break
		}
		over = total(widths) - w
	}
	grow(cols, widths, -over)
	return widths
}

func total(widths []int) int {
	n := -1
	for _, x := range widths {
		if x > 0 {
			n += x + 1
		}
	}
	return n
}

// least is how narrow the column may become: its words as narrow as given, its numbers not
// at all, since a part of a number is another number.
func least(c Column, words, now int) int {
	if c.Right {
		return now
	}
	return min(words, now)
}

// shrink takes columns back towards their least width, the last ones first.
func shrink(widths []int, over *int, least func(i int) int) bool {
	did := false
	for i := len(widths) - 1; i >= 0 && *over > 0; i-- {
		if by := min(*over, widths[i]-least(i)); by > 0 {
			widths[i] -= by
			*over -= by
			did = true
		}
	}
	return did
}

// wordsLeft is to how many cells the words of a column that may not go are narrowed.
const wordsLeft = 10

// squeeze narrows words below the least width of their columns, when all have room then; of
// the first column, by which rows are told apart, three quarters stay.
func squeeze(cols []Column, widths []int, over *int) bool {
	floor := func(i int) int {
		if i == 0 {
			return least(cols[i], cols[i].Min*3/4, widths[i])
		}
		return least(cols[i], wordsLeft, widths[i])
	}
	room := 0
	for i := range widths {
		room += widths[i] - floor(i)
	}
	return room >= *over && shrink(widths, over, floor)
}

// dropLast takes the last column out; the first stays.
func dropLast(widths []int) bool {
	for i := len(widths) - 1; i > 0; i-- {
		if widths[i] > 0 {
			widths[i] = 0
			return true
		}
	}
	return false
}

func drop(cols []Column, widths []int) bool {
	worst := -1
	for i, c := range cols {
		if widths[i] > 0 && c.Drop > 0 && (worst < 0 || c.Drop > cols[worst].Drop) {
			worst = i
		}
	}
	if worst < 0 {
		return false
	}
	widths[worst] = 0
	return true
}

func grow(cols []Column, widths []int, room int) {
	shares := 0
	for i, c := range cols {
		if widths[i] > 0 {
			shares += c.Grow
		}
	}
	for i, c := range cols {
		if room <= 0 || shares == 0 {
			return
		}
		if widths[i] > 0 && c.Grow > 0 {
			by := room * c.Grow / shares
			widths[i] += by
			room -= by
			shares -= c.Grow
		}
	}
}
