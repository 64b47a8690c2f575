package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// help lists the keys of a screen, out of the same table that they are
// dispatched from.
type help struct {
	title        string
	here, always []Binding
	view         doc.View
}

func newHelp(r root) help {
	env := r.env()
	name, _ := r.top().Title(env)
	return help{title: "Keys: " + name, here: r.top().Keys(), always: r.keys()}
}

// Title is Dialog's.
func (d help) Title(Env) string { return d.title }

// Keys is Dialog's.
func (d help) Keys() []Binding {
	out := []Binding{{Keys: keys("esc", "?", "q", "enter"), Name: "close", Help: "close", Do: func(Env) (Dialog, Intent) { return d, closeDialog{} }}}
	return append(out, scrolling(func(e Env, m table.Motion) Dialog {
		w, h := inside(e)
		d.view = d.view.Move(m, d.doc(e, w), h)
		return d
	}, true)...)
}

// Update is Dialog's.
func (d help) Update(Env, tea.Msg) (Dialog, Intent) { return d, nil }

func (d help) doc(e Env, w int) []doc.Line {
	var out []doc.Line
	add := func(bs []Binding) {
		for _, b := range bs {
			var ks []string
			for _, k := range b.Keys {
				ks = append(ks, showKey(k))
			}
			text := b.Help
			role := theme.Plain
			if ok, why := b.enabled(e); !ok {
				text, role = text+" (not now: "+why+")", theme.Dim
			}
			for i, l := range term.Wrap(text, w-20) {
				head := ""
				if i == 0 {
					head = strings.Join(ks, " ")
				}
				out = append(out, doc.Line{Text: e.Theme.Paint(theme.Info, term.Fit(head, 16, e.Theme.Glyph.Ellipsis)) + " " + e.Theme.Paint(role, l)})
			}
		}
	}
	add(d.here)
	out = append(out, doc.Line{})
	add(d.always)
	return out
}

// View is Dialog's.
func (d help) View(e Env, w, h int) []string {
	lines := d.doc(e, w)
	return pageOf(e.Theme, d.view, lines, w, min(len(lines), h))
}
