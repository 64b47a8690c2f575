package pack

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

// small is a cluster of one ClusterQueue with two flavors, two LocalQueues and n
// Workloads that wait, each changed by edit.
func small(n int, edit func(i int, w *kueue.Workload)) []runtime.Object {
	q := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: "q"}}
	q.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	q.Spec.ResourceGroups = []kueue.ResourceGroup{{CoveredResources: []corev1.ResourceName{"cpu"}, Flavors: []kueue.FlavorQuotas{{Name: "plain"}, {Name: "rack"}}}}
	q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "budget"}}}
	lq := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lq"}, Spec: kueue.LocalQueueSpec{ClusterQueue: "q"}}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: map[string]string{"team": "a"}}}
	rack := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "rack"}}
	out := []runtime.Object{q, lq, ns, rack, &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "plain"}}, &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "budget"}}}
	for i := range n {
		w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("w", i)}}
		w.Spec.QueueName = "lq"
		w.Spec.PodSets = []kueue.PodSet{{Name: "main", Count: 1}}
		if edit != nil {
			edit(i, w)
		}
		out = append(out, w)
	}
	return out
}

func reserve(w *kueue.Workload) {
	w.Status.Admission = &kueue.Admission{ClusterQueue: "q"}
	w.Status.Conditions = []metav1.Condition{{Type: "QuotaReserved", Status: "True"}}
}

func TestNotes(t *testing.T) {
	later, earlier := metav1.NewTime(at.Add(time.Minute)), metav1.NewTime(at.Add(-time.Minute))
	tests := map[string]struct {
		objects []runtime.Object
		blind   []world.Kind
		want    []string
		packed  int // Workloads
	}{
		"nothing odd": {small(2, nil), nil, nil, 2},
		"being deleted": {small(3, func(i int, w *kueue.Workload) {
			if i > 0 {
				w.DeletionTimestamp = &earlier
			}
			if i == 1 {
				reserve(w)
			}
		}), nil, []string{"2 Workloads are being deleted and left out: what 1 of them still holds counts as free"}, 1},
		"backoff": {small(4, func(i int, w *kueue.Workload) {
			w.Status.RequeueState = []*kueue.RequeueState{{RequeueAt: &later}, {RequeueAt: &earlier}, {Count: ptr.To[int32](1)}, nil}[i]
			if i == 3 {
				w.Status.AdmissionChecks = []kueue.AdmissionCheckState{{Name: "budget", State: kueue.CheckStateRetry, LastTransitionTime: earlier, RequeueAfterSeconds: ptr.To[int32](61)}}
			}
		}), nil, []string{"2 Workloads wait for a time at which Kueue tries again, and stay out of the queues until then"}, 4},
		"devices": {small(3, func(i int, w *kueue.Workload) {
			if i > 0 {
				w.Spec.PodSets[0].Template.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("gpu")}}
			}
			if i == 1 {
				reserve(w)
			}
		}), nil, []string{"2 Workloads claim devices (DRA), which are not read: 1 that waits is left out, and what others hold is counted as it was admitted"}, 2},
		"variants and elastic jobs": {small(3, func(i int, w *kueue.Workload) {
			switch i {
			case 0:
				w.Labels = map[string]string{"kueue.x-k8s.io/concurrent-admission-parent": "true"}
			case 1:
				w.OwnerReferences = []metav1.OwnerReference{{APIVersion: "kueue.x-k8s.io/v1beta2", Kind: "Workload", Name: "w0"}}
			case 2:
				w.Annotations = map[string]string{"kueue.x-k8s.io/elastic-job": "true"}
			}
		}), nil, []string{
			"2 Workloads belong to concurrent admission: which variants there will be is not foreseen",
			"1 Workload may change its size while running (elastic jobs): whether that happens is not foreseen",
		}, 3},
		"namespaces out of sight": {small(1, nil), []world.Kind{world.KindNamespace}, []string{"the namespaces cannot be read: each is taken to match the selectors of the ClusterQueues"}, 1},
		"a namespace that is not there": {small(1, func(_ int, w *kueue.Workload) { w.Namespace = "elsewhere" }), nil,
			[]string{"there is no namespace elsewhere: Kueue admits no Workload there"}, 1},
		"little in sight": {
			small(1, func(_ int, w *kueue.Workload) { w.Spec.PodSets[0].Template.Spec.RuntimeClassName = ptr.To("kata") })[:3],
			[]world.Kind{world.KindCohort, world.KindResourceFlavor, world.KindAdmissionCheck, world.KindLimitRange, world.KindRuntimeClass},
			[]string{
				"the Cohorts cannot be read: they are taken to have no quota of their own, no limits and no parent",
				"the ResourceFlavors cannot be read: plain, rack are taken to exist and to keep no pod away",
				"the AdmissionChecks cannot be read: budget is taken to exist and to be active",
				"the LimitRanges cannot be read: Workloads may ask for more than is counted, or not be allowed",
			}, 0,
		},
		"overhead out of sight": {
			small(2, func(i int, w *kueue.Workload) {
				w.Spec.PodSets[0].Template.Spec.RuntimeClassName = ptr.To("kata")
				if i == 0 {
					w.Spec.PodSets[0].Template.Spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse("1")}
				}
			}), []world.Kind{world.KindRuntimeClass},
			[]string{"the RuntimeClasses cannot be read: 1 Workload asks for more than is counted, by the overhead of pods"}, 2,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, notes := Of(snapshot(t, tc.objects, tc.blind...), nil)
			if d := cmp.Diff(tc.want, notes); d != "" {
				t.Errorf("sentences (-want +got):\n%s", d)
			}
			if len(w.Workloads) != tc.packed {
				t.Errorf("%d Workloads are packed, want %d", len(w.Workloads), tc.packed)
			}
		})
	}
}
