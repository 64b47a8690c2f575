//go:build sandbox

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/report"
)

// badEdit is the mistake of the incident.
const badEdit = "../../sandbox/internal/scenario/incident/bad-edit.yaml"

// preemption is one, as both the preview and Kueue tell it.
type preemption struct{ Victim, Preemptor, Reason string }

// A person who is about to make the incident's mistake sees the burst of
// preemptions before anything is written, and Kueue then does just that.
func TestImpactForetellsTheIncident(t *testing.T) {
	sandbox(t, "scenario", "eve")
	env := oncall(t)
	before := restingQueue(t, "team-b-cq")
	held := holders(t)

	out, errs, code := headless(t, env, "impact", "-f", badEdit, "-o", "json")
	var doc report.ImpactResult
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 1 {
		t.Fatalf("exit %d, %v\n%s%s", code, err, out, errs)
	}
	x := doc.Impact
	if x.NotComputed != "" || x.Bounded != "" || len(x.Restless) > 0 || x.ClusterRuns == nil || x.Timings < 2 {
		t.Errorf("not the whole answer: %+v", x)
	}
	if all := strings.Join(append(x.Assumptions, x.Unknown...), "\n"); !strings.Contains(all, "ConfigMap kueue-system/kueue-manager-config") || strings.Contains(all, "defaults of Kueue") {
		t.Errorf("the manager's configuration was not read:\n%s", all)
	}

	// The plan says the same, and neither writes anything.
	out, errs, code = headless(t, env, "apply", "-f", badEdit, "--take-over", "--dry-run=server")
	if code != 0 || !strings.Contains(out, "PREEMPTIONS") || !strings.Contains(out, "(sweep-1)") || !strings.Contains(out, "+  ") || strings.Contains(out, "is not computed") {
		t.Errorf("dry-run: exit %d\n%s%s", code, out, errs)
	}
	if q := clusterQueue(t, "team-b-cq"); q.ResourceVersion != before.ResourceVersion {
		t.Fatalf("resourceVersion %s, before %s: something was written", q.ResourceVersion, before.ResourceVersion)
	}
	if d := cmp.Diff(held, holders(t)); d != "" {
		t.Fatalf("who holds quota has changed (-before +after):\n%s", d)
	}

	seesTheBurst(t, env)
	if q := clusterQueue(t, "team-b-cq"); q.ResourceVersion != before.ResourceVersion {
		t.Fatalf("resourceVersion %s, before %s: the console wrote something", q.ResourceVersion, before.ResourceVersion)
	}

	begun := time.Now().Add(-time.Second) // Kueue's times are whole seconds
	out, errs, code = headless(t, env, "apply", "-f", badEdit, "--take-over", "--yes", "-o", "json")
	var result struct {
		Action struct {
			Plan struct{ Impact *report.Impact }
		}
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != 0 || result.Action.Plan.Impact == nil {
		t.Fatalf("apply: exit %d, %v\n%s%s", code, err, out, errs)
	}
	if d := cmp.Diff(x.Preempted, result.Action.Plan.Impact.Preempted); d != "" {
		t.Errorf("the plan foretells other preemptions than impact (-impact +plan):\n%s", d)
	}

	var real map[preemption]bool
	eventually(t, "team-b's pretraining runs", func() bool {
		now := holders(t)
		for i := range 5 {
			if !now["team-b/pretrain-"+string(rune('1'+i))] {
				return false
			}
		}
		real = preemptedSince(t, begun)
		return len(real) > 0
	})
	var sure, perhaps []preemption
	for _, v := range x.Preempted {
		if v.Preemptor == nil {
			t.Errorf("the preemptor of %s is not foretold", v.Victim)
			continue
		}
		p := preemption{v.Victim, *v.Preemptor, v.Reason}
		if v.Certain {
			sure = append(sure, p)
			continue
		}
		perhaps = append(perhaps, p)
	}
	for _, p := range sure {
		if !real[p] {
			t.Errorf("%v was called certain and did not happen", p)
		}
	}
	for p := range real {
		found := false
		for _, q := range append(sure, perhaps...) {
			found = found || p == q
		}
		if !found {
			t.Errorf("%v was not foretold", p)
		}
	}
	now := holders(t)
	for _, a := range x.Admitted {
		if job := jobOf(a.Workload, a.Job); a.Certain && !now[job] {
			t.Errorf("%s was certain to get quota and has none", job)
		}
	}
	for job := range now {
		if held[job] {
			continue
		}
		found := false
		for _, a := range x.Admitted {
			found = found || jobOf(a.Workload, a.Job) == job
		}
		if !found {
			t.Errorf("%s got quota, which was not foretold", job)
		}
	}
	if len(real) != 4 || len(sure)+len(perhaps) == 0 {
		t.Errorf("%d preemptions, foretold for certain %d, perhaps %d; the incident has 4", len(real), len(sure), len(perhaps))
	}
	told, err := exec.Command(world.sandbox, "scenario", "incident", "--dir", world.dir).CombinedOutput()
	if err != nil || !strings.Contains(string(told), "there already") {
		t.Errorf("this is not the incident: %v\n%s", err, told)
	}
}

// mistaken is an editor in which somebody makes the mistake of badEdit.
const mistaken = `#!/bin/sh
sed -i -e 's/reclaimWithinCohort: .*/reclaimWithinCohort: Any/' -e '/name: nvidia.com\/gpu/{n;s/nominalQuota: .*/nominalQuota: 20/}' "$1"
`

// seesTheBurst makes the mistake in the console: whom it costs their quota stands
// on the screen before the question can be answered, and Esc changes nothing.
func seesTheBurst(t *testing.T, env []string) {
	t.Helper()
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte(mistaken), 0o700); err != nil {
		t.Fatal(err)
	}
	c := open(t, 120, 40, append(slices.Clone(env), "KUBE_EDITOR="+editor))
	c.Sees("live", "ai-shared", "team-b-cq")
	c.press("3")
	c.Sees("CLUSTERQUEUE")
	c.cursorOn("team-b-cq")
	c.press("e")
	c.Sees("PREEMPTS 4", "PREEMPTED 4 Workloads, running now", "sweep-1", "reclaimWithinCohort: Any", "Type team-b-cq")
	c.picture("impact")
	c.press(escape)
	c.Sees("CLUSTERQUEUE")
	c.press("q")
}

func jobOf(workload, job string) string {
	ns, _, _ := strings.Cut(workload, "/")
	return ns + "/" + job
}

func workloads(t *testing.T) []kueue.Workload {
	t.Helper()
	l, err := world.admin.KueueV1beta2().Workloads("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return l.Items
}

// holders are the jobs whose Workload holds quota, by namespace and name.
func holders(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, w := range workloads(t) {
		if meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadQuotaReserved) && len(w.OwnerReferences) == 1 {
			out[w.Namespace+"/"+w.OwnerReferences[0].Name] = true
		}
	}
	return out
}

// preemptedSince are the preemptions since the time, as Kueue's conditions tell
// them.
func preemptedSince(t *testing.T, begun time.Time) map[preemption]bool {
	t.Helper()
	all := workloads(t)
	out := map[preemption]bool{}
	for _, w := range all {
		c := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadPreempted)
		if c == nil || c.Status != metav1.ConditionTrue || c.LastTransitionTime.Time.Before(begun) {
			continue
		}
		p := preemption{Victim: w.Namespace + "/" + w.Name, Reason: c.Reason}
		for _, by := range all {
			if strings.Contains(c.Message, string(by.UID)) {
				p.Preemptor = by.Namespace + "/" + by.Name
			}
		}
		out[p] = true
	}
	return out
}
