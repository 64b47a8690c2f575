package ui

import (
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/sahilm/fuzzy"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// place is somewhere the palette can go: a tab, an object, or what a command begins.
type place struct {
	name    string
	tab     Tab
	ref     world.Ref
	command *Binding
}

// mostPlaces bounds the answers.
const mostPlaces = 50

// palette goes to a tab, queue or Workload by name, and says commands.
type palette struct {
	text     input
	commands []Binding
	found    []place
	at       int
	asked    uint64
	going    bool // Enter came before the answer
	snap     *store.Snapshot
}

type foundMsg struct {
	ticket uint64
	places []place
}

func newPalette(e Env, commands []Binding) palette {
	return palette{snap: e.Snap, commands: commands, found: withCommands(findPlaces(e.Snap, ""), commands, "")}
}

// commandsOf are the bindings that can be said in the palette.
func commandsOf(all []Binding) []Binding {
	return slices.DeleteFunc(slices.Clone(all), func(b Binding) bool { return b.Command == "" })
}

// withCommands adds the commands that the text may mean: one that is written out comes
// first, one that is only begun last, so that no queue of that name is out of reach.
func withCommands(places []place, commands []Binding, text string) []place {
	word, _, _ := strings.Cut(text, " ")
	for _, b := range commands {
		p := place{name: b.Command + " " + b.Argument, command: &b}
		switch {
		case word == b.Command && word != text:
			return []place{p} // what follows is no name
		case word == b.Command:
			places = append([]place{p}, places...)
		case text == "":
			places = slices.Insert(places, min(int(tabs), len(places)), p)
		case strings.HasPrefix(b.Command, text):
			places = append(places, p)
		}
	}
	return places
}

// Title is Dialog's.
func (d palette) Title(Env) string { return "Go to" }

// Typing is typer's.
func (d palette) Typing() bool { return true }

// Keys is Dialog's.
func (d palette) Keys() []Binding {
	return []Binding{
		{Keys: keys("enter"), Name: "go", Help: "go there", Do: d.goThere},
		{Keys: keys("esc"), Name: "cancel", Help: "stay", Do: func(Env) (Dialog, Intent) { return d, closeDialog{} }},
		{Keys: keys("up", "ctrl+p"), Help: "up", Do: func(Env) (Dialog, Intent) { d.at = max(0, d.at-1); return d, nil }},
		{Keys: keys("down", "ctrl+n", "tab"), Help: "down", Do: func(Env) (Dialog, Intent) {
			d.at = max(0, min(len(d.found)-1, d.at+1))
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
	if p.command != nil {
		if ok, why := p.command.enabled(e); !ok {
			return d, say{p.command.Name + ": " + why, theme.Warn}
		}
		rest := ""
		if word, after, _ := strings.Cut(strings.TrimSpace(d.text.text), " "); strings.EqualFold(word, p.command.Command) {
			rest = strings.TrimSpace(after)
		}
		return d, swap{dialog: p.command.With(e, rest)}
	}
	if p.ref == (world.Ref{}) {
		return d, visit{tab: p.tab}
	}
	s := screenFor(e, p.ref)
	if s == nil {
		return d, say{p.ref.String() + " does not exist any more", theme.Warn}
	}
	return d, visit{tab: p.tab, screen: s}
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
		next, ok := d.text.key(m)
		if !ok || next == d.text {
			return d, nil
		}
		d.text, d.asked = next, e.Ticket
		snap, commands, text, ticket := d.snap, d.commands, strings.ToLower(strings.TrimSpace(next.text)), e.Ticket
		return d, run{e.ask(func(context.Context) tea.Msg {
			return foundMsg{ticket, withCommands(findPlaces(snap, text), commands, text)}
		})}
	}
	return d, nil
}

// findPlaces lists the places whose names hold the text, tabs and queues first;
// without any, those that resemble it.
func findPlaces(s *store.Snapshot, text string) []place {
	var out, queues []place
	take := func(p place) bool {
		if strings.Contains(strings.ToLower(p.name), text) {
			out = append(out, p)
		}
		return len(out) < mostPlaces
	}
	for t := range tabs {
		take(place{name: t.String(), tab: t})
	}
	for _, q := range s.ClusterQueues {
		queues = append(queues, place{name: "ClusterQueue " + q.Name, tab: TabQueues, ref: q.Ref()})
	}
	for _, q := range s.LocalQueues {
		queues = append(queues, place{name: "LocalQueue " + q.Key.String(), tab: TabQueues, ref: q.Ref()})
	}
	for _, p := range queues {
		if !take(p) {
			return out
		}
	}
	if text == "" {
		return out
	}
	for _, w := range s.Workloads {
		job := w.Namespace + "/" + w.JobName()
		if strings.Contains(job, text) || strings.Contains(w.Name, text) {
			out = append(out, place{name: "Workload " + job + " (" + w.State.String() + ")", tab: TabWorkloads, ref: w.Ref()})
			if len(out) >= mostPlaces {
				return out
			}
		}
	}
	if len(out) == 0 {
		for _, m := range fuzzy.FindFrom(text, placeNames(queues)) {
			if len(out) == mostPlaces {
				break
			}
			out = append(out, queues[m.Index])
		}
	}
	return out
}

type placeNames []place

func (p placeNames) Len() int            { return len(p) }
func (p placeNames) String(i int) string { return p[i].name }

// said is the place in words, with why a command is not to be had.
func (p place) said(e Env) (string, theme.Role) {
	if p.command == nil {
		return p.name, theme.Plain
	}
	if ok, why := p.command.enabled(e); !ok {
		return p.name + "  (not now: " + why + ")", theme.Dim
	}
	return p.name + "  " + p.command.Help, theme.Plain
}

// View is Dialog's.
func (d palette) View(e Env, w, h int) []string {
	out := []string{e.Theme.Paint(theme.Info, ":") + d.text.view(e.Theme, w-1)}
	room := min(12, h-1)
	from := max(0, d.at-room+1)
	for i := from; i < min(len(d.found), from+room); i++ {
		name, role := d.found[i].said(e)
		if i == d.at {
			out = append(out, e.Theme.Paint(theme.Selected, term.Fit(e.Theme.Glyph.Cursor+" "+name, w, e.Theme.Glyph.Ellipsis)))
			continue
		}
		out = append(out, e.Theme.Paint(role, "  "+term.Clip(name, w-2, e.Theme.Glyph.Ellipsis)))
	}
	if len(d.found) == 0 {
		out = append(out, e.Theme.Paint(theme.Dim, "  nothing has this name"))
	}
	return out
}
