// Package theme has the colours and signs that the console draws with.
//
// Colours are roles on the terminal's own sixteen, so that they fit the
// person's palette. A colour never says anything that the words beside it do
// not say too.
package theme

import "fmt"

// Role is what a piece of text is for.
type Role uint8

// The roles. Plain is the terminal's own colour.
const (
	Plain    Role = iota
	Dim           // less important than its neighbours
	Strong        // headings and names
	Good          // as it should be
	Warn          // look at it
	Alarm         // a person is needed
	Info          // a place to go to
	Selected      // the row under the cursor
	Badge         // a mode that changes what keys do
	Danger        // a badge that warns
	Added         // a line that a change adds
	Removed       // a line that a change removes
	roles
)

// Name is the name of a theme, as the person gives it.
type Name string

// The themes.
const (
	Dark     Name = "dark"     // for a dark background
	Light    Name = "light"    // for a light one, on which yellow and green cannot be read
	Contrast Name = "contrast" // for a dark one; bold and bright instead of faint
	Mono     Name = "mono"     // no colour; weight and reverse video only
)

// Names lists the themes.
func Names() []Name { return []Name{Dark, Light, Contrast, Mono} }

// Theme turns roles into what the terminal understands. It never changes.
type Theme struct {
	pre [roles]string
	// Glyph are the signs to draw with.
	Glyph Glyphs
}

const reset = "\x1b[m"

var palettes = map[Name][roles]string{
	Dark: {
		Dim: "\x1b[2m", Strong: "\x1b[1m", Good: "\x1b[32m", Warn: "\x1b[33m", Alarm: "\x1b[1;31m", Info: "\x1b[36m",
		Selected: "\x1b[7m", Badge: "\x1b[7m", Danger: "\x1b[1;7;31m", Added: "\x1b[32m", Removed: "\x1b[31m",
	},
	Light: {
		Dim: "\x1b[2m", Strong: "\x1b[1m", Good: "\x1b[34m", Warn: "\x1b[35m", Alarm: "\x1b[1;31m", Info: "\x1b[34m",
		Selected: "\x1b[7m", Badge: "\x1b[7m", Danger: "\x1b[1;7;31m", Added: "\x1b[34m", Removed: "\x1b[31m",
	},
	Contrast: {
		Strong: "\x1b[1m", Good: "\x1b[1;92m", Warn: "\x1b[1;93m", Alarm: "\x1b[1;91m", Info: "\x1b[1;96m",
		Selected: "\x1b[1;7m", Badge: "\x1b[1;7m", Danger: "\x1b[1;7;91m", Added: "\x1b[1;92m", Removed: "\x1b[1;91m",
	},
	Mono: {
		Dim: "\x1b[2m", Strong: "\x1b[1m", Warn: "\x1b[1m", Alarm: "\x1b[1m",
		Selected: "\x1b[7m", Badge: "\x1b[7m", Danger: "\x1b[1;7m", Added: "\x1b[1m",
	},
}

// New returns the theme of the name; an empty one is Dark. noColor gives Mono whatever the name is;
// ascii draws with ASCII signs only.
func New(name Name, noColor, ascii bool) (*Theme, error) {
	if name == "" {
		name = Dark
	}
	pre, ok := palettes[name]
	if !ok {
		return nil, fmt.Errorf("theme %q does not exist; choose one of %v", name, Names())
	}
	if noColor {
		pre = palettes[Mono]
	}
	t := &Theme{pre: pre, Glyph: unicode}
	if ascii {
		t.Glyph = asciiOnly
	}
	return t, nil
}

// Paint returns s in the role's colours. s must not hold escape sequences.
func (t *Theme) Paint(r Role, s string) string {
	if t.pre[r] == "" || s == "" {
		return s
	}
	return t.pre[r] + s + reset
}
