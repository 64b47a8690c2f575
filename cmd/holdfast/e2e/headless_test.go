//go:build sandbox

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

func TestHoldAndResumeHeadless(t *testing.T) {
	env := oncall(t)
	before := resting(t, func() *kueue.LocalQueue { return localQueue(t, "team-c", "batch") })

	out, _, code := headless(t, env, "hold", "lq/team-c/batch", "--dry-run=server")
	if code != 0 || !strings.Contains(out, "stopPolicy None -> Hold") || !strings.Contains(out, "team-c/") {
		t.Errorf("dry-run: exit %d\n%s", code, out)
	}
	if q := localQueue(t, "team-c", "batch"); q.ResourceVersion != before.ResourceVersion {
		t.Errorf("the dry-run changed the object: resourceVersion %s, before %s", q.ResourceVersion, before.ResourceVersion)
	}
	_, errs, code := headless(t, env, "hold", "lq/team-c/batch")
	if code != 4 || !strings.Contains(errs, "nothing was changed") {
		t.Errorf("without a terminal and without --yes: exit %d, %s", code, errs)
	}
	out, errs, code = headless(t, env, "hold", "lq/team-c/batch", "--yes", "--reason", "bad quota", "-o", "json")
	if code != 0 {
		t.Fatalf("hold: exit %d\n%s%s", code, out, errs)
	}
	var doc struct {
		Kind   string
		Action struct {
			Plan    struct{ RunsOn, StaysPending []string }
			Objects []struct {
				Object, Outcome string
				Verified        bool
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if o := doc.Action.Objects; doc.Kind != "ActionResult" || len(o) != 1 || o[0].Object != "LocalQueue/team-c/batch" || o[0].Outcome != "done" || !o[0].Verified {
		t.Errorf("result %+v", doc)
	}
	held := localQueue(t, "team-c", "batch")
	if held.Spec.StopPolicy == nil || *held.Spec.StopPolicy != kueue.Hold || !strings.Contains(held.Annotations["holdfast.dev/hold"], `"reason":"bad quota"`) {
		t.Errorf("stopPolicy %v, record %s", held.Spec.StopPolicy, held.Annotations["holdfast.dev/hold"])
	}
	_, errs, code = headless(t, env, "hold", "lq/team-c/batch", "--yes")
	if code != 4 || !strings.Contains(errs, "already stopped with Hold by oncall") {
		t.Errorf("a second hold: exit %d, %s", code, errs)
	}
	confirm := []string{"resume", "lq/team-c/batch", "--yes"}
	if out, errs, code := headless(t, env, confirm...); code != 0 {
		t.Fatalf("resume: exit %d\n%s%s", code, out, errs)
	}
	q := localQueue(t, "team-c", "batch")
	if _, left := q.Annotations["holdfast.dev/hold"]; left || q.Spec.StopPolicy == nil || *q.Spec.StopPolicy != kueue.None {
		t.Errorf("after the resume: %v, record left %v", q.Spec.StopPolicy, left)
	}
}

// In an incident Kueue writes the status all the time; a hold must get through,
// and the spec of nobody else may be lost for it.
func TestHoldWhileTheStatusIsWritten(t *testing.T) {
	env := oncall(t)
	ctx, stop := context.WithCancel(t.Context())
	writing := make(chan int)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			patch := fmt.Sprintf(`{"status":{"pendingWorkloads":%d}}`, 100+n%7)
			_, _ = world.admin.KueueV1beta2().ClusterQueues().Patch(ctx, "team-c-cq", types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
		}
		writing <- n
	}()
	for range 3 {
		for _, args := range [][]string{{"hold", "cq/team-c-cq", "--yes"}, {"resume", "cq/team-c-cq", "--yes"}} {
			if out, errs, code := headless(t, env, args...); code != 0 {
				t.Errorf("%v: exit %d\n%s%s", args, code, out, errs)
			}
		}
	}
	stop()
	if n := <-writing; n < 50 {
		t.Errorf("only %d status writes: this tests nothing", n)
	}
}

func TestDrainNeedsTheContextAndTheCount(t *testing.T) {
	env := oncall(t)
	before := restingQueue(t, "team-c-cq")
	_, errs, code := headless(t, env, "hold", "cq/team-c-cq", "--drain", "--yes")
	if code != 4 || !strings.Contains(errs, `--confirm "sandbox-oncall 2"`) {
		t.Errorf("--yes must not cover a drain: exit %d, %s", code, errs)
	}
	if q := clusterQueue(t, "team-c-cq"); q.ResourceVersion != before.ResourceVersion {
		t.Error("the refused drain changed the object")
	}
}

func TestReadOnlyIsEnforcedInTheTransport(t *testing.T) {
	env := append(oncall(t), "HOLDFAST_READ_ONLY=1")
	before := restingQueue(t, "team-a-cq")
	for _, args := range [][]string{{"hold", "cq/team-a-cq", "--yes"}, {"resume", "cq/team-a-cq", "--yes"}, {"hold", "cq/team-a-cq", "--dry-run=server"}} {
		if _, errs, code := headless(t, env, args...); code != 4 || !strings.Contains(errs, "--read-only") {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
	if q := clusterQueue(t, "team-a-cq"); q.ResourceVersion != before.ResourceVersion {
		t.Error("a read-only run changed the object")
	}
	c := open(t, 120, 40, env)
	c.Sees("READ-ONLY", "ai-shared", "team-a-cq")
	c.cursorOn("team-a-cq")
	c.press("H")
	c.Sees("started with --read-only")
	c.press("q")
	if code := c.Ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestApplyFromAFile(t *testing.T) {
	env := oncall(t)
	before := restingQueue(t, "team-a-cq")
	file := func(body string) string {
		p := filepath.Join(t.TempDir(), "queue.yaml")
		if err := os.WriteFile(p, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	head := "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: team-a-cq}\n"
	tests := map[string]struct{ body, want string }{
		"refused by the webhook": {head + "spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: a100-80g, resources: [{name: cpu, nominalQuota: \"-1\"}]}]}]}\n", "denied the request"},
		"refused by the schema":  {head + "spec: {queueingStrategy: Sometimes}\n", "queueingStrategy"},
		"a field of v1beta1":     {head + "spec: {cohort: x}\n", "In v1beta2 it is called spec.cohortName"},
		"a field of others":      {head + "spec: {resourceGroups: []}\n", `.spec.resourceGroups, which "platform-admin" owns`},
		"a key twice":            {head + "spec: {cohortName: a, cohortName: b}\n", "already set"},
		"not an object":          {"- 1\n", "not one YAML object"},
		"another kind":           {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", "which is not edited here"},
		"only a stop policy":     {head + "spec: {stopPolicy: HoldAndDrain}\n", "set aside"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			args := []string{"apply", "-f", file(tc.body), "--yes"}
			if name != "a field of others" {
				args = append(args, "--take-over")
			}
			if _, errs, code := headless(t, env, args...); code != 4 || !strings.Contains(errs, tc.want) {
				t.Errorf("exit %d, %q is not in: %s", code, tc.want, errs)
			}
		})
	}
	out, errs, code := headless(t, env, "apply", "-f", file(head+"spec: {stopPolicy: HoldAndDrain, queueingStrategy: StrictFIFO}\n"), "--dry-run=server")
	if code != 0 || !strings.Contains(out, "+  queueingStrategy: StrictFIFO") || !strings.Contains(out, "stopPolicy in the text was set aside") || strings.Contains(out, "+  stopPolicy") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	if q := clusterQueue(t, "team-a-cq"); q.ResourceVersion != before.ResourceVersion {
		t.Errorf("resourceVersion %s, before %s: something was written", q.ResourceVersion, before.ResourceVersion)
	}
}

// Kueue reports nothing on a Cohort: that the change was stored is all that may be
// said.
func TestApplyToACohort(t *testing.T) {
	env := oncall(t)
	get := func() *kueue.Cohort {
		c, err := world.admin.KueueV1beta2().Cohorts().Get(t.Context(), "ai-shared", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	before := get()
	write := func(weight string) string {
		p := filepath.Join(t.TempDir(), "cohort.yaml")
		if err := os.WriteFile(p, []byte("apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: ai-shared}\nspec: {fairSharing: {weight: \""+weight+"\"}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	out, errs, code := headless(t, env, "apply", "-f", write("2"), "--yes")
	if code != 0 || !strings.Contains(out, "Kueue reports nothing on a Cohort") || strings.Contains(out, "verified") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	after := get()
	if after.Generation != before.Generation+1 || after.Spec.FairSharing == nil || after.Spec.FairSharing.Weight.String() != "2" || len(after.Spec.ResourceGroups) != len(before.Spec.ResourceGroups) {
		t.Errorf("generation %d after %d, spec %+v", after.Generation, before.Generation, after.Spec)
	}
	if _, errs, code := headless(t, env, "apply", "-f", write("1"), "--yes"); code != 0 {
		t.Errorf("putting it back: exit %d, %s", code, errs)
	}
}

// A LocalQueue has no webhook, so it can be written while Kueue hangs; that
// nobody took it up must be said.
func TestKueueHangs(t *testing.T) {
	env := oncall(t)
	c := open(t, 120, 40, env)
	c.Sees("Kueue 0.19.2", "live")
	sandbox(t, "stop", "kueue")
	defer sandbox(t, "continue", "kueue")
	_, errs, code := headless(t, env, "hold", "lq/team-b/batch", "--yes")
	if code != 5 || !strings.Contains(errs, "not seen to have taken it up") {
		t.Errorf("hold while Kueue hangs: exit %d, %s", code, errs)
	}
	c.Sees("not ready")
	if _, errs, code := headless(t, env, "hold", "cq/team-b-cq", "--yes"); code != 4 || !strings.Contains(errs, "failed calling webhook") {
		t.Errorf("hold of a ClusterQueue while its webhook hangs: exit %d, %s", code, errs)
	}
	sandbox(t, "continue", "kueue")
	eventually(t, "Kueue catches up", func() bool {
		return meta.IsStatusConditionFalse(localQueue(t, "team-b", "batch").Status.Conditions, "Active")
	})
	if out, errs, code := headless(t, env, "resume", "lq/team-b/batch", "--yes"); code != 0 {
		t.Errorf("resume: exit %d\n%s%s", code, out, errs)
	}
	c.Signal(syscall.SIGTERM)
	c.Ends()
}

func TestSignalsRestoreTheTerminal(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		c := open(t, 80, 24, oncall(t))
		c.Sees("ai-shared")
		c.Signal(s)
		c.Ends()
		c.Restored()
	}
	c := open(t, 80, 24, oncall(t))
	c.Sees("ai-shared")
	c.press(ctrlC)
	c.Ends()
	c.Restored()
}

// The first screen must come before the cluster has answered, and a library that
// complains after half a minute must not draw on it.
func TestNothingSmearsTheScreen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a minute")
	}
	c := open(t, 100, 30, oncall(t))
	c.Sees("ai-shared", "live")
	before := len(strings.Split(c.Text(), "\n"))
	time.Sleep(33 * time.Second)
	c.press("3")
	c.Sees("CLUSTERQUEUE")
	for _, bad := range []string{"SetLogger", "goroutine", "level=", "W1202"} {
		if strings.Contains(c.Text(), bad) {
			t.Errorf("%q is on the screen", bad)
		}
	}
	if got := len(strings.Split(c.Text(), "\n")); got != before {
		t.Errorf("the screen has %d lines, before %d", got, before)
	}
}
