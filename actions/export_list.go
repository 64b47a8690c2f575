package actions

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// exportList is one list of an export.
type exportList struct {
	resource  schema.GroupVersionResource
	kind      string
	namespace string
	selector  string // of fields
	// needed says that there is no export without it; most bounds how many objects are
	// taken, the newest, 0: all.
	needed bool
	most   int
}

// spares reports whether an export can do without the list, which gave the error. A
// cluster that does not serve Cohorts has none.
func (l exportList) spares(err error) bool {
	absent := apierrors.IsNotFound(err)
	return !l.needed && (absent || apierrors.IsForbidden(err)) || absent && l.kind == string(world.KindCohort)
}

// mostEvents bounds the events of an export: an incident makes many, and they are held
// until the newest are known, which are not the first of the list.
const mostEvents = 20_000

// exported are the lists of an export, the LocalQueues before the Workloads, whose
// scope they decide.
func exported(version string, s Scope) []exportList {
	of := func(resource, kind string) exportList {
		return exportList{resource: schema.GroupVersionResource{Group: kube.Group, Version: version, Resource: resource}, kind: kind}
	}
	other := func(group, resource, kind string) exportList {
		return exportList{resource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}, kind: kind}
	}
	queues, cohorts, locals, work := of("clusterqueues", "ClusterQueue"), of("cohorts", "Cohort"), of("localqueues", "LocalQueue"), of("workloads", "Workload")
	// Without these the pending Workloads of a queue would be left out unnoticed.
	locals.needed = s.ClusterQueue != "" || s.Cohort != ""
	queues.needed, cohorts.needed = s.Cohort != "", s.Cohort != ""
	work.needed, work.namespace = true, s.InNamespace()
	events := other("", "events", "Event")
	events.selector, events.most, events.namespace = "involvedObject.kind=Workload", mostEvents, s.InNamespace()
	return []exportList{
		cohorts, queues, locals, of("resourceflavors", "ResourceFlavor"), of("admissionchecks", "AdmissionCheck"),
		of("workloadpriorityclasses", "WorkloadPriorityClass"), of("topologies", "Topology"), other("scheduling.k8s.io", "priorityclasses", "PriorityClass"),
		other("", "namespaces", "Namespace"), other("", "limitranges", "LimitRange"), other("node.k8s.io", "runtimeclasses", "RuntimeClass"),
		work, events,
	}
}

// exporter writes the lists of one export.
type exporter struct {
	d    *Desk
	c    *client
	plan Plan
	w    *bundle.Writer
	m    bundle.Manifest

	points  map[world.Key]string // LocalQueue to ClusterQueue
	cohort  map[string]string    // ClusterQueue to cohort
	parents map[string]string    // Cohort to parent
}

const pageSize = 500

// list writes one list page by page. All pages come from one list (its continue
// token), or it fails. What may not be read or is not served is noted.
func (e *exporter) list(ctx context.Context, l exportList) error {
	r := e.c.dyn.Resource(l.resource).Namespace(l.namespace)
	done := bundle.List{Resource: l.resource.Resource, Kind: l.kind}
	opts := metav1.ListOptions{Limit: pageSize, FieldSelector: l.selector}
	var keep *newest
	if l.most > 0 {
		keep = &newest{most: l.most}
	}
	for page := 1; ; page++ {
		got, err := r.List(ctx, opts)
		if keep != nil && page > 1 && apierrors.IsResourceExpired(err) {
			// What was read is one state, if not all of it: an export need not fail for it.
			keep.tooOld = true
			break
		}
		switch {
		case apierrors.IsResourceExpired(err):
			return &Problem{What: fmt.Sprintf("the list of %s grew too old while it was read: it would not be one consistent state", l.resource.Resource), Do: "Export again, or a smaller scope.", Err: err}
		case err != nil && page == 1 && l.spares(err):
			e.m.Unread = append(e.m.Unread, bundle.Unread{Resource: l.resource.Resource, Kind: l.kind, Why: text.Clean(err.Error())})
			return nil
		case err != nil:
			return problem("read the "+l.resource.Resource, err)
		}
		if page == 1 {
			done.ResourceVersion = got.GetResourceVersion()
		}
		if keep != nil {
			if err := keep.add(got.Items); err != nil {
				return err
			}
			e.d.told(fmt.Sprintf("%d %s read", keep.seen, l.resource.Resource))
		} else if err := e.write(l, page, got.Items, &done); err != nil {
			return err
		}
		if opts.Continue = got.GetContinue(); opts.Continue == "" {
			break
		}
	}
	if keep != nil {
		if err := e.writeNewest(l, keep, &done); err != nil {
			return err
		}
	}
	e.m.Lists = append(e.m.Lists, done)
	if l.kind == string(world.KindWorkload) {
		e.m.Workloads = done.Count
	}
	return nil
}

// write writes a page of a list that is taken whole.
func (e *exporter) write(l exportList, page int, items []unstructured.Unstructured, done *bundle.List) error {
	objects := e.take(l, items)
	done.Count += len(objects)
	e.d.told(fmt.Sprintf("%d %s", done.Count, l.resource.Resource))
	if len(objects) == 0 {
		return nil
	}
	return e.w.Objects(pageName(l, page), objects)
}

// take returns the objects of a page that are in the scope, redacted, and learns
// from them what the scope of Workloads needs.
func (e *exporter) take(l exportList, items []unstructured.Unstructured) []map[string]any {
	out := make([]map[string]any, 0, len(items))
	for i := range items {
		o := &items[i]
		switch l.kind {
		case "LocalQueue":
			e.points = learn(e.points, world.Key{Namespace: o.GetNamespace(), Name: o.GetName()}, o, "spec", "clusterQueue")
		case "ClusterQueue":
			e.cohort = learn(e.cohort, o.GetName(), o, "spec", e.cohortField())
		case "Cohort":
			e.parents = learn(e.parents, o.GetName(), o, "spec", "parentName")
		case "Workload":
			if !e.inScope(o) {
				continue
			}
		}
		if !e.plan.Export.IncludePodEnv {
			e.m.RedactedValues += redact(o.Object)
		}
		out = append(out, o.Object)
	}
	return out
}

func learn[K ~string | world.Key](m map[K]string, k K, o *unstructured.Unstructured, field ...string) map[K]string {
	if m == nil {
		m = map[K]string{}
	}
	m[k], _, _ = unstructured.NestedString(o.Object, field...)
	return m
}

// cohortField is where a ClusterQueue names its cohort.
func (e *exporter) cohortField() string {
	if e.c.version == "v1beta1" {
		return "cohort"
	}
	return "cohortName"
}

func (e *exporter) inScope(o *unstructured.Unstructured) bool {
	lq, _, _ := unstructured.NestedString(o.Object, "spec", "queueName")
	cq, _, _ := unstructured.NestedString(o.Object, "status", "admission", "clusterQueue")
	q := bundle.Queues{
		Of: func(k world.Key) string { return e.points[k] },
		Below: func(cq string) bool {
			c := e.cohort[cq]
			for range len(e.parents) + 1 { // a cycle has no end
				if c == e.plan.Export.Scope.Cohort {
					return true
				}
				c = e.parents[c]
			}
			return false
		},
	}
	return e.plan.Export.Scope.Has(q, o.GetNamespace(), lq, cq)
}

// clusterUID is the UID of the namespace kube-system, by which people tell clusters
// apart; empty where it cannot be read.
func (d *Desk) clusterUID(ctx context.Context, c *client) string {
	ns, err := c.dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return string(ns.GetUID())
}

// told tells whoever asked for it how far an execution is.
func (d *Desk) told(how string) {
	if d.opts.Progress != nil {
		d.opts.Progress(how)
	}
}
