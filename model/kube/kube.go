// Package kube connects to a cluster: client configurations with the rights that
// a part of the program may have, and the questions that are asked of any
// cluster (who am I, which versions speak).
package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"cli.holdfast.dev/holdfast/model/text"
)

// Group is Kueue's API group.
const Group = "kueue.x-k8s.io"

// Versions of Group that the console can speak, the preferred one first.
func Versions() []string { return []string{"v1beta2", "v1beta1"} }

// Limits of the console's own request rate. client-go's default of 5 a second
// makes a console feel dead.
const (
	qps   = 50
	burst = 100
)

// Reader returns a configuration for the model's clients: they can only read and
// ask for access reviews. There is no time-out in it: it would cut long lists
// and watches; every call has a context instead.
func Reader(base *rest.Config, userAgent string) *rest.Config {
	c := common(base, userAgent)
	c.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		return ReadOnly(rt, basePath(base.Host), "this part of the program only reads")
	})
	return c
}

// Writer returns a configuration for package actions, which can patch and make
// objects and never delete (NeverDelete). With readOnly set, the same transport rule
// as for Reader refuses every write.
func Writer(base *rest.Config, userAgent string, readOnly bool) *rest.Config {
	c := common(base, userAgent)
	c.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		if readOnly {
			return ReadOnly(rt, basePath(base.Host), "holdfast was started with --read-only")
		}
		return NeverDelete(rt, basePath(base.Host))
	})
	return c
}

// basePath is the path of a server's URL: clusters behind a proxy have one.
func basePath(host string) string {
	u, err := url.Parse(host)
	if err != nil {
		return ""
	}
	return u.Path
}

func common(base *rest.Config, userAgent string) *rest.Config {
	c := rest.CopyConfig(base)
	c.QPS, c.Burst, c.Timeout = qps, burst, 0
	c.UserAgent = userAgent
	return c
}

// Client asks a cluster about itself and about Kueue. Its methods block until the
// answer is there or ctx ends, and may be called from any goroutine. Warnings of
// the server go nowhere: to ask in an old version is deliberate here.
type Client struct {
	set *kubernetes.Clientset
	// visible is the version of the Visibility API that answered last.
	visible atomic.Pointer[string]
}

// NewClient makes a Client from a Reader configuration.
func NewClient(c *rest.Config) (*Client, error) {
	c = rest.CopyConfig(c)
	c.WarningHandler, c.WarningHandlerWithContext = nil, rest.NoWarnings{}
	c.Wrap(dated)
	set, err := kubernetes.NewForConfig(c)
	if err != nil {
		return nil, err
	}
	return &Client{set: set}, nil
}

// get reads one path of the API into a value, without a second try: whoever asks
// about readiness wants the first answer. query are names and values in turn.
func (c *Client) get(ctx context.Context, into any, path string, query ...string) error {
	r := c.set.CoreV1().RESTClient().Get().MaxRetries(0).AbsPath(path)
	for i := 0; i+1 < len(query); i += 2 {
		r.Param(query[i], query[i+1])
	}
	answer := r.Do(ctx)
	if err := answer.Error(); err != nil { // unlike Raw's, the server's own words
		return err
	}
	raw, err := answer.Raw()
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("the answer to GET %s is not readable: %w", path, err)
	}
	return nil
}

// Whoami returns the user as the server knows it.
func (c *Client) Whoami(ctx context.Context) (string, error) {
	r, err := c.set.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return text.Clean(r.Status.UserInfo.Username), nil
}

// ServerVersion returns the API server's version, and is the cheapest question
// that proves that it answers.
func (c *Client) ServerVersion(ctx context.Context) (string, error) {
	var v version.Info
	if err := c.get(ctx, &v, "/version"); err != nil {
		return "", err
	}
	return text.Clean(v.GitVersion), nil
}

// ErrNoKueue is returned when a cluster does not serve Kueue's API group.
var ErrNoKueue = errors.New("this cluster does not serve the API group " + Group + ": Kueue is not installed, or its CRDs are missing")

// Served returns the versions of Kueue's API group that are served and the one
// to use. It returns ErrNoKueue where there is none.
func (c *Client) Served(ctx context.Context) (served []string, use string, err error) {
	var g metav1.APIGroup
	err = c.get(ctx, &g, "/apis/"+Group)
	if apierrors.IsNotFound(err) {
		return nil, "", ErrNoKueue
	}
	if err != nil {
		return nil, "", err
	}
	for _, v := range g.Versions {
		served = append(served, text.Clean(v.Version))
	}
	for _, v := range Versions() {
		if slices.Contains(served, v) {
			return served, v, nil
		}
	}
	return served, "", fmt.Errorf("%s is served as %s only; this program speaks %s", Group, strings.Join(served, ", "), strings.Join(Versions(), " and "))
}

// Patience is how long one small question to a cluster may take.
const Patience = 8 * time.Second
