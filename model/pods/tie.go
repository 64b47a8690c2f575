package pods

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"cli.holdfast.dev/holdfast/model/world"
)

// tie is one thing that a pod and its Workload have in common. Both are always
// in the same namespace.
type tie struct {
	by        mark
	namespace string
	value     string
}

// mark is where a tie is written.
type mark uint8

const (
	byWorkload   mark = iota // annotation kueue.x-k8s.io/workload: the Workload's name
	byUID                    // the UID of the pod, of its controller, or of its JobSet
	byGroup                  // the name of the pod group, which is the Workload's
	byJobSet                 // name of the JobSet
	byOldJobSet              // the same, of a JobSet that does not write its UID yet
	byTraining               // operator and name of a job of the training or MPI operator
	byRayCluster             // name of the RayCluster
	bySpark                  // name of the SparkApplication
	byAppWrapper             // name of the AppWrapper
)

// Labels that the job controllers write on pods. Each is in Kueue's own
// PodLabelSelector for the kind (pkg/controller/jobs), but for the UIDs, which
// are stricter, and AppWrapper's, which its controller counts pods by.
const (
	jobSetLabel     = "jobset.sigs.k8s.io/jobset-name"
	jobSetUIDLabel  = "jobset.sigs.k8s.io/jobset-uid"
	trainingLabel   = "training.kubeflow.org/job-name"
	operatorLabel   = "training.kubeflow.org/operator-name"
	rayClusterLabel = "ray.io/cluster"
	sparkLabel      = "sparkoperator.k8s.io/app-name"
	wrapperLabel    = "workload.codeflare.dev/appwrapper"
)

func tiesOfPod(p *world.Pod) []tie {
	out := make([]tie, 0, 6)
	add := func(by mark, value string) {
		if value != "" {
			out = append(out, tie{by, p.Namespace, value})
		}
	}
	add(byWorkload, p.Workload)
	add(byGroup, p.Group)
	add(byUID, string(p.UID))
	if p.Owner != nil {
		add(byUID, string(p.Owner.UID))
	}
	if len(p.Labels) == 0 {
		return out
	}
	add(byUID, p.Labels[batchv1.ControllerUidLabel])
	if name := p.Labels[jobSetLabel]; name != "" {
		uid := p.Labels[jobSetUIDLabel]
		add(byUID, uid)
		add(byJobSet, name)
		if uid == "" {
			add(byOldJobSet, name)
		}
	}
	if name := p.Labels[trainingLabel]; name != "" {
		add(byTraining, p.Labels[operatorLabel]+"/"+name)
	}
	add(byRayCluster, p.Labels[rayClusterLabel])
	add(bySpark, p.Labels[sparkLabel])
	add(byAppWrapper, p.Labels[wrapperLabel])
	return out
}

// tiesOfWorkload lists what the pods of the Workload may have in common with it,
// by the kind of its job.
func tiesOfWorkload(w *world.Workload) []tie {
	out := make([]tie, 0, 4)
	add := func(by mark, value string) {
		if value != "" {
			out = append(out, tie{by, w.Namespace, value})
		}
	}
	add(byWorkload, w.Name)
	o := w.Owner
	if o == nil { // a pod group of several pods, or made by hand
		add(byGroup, w.Name)
		return out
	}
	switch o.Kind {
	case "LeaderWorkerSet": // one Workload for each group, all with the same owner
		add(byGroup, w.Name)
		return out
	case "Pod", "StatefulSet":
		add(byGroup, w.Name)
	case "JobSet":
		add(byOldJobSet, o.Name)
	case "TrainJob": // its JobSet has its name and another UID
		add(byJobSet, o.Name)
	case "MPIJob":
		add(byTraining, "mpi-operator/"+o.Name)
	case "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob":
		add(byTraining, strings.ToLower(o.Kind)+"-controller/"+o.Name)
	case "RayCluster":
		add(byRayCluster, o.Name)
	case "SparkApplication":
		add(bySpark, o.Name)
	case "AppWrapper":
		add(byAppWrapper, o.Name)
	}
	add(byUID, string(o.UID))
	if w.JobUID != o.UID {
		add(byUID, string(w.JobUID))
	}
	return out
}

// certain reports whether every pod of the Workload's kind of job is tied to it,
// so that finding none means that there is none. The pods of the other kinds are
// found only once they are started and carry the Workload's name, or never:
// Workloads without an owner may have been made by hand, and RayJobs and RayServices name their RayCluster in their status only.
func certain(w *world.Workload) bool {
	if w.Owner == nil {
		return false
	}
	switch w.Owner.Kind {
	case "Pod", "Job", "JobSet", "TrainJob", "MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob",
		"RayCluster", "SparkApplication", "AppWrapper", "StatefulSet":
		return true
	}
	return false
}

func kindOf(w *world.Workload) string {
	if w.Owner == nil {
		return "pod group"
	}
	return w.Owner.Kind
}

// mayBelong refuses a pod that names another Workload. Only the pods of an
// elastic job may keep the name of an earlier slice: they are of the slice that
// holds the quota (Kueue's elastic_job_ungater.go), and its job is the same.
func mayBelong(p *world.Pod, w *world.Workload, by mark) bool {
	return p.Workload == "" || p.Workload == w.Name || by == byUID && w.HoldsQuota()
}

// replaced reports whether another slice of an elastic job took the Workload's
// place, and its pods.
func replaced(w *world.Workload) bool {
	c, ok := w.Conditions.Get(world.CondFinished)
	return ok && c.Status == "True" && c.Reason == "WorkloadSliceReplaced"
}
