//go:build sandbox

// Package e2e drives the real program against a real control plane and a real
// Kueue. HOLDFAST_SANDBOX_BIN names the folder with the sandbox's programs; the
// Makefile sets it.
package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/client-go/clientset/versioned"
)

// world is what TestMain made: one sandbox for all tests of the package.
var world struct {
	sandbox  string // the program
	dir      string // its data
	holdfast string // the program under test
	admin    *versioned.Clientset
}

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (code int, err error) {
	bin := os.Getenv("HOLDFAST_SANDBOX_BIN")
	if bin == "" {
		return 1, fmt.Errorf("HOLDFAST_SANDBOX_BIN is not set: run `make test`")
	}
	tmp, err := os.MkdirTemp("", "holdfast-e2e-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	world.sandbox, world.dir, world.holdfast = filepath.Join(bin, "holdfast-sandbox"), filepath.Join(tmp, "data"), filepath.Join(tmp, "holdfast")
	if out, err := exec.Command("go", "build", "-o", world.holdfast, "..").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("the program does not build: %w\n%s", err, out)
	}
	role, err := filepath.Abs("../rbac.yaml")
	if err != nil {
		return 1, err
	}
	var log bytes.Buffer
	up := exec.Command(world.sandbox, "up", "--dir", world.dir, "--oncall-role", role)
	up.Stdout, up.Stderr = &log, &log
	if err := up.Start(); err != nil {
		return 1, err
	}
	ended := make(chan error, 1)
	go func() { ended <- up.Wait() }()
	defer func() {
		if out, downErr := exec.Command(world.sandbox, "down", "--dir", world.dir).CombinedOutput(); downErr != nil {
			err = fmt.Errorf("the sandbox does not stop: %w\n%s", downErr, out)
			_ = up.Process.Kill()
		}
		<-ended
	}()
	if err := waitReady(ended, &log); err != nil {
		return 1, err
	}
	if out, err := exec.Command(world.sandbox, "scenario", "incident", "--dir", world.dir).CombinedOutput(); err != nil {
		return 1, fmt.Errorf("the incident cannot be set up: %w\n%s", err, out)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", filepath.Join(world.dir, "admin.kubeconfig"))
	if err != nil {
		return 1, err
	}
	cfg.QPS = -1
	if world.admin, err = versioned.NewForConfig(cfg); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

func waitReady(ended <-chan error, log *bytes.Buffer) error {
	for range 180 {
		select {
		case err := <-ended:
			return fmt.Errorf("the sandbox ended: %v\n%s", err, log)
		case <-time.After(time.Second):
		}
		out, err := exec.Command(world.sandbox, "status", "--dir", world.dir).CombinedOutput()
		if err == nil && strings.Contains(string(out), "ready") && !strings.Contains(string(out), "not ready") {
			return nil
		}
	}
	return fmt.Errorf("the sandbox was not ready in 3 minutes")
}

// oncall is the environment of the engineer on call: the rights that the program
// documents, and state of their own.
func oncall(t *testing.T) []string {
	t.Helper()
	return []string{"KUBECONFIG=" + filepath.Join(world.dir, "oncall.kubeconfig"), "XDG_STATE_HOME=" + t.TempDir(), "NO_COLOR=", "KUBE_EDITOR=false"}
}

// headless runs a command of the program without a terminal.
func headless(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	c := exec.CommandContext(ctx, world.holdfast, args...)
	c.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run()
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

func clusterQueue(t *testing.T, name string) *kueue.ClusterQueue {
	t.Helper()
	q, err := world.admin.KueueV1beta2().ClusterQueues().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// resting returns what get reads once Kueue has left it alone for a while, so that
// a changed resourceVersion later can only come from the program.
func resting[T interface{ GetResourceVersion() string }](t *testing.T, get func() T) T {
	t.Helper()
	o, since := get(), time.Now()
	eventually(t, "an object at rest", func() bool {
		now := get()
		if now.GetResourceVersion() != o.GetResourceVersion() {
			o, since = now, time.Now()
		}
		return time.Since(since) > 3*time.Second
	})
	return o
}

func restingQueue(t *testing.T, name string) *kueue.ClusterQueue {
	t.Helper()
	return resting(t, func() *kueue.ClusterQueue { return clusterQueue(t, name) })
}

func localQueue(t *testing.T, namespace, name string) *kueue.LocalQueue {
	t.Helper()
	q, err := world.admin.KueueV1beta2().LocalQueues(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func sandbox(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(world.sandbox, append(args, "--dir", world.dir)...).CombinedOutput(); err != nil {
		t.Fatalf("sandbox %v: %v\n%s", args, err, out)
	}
}
