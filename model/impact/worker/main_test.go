//go:build unix

package worker

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/file"
	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/impact/pack"
	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/world"
)

// childEnv makes the test binary a child; its value says what kind of.
const childEnv = "HOLDFAST_WORKER_TEST"

func TestMain(m *testing.M) {
	if kind := os.Getenv(childEnv); kind != "" {
		os.Exit(child(kind))
	}
	os.Exit(m.Run())
}

// child behaves as the kind says.
func child(kind string) int {
	out := newSender(os.Stdout)
	switch kind {
	case "serve":
		if err := Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			return 1
		}
		return 0
	case "environment":
		out.send(message{Error: strings.Join(os.Environ(), "|")})
		return 0
	case "garbage":
		fmt.Println("hello")
	case "endless line":
		b := bufio.NewWriter(os.Stdout)
		for {
			if _, err := b.WriteString(strings.Repeat("x", 1<<16)); err != nil {
				return 1
			}
		}
	case "endless lines":
		read()
		for out.err == nil {
			out.send(message{Progress: &engine.Progress{Mode: "endless"}})
		}
	case "dies":
		fmt.Fprintln(os.Stderr, "no luck\x1b[2J")
		return 3
	case "dies without a word":
		return 3
	case "killed":
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			return 1
		}
	case "panics":
		read()
		out.send(message{Progress: &engine.Progress{Mode: "panics"}})
		fmt.Fprintln(os.Stderr, "a log line")
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			var none []int
			fmt.Fprintln(os.Stderr, none[len(kind)])
		}()
		<-ended
	case "panics within a line":
		fmt.Print(`{"progress":{"Mo`)
		panic("half\nof it")
	case "overflows":
		debug.SetMaxStack(1 << 20)
		fmt.Fprintln(os.Stderr, deep(1))
	case "floods the standard error":
		line := strings.Repeat("noise ", 1000)
		for range 2000 {
			fmt.Fprintln(os.Stderr, line)
		}
		out.send(message{End: true})
		return 0
	case "hangs at once":
	case "hangs later":
		read()
		out.send(message{Read: true})
		out.send(message{Progress: &engine.Progress{Mode: "hangs"}})
	case "closes and hangs":
		read()
		_ = os.Stdout.Close()
	case "watches":
		_, watched, rest, err := readTask(os.Stdin)
		if err != nil || !watched {
			return 1
		}
		go watch(rest, os.Exit)
		out.send(message{Read: true})
	}
	select {} // not a deadlock for the runtime: the test binary has a signal handler
}

// read reads the task and nothing else.
func read() {
	if _, _, _, err := readTask(os.Stdin); err != nil {
		panic(err)
	}
}

// deep never comes to its end.
func deep(n int) int {
	if n == 0 {
		return 0
	}
	return n + deep(n+1)
}

// childOf is a Child of the kind.
func childOf(t testing.TB, kind string) Child {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Child{Path: path, Env: []string{childEnv + "=" + kind}}
}

var at = time.Date(2026, 12, 2, 9, 0, 0, 0, time.UTC)

// task lets queue a take back what it lends in two modes; more are like the
// Workload that waits, with more pods.
func task(t testing.TB, more int) Task {
	t.Helper()
	w, err := file.Open(filepath.Join("testdata", "world.yaml"), at)
	if err != nil {
		t.Fatal(err)
	}
	packed, problems := pack.Of(w.Snapshot, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for i := range more {
		c := packed.Workloads[len(packed.Workloads)-1]
		c.Name, c.UID, c.Created = fmt.Sprintf("more-%d", i), pack.UID(fmt.Sprintf("u-more-%d", i)), c.Created+1
		sets := slices.Clone(packed.PodSets[c.PodSets])
		sets[0].Count += int32(i % 40) // Kueue does not try those again that are like one which does not fit
		c.PodSets = len(packed.PodSets)
		packed.PodSets = append(packed.PodSets, sets)
		packed.Workloads = append(packed.Workloads, c)
	}
	objects, err := packed.Objects()
	if err != nil {
		t.Fatal(err)
	}
	var old *kueue.ClusterQueue
	for _, q := range objects.ClusterQueues {
		if q.Name == "a" {
			old = q
		}
	}
	edited := old.DeepCopy()
	edited.Spec.Preemption.ReclaimWithinCohort = kueue.PreemptionPolicyAny
	return Task{
		World: packed, Edits: []Edit{{Kind: world.KindClusterQueue, Old: old, New: edited}},
		Config: manager.Defaults().Config, At: at, Modes: engine.Modes(1)[:2],
	}
}

// nothingLeft returns a check that nothing more than now is there: no goroutine of
// this package, no open file, no child.
func nothingLeft(t *testing.T) func() {
	t.Helper()
	files := open(t)
	return func() {
		t.Helper()
		var left string
		for range 100_000 { // a goroutine that has said that it ended needs a moment
			if left = goroutines(); left == "" {
				break
			}
			runtime.Gosched()
		}
		if left != "" {
			t.Errorf("a goroutine is left:\n%s", left)
		}
		if now := open(t); now > files {
			t.Errorf("%d files are open, %d were before", now, files)
		}
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
			t.Errorf("a child is left: %d, %v", pid, err)
		}
	}
}

func open(t *testing.T) int {
	t.Helper()
	f, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("there is no /proc")
	}
	return len(f)
}

// goroutines are those that run code of this package or of os/exec, but for the
// tests' own.
func goroutines() string {
	buf := make([]byte, 1<<20)
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if !strings.Contains(g, "testing.tRunner") && (strings.Contains(g, "impact/worker.") || strings.Contains(g, "os/exec.")) && !strings.Contains(g, "TestMain") {
			return g
		}
	}
	return ""
}
