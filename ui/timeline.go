package ui

import (
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"k8s.io/apimachinery/pkg/types"

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
	head := "TIMELINE"
	switch {
	case l.ticket != 0 && !l.done:
		p.text("TIMELINE", "reading"+p.e.Theme.Glyph.Ellipsis, theme.Dim)
		return
	case l.err != nil:
		for i, s := range problem(l.err) {
			if i == 0 {
				s = "unknown: " + s
			}
			p.text(head, s, theme.Warn)
			head = ""
		}
		if l.detail.ReadAt.IsZero() {
			return
		}
		p.text("", "What was read before:", theme.Dim)
	case !l.done:
		p.text("TIMELINE", "not read; r reads it", theme.Dim)
		return
	}
	if l.detail.EventsUnknown != "" {
		p.text(head, "events unknown: "+l.detail.EventsUnknown, theme.Warn)
		head = ""
	}
	all := l.detail.Timeline
	for i := 0; i < len(all); {
		n := sameWords(all[i:])
		p.text(head, stamp(p.e.Now, all[i].At)+" "+told(p.e, all[i:i+n]), tone(all[i:i+n]))
		head, i = "", i+n
	}
	if len(l.detail.Timeline) == 0 && l.detail.EventsUnknown == "" {
		p.text(head, "nothing in the last hour, which is as far as the server remembers", theme.Plain)
		head = ""
	}
	p.text(head, "read "+age(p.e.Now, l.detail.ReadAt)+" ago; r reads again", theme.Dim)
}

// sameWords is how many entries from the first on say the same within a second: Kueue
// sets several conditions and writes an event with one message.
func sameWords(all []actions.Entry) int {
	n := 1
	for n < len(all) && all[n].Text == all[0].Text && all[n].Text != "" && all[n].At.Sub(all[0].At).Abs() < 2*time.Second {
		n++
	}
	return n
}

// told are entries with the same words, which stand once, with the names of the
// Workloads that they mean by UID.
func told(e Env, all []actions.Entry) string {
	var heads []string
	for _, x := range all {
		h := strings.TrimSpace(x.Type + " " + x.Reason)
		if x.Count > 1 {
			h += " (" + strconv.Itoa(int(x.Count)) + " times)"
		}
		heads = append(heads, h)
	}
	out := strings.Join(heads, ", ")
	if all[0].Text == "" {
		return out
	}
	out += ": " + all[0].Text
	if _, rest, ok := strings.Cut(all[0].Text, "UID: "); ok {
		uid := rest[:max(0, strings.IndexAny(rest+")", ",) "))]
		if w := e.Snap.Workload(types.UID(uid)); w != nil {
			out += " (that is " + who(w) + ")"
		}
	}
	return out
}

// tone is that of the worst of them.
func tone(all []actions.Entry) theme.Role {
	for _, x := range all {
		if x.Type == "Warning" {
			return theme.Warn
		}
	}
	return theme.Plain
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
		if l.detail.ReadAt.IsZero() {
			return out
		}
		out = append(out, doc.Line{Text: e.Theme.Paint(theme.Dim, "What was read "+age(e.Now, l.detail.ReadAt)+" ago:")})
		return append(out, yamlLines(e, l)...)
	case !l.done:
		return []doc.Line{{Text: "reading" + e.Theme.Glyph.Ellipsis}}
	}
	return yamlLines(e, l)
}

func yamlLines(e Env, l loaded) []doc.Line {
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
