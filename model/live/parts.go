package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/world"
)

// storedFor is how long the stored version is believed: only an upgrade changes
// it, and the CustomResourceDefinition is large.
const storedFor = 10 * time.Minute

// parts is what came of trying the parts of Kueue that answer readers.
type parts struct {
	conversion, visibility verdict
	served                 []string
	stored                 string
}

// parts tries all of them and blocks for three times kube.Patience at most. served
// and used are what is known of the API's versions.
func (q *inquiry) parts(ctx context.Context, served []string, used string) parts {
	p := parts{served: served}
	found := q.find(ctx, used)
	var gone bool
	var wg sync.WaitGroup
	wg.Go(func() { p.conversion, gone = q.conversion(ctx, found, served, used) })
	wg.Go(func() { p.visibility = q.visibility(ctx, found) })
	wg.Go(func() {
		ask, cancel := context.WithTimeout(ctx, kube.Patience)
		defer cancel()
		if now, _, err := q.client.Served(ask); err == nil {
			p.served = now
		}
		q.readStored(ask)
	})
	wg.Wait()
	if q.found = found; gone {
		q.found = sample{} // another one next time
	}
	p.stored = q.stored
	return p
}

func (q *inquiry) readStored(ctx context.Context) {
	now := q.opts.Clock.Now()
	if q.stored != "" && now.Sub(q.storedAt) < storedFor {
		return
	}
	stored, err := q.client.Stored(ctx)
	q.refused.note(err, world.Unreadable{Resource: "customresourcedefinitions.apiextensions.k8s.io", Verb: "get"})
	if err == nil {
		q.stored, q.storedAt = stored, now
	}
}

// sample is an object to ask about.
type sample struct {
	kube.Object
	// ok is unset where there is none; err is then the first error that is not a
	// refusal.
	ok  bool
	err error
}

// convertible lists the resources with a conversion webhook that may be read
// (config/components/crd of Kueue), the best to ask about first.
func convertible() []string { return []string{"clusterqueues", "localqueues", "workloads", "cohorts"} }

// find looks for one ClusterQueue or, failing that, LocalQueue, and where there is
// neither for another object that is converted. What was found before is taken
// again without asking.
func (q *inquiry) find(ctx context.Context, version string) sample {
	if q.found.ok {
		return q.found
	}
	ctx, cancel := context.WithTimeout(ctx, kube.Patience)
	defer cancel()
	var out sample
	for _, resource := range convertible() {
		namespace := ""
		if resource == "localqueues" || resource == "workloads" {
			namespace = q.opts.Namespace
		}
		o, ok, err := q.client.Any(ctx, version, resource, namespace)
		if ok {
			return sample{Object: o, ok: true}
		}
		if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) && out.err == nil {
			out.err = err
		}
	}
	return out
}

// conversion reads one object in two versions: at least one of them is not the one
// in which it is stored, so that the API server has to have it converted. gone is
// set where the object does not exist any more.
func (q *inquiry) conversion(ctx context.Context, o sample, served []string, used string) (v verdict, gone bool) {
	i := slices.IndexFunc(served, func(v string) bool { return v != used })
	if i < 0 {
		return verdict{detail: fmt.Sprintf("not needed: %s is the only version that is served", used)}, false
	}
	switch {
	case kube.ConversionError(o.err):
		return verdict{world.NotReady, words(o.err)}, false
	case o.err != nil:
		return verdict{detail: words(o.err)}, false
	case !o.ok:
		return verdict{detail: "no object to convert: there is none, or none may be read"}, false
	}
	for _, version := range []string{used, served[i]} {
		ask, cancel := context.WithTimeout(ctx, kube.Patience)
		err := q.client.Read(ask, version, o.Object)
		cancel()
		switch {
		case err == nil:
			continue
		case apierrors.IsNotFound(err):
			return verdict{detail: fmt.Sprintf("%s %s, which was to be converted, is gone", o.Resource, o.Key)}, true
		case kube.ConversionError(err):
			return verdict{world.NotReady, words(err)}, false
		case version != used && errors.Is(err, context.DeadlineExceeded):
			return verdict{world.NotReady, fmt.Sprintf("%s %s was read as %s, but not within %s as %s", o.Resource, o.Key, used, kube.Patience, version)}, false
		}
		return verdict{detail: words(err)}, false
	}
	return verdict{world.Ready, fmt.Sprintf("%s %s was read as %s and as %s", o.Resource, o.Key, used, served[i])}, false
}

// visibility asks for the first pending Workload of the queue, and where none may
// be asked about for what the API server says of the API.
func (q *inquiry) visibility(ctx context.Context, o sample) verdict {
	ctx, cancel := context.WithTimeout(ctx, kube.Patience)
	defer cancel()
	why := "there is no queue to ask about, or none may be read"
	if o.Resource == "clusterqueues" || o.Resource == "localqueues" {
		_, err := q.client.Pending(ctx, o.Key, 1)
		q.refused.note(err, world.Unreadable{Resource: groupResource(o.Resource, kube.VisibilityGroup) + "/pendingworkloads", Verb: "get", Namespace: o.Namespace})
		if !apierrors.IsForbidden(err) {
			return visible(err, o.Key)
		}
		why = estimated(err, o.Key)
	}
	available, detail, err := q.client.APIAvailable(ctx)
	q.refused.note(err, world.Unreadable{Resource: "apiservices.apiregistration.k8s.io", Verb: "get"})
	switch {
	case err != nil:
		return verdict{detail: why + "; the APIService: " + words(err)}
	case !available:
		return verdict{world.NotReady, strings.TrimSuffix("the APIService is not available: "+detail, ": ")}
	}
	return verdict{world.Ready, "the APIService is available"}
}

// visible judges the answer about one queue.
func visible(err error, queue world.Key) verdict {
	switch {
	case err == nil:
		return verdict{world.Ready, "Kueue told the order of " + queue.String()}
	case apierrors.IsNotFound(err): // not of this queue, but Kueue answers
		return verdict{world.Ready, "Kueue answered, though not about " + queue.String()}
	case apierrors.IsTooManyRequests(err), !answered(err) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, kube.ErrNoVisibility):
		return verdict{detail: estimated(err, queue)}
	}
	return verdict{world.NotReady, estimated(err, queue)}
}

// answered reports whether the error is the server's.
func answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}
