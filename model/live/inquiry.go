package live

import (
	"context"
	"strings"
	"sync"
	"time"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/world"
)

// inquiry asks a cluster about the parts of Kueue. facts and parts may run at the
// same time as each other, but neither twice.
type inquiry struct {
	client  *kube.Client
	opts    Options
	refused *refusals

	// Of facts: the manager is asked for its version once.
	built    bool
	build    string
	buildErr error

	// Of parts: what was found last.
	found    sample
	stored   string
	storedAt time.Time
}

// Names of Kueue's objects in its own manifests, for a manager of that name: a
// chart that renames one renames them all.
func (q *inquiry) prefix() string {
	return strings.TrimSuffix(q.opts.ManagerName, "-controller-manager")
}
func (q *inquiry) configuration() string { return q.prefix() + "-validating-webhook-configuration" }
func (q *inquiry) metrics() string       { return q.opts.ManagerName + "-metrics-service" }

// facts are answers to small questions; each error stands for its own.
type facts struct {
	user         string
	userErr      error
	manager      kube.Manager
	managerErr   error
	build        string
	buildErr     error
	lease        kube.Lease
	leaseErr     error
	webhooks     kube.Webhooks
	webhooksErr  error
	service      string // whose endpoints were read; empty: there is none
	endpoints    kube.Endpoints
	endpointsErr error
}

// facts asks all of them at once and blocks for kube.Patience at most.
func (q *inquiry) facts(ctx context.Context) facts {
	ctx, cancel := context.WithTimeout(ctx, kube.Patience)
	defer cancel()
	var f facts
	var wg sync.WaitGroup
	ns, now := q.opts.ManagerNamespace, q.opts.Clock.Now()
	wg.Go(func() { f.user, f.userErr = q.client.Whoami(ctx) })
	wg.Go(func() {
		f.manager, f.managerErr = q.client.Manager(ctx, ns, q.opts.ManagerName)
		q.refused.note(f.managerErr, world.Unreadable{Resource: "deployments.apps", Verb: "get", Namespace: ns})
		if f.manager.Version == "" && !q.built {
			q.build, q.buildErr = q.client.BuildInfo(ctx, ns, q.metrics())
			q.built = ctx.Err() == nil
		}
		f.build, f.buildErr = q.build, q.buildErr
	})
	wg.Go(func() {
		f.lease, f.leaseErr = q.client.Lease(ctx, ns, now)
		q.refused.note(f.leaseErr, world.Unreadable{Resource: "leases.coordination.k8s.io", Verb: "get", Namespace: ns})
	})
	wg.Go(func() {
		f.webhooks, f.webhooksErr = q.client.Webhooks(ctx, q.configuration(), now)
		q.refused.note(f.webhooksErr, world.Unreadable{Resource: "validatingwebhookconfigurations.admissionregistration.k8s.io", Verb: "get"})
		at := ns
		f.service = q.prefix() + "-webhook-service"
		if f.webhooksErr == nil {
			at, f.service = f.webhooks.Namespace, f.webhooks.Service
		}
		if f.service == "" {
			return
		}
		f.endpoints, f.endpointsErr = q.client.Endpoints(ctx, at, f.service)
		q.refused.note(f.endpointsErr, world.Unreadable{Resource: "endpointslices.discovery.k8s.io", Verb: "list", Namespace: at})
	})
	wg.Wait()
	return f
}
