package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
)

// someKeys are keys a person may press anywhere; text comes from letters among
// them.
var someKeys = []string{
	"enter", "esc", "up", "down", "left", "right", "pgup", "pgdown", "home", "end", "tab", "shift+tab", "backspace", "ctrl+d", "ctrl+u",
	"1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "?", ":", "/", "f", "F", "s", "y", "r", "p", "H", "D", "R", "e", "x", " ", "g", "G", "j", "k", "h", "l", "ctrl+e", "ctrl+p", "t", "a", "-", "日",
	"z", "S", "I", "c", "o", "i", "P", "A", "q", "!", "n",
}

// hostileNames are strings as a cluster may hold them, after the model cleaned
// them.
var hostileNames = []string{
	"plain", "日本語のジョブ", "e\u0301\u0301\u0301combining", text.Clean("\x1b[31mred\x1b[0m\x07"), text.Clean("a\u202eb\u200bc"),
	strings.Repeat("long-", 60), "👩🚀👍🏽", text.Clean("tab\tnew\nline"), "ﷺ", "",
}

// randomChange changes the cluster somehow, and shows it.
func randomChange(t *rapid.T, s *stage) {
	alter(t, s)
	s.refresh()
}

// alter changes the cluster somehow.
func alter(t *rapid.T, s *stage) {
	name := fmt.Sprintf("w%d", rapid.IntRange(0, 30).Draw(t, "name"))
	odd := rapid.SampledFrom(hostileNames).Draw(t, "odd")
	cq := rapid.SampledFrom([]string{"team-a-cq", "team-b-cq", "new-cq"}).Draw(t, "queue")
	switch rapid.IntRange(0, 13).Draw(t, "change") {
	case 0:
		w := pendingJob("team-a", name, "batch", int32(rapid.IntRange(-5, 5).Draw(t, "prio")), time.Minute)
		w.Owner.Name = odd
		w.Conditions[0].Message = odd
		s.store.Put(w)
	case 1:
		s.store.Put(runningJob("team-b", name, "batch", cq, 5, 3, time.Hour))
	case 2:
		s.store.Delete(world.KindWorkload, world.Key{Namespace: "team-a", Name: "job-" + name + "-x1y2z"})
	case 3:
		s.store.Delete(world.KindClusterQueue, world.Key{Name: cq})
	case 4:
		q := clusterQueue(cq, rapid.SampledFrom([]string{"", "ai-shared", "loop-a", "research"}).Draw(t, "cohort"), 5)
		q.StopPolicy = rapid.SampledFrom([]world.StopPolicy{world.StopNone, world.StopHold, world.StopHoldAndDrain}).Draw(t, "stop")
		q.Hold = &world.HoldRecord{By: odd, At: now, Reason: odd}
		q.Conditions[0].Message = odd
		s.store.Put(q)
	case 5:
		s.store.SetFreshness(rapid.SampledFrom(world.WatchedKinds()).Draw(t, "kind"), world.Freshness{
			Feed:   world.Feed(rapid.IntRange(0, int(world.Disconnected)).Draw(t, "feed")),
			Synced: rapid.Bool().Draw(t, "synced"), Detail: odd, Heard: now.Add(-time.Minute)})
	case 6:
		s.store.Put(localQueue("team-a", name, cq))
	case 7:
		s.store.SetContract(world.Contract{Context: odd, User: odd, Impersonates: odd, Server: odd, Controller: world.NotReady})
	case 8:
		s.store.Put(&world.Flavor{Meta: meta("", rapid.SampledFrom([]string{"a100", "a100-80g", odd}).Draw(t, "flavor")), NodeLabels: map[string]string{odd: odd},
			NodeTaints: []world.Taint{{Key: odd, Value: odd, Effect: "NoSchedule"}}, Topology: odd})
		s.store.Put(&world.PodPriorityClass{Meta: meta("", odd), Value: 7})
	case 9:
		kind := rapid.SampledFrom([]world.Kind{world.KindResourceFlavor, world.KindAdmissionCheck, world.KindWorkloadPriorityClass}).Draw(t, "gone")
		s.store.Delete(kind, world.Key{Name: rapid.SampledFrom([]string{"a100", "budget", "gold"}).Draw(t, "object")})
	case 10:
		k := &world.Check{Meta: meta("", "budget"), Controller: odd, Conditions: active()}
		k.Conditions[0].Status, k.Conditions[0].Message = rapid.SampledFrom([]string{"True", "False"}).Draw(t, "status"), odd
		s.store.Put(k)
		q := clusterQueue(cq, "", 3)
		q.Checks = []world.CheckRule{{Name: rapid.SampledFrom([]string{"budget", odd}).Draw(t, "check"), OnFlavors: []string{odd}}}
		s.store.Put(q)
		w := runningJob("team-a", name, "batch", cq, 5, 3, time.Hour)
		w.Conditions, w.State, w.PriorityClass = w.Conditions[:1], world.Reserving, odd
		w.Checks = []world.CheckState{{Name: q.Checks[0].Name, State: "Pending", Message: odd, At: now.Add(-time.Minute)}}
		s.store.Put(w)
	case 11: // made anew under its name
		again := types.UID(fmt.Sprint("uid-", rapid.IntRange(0, 9).Draw(t, "again")))
		for _, w := range s.store.Snapshot().Workloads {
			if w.Name == "job-train-1-x1y2z" {
				x := *w
				x.UID = again
				s.store.Put(&x)
			}
		}
		q := clusterQueue(cq, "ai-shared", 5)
		q.UID = again
		s.store.Put(q)
		f := &world.Flavor{Meta: meta("", "a100")}
		f.UID = again
		s.store.Put(f)
	case 12: // another place in every order
		for _, w := range s.store.Snapshot().Workloads {
			x := *w
			x.Priority = int32(rapid.IntRange(-9, 9).Draw(t, "priority"))
			s.store.Put(&x)
			if x.Priority < 0 {
				break
			}
		}
	case 13:
		for _, k := range world.WatchedKinds() {
			s.store.SetFreshness(k, world.Freshness{Feed: rapid.SampledFrom([]world.Feed{world.Live, world.Denied, world.Disconnected}).Draw(t, "all"), Synced: true, Heard: now})
		}
	}
}

// TestFramesAlways plays at random and checks every frame.
func TestFramesAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st, c := scene()
		s := grove(newStage(t, st, c, 80, 24))
		s.root.opt.Events, s.root.opt.Journal, s.root.opt.Settings = &fakeEvents{list: someEvents()}, someDeeds(), someSettings
		s.desk.plan = rapid.SampledFrom([]actions.Plan{holdPlan(), editPlan(), policyPlan(), changing(holdPlan())}).Draw(t, "plan")
		s.desk.impact = randomImpact(t, st.Snapshot())
		s.desk.plan.Notes = append(s.desk.plan.Notes, "\x1b[2Jraw from the server\x07", strings.Repeat("x", 300))
		if rapid.Bool().Draw(t, "hostile") {
			s.hostile(t)
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				s.send(tea.WindowSizeMsg{Width: rapid.IntRange(1, 210).Draw(t, "w"), Height: rapid.IntRange(1, 65).Draw(t, "h")})
			case 1, 2:
				randomChange(t, s)
			case 3:
				s.pass(time.Duration(rapid.IntRange(0, 1500).Draw(t, "ms")) * time.Millisecond)
			case 4:
				s.send(paste(rapid.SampledFrom(hostileNames).Draw(t, "pasted")))
			default:
				s.press(rapid.SampledFrom(someKeys).Draw(t, "key"))
			}
			if err := checkFrame(s.root.View(), s.root.w, s.root.h); err != nil {
				t.Fatalf("%v\n%s", err, s.frame())
			}
			// A list with rows shows the one under the cursor.
			onList := len(s.root.dialogs) == 0 && s.root.w >= leastW && s.root.h >= leastH && listLen(s.root.top()) > 0
			if onList && s.cursorLine() == "" {
				t.Fatalf("the row under the cursor is not on the screen:\n%s", s.frame())
			}
		}
	})
}

// A list tells how many rows it has and what is under its cursor.
type lister interface {
	length() int
	cursorKey() any
}

func (s board[K, T]) length() int    { return s.list.Len() }
func (s board[K, T]) cursorKey() any { return keyUnder(s.list, s.sheet.key) }
func (s cohorts) length() int        { return s.list.Len() }
func (s cohorts) cursorKey() any {
	return keyUnder(s.list, func(r treeRow) nodeKey { return keyOf(r.node) })
}
func (s glance) length() int { return s.list.Len() }
func (s glance) cursorKey() any {
	return keyUnder(s.list, func(a health.Alert) alertKey { return alertKey{a.Class, a.Object} })
}

func keyUnder[K comparable, T any](l table.List[K, T], key func(T) K) any {
	if r, _, ok := l.Selected(); ok {
		return key(r)
	}
	return nil
}

func listLen(s Screen) int {
	if l, ok := s.(lister); ok {
		return l.length()
	}
	return 0
}

func selectedKey(s Screen) any {
	if l, ok := s.(lister); ok {
		return l.cursorKey()
	}
	return nil
}

// TestCursorStays: whatever the cluster does, the row under the cursor is the
// one that the person left it on, be it as a tombstone.
func TestCursorStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st, c := scene()
		st.Put(&world.Check{Meta: meta("", "budget"), Controller: "example.com/budget", Conditions: active()})
		s := grove(newStage(t, st, c, 100, 30))
		s.press(rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "7", "8", "9"}).Draw(t, "tab"))
		for range rapid.IntRange(1, 8).Draw(t, "moves") { // a list that still comes in keeps an unmoved cursor at its top
			s.press(rapid.SampledFrom([]string{"down", "up", "pgdown", "end", "home"}).Draw(t, "move"))
		}
		want := selectedKey(s.root.top())
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			randomChange(t, s)
			s.pass(time.Second)
			if got := selectedKey(s.root.top()); got != want {
				t.Fatalf("the cursor was on %v and is on %v", want, got)
			}
		}
	})
}

// TestNothingWithoutTheWord: no sequence of keys and pastes executes a plan
// unless exactly the word was typed into its dialog.
func TestNothingWithoutTheWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st, c := scene()
		s := newStage(t, st, c, 100, 30)
		p := rapid.SampledFrom([]actions.Plan{holdPlan(), editPlan(), policyPlan()}).Draw(t, "plan")
		s.desk.plan, s.desk.impact = p, burst(st.Snapshot())
		word := p.Confirm.Expects
		s.press("down", "down", "down", "down")
		pieces := append([]string{"enter", "esc", "H", "R", "e", "x", "D", "y", "Y", "n", " ", "backspace", "ctrl+u", "t", "down", "s", "tab", "ctrl+p", "ctrl+e"}, word)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			before, _ := s.root.dialog().(planDialog)
			asked := s.root.dialog() != nil
			key := ""
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				s.pass(time.Duration(rapid.IntRange(0, 600).Draw(t, "ms")) * time.Millisecond)
				continue
			case 1:
				s.send(paste(rapid.SampledFrom([]string{word, word + "\n", "y", "y\n"}).Draw(t, "pasted")))
			default:
				key = rapid.SampledFrom(pieces).Draw(t, "key")
				if key == word && len(word) > 1 {
					s.typeText(word)
				} else {
					s.press(key)
				}
			}
			n := len(s.desk.executed)
			if n == 0 {
				continue
			}
			if n > 1 || !asked || key != "enter" || before.typed.text != word || !before.armed || s.desk.executed[0] != word {
				t.Fatalf("executed with %q after key %q, typed %q, armed %v", s.desk.executed, key, before.typed.text, before.armed)
			}
			return
		}
	})
}
