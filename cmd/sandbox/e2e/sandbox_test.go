//go:build sandbox

package e2e

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const roleFile = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: oncall-test}
rules:
- {apiGroups: [kueue.x-k8s.io], resources: [clusterqueues], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: oncall-test, namespace: kueue-system}
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [get]}
`

func components() []string {
	return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kueue", "kwok"}
}

// TestSandbox shares one sandbox; its parts run in order.
func TestSandbox(t *testing.T) {
	tmp := t.TempDir()
	// Longer than a Unix socket's path may be.
	dir := filepath.Join(tmp, strings.Repeat("a-long-name-", 10), "data")
	role := filepath.Join(tmp, "role.yaml")
	if err := os.WriteFile(role, []byte(roleFile), 0o600); err != nil {
		t.Fatal(err)
	}
	p := up(t, dir, "--oncall-role", role)

	t.Run("each component is a process and listens on loopback only", func(t *testing.T) {
		got := children(t, p.cmd.Process.Pid)
		var names []string
		for name := range got {
			names = append(names, name)
		}
		slices.Sort(names)
		if diff := cmp.Diff(components(), names); diff != "" {
			t.Fatalf("components (-want +got):\n%s", diff)
		}
		addrs := listening(t, got)
		if len(addrs) == 0 {
			t.Fatal("nothing listens")
		}
		for _, a := range addrs {
			if !a.IP.IsLoopback() {
				t.Errorf("something listens on %s", a.String())
			}
		}
	})
	t.Run("every file is private", func(t *testing.T) { checkModes(t, dir) })
	t.Run("oncall has the rights of the role file and no others", func(t *testing.T) {
		k := filepath.Join(dir, "oncall.kubeconfig")
		for _, args := range [][]string{
			{"get", "clusterqueues"},
			{"-n", "kueue-system", "get", "deployment", "kueue-controller-manager"},
		} {
			if out, code := kubectl(t, k, args...); code != 0 {
				t.Errorf("%v: exit code %d:\n%s", args, code, out)
			}
		}
		for _, args := range [][]string{{"get", "nodes"}, {"-n", "default", "get", "deployments"}} {
			if out, code := kubectl(t, k, args...); code == 0 || !strings.Contains(out, `User "oncall" cannot`) {
				t.Errorf("%v: exit code %d, want a refusal of user oncall:\n%s", args, code, out)
			}
		}
	})
	t.Run("the manager's ConfigMap says what Kueue runs with", func(t *testing.T) { checkConfigMap(t, dir) })
	t.Run("a second sandbox in the folder is refused", func(t *testing.T) {
		out, code := sandbox(t, "up", "--dir", dir)
		if want := fmt.Sprintf("already running in %s as pid %d", dir, p.cmd.Process.Pid); code == 0 || !strings.Contains(out, want) {
			t.Errorf("exit code %d, want a failure with %q:\n%s", code, want, out)
		}
	})
	t.Run("Kueue's Deployment follows a stop", func(t *testing.T) { checkStop(t, dir) })
	t.Run("Kueue is started again if it gives up after a stop", func(t *testing.T) { checkGiveUp(t, dir, p) })
	t.Run("restart kueue", func(t *testing.T) { checkRestart(t, dir, p) })
	t.Run("faults of what others depend on", func(t *testing.T) { checkFaults(t, dir) })
	t.Run("an unknown fault says what is possible", func(t *testing.T) {
		if out, code := sandbox(t, "stop", "kubelet", "--dir", dir); code == 0 || !strings.Contains(out, "stop kueue") {
			t.Errorf("exit code %d:\n%s", code, out)
		}
	})
	t.Run("scenario incident, twice", func(t *testing.T) {
		first := must(t, "scenario", "incident", "--dir", dir)
		if !strings.Contains(first, "the mistaken edit of team-b-cq preempts") {
			t.Errorf("it does not tell the end:\n%s", first)
		}
		if second := must(t, "scenario", "incident", "--dir", dir); !strings.Contains(second, "there already") {
			t.Errorf("the second run did something:\n%s", second)
		}
	})
	t.Run("tenant has the rights of Kueue's own role in one namespace", func(t *testing.T) { checkTenant(t, dir) })
	t.Run("viewer reads everything and writes nothing", func(t *testing.T) { checkViewer(t, dir) })
	t.Run("record", func(t *testing.T) { checkRecord(t, dir) })
	t.Run("scenario requests, twice", func(t *testing.T) {
		if first := must(t, "scenario", "requests", "--dir", dir); !strings.Contains(first, "status.resourceRequests") {
			t.Errorf("it does not tell the end:\n%s", first)
		}
		if second := must(t, "scenario", "requests", "--dir", dir); !strings.Contains(second, "there already") {
			t.Errorf("the second run did something:\n%s", second)
		}
	})
	t.Run("run uses the running sandbox and passes the exit code on", func(t *testing.T) {
		out, code := sandbox(t, "run", "--dir", dir, "--kubeconfig", "oncall", "--", "sh", "-c", `echo "with $KUBECONFIG"; exit 7`)
		if want := "with " + filepath.Join(dir, "oncall.kubeconfig") + "\n"; code != 7 || out != want {
			t.Errorf("exit code %d and output %q, want 7 and %q", code, out, want)
		}
		out = must(t, "status", "--dir", dir)
		for _, want := range []string{"ready", filepath.Join(dir, "tenant.kubeconfig"), filepath.Join(dir, "viewer.kubeconfig")} {
			if !strings.Contains(out, want) {
				t.Errorf("status after does not say %q:\n%s", want, out)
			}
		}
	})
	t.Run("SIGTERM leaves nothing", func(t *testing.T) {
		before := children(t, p.cmd.Process.Pid)
		addrs := listening(t, before)
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code := p.exitCode(t); code != 0 {
			t.Errorf("exit code %d:\n%s", code, p.out)
		}
		checkNothingLeft(t, before, addrs)
		if out, code := sandbox(t, "status", "--dir", dir); code == 0 || !strings.Contains(out, "no sandbox runs") {
			t.Errorf("status after the end: exit code %d:\n%s", code, out)
		}
	})
}

func checkModes(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkStop(t *testing.T, dir string) {
	waitAvailable := func(wantStatus, wantReason string, wantReady int) {
		t.Helper()
		eventually(t, patience, func() string {
			status, reason, ready := available(t, dir)
			return cmp.Diff([]any{wantStatus, wantReason, wantReady}, []any{status, reason, ready})
		})
	}
	waitAvailable("True", "MinimumReplicasAvailable", 1)
	must(t, "stop", "kueue", "--dir", dir)
	waitAvailable("False", "MinimumReplicasUnavailable", 0)
	if out := must(t, "status", "--dir", dir); !strings.Contains(out, "stopped") {
		t.Errorf("status does not say stopped:\n%s", out)
	}
	must(t, "continue", "kueue", "--dir", dir)
	waitAvailable("True", "MinimumReplicasAvailable", 1)
}

// checkGiveUp kills a stopped Kueue, which is what the loss of its lease amounts to.
func checkGiveUp(t *testing.T, dir string, p *process) {
	old := children(t, p.cmd.Process.Pid)["kueue"]
	must(t, "stop", "kueue", "--dir", dir)
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, patience, func() string {
		now, ok := children(t, p.cmd.Process.Pid)["kueue"]
		if !ok || now == old {
			return "no new process of kueue"
		}
		if status, _, _ := available(t, dir); status != "True" {
			return "its Deployment is not available"
		}
		return ""
	})
}

func checkRestart(t *testing.T, dir string, p *process) {
	old := children(t, p.cmd.Process.Pid)["kueue"]
	must(t, "restart", "kueue", "--dir", dir)
	if now := children(t, p.cmd.Process.Pid)["kueue"]; now == old || now == 0 {
		t.Errorf("kueue has pid %d after the restart, %d before", now, old)
	}
	// The webhook answers right after: this object is validated by it, and refused for its own sake.
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	queue := `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: bad}, spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: "-1"}]}]}]}}`
	if err := os.WriteFile(bad, []byte(queue), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := sandbox(t, "kubectl", "--dir", dir, "create", "-f", bad); code == 0 || !strings.Contains(out, "vclusterqueue.kb.io") {
		t.Errorf("exit code %d, want a refusal by Kueue's webhook:\n%s", code, out)
	}
}

func checkNothingLeft(t *testing.T, pids map[string]int, addrs []net.TCPAddr) {
	t.Helper()
	eventually(t, patience, func() string {
		for name, pid := range pids {
			if alive(pid) {
				return fmt.Sprintf("%s (pid %d) is gone", name, pid)
			}
		}
		return ""
	})
	// A killed process is a zombie before the last of its threads has closed its sockets.
	eventually(t, patience, func() string {
		for _, a := range addrs {
			l, err := net.Listen("tcp", a.String())
			if err != nil {
				return fmt.Sprintf("%s is free: %v", a.String(), err)
			}
			_ = l.Close()
		}
		return ""
	})
}
