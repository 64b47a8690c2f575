package ui

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/sahilm/fuzzy"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// place is somewhere the palette can go: a tab, or an object.
type place struct {
	name string
	tab  Tab
	ref  world.Ref
}

// mostPlaces bounds the answers.
const mostPlaces = 50

// palette goes to a tab, queue or Workload by name.
type palette struct {
	text  input
	found []place
	at    int
	asked uint64
	going bool // Enter came before the answer
	snap  *store.Snapshot
}

type foundMsg struct {
	ticket uint64
	places []place
}

func newPalette(e Env) palette { return palette{snap: e.Snap, found: findPlaces(e.Snap, "")} }

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
		snap, text, ticket := d.snap, strings.ToLower(strings.TrimSpace(next.text)), e.Ticket
		return d, run{e.ask(func(context.Context) tea.Msg { return foundMsg{ticket, findPlaces(snap, text)} })}
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
		queues = append(queues, place{"ClusterQueue " + q.Name, TabQueues, q.Ref()})
	}
	for _, q := range s.LocalQueues {
		queues = append(queues, place{"LocalQueue " + q.Key.String(), TabQueues, q.Ref()})
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
			out = append(out, place{"Workload " + job + " (" + w.State.String() + ")", TabWorkloads, w.Ref()})
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

// View is Dialog's.
func (d palette) View(e Env, w, h int) []string {
	out := []string{e.Theme.Paint(theme.Info, ":") + d.text.view(e.Theme, w-1)}
	room := min(12, h-1)
	from := max(0, d.at-room+1)
	for i := from; i < min(len(d.found), from+room); i++ {
		if i == d.at {
			out = append(out, e.Theme.Paint(theme.Selected, term.Fit(e.Theme.Glyph.Cursor+" "+d.found[i].name, w, e.Theme.Glyph.Ellipsis)))
			continue
		}
		out = append(out, "  "+d.found[i].name)
	}
	if len(d.found) == 0 {
		out = append(out, e.Theme.Paint(theme.Dim, "  nothing has this name"))
	}
	return out
}
