//go:build sandbox

package proof

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// canary is the name of a queue that has nothing to do with any world, and of its
// namespace: a Job in it is admitted as soon as Kueue is at work.
const canary = "proof-canary"

func canaryObjects() []client.Object {
	return []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: canary}},
		&kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: canary}, Spec: kueue.ClusterQueueSpec{
			NamespaceSelector: &metav1.LabelSelector{},
			ResourceGroups: []kueue.ResourceGroup{{CoveredResources: []corev1.ResourceName{cpu}, Flavors: []kueue.FlavorQuotas{{
				Name: plain, Resources: []kueue.ResourceQuota{{Name: cpu, NominalQuota: quantity(1000)}},
			}}}},
		}},
		&kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: canary, Namespace: canary}, Spec: kueue.LocalQueueSpec{ClusterQueue: canary}},
	}
}

// alive blocks until Kueue has admitted a new Job: it has seen what happened before,
// and has taken the heads of all queues into a cycle of its scheduler since, which may
// still go on.
func (c *cluster) alive(ctx context.Context) error {
	req := corev1.ResourceList{cpu: quantity(1)}
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "canary-" + rand.String(8), Namespace: canary, Labels: map[string]string{queueLabel: canary}},
		Spec: batchv1.JobSpec{Suspend: new(true), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "c", Image: "registry.example.com/canary:1", Resources: corev1.ResourceRequirements{Requests: req}}},
		}}},
	}
	if err := c.admin.Create(ctx, j); err != nil {
		return err
	}
	defer func() {
		err := c.admin.Delete(context.WithoutCancel(ctx), j, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if err != nil {
			c.log("a canary is not removed: %v", err)
		}
	}()
	for end := time.Now().Add(settleWithin); time.Now().Before(end); {
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
		if err := c.admin.Get(ctx, client.ObjectKeyFromObject(j), j); err != nil {
			return fmt.Errorf("a canary: %w", err)
		}
		if !*j.Spec.Suspend {
			return nil
		}
	}
	return errors.New("Kueue admits nothing any more")
}
