package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/ui/theme"
)

// press finds the binding of a key and runs it: the top dialog's, or the
// screen's and then the root's.
func (r root) press(k tea.KeyMsg) (tea.Model, tea.Cmd) {
	if k.Type == tea.KeyRunes && len(k.Runes) > 1 && !k.Paste && !k.Alt && !r.taking() {
		return r.pressEach(k.Runes)
	}
	r.status = say{}
	switch k.String() {
	case "ctrl+l":
		return r, tea.ClearScreen
	case "ctrl+z":
		return r, tea.Suspend
	}
	if (r.w < leastW || r.h < leastH) && k.String() != "ctrl+c" {
		return r, nil // what is not seen is not to be acted on
	}
	if len(r.dialogs) > 0 {
		return r.pressDialog(k)
	}
	if k.String() == "ctrl+c" {
		return r, tea.Quit
	}
	s := r.top()
	if t, ok := s.(typer); ok && t.Typing() {
		next, want := s.Update(r.env(), k)
		return r.setTop(next).want(want)
	}
	if k.Paste {
		return r, nil
	}
	return r.pressScreen(k.String())
}

// pressScreen does what the key does on the screen.
func (r root) pressScreen(key string) (root, tea.Cmd) {
	for _, b := range append(r.top().Keys(), r.keys()...) {
		if !b.has(key) {
			continue
		}
		if ok, why := b.enabled(r.env()); !ok {
			r.status = refused(b, why)
			return r, nil
		}
		if b.Root != nil {
			next, want := b.Root(r)
			return next.want(want)
		}
		next, want := b.Run(r.env())
		return r.setTop(next).want(want)
	}
	return r, nil
}

// haunt is what the palette may find now.
func (r root) haunt() haunt {
	h := haunt{snap: r.shown, contexts: r.opt.Contexts, context: r.live.Contract.Context, deeds: append(r.top().Keys(), r.keys()...)}
	for _, b := range h.deeds {
		if b.Command != "" {
			h.commands = append(h.commands, b)
		}
	}
	return h
}

// freeze stops or starts the screen.
func (r root) freeze() (root, Intent) {
	if r.frozen.IsZero() {
		r.frozen = r.shownAt
		return r, say{"frozen: what you see is as of " + stamp(r.now, r.frozen) + "; z goes on", theme.Warn}
	}
	r.frozen, r.still = time.Time{}, 0
	return r, jump{r.tab} // shows the newest
}

// refused is the line that says why a binding cannot be used now.
func refused(b Binding, why string) say {
	if b.Name != "" {
		why = b.Name + ": " + why
	}
	return say{why, theme.Warn}
}

// taking reports whether keys go to a dialog or into a text.
func (r root) taking() bool {
	t, ok := r.top().(typer)
	return len(r.dialogs) > 0 || ok && t.Typing()
}

// pressEach presses keys that came at once, as they do over a slow line. As soon as
// one of them opens a dialog or begins a text, the others are its: a dialog may not
// be answered by keys that were pressed before it could be read.
func (r root) pressEach(all []rune) (tea.Model, tea.Cmd) {
	var cmds []tea.Cmd
	for i, x := range all {
		one := tea.KeyMsg{Type: tea.KeyRunes, Runes: all[i : i+1]}
		switch {
		case r.taking():
			one.Runes = all[i:]
		case x == ' ':
			one.Type = tea.KeySpace
		}
		r.ticket++
		next, cmd := r.press(one)
		r, cmds = next.(root), append(cmds, cmd)
		if len(one.Runes) > 1 {
			break
		}
	}
	return r, tea.Batch(cmds...)
}

func (r root) pressDialog(k tea.KeyMsg) (tea.Model, tea.Cmd) {
	d := r.dialog()
	if !k.Paste {
		for _, b := range d.Keys() {
			if !b.has(k.String()) {
				continue
			}
			if ok, why := b.enabled(r.env()); !ok {
				r.status = refused(b, why)
				return r, nil
			}
			next, want := b.Do(r.env())
			return r.setDialog(next).want(want)
		}
	}
	if k.String() == "ctrl+c" {
		return r, tea.Quit
	}
	if t, ok := d.(typer); ok && t.Typing() {
		next, want := d.Update(r.env(), k)
		return r.setDialog(next).want(want)
	}
	return r, nil
}

// keys are what can be pressed on every screen.
func (r root) keys() []Binding {
	esc := Binding{Keys: keys("esc"), Help: "back", Root: func(r root) (root, Intent) { return r, back{} }}
	if len(r.stacks[r.tab]) > 1 {
		esc.Name = "back"
	}
	out := []Binding{
		esc,
		{Keys: keys("?"), Name: "help", Help: "these keys", Root: func(r root) (root, Intent) { return r, open{newHelp(r)} }},
		// On a screen without a filter of its own "/" looks for a name, too: unbound,
		// what is typed after it would be taken for actions.
		{Keys: keys(":", "/"), Name: "go to", Help: "go to a tab, queue, Workload, namespace or context by name, or do something (:apply FILE)", Root: func(r root) (root, Intent) { return r, open{newPalette(r.haunt())} }},
		{Keys: keys("q"), Name: "quit", Help: "back; on a tab's first page: quit", Root: func(r root) (root, Intent) {
			if len(r.stacks[r.tab]) > 1 {
				return r, back{}
			}
			return r, quit{}
		}},
		{Keys: keys("tab"), Help: "next tab", Root: func(r root) (root, Intent) { return r, jump{(r.tab + 1) % tabs} }},
		{Keys: keys("shift+tab"), Help: "previous tab", Root: func(r root) (root, Intent) { return r, jump{(r.tab + tabs - 1) % tabs} }},
	}
	for t := range tabs {
		if k := t.key(); k != "" {
			out = append(out, Binding{Keys: keys(k), Help: "go to " + t.String(), Root: func(r root) (root, Intent) { return r.toTab(t) }})
		}
	}
	return append(out,
		applyKey(),
		Binding{Keys: keys("z"), Name: "freeze", Help: "freeze the screen: nothing on it changes until z again", Root: root.freeze},
		r.copyKey(),
		Binding{Keys: keys("ctrl+l"), Help: "draw the screen anew"},
		Binding{Keys: keys("ctrl+z"), Help: "suspend"},
		Binding{Keys: keys("ctrl+c"), Help: "quit"},
	)
}

// toTab goes to the tab as it was left, and from what was opened in it up to its list.
func (r root) toTab(t Tab) (root, Intent) {
	if r.tab == t {
		r.stacks[t] = r.stacks[t][:1:1]
	}
	return r, jump{t}
}
