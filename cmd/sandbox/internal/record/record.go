// Package record writes down what a running sandbox holds, for tests of programs that read such files: objects as the
// API server serves them, and what Kueue's visibility API answers.
package record

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
)

// Record is what was read. Its objects carry no managedFields.
type Record struct {
	files   map[string][]byte // by slash-separated path
	objects []any             // each object once: Kueue's in the version it prefers
	// Lists and Answers count the files with objects and those with answers of the visibility API.
	Lists, Answers int
}

// Objects is the number of objects WriteFile writes.
func (r *Record) Objects() int { return len(r.objects) }

// source is the API server of a sandbox.
type source interface {
	list(ctx context.Context, r schema.GroupVersionResource) (*unstructured.UnstructuredList, error)
	// get returns the body of any answer; the error says if it is not one of success.
	get(ctx context.Context, path string) ([]byte, error)
}

// server is the source that asks one.
type server struct{ client *cluster.Client }

func (s server) list(ctx context.Context, r schema.GroupVersionResource) (*unstructured.UnstructuredList, error) {
	return s.client.Dynamic.Resource(r).List(ctx, metav1.ListOptions{})
}

func (s server) get(ctx context.Context, path string) ([]byte, error) {
	return s.client.Typed.Discovery().RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").Do(ctx).Raw()
}

// Read reads everything, one kind after the other: what changes meanwhile may be in one and not in another. It blocks
// and needs the administrator's rights and a Kueue that answers.
func Read(ctx context.Context, c *cluster.Client) (*Record, error) { return read(ctx, server{c}) }

func read(ctx context.Context, from source) (*Record, error) {
	r := &Record{files: map[string][]byte{}}
	for _, kind := range kubernetesKinds() {
		if _, err := r.list(ctx, from, kind, true); err != nil {
			return nil, err
		}
	}
	versions, err := r.discover(ctx, from, kueueGroup)
	if err != nil {
		return nil, err
	}
	var queues []unstructured.Unstructured
	for i, v := range versions {
		for _, resource := range kueueKinds() {
			if !slices.Contains(v.resources, resource) {
				continue
			}
			items, err := r.list(ctx, from, schema.GroupVersionResource{Group: kueueGroup, Version: v.name, Resource: resource}, i == 0)
			if err != nil {
				return nil, err
			}
			if i == 0 && (resource == "clusterqueues" || resource == "localqueues") {
				queues = append(queues, items...)
			}
		}
	}
	versions, err = r.discover(ctx, from, visibilityGroup)
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		for i := range queues {
			if err := r.ask(ctx, from, v.name, &queues[i]); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// list records one kind. The objects of a kind that is recorded in several versions are main in one of them.
func (r *Record) list(ctx context.Context, from source, kind schema.GroupVersionResource, main bool) ([]unstructured.Unstructured, error) {
	got, err := from.list(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", kind.GroupResource(), err)
	}
	items := make([]any, 0, len(got.Items))
	for i := range got.Items {
		got.Items[i].SetManagedFields(nil)
		items = append(items, got.Items[i].Object)
	}
	if r.files[fileName(kind)], err = marshal(items); err != nil {
		return nil, fmt.Errorf("%s: %w", kind.GroupResource(), err)
	}
	r.Lists++
	if main {
		r.objects = append(r.objects, items...)
	}
	return got.Items, nil
}

// marshal writes objects as a v1 List, as `kubectl get -o yaml` does.
func marshal(items []any) ([]byte, error) {
	return yaml.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}, "items": items})
}

// version is a version of an API group and the resources it serves.
type version struct {
	name      string
	resources []string
}

// discover records what the API server tells of a group and returns its versions, the preferred one first.
func (r *Record) discover(ctx context.Context, from source, group string) ([]version, error) {
	var g metav1.APIGroup
	if err := r.getInto(ctx, from, "/apis/"+group, "discovery/"+group+".json", &g); err != nil {
		return nil, err
	}
	var out []version
	for _, gv := range g.Versions {
		var list metav1.APIResourceList
		if err := r.getInto(ctx, from, "/apis/"+gv.GroupVersion, "discovery/"+gv.Version+"."+group+".json", &list); err != nil {
			return nil, err
		}
		v := version{name: gv.Version}
		for _, res := range list.APIResources {
			v.resources = append(v.resources, res.Name)
		}
		if gv.Version == g.PreferredVersion.Version {
			out = slices.Insert(out, 0, v)
		} else {
			out = append(out, v)
		}
	}
	return out, nil
}

// getInto records the answer to a GET in a file and decodes it.
func (r *Record) getInto(ctx context.Context, from source, path, file string, into any) error {
	body, err := from.get(ctx, path)
	if err != nil {
		return fmt.Errorf("get %s: %w", path, err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("get %s: %w", path, err)
	}
	r.files[file] = body
	return nil
}

// ask records what the visibility API answers about the pending Workloads of a queue, in a file whose path is that of
// the request. A refusal such as NotFound, which a queue that is held gets, is an answer too.
func (r *Record) ask(ctx context.Context, from source, version string, queue *unstructured.Unstructured) error {
	path := version + "/clusterqueues/" + queue.GetName()
	if ns := queue.GetNamespace(); ns != "" {
		path = version + "/namespaces/" + ns + "/localqueues/" + queue.GetName()
	}
	body, err := from.get(ctx, "/apis/"+visibilityGroup+"/"+path+"/pendingworkloads")
	if err != nil && (!apierrors.IsNotFound(err) || !json.Valid(body)) {
		return fmt.Errorf("the visibility API does not answer for %s: %w (see: holdfast-sandbox status)", path, err)
	}
	r.files["visibility/"+path+".json"] = body
	r.Answers++
	return nil
}
