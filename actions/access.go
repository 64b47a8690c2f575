package actions

import (
	"context"
	"fmt"
	"sync"

	authv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	authclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// access remembers what the server said about the person's rights. A review is
// a hint for the screen; the answer to the real request is the truth.
type access struct {
	mu   sync.Mutex
	said map[right]answer // whether it may be patched
}

// right is to patch an object of a resource, or all of a namespace.
type right struct {
	resource        schema.GroupResource
	namespace, name string
}

func newAccess() *access { return &access{} }

// reviewLimit bounds how many objects or namespaces of a resource are asked for by
// name.
const reviewLimit = 100

var (
	clusterQueues   = schema.GroupResource{Group: kube.Group, Resource: "clusterqueues"}
	allWorkloads    = schema.GroupResource{Group: kube.Group, Resource: "workloads"}
	resourceFlavors = schema.GroupResource{Group: kube.Group, Resource: "resourceflavors"}
	priorityClasses = schema.GroupResource{Group: kube.Group, Resource: "workloadpriorityclasses"}
)

// LoadAccess asks the server what the person may patch of the ClusterQueues,
// ResourceFlavors and WorkloadPriorityClasses, and of the Workloads and their jobs in
// each namespace: all at once, and one by one where that is refused, since a right may
// be given for some only. It blocks until all answers are there; what cannot be asked,
// and every other kind, stays allowed, so that the server decides.
func (d *Desk) LoadAccess(ctx context.Context) {
	c, err := authclient.NewForConfigAndClient(d.opts.Config, d.http)
	if err != nil {
		return
	}
	ask := func(r right) answer {
		a, err := c.SelfSubjectAccessReviews().Create(ctx, &authv1.SelfSubjectAccessReview{
			Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authv1.ResourceAttributes{
				Verb: "patch", Group: r.resource.Group, Resource: r.resource.Resource, Namespace: r.namespace, Name: r.name,
			}},
		}, metav1.CreateOptions{})
		switch {
		case err != nil:
			return unsaid
		case a.Status.Allowed:
			return yes
		}
		return no
	}
	told := map[right]answer{}
	asked := map[schema.GroupResource]answer{} // of all of a resource
	count := map[schema.GroupResource]int{}
	for _, r := range rightsFor(d.opts.World()) {
		all, known := asked[r.resource]
		if !known {
			all = ask(right{resource: r.resource})
			asked[r.resource] = all
		}
		said := all
		if count[r.resource]++; all == no {
			said = unsaid
			if count[r.resource] <= reviewLimit {
				said = ask(r)
			}
		}
		told[r] = said
	}
	d.access.mu.Lock()
	defer d.access.mu.Unlock()
	d.access.said = told
}

// answer is what the server says of a right.
type answer uint8

const (
	unsaid answer = iota // it could not be asked
	yes
	no
)

// rightsFor are the rights that the actions on what is in the snapshot need, each once.
func rightsFor(s *store.Snapshot) []right {
	var out []right
	for _, q := range s.ClusterQueues {
		out = append(out, right{clusterQueues, "", q.Name})
	}
	seen := map[right]bool{}
	for _, w := range s.Workloads {
		for _, r := range []right{{allWorkloads, w.Namespace, ""}, ownerRight(w)} {
			if r.resource.Resource != "" && !seen[r] {
				seen[r] = true
				out = append(out, r)
			}
		}
	}
	// Last, since what is asked for too late is only known when it is tried.
	for _, f := range s.Flavors {
		out = append(out, right{resourceFlavors, "", f.Name})
	}
	for _, p := range s.PriorityClasses {
		out = append(out, right{priorityClasses, "", p.Name})
	}
	return out
}

// ownerRight is the one that a change of the job's label needs; none where that is
// not done.
func ownerRight(w *world.Workload) right {
	if w.Owner == nil {
		return right{}
	}
	return right{ownerAPI(w.Owner).GroupResource(), w.Namespace, ""}
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
	switch a {
	case Deactivate, Reactivate, Reprioritize:
		return d.mayWorkload(ref, a)
	case ApplyFile:
		return true, "" // of which objects is in a file that nobody has read yet
	}
	info, err := infoOf(ref.Kind)
	switch {
	case err != nil:
		return false, err.Error()
	case a == Edit && !info.editable:
		return false, fmt.Sprintf("a %s is not edited here", ref.Kind)
	case a != Edit && !info.holdable && ref.Kind != world.KindCohort: // a cohort's queues are
		return false, fmt.Sprintf("a %s has no stopPolicy", ref.Kind)
	case d.access.denies(info.right(ref)):
		return false, fmt.Sprintf("your account may not patch %s %s; ask a platform admin", ref.Kind, ref.Name)
	}
	return true, ""
}

// right is the one that a change of the object itself needs.
func (i kindInfo) right(ref world.Ref) right {
	return right{schema.GroupResource{Group: kube.Group, Resource: i.resource}, ref.Namespace, ref.Name}
}

// Granted reports whether the server said that the person may patch the object. Where
// it did not, May's yes only means that nothing is known against it. It does not ask
// the server.
func (d *Desk) Granted(ref world.Ref) bool {
	info, err := infoOf(ref.Kind)
	if err != nil {
		return false
	}
	d.access.mu.Lock()
	defer d.access.mu.Unlock()
	return d.access.said[info.right(ref)] == yes
}

// mayWorkload is May for the actions on Workloads.
func (d *Desk) mayWorkload(ref world.Ref, a Action) (ok bool, why string) {
	w := d.opts.World().WorkloadByKey(ref.Key)
	switch {
	case ref.Kind != world.KindWorkload:
		return false, fmt.Sprintf("a %s is no Workload", ref.Kind)
	case w == nil || ref.UID != "" && w.UID != ref.UID:
		return false, ref.Key.String() + " does not exist any more"
	}
	if why := WorkloadRefusal(w, a); why != "" {
		return false, why
	}
	needs := right{allWorkloads, w.Namespace, ""}
	if a == Reprioritize {
		needs = ownerRight(w)
	}
	if d.access.denies(needs) {
		return false, fmt.Sprintf("your account may not patch %s in namespace %s; ask a platform admin", needs.resource, w.Namespace)
	}
	return true, ""
}

func (x *access) denies(r right) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.said[r] == no
}
