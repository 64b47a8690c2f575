package kube

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Stored returns the version in which new ClusterQueues are stored; other kinds
// with a conversion webhook have the same (config/components/crd of Kueue).
func (c *Client) Stored(ctx context.Context) (string, error) {
	var d struct {
		Spec struct {
			Versions []struct {
				Name    string `json:"name"`
				Storage bool   `json:"storage"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := c.get(ctx, &d, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterqueues."+Group); err != nil {
		return "", err
	}
	for _, v := range d.Spec.Versions {
		if v.Storage {
			return text.Clean(v.Name), nil
		}
	}
	return "", fmt.Errorf("the CustomResourceDefinition of ClusterQueue names no stored version")
}

// Object names one of Kueue's objects.
type Object struct {
	Resource string // clusterqueues, localqueues, cohorts or workloads
	world.Key
}

// Any returns any object of the resource, and false where there is none. namespace
// limits the search; empty: everywhere.
func (c *Client) Any(ctx context.Context, version, resource, namespace string) (Object, bool, error) {
	var l metav1.PartialObjectMetadataList
	at := resource
	if namespace != "" {
		at = "namespaces/" + namespace + "/" + resource
	}
	if err := c.get(ctx, &l, "/apis/"+Group+"/"+version+"/"+at, "limit", "1"); err != nil || len(l.Items) == 0 {
		return Object{}, false, err
	}
	return Object{resource, world.Key{Namespace: text.Clean(l.Items[0].Namespace), Name: text.Clean(l.Items[0].Name)}}, true, nil
}

// Read reads the object in the version and forgets it. The API server takes it
// from its storage, converting it there and then where it is stored in another
// version (apiserver pkg/storage/cacher, CacheDelegator.Get); a list would prove
// nothing, since it may come from a cache of objects that were converted long ago.
func (c *Client) Read(ctx context.Context, version string, o Object) error {
	at := o.Resource + "/" + o.Name
	if o.Namespace != "" {
		at = "namespaces/" + o.Namespace + "/" + at
	}
	return c.get(ctx, nil, "/apis/"+Group+"/"+version+"/"+at)
}
