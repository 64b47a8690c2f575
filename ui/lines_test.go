package ui

import (
	"fmt"
	"testing"
	"time"

	"cli.holdfast.dev/holdfast/model/position"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// On a wide screen the place of the Workload under the cursor stands beside the list.
// Where there are very many, no frame waits for it, however the cursor goes from queue to
// queue, and a frozen screen asks once.
func TestNoFrameWaitsForALine(t *testing.T) {
	st, c := scene()
	for i := range bigList {
		st.Put(pendingJob(fmt.Sprintf("team-%c", 'a'+i%2), fmt.Sprint("w", i), "batch", 999, time.Hour))
	}
	s := newStage(t, st, c, 200, 60)
	drawing, within, times := false, 0, 0
	s.root.memo.lines = newLines(func(snap *store.Snapshot, q string) []*world.Workload {
		if times++; drawing {
			within++
		}
		return position.In(snap, q)
	})
	frame := func() {
		drawing = true
		s.frame()
		drawing = false
	}
	s.press("4", "s")
	s.pass(time.Second)
	s.sees("PLACE     is being worked out…")
	s.pass(time.Second)
	s.sees("PLACE     number ", "that wait for ClusterQueue team-a-cq, estimated")
	for range 40 {
		s.press("pgdown")
		frame()
	}
	s.press("z")
	times = 0
	for range 20 {
		s.pass(time.Second)
		frame()
	}
	if within != 0 || times > 1 {
		t.Errorf("worked out %d times while a frame was drawn, and %d times on a frozen screen", within, times)
	}
	s.press("z")
	s.pass(memoSeconds * time.Second)
	frame()
	s.pass(time.Second)
	if times < 1 {
		t.Error("never worked out again")
	}
}
