package live

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/world"
)

func forbidden(resource string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "x", errors.New("no"))
}

func TestController(t *testing.T) {
	renewed := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	up, down := kube.Manager{Available: true, Detail: "fine"}, kube.Manager{Detail: "0 of 1 replicas"}
	lease := func(age time.Duration) kube.Lease {
		return kube.Lease{Name: "l.kueue.x-k8s.io", Renewed: renewed, Age: age}
	}
	no := func(r string) string { return r + ` "x" is forbidden: no` }
	const fine, renewing = "the Deployment is available", "the lease l.kueue.x-k8s.io was renewed less than 30s ago"
	tests := map[string]struct {
		f    facts
		want verdict
	}{
		"both":                   {facts{manager: up, lease: lease(3 * time.Second)}, verdict{world.Ready, fine + "; " + renewing}},
		"the clocks differ":      {facts{manager: up, lease: lease(-2 * time.Second)}, verdict{world.Ready, fine + "; " + renewing}},
		"just fresh":             {facts{manager: up, lease: lease(leaseFresh - 1)}, verdict{world.Ready, fine + "; " + renewing}},
		"nobody leads":           {facts{manager: up, lease: lease(leaseFresh)}, verdict{world.NotReady, fine + "; the lease l.kueue.x-k8s.io was renewed last at 2026-12-02T12:00:00Z: no manager leads"}},
		"given back":             {facts{manager: up, lease: kube.Lease{Name: "l.kueue.x-k8s.io"}}, verdict{world.NotReady, fine + "; nobody holds the lease l.kueue.x-k8s.io: no manager leads"}},
		"down":                   {facts{manager: down, lease: lease(0)}, verdict{world.NotReady, "the Deployment is not available: 0 of 1 replicas; " + renewing}},
		"down without words":     {facts{lease: lease(0)}, verdict{world.NotReady, "the Deployment is not available; " + renewing}},
		"only the Deployment":    {facts{manager: up, leaseErr: forbidden("leases")}, verdict{world.Ready, fine + "; its lease: " + no("leases")}},
		"only the lease":         {facts{managerErr: forbidden("deployments"), lease: lease(0)}, verdict{world.Ready, "its Deployment: " + no("deployments") + "; " + renewing}},
		"only a stale lease":     {facts{managerErr: forbidden("deployments"), lease: kube.Lease{Name: "l"}}, verdict{world.NotReady, "its Deployment: " + no("deployments") + "; nobody holds the lease l: no manager leads"}},
		"no election":            {facts{manager: up, leaseErr: kube.ErrNoLease}, verdict{world.Ready, fine + "; its lease: " + kube.ErrNoLease.Error()}},
		"neither may be read":    {facts{managerErr: forbidden("deployments"), leaseErr: forbidden("leases")}, verdict{world.Unknown, "its Deployment: " + no("deployments") + "; its lease: " + no("leases")}},
		"looked for in vain":     {facts{managerErr: apierrors.NewNotFound(schema.GroupResource{Resource: "deployments"}, "km"), leaseErr: forbidden("leases")}, verdict{world.Unknown, `Kueue's manager is not where it is looked for (--kueue-namespace, --kueue-deployment): deployments "km" not found; its lease: ` + no("leases")}},
		"hostile words are safe": {facts{managerErr: errors.New("\x1b[2J"), leaseErr: errors.New("\u202e")}, verdict{world.Unknown, `its Deployment: \x1b[2J; its lease: \u202e`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var c world.Contract
			tc.f.setController(&c)
			if got := (verdict{c.Controller, c.ControllerDetail}); got != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestKueueVersion(t *testing.T) {
	known := world.Contract{KueueVersion: "v0.19.2", KueueVersionSource: world.VersionFromImage}
	tests := map[string]struct {
		before world.Contract
		f      facts
		want   world.Contract
	}{
		"image": {world.Contract{}, facts{manager: kube.Manager{Version: "v0.19.2"}, build: "v9"}, known},
		"metrics": {
			world.Contract{KueueVersionDetail: "was unknown"}, facts{managerErr: forbidden("deployments"), build: "v0.18.3"},
			world.Contract{KueueVersion: "v0.18.3", KueueVersionSource: world.VersionFromMetrics},
		},
		"no tag, no metrics": {
			world.Contract{}, facts{buildErr: forbidden("services")},
			world.Contract{KueueVersionDetail: `the image of the manager's Deployment has no tag; its metrics: services "x" is forbidden: no`},
		},
		"nothing": {
			world.Contract{}, facts{managerErr: forbidden("deployments"), buildErr: errors.New("gone")},
			world.Contract{KueueVersionDetail: `deployments "x" is forbidden: no; its metrics: gone`},
		},
		"known before": {known, facts{managerErr: forbidden("deployments")}, known},
		"upgraded":     {known, facts{manager: kube.Manager{Version: "v0.20.0"}}, world.Contract{KueueVersion: "v0.20.0", KueueVersionSource: world.VersionFromImage}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tc.before
			tc.f.setVersion(&got)
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("contract (-want +got):\n%s", d)
			}
		})
	}
}

func TestValidatingWebhook(t *testing.T) {
	until := time.Date(2027, 12, 2, 0, 0, 0, 0, time.UTC)
	const hook, untried = "kueue-webhook-service", "not tried, since only a dry-run of a write could tell; "
	good := kube.Webhooks{Namespace: "ks", Service: hook, ValidUntil: until}
	bad := kube.Webhooks{Namespace: "ks", Service: hook, ValidUntil: until, Problem: "the CA ran out"}
	type seen struct {
		State      world.Readiness
		Detail     string
		Until      time.Time
		UntilWords string
	}
	tests := map[string]struct {
		f    facts
		want seen
	}{
		"endpoints":                {facts{webhooks: good, service: hook, endpoints: kube.Endpoints{Slices: 1, Ready: 2}}, seen{world.Unknown, untried + "endpoints of Service kueue-webhook-service are ready", until, ""}},
		"no ready endpoint":        {facts{webhooks: good, service: hook, endpoints: kube.Endpoints{Slices: 1}}, seen{world.NotReady, "Service kueue-webhook-service has no ready endpoint", until, ""}},
		"a Service that leads out": {facts{webhooks: good, service: hook}, seen{world.Unknown, untried + "Service kueue-webhook-service has no EndpointSlice", until, ""}},
		"a bad CA":                 {facts{webhooks: bad, service: hook, endpoints: kube.Endpoints{Slices: 1, Ready: 2}}, seen{world.NotReady, "the CA ran out", until, "the CA ran out"}},
		"a URL":                    {facts{webhooks: kube.Webhooks{ValidUntil: until}}, seen{world.Unknown, untried + "it is asked at a URL", until, ""}},
		"only endpoints":           {facts{webhooksErr: forbidden("hooks"), service: hook, endpoints: kube.Endpoints{Slices: 1}}, seen{world.NotReady, "Service kueue-webhook-service has no ready endpoint", time.Time{}, `hooks "x" is forbidden: no`}},
		"nothing may be read":      {facts{webhooksErr: forbidden("hooks"), service: hook, endpointsErr: forbidden("slices")}, seen{world.Unknown, untried + `the endpoints of Service kueue-webhook-service: slices "x" is forbidden: no`, time.Time{}, `hooks "x" is forbidden: no`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var c world.Contract
			tc.f.setWebhook(&c)
			if d := cmp.Diff(tc.want, seen{c.ValidatingWebhook, c.ValidatingWebhookDetail, c.WebhookCAValidUntil, c.WebhookCADetail}); d != "" {
				t.Errorf("webhook (-want +got):\n%s", d)
			}
		})
	}
}

// What a write or dry-run of this program showed of the webhook stands for a while, and
// says no more than what is seen to be broken.
func TestWebhookTried(t *testing.T) {
	noon := time.Date(2026, 12, 3, 12, 0, 0, 0, time.UTC)
	down := func(name string) error {
		return apierrors.NewInternalError(fmt.Errorf("failed calling webhook %q: connection refused", name))
	}
	unknown, broken := verdict{world.Unknown, "not tried"}, verdict{world.NotReady, "the CA ran out"}
	ready := verdict{world.Ready, "it let a write or dry-run of this program through at 2026-12-03T12:00:00Z"}
	tests := map[string]struct {
		untried verdict
		errs    []error
		later   time.Duration
		want    verdict
	}{
		"nothing was tried":             {unknown, nil, 0, unknown},
		"a dry-run went through":        {unknown, []error{nil}, time.Minute, ready},
		"long ago":                      {unknown, []error{nil}, time.Hour, unknown},
		"what is broken is broken":      {broken, []error{nil}, 0, broken},
		"it could not be asked":         {unknown, []error{down("vclusterqueue.kb.io")}, 0, verdict{world.NotReady, `at 2026-12-03T12:00:00Z the server said: Internal error occurred: failed calling webhook "vclusterqueue.kb.io": connection refused`}},
		"it could be asked again":       {unknown, []error{down("mclusterqueue.kb.io"), nil}, 0, ready},
		"another's webhook":             {unknown, []error{down("vclusterqueue.example.com")}, 0, unknown},
		"a conflict tells nothing":      {unknown, []error{errors.New("conflict")}, 0, unknown},
		"a conflict after it went well": {unknown, []error{nil, errors.New("conflict")}, 0, ready},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakeClock(noon)
			w := New(Options{Clock: clock, Log: func(string) {}})
			w.update(func(c *world.Contract) {
				c.Asked, w.untried = true, tc.untried
				c.ValidatingWebhook, c.ValidatingWebhookDetail = tc.untried.state, tc.untried.detail
			})
			for _, err := range tc.errs {
				w.WebhookTried(noon, err)
			}
			clock.Step(tc.later)
			c := world.Contract{ValidatingWebhook: tc.untried.state, ValidatingWebhookDetail: tc.untried.detail}
			if tc.later > 0 { // as the loop does it
				w.trial.tell(&c, clock.Now())
			} else {
				c = w.contract
			}
			if got := (verdict{c.ValidatingWebhook, c.ValidatingWebhookDetail}); got != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}
