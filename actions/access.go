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
	denied map[world.Ref]string // why patch is denied, by object without its UID
}

func newAccess() *access { return &access{denied: map[world.Ref]string{}} }

// reviewLimit bounds how many objects of a kind are asked for by name.
const reviewLimit = 100

// LoadAccess asks the server which ClusterQueues the person may not patch: all at
// once, and one by one where that is refused, since a right may be given for some
// names only. It blocks until all answers are there; what cannot be asked, and
// every other kind, stays allowed, so that the server decides.
func (d *Desk) LoadAccess(ctx context.Context) {
	c, err := authclient.NewForConfigAndClient(d.opts.Config, d.http)
	if err != nil {
		return
	}
	may := func(name string) (allowed, known bool) {
		r, err := c.SelfSubjectAccessReviews().Create(ctx, &authv1.SelfSubjectAccessReview{
			Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authv1.ResourceAttributes{Verb: "patch", Group: kube.Group, Resource: "clusterqueues", Name: name}},
		}, metav1.CreateOptions{})
		return err == nil && r.Status.Allowed, err == nil
	}
	denied := map[world.Ref]string{}
	if allowed, known := may(""); known && !allowed {
		for i, q := range d.opts.World().ClusterQueues {
			if i == reviewLimit {
				break
			}
			if allowed, known := may(q.Name); known && !allowed {
				denied[world.Ref{Kind: world.KindClusterQueue, Key: q.Key}] = fmt.Sprintf("your account may not patch ClusterQueue %s; ask a platform admin", q.Name)
			}
		}
	}
	d.access.mu.Lock()
	defer d.access.mu.Unlock()
	d.access.denied = denied
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
	case a != Edit && !info.holdable && ref.Kind != world.KindCohort: // a cohort's queues are
		return false, fmt.Sprintf("a %s has no stopPolicy", ref.Kind)
	}
	d.access.mu.Lock()
	defer d.access.mu.Unlock()
	if why := d.access.denied[world.Ref{Kind: ref.Kind, Key: ref.Key}]; why != "" {
		return false, why
	}
	return true, ""
}
