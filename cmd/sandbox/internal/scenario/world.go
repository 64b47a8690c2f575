package scenario

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kueueclient "sigs.k8s.io/kueue/client-go/clientset/versioned"
)

// world is what a scenario looks at to tell whether a state is reached.
type world struct {
	workloads map[string]kueue.Workload // by the key of the Job that owns it
	jobs      map[string]batchv1.Job    // by key
	queues    map[string]kueue.ClusterQueue
	pods      map[string]int // number of pods by the key of their Job
	running   map[string]int // of these the running ones
}

// observe reads the world from the API server.
func observe(ctx context.Context, core kubernetes.Interface, kc kueueclient.Interface) (world, error) {
	workloads, err := kc.KueueV1beta2().Workloads(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return world{}, err
	}
	queues, err := kc.KueueV1beta2().ClusterQueues().List(ctx, metav1.ListOptions{})
	if err != nil {
		return world{}, err
	}
	jobs, err := core.BatchV1().Jobs(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return world{}, err
	}
	pods, err := core.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return world{}, err
	}
	w := world{
		workloads: map[string]kueue.Workload{}, jobs: map[string]batchv1.Job{}, queues: map[string]kueue.ClusterQueue{},
		pods: map[string]int{}, running: map[string]int{},
	}
	for _, wl := range workloads.Items {
		if owner := metav1.GetControllerOf(&wl); owner != nil {
			w.workloads[wl.Namespace+"/"+owner.Name] = wl
		}
	}
	for _, cq := range queues.Items {
		w.queues[cq.Name] = cq
	}
	for _, j := range jobs.Items {
		w.jobs[j.Namespace+"/"+j.Name] = j
	}
	for _, p := range pods.Items {
		owner := metav1.GetControllerOf(&p)
		if owner == nil {
			continue
		}
		w.pods[p.Namespace+"/"+owner.Name]++
		if p.Status.Phase == corev1.PodRunning {
			w.running[p.Namespace+"/"+owner.Name]++
		}
	}
	return w, nil
}
