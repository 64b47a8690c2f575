package ui

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// palette goes to a tab, an object, a namespace or another context by name, and says
// commands.
type palette struct {
	text  input
	from  haunt
	found []place
	at    int
	asked uint64
	going bool // Enter was the last key and came before the answer
}

type foundMsg struct {
	ticket uint64
	places []place
}

func newPalette(h haunt) palette { return palette{from: h, found: findPlaces(h, "")} }

// Title is Dialog's.
func (d palette) Title(Env) string { return "Go to" }

// Typing is typer's.
func (d palette) Typing() bool { return true }

// Keys is Dialog's.
func (d palette) Keys() []Binding {
	return []Binding{
		{Keys: keys("enter"), Name: "go", Help: "go there, or do that", Do: d.goThere},
		{Keys: keys("esc"), Name: "cancel", Help: "stay", Do: func(Env) (Dialog, Intent) { return d, closeDialog{} }},
		{Keys: keys("up", "ctrl+p"), Help: "up", Do: func(Env) (Dialog, Intent) {
			d.at, d.going = max(0, d.at-1), false
			return d, nil
		}},
		{Keys: keys("down", "ctrl+n", "tab"), Help: "down", Do: func(Env) (Dialog, Intent) {
			d.at, d.going = max(0, min(len(d.found)-1, d.at+1)), false
			return d, nil
		}},
	}
}

func (d palette) goThere(e Env) (Dialog, Intent) {
	if d.asked != 0 {
		d.going = true // as soon as what is found belongs to what was typed
		return d, nil
	}
	if d.at >= len(d.found) {
		return d, nil
	}
	p := d.found[d.at]
	if why := p.refusal(e); why != "" {
		return d, say{p.name + ": " + why, theme.Warn}
	}
	_, rest, _ := strings.Cut(strings.TrimSpace(d.text.text), " ")
	return d, p.to(e, strings.TrimSpace(rest))
}

// Update is Dialog's.
func (d palette) Update(e Env, m tea.Msg) (Dialog, Intent) {
	switch m := m.(type) {
	case foundMsg:
		if m.ticket == d.asked {
			d.found, d.at, d.asked = m.places, 0, 0
			if d.going {
				d.going = false
				return d.goThere(e)
			}
		}
	case tea.KeyMsg:
		d.going = false
		next, ok := d.text.key(m)
		if !ok || next == d.text {
			return d, nil
		}
		d.text, d.asked = next, e.Ticket
		h, text, ticket := d.from, strings.ToLower(strings.TrimSpace(next.text)), e.Ticket
		if strings.HasSuffix(next.text, " ") {
			text += " " // a command is written out
		}
		return d, run{e.ask(func(context.Context) tea.Msg { return foundMsg{ticket, findPlaces(h, text)} })}
	}
	return d, nil
}

// View is Dialog's.
func (d palette) View(e Env, w, h int) []string {
	g := e.Theme.Glyph
	out := []string{e.Theme.Paint(theme.Info, ":") + d.text.view(e.Theme, w-1)}
	room := min(20, h-1)
	from := max(0, d.at-room+1)
	for i := from; i < min(len(d.found), from+room); i++ {
		p := d.found[i]
		role, hint := theme.Plain, p.hint
		if why := p.refusal(e); why != "" {
			role, hint = theme.Dim, "not now: "+why
		}
		name := term.Clip(p.name, w-2, g.Ellipsis)
		if room := w - 4 - term.Width(name); hint != "" && room > 8 {
			hint = "  " + term.Clip(hint, room, g.Ellipsis)
		} else {
			hint = ""
		}
		if i == d.at {
			out = append(out, e.Theme.Paint(theme.Selected, term.Fit(g.Cursor+" "+name+hint, w, g.Ellipsis)))
			continue
		}
		out = append(out, "  "+e.Theme.Paint(role, name)+e.Theme.Paint(theme.Dim, hint))
	}
	if len(d.found) == 0 {
		out = append(out, e.Theme.Paint(theme.Dim, "  nothing has this name"))
	}
	return out
}
