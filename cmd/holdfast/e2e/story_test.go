//go:build sandbox

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/cmd/holdfast/internal/seat"
	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/file"
)

// editorScript is the person's editor: the first time it makes a mistake that
// Kueue's webhook refuses, later it undoes the bad edit of the incident.
const editorScript = `#!/bin/sh
n=$(cat "$0.times" 2>/dev/null || echo 0); n=$((n+1)); echo $n >"$0.times"
cp "$1" "$0.before.$n"
if [ $n = 1 ]; then
  sed -i 's/nominalQuota: 20$/nominalQuota: "-1"/' "$1"
else
  sed -i -e 's/nominalQuota: 20$/nominalQuota: "4"/' -e 's/nominalQuota: "-1"/nominalQuota: "4"/' -e 's/reclaimWithinCohort: Any/reclaimWithinCohort: LowerPriority/' "$1"
fi
`

// TestRollback is the main job from the page to the end: see who preempted
// whom, hold, have a bad edit refused, dry-run a good one, export, apply,
// resume. What the screen says is checked on the API server each time.
func TestRollback(t *testing.T) {
	const queue = "team-b-cq"
	env := oncall(t)
	state := strings.TrimPrefix(env[1], "XDG_STATE_HOME=")
	exports := t.TempDir()
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte(editorScript), 0o700); err != nil {
		t.Fatal(err)
	}
	env = append(env, "KUBE_EDITOR="+editor)
	before := restingQueue(t, queue)
	if got := gpuQuota(t, before); got != "20" {
		t.Fatalf("the incident's mistake is not there: %s gpu nominal", got)
	}

	c := open(t, 120, 40, env, "--export-dir", exports)
	c.Sees("sandbox-oncall", "oncall", "Kueue 0.19.2 v1beta2", "live", "WRITE", "ai-shared", "team-a-cq")

	c.picture("cohorts")

	// Who took the quota of team-a's job?
	c.press("4")
	c.Sees("train-giant", "Can never fit")
	c.picture("workloads")
	c.press("/")
	c.types("sweep-1")
	c.press(enter)
	c.cursorOn("sweep-1")
	c.press(enter)
	c.Sees("CHAIN", "InCohortReclamation", "team-b/pretrain-", "said Kueue", "Normal Admitted")
	c.picture("workload")
	c.press(escape, escape)

	// Stop the bleeding.
	c.press("3")
	c.Sees("CLUSTERQUEUE")
	c.cursorOn(queue)
	c.press("H")
	c.Sees("Hold ClusterQueue " + queue)
	c.types("bad quota")
	c.press(enter)
	c.Sees("stopPolicy None -> Hold", `REASON "bad quota"`, "RUNS ON", "stays lendable", "Type y and Enter to hold")
	c.picture("hold")
	if q := clusterQueue(t, queue); q.Generation != before.Generation || q.ResourceVersion != before.ResourceVersion {
		t.Fatalf("planning a hold changed the object: generation %d, resourceVersion %s; before %d, %s", q.Generation, q.ResourceVersion, before.Generation, before.ResourceVersion)
	}
	c.confirms("y", "done, and seen to be taken up")
	c.Sees("Active=False (Stopped)")
	held := restingQueue(t, queue)
	if p := policy(held); p != kueue.Hold {
		t.Fatalf("stopPolicy %s, want Hold", p)
	}
	var record struct {
		Version              int
		By, Reason, Previous string
	}
	if err := json.Unmarshal([]byte(held.Annotations["holdfast.dev/hold"]), &record); err != nil {
		t.Fatal(err)
	}
	if record.Version != 1 || record.By != "oncall" || record.Reason != "bad quota" || record.Previous != "None" {
		t.Errorf("hold record %+v", record)
	}
	if a := meta.FindStatusCondition(held.Status.Conditions, "Active"); a == nil || a.Status != "False" || a.Reason != "Stopped" || a.ObservedGeneration != held.Generation {
		t.Errorf("Kueue has not taken the hold up: %+v", a)
	}
	c.closes("seen to be taken up")
	c.Sees("held")

	// A mistake in the editor: Kueue's webhook refuses it, in its own words.
	c.press("e")
	c.Sees("vclusterqueue.kb.io", "denied the request", "nominalQuota")
	if q := clusterQueue(t, queue); q.ResourceVersion != held.ResourceVersion {
		t.Fatalf("a refused edit changed the object: resourceVersion %s, before %s", q.ResourceVersion, held.ResourceVersion)
	}
	// Once more: the text is still there, with the problem above it.
	c.press("e")
	c.Sees("Edit ClusterQueue "+queue, `+ nominalQuota: "4"`, `- nominalQuota: 20`, "+ reclaimWithinCohort: LowerPriority", "Type "+queue)
	c.picture("edit")
	second, err := os.ReadFile(editor + ".before.2")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"denied the request", `nominalQuota: "-1"`} {
		if !strings.Contains(string(second), want) {
			t.Errorf("the reopened text lacks %q:\n%s", want, second)
		}
	}
	if q := clusterQueue(t, queue); q.ResourceVersion != held.ResourceVersion || q.Generation != held.Generation {
		t.Fatalf("the dry-run changed the object: resourceVersion %s, generation %d; before %s, %d", q.ResourceVersion, q.Generation, held.ResourceVersion, held.Generation)
	}
	c.press(escape)
	c.Sees("CLUSTERQUEUE")

	// Export before applying.
	c.press("x")
	c.Sees("Export", "5 Workloads", "Type y and Enter to export")
	c.confirms("y", "read back and verified")
	c.closes("read back and verified")
	checkExport(t, exports, queue, 5)

	// The same edit again, and this time for good.
	c.press("e")
	c.Sees("Type " + queue)
	c.confirms(queue, "done, and seen to be taken up")
	c.closes("seen to be taken up")
	fixed := clusterQueue(t, queue)
	if got := gpuQuota(t, fixed); got != "4" || fixed.Spec.Preemption.ReclaimWithinCohort != kueue.PreemptionPolicyLowerPriority {
		t.Errorf("after the edit: %s gpu nominal, reclaimWithinCohort %s", got, fixed.Spec.Preemption.ReclaimWithinCohort)
	}
	if p := policy(fixed); p != kueue.Hold || fixed.Annotations["holdfast.dev/hold"] != held.Annotations["holdfast.dev/hold"] {
		t.Errorf("the edit lifted the hold or touched its record: %s", p)
	}
	managed := false
	for _, f := range fixed.ManagedFields {
		managed = managed || f.Manager == "holdfast"
	}
	if !managed {
		t.Error("the write does not stand under the field manager holdfast")
	}

	// Let it flow again, to the policy before.
	c.press("R")
	c.Sees("stopPolicy Hold -> None", "Held by oncall", "Type ")
	ask := "y"
	if strings.Contains(seat.Squeeze(c.Text()), "Type "+queue) {
		ask = queue
	}
	c.confirms(ask, "done, and seen to be taken up")
	c.closes("seen to be taken up")
	open := clusterQueue(t, queue)
	if _, left := open.Annotations["holdfast.dev/hold"]; left || policy(open) != kueue.None {
		t.Errorf("after the resume: stopPolicy %s, record left: %v", policy(open), left)
	}
	eventually(t, "Kueue admits again", func() bool { return meta.IsStatusConditionTrue(clusterQueue(t, queue).Status.Conditions, "Active") })

	c.press("q")
	if code := c.Ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	c.Restored()
	checkJournal(t, filepath.Join(state, "holdfast", "journal.jsonl"), []string{"hold", "export", "edit", "resume"})
}

func policy(q *kueue.ClusterQueue) kueue.StopPolicy {
	if q.Spec.StopPolicy == nil {
		return kueue.None
	}
	return *q.Spec.StopPolicy
}

func gpuQuota(t *testing.T, q *kueue.ClusterQueue) string {
	t.Helper()
	for _, g := range q.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				if f.Name == "a100-80g" && r.Name == "nvidia.com/gpu" {
					return r.NominalQuota.String()
				}
			}
		}
	}
	t.Fatalf("%s has no gpu quota", q.Name)
	return ""
}

func checkExport(t *testing.T, dir, queue string, count int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files in the export folder: %v, %v; want one", files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the export has mode %o, want 600", info.Mode().Perm())
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	m, err := bundle.Verify(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]string{}
	for _, l := range m.Lists {
		at[l.Kind] = l.ResourceVersion
	}
	if m.User != "oncall" || m.Scope.ClusterQueue != queue || m.Workloads != count || !m.Redacted || at["Workload"] == "" || at["ClusterQueue"] == "" {
		t.Errorf("export: %+v", m)
	}
	w, err := file.Open(files[0], m.Ended)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Snapshot.Workloads) != count || len(w.Events) == 0 {
		t.Errorf("%d Workloads, %d events, notes %q", len(w.Snapshot.Workloads), len(w.Events), w.Notes)
	}
	for _, w := range w.Snapshot.Workloads {
		if w.ClusterQueue != queue || len(w.Conditions) == 0 || w.ResourceVersion == "" {
			t.Errorf("%s: the state is not in the export", w.Key)
		}
	}
}

func checkJournal(t *testing.T, path string, actions []string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the journal has mode %o, want 600", info.Mode().Perm())
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		var e struct{ Entry, Action, User, Context string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.User != "oncall" || e.Context != "sandbox-oncall" {
			t.Errorf("journal line without who and where: %s", line)
		}
		got = append(got, e.Entry+" "+e.Action)
	}
	var want []string
	for _, a := range actions {
		want = append(want, "intent "+a, "result "+a)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("journal %v, want %v", got, want)
	}
}
