package record

import "k8s.io/apimachinery/pkg/runtime/schema"

const (
	kueueGroup      = "kueue.x-k8s.io"
	visibilityGroup = "visibility.kueue.x-k8s.io"
)

// kubernetesKinds are what is recorded beside Kueue's own objects. What holds credentials is not among them and must
// never be.
func kubernetesKinds() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Version: "v1", Resource: "namespaces"},
		{Version: "v1", Resource: "nodes"},
		{Version: "v1", Resource: "limitranges"},
		{Group: "node.k8s.io", Version: "v1", Resource: "runtimeclasses"},
		{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"},
		{Group: "batch", Version: "v1", Resource: "jobs"},
		{Version: "v1", Resource: "pods"},
		{Version: "v1", Resource: "events"},
		{Group: "events.k8s.io", Version: "v1", Resource: "events"},
	}
}

// kueueKinds are the resources of Kueue's group that are recorded in every version that serves them.
func kueueKinds() []string {
	return []string{
		"resourceflavors", "topologies", "admissionchecks", "workloadpriorityclasses",
		"cohorts", "clusterqueues", "localqueues", "workloads",
	}
}

// fileName is where the List of a resource is: its full name as kubectl takes it, such as
// workloads.v1beta2.kueue.x-k8s.io.yaml or, without a group, pods.v1.yaml.
func fileName(r schema.GroupVersionResource) string {
	name := r.Resource + "." + r.Version
	if r.Group != "" {
		name += "." + r.Group
	}
	return name + ".yaml"
}
