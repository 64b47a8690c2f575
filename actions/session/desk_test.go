package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/compare"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

// fake is a cluster with the queues a and b of cohort pool, and a Desk on it. Each
// write of one object is counted, and die may end the process at it.
type fake struct {
	held    map[string]bool
	applied bool
	writes  map[string]int // by what was written
	// die is called before and after each write; it panics with killed where the process
	// is to end there.
	die func(point string)
	at  time.Time
	// feed is that of every list; fails is what Execute ends with, refuses what the
	// server says of a fix.
	feed           world.Feed
	fails, refuses error
	content        string // of exports
	reasons        map[actions.Action]string
}

// killed is the end of the process.
type killed struct{ point string }

func newFake() *fake {
	return &fake{held: map[string]bool{"a": false, "b": false}, writes: map[string]int{}, reasons: map[actions.Action]string{}, die: func(string) {}, at: noon, feed: world.Live, content: "bundle"}
}

func (f *fake) now() time.Time { f.at = f.at.Add(time.Second); return f.at }

func (f *fake) world() *store.Snapshot {
	st := store.New(clock.RealClock{})
	for _, k := range world.WatchedKinds() {
		st.SetFreshness(k, world.Freshness{Feed: f.feed, Synced: true})
	}
	for name, held := range f.held {
		q := &world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: name}}, Cohort: "pool"}
		if held {
			q.StopPolicy, q.Hold = world.StopHold, &world.HoldRecord{Version: 1, By: "kim"}
		}
		st.Put(q)
	}
	st.Put(&world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: "w"}, UID: "w"}, Active: true, ClusterQueue: "a", State: world.Admitted, Annotations: map[string]string{"ckpt": "step 7"}})
	st.Put(&world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: "x"}, UID: "x"}, Active: true, ClusterQueue: "b", State: world.Admitted})
	return st.Snapshot()
}

// sumOf is the SHA-256 of a file's content.
func sumOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// ofPool is the manifest of an export of cohort pool.
var ofPool = bundle.Manifest{Scope: bundle.Scope{Cohort: "pool"}, ClusterUID: "uid-1"}

var question = actions.Confirm{Level: actions.ConfirmName, Expects: "pool"}

func (f *fake) plan(a actions.Action, hold bool) (actions.Plan, error) {
	p := actions.Plan{Action: a, Confirm: question}
	for _, name := range []string{"a", "b"} {
		if f.held[name] != hold {
			p.Targets = append(p.Targets, actions.Target{Ref: world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: name}}})
		}
	}
	if len(p.Targets) == 0 {
		return p, &actions.Problem{What: "nothing to do"}
	}
	return p, nil
}

func (f *fake) PlanHold(_ context.Context, _ world.Ref, drain bool, _ string) (actions.Plan, error) {
	if drain {
		return actions.Plan{}, errors.New("a session never drains")
	}
	return f.plan(actions.Hold, true)
}

func (f *fake) PlanResume(context.Context, world.Ref) (actions.Plan, error) {
	return f.plan(actions.Resume, false)
}

func (f *fake) PlanFile(_ context.Context, file actions.File) (actions.Plan, error) {
	if string(file.Content) != "the fix" {
		return actions.Plan{}, fmt.Errorf("applied is %q", file.Content)
	}
	if f.refuses != nil {
		return actions.Plan{}, f.refuses
	}
	if f.applied {
		return actions.Plan{}, actions.ErrNoChange
	}
	return actions.Plan{Action: actions.ApplyFile, Confirm: question, Targets: []actions.Target{{Ref: world.Ref{Kind: world.KindCohort, Key: world.Key{Name: "pool"}}, Change: "as in the difference"}}}, nil
}

func (f *fake) Preview(_ context.Context, p actions.Plan, _ func(impact.Progress)) actions.Plan {
	p.Impact = &impact.Result{Preempted: []impact.Preemption{{Certain: true, Reason: "InCohortReclamation"}}}
	return p
}

func (f *fake) Execute(_ context.Context, p actions.Plan, typed string) (actions.Result, error) {
	if !p.Confirm.Accepts(typed) {
		return actions.Result{}, errors.New("not confirmed")
	}
	if f.fails != nil {
		return actions.Result{}, f.fails
	}
	r := actions.Result{Action: p.Action, JournalID: "j"}
	f.reasons[p.Action] = p.Reason
	done := func(ref world.Ref, write func()) {
		point := string(p.Action) + " " + ref.Name
		f.die("before " + point)
		write()
		f.writes[point]++
		f.die("after " + point)
		r.Objects = append(r.Objects, actions.ObjectResult{Ref: ref, Outcome: actions.Done, Verified: true})
	}
	if p.Export != nil {
		done(world.Ref{Kind: actions.ExportKind, Key: world.Key{Name: "export"}}, func() {
			if err := os.WriteFile(p.Export.Path, []byte(f.content), 0o600); err != nil {
				panic(err)
			}
		})
		r.Objects[0].SHA256 = sumOf(f.content)
		return r, nil
	}
	for _, t := range p.Targets {
		done(t.Ref, func() {
			switch p.Action {
			case actions.ApplyFile:
				f.applied = true
			default:
				f.held[t.Ref.Name] = p.Action == actions.Hold
			}
		})
	}
	return r, nil
}

// exporter adds exports into a folder.
type exporter struct {
	*fake
	dir string
	n   int
}

func (f *exporter) PlanExport(context.Context, actions.Scope) (actions.Plan, error) {
	f.n++
	return actions.Plan{Action: actions.Export, Confirm: actions.Confirm{Expects: "y"}, Export: &actions.ExportPlan{Path: filepath.Join(f.dir, fmt.Sprintf("%d.tar.gz", f.n))}}, nil
}

// runnerOf is a Runner on the fake, as a new process has one.
func runnerOf(t interface{ TempDir() string }, f *exporter, dir string) *Runner {
	return &Runner{
		Desk: f, Store: NewStore(dir), World: f.world, Now: f.now, Who: func() string { return "kim" },
		Verify: func(path string) (Exported, error) {
			raw, err := os.ReadFile(path)
			if err == nil && string(raw) != f.content {
				err = io.ErrUnexpectedEOF
			}
			return Exported{ofPool, sumOf(string(raw))}, err
		},
		Compare: func(_ context.Context, path string) (compare.Result, Exported, error) {
			raw, err := os.ReadFile(path)
			return compare.Result{Same: []world.Ref{{}}, Running: 1}, Exported{ofPool, sumOf(string(raw))}, err
		},
	}
}

func begun(t *testing.T, r *Runner) Session {
	t.Helper()
	s, err := New(world.Ref{Kind: world.KindCohort, Key: world.Key{Name: "pool"}}, "prod", "https://server", "uid-1", "kim", "bad quota", noon)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(s); err != nil {
		t.Fatal(err)
	}
	return s
}
