package ui

import "cli.holdfast.dev/holdfast/ui/table"

// Binding is a key and what it does. One table of them drives the keys, the
// footer, the help and the reasons why something cannot be done.
type Binding struct {
	Keys []string
	Name string // one word for the footer; empty: not in the footer
	Help string // a sentence for the help
	// Enabled says whether it can be done now and, if not, why. Nil is always.
	Enabled func(Env) (ok bool, why string)
	// Run does it for a screen, Do for a dialog, Root for the root; one is set.
	Run  func(Env) (Screen, Intent)
	Do   func(Env) (Dialog, Intent)
	Root func(root) (root, Intent)
	// Command is what it is called in the palette, where it is set; Argument is what
	// follows it there, and With begins it with that, which may be empty.
	Command, Argument string
	With              func(e Env, argument string) Dialog
}

func (b Binding) has(key string) bool {
	for _, k := range b.Keys {
		if k == key {
			return true
		}
	}
	return false
}

func (b Binding) enabled(e Env) (bool, string) {
	if b.Enabled == nil {
		return true, ""
	}
	return b.Enabled(e)
}

func keys(k ...string) []string { return k }

// motion is one way to move and its keys.
type motion struct {
	keys []string
	step table.Motion
	help string
}

var motions = []motion{
	{keys("up", "k"), table.Up, "up"},
	{keys("down", "j"), table.Down, "down"},
	{keys("pgup", "ctrl+b"), table.PageUp, "a page up"},
	{keys("pgdown", "ctrl+f"), table.PageDown, "a page down"},
	{keys("ctrl+u"), table.HalfUp, "half a page up"},
	{keys("ctrl+d"), table.HalfDown, "half a page down"},
	{keys("home", "g"), table.Top, "to the top"},
	{keys("end", "G"), table.Bottom, "to the end"},
}

// moving returns the bindings that move a screen.
func moving(f func(Env, table.Motion) Screen) []Binding {
	out := make([]Binding, 0, len(motions))
	for _, m := range motions {
		out = append(out, Binding{Keys: m.keys, Help: m.help, Run: func(e Env) (Screen, Intent) { return f(e, m.step), nil }})
	}
	return out
}

// scrolling returns the bindings that scroll a dialog. Those that type text
// leave the letters out.
func scrolling(f func(Env, table.Motion) Dialog, letters bool) []Binding {
	var out []Binding
	for _, m := range motions {
		ks := m.keys
		if !letters {
			ks = nil
			for _, k := range m.keys {
				if len(k) > 1 && k != "ctrl+u" {
					ks = append(ks, k)
				}
			}
		}
		if len(ks) > 0 {
			out = append(out, Binding{Keys: ks, Help: m.help, Do: func(e Env) (Dialog, Intent) { return f(e, m.step), nil }})
		}
	}
	return out
}
