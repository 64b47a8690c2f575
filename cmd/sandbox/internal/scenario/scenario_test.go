package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/manifests"
)

// queue reads a ClusterQueue of an embedded manifest into Kueue's own type; a field it does not know is an error.
func queue(t *testing.T, yaml []byte, name string) kueue.ClusterQueue {
	t.Helper()
	objs, err := manifests.Decode(bytes.NewReader(yaml))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objs {
		if o.GetKind() != "ClusterQueue" || o.GetName() != name {
			continue
		}
		var cq kueue.ClusterQueue
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, &cq, true); err != nil {
			t.Fatal(err)
		}
		return cq
	}
	t.Fatalf("no ClusterQueue %s", name)
	return kueue.ClusterQueue{}
}

func gpus(t *testing.T, cq kueue.ClusterQueue) kueue.ResourceQuota {
	t.Helper()
	for _, r := range cq.Spec.ResourceGroups[0].Flavors[0].Resources {
		if r.Name == gpuResource {
			return r
		}
	}
	t.Fatalf("%s has no GPUs", cq.Name)
	return kueue.ResourceQuota{}
}

func TestManifestsDecodeAsKueuesTypes(t *testing.T) {
	for _, name := range []string{"team-a-cq", "team-b-cq", "team-c-cq", "checked-cq", "unchecked-cq"} {
		queue(t, incidentQueues, name)
	}
	objs, err := manifests.Decode(bytes.NewReader(incidentWorld))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objs {
		if o.GetName() == "" || o.GetKind() == "" {
			t.Errorf("object without name or kind: %v", o.Object)
		}
	}
}

func TestTheMistakeIsTwoFieldsOfOneQueue(t *testing.T) {
	before, after := queue(t, incidentQueues, "team-b-cq"), queue(t, incidentBadEdit, "team-b-cq")
	if b, a := gpus(t, before), gpus(t, after); b.NominalQuota.String() != "4" || a.NominalQuota.String() != "20" {
		t.Errorf("GPUs %s -> %s, want 4 -> 20", b.NominalQuota.String(), a.NominalQuota.String())
	}
	if got := after.Spec.Preemption.ReclaimWithinCohort; got != kueue.PreemptionPolicyAny {
		t.Errorf("reclaimWithinCohort %s, want Any", got)
	}
	after.Spec.Preemption.ReclaimWithinCohort = before.Spec.Preemption.ReclaimWithinCohort
	for i, r := range after.Spec.ResourceGroups[0].Flavors[0].Resources {
		if r.Name == gpuResource {
			after.Spec.ResourceGroups[0].Flavors[0].Resources[i] = gpus(t, before)
		}
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the edit changes more (-before +after):\n%s", diff)
	}
}

// TestJobsFillTheCohort checks the arithmetic the scenario stands on.
func TestJobsFillTheCohort(t *testing.T) {
	j := newIncidentJobs()
	sum := func(jobs ...job) (n int32) {
		for _, j := range jobs {
			n += j.pods * j.gpus
		}
		return n
	}
	teamA := sum(j.nominal...)
	if teamA != 8 || sum(j.sweep3) != 2 || sum(j.urgent) != sum(j.sweep3) {
		t.Errorf("team-a: %d nominal, %d borrowed, urgent %d", teamA, sum(j.sweep3), sum(j.urgent))
	}
	const own, a, b, c, mistaken = 2, 8, 4, 4, 20
	if used := teamA + sum(j.urgent) + sum(j.teamC...); used != own+a+b+c {
		t.Errorf("in use before the mistake: %d GPUs, want all %d", used, own+a+b+c)
	}
	if got := sum(j.pretrain...); got != mistaken {
		t.Errorf("team-b asks for %d GPUs, want its mistaken quota %d", got, mistaken)
	}
	if got, want := sum(j.victims...), int32(b); got != want { // what team-b may take back: what it had lent
		t.Errorf("victims hold %d GPUs, want %d", got, want)
	}
}

func TestJobObject(t *testing.T) {
	got := job{"team-a", "train-llm", "batch", "normal", 2, 3}.object()
	if !*got.Spec.Suspend || *got.Spec.Parallelism != 2 || *got.Spec.Completions != 2 {
		t.Errorf("spec %+v", got.Spec)
	}
	want := map[string]string{"kueue.x-k8s.io/queue-name": "batch", "kueue.x-k8s.io/priority-class": "normal"}
	if diff := cmp.Diff(want, got.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	r := got.Spec.Template.Spec.Containers[0].Resources
	requests := map[string]string{}
	for name, q := range r.Requests {
		requests[string(name)] = q.String()
	}
	if diff := cmp.Diff(map[string]string{"cpu": "3", "memory": "12Gi", "nvidia.com/gpu": "3"}, requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if gpu := (job{gpus: 0, pods: 1}).object().Spec.Template.Spec.Containers[0].Resources.Limits; len(gpu) != 0 {
		t.Errorf("a job without GPUs has limits %v", gpu)
	}
}

// TestGoals looks at one Job, team-a/j, in worlds where each goal is reached and where it is not.
func TestGoals(t *testing.T) {
	j, by := job{namespace: "team-a", name: "j", pods: 1}, job{namespace: "team-b", name: "by", pods: 1}
	cond := func(kind string, status metav1.ConditionStatus, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Message: message}
	}
	noQuota := cond("QuotaReserved", "False", "insufficient unused quota for nvidia.com/gpu")
	quota, yes := cond("QuotaReserved", "True", ""), cond("Admitted", "True", "")
	evicted, preempted := cond("Evicted", "True", ""), cond("Preempted", "True", "Preempted to accommodate a workload (UID: by-uid, JobUID: x)")
	preemptedByOther := cond("Preempted", "True", "Preempted to accommodate a workload (UID: other, JobUID: x)")
	pending := []kueue.AdmissionCheckState{{Name: "budget", State: kueue.CheckStatePending}}
	for _, c := range []struct {
		name       string
		goal       goal
		conditions []metav1.Condition
		checks     []kueue.AdmissionCheckState
		running    int
		missing    string // part of what the goal says is missing, or "" if it is reached
	}{
		{"admitted", admitted(j), []metav1.Condition{quota, yes}, nil, 1, ""},
		{"admitted without pods", admitted(j), []metav1.Condition{quota, yes}, nil, 0, "0 of 1 pods"},
		{"only reserved", admitted(j), []metav1.Condition{quota}, nil, 1, "not admitted"},
		{"waits", waits(j, "unused quota"), []metav1.Condition{noQuota}, nil, 0, ""},
		{"waits for another reason", waits(j, "maximum capacity"), []metav1.Condition{noQuota}, nil, 0, "does not wait"},
		{"waits with pods", waits(j, "unused quota"), []metav1.Condition{noQuota}, nil, 1, "has 1 pods"},
		{"queued", queued(j), nil, nil, 0, ""},
		{"not queued", queued(j), []metav1.Condition{quota}, nil, 0, "is not queued"},
		{"preempted", preemptedBy(j, by), []metav1.Condition{noQuota, evicted, preempted}, nil, 0, ""},
		{"preempted by another", preemptedBy(j, by), []metav1.Condition{noQuota, evicted, preemptedByOther}, nil, 0, "somebody else"},
		{"still evicting", preemptedBy(j, by), []metav1.Condition{quota, evicted, preempted}, nil, 0, "not free yet"},
		{"not preempted", preemptedBy(j, by), []metav1.Condition{noQuota}, nil, 0, "not preempted"},
		{"waits for a check", waitsForCheck(j, "budget"), []metav1.Condition{quota}, pending, 0, ""},
		{"waits for no check", waitsForCheck(j, "budget"), []metav1.Condition{quota}, nil, 0, "is not Pending"},
		{"admitted past the check", waitsForCheck(j, "budget"), []metav1.Condition{quota, yes}, pending, 0, "without being admitted"},
		{"nothing left", nothingLeft([]string{"team-c"}), nil, nil, 0, ""},
		{"something left", nothingLeft([]string{"team-a"}), nil, nil, 0, "still in team-a"},
		{"no such queue", inactive("q", "Stopped"), nil, nil, 0, "not inactive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world{
				workloads: map[string]kueue.Workload{
					j.key():  {Status: kueue.WorkloadStatus{Conditions: c.conditions, AdmissionChecks: c.checks}},
					by.key(): {ObjectMeta: metav1.ObjectMeta{UID: types.UID("by-uid")}},
				},
				jobs:    map[string]batchv1.Job{},
				pods:    map[string]int{j.key(): c.running},
				running: map[string]int{j.key(): c.running},
			}
			check(t, c.goal(w), c.missing)
		})
	}
}

func check(t *testing.T, err error, missing string) {
	t.Helper()
	if (missing == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), missing) {
		t.Errorf("goal says %q, want %q", fmt.Sprint(err), missing)
	}
}

func TestFind(t *testing.T) {
	for _, s := range List() {
		if got, err := Find(s.Name); err != nil || got.Name != s.Name {
			t.Errorf("Find(%s) = %s, %v", s.Name, got.Name, err)
		}
	}
	if _, err := Find("none"); err == nil || !strings.Contains(err.Error(), "incident") {
		t.Errorf("error %v does not say what there is", err)
	}
}

// Of equal Jobs that wait Kueue looks at one, whichever that is.
func TestForOne(t *testing.T) {
	met := errors.New("not this one")
	is := func(name string) func(job) goal {
		return func(j job) goal {
			return func(world) error {
				if j.name == name {
					return nil
				}
				return met
			}
		}
	}
	jobs := []job{{name: "a"}, {name: "b"}}
	if err := forOne(jobs, is("b"))(world{}); err != nil {
		t.Errorf("the second one is enough: %v", err)
	}
	if err := forOne(jobs, is("c"))(world{}); !errors.Is(err, met) {
		t.Errorf("neither is: %v", err)
	}
}
