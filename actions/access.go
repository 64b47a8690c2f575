package actions

import (
	"context"
	"fmt"
	"sync"

	authv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/world"
)

// access remembers what the server said about the person's rights. A review is
// a hint for the screen; the answer to the real request is the truth.
type access struct {
	mu     sync.Mutex
	denied map[world.Kind]string // why patch is denied, by kind
}

func newAccess() *access { return &access{denied: map[world.Kind]string{}} }

// LoadAccess asks the server once for each kind whether the person may patch it
// anywhere. It blocks until all answers are there; what cannot be asked stays
// allowed, so that the server decides.
func (d *Desk) LoadAccess(ctx context.Context) {
	c, err := authclient.NewForConfigAndClient(d.opts.Config, d.http)
	if err != nil {
		return
	}
	for _, k := range []world.Kind{world.KindClusterQueue, world.KindLocalQueue, world.KindCohort, world.KindResourceFlavor, world.KindWorkloadPriorityClass} {
		info, err := infoOf(k)
		if err != nil || info.namespaced {
			continue // a right in one namespace is enough; asked when it is used
		}
		r, err := c.SelfSubjectAccessReviews().Create(ctx, &authv1.SelfSubjectAccessReview{
			Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authv1.ResourceAttributes{Verb: "patch", Group: kube.Group, Resource: info.resource}},
		}, metav1.CreateOptions{})
		if err != nil {
			continue
		}
		d.access.mu.Lock()
		delete(d.access.denied, k)
		if !r.Status.Allowed {
			d.access.denied[k] = fmt.Sprintf("your account may not patch %s.%s; ask a platform admin", info.resource, kube.Group)
		}
		d.access.mu.Unlock()
	}
}

// May reports whether the action on the object has a chance, and why not. It
// does not ask the server.
func (d *Desk) May(ref world.Ref, a Action) (ok bool, why string) {
	if a == Export {
		return true, ""
	}
	if d.opts.ReadOnly {
		return false, "started with --read-only"
	}
	info, err := infoOf(ref.Kind)
	switch {
	case err != nil:
		return false, err.Error()
	case a == Edit && !info.editable:
		return false, fmt.Sprintf("a %s is not edited here", ref.Kind)
	case a != Edit && !info.holdable:
		return false, fmt.Sprintf("a %s has no stopPolicy", ref.Kind)
	}
	d.access.mu.Lock()
	defer d.access.mu.Unlock()
	if why := d.access.denied[ref.Kind]; why != "" {
		return false, why
	}
	return true, ""
}
