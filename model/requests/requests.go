// Package requests says what Kueue counts for a pod set: containers, init
// containers and overhead as in the pod template, the defaults of the
// namespace's LimitRanges, the overhead of the RuntimeClass, and limits where no
// requests stand. Kueue's own AdjustResources does it.
package requests

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Count is what a pod set asks for.
type Count struct {
	// PerPod is what one pod takes, in Kueue's units, sorted by resource.
	PerPod []world.Request
	// Pods is the number of pods that are asked for now: those that finished and
	// were reclaimed are taken off.
	Pods int32
	// Unknown says what could not be read and may change the numbers; empty when
	// they are what Kueue counts. The manager's resource transformations and
	// excluded prefixes are seen only in what Kueue itself published.
	Unknown string
	// Less is set when what is Unknown may also lower the numbers: a default request
	// takes the place of a limit that would count as the request.
	Less bool
}

// Of returns the amount of the resource that one pod takes. Where a queue covers
// "pods", each counts one.
func (c Count) Of(resource string) world.Amount {
	if resource == string(corev1.ResourcePods) {
		return 1
	}
	for _, r := range c.PerPod {
		if r.Resource == resource {
			return r.Amount
		}
	}
	return 0
}

// Names reports whether the pods name the resource, be it with 0: Kueue then looks
// for a flavor that has it. Where a queue covers "pods", each pod does.
func (c Count) Names(resource string) bool {
	return resource == string(corev1.ResourcePods) || slices.ContainsFunc(c.PerPod, func(r world.Request) bool { return r.Resource == resource })
}

// Counter counts for one snapshot and remembers what it counted: most Workloads
// look like another one. It is for one goroutine.
type Counter struct {
	s     *store.Snapshot
	known map[question]answer
}

type question struct{ namespace, shape string }

type answer struct {
	perPod  []world.Request
	unknown string
	less    bool
}

// New returns a Counter for the snapshot.
func New(s *store.Snapshot) *Counter { return &Counter{s: s, known: map[question]answer{}} }

// Of returns what the pod set of a Workload in the namespace asks for. Kueue's
// own number is taken where it published one (status.resourceRequests).
func (c *Counter) Of(namespace string, ps *world.PodSet) Count {
	pods := max(0, ps.Count-ps.Reclaimable)
	if ps.Exact || ps.Shape == "" {
		return Count{PerPod: divide(ps.Requests, pods), Pods: pods}
	}
	q := question{namespace, ps.Shape}
	a, ok := c.known[q]
	if !ok {
		a = c.count(q)
		c.known[q] = a
	}
	return Count{PerPod: a.perPod, Pods: pods, Unknown: a.unknown, Less: a.less}
}

// divide returns the part of one pod. Kueue multiplies what one pod takes, so
// nothing is lost.
func divide(all []world.Request, pods int32) []world.Request {
	if pods <= 1 {
		return all
	}
	one := slices.Clone(all)
	for i := range one {
		if one[i].Amount != world.Unlimited {
			one[i].Amount /= world.Amount(pods)
		}
	}
	return one
}

func (c *Counter) count(q question) answer {
	spec, err := project.PodSpec(q.shape)
	if err != nil {
		return answer{unknown: err.Error()}
	}
	var a answer
	a.unknown = c.unknown(q.namespace, &spec)
	a.less = !c.s.Fresh(world.KindLimitRange).Usable() && limitsCount(&spec)
	wl := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: q.namespace}, Spec: kueue.WorkloadSpec{PodSets: []kueue.PodSet{{Template: corev1.PodTemplateSpec{Spec: spec}}}}}
	workload.AdjustResources(ctrl.LoggerInto(context.Background(), logr.Discard()), reader{s: c.s}, wl)
	a.perPod = project.PerPod(wl.Spec.PodSets[0].Template.Spec)
	return a
}

// unknown says what of the things that Kueue would look at cannot be seen.
func (c *Counter) unknown(namespace string, spec *corev1.PodSpec) string {
	if !c.s.Fresh(world.KindLimitRange).Usable() {
		return "the LimitRanges of namespace " + namespace + " cannot be read: their defaults may add to its requests"
	}
	if name := spec.RuntimeClassName; name != nil && len(spec.Overhead) == 0 {
		if !c.s.Fresh(world.KindRuntimeClass).Usable() {
			return fmt.Sprintf("RuntimeClass %s cannot be read: its overhead may add to its requests", *name)
		}
		if c.s.RuntimeClass(*name) == nil {
			return fmt.Sprintf("RuntimeClass %s does not exist", *name)
		}
	}
	return ""
}

// limitsCount reports whether a limit is counted for want of a request.
func limitsCount(spec *corev1.PodSpec) bool {
	counts := func(r *corev1.ResourceRequirements) bool {
		for name := range r.Limits {
			if _, ok := r.Requests[name]; !ok {
				return true
			}
		}
		return false
	}
	of := func(c corev1.Container) bool { return counts(&c.Resources) }
	return slices.ContainsFunc(spec.InitContainers, of) || slices.ContainsFunc(spec.Containers, of) || spec.Resources != nil && counts(spec.Resources)
}

// reader answers what AdjustResources asks of a client, out of the snapshot. All
// that it does not ask panics.
type reader struct {
	client.Client
	s *store.Snapshot
}

// Get implements client.Reader for RuntimeClasses.
func (r reader) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	out, ok := obj.(*nodev1.RuntimeClass)
	if !ok {
		return fmt.Errorf("a %T is not asked for when requests are counted", obj)
	}
	class := r.s.RuntimeClass(key.Name)
	if class == nil {
		return fmt.Errorf("RuntimeClass %s is not known", key.Name)
	}
	if class.Overhead != nil {
		out.Overhead = &nodev1.Overhead{PodFixed: class.Overhead}
	}
	return nil
}

// List implements client.Reader for the LimitRanges of a namespace.
func (r reader) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	out, ok := list.(*corev1.LimitRangeList)
	if !ok {
		return fmt.Errorf("a %T is not asked for when requests are counted", list)
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	for _, l := range r.s.LimitRangesIn(o.Namespace) {
		out.Items = append(out.Items, corev1.LimitRange{Spec: corev1.LimitRangeSpec{Limits: l.Limits}})
	}
	return nil
}
