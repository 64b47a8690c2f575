package ui

import (
	"errors"
	"testing"
	"time"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/world"
)

// What a page read of its object is read again once the object changes: not at once each
// time, not under the hand, and an error takes nothing away that was read before.
func TestPagesFollowTheirObject(t *testing.T) {
	for name, tt := range map[string]struct {
		open   func(*stage)
		change func(*stage)
	}{
		"ClusterQueue": {func(s *stage) { s.onTeamA().press("enter") }, func(s *stage) {
			q := *s.store.Snapshot().ClusterQueue("team-a-cq")
			q.Generation++
			s.store.Put(&q)
		}},
		"Workload": {func(s *stage) { s.press("4", "enter") }, func(s *stage) {
			w := *s.store.Snapshot().WorkloadByKey(world.Key{Namespace: "team-a", Name: "job-train-llm-7f2-x1y2z"})
			w.Generation++
			s.store.Put(&w)
		}},
		"ResourceFlavor": {func(s *stage) { s.press("7", "/").typeText("!80g a100").press("enter", "enter") }, func(s *stage) {
			f := *s.store.Snapshot().Flavor("a100")
			f.Generation++
			s.store.Put(&f)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 120, 60)
			says := func(words string) {
				s.desk.detail = actions.Detail{ReadAt: s.clock.Now(), Timeline: []actions.Entry{{At: s.clock.Now(), Kind: "event", Type: "Normal", Text: words}}}
			}
			says("in the beginning")
			tt.open(s)
			s.sees("in the beginning")
			says("after the change")
			s.pass(rereadAfter + time.Second)
			s.sees("in the beginning").seesNot("after the change") // it did not change
			tt.change(s)
			s.refresh()
			s.pass(time.Second)
			s.sees("after the change")

			says("later")
			tt.change(s)
			s.refresh()
			s.pass(time.Second)
			s.seesNot("later")
			s.held = true
			s.pass(rereadAfter)
			s.press("k")
			s.release()
			s.seesNot("later").sees("after the change")
			s.pass(stillFor)
			s.pass(time.Second)
			s.sees("later")

			s.desk.detailErr = errors.New("the server is away")
			tt.change(s)
			s.refresh()
			s.pass(rereadAfter + time.Second)
			s.sees("later", "unknown: the server is away", "What was read before")
			s.desk.detailErr = nil
			says("the server is back")
			s.press("r").sees("the server is back").seesNot("away")
		})
	}
}
