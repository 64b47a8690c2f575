package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// pageOf is the window of h lines of a text, with a mark at its end where there
// is more below: a page that ends at the edge of the screen looks like all.
func pageOf(th *theme.Theme, v doc.View, lines []doc.Line, w, h int) []string {
	out := v.Lines(th, lines, w, h)
	_, below := v.More(lines, h)
	if !below || len(out) == 0 {
		return out
	}
	mark := " " + th.Glyph.Down + " more "
	room := w - ansi.StringWidth(mark)
	if room < 0 {
		return out
	}
	last := ansi.Truncate(out[len(out)-1], room, "")
	out[len(out)-1] = last + strings.Repeat(" ", max(0, room-ansi.StringWidth(last))) + th.Paint(theme.Info, mark)
	return out
}
