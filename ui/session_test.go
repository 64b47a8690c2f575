package ui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/world"
)

// fakeKeep keeps one session in memory.
type fakeKeep struct {
	s     *rollback.Session
	plan  *actions.Plan // of the next step that writes
	err   error
	calls []string

	attachErrs []error // of the next edits
}

func (k *fakeKeep) List(context.Context) ([]rollback.Session, []string, error) {
	if k.s == nil {
		return nil, nil, k.err
	}
	return []rollback.Session{*k.s}, nil, k.err
}

func (k *fakeKeep) Load(context.Context, string) (rollback.Session, error) { return *k.s, k.err }

func (k *fakeKeep) Start(_ context.Context, ref world.Ref, reason string) (rollback.Session, error) {
	k.calls = append(k.calls, "start "+ref.String()+": "+reason)
	s, err := rollback.New(ref, "prod-eu", "https://10.0.0.1:6443", "", "oncall@corp", reason, now.UTC())
	s.ID = "20261202-130322-0123abcd"
	k.s = &s
	return s, errors.Join(err, k.err)
}

func (k *fakeKeep) Prepare(_ context.Context, _ string, n rollback.Name) (rollback.Session, *actions.Plan, error) {
	k.calls = append(k.calls, "prepare "+string(n))
	if k.err != nil || k.plan != nil {
		return *k.s, k.plan, k.err
	}
	k.over(n, rollback.Done, "nothing to do")
	return *k.s, nil, nil
}

func (k *fakeKeep) Skip(_ context.Context, _ string, n rollback.Name, reason string) (rollback.Session, error) {
	k.calls = append(k.calls, "skip "+string(n)+": "+reason)
	k.over(n, rollback.Skipped, reason)
	return *k.s, k.err
}

func (k *fakeKeep) Attach(_ context.Context, _, path string) (rollback.Session, error) {
	k.calls = append(k.calls, "attach "+path)
	k.s.Fix = &rollback.File{Name: path}
	k.over(rollback.Fix, rollback.Done, path)
	return *k.s, k.err
}

func (k *fakeKeep) OpenFix(_ context.Context, _ string, ref world.Ref) (actions.Draft, error) {
	k.calls = append(k.calls, "open "+ref.String())
	return actions.Draft{Target: actions.Target{Ref: ref}, Path: "/tmp/draft.yaml"}, k.err
}

func (k *fakeKeep) AttachEdit(_ context.Context, _ string, d actions.Draft) (rollback.Session, error) {
	k.calls = append(k.calls, "attach edit of "+d.Target.Ref.String())
	if len(k.attachErrs) > 0 {
		err := k.attachErrs[0]
		k.attachErrs = k.attachErrs[1:]
		return *k.s, err
	}
	k.s.Fix = &rollback.File{Name: "edited objects"}
	if k.s.Step(rollback.DryRun).State == rollback.Done {
		k.over(rollback.DryRun, rollback.Todo, "")
	}
	k.over(rollback.Fix, rollback.Done, "edited "+object(d.Target.Ref)+": spec.resourceGroups")
	x := k.s.Step(rollback.Fix)
	x.Lines, x.Ended = []string{object(d.Target.Ref) + ": spec.resourceGroups[0].nominalQuota: 20 -> 4"}, now.Add(time.Duration(len(k.calls)))
	return *k.s, nil
}

func (k *fakeKeep) TakeOver(ctx context.Context, id string) (rollback.Session, *actions.Plan, error) {
	k.calls, k.err = append(k.calls, "take over"), nil
	return k.Prepare(ctx, id, rollback.DryRun)
}

func (k *fakeKeep) Attest(_ context.Context, _, words string) (rollback.Session, error) {
	k.calls = append(k.calls, "attest "+words)
	k.over(rollback.Evidence, rollback.Done, words)
	return *k.s, k.err
}

func (k *fakeKeep) Summary(id string) string { return "holdfast session summary " + id }

// over ends a step, as whoever does it would.
func (k *fakeKeep) over(n rollback.Name, st rollback.State, detail string) {
	next := *k.s
	next.Steps = append([]rollback.Step(nil), k.s.Steps...)
	k.s = &next
	x := k.s.Step(n)
	x.State, x.Detail, x.By = st, detail, "oncall@corp"
}

func withSessions(t *testing.T, w, h int) (*stage, *fakeKeep) {
	t.Helper()
	s := begin(t, w, h)
	k := &fakeKeep{}
	s.root.opt.Sessions = k
	return s, k
}

// A rollback from the queue to its end.
func TestRollbackSession(t *testing.T) {
	s, k := withSessions(t, 100, 30)
	s.press("6").sees("There are none", "S: hold").press("2")
	s.onTeamA().press("S").sees("Begin a rollback session of ClusterQueue team-a-cq", "nothing is changed yet")
	s.typeText("bad quota").press("enter").sees("Rollback of ClusterQueue team-a-cq", "bad quota", "▸ [ ] hold", "[ ] compare")

	// hold: a plan, confirmed like any other.
	p := holdPlan()
	p.Session = k.s.ID + "/hold"
	k.plan, s.desk.result = &p, done(p)
	s.desk.during = func() { k.over(rollback.Hold, rollback.Done, "held"); k.plan = nil }
	s.press("enter").sees("Type team-a-cq to hold:")
	s.pass(time.Second)
	s.typeText("team-a-cq").press("enter").sees("done, and seen")
	if d := cmp.Diff(k.s.ID+"/hold", s.desk.ran[0].Session); d != "" {
		t.Errorf("executed (-want +got):\n%s", d)
	}
	s.pass(time.Second)
	s.press("enter").sees("[x] hold", "▸ [ ] export")

	// A step that waits says for what.
	s.press("end", "enter").sees("compare waits for export").press("home", "down")
	s.press("s").sees("Skip export", "incident record").press("enter").sees("type something first")
	s.typeText("no disk").press("enter").sees("export is skipped").press("enter")
	s.pass(time.Second)
	s.sees("[-] export", "▸ [ ] fix")
	s.press("enter").sees("Take a file").press("down", "enter").sees("The file with the corrected objects").typeText("/tmp/q.yaml").press("enter").sees("fix is done").press("enter")
	s.pass(time.Second)
	s.press("enter").sees("checkpoints", "(job urgent-3, priority 900, ClusterQueue team-b-cq): checkpoint not").typeText("every 10 min").press("enter").press("enter")
	for range 2 {
		s.pass(time.Second)
		s.press("enter").sees("is done").press("enter")
	}
	s.pass(time.Second)
	s.press("enter").press("enter") // resume
	s.pass(time.Second)
	s.press("s").typeText("no export").press("enter").press("enter")
	s.pass(time.Second)
	s.sees("Over. The incident record: holdfast session summary " + k.s.ID[:20])
	want := []string{
		"start ClusterQueue/team-a-cq: bad quota", "prepare hold", "skip export: no disk", "attach /tmp/q.yaml", "attest every 10 min", "prepare dry-run", "prepare apply", "prepare resume", "skip compare: no export",
	}
	if d := cmp.Diff(want, k.calls); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	s.press("esc").sees("Rollback sessions", "1 session", "over")
}

func TestSessionsThatCannotBeRead(t *testing.T) {
	s, k := withSessions(t, 100, 30)
	k.err = errors.New("permission denied\x1b[2J")
	s.press("6").sees(`The sessions cannot be read: permission denied\x1b[2J`)
	k.err = nil
	s.press("2").onTeamA().press("S", "enter").sees("[ ] hold")
	k.err = advised{errors.New("session 7 went on since it was shown"), "Look at it anew."}
	s.press("enter").sees("went on since it was shown", "Look at it anew").press("esc")
	s.pass(time.Second)
	s.sees("It may be older than the one on disk")
}

func TestNoSessionsWithoutACluster(t *testing.T) {
	s := begin(t, 100, 30)
	s.press("6").sees("A file has no sessions").press("2")
	s.onTeamA().press("S").sees("a file has no sessions")
}

func TestSessionFitsEverySize(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {80, 24}, {200, 60}} {
		s, k := withSessions(t, size[0], size[1])
		s.onTeamA().press("S", "enter")
		k.over(rollback.Hold, rollback.Failed, strings.Repeat("a long sentence ", 20))
		k.s.Step(rollback.Hold).Lines = make([]string, 100)
		s.pass(2 * time.Second)
		lines := strings.Split(s.frame(), "\n")
		if len(lines) != size[1] {
			t.Errorf("%v: %d lines:\n%s", size, len(lines), s.frame())
		}
		s.sees("hold")
	}
}
