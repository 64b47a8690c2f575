package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// verdict is what is known of one part of Kueue, and from what.
type verdict struct {
	state  world.Readiness
	detail string
}

// leaseFresh is how old the leader's lease may be: twice its duration by default.
const leaseFresh = 30 * time.Second

// setVersion takes the image's tag, or what the manager itself says. A version
// that was known once stays known while nothing else can be read.
func (f *facts) setVersion(c *world.Contract) {
	switch {
	case f.managerErr == nil && f.manager.Version != "":
		c.KueueVersion, c.KueueVersionSource, c.KueueVersionDetail = f.manager.Version, world.VersionFromImage, ""
	case f.build != "":
		c.KueueVersion, c.KueueVersionSource, c.KueueVersionDetail = f.build, world.VersionFromMetrics, ""
	case c.KueueVersion == "":
		c.KueueVersionDetail = "the image of the manager's Deployment has no tag"
		if f.managerErr != nil {
			c.KueueVersionDetail = words(f.managerErr)
		}
		if f.buildErr != nil {
			c.KueueVersionDetail += "; its metrics: " + words(f.buildErr)
		}
	}
}

// setController joins what the Deployment and the lease say. Each alone is enough
// to speak; both must be well where both can be read.
func (f *facts) setController(c *world.Contract) {
	deployment := verdict{world.Ready, "the Deployment is available"}
	switch {
	case apierrors.IsNotFound(f.managerErr):
		deployment = verdict{world.Unknown, "Kueue's manager is not where it is looked for (--kueue-namespace, --kueue-deployment): " + words(f.managerErr)}
	case f.managerErr != nil:
		deployment = verdict{world.Unknown, "its Deployment: " + words(f.managerErr)}
	case !f.manager.Available:
		deployment = verdict{world.NotReady, strings.TrimSuffix("the Deployment is not available: "+f.manager.Detail, ": ")}
	}
	lease := verdict{world.Ready, fmt.Sprintf("the lease %s was renewed less than %s ago", f.lease.Name, leaseFresh)}
	switch {
	case f.leaseErr != nil:
		lease = verdict{world.Unknown, "its lease: " + words(f.leaseErr)}
	case f.lease.Renewed.IsZero():
		lease = verdict{world.NotReady, fmt.Sprintf("nobody holds the lease %s: no manager leads", f.lease.Name)}
	case f.lease.Age >= leaseFresh:
		lease = verdict{world.NotReady, fmt.Sprintf("the lease %s was renewed last at %s: no manager leads", f.lease.Name, f.lease.Renewed.UTC().Format(time.RFC3339))}
	}
	v := verdict{detail: deployment.detail + "; " + lease.detail}
	switch {
	case deployment.state == world.NotReady || lease.state == world.NotReady:
		v.state = world.NotReady
	case deployment.state == world.Ready || lease.state == world.Ready:
		v.state = world.Ready
	}
	c.Controller, c.ControllerDetail = v.state, v.detail
}

// setWebhook says what can be seen of the validating webhook without a write: that
// it cannot work, or nothing certain.
func (f *facts) setWebhook(c *world.Contract) {
	c.WebhookCAValidUntil, c.WebhookCADetail = f.webhooks.ValidUntil, f.webhooks.Problem
	if f.webhooksErr != nil {
		c.WebhookCADetail = words(f.webhooksErr)
	}
	var seen string
	switch e := f.endpoints; {
	case f.webhooks.Problem != "":
		c.ValidatingWebhook, c.ValidatingWebhookDetail = world.NotReady, f.webhooks.Problem
		return
	case f.service == "":
		seen = "it is asked at a URL"
	case f.endpointsErr != nil:
		seen = fmt.Sprintf("the endpoints of Service %s: %s", f.service, words(f.endpointsErr))
	case e.Slices == 0:
		seen = fmt.Sprintf("Service %s has no EndpointSlice", f.service)
	case e.Ready == 0:
		c.ValidatingWebhook, c.ValidatingWebhookDetail = world.NotReady, fmt.Sprintf("Service %s has no ready endpoint", f.service)
		return
	default:
		seen = fmt.Sprintf("endpoints of Service %s are ready", f.service)
	}
	c.ValidatingWebhook, c.ValidatingWebhookDetail = world.Unknown, "not tried, since only a dry-run of a write could tell; "+seen
}

// triedFresh is how long it stands what a write or dry-run of this program showed of
// Kueue's validating webhook.
const triedFresh = 10 * time.Minute

// trial is what a write or dry-run of this program showed of Kueue's validating webhook.
type trial struct {
	at   time.Time
	fail string // empty: it answered
}

// tell adds the trial to what can be seen without one, while it is fresh.
func (t trial) tell(c *world.Contract, now time.Time) {
	if t.at.IsZero() || now.Sub(t.at) > triedFresh || c.ValidatingWebhook != world.Unknown {
		return
	}
	at := t.at.UTC().Format(time.RFC3339)
	if t.fail == "" {
		c.ValidatingWebhook, c.ValidatingWebhookDetail = world.Ready, "it let a write or dry-run of this program through at "+at
		return
	}
	c.ValidatingWebhook, c.ValidatingWebhookDetail = world.NotReady, "at "+at+" the server said: "+t.fail
}

// WebhookTried takes note of how a write or dry-run ended that Kueue's validating webhook
// was to be asked about: that it answered, or that the server could not reach it. Of
// other errors nothing follows. Safe to call from any
// goroutine; it does not block.
func (w *Watcher) WebhookTried(at time.Time, err error) {
	t := trial{at: at}
	switch {
	case err == nil:
	case unreached(err):
		t.fail = words(err)
	default:
		return
	}
	w.update(func(c *world.Contract) {
		w.trial = t
		if c.Asked {
			c.ValidatingWebhook, c.ValidatingWebhookDetail = w.untried.state, w.untried.detail
			t.tell(c, w.opts.Clock.Now())
		}
	})
}

// unreached reports whether the server says that it could not ask one of Kueue's own
// webhooks: "v" validates and "m" sets defaults.
func unreached(err error) bool {
	name, ok := kube.WebhookError(err)
	if !ok || len(name) < 2 || name[0] != 'v' && name[0] != 'm' {
		return false
	}
	return slices.Contains([]string{"clusterqueue.kb.io", "cohort.kb.io", "resourceflavor.kb.io", "workload.kb.io"}, name[1:])
}

// words are an error's words, safe to draw.
func words(err error) string { return text.Clean(err.Error()) }
