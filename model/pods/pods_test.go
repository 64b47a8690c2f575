package pods

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/world"
)

// A pod as its controller makes it; project.Pod makes the row.
type pod struct {
	name, uid, workload string
	ownerKind, ownerUID string
	labels              map[string]string
	phase               corev1.PodPhase
	message             string
}

func (p pod) row() world.Pod {
	o := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: p.name, UID: types.UID(p.uid), Labels: p.labels},
		Status:     corev1.PodStatus{Phase: p.phase},
	}
	if p.uid == "" {
		o.UID = types.UID("uid-of-" + p.name)
	}
	if p.workload != "" { // Kueue marks the pods of what it started with both
		o.Annotations = map[string]string{kueue.WorkloadAnnotation: p.workload}
	}
	if p.ownerUID != "" {
		yes := true
		o.OwnerReferences = []metav1.OwnerReference{{Kind: p.ownerKind, Name: "owner", UID: types.UID(p.ownerUID), Controller: &yes}}
	}
	if p.message != "" {
		o.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: p.message}}
	}
	return project.Pod(o)
}

func rowsOf(ps ...pod) []world.Pod {
	var out []world.Pod
	for _, p := range ps {
		out = append(out, p.row())
	}
	return out
}

func namesOf(ps []world.Pod) []string {
	out := []string{}
	for _, p := range ps {
		out = append(out, p.Name)
	}
	return out
}

func workload(name, kind, owner, uid string) *world.Workload {
	w := &world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "team", Name: name}, UID: types.UID("uid-of-" + name)}, Active: true}
	if kind != "" {
		w.Owner = &world.Owner{Kind: kind, Name: owner, UID: types.UID(uid)}
		w.JobUID = types.UID(uid)
	}
	return w
}

func holding(w *world.Workload) *world.Workload {
	w.ClusterQueue = "q"
	w.Conditions = world.Conditions{{Type: world.CondQuotaReserved, Status: "True"}}
	return w
}

func jobLabels(job, uid string) map[string]string {
	return map[string]string{
		batchv1.JobNameLabel: job, batchv1.ControllerUidLabel: uid, "job-name": job, "controller-uid": uid,
		constants.PodSetLabel: "main", constants.LocalQueueLabel: "lq", constants.ClusterQueueLabel: "q",
	}
}

// jobSetLabels are those of a pod of one of the JobSet's Jobs. uid is empty for
// JobSet releases that did not write it.
func jobSetLabels(jobSet, uid, replicated string) map[string]string {
	out := jobLabels(jobSet+"-"+replicated+"-0", "uid-of-child-job")
	out["jobset.sigs.k8s.io/jobset-name"] = jobSet
	out["jobset.sigs.k8s.io/replicatedjob-name"] = replicated
	out["jobset.sigs.k8s.io/job-index"] = "0"
	if uid != "" {
		out["jobset.sigs.k8s.io/jobset-uid"] = uid
	}
	return out
}

func training(operator, job string) map[string]string {
	return map[string]string{"training.kubeflow.org/job-name": job, "training.kubeflow.org/operator-name": operator, "training.kubeflow.org/replica-type": "worker"}
}

func TestPodsOfAWorkload(t *testing.T) {
	tests := map[string]struct {
		w    *world.Workload
		pods []pod
		want []string
	}{
		"Job: by its UID, not by its name": {
			workload("job-train-1", "Job", "train", "j1"),
			[]pod{
				{name: "mine", ownerKind: "Job", ownerUID: "j1", labels: jobLabels("train", "j1")},
				{name: "of-an-earlier-job-of-that-name", ownerKind: "Job", ownerUID: "j0", labels: jobLabels("train", "j0")},
				{name: "orphaned", labels: jobLabels("train", "j1")},
			},
			[]string{"mine", "orphaned"},
		},
		"any kind, once started: Kueue's annotation": {
			workload("rayjob-r-1", "RayJob", "r", "r1"),
			[]pod{
				{name: "head", workload: "rayjob-r-1", ownerKind: "RayCluster", ownerUID: "rc", labels: map[string]string{"ray.io/cluster": "r-x7kfp"}},
				{name: "submitter", workload: "rayjob-r-1", ownerKind: "Job", ownerUID: "sub", labels: jobLabels("r", "sub")},
				{name: "other", workload: "rayjob-s-1", ownerKind: "RayCluster", ownerUID: "rd", labels: map[string]string{"ray.io/cluster": "s-abcde"}},
			},
			[]string{"head", "submitter"},
		},
		"JobSet: the pods belong to its Jobs and name its UID": {
			workload("jobset-js-1", "JobSet", "js", "js1"),
			[]pod{
				{name: "leader", ownerKind: "Job", ownerUID: "uid-of-child-job", labels: jobSetLabels("js", "js1", "leader")},
				{name: "earlier", ownerKind: "Job", ownerUID: "uid-of-child-job", labels: jobSetLabels("js", "js0", "leader")},
				{name: "another", ownerKind: "Job", ownerUID: "uid-of-child-job", labels: jobSetLabels("other", "js2", "leader")},
			},
			[]string{"leader"},
		},
		"JobSet before it wrote its UID: by name": {
			workload("jobset-js-1", "JobSet", "js", "js1"),
			[]pod{{name: "worker", ownerKind: "Job", ownerUID: "uid-of-child-job", labels: jobSetLabels("js", "", "worker")}},
			[]string{"worker"},
		},
		"TrainJob: its JobSet has its name": {
			workload("trainjob-t-1", "TrainJob", "t", "t1"),
			[]pod{
				{name: "node", ownerKind: "Job", ownerUID: "uid-of-child-job", labels: jobSetLabels("t", "js-of-t", "node")},
				{name: "other", ownerKind: "Job", ownerUID: "uid-of-child-job", labels: jobSetLabels("u", "js-of-u", "node")},
			},
			[]string{"node"},
		},
		"MPIJob: launcher and workers, not a PyTorchJob of its name": {
			workload("mpijob-m-1", "MPIJob", "m", "m1"),
			[]pod{
				{name: "launcher", ownerKind: "Job", ownerUID: "launcher-job", labels: training("mpi-operator", "m")},
				{name: "worker", ownerKind: "MPIJob", ownerUID: "m1", labels: training("mpi-operator", "m")},
				{name: "torch", ownerKind: "PyTorchJob", ownerUID: "p1", labels: training("pytorchjob-controller", "m")},
			},
			[]string{"launcher", "worker"},
		},
		"PyTorchJob": {
			workload("pytorchjob-p-1", "PyTorchJob", "p", "p1"),
			[]pod{
				{name: "master", ownerKind: "PyTorchJob", ownerUID: "p1", labels: training("pytorchjob-controller", "p")},
				{name: "tf", ownerKind: "TFJob", ownerUID: "t1", labels: training("tfjob-controller", "p")},
			},
			[]string{"master"},
		},
		"XGBoostJob by the operator's labels alone": {
			workload("xgboostjob-x-1", "XGBoostJob", "x", "x1"),
			[]pod{{name: "worker", labels: training("xgboostjob-controller", "x")}},
			[]string{"worker"},
		},
		"RayCluster": {
			workload("raycluster-rc-1", "RayCluster", "rc", "rc1"),
			[]pod{
				{name: "head", ownerKind: "RayCluster", ownerUID: "rc1", labels: map[string]string{"ray.io/cluster": "rc", "ray.io/node-type": "head"}},
				{name: "of-an-earlier-one", workload: "raycluster-rc-0", ownerKind: "RayCluster", ownerUID: "rc0", labels: map[string]string{"ray.io/cluster": "rc"}},
			},
			[]string{"head"},
		},
		"SparkApplication": {
			workload("sparkapplication-s-1", "SparkApplication", "s", "s1"),
			[]pod{
				{name: "driver", ownerKind: "SparkApplication", ownerUID: "s1", labels: map[string]string{"sparkoperator.k8s.io/app-name": "s", "spark-role": "driver"}},
				{name: "executor", ownerKind: "Pod", ownerUID: "driver", labels: map[string]string{"sparkoperator.k8s.io/app-name": "s", "spark-role": "executor"}},
			},
			[]string{"driver", "executor"},
		},
		"AppWrapper": {
			workload("appwrapper-a-1", "AppWrapper", "a", "a1"),
			[]pod{{name: "wrapped", ownerKind: "Job", ownerUID: "inner", labels: map[string]string{"workload.codeflare.dev/appwrapper": "a"}}},
			[]string{"wrapped"},
		},
		"a plain pod, also one of a Deployment": {
			workload("pod-web-1", "Pod", "web-7d9-x", "w1"),
			[]pod{
				{name: "web-7d9-x", uid: "w1", ownerKind: "ReplicaSet", ownerUID: "rs", labels: map[string]string{constants.ManagedByKueueLabelKey: "true"}},
				{name: "web-7d9-y", uid: "w2", ownerKind: "ReplicaSet", ownerUID: "rs", labels: map[string]string{constants.ManagedByKueueLabelKey: "true"}},
			},
			[]string{"web-7d9-x"},
		},
		"a pod group has the Workload's name": {
			workload("grp", "", "", ""),
			[]pod{
				{name: "a", labels: map[string]string{podconstants.GroupNameLabel: "grp"}},
				{name: "b", labels: map[string]string{podconstants.GroupNameLabel: "grp"}},
				{name: "c", labels: map[string]string{podconstants.GroupNameLabel: "other"}},
			},
			[]string{"a", "b"},
		},
		"a group that borrows the name of a Job's Workload is not the Job's": {
			workload("job-train-1", "Job", "train", "j1"),
			[]pod{{name: "thief", labels: map[string]string{podconstants.GroupNameLabel: "job-train-1"}}},
			[]string{},
		},
		"StatefulSet": {
			workload("statefulset-db-1", "StatefulSet", "db", "db1"),
			[]pod{{name: "db-0", ownerKind: "StatefulSet", ownerUID: "db1", labels: map[string]string{constants.ManagedByKueueLabelKey: "true"}}},
			[]string{"db-0"},
		},
		"LeaderWorkerSet: each group has a Workload of its own": {
			workload("leaderworkerset-l-0", "LeaderWorkerSet", "l", "l1"),
			[]pod{
				{name: "l-0", workload: "leaderworkerset-l-0", ownerKind: "StatefulSet", ownerUID: "sts", labels: map[string]string{"leaderworkerset.sigs.k8s.io/name": "l", "leaderworkerset.sigs.k8s.io/group-index": "0"}},
				{name: "l-0-1", ownerKind: "StatefulSet", ownerUID: "sts0", labels: map[string]string{"leaderworkerset.sigs.k8s.io/name": "l", podconstants.GroupNameLabel: "leaderworkerset-l-0"}},
				{name: "l-1", workload: "leaderworkerset-l-1", ownerKind: "StatefulSet", ownerUID: "sts", labels: map[string]string{"leaderworkerset.sigs.k8s.io/name": "l", "leaderworkerset.sigs.k8s.io/group-index": "1"}},
			},
			[]string{"l-0", "l-0-1"},
		},
		"a kind that is not known here, whose pods it owns itself": {
			workload("custom-c-1", "Custom", "c", "c1"),
			[]pod{{name: "mine", ownerKind: "Custom", ownerUID: "c1"}, {name: "not", ownerKind: "Custom", ownerUID: "c2"}},
			[]string{"mine"},
		},
		"an elastic job's pods keep the name of the slice that started them": {
			holding(workload("job-e-2", "Job", "e", "e1")),
			[]pod{{name: "old", workload: "job-e-1", ownerKind: "Job", ownerUID: "e1"}, {name: "new", workload: "job-e-2", ownerKind: "Job", ownerUID: "e1"}},
			[]string{"old", "new"},
		},
		"a slice that waits has none of its predecessor's": {
			workload("job-e-2", "Job", "e", "e1"),
			[]pod{{name: "old", workload: "job-e-1", ownerKind: "Job", ownerUID: "e1"}},
			[]string{},
		},
		"a slice that was replaced has none left": {
			func() *world.Workload {
				w := holding(workload("job-e-1", "Job", "e", "e1"))
				w.Conditions = append(w.Conditions, world.Condition{Type: world.CondFinished, Status: "True", Reason: kueue.WorkloadSliceReplaced})
				return w
			}(),
			[]pod{{name: "old", workload: "job-e-1", ownerKind: "Job", ownerUID: "e1"}},
			[]string{},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, namesOf(Of(tc.w, rowsOf(tc.pods...)))); d != "" {
				t.Errorf("pods (-want +got):\n%s", d)
			}
			elsewhere := rowsOf(tc.pods...)
			for i := range elsewhere {
				elsewhere[i].Namespace = "elsewhere"
			}
			if got := Of(tc.w, elsewhere); len(got) > 0 {
				t.Errorf("pods of another namespace: %v", namesOf(got))
			}
		})
	}
}

func TestCount(t *testing.T) {
	const unschedulable = "0/8 nodes are available: 8 Insufficient nvidia.com/gpu."
	mine := func(name string, phase corev1.PodPhase, message string) pod {
		return pod{name: name, ownerKind: "Job", ownerUID: "j1", phase: phase, message: message}
	}
	tests := map[string]struct {
		w    *world.Workload
		pods []pod
		want Count
	}{
		"every phase, and the first pending pod's message": {
			workload("job", "Job", "train", "j1"),
			[]pod{
				mine("a", corev1.PodRunning, ""), mine("b", corev1.PodPending, ""), mine("c", corev1.PodPending, unschedulable), mine("d", corev1.PodPending, "later"),
				mine("e", corev1.PodFailed, ""), mine("f", corev1.PodSucceeded, ""), mine("g", corev1.PodSucceeded, ""),
			},
			Count{Pending: 3, Running: 1, Failed: 1, Succeeded: 2, Note: unschedulable},
		},
		"a Job without pods has none":                {workload("job", "Job", "train", "j1"), nil, Count{}},
		"a JobSet without pods has none":             {workload("js", "JobSet", "js", "j1"), nil, Count{}},
		"a phase that says nothing":                  {workload("job", "Job", "train", "j1"), []pod{mine("a", corev1.PodUnknown, ""), mine("b", corev1.PodPending, "x")}, Count{Pending: 1, Note: "1 in no known phase; x"}},
		"of a RayJob nothing found proves nothing":   {workload("r", "RayJob", "r", "r1"), nil, Count{Unknown: true, Note: "pods cannot be tied to this kind of job (RayJob)"}},
		"of a pod group either":                      {workload("g", "", "", ""), nil, Count{Unknown: true, Note: "pods cannot be tied to this kind of job (pod group)"}},
		"a RayJob whose pods name it is counted":     {workload("r", "RayJob", "r", "r1"), []pod{{name: "head", workload: "r", phase: corev1.PodRunning}}, Count{Running: 1}},
		"a kind that is not known here is not zero":  {workload("c", "Custom", "c", "c1"), nil, Count{Unknown: true, Note: "pods cannot be tied to this kind of job (Custom)"}},
		"a LeaderWorkerSet's pods may not be marked": {workload("l", "LeaderWorkerSet", "l", "l1"), nil, Count{Unknown: true, Note: "pods cannot be tied to this kind of job (LeaderWorkerSet)"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, NewIndex(rowsOf(tc.pods...)).Count(tc.w)); d != "" {
				t.Errorf("count (-want +got):\n%s", d)
			}
		})
	}
}

// The index finds what looking at every pod finds.
func TestIndexFindsWhatASearchFinds(t *testing.T) {
	kinds := []string{"Job", "JobSet", "TrainJob", "MPIJob", "RayCluster", "Pod", "StatefulSet", "LeaderWorkerSet", ""}
	name := rapid.SampledFrom([]string{"a", "b", "c"})
	rapid.Check(t, func(t *rapid.T) {
		var all []world.Pod
		for i := range rapid.IntRange(0, 12).Draw(t, "pods") {
			maybe := func(k string, m map[string]string) {
				if v := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, k); v != "" {
					m[k] = v
				}
			}
			m := map[string]string{}
			for _, k := range []string{podconstants.GroupNameLabel, jobSetLabel, jobSetUIDLabel, trainingLabel, rayClusterLabel, batchv1.ControllerUidLabel} {
				maybe(k, m)
			}
			m[operatorLabel] = "mpi-operator"
			p := pod{name: fmt.Sprint("p", i), uid: name.Draw(t, "uid"), ownerKind: "Job", ownerUID: name.Draw(t, "owner"), labels: m}.row()
			p.Workload = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "annotation")
			p.Namespace = name.Draw(t, "namespace")
			all = append(all, p)
		}
		w := workload(name.Draw(t, "workload"), rapid.SampledFrom(kinds).Draw(t, "kind"), name.Draw(t, "owner"), name.Draw(t, "job"))
		w.Namespace = name.Draw(t, "namespace")
		if rapid.Bool().Draw(t, "holds") {
			holding(w)
		}
		want := []string{}
		for i := range all {
			belongs := slices.ContainsFunc(tiesOfWorkload(w), func(of tie) bool {
				return slices.Contains(tiesOfPod(&all[i]), of) && mayBelong(&all[i], w, of.by)
			})
			if belongs {
				want = append(want, all[i].Name)
			}
		}
		if d := cmp.Diff(want, namesOf(NewIndex(all).Of(w))); d != "" {
			t.Errorf("pods (-search +index):\n%s", d)
		}
	})
}
