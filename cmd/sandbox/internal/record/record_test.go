package record

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// fake is a cluster with a Workload, a queue of each kind and a pod; Kueue has two versions, of which v1beta1 serves no
// Topologies. Paths in fails are answered with the error.
type fake struct{ fails map[string]error }

func object(r schema.GroupVersionResource, kind, namespace, name string) unstructured.Unstructured {
	o := unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(r.GroupVersion().String())
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	o.Object["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{"manager": "kueue"}}
	return o
}

func (f fake) list(_ context.Context, r schema.GroupVersionResource) (*unstructured.UnstructuredList, error) {
	if err := f.fails[r.Resource]; err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	switch r.Resource {
	case "workloads":
		list.Items = append(list.Items, object(r, "Workload", "team-a", "wl"))
	case "clusterqueues":
		list.Items = append(list.Items, object(r, "ClusterQueue", "", "cq.example"))
	case "localqueues":
		list.Items = append(list.Items, object(r, "LocalQueue", "team-a", "batch"))
	case "pods":
		list.Items = append(list.Items, object(r, "Pod", "team-a", "p"))
	}
	return list, nil
}

func (f fake) get(_ context.Context, path string) ([]byte, error) {
	if err := f.fails[path]; err != nil {
		return []byte(`{"kind":"Status"}`), err
	}
	return []byte(map[string]string{
		"/apis/kueue.x-k8s.io": `{"kind":"APIGroup","versions":[{"groupVersion":"kueue.x-k8s.io/v1beta1","version":"v1beta1"},
			{"groupVersion":"kueue.x-k8s.io/v1beta2","version":"v1beta2"}],"preferredVersion":{"version":"v1beta2"}}`,
		"/apis/kueue.x-k8s.io/v1beta2": `{"resources":[{"name":"workloads"},{"name":"clusterqueues"},{"name":"localqueues"},{"name":"topologies"},
			{"name":"multikueueclusters"}]}`,
		"/apis/kueue.x-k8s.io/v1beta1": `{"resources":[{"name":"workloads"},{"name":"clusterqueues"},{"name":"localqueues"}]}`,
		"/apis/visibility.kueue.x-k8s.io": `{"kind":"APIGroup","versions":[{"groupVersion":"visibility.kueue.x-k8s.io/v1beta2","version":"v1beta2"}],
			"preferredVersion":{"version":"v1beta2"}}`,
		"/apis/visibility.kueue.x-k8s.io/v1beta2":                                                      `{"resources":[]}`,
		"/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/cq.example/pendingworkloads":            `{"items":[]}`,
		"/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team-a/localqueues/batch/pendingworkloads": `{"items":[]}`,
	}[path]), nil
}

func TestReadNamesTheFiles(t *testing.T) {
	r, err := read(t.Context(), fake{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"clusterqueues.v1beta1.kueue.x-k8s.io.yaml",
		"clusterqueues.v1beta2.kueue.x-k8s.io.yaml",
		"discovery/kueue.x-k8s.io.json",
		"discovery/v1beta1.kueue.x-k8s.io.json",
		"discovery/v1beta2.kueue.x-k8s.io.json",
		"discovery/v1beta2.visibility.kueue.x-k8s.io.json",
		"discovery/visibility.kueue.x-k8s.io.json",
		"events.v1.events.k8s.io.yaml",
		"events.v1.yaml",
		"jobs.v1.batch.yaml",
		"limitranges.v1.yaml",
		"localqueues.v1beta1.kueue.x-k8s.io.yaml",
		"localqueues.v1beta2.kueue.x-k8s.io.yaml",
		"namespaces.v1.yaml",
		"nodes.v1.yaml",
		"pods.v1.yaml",
		"priorityclasses.v1.scheduling.k8s.io.yaml",
		"runtimeclasses.v1.node.k8s.io.yaml",
		"topologies.v1beta2.kueue.x-k8s.io.yaml",
		"visibility/v1beta2/clusterqueues/cq.example.json",
		"visibility/v1beta2/namespaces/team-a/localqueues/batch.json",
		"workloads.v1beta1.kueue.x-k8s.io.yaml",
		"workloads.v1beta2.kueue.x-k8s.io.yaml",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(r.files))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if r.Lists != 16 || r.Answers != 2 {
		t.Errorf("%d lists and %d answers, want 16 and 2", r.Lists, r.Answers)
	}
}

func TestReadListsObjects(t *testing.T) {
	r, err := read(t.Context(), fake{})
	if err != nil {
		t.Fatal(err)
	}
	workload := func(version string) map[string]any {
		return map[string]any{
			"apiVersion": "kueue.x-k8s.io/" + version, "kind": "Workload", "metadata": map[string]any{"namespace": "team-a", "name": "wl"},
		}
	}
	for file, items := range map[string][]any{
		"workloads.v1beta1.kueue.x-k8s.io.yaml": {workload("v1beta1")},
		"workloads.v1beta2.kueue.x-k8s.io.yaml": {workload("v1beta2")},
		"nodes.v1.yaml":                         {}, // an empty List, not null
	} {
		var got any
		if err := yaml.Unmarshal(r.files[file], &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}, "items": items}
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
	var flat []string
	for _, o := range r.objects {
		u := unstructured.Unstructured{Object: o.(map[string]any)}
		flat = append(flat, u.GetAPIVersion()+" "+u.GetName())
	}
	want := []string{"v1 p", "kueue.x-k8s.io/v1beta2 cq.example", "kueue.x-k8s.io/v1beta2 batch", "kueue.x-k8s.io/v1beta2 wl"}
	if diff := cmp.Diff(want, flat); diff != "" {
		t.Errorf("objects of the one file (-want +got):\n%s", diff)
	}
}

func TestReadFails(t *testing.T) {
	const queue = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/cq.example/pendingworkloads"
	for _, c := range []struct {
		path string
		err  error
		says string // "" if it is recorded
	}{
		{queue, apierrors.NewNotFound(schema.GroupResource{Resource: "clusterqueue"}, "cq.example"), ""},
		{queue, apierrors.NewServiceUnavailable("down"), "does not answer for v1beta2/clusterqueues/cq.example: down"},
		{"workloads", fmt.Errorf("conversion webhook failed"), "list workloads.kueue.x-k8s.io: conversion"},
		{"/apis/kueue.x-k8s.io", fmt.Errorf("no such group"), "get /apis/kueue.x-k8s.io: no such group"},
	} {
		r, err := read(t.Context(), fake{fails: map[string]error{c.path: c.err}})
		switch {
		case c.says != "":
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s fails with %v: error %v, want %q", c.path, c.err, err, c.says)
			}
		case err != nil:
			t.Errorf("%s fails with %v: %v", c.path, c.err, err)
		case string(r.files["visibility/v1beta2/clusterqueues/cq.example.json"]) != `{"kind":"Status"}`:
			t.Errorf("the refusal is not recorded: %s", r.files)
		}
	}
}

func TestNoKindHoldsCredentials(t *testing.T) {
	for _, k := range kubernetesKinds() {
		if slices.Contains([]string{"secrets", "configmaps", "serviceaccounts"}, k.Resource) {
			t.Errorf("%s would be recorded", k.Resource)
		}
	}
}
