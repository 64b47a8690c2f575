package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/ui/theme"
)

// looks are the flags of how the console draws and what it does with the
// terminal.
type looks struct {
	theme   string
	noColor bool
	ascii   bool
	sync    string
	mouse   bool
	// given reports whether a flag was given.
	given func(name string) bool
}

func (l *looks) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&l.theme, "theme", string(theme.Dark), "colours of the console: "+themes())
	f.BoolVar(&l.noColor, "no-color", os.Getenv("NO_COLOR") != "", "draw without colours (or set NO_COLOR)")
	f.BoolVar(&l.ascii, "ascii", false, "draw with ASCII characters only (default: where the locale is not UTF-8, and on the Linux console)")
	f.StringVar(&l.sync, "sync-output", "auto", "show each frame at once, for terminals that know synchronized updates: auto, on or off")
	f.BoolVar(&l.mouse, "mouse", false, "scroll with the wheel, click on tabs; the terminal's own selection then needs Shift")
	l.given = f.Changed
}

func themes() string {
	var all []string
	for _, n := range theme.Names() {
		all = append(all, string(n))
	}
	return strings.Join(all, ", ")
}

// habits are what the console does with this terminal.
type habits struct {
	sync, ascii, tmux bool
	// noCopy says why nothing can be copied.
	noCopy string
}

// habits works them out from the flags and the environment. The error is one of
// the flags.
func (l *looks) habits(env func(string) string) (habits, error) {
	h := habits{ascii: l.ascii, tmux: env("TMUX") != ""}
	if !slices.Contains(theme.Names(), theme.Name(l.theme)) {
		return h, fmt.Errorf("there is no theme %q; choose one of %s", l.theme, themes())
	}
	switch l.sync {
	case "on":
		h.sync = true
	case "off":
	case "auto":
		h.sync = synchronizes(env)
	default:
		return h, fmt.Errorf("--sync-output takes auto, on or off, not %q", l.sync)
	}
	// The kernel's console has a font of a few hundred signs, and older ones draw
	// the text of a clipboard sequence.
	console := env("TERM") == "linux"
	if console {
		h.noCopy = "the Linux console has no clipboard"
	}
	if !l.given("ascii") {
		h.ascii = console || !speaksUTF8(env)
	}
	return h, nil
}

// synchronizing are terminals that are known to do synchronized updates well, by
// what they put into the environment.
var synchronizing = map[string][]string{
	"TERM":         {"alacritty", "contour", "foot", "foot-extra", "xterm-ghostty", "xterm-kitty"},
	"TERM_PROGRAM": {"WezTerm", "ghostty", "iTerm.app"},
}

// synchronizes reports whether it is safe to ask for synchronized updates without
// having been told. Behind tmux, screen and SSH the environment does not tell which
// terminal it is in the end.
func synchronizes(env func(string) string) bool {
	for _, between := range []string{"TMUX", "STY", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"} {
		if env(between) != "" {
			return false
		}
	}
	for _, name := range []string{"TERM", "TERM_PROGRAM"} {
		if slices.Contains(synchronizing[name], env(name)) {
			return true
		}
	}
	return false
}

// speaksUTF8 reports whether the locale is one of UTF-8. Where none is set, as in
// many containers, the terminal is outside and most likely is.
func speaksUTF8(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}
