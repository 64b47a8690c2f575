package ui

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/store"
)

// BenchmarkKeyUnderLoad is how long a key takes to its frame while 1,000 Workloads a
// second change among 100,000, lists are made anew beside it, and the loop draws after
// every message, as bubbletea's does: on the list of Workloads, and on pages and lists
// that are made from all of them. p50-ms and p99-ms are of the keys.
func BenchmarkKeyUnderLoad(b *testing.B) {
	for _, at := range []struct {
		name string
		to   func(*stage)
	}{
		{"workloads", func(*stage) {}},
		{"workload", func(s *stage) { s.press("enter").sees("WHY") }},
		{"queue", func(s *stage) { s.to("team-a-cq").sees("WAITING") }},
		{"queues", func(s *stage) { s.press("3") }},
		{"glance", func(s *stage) { s.press("1") }},
		{"priorities", func(s *stage) { s.press("9") }},
	} {
		b.Run(at.name, func(b *testing.B) {
			s := crowd(b, many)
			at.to(s)
			keysUnderLoad(b, s)
		})
	}
}

func keysUnderLoad(b *testing.B, s *stage) {
	s.rest()
	msgs, quit := make(chan tea.Msg), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { changes1000(s.store, msgs, quit) })
	type keyed struct{ at time.Time }
	keysAt := make(chan keyed)
	all.Go(func() {
		for {
			select {
			case <-quit:
				return
			case <-time.After(7 * time.Millisecond):
			}
			select {
			case <-quit:
				return
			case keysAt <- keyed{time.Now()}:
			}
		}
	})
	beside := func(c tea.Cmd) {
		if c == nil {
			return
		}
		all.Go(func() { send(c(), msgs, quit) })
	}
	s.root.timer = func(d time.Duration, m tea.Msg) tea.Cmd {
		if _, ok := m.(waitDue); ok {
			return nil // snapshots come by themselves here
		}
		return func() tea.Msg { time.Sleep(d); return m }
	}
	step := func(m tea.Msg) {
		next, cmd := s.root.Update(m)
		s.root = next.(root)
		_ = s.root.View()
		beside(cmd)
	}
	var took []time.Duration
	moves := []string{"down", "down", "pgdown", "up", "pgup"}
	for b.Loop() {
		for pressed := false; !pressed; {
			select {
			case m := <-msgs:
				step(m)
			case k := <-keysAt:
				step(keyMsg(moves[len(took)%len(moves)]))
				took = append(took, time.Since(k.at))
				pressed = true
			}
		}
	}
	close(quit)
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for open := true; open; {
		select {
		case <-msgs:
		case <-done:
			open = false
		}
	}
	slices.Sort(took)
	ms := func(share int) float64 { return float64(took[len(took)*share/100].Microseconds()) / 1000 }
	b.ReportMetric(ms(50), "p50-ms")
	b.ReportMetric(ms(99), "p99-ms")
}

// changes1000 changes 1,000 Workloads a second and gives the loop a snapshot at its pace.
func changes1000(st *store.Store, msgs chan<- tea.Msg, quit <-chan struct{}) {
	perTurn := int(1000 * pace / time.Second)
	for n := 0; ; n += perTurn {
		select {
		case <-quit:
			return
		case <-time.After(pace):
		}
		for i := range perTurn {
			st.Put(pendingJob("team-a", fmt.Sprintf("job-%06d", (n+i)*3%many), "batch", int32(n%7), time.Duration(n+i)*time.Second))
		}
		send(snapshotMsg{st.Snapshot(), now.Add(time.Duration(n) * time.Millisecond)}, msgs, quit)
	}
}

// send gives the loop a message, or each of a batch, unless it is over.
func send(m tea.Msg, msgs chan<- tea.Msg, quit <-chan struct{}) {
	switch m := m.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range m {
			if c != nil {
				send(c(), msgs, quit)
			}
		}
	default:
		select {
		case msgs <- m:
		case <-quit:
		}
	}
}
