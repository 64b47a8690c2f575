package ui

import (
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// paper is a document under construction, w cells wide.
type paper struct {
	e     Env
	w     int
	lines []doc.Line
}

// margin is the room for headings at the left.
const margin = 10

// newPaper leaves room for the mark of a link.
func newPaper(e Env) *paper { return &paper{e: e, w: max(20, e.W-2)} }

func (p *paper) gap() {
	if n := len(p.lines); n > 0 && p.lines[n-1].Text != "" {
		p.lines = append(p.lines, doc.Line{})
	}
}

// raw adds a line as it is.
func (p *paper) raw(text string) { p.lines = append(p.lines, doc.Line{Text: text}) }

// text adds wrapped text with a heading at its left.
func (p *paper) text(head, s string, role theme.Role) {
	for i, l := range term.Wrap(s, p.w-margin) {
		if i > 0 {
			head = ""
		}
		p.raw(p.e.Theme.Paint(theme.Strong, term.Fit(head, margin, "")) + p.e.Theme.Paint(role, l))
	}
}

// link adds a line that opens the object.
func (p *paper) link(head, s string, role theme.Role, to world.Ref) {
	if to == (world.Ref{}) {
		p.text(head, s, role)
		return
	}
	s = term.Clip(s, p.w-margin, p.e.Theme.Glyph.Ellipsis)
	p.lines = append(p.lines, doc.Line{
		Text:  p.e.Theme.Paint(theme.Strong, term.Fit(head, margin, "")) + p.e.Theme.Paint(role, s),
		Plain: term.Fit(head, margin, "") + s, Link: to,
	})
}

// plainLines are the lines for where nothing can be opened.
func (p *paper) plainLines() []string {
	out := make([]string, len(p.lines))
	for i, l := range p.lines {
		out[i] = l.Text
	}
	return out
}
