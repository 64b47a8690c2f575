package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/model/file"
	"cli.holdfast.dev/holdfast/model/live"
	"cli.holdfast.dev/holdfast/model/report"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// sources are the flags of every command that reads a cluster or a file of its
// objects.
type sources struct {
	world string // a file, "-" for standard input; empty: the cluster
	now   string // RFC 3339; empty: the clock
}

// time returns the time that everything is measured at.
func (f sources) time(c clock.PassiveClock) (time.Time, error) {
	if f.now == "" {
		return c.Now(), nil
	}
	t, err := time.Parse(time.RFC3339, f.now)
	if err != nil {
		return time.Time{}, fmt.Errorf("--now %q is not a time like 2026-09-14T10:00:00Z", f.now)
	}
	return t, nil
}

// open reads the file and returns the time that its ages are measured at: the one
// that the person named, else that of the export, else the clock's.
func (f sources) open(c clock.PassiveClock) (*file.World, time.Time, error) {
	now, err := f.time(c)
	if err != nil {
		return nil, now, err
	}
	in, err := file.Open(f.world, now)
	if err != nil {
		return nil, now, coded(exitUnreadable, err)
	}
	if m := in.Manifest; f.now == "" && m != nil && !m.Ended.IsZero() {
		now = m.Ended
		in.Snapshot = in.Snapshot.AsOf(now)
		in.Notes = append(in.Notes, "Ages are measured at the end of the export, "+now.UTC().Format(time.RFC3339)+"; --now names another time.")
	}
	return in, now, nil
}

// wants says what beside the watched objects is read.
type wants struct {
	pods, nodes, positions bool
	// least leaves out what only a report needs: events, and what the parts of Kueue
	// answer.
	least bool
}

// reading is everything that a report is made from.
type reading struct {
	report.Input
	// session is the connection where the source is a cluster; nil for a file.
	session *session
	close   func()
}

// read reads the file or the cluster. The caller closes the reading.
func (a *app) read(ctx context.Context, f sources, w wants) (*reading, error) {
	if f.world != "" {
		return a.readFile(f)
	}
	return a.readCluster(ctx, f, w)
}

func (a *app) readFile(f sources) (*reading, error) {
	in, now, err := f.open(clock.RealClock{})
	if err != nil {
		return nil, err
	}
	r := &reading{close: func() {}}
	r.Input = report.Input{
		Snapshot: in.Snapshot, Now: now, Source: report.Source{Type: in.Type, Name: f.world, ReadAt: now, Notes: in.Notes},
		Events: in.Events, Pods: in.Pods, HasPods: in.HasPods, Nodes: in.Nodes, HasNodes: in.HasNodes,
	}
	return r, nil
}

func (a *app) readCluster(ctx context.Context, f sources, w wants) (*reading, error) {
	s, err := a.connect(ctx, false)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	watching := make(chan error, 1)
	go func() { watching <- s.watcher.Run(ctx) }()
	r := &reading{session: s, close: func() { cancel(); _ = s.settled(watching) }}
	if err := a.settle(ctx, s); err != nil {
		r.close()
		return nil, err
	}
	now, err := f.time(s.clock)
	if err != nil {
		r.close()
		return nil, err
	}
	if !w.least {
		a.probed(ctx, s)
	}
	snap := s.watcher.Snapshot()
	r.Input = report.Input{Snapshot: snap, Now: now, Source: report.Source{Type: "cluster", Name: snap.Contract.Context, ReadAt: s.clock.Now()}}
	ask, done := context.WithTimeout(ctx, patience)
	defer done()
	if err := r.more(ask, s.reader, w); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// probePatience is how long a report waits for what the parts of Kueue answer; a
// part that hangs is reported as unknown.
const probePatience = 5 * time.Second

// probed waits until the parts of Kueue were asked, or for a while.
func (a *app) probed(ctx context.Context, s *session) {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	for !s.watcher.Snapshot().Contract.Probed {
		select {
		case <-ctx.Done():
			return
		case <-s.watcher.Changed():
		case <-s.clock.After(time.Second):
		}
	}
}

// more reads what is not watched. What may not be read is noted and no error;
// only an interruption is.
func (r *reading) more(ctx context.Context, reader *live.Reader, w wants) error {
	note := func(what string, err error) {
		if err != nil {
			r.Source.Notes = append(r.Source.Notes, what+" unknown: "+err.Error())
		}
	}
	if w.least {
		return nil
	}
	events, err := r.preemptions(ctx, reader)
	r.Events = events
	note("events", err)
	if w.nodes {
		nodes, err := reader.Nodes(ctx)
		r.Nodes, r.HasNodes = nodes, err == nil
		note("nodes", err)
	}
	if w.pods {
		pods, err := reader.Pods(ctx, r.Snapshot.Contract.Namespace)
		r.Pods, r.HasPods = pods, err == nil
		note("pods", err)
	}
	if w.positions {
		r.Positions = r.places(ctx, reader, note)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return coded(exitInterrupted, errors.New("interrupted"))
	}
	return nil
}

// mostVictims bounds for how many Workloads events are read: one request each.
const mostVictims = 50

// preemptions reads the events of those Workloads whose preemptor is not there
// any more: it may be named there.
func (r *reading) preemptions(ctx context.Context, reader *live.Reader) ([]world.Event, error) {
	var out []world.Event
	asked := map[types.UID]bool{}
	for _, w := range r.Snapshot.Workloads {
		p := w.Preempted
		if p == nil || p.PreemptorUID == "" || r.Snapshot.Workload(p.PreemptorUID) != nil || asked[p.PreemptorUID] || len(asked) == mostVictims {
			continue
		}
		asked[p.PreemptorUID] = true
		l, err := reader.Events(ctx, "", p.PreemptorUID)
		if err != nil {
			return out, err
		}
		out = append(out, l.Events...)
	}
	return out, nil
}

// positionLimit is how many places of a queue are asked for: what Kueue gives at
// most.
const positionLimit = 1000

// places asks Kueue for the order of every queue with pending Workloads.
func (r *reading) places(ctx context.Context, reader *live.Reader, note func(string, error)) map[types.UID]int {
	out := map[types.UID]int{}
	for _, q := range waitingQueues(r.Snapshot) {
		ps, why := reader.Positions(ctx, q, positionLimit)
		if why != "" {
			note("Kueue's order of ClusterQueue "+q, errors.New(why))
			continue
		}
		maps.Copy(out, positionsOf(r.Snapshot, ps))
	}
	return out
}

// positionsOf finds the Workloads that Kueue named.
func positionsOf(s *store.Snapshot, places []live.Position) map[types.UID]int {
	out := make(map[types.UID]int, len(places))
	for _, p := range places {
		if w := s.WorkloadByKey(p.Key); w != nil && w.State == world.Pending {
			out[w.UID] = p.ClusterQueue
		}
	}
	return out
}

func waitingQueues(s *store.Snapshot) []string {
	var out []string
	for _, q := range s.ClusterQueues {
		if s.CountsOf(q.Name).Pending > 0 {
			out = append(out, q.Name)
		}
	}
	slices.Sort(out)
	return out
}
