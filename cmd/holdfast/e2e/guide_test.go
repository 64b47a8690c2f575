//go:build sandbox

package e2e

import (
	"cmp"
	"regexp"
	"strings"
	"testing"
	"time"

	"cli.holdfast.dev/holdfast/cmd/holdfast/internal/seat"
)

// guide presses only keys that the frame before them offers, and counts them: what
// somebody can do who has never seen the program, from the screen alone.
type guide struct {
	*console
	keys int
}

// guided opens the console on its first screen.
func guided(t *testing.T, env []string, args ...string) *guide {
	t.Helper()
	g := &guide{console: open(t, 120, 40, env, args...)}
	g.console.press("1")
	g.Sees("WAITING HELPS")
	return g
}

// key presses keys by what stands before their names on the screen: "Enter", "Esc",
// "down", or a letter or digit.
func (g *guide) key(names ...string) *guide {
	g.T.Helper()
	for _, name := range names {
		eventually(g.T, "an offer of "+name, func() bool { return offered(g.Text(), name) })
		g.keys++
		g.press(cmp.Or(map[string]string{"Enter": enter, "Esc": escape, "down": down, "up": up}[name], name))
	}
	return g
}

// offered reports whether the frame offers the key: in the footer, the tabs or a dialog's
// sentence; rows below the cursor offer the arrows.
func offered(frame, name string) bool {
	lines := strings.Split(strings.TrimRight(frame, "\n "), "\n")
	tabs, footer, all := lines[1], lines[len(lines)-1], seat.Squeeze(frame)
	switch name {
	case "down", "up":
		return strings.Contains(frame, "▸")
	case "Enter", "Esc":
		return strings.Contains(footer, name+" ") || strings.Contains(tabs, name+" ") || strings.Contains(all, name+":") || strings.Contains(all, "and "+name)
	}
	word := regexp.MustCompile(`(^|\s)` + regexp.QuoteMeta(name) + `(\s[a-zA-Z]|:|\s|$)`)
	return word.MatchString(footer) || word.MatchString(tabs) || regexp.MustCompile(`(^|\s)`+regexp.QuoteMeta(name)+`:`).MatchString(all)
}

// says types text where the screen asks for some, once it could be read; every letter
// counts.
func (g *guide) says(text string) *guide {
	g.T.Helper()
	g.Sees("▏")
	time.Sleep(time.Second) // a question takes no answer before
	g.keys += len(text)
	g.types(text)
	return g
}

// to moves the cursor down to the row with the text.
func (g *guide) to(text string) *guide {
	g.T.Helper()
	for range 40 {
		if g.on(text) {
			return g
		}
		before := g.row()
		g.key("down").leaves(before)
	}
	g.T.Fatalf("no row with %q under the cursor", text)
	return g
}

// within fails when it took more keys.
func (g *guide) within(most int, what string) {
	g.T.Helper()
	g.T.Logf("%s: %d keys", what, g.keys)
	if g.keys > most {
		g.T.Errorf("%s took %d keys, more than %d", what, g.keys, most)
	}
}

func TestOffered(t *testing.T) {
	frame := " holdfast  ctx\n 1 Glance  2 Cohorts  5 6           Esc back  ? help\n│ T: take them over   p: plan again │\n▸ row\n Enter open  H hold"
	for name, want := range map[string]bool{"1": true, "5": true, "6": true, "7": false, "H": true, "h": false, "Enter": true, "Esc": true, "down": true, "T": true, "p": true, "o": false, "?": true} {
		if offered(frame, name) != want {
			t.Errorf("%q offered: %t", name, !want)
		}
	}
	if offered(" a\n 1 Glance\n nothing\n H hold", "Enter") || offered(" a\n b\n c\n d", "down") {
		t.Error("a key is offered that is not there")
	}
}
