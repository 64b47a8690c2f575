package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/ui/filter"
)

// listState is what a person left of a list: it is theirs alone.
type listState struct {
	cursor, filter, order string
	marks                 int // with those that are gone
}

// mine is a list that tells what the person left of it, and whether an answer is under
// way that may change it: one that they asked for, or the first one.
type mine interface {
	lister
	kept() (s listState, awaits bool)
}

func (s board[K, T]) kept() (listState, bool) {
	return listState{fmt.Sprint(s.cursorKey()), s.filter.text, fmt.Sprint(s.order), len(s.marks) + s.lost},
		s.fresh || s.due != 0 || s.last.of == nil || s.list.Len() == 0 || !s.list.Moved()
}

func (s cohorts) kept() (listState, bool) {
	return listState{cursor: fmt.Sprint(s.cursorKey(), s.choice)}, s.list.Len() == 0 || !s.settled || !s.list.Moved()
}

func (s glance) kept() (listState, bool) {
	return listState{cursor: fmt.Sprint(s.cursorKey())}, !s.done || s.list.Len() == 0
}

func (s onDemand[K, T, R]) length() int             { return s.board.length() }
func (s onDemand[K, T, R]) cursorKey() any          { return s.board.cursorKey() }
func (s onDemand[K, T, R]) kept() (listState, bool) { return s.board.kept() }

// quiet reports whether no answer is under way that may be shown at once.
func (s board[K, T]) quiet() bool { return !s.fresh && !s.came && s.due == 0 && s.last.of != nil }
func (s glance) quiet() bool      { return s.done && !s.came }

// machine plays a person and a cluster against each other, and holds what happens
// against what must always be so.
type machine struct {
	*stage
	// covered are the lists that lie below others, by where they are.
	covered map[[2]int]listState
	words   int // how often the word was typed by hand into a plan that could be read
}

// lists are the states of all lists that nothing is under way for.
func (m *machine) lists() map[[2]int]listState {
	out := map[[2]int]listState{}
	for tab, stack := range m.root.stacks {
		for i, s := range stack {
			if l, ok := s.(mine); ok {
				if state, awaits := l.kept(); !awaits {
					out[[2]int{tab, i}] = state
				}
			}
		}
	}
	return out
}

func (m *machine) top() [2]int { return [2]int{int(m.root.tab), len(m.root.stacks[m.root.tab]) - 1} }

// body is what must stand still: the screen without header and footer, and without the
// title of a frozen one, which says for how long.
func (m *machine) body() []string {
	lines := strings.Split(m.frame(), "\n")
	lines = slices.Clone(lines[min(1, len(lines)):max(1, len(lines)-1)])
	if !m.root.frozen.IsZero() && len(lines) > 1 {
		lines[1] = ""
	}
	return lines
}

// quietly does what is not the person's: no list changes under their hand, and nothing at
// all while the screen stands still.
func (m *machine) quietly(t *rapid.T, what string, do func()) {
	before, body, clock := m.lists(), m.body(), m.root.now
	stands := m.root.stands() && len(m.root.dialogs) == 0
	do()
	after := m.lists()
	for at, was := range before {
		if is, ok := after[at]; ok && is != was {
			t.Fatalf("%s: the list at %v was\n%+v and is\n%+v\n%s", what, at, was, is, m.frame())
		}
	}
	if stands && m.root.stands() && (m.root.now.Equal(clock) || !m.root.frozen.IsZero()) {
		for i, l := range m.body() {
			if i < len(body) && l != body[i] {
				t.Fatalf("%s: the screen stands still, and line %d was\n%q and is\n%q", what, i+1, body[i], l)
			}
		}
	}
}

// key presses a key and looks whether what it does is what was to be seen.
func (m *machine) key(t *rapid.T, key string) {
	at, dialogs := m.top(), len(m.root.dialogs)
	below := len(m.root.stacks[at[0]])
	typing := m.root.taking()
	before := m.lists()
	var plan planDialog
	if p, ok := m.root.dialog().(planDialog); ok {
		plan = p
	}
	subject, several := m.subject(key)
	if key == "enter" && plan.armed && plan.typed.text == plan.plan.Confirm.Expects && m.root.w >= leastW && m.root.h >= leastH {
		m.words++
	}
	m.press(key)
	_, planned := m.root.dialog().(planDialog) // the Desk of a stage plans the same for all
	if dialogs == 0 && !typing && !planned && len(m.root.dialogs) == 1 && slices.Contains([]string{"H", "R", "D", "P"}, key) {
		title := m.root.dialog().Title(m.root.env())
		if several > 0 && !strings.Contains(title, plural(several, "queue")) && !strings.Contains(title, plural(several, "Workload")) {
			t.Fatalf("%s with %d marked begins %q", key, several, title)
		}
		if several == 0 && subject != "" && !strings.Contains(title, subject) {
			t.Fatalf("%s on %q begins %q", key, subject, title)
		}
	}
	switch now := m.top(); {
	case now[0] == at[0] && now[1] == at[1]+1 && dialogs == 0:
		if s, ok := before[at]; ok {
			m.covered[at] = s
		}
	case now[0] == at[0] && len(m.root.stacks[at[0]]) == below-1 && dialogs == 0:
		if was, ok := m.covered[now]; ok {
			if is, ok := m.lists()[now]; ok && is != was {
				t.Fatalf("back at %v:\n%+v is\n%+v", now, was, is)
			}
		}
		delete(m.covered, now)
	case now != at:
		for k := range m.covered {
			if k[0] == now[0] && k[1] >= now[1] {
				delete(m.covered, k)
			}
		}
	}
}

// subject is what an action of the screen is for: the name of what is under the cursor,
// as the key's dialog calls it, or how many are marked.
func (m *machine) subject(key string) (name string, several int) {
	switch s := m.root.top().(type) {
	case workloads:
		if w, gone, ok := s.list.Selected(); ok && !gone {
			if now := m.root.shown.WorkloadOf(w.Ref()); now != nil {
				w = now
			}
			if name = w.Key.String(); key == "P" {
				name = w.JobName() + " has "
			}
		}
		return name, len(s.marks)
	case queues:
		if r, gone, ok := s.list.Selected(); ok && !gone {
			name = r.ref().Key.String()
		}
		return name, len(s.marks)
	}
	return "", 0
}

// TestMachine: whatever a person presses and the cluster does, at once or late, the rows
// under the hand stay, going back finds what was left, nothing is carried out without
// its word, what stands still stands still, and every frame is whole.
func TestMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st, c := scene()
		m := &machine{stage: grove(newStage(t, st, c, 120, 40)), covered: map[[2]int]listState{}}
		m.root.opt.Events, m.root.opt.Journal, m.root.opt.Settings = &fakeEvents{list: someEvents()}, someDeeds(), someSettings
		m.root.opt.Contexts = []string{"prod-eu", "other"}
		plan := holdPlan()
		m.desk.plan, m.desk.result = plan, done(plan)
		m.press(rapid.SampledFrom([]string{"1", "2", "3", "4", "4", "5", "7", "8", "9"}).Draw(t, "begins on"))
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if n := len(m.desk.executed); n > m.words {
					t.Fatalf("executed %q, confirmed %d times", m.desk.executed, m.words)
				}
				f := m.root.View()
				if err := checkFrame(f, m.root.w, m.root.h); err != nil {
					t.Fatalf("%v\n%s", err, m.frame())
				}
				if again := m.root.View(); again != f {
					t.Fatalf("drawn twice:\n%s\nand\n%s", f, again)
				}
			},
			"key": func(t *rapid.T) { m.key(t, rapid.SampledFrom(someKeys).Draw(t, "key")) },
			"tab": func(t *rapid.T) {
				m.key(t, rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "7", "8", "9", "0", "tab"}).Draw(t, "tab"))
			},
			"move": func(t *rapid.T) {
				m.key(t, rapid.SampledFrom([]string{"down", "up", "end", "pgdown", "home"}).Draw(t, "move"))
			},
			"open": func(t *rapid.T) {
				m.key(t, rapid.SampledFrom([]string{"enter", "esc", " ", "s", "S", "I"}).Draw(t, "open"))
			},
			"act":  func(t *rapid.T) { m.key(t, rapid.SampledFrom([]string{"H", "R", "D", "P", "e"}).Draw(t, "act")) },
			"word": func(t *rapid.T) { m.typeText(plan.Confirm.Expects) },
			"paste": func(t *rapid.T) {
				m.send(paste(rapid.SampledFrom(append(hostileNames, plan.Confirm.Expects)).Draw(t, "pasted")))
			},
			"size": func(t *rapid.T) {
				w, h := rapid.IntRange(30, 210).Draw(t, "w"), rapid.IntRange(8, 65).Draw(t, "h")
				before := m.lists()
				m.send(tea.WindowSizeMsg{Width: w, Height: h})
				for at, was := range before {
					if is := m.lists()[at]; is != was {
						t.Fatalf("resized, the list at %v was\n%+v and is\n%+v", at, was, is)
					}
				}
			},
			"change": func(t *rapid.T) {
				alter(t, m.stage)
				m.quietly(t, "a snapshot", func() { m.send(snapshotMsg{m.store.Snapshot(), m.root.now}) })
			},
			"rest": func(t *rapid.T) {
				before := m.lists()
				m.rest()
				for at, was := range before {
					if is, ok := m.lists()[at]; ok && is != was {
						t.Fatalf("at rest, the list at %v was\n%+v and is\n%+v", at, was, is)
					}
				}
			},
			"pass": func(t *rapid.T) {
				d := time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond
				before := m.lists()
				m.pass(d)
				for at, was := range before {
					if is, ok := m.lists()[at]; ok && is != was {
						t.Fatalf("after %s, the list at %v was\n%+v and is\n%+v", d, at, was, is)
					}
				}
			},
			"mark": func(t *rapid.T) { m.key(t, " ") },
			"wheel": func(t *rapid.T) {
				m.wheel(rapid.SampledFrom([]tea.MouseButton{tea.MouseButtonWheelDown, tea.MouseButtonWheelUp}).Draw(t, "wheel"))
			},
			"click": func(t *rapid.T) { m.click(rapid.IntRange(0, 120).Draw(t, "x"), rapid.IntRange(0, 40).Draw(t, "y")) },
			"hold":  func(*rapid.T) { m.held = true },
			"release": func(t *rapid.T) {
				if l, ok := m.root.top().(interface{ quiet() bool }); ok && l.quiet() {
					m.quietly(t, "a late answer", m.release)
				} else {
					m.release()
				}
			},
		})
	})
}

// again makes the list anew, as if nothing was known of the one before, and names its
// rows.
func (s board[K, T]) again(l look, text string, o order) []string {
	var out []string
	for _, r := range s.sheet.list(listing[T]{}, l, filter.Parse(text, s.sheet.fields), o).rows {
		out = append(out, fmt.Sprint(s.sheet.key(r)))
	}
	return out
}

func (s board[K, T]) orders() []order {
	out := []order{{}, {turned: true}}
	for o := next(s.sheet.columns, order{}); o != (order{}); o = next(s.sheet.columns, o) {
		out = append(out, o, order{column: o.column, turned: true})
	}
	return out
}

// TestListsAreTheSameAgain: the same snapshot gives the same rows in the same order, each
// once, in every order.
func TestListsAreTheSameAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st, c := scene()
		s := grove(newStage(t, st, c, 120, 40))
		for range rapid.IntRange(0, 12).Draw(t, "changes") {
			alter(t, s)
		}
		l := look{snap: s.store.Snapshot(), now: now, explain: explain}
		text := rapid.SampledFrom([]string{"", "a", "team", "!team-a", "tmacq", "state:p", "x"}).Draw(t, "filter")
		for name, b := range map[string]interface {
			again(look, string, order) []string
			orders() []order
		}{"Workloads": newWorkloads(), "Queues": newQueues(), "Chains": newChains().board, "Flavors": newFlavors(), "Checks": newChecks(), "Priorities": newPriorities()} {
			for _, o := range b.orders() {
				first := b.again(l, text, o)
				for range 3 {
					if d := cmp.Diff(first, b.again(l, text, o)); d != "" {
						t.Fatalf("%s by %+v, filter %q (-first +again):\n%s", name, o, text, d)
					}
				}
				if slices.Sort(first); len(slices.Compact(slices.Clone(first))) != len(first) {
					t.Fatalf("%s by %+v has a row twice: %q", name, o, first)
				}
			}
		}
	})
}
