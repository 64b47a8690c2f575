//go:build sandbox

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// smallJob asks team-c's queue for no GPU, of which none is left.
const smallJob = `apiVersion: batch/v1
kind: Job
metadata: {name: NAME, namespace: team-c, labels: {kueue.x-k8s.io/queue-name: batch}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: c
        image: registry.example.com/none
        resources: {requests: {cpu: 100m, memory: 64Mi}}
`

// workloadOf returns the Workload of a Job, or nil.
func workloadOf(t *testing.T, namespace, job string) *kueue.Workload {
	t.Helper()
	all, err := world.admin.KueueV1beta2().Workloads(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all.Items {
		if o := metav1.GetControllerOf(&all.Items[i]); o != nil && o.Name == job {
			return &all.Items[i]
		}
	}
	return nil
}

// kubectl runs it as the administrator.
func kubectl(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(world.sandbox, append([]string{"kubectl", "--dir", world.dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
}

func fungibility(q *kueue.ClusterQueue) kueue.FlavorFungibilityPolicy {
	if q.Spec.FlavorFungibility == nil {
		return ""
	}
	return q.Spec.FlavorFungibility.WhenCanBorrow
}

func admittedNow(w *kueue.Workload) bool { return w != nil && w.Status.Admission != nil }

func sessionID(t *testing.T, env []string) string {
	t.Helper()
	out, errs, code := headless(t, env, "session", "list")
	id, _, ok := strings.Cut(out, " ")
	if code != 0 || !ok {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	return id
}

// A rollback by commands, killed while it holds and while it applies, handed over to a
// colleague in between: nothing is done twice, nothing is lost, and Kueue does what the
// queue's state says.
func TestRollbackSessionByCommands(t *testing.T) {
	l := newLane(t, "oncall")
	env := l.env(t)
	exports := t.TempDir()
	before := restingQueue(t, "team-c-cq")
	run := func(env []string, want int, args ...string) string {
		t.Helper()
		out, errs, code := headless(t, env, append(args, "--export-dir", exports)...)
		if code != want {
			t.Fatalf("%v: exit %d, want %d\n%s%s", args, code, want, out, errs)
		}
		return out + errs
	}
	if out := run(env, 0, "session", "start", "cq/team-c-cq", "--reason", "bad weight"); !strings.Contains(out, "[ ] hold") {
		t.Fatal(out)
	}
	id := sessionID(t, env)
	if q := clusterQueue(t, "team-c-cq"); q.ResourceVersion != before.ResourceVersion {
		t.Error("the start of a session changed the queue")
	}

	// Killed when the hold was stored and not yet answered.
	if !killed(t, l, env, atFirstWrite(true), "session", "next", id, "--yes", "--export-dir", exports) {
		t.Fatal("it was not killed")
	}
	if q := clusterQueue(t, "team-c-cq"); q.Generation != before.Generation+1 || q.Spec.StopPolicy == nil || *q.Spec.StopPolicy != kueue.Hold {
		t.Fatalf("not held: %+v", q.Spec.StopPolicy)
	}
	// While it is held nothing new is admitted, and what runs goes on.
	running := admittedIn(t, "team-c")
	kubectl(t, "create", "-f", written(t, "job.yaml", strings.Replace(smallJob, "NAME", "while-held", 1)))
	defer kubectl(t, "-n", "team-c", "delete", "job", "while-held", "--wait=false")
	eventually(t, "the Job has a Workload", func() bool { return workloadOf(t, "team-c", "while-held") != nil })

	// The next one reads the hold from the cluster and goes on with the export.
	out := run(env, 0, "session", "next", id, "--yes")
	if !strings.Contains(out, "[x] hold") || !strings.Contains(out, "read from the cluster: all of it is held") || !strings.Contains(out, "[x] export") {
		t.Errorf("%s", out)
	}
	if q := clusterQueue(t, "team-c-cq"); q.Generation != before.Generation+1 {
		t.Errorf("held twice: generation %d", q.Generation)
	}
	bundles, err := filepath.Glob(filepath.Join(exports, "*.tar.gz"))
	if err != nil || len(bundles) != 1 {
		t.Fatalf("exports %v, %v", bundles, err)
	}
	run(env, 0, "export", "--verify", bundles[0])

	// A colleague takes over.
	handed := filepath.Join(t.TempDir(), "session.json")
	run(env, 0, "session", "export", id, handed)
	theirs := l.env(t)
	if out := run(theirs, 0, "session", "import", handed); !strings.Contains(out, "[x] export") {
		t.Errorf("%s", out)
	}
	fix := written(t, "fix.yaml", "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: team-c-cq}\nspec: {flavorFungibility: {whenCanBorrow: TryNextFlavor}}\n")
	run(theirs, 4, "session", "do", id, "apply", "--yes")
	run(theirs, 0, "session", "next", id, "-f", fix)
	run(theirs, 0, "session", "next", id, "--attest", "every 10 min")
	if out := run(theirs, 0, "session", "next", id); !strings.Contains(out, "0 would be preempted") {
		t.Errorf("%s", out)
	}
	// Killed before the fix was sent: it is not there, and is applied by the next.
	if !killed(t, l, theirs, atFirstWrite(false), "session", "next", id, "--yes") {
		t.Fatal("it was not killed")
	}
	if q := clusterQueue(t, "team-c-cq"); fungibility(q) == kueue.TryNextFlavor {
		t.Error("applied although it was killed before it sent anything")
	}
	if out := run(theirs, 0, "session", "next", id, "--yes"); !strings.Contains(out, "[x] apply") {
		t.Errorf("%s", out)
	}
	if q := clusterQueue(t, "team-c-cq"); fungibility(q) != kueue.TryNextFlavor || q.Spec.StopPolicy == nil || *q.Spec.StopPolicy != kueue.Hold {
		t.Errorf("after apply: %+v", q.Spec)
	}
	time.Sleep(2 * time.Second) // in which Kueue could admit it, if it did
	if admittedNow(workloadOf(t, "team-c", "while-held")) {
		t.Error("admitted into a held queue")
	}
	if now := admittedIn(t, "team-c"); len(now) < len(running) {
		t.Errorf("what ran does not run on: %v, before %v", now, running)
	}
	run(theirs, 0, "session", "next", id, "--confirm", confirmOf(t, theirs, []string{"session", "next", id}))
	defer func() {
		if t.Failed() {
			t.Logf("the Workload: %+v", workloadOf(t, "team-c", "while-held"))
		}
	}()
	eventually(t, "admission goes on", func() bool { return admittedNow(workloadOf(t, "team-c", "while-held")) })
	out = run(theirs, 0, "session", "next", id)
	if !strings.Contains(out, "over; everything was kept") {
		t.Errorf("%s", out)
	}
	summary := run(theirs, 0, "session", "summary", id)
	for _, words := range []string{"# Rollback of ClusterQueue/team-c-cq", "bad weight", "hold had been interrupted", "took it over from oncall", "apply had been interrupted", "oncall attests: every 10 min", "everything was kept"} {
		if !strings.Contains(summary, words) {
			t.Errorf("the summary does not say %q:\n%s", words, summary)
		}
	}
	// Back to what it was, by the journal.
	out = run(theirs, 0, "journal", "--action", "apply", "-o", "json")
	var entry struct{ ID string }
	if err := json.Unmarshal([]byte(strings.SplitN(lastLine(out), "\n", 2)[0]), &entry); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run(theirs, 0, "journal", "undo", entry.ID, "--yes")
	if q := clusterQueue(t, "team-c-cq"); fungibility(q) != fungibility(before) {
		t.Errorf("undone: %s, before %s", fungibility(q), fungibility(before))
	}
	if left, err := os.ReadDir(exports); err != nil || len(left) != 1 {
		t.Errorf("files in the folder of exports: %v, %v", left, err)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func admittedIn(t *testing.T, namespace string) []string {
	t.Helper()
	all, err := world.admin.KueueV1beta2().Workloads(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range all.Items {
		if admittedNow(&all.Items[i]) {
			out = append(out, all.Items[i].Name)
		}
	}
	return out
}

// The same in the console, from the queue to the end, without the fix.
func TestRollbackSessionInTheConsole(t *testing.T) {
	const queue = "team-c-cq"
	env, exports := oncall(t), t.TempDir()
	c := open(t, 120, 40, env, "--export-dir", exports)
	c.Sees("sandbox-oncall", "live", "ai-shared", queue)
	c.press("3")
	c.cursorOn(queue)
	c.press("S")
	c.Sees("Begin a rollback session of ClusterQueue " + queue)
	c.types("bad quota")
	c.press(enter)
	c.Sees("Rollback of ClusterQueue "+queue, "bad quota", "[ ] hold", "[ ] compare")
	c.press(enter)
	c.Sees("Type y and Enter to hold")
	c.confirms("y", "done, and seen to be taken up")
	c.closes("seen to be taken up")
	c.Sees("[x] hold")
	c.press(enter)
	c.Sees("Type y and Enter to export")
	c.confirms("y", "read back and verified")
	time.Sleep(time.Second) // the result's own grace period
	c.press(enter)
	c.Sees("[x] export", "▸ [ ] fix")
	c.picture("session")
	if p := policy(clusterQueue(t, queue)); p != kueue.Hold {
		t.Errorf("stopPolicy %s", p)
	}
	for _, step := range []string{"fix", "evidence", "dry-run", "apply"} {
		c.press("s")
		c.Sees("Skip " + step)
		c.types("nothing to mend")
		c.press(enter)
		c.Sees(step + " is skipped")
		c.press(enter)
		c.Sees("[-] " + step)
	}
	c.press(enter)
	c.Sees("Type " + queue + " to resume:")
	c.confirms(queue, "done, and seen to be taken up")
	c.closes("seen to be taken up")
	c.Sees("[x] resume")
	c.press(enter)
	c.Sees("compare is done")
	c.press(enter)
	c.Sees("Over. The incident record")
	if p := policy(clusterQueue(t, queue)); p != kueue.None {
		t.Errorf("stopPolicy %s", p)
	}
	out, _, code := headless(t, env, "session", "summary", sessionID(t, env))
	if code != 0 || !strings.Contains(out, "everything was kept") || !strings.Contains(out, "fix was skipped: nothing to mend") {
		t.Errorf("exit %d\n%s", code, out)
	}
	c.Signal(syscall.SIGTERM)
	c.Ends()
}
