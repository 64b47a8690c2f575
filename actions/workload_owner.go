package actions

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

// Labels of a job (pkg/controller/constants in Kueue).
const (
	priorityLabel = "kueue.x-k8s.io/priority-class"
	prebuiltLabel = "kueue.x-k8s.io/prebuilt-workload-name"
)

// followed are the kinds of job whose label Kueue carries over to the Workload while
// it exists: those that its generic reconciler looks after with the owner itself as
// the job (UpdateWorkloadPriority in pkg/controller/jobframework/reconciler.go; the
// kinds in pkg/controller/jobs).
var followed = map[schema.GroupKind]string{
	{Group: "batch", Kind: "Job"}:                             "jobs",
	{Group: "jobset.x-k8s.io", Kind: "JobSet"}:                "jobsets",
	{Group: "kubeflow.org", Kind: "MPIJob"}:                   "mpijobs",
	{Group: "kubeflow.org", Kind: "PyTorchJob"}:               "pytorchjobs",
	{Group: "kubeflow.org", Kind: "TFJob"}:                    "tfjobs",
	{Group: "kubeflow.org", Kind: "XGBoostJob"}:               "xgboostjobs",
	{Group: "kubeflow.org", Kind: "PaddleJob"}:                "paddlejobs",
	{Group: "kubeflow.org", Kind: "JAXJob"}:                   "jaxjobs",
	{Group: "trainer.kubeflow.org", Kind: "TrainJob"}:         "trainjobs",
	{Group: "ray.io", Kind: "RayJob"}:                         "rayjobs",
	{Group: "ray.io", Kind: "RayCluster"}:                     "rayclusters",
	{Group: "ray.io", Kind: "RayService"}:                     "rayservices",
	{Group: "workload.codeflare.dev", Kind: "AppWrapper"}:     "appwrappers",
	{Group: "sparkoperator.k8s.io", Kind: "SparkApplication"}: "sparkapplications",
	{Group: "", Kind: "Pod"}:                                  "pods",
}

// rolled are the kinds whose label Kueue's webhook copies into the pod template:
// their controllers make all pods anew when it changes (pkg/controller/jobs/
// {deployment,leaderworkerset}/*_webhook.go). A StatefulSet's pods take it one by one.
var rolled = map[schema.GroupKind]bool{
	{Group: "apps", Kind: "Deployment"}: true, {Group: "apps", Kind: "StatefulSet"}: true, {Group: "leaderworkerset.x-k8s.io", Kind: "LeaderWorkerSet"}: true,
}

// ownerAPI is how the API addresses the owner; empty for a kind whose label is not
// known to be followed.
func ownerAPI(o *world.Owner) schema.GroupVersionResource {
	gv, err := schema.ParseGroupVersion(o.APIVersion)
	if err != nil {
		return schema.GroupVersionResource{}
	}
	if resource := followed[schema.GroupKind{Group: gv.Group, Kind: o.Kind}]; resource != "" {
		return gv.WithResource(resource)
	}
	return schema.GroupVersionResource{}
}

// priorityRefusal says why Kueue would not carry a new priority class of the job over
// to the Workload, as far as the Workload alone tells; empty where it would.
// (classifyWorkloadsForPriorityUpdate in pkg/controller/jobframework/reconciler.go and
// the rules of the Workload's CRD.)
func priorityRefusal(w *world.Workload) string {
	switch {
	case w.Owner == nil:
		return "it has no job that owns it alone, from which Kueue would take its class"
	case ownerAPI(w.Owner).Empty():
		gv, _ := schema.ParseGroupVersion(w.Owner.APIVersion)
		if rolled[schema.GroupKind{Group: gv.Group, Kind: w.Owner.Kind}] {
			return fmt.Sprintf("a change of the class of a %s replaces its running pods", w.Owner.Kind)
		}
		return fmt.Sprintf("it is not known that Kueue takes the class of a %s (%s) over once its Workload exists", w.Owner.Kind, w.Owner.APIVersion)
	case w.PriorityClass != "" && w.PriorityKind != world.KindWorkloadPriorityClass:
		return fmt.Sprintf("its priority comes from %s %s of its pods: Kueue does not look at the job's label then", w.PriorityKind, w.PriorityClass)
	case w.PriorityClass == "" && w.Conditions.True(kueue.WorkloadQuotaReserved):
		return "it has quota and no WorkloadPriorityClass: Kueue gives it none until the quota is gone"
	}
	return ""
}
