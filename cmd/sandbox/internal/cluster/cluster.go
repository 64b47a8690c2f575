// Package cluster is a small client of the sandbox's API server: it applies objects of any kind and waits for answers.
package cluster

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	pollEvery    = 100 * time.Millisecond
	applyFor     = 20 * time.Second
	probeTimeout = 5 * time.Second
	parallel     = 16
)

// Client talks to one API server without the client-side rate limit, which would cost a starting sandbox seconds.
type Client struct {
	Config  *rest.Config
	Typed   kubernetes.Interface
	Dynamic dynamic.Interface

	mapper *restmapper.DeferredDiscoveryRESTMapper
	http   *http.Client
}

// Open returns a client for a kubeconfig file. It does not connect yet.
func Open(kubeconfig string) (*Client, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	cfg.QPS = -1
	cfg.WarningHandler = rest.NoWarnings{} // nobody reads them here, and they would go to the terminal
	hc, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, err
	}
	typed, err := kubernetes.NewForConfigAndClient(cfg, hc)
	if err != nil {
		return nil, err
	}
	dyn, err := dynamic.NewForConfigAndClient(cfg, hc)
	if err != nil {
		return nil, err
	}
	dc, err := discovery.NewDiscoveryClientForConfigAndClient(cfg, hc)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(dc))
	return &Client{Config: cfg, Typed: typed, Dynamic: dyn, mapper: mapper, http: hc}, nil
}

// Apply writes the objects by server-side apply as the field manager, taking over fields other managers own:
// namespaces first, then CRDs, then everything else, webhooks and APIServices last. Each object is tried again for
// some seconds, since a CRD's kind is served a moment after the CRD. It blocks until all are written.
func (c *Client) Apply(ctx context.Context, manager string, objs []*unstructured.Unstructured) error {
	byRank := map[int][]*unstructured.Unstructured{}
	for _, o := range objs {
		byRank[rank(o.GetKind())] = append(byRank[rank(o.GetKind())], o)
	}
	for r := 0; r <= lastRank; r++ {
		group, gctx := errgroup.WithContext(ctx)
		group.SetLimit(parallel)
		for _, o := range byRank[r] {
			group.Go(func() error { return c.applyOne(gctx, manager, o) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

const lastRank = 3

// rank orders kinds by what others need to exist.
func rank(kind string) int {
	switch kind {
	case "Namespace":
		return 0
	case "CustomResourceDefinition":
		return 1
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "APIService":
		return lastRank // from now on Kueue must answer
	}
	return 2
}

func (c *Client) applyOne(ctx context.Context, manager string, o *unstructured.Unstructured) error {
	err := Poll(ctx, applyFor, func(ctx context.Context) error {
		ri, err := c.resource(o)
		if err != nil {
			return err
		}
		_, err = ri.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: manager, Force: true})
		return err
	})
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// resource returns the client for the object's kind and namespace; a kind not known yet makes the next call ask the
// server again.
func (c *Client) resource(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	m, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		c.mapper.Reset()
		return nil, err
	}
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		return c.Dynamic.Resource(m.Resource).Namespace(o.GetNamespace()), nil
	}
	return c.Dynamic.Resource(m.Resource), nil
}

// Answers returns nil if a GET of the path below the API server is answered with 200.
func (c *Client) Answers(ctx context.Context, path string) error {
	return Get(ctx, c.http, c.Config.Host+path)
}

// Get returns nil if the URL is answered with 200 within some seconds.
func Get(ctx context.Context, hc *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := hc.Do(req)
	if err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}

// Poll calls try until it returns nil. It gives up after the limit with try's last error, or with the context's cause
// when the context ends.
func Poll(ctx context.Context, limit time.Duration, try func(context.Context) error) error {
	deadline := time.Now().Add(limit)
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %s: %w", limit, err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollEvery):
		}
	}
}
