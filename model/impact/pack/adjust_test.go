package pack

import (
	"math"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	kueueresources "sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/workload"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/world"
)

// placing is small with a flavor that has a topology, for which one of its two
// Workloads asks.
func placing() []runtime.Object {
	out := small(2, func(i int, w *kueue.Workload) {
		if i == 0 {
			w.Spec.PodSets[0].TopologyRequest = &kueue.PodSetTopologyRequest{Required: ptr.To("rack"), PodSetGroupName: ptr.To("g")}
		}
	})
	out[3].(*kueue.ResourceFlavor).Spec.TopologyName = ptr.To[kueue.TopologyReference]("floor")
	return out
}

func TestTopologyIsLeftOut(t *testing.T) {
	objects := placing()
	w, notes := Of(snapshot(t, objects), nil)
	want := []string{"topology is not looked at: whether pods of 2 Workloads find room on the nodes of flavor rack is not known, nor which of the flavors with and without a topology they may get"}
	if d := cmp.Diff(want, notes); d != "" {
		t.Errorf("sentences (-want +got):\n%s", d)
	}
	o := throughPipe(t, w)
	if d := cmp.Diff(&kueue.PodSetTopologyRequest{PodSetGroupName: ptr.To("g")}, o.Workloads[0].Spec.PodSets[0].TopologyRequest); d != "" {
		t.Errorf("what is left of the request (-want +got):\n%s", d)
	}

	// An edit brings the same in again.
	f, x := objects[3].(*kueue.ResourceFlavor).DeepCopy(), of[*kueue.Workload](objects)[0].DeepCopy()
	x.Spec.MaximumExecutionTimeSeconds = ptr.To[int32](1)
	w.Adjust(f)
	w.Adjust(x)
	if f.Spec.TopologyName != nil {
		t.Errorf("an edited flavor keeps topology %s", *f.Spec.TopologyName)
	}
	if d := cmp.Diff(o.Workloads[0].Spec.PodSets[0].TopologyRequest, x.Spec.PodSets[0].TopologyRequest); d != "" {
		t.Errorf("request of the edited Workload (-packed +adjusted):\n%s", d)
	}
	if x.Spec.MaximumExecutionTimeSeconds != nil {
		t.Error("an edited Workload keeps its longest time")
	}

	// Where no flavor has a topology Kueue itself refuses such a Workload.
	objects[3].(*kueue.ResourceFlavor).Spec.TopologyName = nil
	w, notes = Of(snapshot(t, objects), nil)
	if got := throughPipe(t, w).Workloads[0].Spec.PodSets[0].TopologyRequest; len(notes) > 0 || got == nil || got.Required == nil {
		t.Errorf("request %v, sentences %q; want all of it and none", got, notes)
	}
}

func TestUnreadableNamespacesMatch(t *testing.T) {
	objects := small(1, nil)
	objects = append(objects[:2:2], objects[3:]...) // no namespace
	w, _ := Of(snapshot(t, objects, world.KindNamespace), nil)
	o := throughPipe(t, w)
	matches := func(o engine.Objects) bool {
		sel, err := metav1.LabelSelectorAsSelector(o.ClusterQueues[0].Spec.NamespaceSelector)
		if err != nil || len(o.Namespaces) != 1 {
			t.Fatalf("%v, %d namespaces", err, len(o.Namespaces))
		}
		return sel.Matches(labels.Set(o.Namespaces[0].Labels))
	}
	if !matches(o) {
		t.Error("the namespace does not match")
	}
	q := objects[0].(*kueue.ClusterQueue).DeepCopy()
	w.Adjust(q)
	o.ClusterQueues[0] = q
	if !matches(o) {
		t.Error("the namespace does not match the edited selector")
	}
	q.Spec.NamespaceSelector = nil
	w.Adjust(q)
	if matches(o) {
		t.Error("no selector matches nothing, whatever the labels")
	}
}

func TestUnreadableFlavorsAndChecksAreSupposed(t *testing.T) {
	objects := small(0, nil)[:3]
	w, _ := Of(snapshot(t, objects, world.KindResourceFlavor, world.KindAdmissionCheck), nil)
	o := throughPipe(t, w)
	cache := schdcache.New(reader{})
	for _, f := range o.Flavors {
		cache.AddOrUpdateResourceFlavor(logr.Discard(), f)
	}
	for _, c := range o.Checks {
		cache.AddOrUpdateAdmissionCheck(logr.Discard(), c)
	}
	if err := cache.AddClusterQueue(t.Context(), o.ClusterQueues[0]); err != nil {
		t.Fatal(err)
	}
	if status, reason, message := cache.ClusterQueueReadiness("q"); status != metav1.ConditionTrue {
		t.Errorf("Kueue calls the ClusterQueue not ready: %s, %s", reason, message)
	}
}

// A quantity may be written so large that arithmetic with it takes minutes.
func TestExtremeQuantitiesAreTamed(t *testing.T) {
	huge := func() resource.Quantity { return resource.MustParse("1e100000000") }
	objects := small(1, func(_ int, w *kueue.Workload) {
		w.Spec.PodSets[0].Template.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": huge()}}}}
		reserve(w)
		w.Status.Admission.PodSetAssignments = []kueue.PodSetAssignment{{Name: "main", ResourceUsage: corev1.ResourceList{"cpu": huge()}, Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{"cpu": "plain"}}}
	})
	q := objects[0].(*kueue.ClusterQueue)
	q.Spec.ResourceGroups[0].Flavors[0].Resources = []kueue.ResourceQuota{{Name: "cpu", NominalQuota: huge(), LendingLimit: ptr.To(huge())}}
	w, _ := Of(snapshot(t, objects), nil)
	o := throughPipe(t, w)
	limit := kueueresources.AmountFromQuantity("cpu", *o.ClusterQueues[0].Spec.ResourceGroups[0].Flavors[0].Resources[0].LendingLimit)
	use := workload.NewInfo(o.Workloads[0]).FlavorResourceUsage()[kueueresources.FlavorResource{Flavor: "plain", Resource: "cpu"}]
	o.Workloads[0].Status.Admission = nil
	request := workload.NewInfo(o.Workloads[0]).TotalRequests[0].Requests
	if limit.Int64() != math.MaxInt64 || use.Int64() != math.MaxInt64 || kueueresources.ToMap(request)["cpu"] != math.MaxInt64 {
		t.Errorf("limit %v, use %v, request %v: want all without end", limit, use, request)
	}
}
