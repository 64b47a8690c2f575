package sandbox

import (
	"context"
	"net/http"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/manifests"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/supervise"
)

const (
	probeEvery   = time.Second
	probeTimeout = time.Second
	// One slow answer on a loaded machine is no outage.
	failuresToUnready = 2
)

// followKueue writes the status of Kueue's Deployment, as kubelet and the Deployment controller would from a
// readiness probe, until the context ends. It blocks.
func (s *Sandbox) followKueue(ctx context.Context) {
	probe := &http.Client{Timeout: probeTimeout}
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	ready, failures := false, 0
	for {
		if s.probeKueue(ctx, probe) {
			ready, failures = true, 0
		} else if failures++; failures >= failuresToUnready || s.kueueState() != supervise.Running {
			ready = false
		}
		// An API server that does not answer is tried again at the next tick; there is nobody else to tell.
		_ = s.writeDeployment(ctx, ready)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Sandbox) probeKueue(ctx context.Context, hc *http.Client) bool {
	if s.kueueState() != supervise.Running {
		return false
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.kueueReadyz(), nil)
	if err != nil {
		return false
	}
	resp, err := hc.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close() // nothing was read from it
	return resp.StatusCode == http.StatusOK
}

func (s *Sandbox) kueueState() supervise.State {
	for _, c := range s.group.Status() {
		if c.Name == kueue {
			return c.State
		}
	}
	return supervise.Dead
}

func (s *Sandbox) writeDeployment(ctx context.Context, ready bool) error {
	api := s.client.Typed.AppsV1().Deployments(manifests.KueueNamespace)
	d, err := api.Get(ctx, manifests.KueueDeployment, metav1.GetOptions{})
	if err != nil {
		return err
	}
	want := deploymentStatus(d, ready, metav1.Now())
	if equality.Semantic.DeepEqual(d.Status, want) {
		return nil
	}
	d.Status = want
	_, err = api.UpdateStatus(ctx, d, metav1.UpdateOptions{})
	return err
}

// deploymentStatus is the status the Deployment controller would give a Deployment all of whose pods exist and are
// ready or exist and are not. A condition that does not change keeps its times.
func deploymentStatus(d *appsv1.Deployment, ready bool, now metav1.Time) appsv1.DeploymentStatus {
	replicas := int32(1)
	if d.Spec.Replicas != nil {
		replicas = *d.Spec.Replicas
	}
	st := appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: replicas, UpdatedReplicas: replicas}
	cond := appsv1.DeploymentCondition{
		Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, Reason: "MinimumReplicasUnavailable",
		Message: "Deployment does not have minimum availability.", LastUpdateTime: now, LastTransitionTime: now,
	}
	if ready {
		st.ReadyReplicas, st.AvailableReplicas = replicas, replicas
		cond.Status, cond.Reason, cond.Message = corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability."
	} else {
		st.UnavailableReplicas = replicas
	}
	for _, old := range d.Status.Conditions {
		if old.Type == cond.Type && old.Status == cond.Status {
			cond.LastUpdateTime, cond.LastTransitionTime = old.LastUpdateTime, old.LastTransitionTime
		}
	}
	st.Conditions = []appsv1.DeploymentCondition{cond}
	return st
}
