package kube

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"cli.holdfast.dev/holdfast/model/text"
)

// Manager is what the Deployment of Kueue's manager says.
type Manager struct {
	// Version is the image tag ("v0.19.2"); empty when the image has none.
	Version string
	// Available is the Deployment's Available condition.
	Available bool
	Detail    string
}

// Manager reads the manager's Deployment in the namespace where Kueue runs.
func (c *Client) Manager(ctx context.Context, namespace, name string) (Manager, error) {
	d, err := c.set.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return Manager{}, err
	}
	var m Manager
	if k := managerOf(d); k != nil {
		m.Version = text.Clean(tag(k.Image))
	}
	for _, cond := range d.Status.Conditions {
		if cond.Type == "Available" {
			m.Available = cond.Status == "True"
			m.Detail = text.Clean(cond.Message)
		}
	}
	return m, nil
}

// tag returns the tag of an image reference without its digest.
func tag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		return image[i+1:]
	}
	return ""
}

// leaseName is that of the lease by which Kueue's managers choose their leader,
// unless their configuration has another one; leaseSuffix is what such names end
// with.
const (
	leaseName   = "c1f6bfd2.kueue.x-k8s.io"
	leaseSuffix = ".kueue.x-k8s.io"
)

// Lease is the leader's lease of Kueue's managers.
type Lease struct {
	Name string
	// Renewed is when its holder last renewed it, by its own clock; zero: nobody
	// holds it.
	Renewed time.Time
	// Acquired is when its holder took it, by its own clock; zero where not told.
	Acquired time.Time
	// Age is how long ago that was when the server answered, by the server's clock
	// where it tells the time: this machine's may be wrong.
	Age time.Duration
}

// ErrNoLease is returned where no lease of Kueue's managers exists.
var ErrNoLease = errors.New("there is no lease with a name that ends in " + leaseSuffix)

// Lease reads the lease in the namespace where Kueue runs. now is this machine's
// time, which counts where the server does not tell its own.
func (c *Client) Lease(ctx context.Context, namespace string, now time.Time) (Lease, error) {
	ctx, date := withDate(ctx)
	l, err := c.set.CoordinationV1().Leases(namespace).Get(ctx, leaseName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		// It may have another name, and some may list and not get.
		if found, listErr := c.anyLease(ctx, namespace); listErr == nil {
			l, err = found, nil
		} else if errors.Is(listErr, ErrNoLease) {
			err = listErr
		}
	}
	if err != nil {
		return Lease{}, err
	}
	out := Lease{Name: text.Clean(l.Name)}
	if l.Spec.RenewTime == nil || l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" {
		return out, nil
	}
	if !date.IsZero() {
		now = *date
	}
	out.Renewed = l.Spec.RenewTime.Time
	if l.Spec.AcquireTime != nil {
		out.Acquired = l.Spec.AcquireTime.Time
	}
	out.Age = now.Sub(out.Renewed)
	return out, nil
}

// anyLease returns the lease that was renewed last of those that may be Kueue's.
func (c *Client) anyLease(ctx context.Context, namespace string) (*coordinationv1.Lease, error) {
	all, err := c.set.CoordinationV1().Leases(namespace).List(ctx, metav1.ListOptions{Limit: pageSize})
	if err != nil {
		return nil, err
	}
	var last *coordinationv1.Lease
	for i := range all.Items {
		l := &all.Items[i]
		if !strings.HasSuffix(l.Name, leaseSuffix) || l.Spec.RenewTime == nil {
			continue
		}
		if last == nil || l.Spec.RenewTime.After(last.Spec.RenewTime.Time) {
			last = l
		}
	}
	if last == nil {
		return nil, ErrNoLease
	}
	return last, nil
}

// pageSize bounds the lists of what there are few of.
const pageSize = 500

// Endpoints are the addresses behind a Service.
type Endpoints struct {
	// Slices is the number of EndpointSlices. A Service with a selector has at least
	// one, with no pod, too; one that leads out of the cluster may have none.
	Slices int
	// Ready is the number of addresses that take connections.
	Ready int
}

// Endpoints reads the addresses of the Service.
func (c *Client) Endpoints(ctx context.Context, namespace, service string) (Endpoints, error) {
	l, err := c.set.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{
		LabelSelector: discoveryv1.LabelServiceName + "=" + service, Limit: pageSize,
	})
	if err != nil {
		return Endpoints{}, err
	}
	out := Endpoints{Slices: len(l.Items)}
	for i := range l.Items {
		for _, e := range l.Items[i].Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready { // absent reads as true
				out.Ready += len(e.Addresses)
			}
		}
	}
	return out, nil
}

// mostMetrics bounds how much of the metrics is read in search of one line.
const mostMetrics = 8 << 20

var buildInfo = regexp.MustCompile(`^kueue_build_info\{(?:[^}]*,)?git_version="([^"]*)"`)

// BuildInfo asks the manager itself for its version, through the API server's
// proxy to the Service of its metrics. Few may do so, and Kueue's default
// configuration refuses what comes through the proxy.
func (c *Client) BuildInfo(ctx context.Context, namespace, service string) (string, error) {
	body, err := c.set.CoreV1().RESTClient().Get().MaxRetries(0).
		Namespace(namespace).Resource("services").Name("https:" + service + ":https").SubResource("proxy").Suffix("metrics").Stream(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	s := bufio.NewScanner(io.LimitReader(body, mostMetrics))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if m := buildInfo.FindSubmatch(s.Bytes()); m != nil {
			return text.Clean(string(m[1])), nil
		}
	}
	if err := s.Err(); err != nil {
		return "", err
	}
	return "", fmt.Errorf("the metrics of Service %s do not hold kueue_build_info", service)
}

// dated notes the server's time of an answer for whoever asked with withDate.
func dated(next http.RoundTripper) http.RoundTripper { return dateNoter{next} }

type dateNoter struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (d dateNoter) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.next.RoundTrip(r)
	if at, ok := r.Context().Value(dateKey{}).(*time.Time); ok && err == nil {
		if t, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			*at = t
		}
	}
	return resp, err
}

type dateKey struct{}

// withDate returns a context for calls, one after the other, and where the
// server's time of the last answer will be.
func withDate(ctx context.Context) (context.Context, *time.Time) {
	at := new(time.Time)
	return context.WithValue(ctx, dateKey{}, at), at
}
