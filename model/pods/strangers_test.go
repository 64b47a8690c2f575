package pods

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/kueue/pkg/constants"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

func snapshot(covered []string, rows ...any) *store.Snapshot {
	s := store.New(clocktesting.NewFakePassiveClock(time.Date(2026, 12, 2, 14, 0, 0, 0, time.UTC)))
	q := &world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: "q"}}}
	for _, f := range []string{"gpu", "plain", "bare"} {
		for _, r := range covered {
			q.Quotas = append(q.Quotas, world.Quota{FlavorResource: world.FlavorResource{Flavor: f, Resource: r}, Nominal: 100})
		}
	}
	s.Put(q)
	s.Put(&world.Flavor{Meta: world.Meta{Key: world.Key{Name: "gpu"}}, NodeLabels: map[string]string{"pool": "gpu", "zone": "a"}})
	s.Put(&world.Flavor{Meta: world.Meta{Key: world.Key{Name: "zone-a"}}, NodeLabels: map[string]string{"zone": "a"}})
	s.Put(&world.Flavor{Meta: world.Meta{Key: world.Key{Name: "plain"}}, NodeLabels: map[string]string{"pool": "plain"}})
	s.Put(&world.Flavor{Meta: world.Meta{Key: world.Key{Name: "bare"}}})
	for _, r := range rows {
		s.Put(r)
	}
	return s.Snapshot()
}

func nodes() []world.Node {
	node := func(name string, labels map[string]string) world.Node {
		return project.Node(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
	return []world.Node{
		node("gpu-1", map[string]string{"pool": "gpu", "zone": "a", "kubernetes.io/hostname": "gpu-1"}),
		node("gpu-other-zone", map[string]string{"pool": "gpu", "zone": "b"}),
		node("plain-1", map[string]string{"pool": "plain"}),
	}
}

// bound is a pod that runs on the node and asks for a core and a gpu.
func bound(name, node string, change ...func(*corev1.Pod)) world.Pod {
	o := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: "uid-of-pod", Labels: map[string]string{}, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			"cpu": resource.MustParse("1500m"), "nvidia.com/gpu": resource.MustParse("1"),
		}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, c := range change {
		c(o)
	}
	return project.Pod(o)
}

func labelled(k, v string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Labels[k] = v } }

func ownedBy(kind, uid string) func(*corev1.Pod) {
	yes := true
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, UID: types.UID(uid), Name: "owner", Controller: &yes}}
	}
}

func TestStrangers(t *testing.T) {
	ended := func(phase corev1.PodPhase) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Phase = phase } }
	one := func(flavor, example string) []Stranger {
		return []Stranger{{Flavor: flavor, Pods: 1, Requests: []world.Request{{Resource: "cpu", Amount: 1500}}, Example: world.Key{Namespace: "team", Name: example}}}
	}
	job := workload("job-1", "Job", "train", "j1")
	tests := map[string]struct {
		covered []string
		pods    []world.Pod
		want    []Stranger
	}{
		"nobody": {[]string{"cpu"}, nil, nil},
		"only what the quota covers is counted, and only where it is covered": {
			[]string{"cpu"}, []world.Pod{bound("b", "plain-1"), bound("a", "plain-1")},
			[]Stranger{{Flavor: "plain", Pods: 2, Requests: []world.Request{{Resource: "cpu", Amount: 3000}}, Example: world.Key{Namespace: "team", Name: "a"}}},
		},
		"a flavor that no queue uses promises nothing": {[]string{"cpu"}, []world.Pod{bound("a", "gpu-1")}, one("gpu", "a")},
		"every label of the flavor must match":         {[]string{"cpu"}, []world.Pod{bound("a", "gpu-other-zone")}, nil},
		"nothing of what is covered":                   {[]string{"memory"}, []world.Pod{bound("a", "plain-1")}, nil},
		"pods are counted where they are a resource": {
			[]string{"pods", "nvidia.com/gpu"}, []world.Pod{bound("a", "plain-1"), bound("b", "plain-1")},
			[]Stranger{{Flavor: "plain", Pods: 2, Requests: []world.Request{{Resource: "nvidia.com/gpu", Amount: 2}, {Resource: "pods", Amount: 2}}, Example: world.Key{Namespace: "team", Name: "a"}}},
		},
		"a pod that is bound and not started takes room": {[]string{"cpu"}, []world.Pod{bound("a", "plain-1", ended(corev1.PodPending))}, one("plain", "a")},
		"a Deployment's pod that Kueue does not manage":  {[]string{"cpu"}, []world.Pod{bound("a", "plain-1", ownedBy("ReplicaSet", "uid-of-replicaset"))}, one("plain", "a")},
		"those that take nothing, or that nobody could move": {
			[]string{"cpu"},
			[]world.Pod{
				bound("not bound", ""), bound("on a node that is not known", "gone"), bound("ended", "plain-1", ended(corev1.PodSucceeded)), bound("failed", "plain-1", ended(corev1.PodFailed)),
				bound("daemon", "plain-1", ownedBy("DaemonSet", "uid-of-daemonset")), bound("mirror", "plain-1", ownedBy("Node", "uid-of-node")),
			}, nil,
		},
		"those that are Kueue's": {
			[]string{"cpu"},
			[]world.Pod{
				bound("started", "plain-1", labelled(constants.PodSetLabel, "main")), bound("managed", "plain-1", labelled(constants.ManagedByKueueLabelKey, "true")),
				bound("queued", "plain-1", labelled(controllerconstants.QueueLabel, "lq")), bound("grouped", "plain-1", labelled(podconstants.GroupNameLabel, "g")),
				bound("annotated", "plain-1", func(p *corev1.Pod) { p.Annotations["kueue.x-k8s.io/workload"] = "gone" }),
				bound("of a Workload's job", "plain-1", ownedBy("Job", "j1")),
			}, nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, Strangers(snapshot(tc.covered, job), tc.pods, nodes())); d != "" {
				t.Errorf("strangers (-want +got):\n%s", d)
			}
		})
	}
}

// large is 2,000 Jobs of 20 pods on 1,000 nodes, and a pod in ten without a job.
func large() (*store.Snapshot, []world.Pod, []world.Node) {
	var rows []any
	var all []world.Pod
	var ns []world.Node
	for i := range 1000 {
		ns = append(ns, world.Node{Meta: world.Meta{Key: world.Key{Name: fmt.Sprint("n", i)}}, Labels: map[string]string{"pool": "plain"}})
	}
	for j := range 2000 {
		uid := fmt.Sprint("j", j)
		rows = append(rows, workload("job-"+uid, "Job", uid, uid))
		for i := range 20 {
			p := bound(fmt.Sprint(uid, "-", i), fmt.Sprint("n", (j*20+i)%1000), labelled("batch.kubernetes.io/controller-uid", uid))
			if i%10 == 0 {
				p.Labels = nil
			}
			all = append(all, p)
		}
	}
	return snapshot([]string{"cpu"}, rows...), all, ns
}

func BenchmarkIndex(b *testing.B) {
	s, all, _ := large()
	for b.Loop() {
		x := NewIndex(all)
		for _, w := range s.Workloads {
			x.Count(w)
		}
	}
}

func BenchmarkStrangers(b *testing.B) {
	s, all, ns := large()
	for b.Loop() {
		Strangers(s, all, ns)
	}
}
