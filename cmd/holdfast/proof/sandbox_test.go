//go:build sandbox

package proof

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/live"
	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/world"
)

// startWithin is how long a sandbox may take to be ready on a busy machine.
const startWithin = 3 * time.Minute

// cluster is a real Kueue: what changes it, and what the console reads it with.
type cluster struct {
	admin    client.WithWatch
	watcher  *live.Watcher
	settings manager.Settings
	gauges   *gauges
	fair     bool
	logs     string // the folder of the components' logs
	log      func(string, ...any)
}

// start brings up a sandbox, stops it when the test ends, and makes what all
// worlds share.
func start(t *testing.T, fair bool) *cluster {
	t.Helper()
	bin := os.Getenv("HOLDFAST_SANDBOX_BIN")
	if bin == "" {
		t.Fatal("HOLDFAST_SANDBOX_BIN is not set: run `make proof` or `make test`")
	}
	role, err := filepath.Abs("../rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	args := []string{"up", "--dir", dir, "--oncall-role", role}
	if fair {
		args = append(args, "--fair-sharing")
	}
	up(t, exec.Command(filepath.Join(bin, "holdfast-sandbox"), args...))
	c := &cluster{fair: fair, logs: filepath.Join(dir, "logs"), log: t.Logf}
	c.connect(t, dir)
	c.furnish(t)
	if c.gauges, err = c.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// up runs the sandbox until the test ends, and returns when it is ready.
func up(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is the test's
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait(); _ = w.Close() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
		if err := <-ended; err != nil {
			t.Errorf("the sandbox ended badly: %v", err)
		}
	})
	ready, said := make(chan error, 1), &strings.Builder{}
	go func() {
		s := bufio.NewScanner(r)
		for told := false; s.Scan(); {
			if fmt.Fprintln(said, s.Text()); !told && strings.Contains(s.Text(), "ready in ") {
				told, said = true, &strings.Builder{}
				ready <- nil
			}
		}
		ready <- errors.New(said.String())
	}()
	select {
	case err := <-ready:
		if err != nil {
			t.Fatalf("the sandbox did not start: %v", err)
		}
	case <-time.After(startWithin):
		t.Fatalf("the sandbox was not ready within %s", startWithin)
	}
}

func config(t *testing.T, dir, person string) *rest.Config {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, person+".kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// connect makes the administrator's client, and the console's reader with the
// rights that the console documents.
func (c *cluster) connect(t *testing.T, dir string) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), kueue.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	cfg := config(t, dir, "admin")
	cfg.QPS = -1
	var err error
	if c.admin, err = client.NewWithWatch(cfg, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	const namespace, name = "kueue-system", "kueue-controller-manager"
	reader := kube.Reader(config(t, dir, "oncall"), "holdfast/proof")
	c.watcher = live.New(live.Options{
		Config: reader, Contract: world.Contract{Context: "sandbox-oncall"}, ManagerNamespace: namespace, ManagerName: name,
		Clock: clock.RealClock{}, Log: func(string) {},
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.watcher.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	k, err := kube.NewClient(reader)
	if err != nil {
		t.Fatal(err)
	}
	c.settings = k.ManagerConfig(t.Context(), namespace, name).Settings()
	if on := c.settings.Config.FairSharing != nil; on != c.fair {
		t.Logf("the manager's configuration does not tell that fair sharing is %t (%q)", c.fair, c.settings.Unknown)
		c.settings = c.settings.WithFairSharing(c.fair)
	}
}

// furnish makes flavors, nodes for each of them, and priority classes.
func (c *cluster) furnish(t *testing.T) {
	t.Helper()
	var objects []client.Object
	for _, name := range flavorNames {
		f := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: name}}
		n := node(name)
		if v := pools[name]; v != "" {
			f.Spec.NodeLabels = map[string]string{poolLabel: v}
			n.Labels[poolLabel] = v
		}
		if name == spot {
			taint := corev1.Taint{Key: spotTaint, Value: "true", Effect: corev1.TaintEffectNoSchedule}
			f.Spec.NodeTaints, n.Spec.Taints = []corev1.Taint{taint}, []corev1.Taint{taint}
		}
		objects = append(objects, f, n)
	}
	for name, value := range priorities {
		objects = append(objects, &kueue.WorkloadPriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value})
	}
	for _, o := range append(objects, canaryObjects()...) {
		if err := c.admin.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// node has room for everything: Kueue's quota decides, not Kubernetes.
func node(name string) *corev1.Node {
	room := corev1.ResourceList{cpu: quantity(1e5), gpu: quantity(1e5), corev1.ResourcePods: quantity(1e5), corev1.ResourceMemory: quantity(1e12)}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status:     corev1.NodeStatus{Allocatable: room, Capacity: room},
	}
}
