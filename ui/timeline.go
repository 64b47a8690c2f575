package ui

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// cleanDetail makes what the Desk read safe to draw.
func cleanDetail(d actions.Detail) actions.Detail {
	out := actions.Detail{EventsUnknown: text.Clean(d.EventsUnknown), PodsUnknown: text.Clean(d.PodsUnknown), Pods: d.Pods, Nodes: d.Nodes, NodesUnknown: text.Clean(d.NodesUnknown), ReadAt: d.ReadAt, YAML: make([]string, len(d.YAML)), Timeline: make([]actions.Entry, len(d.Timeline))}
	for i, l := range d.YAML {
		out.YAML[i] = text.Clean(strings.ReplaceAll(l, "\t", "    "))
	}
	for i, x := range d.Timeline {
		x.Kind, x.Type, x.Reason, x.Text = text.Clean(x.Kind), text.Clean(x.Type), text.Clean(x.Reason), text.Clean(x.Text)
		out.Timeline[i] = x
	}
	return out
}

// problem is an error as lines to draw, with what to do next.
func problem(err error) []string {
	out := text.Lines(err.Error())
	if a, ok := err.(interface{ Advice() string }); ok && a.Advice() != "" {
		out = append(out, text.Lines(a.Advice())...)
	}
	return out
}

// timelineDoc writes conditions and events in one order, oldest first.
func timelineDoc(p *paper, l loaded) {
	switch {
	case l.ticket != 0 && !l.done:
		p.text("TIMELINE", "reading"+p.e.Theme.Glyph.Ellipsis, theme.Dim)
		return
	case l.err != nil:
		for i, s := range problem(l.err) {
			head := ""
			if i == 0 {
				head, s = "TIMELINE", "unknown: "+s
			}
			p.text(head, s, theme.Warn)
		}
		return
	case !l.done:
		p.text("TIMELINE", "not read; r reads it", theme.Dim)
		return
	}
	head := "TIMELINE"
	if l.detail.EventsUnknown != "" {
		p.text(head, "events unknown: "+l.detail.EventsUnknown, theme.Warn)
		head = ""
	}
	for _, x := range l.detail.Timeline {
		role := theme.Plain
		if x.Type == "Warning" {
			role = theme.Warn
		}
		s := stamp(p.e.Now, x.At) + "  " + x.Type + " " + x.Reason
		if x.Count > 1 {
			s += " (" + strconv.Itoa(int(x.Count)) + " times)"
		}
		if x.Text != "" {
			s += ": " + x.Text
		}
		p.text(head, s, role)
		head = ""
	}
	if len(l.detail.Timeline) == 0 && l.detail.EventsUnknown == "" {
		p.text(head, "nothing in the last hour, which is as far as the server remembers", theme.Plain)
		head = ""
	}
	p.text(head, "read "+age(p.e.Now, l.detail.ReadAt)+" ago; r reads again", theme.Dim)
}

// yamlDoc is the object's YAML as a document.
func yamlDoc(e Env, l loaded) []doc.Line {
	switch {
	case l.err != nil:
		var out []doc.Line
		for _, s := range problem(l.err) {
			for _, x := range term.Wrap(s, e.W-3) {
				out = append(out, doc.Line{Text: e.Theme.Paint(theme.Warn, x)})
			}
		}
		return out
	case !l.done:
		return []doc.Line{{Text: "reading" + e.Theme.Glyph.Ellipsis}}
	}
	out := make([]doc.Line, 0, len(l.detail.YAML))
	for _, s := range broken(l.detail.YAML, e.W-3) {
		key, rest, ok := strings.Cut(s, ":")
		if ok && !strings.ContainsAny(key, `"'{`) {
			out = append(out, doc.Line{Text: e.Theme.Paint(theme.Info, key) + ":" + rest})
			continue
		}
		out = append(out, doc.Line{Text: s})
	}
	return out
}

// broken breaks lines that are wider than w wherever that is.
func broken(lines []string, w int) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		out = append(out, strings.Split(ansi.Hardwrap(l, max(1, w), true), "\n")...)
	}
	return out
}
