package scenario

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
)

const (
	gpuResource = "nvidia.com/gpu"
	modelLabel  = "accelerator.example.com/model"
	runTime     = "6h" // long enough that nothing ends while somebody looks
)

// job describes a batch Job in a person's terms.
type job struct {
	namespace, name string
	queue           string // LocalQueue
	class           string // WorkloadPriorityClass
	pods, gpus      int32  // gpus of each pod
}

// key names the Job across namespaces.
func (j job) key() string { return j.namespace + "/" + j.name }

// object is the Job as its owner would write it: suspended, as Kueue's users do, with one CPU and 4 GiB for each GPU.
func (j job) object() *batchv1.Job {
	share := int64(max(j.gpus, 1))
	requests := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(share, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(share<<32, resource.BinarySI),
	}
	limits := corev1.ResourceList{}
	if j.gpus > 0 {
		requests[gpuResource] = *resource.NewQuantity(int64(j.gpus), resource.DecimalSI)
		limits[gpuResource] = requests[gpuResource]
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: j.name, Namespace: j.namespace,
			Labels: map[string]string{"kueue.x-k8s.io/queue-name": j.queue, "kueue.x-k8s.io/priority-class": j.class},
		},
		Spec: batchv1.JobSpec{
			Suspend: ptr.To(true), Parallelism: &j.pods, Completions: &j.pods,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"pod-complete.stage.kwok.x-k8s.io/delay": runTime}},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers: []corev1.Container{{
						Name: "main", Image: "registry.example.com/" + j.namespace + "/train:1",
						Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits},
					}},
				},
			},
		},
	}
}

// nodes returns n simulated nodes of an accelerator model with that many GPUs each.
func nodes(model string, n, gpus int) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for i := 1; i <= n; i++ {
		name := fmt.Sprintf("%s-%d", model, i)
		capacity := map[string]any{"cpu": "64", "memory": "512Gi", "pods": "110"}
		if gpus > 0 {
			capacity[gpuResource] = fmt.Sprint(gpus)
		}
		out = append(out, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Node",
			"metadata": map[string]any{"name": name, "labels": map[string]any{"kubernetes.io/hostname": name, modelLabel: model}},
			"status":   map[string]any{"capacity": capacity, "allocatable": capacity},
		}})
	}
	return out
}
