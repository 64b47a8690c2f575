package ui

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keysPage is the cheat sheet, relative to this package.
const keysPage = "../docs/keys.md"

// TestKeysPage: the cheat sheet in the docs is what the bindings say. -update writes it.
func TestKeysPage(t *testing.T) {
	got := cheatSheet(t)
	if *update {
		if err := os.WriteFile(keysPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(keysPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test ./ui -update writes it anew):\n%s", keysPage, diff)
	}
}

// TestNoKeyTwice: on no screen is a key bound to two things, but for what a screen
// takes over from the root on purpose.
func TestNoKeyTwice(t *testing.T) {
	over := map[string]bool{"esc": true, "/": true}
	for _, p := range pages(t) {
		seen := map[string]string{}
		for _, b := range append(p.bindings, p.always...) {
			for _, k := range b.Keys {
				if was, ok := seen[k]; ok && !over[k] {
					t.Errorf("%s: %q is for %q and for %q", p.name, k, was, b.Help)
				}
				seen[k] = b.Help
			}
		}
	}
}

// page is a screen with its bindings; always are those of the root.
type page struct {
	name             string
	bindings, always []Binding
}

// pages are the first screens of the tabs, and the pages below them.
func pages(t *testing.T) []page {
	t.Helper()
	var out []page
	add := func(s *stage, name string) {
		out = append(out, page{name, s.root.top().Keys(), s.root.keys()})
	}
	for tab := range tabs {
		s := begin(t, 120, 40)
		s.root.tab = tab
		s.press("left") // shows the tab as a key would
		s.refresh()
		add(s, tab.String())
	}
	for name, keys := range map[string][]string{"Queue": {"3", "enter"}, "Workload": {"4", "enter"}} {
		s := begin(t, 120, 40)
		s.press(keys...)
		add(s, name)
	}
	return out
}

func cheatSheet(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Keys\n\nMade from the table that the keys are dispatched from; `?` shows the same for the screen that is open, with the reason\nwhy something cannot be done now. What needs a mark, a filter or a certain row is only there with it.\n")
	moves := map[string]bool{}
	for _, m := range motions {
		moves[strings.Join(m.keys, " ")] = true
	}
	table := func(title string, bs []Binding) {
		b.WriteString("\n## " + title + "\n\n| key | does |\n|---|---|\n")
		for _, x := range bs {
			if title != "Moving" && moves[strings.Join(x.Keys, " ")] {
				continue
			}
			var ks []string
			for _, k := range x.Keys {
				ks = append(ks, "`"+showKey(k)+"`")
			}
			b.WriteString("| " + strings.Join(ks, " ") + " | " + strings.ReplaceAll(x.Help, "|", `\|`) + " |\n")
		}
	}
	all := pages(t)
	table("Everywhere", all[0].always)
	var moving []Binding
	for _, m := range motions {
		moving = append(moving, Binding{Keys: m.keys, Help: m.help})
	}
	table("Moving", moving)
	for tab := range tabs {
		table(tab.String(), all[tab].bindings)
	}
	for _, name := range []string{"Queue", "Workload"} {
		for _, p := range all[tabs:] {
			if p.name == name {
				table("A "+name+"'s page", p.bindings)
			}
		}
	}
	return b.String()
}
