//go:build sandbox

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestForeignFolderIsRefusedUntouched(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, code := sandbox(t, "up", "--dir", dir)
	if code == 0 || !strings.Contains(out, "is not a sandbox's folder") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"notes.txt"}, names); diff != "" {
		t.Errorf("files after (-want +got):\n%s", diff)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "mine" {
		t.Errorf("file after: %q, %v", got, err)
	}
}

func TestBadRoleFileIsRefusedAtOnce(t *testing.T) {
	tmp := t.TempDir()
	role := filepath.Join(tmp, "role.yaml")
	if err := os.WriteFile(role, []byte("{apiVersion: v1, kind: Secret, metadata: {name: s}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code := sandbox(t, "up", "--dir", filepath.Join(tmp, "data"), "--oncall-role", role)
	if code == 0 || !strings.Contains(out, "only ClusterRole and Role") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// TestDeaths kills first the sandbox, then a component of the next one in the same folder.
func TestDeaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	p := up(t, dir)
	if !strings.Contains(p.out.String(), "user oncall has no rights") {
		t.Errorf("without a role file it does not say so:\n%s", p.out)
	}
	kids := children(t, p.cmd.Process.Pid)
	if len(kids) != len(components()) {
		t.Fatalf("children: %v", kids)
	}
	addrs := listening(t, kids)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.exitCode(t)
	checkNothingLeft(t, kids, addrs)

	p = up(t, dir)
	if !strings.Contains(p.out.String(), "replaced the data of a sandbox that had died") {
		t.Errorf("it does not say that it replaced old data:\n%s", p.out)
	}
	kids = children(t, p.cmd.Process.Pid)
	addrs = listening(t, kids)
	if err := syscall.Kill(kids["kube-scheduler"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := p.exitCode(t); code == 0 {
		t.Error("exit code 0 although a component died")
	}
	if !strings.Contains(p.out.String(), "kube-scheduler died (signal: killed)") {
		t.Errorf("it does not say who died:\n%s", p.out)
	}
	checkNothingLeft(t, kids, addrs)
}

// TestCtrlCIsTheCommandsAlone sends what a terminal sends: SIGINT to the whole foreground process group.
func TestCtrlCIsTheCommandsAlone(t *testing.T) {
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "data")
	script := `trap 'echo caught >&2; exit 9' INT; echo command runs; while :; do sleep 0.1; done`
	p := launch(t, "run", "--dir", dir, "--", "sh", "-c", script)
	p.waitFor(t, "command runs", readyWithin)
	kids := children(t, p.cmd.Process.Pid)
	if _, ok := kids["kueue"]; !ok {
		t.Fatalf("children: %v", kids)
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := p.exitCode(t); code != 9 {
		t.Errorf("exit code %d, want the command's 9:\n%s", code, p.out)
	}
	if _, after, ok := strings.Cut(p.out.String(), "command runs\n"); !ok || after != "caught\n" {
		t.Errorf("written while and after the command ran: %q, want only the command's own words", after)
	}
	checkNothingLeft(t, kids, nil)
}
