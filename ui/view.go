package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// View is bubbletea's: exactly h lines of at most w cells. bubbletea drops lines
// from the top when there are more, and the top is what matters most.
func (r root) View() string {
	if r.w <= 0 || r.h <= 0 {
		return ""
	}
	return strings.Join(r.frame(), "\n")
}

func (r root) frame() []string {
	if r.w < leastW || r.h < leastH {
		lines := make([]string, r.h)
		lines[0] = term.Clip("too small (needs 40x10)", r.w, "")
		return lines
	}
	env := r.env()
	page := env
	if !r.frozen.IsZero() {
		page.Now = r.frozen // ages and what is due are those of then, too
	}
	body := r.top().View(page)
	lines := make([]string, 0, r.h)
	lines = append(lines, r.header(), r.tabLine(), r.titleLine(page))
	for i := range env.H {
		l := ""
		if i < len(body) {
			l = body[i]
		}
		lines = append(lines, term.Clip(l, r.w, r.theme.Glyph.Ellipsis))
	}
	if n := len(r.dialogs); n > 0 {
		lines = append(lines[:2], overlay(env, lines[2:], r.dialogs[n-1])...)
	}
	return append(lines, r.footer(env))
}

func (r root) titleLine(env Env) string {
	var names []string
	for _, s := range r.stacks[r.tab] {
		n, _ := s.Title(env)
		names = append(names, n)
	}
	_, right := r.top().Title(env)
	role := theme.Dim
	if !r.frozen.IsZero() {
		right, role = "FROZEN "+age(r.now, r.frozen)+" ago, at "+stamp(r.now, r.frozen)+": z goes on", theme.Danger
	}
	if env.Behind && len(r.dialogs) > 0 && r.frozen.IsZero() {
		// What is behind a dialog stands still, so that the next key meets what was seen.
		right, role = "stands still since "+stamp(r.now, r.shownAt), theme.Warn
	}
	if right != "" {
		right = " " + right + " "
	}
	own := term.Width(names[len(names)-1]) + 5 // with what stands for the names before it
	right = term.Clip(right, max(r.w*2/3, r.w-own), r.theme.Glyph.Ellipsis)
	room := r.w - term.Width(right)
	left := " " + strings.Join(names, " "+r.theme.Glyph.Crumb+" ")
	if term.Width(left) > room {
		left = " " + r.theme.Glyph.Ellipsis + " " + r.theme.Glyph.Crumb + " " + names[len(names)-1]
	}
	return r.theme.Paint(theme.Strong, term.Fit(left, room, r.theme.Glyph.Ellipsis)) + r.theme.Paint(role, right)
}

// footer is the status line when there is something to say, else the keys that
// are most useful here.
func (r root) footer(env Env) string {
	if r.status.text != "" {
		return r.theme.Paint(r.status.role, term.Fit(" "+r.status.text, r.w, r.theme.Glyph.Ellipsis))
	}
	bs := r.top().Keys()
	if n := len(r.dialogs); n > 0 {
		bs = r.dialogs[n-1].Keys()
	}
	line, used := r.hints(env, bs, r.w)
	return line + term.Spaces(r.w-used)
}

// hints writes the keys of those bindings that have a name and can be used now, as
// far as they fit into w cells, and says how many it took.
func (r root) hints(env Env, bs []Binding, w int) (string, int) {
	var b strings.Builder
	used := 0
	for _, x := range bs {
		if x.Name == "" {
			continue
		}
		if ok, _ := x.enabled(env); !ok {
			continue // the help says why
		}
		key := showKey(x.Keys[0])
		n := 1 + term.Width(key) + 1 + term.Width(x.Name) + 1
		if used+n > w {
			continue // a shorter one further on may still fit
		}
		used += n
		b.WriteString(" " + r.theme.Paint(theme.Info, key) + " " + r.theme.Paint(theme.Plain, x.Name) + " ")
	}
	return b.String(), used
}

// showKey writes a key as people call it.
func showKey(k string) string {
	switch k {
	case " ":
		return "space"
	case "enter":
		return "Enter"
	case "esc":
		return "Esc"
	}
	return k
}

// overlay draws the dialog's frame over the lines, which are dimmed.
func overlay(env Env, lines []string, d Dialog) []string {
	g := env.Theme.Glyph
	h := len(lines)
	w := dialogWidth(env)
	inner := d.View(env, w-4, h-2)
	if len(inner) > h-2 {
		inner = inner[:h-2]
	}
	title := term.Clip(" "+d.Title(env)+" ", w-4, g.Ellipsis)
	box := make([]string, 0, len(inner)+2)
	box = append(box, g.TopLeft+g.Flat+env.Theme.Paint(theme.Strong, title)+strings.Repeat(g.Flat, max(0, w-3-term.Width(title)))+g.TopRight)
	for _, l := range inner {
		box = append(box, g.Upright+" "+term.Fit(l, w-4, g.Ellipsis)+" "+g.Upright)
	}
	box = append(box, g.BottomLeft+strings.Repeat(g.Flat, w-2)+g.BottomRight)
	x, y := (env.W-w)/2, (h-len(box))/2
	out := make([]string, h)
	for i, l := range lines {
		plain := ansi.Strip(l)
		if i < y || i >= y+len(box) {
			out[i] = env.Theme.Paint(theme.Dim, plain)
			continue
		}
		left := term.Fit(plain, x, "")
		right := ansi.TruncateLeft(plain, x+w, "")
		if term.Width(right) > env.W-x-w { // the edge goes through a wide letter
			right = ansi.TruncateLeft(plain, x+w+1, "")
		}
		right = term.Spaces(env.W-x-w-term.Width(right)) + right
		out[i] = env.Theme.Paint(theme.Dim, left) + box[i-y] + env.Theme.Paint(theme.Dim, right)
	}
	return out
}

// dialogWidth is the width of a dialog's frame.
func dialogWidth(e Env) int {
	if e.W > 140 {
		return 120
	}
	return min(e.W, 100)
}
