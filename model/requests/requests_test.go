package requests

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
	kueueresources "sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/workload"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// snapshot holds the objects; kinds in blind cannot be read.
func snapshot(t interface{ Fatal(...any) }, blind []world.Kind, objects ...client.Object) *store.Snapshot {
	s := store.New(clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	for _, k := range append(world.WatchedKinds(), world.SideKinds()...) {
		s.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	for _, k := range blind {
		s.SetFreshness(k, world.Freshness{Feed: world.Denied})
	}
	for _, o := range objects {
		row, err := project.Row(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Put(row)
	}
	return s.Snapshot()
}

func limits(name string, items ...corev1.LimitRangeItem) *corev1.LimitRange {
	return &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}, Spec: corev1.LimitRangeSpec{Limits: items}}
}

func wl(count int32, spec corev1.PodSpec) *kueue.Workload {
	return &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "w"},
		Spec:       kueue.WorkloadSpec{PodSets: []kueue.PodSet{{Name: "main", Count: count, Template: corev1.PodTemplateSpec{Spec: spec}}}},
	}
}

func one(r corev1.ResourceRequirements) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: r}}}
}

func TestOf(t *testing.T) {
	kata, always := "kata", corev1.ContainerRestartPolicyAlways
	defaults := limits("defaults", corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, DefaultRequest: list("cpu", "500m"), Default: list("memory", "1Gi")})
	class := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: kata}, Overhead: &nodev1.Overhead{PodFixed: list("cpu", "250m")}}
	inKata := one(corev1.ResourceRequirements{Requests: list("cpu", "1")})
	inKata.RuntimeClassName = &kata
	tests := map[string]struct {
		objects []client.Object
		blind   []world.Kind
		spec    corev1.PodSpec
		want    Count
	}{
		"as written": {nil, nil, one(corev1.ResourceRequirements{Requests: list("cpu", "2")}), Count{PerPod: []world.Request{{Resource: "cpu", Amount: 2000}}, Pods: 3}},
		"defaults of the LimitRange": {
			[]client.Object{defaults}, nil, one(corev1.ResourceRequirements{}),
			Count{PerPod: []world.Request{{Resource: "cpu", Amount: 500}, {Resource: "memory", Amount: 1 << 30}}, Pods: 3},
		},
		"another namespace's LimitRange": {
			[]client.Object{&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "d"}, Spec: defaults.Spec}}, nil,
			one(corev1.ResourceRequirements{Requests: list("cpu", "1")}), Count{PerPod: []world.Request{{Resource: "cpu", Amount: 1000}}, Pods: 3},
		},
		"LimitRanges unreadable": {
			nil, []world.Kind{world.KindLimitRange}, one(corev1.ResourceRequirements{Requests: list("cpu", "1")}),
			Count{PerPod: []world.Request{{Resource: "cpu", Amount: 1000}}, Pods: 3, Unknown: "the LimitRanges of namespace team cannot be read: their defaults may add to its requests"},
		},
		"overhead of the RuntimeClass": {[]client.Object{class}, nil, inKata, Count{PerPod: []world.Request{{Resource: "cpu", Amount: 1250}}, Pods: 3}},
		"RuntimeClass missing": {
			nil, nil, inKata, Count{PerPod: []world.Request{{Resource: "cpu", Amount: 1000}}, Pods: 3, Unknown: "RuntimeClass kata does not exist"},
		},
		"limits taken as requests": {nil, nil, one(corev1.ResourceRequirements{Limits: list("cpu", "4")}), Count{PerPod: []world.Request{{Resource: "cpu", Amount: 4000}}, Pods: 3}},
		// The greater of the init container (8, beside the sidecar's 1) and of main + sidecar.
		"init containers and a sidecar": {
			nil, nil, corev1.PodSpec{
				InitContainers: []corev1.Container{
					{Name: "side", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: list("cpu", "1")}},
					{Name: "init", Resources: corev1.ResourceRequirements{Requests: list("cpu", "8")}},
				},
				Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: list("cpu", "2")}}},
			},
			Count{PerPod: []world.Request{{Resource: "cpu", Amount: 9000}}, Pods: 3},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, tc.blind, tc.objects...)
			row := project.Workload(wl(3, tc.spec))
			if d := cmp.Diff(tc.want, New(s).Of("team", &row.PodSets[0])); d != "" {
				t.Errorf("count (-want +got):\n%s", d)
			}
		})
	}
}

func TestKueuesOwnNumberStands(t *testing.T) {
	w := wl(4, one(corev1.ResourceRequirements{Requests: list("cpu", "1")}))
	w.Status.ResourceRequests = []kueue.PodSetRequest{{Name: "main", Resources: list("credits", "40")}}
	row := project.Workload(w)
	s := snapshot(t, []world.Kind{world.KindLimitRange})
	if d := cmp.Diff(Count{PerPod: []world.Request{{Resource: "credits", Amount: 10}}, Pods: 4}, New(s).Of("team", &row.PodSets[0])); d != "" {
		t.Errorf("count (-want +got):\n%s", d)
	}
}

// What is counted out of a row and a snapshot is what Kueue counts out of the
// objects.
func TestCountsAreKueues(t *testing.T) {
	names := []string{"cpu", "memory", "example.com/gpu"}
	amounts := rapid.SampledFrom([]string{"0", "1", "500m", "1500m", "2", "1Gi", "3k", "100u"})
	resources := rapid.Custom(func(t *rapid.T) corev1.ResourceList {
		out := corev1.ResourceList{}
		for _, n := range names {
			if rapid.Bool().Draw(t, "has "+n) {
				out[corev1.ResourceName(n)] = resource.MustParse(amounts.Draw(t, n))
			}
		}
		return out
	})
	container := rapid.Custom(func(t *rapid.T) corev1.Container {
		return corev1.Container{Name: "c", Resources: corev1.ResourceRequirements{Requests: resources.Draw(t, "requests"), Limits: resources.Draw(t, "limits")}}
	})
	always := corev1.ContainerRestartPolicyAlways
	rapid.Check(t, func(t *rapid.T) {
		var objects []client.Object
		for i := range rapid.IntRange(0, 2).Draw(t, "LimitRanges") {
			objects = append(objects, limits(string(rune('a'+i)), corev1.LimitRangeItem{
				Type:           rapid.SampledFrom([]corev1.LimitType{corev1.LimitTypeContainer, corev1.LimitTypePod, corev1.LimitTypePersistentVolumeClaim}).Draw(t, "type"),
				DefaultRequest: resources.Draw(t, "default request"), Default: resources.Draw(t, "default"),
			}))
		}
		spec := corev1.PodSpec{Containers: rapid.SliceOfN(container, 1, 3).Draw(t, "containers"), InitContainers: rapid.SliceOfN(container, 0, 2).Draw(t, "init")}
		for i := range spec.InitContainers {
			if rapid.Bool().Draw(t, "sidecar") {
				spec.InitContainers[i].RestartPolicy = &always
			}
		}
		if rapid.Bool().Draw(t, "runtime class") {
			name := "kata"
			spec.RuntimeClassName = &name
			objects = append(objects, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Overhead: &nodev1.Overhead{PodFixed: resources.Draw(t, "overhead")}})
		}
		w := wl(rapid.Int32Range(0, 5).Draw(t, "count"), spec)
		row := project.Workload(w)
		got := New(snapshot(t, nil, objects...)).Of("team", &row.PodSets[0])

		// Kueue's code asks for LimitRanges by an index of its own.
		byIndex := func(o client.Object) []string { return indexer.IndexLimitRangeHasContainerOrPodType(o) }
		c := fake.NewClientBuilder().WithObjects(objects...).WithIndex(&corev1.LimitRange{}, indexer.LimitRangeHasContainerOrPodType, byIndex).Build()
		workload.AdjustResources(ctrl.LoggerInto(context.Background(), logr.Discard()), c, w)
		var want []world.Request
		kueueresources.NewRequestsFromPodSpec(&w.Spec.PodSets[0].Template.Spec).ForEach(func(name corev1.ResourceName, v int64) {
			want = append(want, world.Request{Resource: string(name), Amount: world.Amount(max(0, v))})
		})
		slices.SortFunc(want, func(a, b world.Request) int {
			if a.Resource < b.Resource {
				return -1
			}
			return 1
		})
		if len(want) == 0 && len(got.PerPod) == 0 {
			return
		}
		if d := cmp.Diff(want, got.PerPod); d != "" {
			t.Errorf("per pod (-Kueue +ours):\n%s", d)
		}
	})
}
