package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
)

const (
	inNS     = kueueAPI + "namespaces/ns/"
	trainJob = "/apis/batch/v1/namespaces/ns/jobs/train"
	class    = "kueue.x-k8s.io/priority-class"
)

// conditionsOf are conditions as "Type=Status/Reason".
func conditionsOf(list ...string) map[string]any {
	out := []any{}
	for _, s := range list {
		typ, rest, _ := strings.Cut(s, "=")
		status, reason, _ := strings.Cut(rest, "/")
		out = append(out, map[string]any{"type": typ, "status": status, "reason": reason, "message": "m", "lastTransitionTime": "2026-12-02T13:00:00Z"})
	}
	return map[string]any{"conditions": out}
}

func classRef(name string) map[string]any {
	return map[string]any{"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": name}
}

// workloads is a cluster with a Workload of Job train that waits, one that somebody
// deactivated, and some whose priority Kueue would not carry over.
func workloads(t *testing.T) *cluster {
	c := newCluster(t)
	c.put(kueueAPI+"clusterqueues/q", "ClusterQueue", map[string]any{"spec": map[string]any{}})
	c.put("/api/v1/namespaces/ns", "Namespace", map[string]any{})
	c.put(inNS+"localqueues/lq", "LocalQueue", map[string]any{"spec": map[string]any{"clusterQueue": "q"}})
	c.put(kueueAPI+"workloadpriorityclasses/low", "WorkloadPriorityClass", map[string]any{"value": 10})
	c.put(kueueAPI+"workloadpriorityclasses/urgent", "WorkloadPriorityClass", map[string]any{"value": 500})
	workload := func(name, job string, spec map[string]any, conditions ...string) {
		all := map[string]any{"queueName": "lq", "active": true, "podSets": []any{map[string]any{"name": "main", "count": 1, "template": map[string]any{"spec": map[string]any{"containers": []any{}}}}}}
		for k, v := range spec {
			all[k] = v
		}
		meta := map[string]any{}
		if job != "" {
			meta["ownerReferences"] = []any{map[string]any{"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": "uid-" + job, "controller": true}}
		}
		c.put(inNS+"workloads/"+name, "Workload", map[string]any{"metadata": meta, "spec": all, "status": conditionsOf(conditions...)})
	}
	job := func(name string, labels map[string]any) {
		c.put("/apis/batch/v1/namespaces/ns/jobs/"+name, "Job", map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"suspend": true}})
	}
	low := map[string]any{"priorityClassRef": classRef("low"), "priority": 10}
	workload("job-train", "train", low)
	job("train", map[string]any{class: "low"})
	workload("job-off", "off", map[string]any{"active": false}, "Evicted=True/Deactivated", "Requeued=False/Deactivated")
	job("off", nil)
	workload("alone", "", nil)
	workload("job-bare", "bare", nil, "QuotaReserved=True/QuotaReserved")
	job("bare", nil)
	workload("job-brought", "brought", low)
	job("brought", map[string]any{class: "low", "kueue.x-k8s.io/prebuilt-workload-name": "job-brought"})
	c.react = func(o map[string]any) {
		switch o["kind"] {
		case "Workload":
			o["status"] = conditionsOf("Requeued=True/Reactivated")
			if o["spec"].(map[string]any)["active"] == false {
				o["status"] = conditionsOf("Evicted=True/Deactivated")
			}
		case "Job":
			w := c.objects[inNS+"workloads/job-train"]
			spec := w["spec"].(map[string]any)
			spec["priorityClassRef"], spec["priority"] = classRef(o["metadata"].(map[string]any)["labels"].(map[string]any)[class].(string)), 500
			w["metadata"].(map[string]any)["resourceVersion"] = "11000" // newer than all
		}
	}
	return c
}

// journaled are the entries of the journal; none where there is no file.
func journaled(t *testing.T, at string) []string {
	t.Helper()
	entries, bad, err := actions.NewJournal(at).Read()
	if err != nil || len(bad) > 0 {
		t.Fatalf("%v, %v", bad, err)
	}
	out := []string{}
	for _, e := range entries {
		out = append(out, e.Entry+" "+string(e.Action)+" "+e.Reason)
	}
	return out
}

// What a script does with one Workload: it sees the plan, a dry-run writes nothing, and
// nothing is written without a yes.
func TestWorkloadCommands(t *testing.T) {
	tests := map[string]struct {
		args     []string
		change   string // as the plan says it
		written  string
		field    []string
		was, is  any
		entry    string
		resource string // whose patch may be forbidden
	}{
		"deactivate": {
			[]string{"deactivate", "job/ns/train"}, "Workload/ns/job-train: active true -> false", inNS + "workloads/job-train", []string{"spec", "active"}, true, false, "deactivate", "workloads",
		},
		"reactivate": {
			[]string{"reactivate", "wl/ns/job-off"}, "Workload/ns/job-off: active false -> true", inNS + "workloads/job-off", []string{"spec", "active"}, false, true, "reactivate", "workloads",
		},
		"priority": {
			[]string{"priority", "job/ns/train", "--class", "urgent"}, "Job/ns/train: priority class low -> urgent, so priority 10 -> 500 of Workload/ns/job-train", trainJob, []string{"metadata", "labels", class}, "low", "urgent", "reprioritize", "jobs",
		},
	}
	ways := map[string]struct {
		args      []string
		forbidden bool
		code      int
		out, errs string
		writes    bool
	}{
		"dry-run":            {[]string{"--dry-run=server"}, false, exitOK, "", "", false},
		"dry-run and yes":    {[]string{"--dry-run=server", "--yes"}, false, exitOK, "", "", false},
		"without a yes":      {nil, false, exitRefused, "", "nothing was changed: confirm with --yes", false},
		"another confirm":    {[]string{"--confirm", "no"}, false, exitRefused, "", "is not what this plan asks for", false},
		"yes":                {[]string{"--yes"}, false, exitOK, "done, verified", "", true},
		"forbidden":          {[]string{"--yes"}, true, exitRefused, "", "Ask a platform admin", false},
		"forbidden, dry-run": {[]string{"--dry-run=server"}, true, exitRefused, "", "Ask a platform admin", false},
		"read-only":          {[]string{"--yes", "--read-only"}, false, exitRefused, "", "--read-only", false},
	}
	for name, tt := range tests {
		for how, way := range ways {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				c := workloads(t)
				if way.forbidden {
					c.forbidden = tt.resource
				}
				out, errs, code, journal := c.try(slices.Concat(tt.args, []string{"--no-preview", "--reason", "leaks"}, way.args)...)
				if code != way.code || !strings.Contains(out, way.out) || !strings.Contains(errs, way.errs) {
					t.Errorf("exit %d, want %d, %q and %q:\n%s%s", code, way.code, way.out, way.errs, out, errs)
				}
				// Where a plan could be made, it is shown before anything else.
				planned := !way.forbidden && how != "read-only"
				if planned != strings.Contains(out, tt.change) {
					t.Errorf("the plan says %q: %v, want %v:\n%s", tt.change, !planned, planned, out)
				}
				stored, value, entries := []string{}, tt.was, []string{}
				if way.writes {
					stored, value, entries = []string{tt.written}, tt.is, []string{"intent " + tt.entry + " leaks", "result " + tt.entry + " leaks"}
				}
				if d := cmp.Diff(stored, c.stored()); d != "" {
					t.Errorf("written (-want +got):\n%s", d)
				}
				if d := cmp.Diff(value, c.field(tt.written, tt.field...)); d != "" {
					t.Errorf("%v (-want +got):\n%s", tt.field, d)
				}
				if d := cmp.Diff(entries, journaled(t, journal)); d != "" {
					t.Errorf("journal (-want +got):\n%s", d)
				}
				if _, err := os.Stat(journal); !way.writes && !os.IsNotExist(err) {
					t.Errorf("there is a journal of what was not done: %v", err)
				}
			})
		}
	}
}

// What Kueue would not follow, or makes no sense, is refused with the reason, whoever
// said yes.
func TestWorkloadCommandsThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		args []string
		why  string
	}{
		"priority without a job":               {[]string{"priority", "wl/ns/alone", "--class", "urgent"}, "it has no job that owns it alone, from which Kueue would take its class"},
		"priority of quota without a class":    {[]string{"priority", "job/ns/bare", "--class", "urgent"}, "it has quota and no WorkloadPriorityClass"},
		"priority of a Workload brought":       {[]string{"priority", "job/ns/brought", "--class", "urgent"}, "Kueue does not carry its class over"},
		"priority that it has":                 {[]string{"priority", "job/ns/train", "--class", "low"}, "it has class low (10) already"},
		"priority of a class that is none":     {[]string{"priority", "job/ns/train", "--class", "none"}, "There are low, urgent."},
		"deactivate what is":                   {[]string{"deactivate", "wl/ns/job-off"}, "it is deactivated already"},
		"reactivate what is active":            {[]string{"reactivate", "job/ns/train"}, "it is active"},
		"a Workload that is not there":         {[]string{"deactivate", "wl/ns/none"}, "It is gone, or the name is wrong."},
		"a job that Kueue does not look after": {[]string{"deactivate", "job/ns/none"}, "whether Kueue looks after it at all"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := workloads(t)
			out, errs, code, journal := c.try(append(tt.args, "--yes", "--no-preview")...)
			if code != exitRefused || !strings.Contains(errs, tt.why) || out != "" {
				t.Errorf("exit %d, want %d and %q:\n%s%s", code, exitRefused, tt.why, out, errs)
			}
			if d := cmp.Diff([]string{}, append(c.stored(), journaled(t, journal)...)); d != "" {
				t.Errorf("written and journaled (-want +got):\n%s", d)
			}
		})
	}
}
