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

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"

	"cli.holdfast.dev/holdfast/cmd/holdfast/internal/seat"
)

// The three uses, done with nothing but what the screen offers. Each says how many keys
// it took; README has the figures.

// Paged: why does a job of team-a not start, and who must act?
func TestUsePaged(t *testing.T) {
	env := oncall(t)
	for name, tc := range map[string]struct {
		find func(*guide)
		says []string
	}{
		"a job that can never fit, from the glance": {
			func(g *guide) { g.to("train-giant").key("Enter") },
			[]string{"Workloads", "team-a/train-giant", "Can never fit", "CHANGE: job owner or platform admin"},
		},
		"a job that was preempted, from the list": {
			func(g *guide) { g.key("4").to("sweep-1").key("Enter") },
			[]string{"team-a/sweep-1", "WAIT", "CHAIN preempted by team-b/pretrain-", "InCohortReclamation"},
		},
		"a job in a namespace that is not admitted, from the glance": {
			func(g *guide) { g.to("Namespace team-x").key("Enter") },
			[]string{"team-x is not one that ClusterQueue team-a-cq admits", "WHO", "platform admin"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := guided(t, env)
			g.Sees("NEEDS A PERSON", "train-giant")
			tc.find(g)
			g.Sees(tc.says...)
			g.within(9, name)
			g.Signal(syscall.SIGTERM)
			g.Ends()
		})
	}
}

// The morning: one look, no key. What it says is what the report says.
func TestUseMorning(t *testing.T) {
	env := oncall(t)
	g := guided(t, env)
	g.Sees("NEEDS A PERSON", "train-giant", "KUEUE", "controller ✓")
	out, errs, code := headless(t, env, "report", "-o", "json")
	if code != 0 && code != 1 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var r struct {
		Alerts []struct{ Severity, Class, Advice string }
		SLO    struct{ PendingCount int }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, a := range r.Alerts {
		// Quota that is to come back needs nobody: it stands under WAITING HELPS.
		if a.Severity == "info" && a.Class == "quota" && a.Advice == "wait" {
			continue
		}
		n[a.Severity]++
	}
	g.Sees(fmt.Sprintf("%d critical", n["critical"]), fmt.Sprintf("%d warning", n["warning"]), fmt.Sprintf("%d pending", r.SLO.PendingCount), "WAITING HELPS", "QUEUES 5 ClusterQueues", "BORROWING nvidia.com/gpu", "EVICTED", "Preempted")
	g.within(0, "the morning")
	g.picture("glance")
	g.key("5")
	g.Sees("WHAT BECAME OF IT", "team-b/pretrain-")
	g.picture("chains")
	g.Signal(syscall.SIGTERM)
	g.Ends()
}

// The rollback of the incident, from the glance to the end of its session.
func TestUseRollback(t *testing.T) {
	const queue = "team-b-cq"
	editor := filepath.Join(t.TempDir(), "editor")
	script := "#!/bin/sh\nsed -i -e 's/nominalQuota: 20$/nominalQuota: \"4\"/' -e 's/reclaimWithinCohort: Any/reclaimWithinCohort: LowerPriority/' \"$1\"\n"
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	mistake, err := raw(queue)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the other tests are about the mistake, as it was written
		if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			now, err := raw(queue)
			if err != nil {
				return err
			}
			now.Object["spec"] = mistake.Object["spec"]
			notes := now.GetAnnotations()
			delete(notes, "holdfast.dev/hold")
			now.SetAnnotations(notes)
			body, err := now.MarshalJSON()
			if err != nil {
				return err
			}
			return world.admin.KueueV1beta2().RESTClient().Put().Resource("clusterqueues").Name(queue).Body(body).Do(context.Background()).Error()
		}); err != nil {
			t.Error(err)
		}
	})
	env := append(oncall(t), "KUBE_EDITOR="+editor)
	g := guided(t, env, "--export-dir", t.TempDir())
	g.Sees("PREEMPTED", queue+" preempted")
	g.key("3").to(queue).key("S")
	g.Sees("Begin a rollback session of ClusterQueue " + queue)
	g.says("bad quota").key("Enter")
	done := func(step string) {
		g.T.Helper()
		time.Sleep(time.Second) // a result takes no key before it could be read
		g.key("Enter")
		g.gone("Enter close")
		g.Sees("[x] " + step)
	}
	g.Sees("▸ [ ] hold")
	g.key("Enter")
	g.Sees("Type y and Enter to hold")
	g.says("y").key("Enter")
	g.Sees("seen to be taken up")
	done("hold")
	g.key("Enter")
	g.Sees("Type y and Enter to export")
	g.says("y").key("Enter")
	g.Sees("read back and verified")
	done("export")
	g.key("Enter")
	g.Sees("Edit ClusterQueue " + queue)
	g.key("Enter")
	g.Sees("is in the fix")
	done("fix")
	g.key("Enter")
	g.Sees("What do you know of the checkpoints")
	g.says("none").key("Enter")
	g.Sees("evidence is done")
	done("evidence")
	g.key("Enter")
	g.Sees("owned by")
	time.Sleep(time.Second)
	g.key("T")
	g.Sees("TAKE OVER")
	g.says("take over").key("Enter")
	g.Sees("dry-run is done")
	done("dry-run")
	g.key("Enter")
	g.Sees("WHAT KUEUE WILL DO", "Type "+queue)
	g.says(queue).key("Enter")
	g.Sees("seen to be taken up")
	done("apply")
	if got := gpuQuota(t, clusterQueue(t, queue)); got != "4" {
		t.Errorf("after the fix: %s gpu nominal", got)
	}
	g.key("Enter")
	g.Sees("to resume:")
	word := "y"
	if strings.Contains(seat.Squeeze(g.Text()), "Type "+queue) {
		word = queue
	}
	g.says(word).key("Enter")
	g.Sees("seen to be taken up")
	done("resume")
	g.key("Enter")
	g.Sees("compare is done")
	done("compare")
	g.Sees("not all is well (below). The incident record", "ClusterQueue "+queue+" is ")
	g.within(90, "the rollback")
	g.Signal(syscall.SIGTERM)
	g.Ends()
}

// raw is a ClusterQueue as it was written: 20 and "20" are two things.
func raw(name string) (*unstructured.Unstructured, error) {
	b, err := world.admin.KueueV1beta2().RESTClient().Get().Resource("clusterqueues").Name(name).SetHeader("Accept", "application/json").Do(context.Background()).Raw()
	if err != nil {
		return nil, err
	}
	o := &unstructured.Unstructured{}
	return o, o.UnmarshalJSON(b)
}
