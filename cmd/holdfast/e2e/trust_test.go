//go:build sandbox

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// everything returns spec and metadata of every object of Kueue's, without what
// Kueue's own status writes count up.
func everything(t *testing.T) map[string]string {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", filepath.Join(world.dir, "admin.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, r := range []string{"clusterqueues", "localqueues", "cohorts", "resourceflavors", "workloadpriorityclasses", "admissionchecks", "topologies", "workloads"} {
		list, err := dyn.Resource(schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: r}).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			unstructured.RemoveNestedField(o.Object, "status")
			unstructured.RemoveNestedField(o.Object, "metadata", "resourceVersion")
			unstructured.RemoveNestedField(o.Object, "metadata", "managedFields")
			raw, err := json.Marshal(o.Object)
			if err != nil {
				t.Fatal(err)
			}
			out[o.GetKind()+"/"+o.GetNamespace()+"/"+o.GetName()] = string(raw)
		}
	}
	return out
}

// several changes a flavor, a cohort, two ClusterQueues and makes a class.
const several = `apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: ai-shared}
spec: {fairSharing: {weight: "3"}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team-a-cq}
spec: {queueingStrategy: StrictFIFO}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: trust-new}
value: 7
description: made by a test
`

// dryRuns is a command of every kind that can say what it would do.
func dryRuns(t *testing.T) [][]string {
	t.Helper()
	file := written(t, "several.yaml", several)
	var out [][]string
	for _, args := range [][]string{
		{"hold", "cq/team-a-cq"}, {"hold", "cq/team-c-cq", "--drain"}, {"hold", "lq/team-c/batch"}, {"hold", "cohort/ai-shared"}, {"hold", "cohort/ai-shared", "--drain"},
		{"apply", "-f", file}, {"export", "cq/team-a-cq"}, {"deactivate", "job/team-a/train-1"}, {"priority", "job/team-a/train-1", "--class", "high"},
	} {
		out = append(out, append(args, "--dry-run=server"))
	}
	return append(out, []string{"dry-run", "-f", file})
}

func TestDryRunsChangeNothing(t *testing.T) {
	l := newLane(t, "oncall")
	env := l.env(t)
	before := everything(t)
	l.around(hooks{before: func(_ int, s sent) { t.Errorf("a dry-run sends %s %s?%s", s.Method, s.Path, s.Query) }})
	asked := 0
	for _, args := range dryRuns(t) {
		out, errs, code := headless(t, append(env, "TMPDIR="+t.TempDir()), append(args, "--export-dir", t.TempDir())...)
		if code == 2 {
			t.Errorf("%v is not a command: %s", args, errs)
		}
		t.Logf("%v: exit %d\n%s%s", args, code, out, errs)
	}
	for _, s := range l.all() {
		if s.Method != http.MethodGet && strings.Contains(s.Query, "dryRun=All") {
			asked++
		}
	}
	if asked < len(dryRuns(t))-1 {
		t.Errorf("the server was asked %d times only: this tests nothing", asked)
	}
	if d := cmp.Diff(before, everything(t)); d != "" {
		t.Errorf("dry-runs changed something (-before +after):\n%s", d)
	}
}

// A colleague's change between the plan and its execution is never overwritten, at
// whichever moment it comes.
func TestColleagueBetweenPlanAndExecute(t *testing.T) {
	l := newLane(t, "oncall")
	env := l.env(t)
	change := func(weight int) {
		patch := fmt.Sprintf(`{"spec":{"fairSharing":{"weight":"%d"}}}`, weight)
		if _, err := world.admin.KueueV1beta2().ClusterQueues().Patch(t.Context(), "team-a-cq", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "colleague"}); err != nil {
			t.Error(err)
		}
	}
	weight := func() string {
		q := clusterQueue(t, "team-a-cq")
		if q.Spec.FairSharing == nil || q.Spec.FairSharing.Weight == nil {
			return ""
		}
		return q.Spec.FairSharing.Weight.String()
	}
	file := written(t, "queue.yaml", "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: team-a-cq}\nspec: {queueingStrategy: StrictFIFO}\n")
	for i, args := range [][]string{{"hold", "cq/team-a-cq"}, {"apply", "-f", file}, {"hold", "cohort/ai-shared"}} {
		l.around(hooks{before: func(n int, _ sent) {
			if n == 1 {
				change(20 + i)
			}
		}})
		args = append(args, "--confirm", confirmOf(t, env, args))
		out, errs, code := headless(t, env, args...)
		if code != 4 && code != 6 {
			t.Errorf("%v: exit %d\n%s%s", args, code, out, errs)
		}
		if got, want := weight(), fmt.Sprint(20+i); got != want {
			t.Errorf("%v: the colleague's weight is %s, want %s", args, got, want)
		}
		if q := clusterQueue(t, "team-a-cq"); q.Spec.StopPolicy != nil && *q.Spec.StopPolicy != "None" {
			t.Errorf("%v: stopPolicy %s", args, *q.Spec.StopPolicy)
		}
		l.around(hooks{})
	}
}

// Of five objects the third is refused: done, done, refused, not done, not done; and
// the same file goes on from there.
func TestFiveObjectsOfWhichOneIsRefused(t *testing.T) {
	l := newLane(t, "oncall")
	env := l.env(t)
	var text strings.Builder
	for i := range 5 {
		fmt.Fprintf(&text, "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: trust-%d}\nspec: {}\n", i+1)
		defer kubectl(t, "delete", "cohort", fmt.Sprintf("trust-%d", i+1), "--ignore-not-found", "--wait=false")
	}
	file := written(t, "five.yaml", text.String())
	l.around(hooks{before: func(n int, _ sent) {
		if n == 3 { // somebody makes it at the last moment
			kubectl(t, "create", "-f", written(t, "one.yaml", "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: trust-3}\nspec: {}\n"))
		}
	}})
	outcomes := func(want int) map[string]string {
		t.Helper()
		out, errs, code := headless(t, env, "apply", "-f", file, "--yes", "-o", "json")
		var doc struct {
			Action struct {
				Objects []struct{ Object, Outcome string }
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != want {
			t.Fatalf("exit %d, want %d, %v\n%s%s", code, want, err, out, errs)
		}
		got := map[string]string{}
		for _, o := range doc.Action.Objects {
			got[o.Object] = o.Outcome
		}
		return got
	}
	want := map[string]string{"Cohort/trust-1": "done", "Cohort/trust-2": "done", "Cohort/trust-3": "refused", "Cohort/trust-4": "notDone", "Cohort/trust-5": "notDone"}
	if d := cmp.Diff(want, outcomes(6)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	l.around(hooks{})
	if d := cmp.Diff(map[string]string{"Cohort/trust-4": "done", "Cohort/trust-5": "done"}, outcomes(0)); d != "" {
		t.Errorf("the rest (-want +got):\n%s", d)
	}
}

// confirmOf asks the plan of a command for what confirms it.
func confirmOf(t *testing.T, env []string, args []string) string {
	t.Helper()
	out, errs, code := headless(t, env, append(append([]string(nil), args...), "--dry-run=server", "-o", "json")...)
	var doc struct {
		Plan struct{ Confirm struct{ Expects string } }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || doc.Plan.Confirm.Expects == "" {
		t.Fatalf("%v: exit %d, %v\n%s%s", args, code, err, out, errs)
	}
	return doc.Plan.Confirm.Expects
}

// In a context that is marked as production several objects at once ask for its name.
func TestProductionAsksForTheContext(t *testing.T) {
	env := oncall(t)
	config, err := clientcmd.LoadFromFile(filepath.Join(world.dir, "oncall.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	name := config.CurrentContext
	args := []string{"hold", "cohort/ai-shared"}
	if got := confirmOf(t, env, args); got != "ai-shared" {
		t.Errorf("any context asks for %q", got)
	}
	if got := confirmOf(t, env, append(args, "--production", name)); !strings.HasPrefix(got, name+" ") {
		t.Errorf("production asks for %q", got)
	}
}

// Whoever may not is told so in a few lines, with what to ask for.
func TestWhoMayNotIsTold(t *testing.T) {
	for _, person := range []string{"viewer", "tenant"} {
		env := append(oncall(t), "KUBECONFIG="+filepath.Join(world.dir, person+".kubeconfig"))
		for _, args := range [][]string{{"hold", "cq/team-a-cq", "--yes"}, {"hold", "lq/team-a/batch", "--yes"}, {"apply", "-f", written(t, "f.yaml", several), "--yes"}, {"hold", "cohort/ai-shared", "--confirm", "ai-shared"}} {
			_, errs, code := headless(t, env, args...)
			if lines := strings.Count(errs, "\n"); (code != 4 && code != 3) || lines > 12 || !strings.Contains(errs, "may") {
				t.Errorf("%s, %v: exit %d, %d lines:\n%s", person, args, code, lines, errs)
			}
		}
	}
}
