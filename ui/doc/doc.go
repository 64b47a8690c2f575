// Package doc scrolls through text of which some lines are links.
package doc

import (
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// Line is one line of a document, already wrapped. Text may hold escape
// sequences of the theme. A Link makes it one that can be opened; the zero Ref
// is none. Plain is the text without escape sequences and is needed for links
// only.
type Line struct {
	Text  string
	Plain string
	Link  world.Ref
}

// View is a place in a document: the first line that is seen and the link that
// is selected. It is a value and belongs to no particular text: lines may change
// under it.
type View struct {
	offset   int
	selected world.Ref
}

// Selected returns the link under the cursor, if it is in sight in a window of h
// lines: what is not seen cannot be opened.
func (v View) Selected(lines []Line, h int) (world.Ref, bool) {
	i, from := v.find(lines), v.clamp(lines, h)
	if i < from || i >= from+h {
		return world.Ref{}, false
	}
	return v.selected, true
}

func (v View) find(lines []Line) int {
	if v.selected == (world.Ref{}) {
		return -1
	}
	for i := range lines {
		if lines[i].Link == v.selected {
			return i
		}
	}
	return -1
}

// Move moves through the lines in a window of h: to the next link where one is
// in sight, by a line where not.
func (v View) Move(m table.Motion, lines []Line, h int) View {
	v.offset = v.clamp(lines, h)
	switch m {
	case table.Up:
		return v.step(lines, h, -1)
	case table.Down:
		return v.step(lines, h, 1)
	case table.PageUp:
		v.offset -= max(1, h-1)
	case table.PageDown:
		v.offset += max(1, h-1)
	case table.HalfUp:
		v.offset -= max(1, h/2)
	case table.HalfDown:
		v.offset += max(1, h/2)
	case table.Top:
		v.offset = 0
	case table.Bottom:
		v.offset = len(lines)
	}
	v.offset = v.clamp(lines, h)
	return v.adopt(lines, h)
}

func (v View) clamp(lines []Line, h int) int { return max(0, min(v.offset, len(lines)-h)) }

func (v View) step(lines []Line, h, by int) View {
	at := v.find(lines)
	seen := at >= v.offset && at < v.offset+h
	if !seen && by > 0 {
		at = v.offset - 1
	} else if !seen {
		at = v.offset + h
	}
	for i := at + by; i >= 0 && i < len(lines); i += by {
		if i < v.offset || i >= v.offset+h {
			break
		}
		if lines[i].Link != (world.Ref{}) && lines[i].Link != v.selected {
			v.selected = lines[i].Link
			return v
		}
	}
	v.offset += by
	v.offset = v.clamp(lines, h)
	// A link that scrolls into sight is taken, so that holding the key walks on.
	edge := v.offset
	if by > 0 {
		edge = v.offset + h - 1
	}
	if edge >= 0 && edge < len(lines) && lines[edge].Link != (world.Ref{}) {
		v.selected = lines[edge].Link
	}
	return v
}

// adopt moves the selection to a link in sight.
func (v View) adopt(lines []Line, h int) View {
	if at := v.find(lines); at >= v.offset && at < v.offset+h {
		return v
	}
	for i := v.offset; i < min(len(lines), v.offset+h); i++ {
		if lines[i].Link != (world.Ref{}) {
			v.selected = lines[i].Link
			return v
		}
	}
	return v
}

// Lines returns the h lines that are seen, each exactly w cells wide.
func (v View) Lines(th *theme.Theme, lines []Line, w, h int) []string {
	from := v.clamp(lines, h)
	at := v.find(lines)
	out := make([]string, 0, h)
	for i := from; i < min(len(lines), from+h); i++ {
		s := ""
		switch {
		case i == at:
			s = th.Paint(theme.Selected, term.Fit(th.Glyph.Cursor+" "+lines[i].Plain, w, th.Glyph.Ellipsis))
		default:
			s = term.Fit("  "+lines[i].Text, w, th.Glyph.Ellipsis)
		}
		out = append(out, s)
	}
	for len(out) < h {
		out = append(out, term.Spaces(w))
	}
	return out
}

// More says whether there is text above and below a window of h lines.
func (v View) More(lines []Line, h int) (above, below bool) {
	from := v.clamp(lines, h)
	return from > 0, from+h < len(lines)
}
