//go:build sandbox

package proof

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// gauges reads the metrics of Kueue's manager.
type gauges struct {
	url, token string
	http       *http.Client
}

// pendingGauge counts, per ClusterQueue, what waits to be tried (status active) and
// what was tried and waits for a change (inadmissible). Kueue sets it whenever it
// takes the heads of the queues; a head that is being tried is active.
const pendingGauge = "kueue_pending_workloads"

// measure makes an account that may read the metrics.
func (c *cluster) measure(ctx context.Context) (*gauges, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "proof-metrics", Namespace: canary}}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: account.Name},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account.Name, Namespace: account.Namespace}},
	}
	for _, o := range []client.Object{account, role, binding} {
		if err := c.admin.Create(ctx, o); err != nil {
			return nil, err
		}
	}
	t := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(24 * 60 * 60))}}
	if err := c.admin.SubResource("token").Create(ctx, account, t); err != nil {
		return nil, err
	}
	return &gauges{
		url: "https://" + c.settings.Config.Metrics.BindAddress + "/metrics", token: t.Status.Token,
		// The manager signs this certificate itself.
		http: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}},
	}, nil
}

// untried returns how many Workloads of each ClusterQueue Kueue has yet to try.
func (g *gauges) untried(ctx context.Context) (map[string]int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+g.token)
	resp, err := g.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return nil, fmt.Errorf("Kueue's metrics: %s: %s", resp.Status, said)
	}
	return untried(resp.Body)
}

func untried(r io.Reader) (map[string]int, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	if families[pendingGauge] == nil {
		return nil, errors.New("Kueue's metrics have no " + pendingGauge)
	}
	for _, m := range families[pendingGauge].Metric {
		if label(m, "status") == "active" {
			out[label(m, "cluster_queue")] += int(m.GetGauge().GetValue())
		}
	}
	return out, nil
}

func label(m *dto.Metric, name string) string {
	i := slices.IndexFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName() == name })
	if i < 0 {
		return ""
	}
	return m.Label[i].GetValue()
}

// untried returns how many Workloads of each of the trial's queues Kueue has yet to try,
// in the order of the queues; -1 where it does not tell.
func (t *trial) untried(ctx context.Context) ([]int, error) {
	left, err := t.gauges.untried(ctx)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, q := range t.scene.queues {
		n, known := left[q.Name]
		if !known {
			n = -1
		}
		out = append(out, n)
	}
	return out, nil
}

// tried blocks until Kueue has had two cycles of its scheduler from begin to end, and
// reports whether it goes through what waits no more: each cycle takes the head of
// every queue, so that a queue in which as many are to be tried as before is empty, or
// has a head that Kueue tries without end, as it does in StrictFIFO queues and with
// what no longer fits after another head.
func (t *trial) tried(ctx context.Context) (bool, error) {
	before, err := t.untried(ctx)
	if err != nil {
		return false, err
	}
	for range 2 {
		if err := t.alive(ctx); err != nil {
			return false, err
		}
	}
	after, err := t.untried(ctx)
	return err == nil && !slices.Contains(after, -1) && slices.Equal(before, after), err
}
