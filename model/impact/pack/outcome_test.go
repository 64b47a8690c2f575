package pack

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/quota"
)

// originals are the objects of a file as they are, but for what Of leaves out on
// purpose.
func originals(objects []runtime.Object) engine.Objects {
	o := engine.Objects{
		Checks: of[*kueue.AdmissionCheck](objects), Cohorts: of[*kueue.Cohort](objects), ClusterQueues: of[*kueue.ClusterQueue](objects),
		LocalQueues: of[*kueue.LocalQueue](objects), Namespaces: of[*corev1.Namespace](objects), LimitRanges: of[*corev1.LimitRange](objects),
		RuntimeClasses: of[*nodev1.RuntimeClass](objects),
	}
	for _, f := range of[*kueue.ResourceFlavor](objects) {
		f = f.DeepCopy()
		f.Spec.TopologyName = nil
		o.Flavors = append(o.Flavors, f)
	}
	for _, w := range of[*kueue.Workload](objects) {
		if expected(w) {
			o.Workloads = append(o.Workloads, asPacked(w, objects))
		}
	}
	return o
}

// What Kueue's scheduler makes of the unpacked objects is what it makes of the
// recorded ones, when a ClusterQueue is drained or let go.
func TestOutcomesAreThoseOfTheOriginals(t *testing.T) {
	settings := manager.Defaults()
	moved := 0
	for _, path := range files(t) {
		objects := latest(load(t, path))
		s := snapshot(t, objects)
		if slices.ContainsFunc(s.Tree.Roots, func(n *quota.Node) bool { return n.Cycle != nil }) || len(s.Workloads) == 0 {
			continue // Kueue does not take a cycle
		}
		w, _ := Of(s, nil)
		for i, q := range of[*kueue.ClusterQueue](objects) {
			t.Run(filepath.Base(filepath.Dir(path))+"/"+q.Name, func(t *testing.T) {
				run := func(o engine.Objects) engine.Outcome {
					old := o.ClusterQueues[slices.IndexFunc(o.ClusterQueues, func(x *kueue.ClusterQueue) bool { return x.Name == q.Name })]
					n := old.DeepCopy()
					n.Spec.StopPolicy = ptr.To(kueue.HoldAndDrain)
					if s := old.Spec.StopPolicy; s != nil && *s != kueue.None {
						n.Spec.StopPolicy = nil
					}
					n.Generation++
					modes := engine.Modes(1)
					out, err := engine.Run(t.Context(), o, []engine.Change{{Old: old, New: n}}, modes[i%len(modes)], engine.Options{Config: settings.Config, At: at})
					if err != nil {
						t.Fatal(err)
					}
					return out
				}
				want, got := run(originals(objects)), run(throughPipe(t, w))
				// Of leaves some out; Kueue's controller takes some times from the clock on the
				// wall.
				ignore := cmp.Options{
					cmpopts.EquateEmpty(), cmpopts.IgnoreFields(kueue.Workload{}, "TypeMeta", "ObjectMeta", "Spec"),
					cmpopts.IgnoreFields(kueue.WorkloadStatus{}, "AccumulatedPastExecutionTimeSeconds", "RequeueState"),
					cmpopts.IgnoreFields(kueue.AdmissionCheckState{}, "LastTransitionTime", "RequeueAfterSeconds", "PodSetUpdates"),
					cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime"),
				}
				if d := cmp.Diff(want, got, ignore); d != "" {
					t.Errorf("outcome (-of the originals +of the unpacked):\n%s", d)
				}
				moved += len(got.Changed)
			})
		}
	}
	if moved == 0 {
		t.Error("nothing ever changed")
	}
}
