package project

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"cli.holdfast.dev/holdfast/model/world"
)

func rl(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func TestShapeKeepsWhatBearsOnQuota(t *testing.T) {
	always, kata := corev1.ContainerRestartPolicyAlways, "kata"
	in := corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "side", Image: "secret/image", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: rl("cpu", "1")}}},
		Containers: []corev1.Container{{
			Name: "main", Command: []string{"train"}, Env: []corev1.EnvVar{{Name: "TOKEN", Value: "hunter2"}},
			Resources: corev1.ResourceRequirements{Requests: rl("cpu", "2"), Limits: rl("memory", "1Gi")},
			Ports:     []corev1.ContainerPort{{ContainerPort: 8080}},
		}},
		NodeSelector:     map[string]string{"zone": "a"},
		Tolerations:      []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}},
		RuntimeClassName: &kata,
		Overhead:         rl("cpu", "250m"),
		Affinity: &corev1.Affinity{
			PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "rack"}}},
			NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "k", Operator: "In", Values: []string{"v"}}}}},
			}},
		},
	}
	want := *in.DeepCopy()
	want.InitContainers[0].Name, want.InitContainers[0].Image = "", ""
	want.Containers[0] = corev1.Container{Resources: want.Containers[0].Resources, Ports: want.Containers[0].Ports}
	s := shape(&in)
	got, err := PodSpec(s)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("read back (-want +got):\n%s", d)
	}
	for _, secret := range []string{"hunter2", "secret/image", "train"} {
		if strings.Contains(s, secret) {
			t.Errorf("the shape keeps %q", secret)
		}
	}
	before := in.DeepCopy()
	// 2 + 1 beside it + 0.25 overhead; the memory limit is taken as request.
	if d := cmp.Diff([]world.Request{{Resource: "cpu", Amount: 3250}, {Resource: "memory", Amount: 1 << 30}}, PerPod(in)); d != "" {
		t.Errorf("per pod (-want +got):\n%s", d)
	}
	if d := cmp.Diff(before, &in); d != "" {
		t.Errorf("counting changed the pod spec:\n%s", d)
	}
}

func TestShapeThatCannotBeRead(t *testing.T) {
	if _, err := PodSpec("{"); err == nil {
		t.Error("a broken shape was read")
	}
	if s, err := PodSpec(""); err != nil || len(s.Containers) != 0 {
		t.Errorf("an empty shape gave %v, %v", s, err)
	}
}

func TestEventTimes(t *testing.T) {
	at := func(min int) time.Time { return time.Date(2026, 9, 14, 9, min, 0, 0, time.UTC) }
	created := metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at(1))}
	tests := map[string]struct {
		in   corev1.Event
		want time.Time
	}{
		"series first":        {corev1.Event{ObjectMeta: created, EventTime: metav1.NewMicroTime(at(5)), Series: &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(at(9))}}, at(9)},
		"the last time":       {corev1.Event{ObjectMeta: created, FirstTimestamp: metav1.NewTime(at(2)), LastTimestamp: metav1.NewTime(at(7))}, at(7)},
		"a new recorder":      {corev1.Event{ObjectMeta: created, EventTime: metav1.NewMicroTime(at(5))}, at(5)},
		"the first time":      {corev1.Event{ObjectMeta: created, FirstTimestamp: metav1.NewTime(at(2))}, at(2)},
		"nothing but created": {corev1.Event{ObjectMeta: created}, at(1)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Event(&tc.in).At; !got.Equal(tc.want) {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
	n := NewEvent(&eventsv1.Event{ObjectMeta: created, EventTime: metav1.NewMicroTime(at(5)), Note: "a\x1b[2Jb", Regarding: corev1.ObjectReference{Kind: "Workload", Namespace: "n", Name: "w", UID: "u"}})
	want := world.Event{Kind: "Workload", Object: world.Key{Namespace: "n", Name: "w"}, ObjectUID: "u", Message: `a\x1b[2Jb`, At: at(5)}
	if d := cmp.Diff(want, n); d != "" {
		t.Errorf("an event of events.k8s.io (-want +got):\n%s", d)
	}
}

func TestPodMessage(t *testing.T) {
	waiting := func(reason, message string) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}}
	}
	tests := map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"not scheduled":     {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available"}}}, "0/3 nodes are available"},
		"image":             {corev1.PodStatus{ContainerStatuses: waiting("ImagePullBackOff", "no such image")}, "ImagePullBackOff: no such image"},
		"being made":        {corev1.PodStatus{ContainerStatuses: waiting("ContainerCreating", "")}, ""},
		"init failed first": {corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}}}}, ContainerStatuses: waiting("PodInitializing", "")}, "Error"},
		"evicted":           {corev1.PodStatus{Reason: "Evicted", Message: "low on\nmemory"}, `Evicted: low on\nmemory`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Pod(&corev1.Pod{Status: tc.status}).Message; got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// The name of a pod group is a label, and since Kueue 0.18 an annotation.
func TestPodGroup(t *testing.T) {
	const name = "kueue.x-k8s.io/pod-group-name"
	label := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{name: "a"}}}
	annotation := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{name: "b"}}}
	if got := Pod(&label).Group + Pod(&annotation).Group + Pod(&corev1.Pod{}).Group; got != "ab" {
		t.Errorf("groups %q, want %q", got, "ab")
	}
}
