//go:build sandbox

// Package e2e tests the built programs, whose folder is in HOLDFAST_SANDBOX_BIN.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	readyWithin = 3 * time.Minute // on an idle machine about 10 s
	patience    = time.Minute
)

// program returns the path of holdfast-sandbox.
func program(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("HOLDFAST_SANDBOX_BIN")
	if dir == "" {
		t.Fatal("HOLDFAST_SANDBOX_BIN is not set; build with: go run ./build -out DIR")
	}
	p, err := filepath.Abs(filepath.Join(dir, "holdfast-sandbox"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// output is a buffer a process writes while the test reads.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// process is a running holdfast-sandbox.
type process struct {
	cmd  *exec.Cmd
	out  *output
	done chan struct{}
}

// launch starts holdfast-sandbox in a process group of its own, as a shell would.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(program(t), args...), out: &output{}, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // told by ProcessState
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // has ended already unless the test failed
		<-p.done
	})
	return p
}

// up starts a sandbox in dir and waits until it is ready.
func up(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := launch(t, append([]string{"up", "--dir", dir}, args...)...)
	p.waitFor(t, "ready in ", readyWithin)
	return p
}

// waitFor waits until the process has written the text.
func (p *process) waitFor(t *testing.T, text string, limit time.Duration) {
	t.Helper()
	eventually(t, limit, func() string {
		if strings.Contains(p.out.String(), text) {
			return ""
		}
		select {
		case <-p.done:
			t.Fatalf("ended (%s) without writing %q:\n%s", p.cmd.ProcessState, text, p.out)
		default:
		}
		return "it has not written " + text + ":\n" + p.out.String()
	})
}

// exitCode waits for the process's end.
func (p *process) exitCode(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("pid %d does not end:\n%s", p.cmd.Process.Pid, p.out)
	}
	return p.cmd.ProcessState.ExitCode()
}

// eventually polls until missing returns "", and fails with what it returned last.
func eventually(t *testing.T, limit time.Duration, missing func() string) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		m := missing()
		if m == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, m)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// sandbox runs one command line to its end and returns what it wrote and its exit code.
func sandbox(t *testing.T, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), readyWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t), args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// must is sandbox for a command that has to succeed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	out, code := sandbox(t, args...)
	if code != 0 {
		t.Fatalf("%v: exit code %d:\n%s", args, code, out)
	}
	return out
}

// kubectl runs kubectl with a kubeconfig and returns what it wrote and its exit code.
func kubectl(t *testing.T, kubeconfig string, args ...string) (string, int) {
	t.Helper()
	return sandbox(t, append([]string{"component", "kubectl", "--kubeconfig", kubeconfig, "--cache-dir", t.TempDir()}, args...)...)
}

// available returns the Available condition of Kueue's Deployment and its number of ready replicas.
func available(t *testing.T, dir string) (status, reason string, ready int) {
	t.Helper()
	var d struct {
		Status struct {
			ReadyReplicas int
			Conditions    []struct{ Type, Status, Reason string }
		}
	}
	out := must(t, "kubectl", "--dir", dir, "-n", "kueue-system", "get", "deployment", "kueue-controller-manager", "-o", "json")
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	for _, c := range d.Status.Conditions {
		if c.Type == "Available" {
			return c.Status, c.Reason, d.Status.ReadyReplicas
		}
	}
	return "", "", d.Status.ReadyReplicas
}
