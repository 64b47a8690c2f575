package pack

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/featuregate"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/finish"

	"cli.holdfast.dev/holdfast/model/impact/engine"
)

// Kueue's own code judges what came back: whatever it asks of an object, the
// answer is that of the original.

// fataler is a test, or a drawn case of one.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// same compares what Kueue says of the Workloads and holds the specs of all other
// objects against each other.
func same(t fataler, objects []runtime.Object, got engine.Objects) {
	t.Helper()
	compareSpecs(t, of[*kueue.ClusterQueue](objects), got.ClusterQueues, func(q *kueue.ClusterQueue) any {
		return []any{q.Spec, q.Status.Conditions, q.Status.PendingWorkloads, q.Status.ReservingWorkloads, q.Status.AdmittedWorkloads, identity(q)}
	})
	compareSpecs(t, of[*kueue.LocalQueue](objects), got.LocalQueues, func(q *kueue.LocalQueue) any { return []any{q.Spec, identity(q)} })
	compareSpecs(t, of[*kueue.Cohort](objects), got.Cohorts, func(q *kueue.Cohort) any { return []any{q.Spec, identity(q)} })
	compareSpecs(t, of[*kueue.AdmissionCheck](objects), got.Checks, func(c *kueue.AdmissionCheck) any { return []any{c.Spec, c.Status.Conditions, identity(c)} })
	compareSpecs(t, of[*kueue.Topology](objects), got.Topologies, func(c *kueue.Topology) any { return c.Spec })
	compareSpecs(t, of[*corev1.Namespace](objects), got.Namespaces, func(n *corev1.Namespace) any { return n.Labels })
	compareSpecs(t, of[*corev1.LimitRange](objects), got.LimitRanges, func(n *corev1.LimitRange) any { return n.Spec })
	compareSpecs(t, of[*nodev1.RuntimeClass](objects), got.RuntimeClasses, func(n *nodev1.RuntimeClass) any {
		if n.Overhead == nil {
			return corev1.ResourceList(nil)
		}
		return n.Overhead.PodFixed
	})
	flavors := of[*kueue.ResourceFlavor](objects)
	for i, f := range flavors {
		flavors[i] = f.DeepCopy()
		flavors[i].Spec.TopologyName = nil // there are no nodes
	}
	compareSpecs(t, flavors, got.Flavors, func(f *kueue.ResourceFlavor) any { return []any{f.Spec, identity(f)} })

	queues := of[*kueue.ClusterQueue](objects)
	want := map[string]view{}
	for _, w := range of[*kueue.Workload](objects) {
		if !expected(w) {
			continue
		}
		v := look(asPacked(w, objects), readerOf(objects), queues)
		want[v.Key] = v
	}
	have := map[string]view{}
	for _, w := range got.Workloads {
		v := look(w, readerOfObjects(got), queues)
		have[v.Key] = v
	}
	if d := cmp.Diff(want, have, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("what Kueue says of the Workloads (-original +unpacked):\n%s", d)
	}
}

// expected reports whether the Workload is packed.
func expected(w *kueue.Workload) bool {
	return !finish.IsFinished(w) && w.DeletionTimestamp == nil && (!workload.HasDRA(w) || workload.HasQuotaReservation(w))
}

// asPacked is the Workload with what Of leaves out for want of nodes left out.
func asPacked(in *kueue.Workload, objects []runtime.Object) *kueue.Workload {
	w := in.DeepCopy()
	w.Status.UnhealthyNodes = nil
	if w.Status.Admission != nil {
		for i := range w.Status.Admission.PodSetAssignments {
			a := &w.Status.Admission.PodSetAssignments[i]
			a.TopologyAssignment, a.DelayedTopologyRequest = nil, nil
		}
	}
	if !placedBy(w, objects) {
		return w
	}
	for i := range w.Spec.PodSets {
		if r := w.Spec.PodSets[i].TopologyRequest; r != nil {
			r.Required, r.Preferred, r.Unconstrained = nil, nil, nil
			r.PodSetSliceRequiredTopology, r.PodSetSliceSize, r.PodsetSliceRequiredTopologyConstraints = nil, nil, nil
		}
	}
	return w
}

// placedBy reports whether a flavor of the Workload's ClusterQueue has a topology.
func placedBy(w *kueue.Workload, objects []runtime.Object) bool {
	var queue kueue.ClusterQueueReference
	if w.Status.Admission != nil {
		queue = w.Status.Admission.ClusterQueue
	} else {
		for _, q := range of[*kueue.LocalQueue](objects) {
			if q.Namespace == w.Namespace && q.Name == string(w.Spec.QueueName) {
				queue = q.Spec.ClusterQueue
			}
		}
	}
	for _, q := range of[*kueue.ClusterQueue](objects) {
		if q.Name != string(queue) {
			continue
		}
		for _, f := range of[*kueue.ResourceFlavor](objects) {
			for _, g := range q.Spec.ResourceGroups {
				if f.Spec.TopologyName != nil && slices.ContainsFunc(g.Flavors, func(x kueue.FlavorQuotas) bool { return string(x.Name) == f.Name }) {
					return true
				}
			}
		}
	}
	return false
}

// identity is what Kueue reads of the metadata of its own objects.
func identity(o client.Object) []any {
	return []any{o.GetUID(), o.GetGeneration(), o.GetDeletionTimestamp() != nil}
}

func compareSpecs[T client.Object](t fataler, want, got []T, spec func(T) any) {
	t.Helper()
	by := map[client.ObjectKey]T{}
	for _, o := range got {
		by[client.ObjectKeyFromObject(o)] = o
	}
	for _, o := range want {
		x, ok := by[client.ObjectKeyFromObject(o)]
		if !ok {
			t.Fatalf("%T %s is missing", o, client.ObjectKeyFromObject(o))
		}
		if !equality.Semantic.DeepEqual(spec(o), spec(x)) {
			t.Fatalf("%T %s (-original +unpacked):\n%s", o, client.ObjectKeyFromObject(o), cmp.Diff(spec(o), spec(x)))
		}
	}
	if len(got) != len(by) || len(want) != len(by) {
		t.Fatalf("%d %Ts were packed, %d came back", len(want), *new(T), len(got))
	}
}

func TestRecordedObjectsComeBack(t *testing.T) {
	seen := 0
	for _, path := range files(t) {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			objects := latest(load(t, path))
			w, _ := Of(snapshot(t, objects), nil)
			same(t, objects, throughPipe(t, w))
			seen += len(w.Workloads)
		})
	}
	if seen == 0 {
		t.Error("the recorded files have no Workload")
	}
}

func TestAnyObjectsComeBack(t *testing.T) {
	any := func(t *rapid.T) {
		objects := cluster(t)
		w, _ := Of(snapshot(t, objects), nil)
		same(t, objects, throughPipe(t, w))
	}
	t.Run("gates as they are", func(t *testing.T) { rapid.Check(t, any) })
	// These are off and make Kueue read more.
	for _, gate := range []featuregate.Feature{features.PriorityBoost, features.ConcurrentAdmission, features.UnadmittedWorkloadsObservability} {
		features.SetFeatureGateDuringTest(t, gate, true)
	}
	t.Run("all gates", func(t *testing.T) { rapid.Check(t, any) })
}

// latest keeps the last of the objects of one key, as a snapshot does.
func latest(in []runtime.Object) []runtime.Object {
	type key struct {
		kind string
		key  client.ObjectKey
	}
	at := map[key]int{}
	var out []runtime.Object
	for _, o := range in {
		k := key{fmt.Sprintf("%T", o), client.ObjectKeyFromObject(o.(client.Object))}
		if i, ok := at[k]; ok {
			out[i] = o
			continue
		}
		at[k] = len(out)
		out = append(out, o)
	}
	return out
}
