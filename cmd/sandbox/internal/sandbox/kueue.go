package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/manifests"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/pki"
)

const (
	kueueLease    = "c1f6bfd2.kueue.x-k8s.io"
	kueueReadyFor = 2 * time.Minute
)

// Manager is what may be chosen of how Kueue's manager runs.
type Manager struct {
	FairSharing  bool
	FeatureGates map[string]bool
}

// configuration is what the manager is started with: Kueue's defaults but for addresses, the concurrency and client
// limits that its own manifests also set, the one framework the sandbox uses, and what was chosen. With the internal
// certificate management off the manager would insist on a certificate for its metrics below /etc. Fair sharing has the
// strategies that Kueue's own manifests name.
func (m Manager) configuration(p portSet, certDir string) string {
	var more strings.Builder
	if m.FairSharing {
		more.WriteString("fairSharing:\n  preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]\n")
	}
	if len(m.FeatureGates) > 0 {
		more.WriteString("featureGates:\n")
		for _, name := range slices.Sorted(maps.Keys(m.FeatureGates)) {
			fmt.Fprintf(&more, "  %q: %t\n", name, m.FeatureGates[name])
		}
	}
	return fmt.Sprintf(`apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: %s
health:
  healthProbeBindAddress: 127.0.0.1:%d
metrics:
  bindAddress: 127.0.0.1:%d
  enableClusterQueueResources: true
webhook:
  host: 127.0.0.1
  port: %d
  certDir: %q
visibilityServer:
  bindAddress: 127.0.0.1
  bindPort: %d
leaderElection:
  leaderElect: true
  resourceName: %s
  resourceNamespace: %s
controller:
  groupKindConcurrency:
    Job.batch: 5
    Workload.kueue.x-k8s.io: 10
    LocalQueue.kueue.x-k8s.io: 5
    Cohort.kueue.x-k8s.io: 1
    ClusterQueue.kueue.x-k8s.io: 5
    ResourceFlavor.kueue.x-k8s.io: 1
internalCertManagement:
  enable: true
  webhookServiceName: kueue-webhook-service
  webhookSecretName: kueue-webhook-server-cert
clientConnection:
  qps: 300
  burst: 500
integrations:
  frameworks:
  - batch/job
`, manifests.KueueNamespace, p.health, p.metrics, p.webhook, certDir, p.visibility, kueueLease, manifests.KueueNamespace) + more.String()
}

// kueueObjects reads Kueue's manifests as the build rendered them and fits them to this sandbox.
func kueueObjects(path string, p portSet, certs pki.WebhookCerts, config string) ([]*unstructured.Unstructured, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	objs, err := manifests.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return objs, manifests.Adapt(objs, manifests.Local{
		WebhookPort: p.webhookDoor, VisibilityPort: p.visibility, Config: config,
		CACert: certs.CA.CertPEM, CAKey: certs.CA.KeyPEM, Cert: certs.Leaf.CertPEM, Key: certs.Leaf.KeyPEM,
	})
}

// waitKueue blocks until Kueue does all of its work: it answers its own readiness probe, serves the visibility API,
// answers its webhooks and has taken or renewed the leader's lease since the moment. The probe alone would be early:
// a manager that only looks after certificates answers it up to some seconds before the real one.
func (s *Sandbox) waitKueue(ctx context.Context, since time.Time) error {
	err := cluster.Poll(ctx, kueueReadyFor, func(ctx context.Context) error {
		if err := cluster.Get(ctx, http.DefaultClient, s.kueueReadyz()); err != nil {
			return err
		}
		if err := s.client.Answers(ctx, "/apis/visibility.kueue.x-k8s.io/v1beta2"); err != nil {
			return err
		}
		if err := s.askWebhook(ctx); err != nil {
			return err
		}
		return s.leads(ctx, since)
	})
	if err != nil {
		return fmt.Errorf("kueue is not ready: %w (see %s)", err, s.folder.Log(kueue))
	}
	return nil
}

func (s *Sandbox) kueueReadyz() string {
	return fmt.Sprintf("http://127.0.0.1:%d/readyz", s.ports.health)
}

// askWebhook has a ClusterQueue admitted without making one.
func (s *Sandbox) askWebhook(ctx context.Context) error {
	gvr := schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "clusterqueues"}
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
		"metadata": map[string]any{"name": "sandbox-probe"},
	}}
	_, err := s.client.Dynamic.Resource(gvr).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

func (s *Sandbox) leads(ctx context.Context, since time.Time) error {
	lease, err := s.client.Typed.CoordinationV1().Leases(manifests.KueueNamespace).Get(ctx, kueueLease, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return errors.New("nobody holds the leader's lease yet")
	} else if err != nil {
		return err
	}
	holder, renewed := lease.Spec.HolderIdentity, lease.Spec.RenewTime
	if holder == nil || *holder == "" || renewed == nil || renewed.Time.Before(since) {
		return errors.New("the leader's lease is not renewed yet")
	}
	return nil
}
