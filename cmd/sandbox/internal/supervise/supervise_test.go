package supervise

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const patience = 30 * time.Second

func spec(t *testing.T, name, script string) Spec {
	t.Helper()
	dir := t.TempDir()
	return Spec{Name: name, Program: "/bin/sh", Args: []string{"-c", script}, Dir: dir, LogFile: filepath.Join(dir, name+".log")}
}

func start(t *testing.T, g *Group, s Spec) int {
	t.Helper()
	if err := g.Start(s); err != nil {
		t.Fatal(err)
	}
	return status(t, g, s.Name).PID
}

func status(t *testing.T, g *Group, name string) Status {
	t.Helper()
	for _, s := range g.Status() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no component %s", name)
	return Status{}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

func TestSuspendResume(t *testing.T) {
	g := NewGroup()
	defer g.StopAll()
	start(t, g, spec(t, "sleeper", "exec sleep 600"))
	if err := g.Suspend("sleeper"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "stopped", func() bool { return status(t, g, "sleeper").State == Stopped })
	if err := g.Resume("sleeper"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "running", func() bool { return status(t, g, "sleeper").State == Running })
	if err := g.Suspend("nobody"); err == nil {
		t.Error("Suspend of an unknown component succeeded")
	}
}

func TestRestartGivesANewProcessEvenWhenSuspended(t *testing.T) {
	g := NewGroup()
	defer g.StopAll()
	old := start(t, g, spec(t, "sleeper", "exec sleep 600"))
	if err := g.Suspend("sleeper"); err != nil {
		t.Fatal(err)
	}
	if err := g.Restart("sleeper"); err != nil {
		t.Fatal(err)
	}
	got := status(t, g, "sleeper")
	if got.PID == old || got.State != Running {
		t.Errorf("after Restart: %+v, want a running process other than %d", got, old)
	}
	if !gone(old) {
		t.Errorf("old process %d is still there", old)
	}
	select {
	case e := <-g.Exits():
		t.Errorf("an end that was asked for was reported: %+v", e)
	default:
	}
}

func TestUnexpectedExitIsReported(t *testing.T) {
	g := NewGroup()
	defer g.StopAll()
	s := spec(t, "crasher", "echo the disk is full >&2; exit 3")
	start(t, g, s)
	select {
	case got := <-g.Exits():
		if diff := cmp.Diff(Exit{Name: "crasher", LogFile: s.LogFile, Why: "exit status 3"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	case <-time.After(patience):
		t.Fatal("no exit reported")
	}
	tail, err := LogTail(s.LogFile, 1000)
	if err != nil || tail != "the disk is full\n" {
		t.Errorf("log %q, %v", tail, err)
	}
	if got := status(t, g, "crasher").State; got != Dead {
		t.Errorf("state %s, want dead", got)
	}
}

func TestExitAfterSuspensionSaysSo(t *testing.T) {
	g := NewGroup()
	defer g.StopAll()
	pid := start(t, g, spec(t, "sleeper", "exec sleep 600"))
	if err := g.Suspend("sleeper"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-g.Exits():
		if !got.Suspended {
			t.Errorf("%+v: Suspended is false", got)
		}
	case <-time.After(patience):
		t.Fatal("no exit reported")
	}
}

func TestKilledStaysDeadUntilRestart(t *testing.T) {
	g := NewGroup()
	defer g.StopAll()
	old := start(t, g, spec(t, "deaf", "trap '' TERM; while :; do sleep 0.05; done"))
	if err := g.Kill("deaf"); err != nil {
		t.Fatal(err)
	}
	if got := status(t, g, "deaf").State; got != Dead {
		t.Errorf("state %s, want dead", got)
	}
	if err := g.Kill("deaf"); err == nil {
		t.Error("a dead one is killed again")
	}
	if err := g.Restart("deaf"); err != nil {
		t.Fatal(err)
	}
	if now := status(t, g, "deaf"); now.State == Dead || now.PID == old {
		t.Errorf("after the restart: %+v", now)
	}
	select {
	case e := <-g.Exits():
		t.Errorf("an end that was asked for was reported: %+v", e)
	default:
	}
}

func TestStopAllEndsStagesInOrder(t *testing.T) {
	g := NewGroup()
	order := filepath.Join(t.TempDir(), "order")
	note := func(word string) string {
		return "trap 'echo " + word + " >>" + order + "; exit 0' TERM; echo up; while :; do sleep 0.05; done"
	}
	base, top := spec(t, "base", note("base")), spec(t, "top", note("top"))
	top.Stage = 1
	pids := []int{start(t, g, base), start(t, g, top)}
	for _, s := range []Spec{base, top} { // until its trap is set a shell dies of SIGTERM silently
		eventually(t, s.Name+" is up", func() bool { tail, _ := LogTail(s.LogFile, 100); return tail == "up\n" })
	}
	g.StopAll()
	got, err := os.ReadFile(order)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("top\nbase\n", string(got)); diff != "" {
		t.Errorf("order of ends (-want +got):\n%s", diff)
	}
	for _, pid := range pids {
		if !gone(pid) {
			t.Errorf("pid %d is still there", pid)
		}
	}
	if err := g.Start(base); err == nil {
		t.Error("Start after StopAll succeeded")
	}
}

func TestStartRefusesASecondOfTheSameName(t *testing.T) {
	g := NewGroup()
	defer g.StopAll()
	s := spec(t, "one", "exec sleep 600")
	start(t, g, s)
	if err := g.Start(s); err == nil {
		t.Error("a second process of the same name was started")
	}
}

func TestLogTailStartsAtALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 100)+"\nlast but one\nlast\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := LogTail(path, 25)
	if err != nil || got != "last but one\nlast\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestParseStat(t *testing.T) {
	rest := strings.Repeat(" 0", 20) + " 7 0 0"
	for in, want := range map[string]State{
		"12 (kueue) S" + rest:        Running,
		"12 (odd) name () T" + rest:  Stopped,
		"12 (tracing stop) t" + rest: Stopped,
		"12 (zombie) Z" + rest:       Dead,
		"":                           Dead,
		"12 (short) R 1":             Dead,
	} {
		got, rss := parseStat(in, 4096)
		var wantRSS int64
		if want != Dead {
			wantRSS = 7 * 4096
		}
		if got != want || rss != wantRSS {
			t.Errorf("parseStat(%q) = %s, %d; want %s, %d", in, got, rss, want, wantRSS)
		}
	}
}
