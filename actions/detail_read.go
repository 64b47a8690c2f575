package actions

import (
	"context"
	"sort"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/pods"
	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// eventLimit bounds how many events of one object are read.
const eventLimit = 500

// Detail reads an object and its events as they are now. Events that cannot be
// read are named in the result and are no error.
func (d *Desk) Detail(ctx context.Context, ref world.Ref) (Detail, error) {
	c, err := d.client()
	if err != nil {
		return Detail{}, err
	}
	o, err := c.get(ctx, ref)
	if err != nil {
		return Detail{}, err
	}
	out := Detail{ReadAt: d.opts.Clock.Now(), Timeline: conditionEntries(o)}
	events, err := d.events(ctx, o)
	if err != nil {
		out.EventsUnknown = problem("read events of "+ref.String(), err).Error()
	}
	out.Timeline = append(out.Timeline, events...)
	sort.SliceStable(out.Timeline, func(i, j int) bool { return out.Timeline[i].At.Before(out.Timeline[j].At) })
	d.pods(ctx, ref, &out)
	d.nodes(ctx, ref, o, &out)
	unstructured.RemoveNestedField(o.Object, "metadata", "managedFields")
	redact(o.Object)
	y, err := yaml.Marshal(o.Object)
	if err != nil {
		return Detail{}, err
	}
	out.YAML = text.Lines(string(y))
	return out, nil
}

// pods reads the Workload's pods. What cannot be read or tied to it is said and
// no error.
func (d *Desk) pods(ctx context.Context, ref world.Ref, out *Detail) {
	if ref.Kind != world.KindWorkload {
		return
	}
	w := d.opts.World().WorkloadByKey(ref.Key)
	if d.opts.PodsOf == nil || w == nil {
		out.PodsUnknown = "they were not asked for"
		return
	}
	all, err := d.opts.PodsOf(ctx, w)
	if err != nil {
		out.PodsUnknown = problem("read the pods of "+ref.String(), err).Error()
		return
	}
	out.Pods, out.PodsUnknown = tied(w, all)
}

// nodes reads the nodes that have the labels of a ResourceFlavor as it is now. That
// they cannot be read is said and no error.
func (d *Desk) nodes(ctx context.Context, ref world.Ref, o *unstructured.Unstructured, out *Detail) {
	labels, _, _ := unstructured.NestedStringMap(o.Object, "spec", "nodeLabels")
	if ref.Kind != world.KindResourceFlavor || len(labels) == 0 {
		return
	}
	if d.opts.NodesWith == nil {
		out.NodesUnknown = "they were not asked for"
		return
	}
	nodes, err := d.opts.NodesWith(ctx, labels)
	if err != nil {
		out.NodesUnknown = problem("read the nodes of "+ref.String(), err).Error()
		return
	}
	out.Nodes = nodes
}

// tied returns those of the pods that belong to the Workload, or why nobody can
// tell.
func tied(w *world.Workload, all []world.Pod) ([]world.Pod, string) {
	x := pods.NewIndex(all)
	if c := x.Count(w); c.Unknown {
		return nil, c.Note
	}
	return x.Of(w), ""
}

// mostFields is how many fields of one write are named.
const mostFields = 4

// writeEntries are who made the object and who wrote to its spec since, as far as the
// server remembers: the last write of each field manager that is still to be seen.
func writeEntries(o *unstructured.Unstructured) []Entry {
	made := o.GetCreationTimestamp().Time
	created := Entry{At: made, Kind: "object", Type: "created"}
	var out []Entry
	for _, w := range project.Writes(o) {
		if w.At.Sub(made).Abs() <= time.Second { // both are whole seconds of the server
			created.Reason = "by " + w.Manager
			continue
		}
		what := w.Fields[0]
		if n := len(w.Fields); n > 1 {
			what = "one or more of " + strings.Join(w.Fields[:min(n, mostFields)], ", ")
			if n > mostFields {
				what += " and " + strconv.Itoa(n-mostFields) + " more"
			}
		}
		out = append(out, Entry{At: w.At, Kind: "write", Type: "spec written", Reason: "by " + w.Manager, Text: what})
	}
	return append([]Entry{created}, out...)
}

func conditionEntries(o *unstructured.Unstructured) []Entry {
	out := writeEntries(o)
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, x := range list {
		m, ok := x.(map[string]any)
		if !ok {
			continue
		}
		str := func(k string) string { s, _ := m[k].(string); return text.Clean(s) }
		at, _ := time.Parse(time.RFC3339, str("lastTransitionTime"))
		out = append(out, Entry{At: at, Kind: "condition", Type: str("type") + "=" + str("status"), Reason: str("reason"), Text: str("message")})
	}
	return out
}

func (d *Desk) events(ctx context.Context, o *unstructured.Unstructured) ([]Entry, error) {
	core, err := coreclient.NewForConfigAndClient(d.opts.Config, d.http)
	if err != nil {
		return nil, err
	}
	ns := o.GetNamespace()
	if ns == "" {
		ns = metav1.NamespaceDefault // where events of cluster-scoped objects are kept
	}
	list, err := core.Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(o.GetUID()), Limit: eventLimit})
	if err != nil {
		return nil, err
	}
	out := make([]Entry, 0, len(list.Items))
	for i := range list.Items {
		e := project.Event(&list.Items[i])
		out = append(out, Entry{At: e.At, Kind: "event", Type: e.Type, Reason: e.Reason, Text: e.Message, Count: e.Count})
	}
	return out, nil
}
