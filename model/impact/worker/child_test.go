//go:build unix

package worker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/impact/pack"
	"cli.holdfast.dev/holdfast/model/world"
)

// A child answers what this process would, with all timings, and leaves nothing.
func TestChildAnswersTheSame(t *testing.T) {
	check := nothingLeft(t)
	job := task(t, 300) // more than go into one value, and into one line
	gather := func(run func(context.Context, Task, func(engine.Outcome), func(engine.Progress)) error) (outs []engine.Outcome, told int) {
		err := run(t.Context(), job, func(o engine.Outcome) { outs = append(outs, o) }, func(engine.Progress) { told++ })
		if err != nil {
			t.Fatal(err)
		}
		return outs, told
	}
	want, wantTold := gather(InProcess{}.Run)
	got, told := gather(childOf(t, "serve").Run)
	if len(want) != 2 || len(want[0].Preemptions) != 1 || want[0].Preemptions[0].Victim != (world.Key{Namespace: "ns", Name: "lent"}) || len(want[0].Changed) < changedPerLine {
		t.Fatalf("the edit does not do what it is made for: %+v", want)
	}
	for i := range want {
		timeless(want[i])
		timeless(got[i])
		if !equality.Semantic.DeepEqual(want[i], got[i]) {
			t.Errorf("outcome %d (-in process +child):\n%s", i, cmp.Diff(want[i], got[i]))
		}
	}
	if told != wantTold || told == 0 {
		t.Errorf("progress was told %d times, in process %d times", told, wantTold)
	}
	check()
}

// timeless takes out the time of Requeued, which Kueue has from the clock on the
// wall (SetRequeuedCondition in pkg/workload).
func timeless(o engine.Outcome) {
	for _, w := range o.Changed {
		for i := range w.Status.Conditions {
			if c := &w.Status.Conditions[i]; c.Type == kueue.WorkloadRequeued {
				c.LastTransitionTime = metav1.Time{}
			}
		}
	}
}

func TestChildFails(t *testing.T) {
	const crash, nonsense = "ended it: ", "wrote what is no answer: "
	tests := map[string]struct{ kind, err string }{
		"garbage":              {"garbage", nonsense + "a line is not readable: invalid character 'h'"},
		"a line without end":   {"endless line", nonsense + "a line has more than 67108864 bytes"},
		"it dies":              {"dies", crash + `no luck\x1b[2J (exit status 3)`},
		"it says nothing":      {"dies without a word", crash + "exit status 3"},
		"somebody kills it":    {"killed", crash + "it was killed, perhaps for want of memory"},
		"a panic":              {"panics", crash + "panic: runtime error: index out of range [6] with length 0"},
		"a panic in a line":    {"panics within a line", crash + "panic: half"},
		"a stack without end":  {"overflows", crash + "its stack overflowed (runtime: goroutine stack exceeds 1048576-byte limit)"},
		"much standard error":  {"floods the standard error", ""},
		"an environment":       {"environment", childEnv + "=environment"},
		"it reads nothing":     {"hangs at once", "said nothing for 30s and was ended"},
		"it hangs":             {"hangs later", "said nothing for 30s and was ended"},
		"it closes, and hangs": {"closes and hangs", "said nothing for 30s and was ended"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(nothingLeft(t)) // after all others
			c := childOf(t, tc.kind)
			heard := func() {}
			if strings.Contains(tc.err, "30s") {
				clk := testclock.NewFakeClock(at)
				c.Clock = clk
				if tc.kind != "hangs later" {
					defer passTime(clk)()
				}
				// This one is to hang only after it was heard of.
				heard = sync.OnceFunc(func() { t.Cleanup(passTime(clk)) })
			}
			err := c.Run(t.Context(), task(t, 3000), func(engine.Outcome) { t.Error("an outcome came") }, func(engine.Progress) { heard() })
			if (err == nil) != (tc.err == "") || err != nil && !strings.HasSuffix(strings.TrimSuffix(err.Error(), " looking for beginning of value"), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			var crashed *CrashError
			if strings.HasPrefix(tc.err, crash) != errors.As(err, &crashed) {
				t.Errorf("error %T", err)
			}
		})
	}
}

// passTime lets time pass without waiting for it, until the function that it
// returns is called.
func passTime(clk *testclock.FakeClock) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			if clk.HasWaiters() {
				clk.Step(DefaultSilence)
			}
			runtime.Gosched()
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

func TestChildIsCancelled(t *testing.T) {
	why := errors.New("the person left")
	tests := map[string]struct {
		kind, when string
		waiting    int
	}{
		"before it starts":            {"serve", "before", 0},
		"while it reads nothing":      {"hangs at once", "at once", 3000},
		"while it runs":               {"serve", "progress", 100},
		"between outcomes":            {"serve", "outcome", 100},
		"while it hangs":              {"hangs later", "progress", 0},
		"while it tells without end":  {"endless lines", "progress", 0},
		"when it has closed the pipe": {"closes and hangs", "at once", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			check := nothingLeft(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			c := childOf(t, tc.kind)
			switch tc.when {
			case "before":
				cancel(why)
				c.Path = "/nonexistent" // it must not even be started
			case "at once":
				// Nothing of what this child does can be seen from here, so that it is
				// cancelled somewhere between its start and its hanging.
				clk := testclock.NewFakeClock(at)
				c.Clock = clk
				go func() {
					for !clk.HasWaiters() { // until it was started
						runtime.Gosched()
					}
					cancel(why)
				}()
			}
			outcomes := 0
			err := c.Run(ctx, task(t, tc.waiting), func(engine.Outcome) {
				if outcomes++; tc.when == "outcome" {
					cancel(why)
				}
			}, func(engine.Progress) {
				if tc.when == "progress" {
					cancel(why)
				}
			})
			if !errors.Is(err, why) {
				t.Errorf("error %v, want the cause", err)
			}
			if tc.when == "outcome" && outcomes != 1 || tc.when != "outcome" && outcomes > 0 {
				t.Errorf("%d outcomes", outcomes)
			}
			check()
		})
	}
}

// However long the caller takes for what it was told, the child is not to blame.
func TestSlowCallerIsNoSilence(t *testing.T) {
	clk := testclock.NewFakeClock(at)
	c := childOf(t, "serve")
	c.Clock = clk
	slow := func() { clk.Step(2 * DefaultSilence) }
	if err := c.Run(t.Context(), task(t, 0), func(engine.Outcome) { slow() }, func(engine.Progress) { slow() }); err != nil {
		t.Error(err)
	}
}

func TestChildThatIsNotThere(t *testing.T) {
	check := nothingLeft(t)
	err := Child{Path: "/nonexistent\x1b"}.Run(t.Context(), task(t, 0), nil, nil)
	if err == nil || !strings.Contains(err.Error(), `cannot be started: fork/exec /nonexistent\x1b`) {
		t.Errorf("error %v", err)
	}
	check()
}

// The engine's own errors come over as they are.
func TestChildTellsErrors(t *testing.T) {
	job := task(t, 0)
	job.Config.FeatureGates = map[string]bool{"TimeTravel": true}
	err := childOf(t, "serve").Run(t.Context(), job, nil, nil)
	if err == nil || !strings.HasSuffix(err.Error(), "unrecognized feature gate: TimeTravel") {
		t.Errorf("error %v", err)
	}
	// Another set of gates than that of this process is what a child is good for.
	job.Config.FeatureGates = map[string]bool{"PartialAdmission": false}
	outcomes := 0
	if err := childOf(t, "serve").Run(t.Context(), job, func(engine.Outcome) { outcomes++ }, nil); err != nil || outcomes != 2 {
		t.Errorf("%d outcomes, error %v", outcomes, err)
	}
	job.World = &pack.World{Shapes: []json.RawMessage{json.RawMessage(`"none"`)}}
	err = childOf(t, "serve").Run(t.Context(), job, nil, nil)
	if _, inner := job.World.Objects(); inner == nil || err == nil || err.Error() != inner.Error() {
		t.Errorf("error %v, in process %v", err, inner)
	}
}

// A child ends by itself when nobody waits for it any more.
func TestOrphanEnds(t *testing.T) {
	kind := childOf(t, "watches")
	c := exec.Command(kind.Path)
	c.Env, c.Stderr = kind.Env, os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := writeTask(in, task(t, 0), true); err != nil {
		t.Fatal(err)
	}
	if err := lines(out, mostLine, func(m message) bool { return !m.Read }); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != orphaned {
		t.Errorf("it ended with %v, want %d", err, orphaned)
	}
}

func TestServe(t *testing.T) {
	tests := map[string]struct {
		in  io.Reader
		out io.Writer
		err string
	}{
		"no task":          {strings.NewReader(""), io.Discard, "the task is not readable: EOF"},
		"half a task":      {strings.NewReader(`{}{}[{"n":"a"`), io.Discard, "the task is not readable: unexpected EOF"},
		"nobody listens":   {tasks(t), broken{}, "the answer cannot be written: it is broken"},
		"all is well":      {tasks(t), io.Discard, ""},
		"another kind":     {strings.NewReader(`{"Edits":[{"Kind":"Node"}]}`), io.Discard, "the task is not readable: a preview cannot change a Node"},
		"an edit is wrong": {strings.NewReader(`{"Edits":[{"Kind":"Cohort","New":{"spec":1}}]}`), io.Discard, "an edited Cohort is not readable"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := Serve(t.Context(), tc.in, tc.out)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}

// tasks is the input of a parent that does not wait.
func tasks(t *testing.T) io.Reader {
	t.Helper()
	var b strings.Builder
	if err := writeTask(&b, task(t, 0), false); err != nil {
		t.Fatal(err)
	}
	return strings.NewReader(b.String())
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("it is broken") }

// What a start costs, with a state that costs nothing to compute.
func BenchmarkStart(b *testing.B) {
	job := task(b, 0)
	job.Modes = job.Modes[:1]
	for name, run := range map[string]func(context.Context, Task, func(engine.Outcome), func(engine.Progress)) error{
		"InProcess": InProcess{}.Run, "Child": childOf(b, "serve").Run,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := run(b.Context(), job, func(engine.Outcome) {}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What it costs to hand over a state of 50,000 Workloads.
func BenchmarkHandOver(b *testing.B) {
	job := task(b, 50_000)
	b.ReportAllocs()
	for b.Loop() {
		r, w := io.Pipe()
		go func() { _ = w.CloseWithError(writeTask(w, job, false)) }()
		if _, _, _, err := readTask(r); err != nil {
			b.Fatal(err)
		}
	}
}
