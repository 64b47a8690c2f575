package ui

import (
	"strings"

	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// strip is the part below a table that says all about the row under the cursor,
// for which its line has no room.
type strip struct {
	legend string // what the signs above mean
	head   string // what the row is
	tail   string // where it belongs
	call   string // what to do about it
	text   string // the sentence
	role   theme.Role
	// room is the number of lines of text, 0 for the usual; all is the key that shows
	// what there is no room for, empty for Enter.
	room int
	all  string
}

// stripLines is its usual height: a rule, a head, and two lines of text.
const stripLines = 4

// lines is the height of the strip.
func (s strip) lines() int {
	if s.room == 0 {
		return stripLines
	}
	return s.room + 2
}

// stripHeight is the room for a strip; a low terminal has none.
func stripHeight(e Env) int {
	if e.H < 12 {
		return 0
	}
	return stripLines
}

// withStrip adds the strip at the foot of the body.
func withStrip(e Env, body []string, s strip) []string {
	if stripHeight(e) == 0 {
		return body
	}
	for len(body) < e.H-s.lines() {
		body = append(body, "")
	}
	g := e.Theme.Glyph
	legend := s.legend
	if legend != "" {
		legend = " " + legend + " " + g.Flat
	}
	legend = term.Clip(legend, e.W, "")
	rule := strings.Repeat(g.Flat, max(0, e.W-term.Width(legend))) + legend
	head, text := e.Theme.Paint(theme.Strong, s.head)+s.tail, s.text
	switch call := g.Arrow + " " + s.call; {
	case s.call == "":
	case term.Width(head)+2+term.Width(call) < e.W:
		head += "  " + e.Theme.Paint(s.role, call)
	default: // what to do is never cut
		text = call + ". " + text
	}
	out := append(body, e.Theme.Paint(theme.Dim, rule), " "+term.Clip(head, e.W-1, g.Ellipsis))
	room := s.lines() - 2
	lines := term.Wrap(text, e.W-2)
	if len(lines) > room {
		more := " (" + or(s.all, "Enter") + ": all)"
		lines = lines[:room]
		lines[room-1] = term.Clip(lines[room-1], e.W-4-len(more), "") + g.Ellipsis + more
	}
	for _, l := range lines {
		out = append(out, " "+e.Theme.Paint(s.role, l))
	}
	return out
}
