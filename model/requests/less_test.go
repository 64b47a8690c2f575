package requests

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/world"
)

// A default request takes the place of a limit, so where LimitRanges cannot be
// read a limit that counts as the request may be too much.
func TestWhatIsUnknownMayBeLess(t *testing.T) {
	limited := corev1.ResourceRequirements{Limits: list("cpu", "4")}
	both := corev1.ResourceRequirements{Requests: list("cpu", "1"), Limits: list("cpu", "4")}
	tests := map[string]struct {
		spec  corev1.PodSpec
		blind []world.Kind
		want  bool
	}{
		"limits alone":                      {one(limited), []world.Kind{world.KindLimitRange}, true},
		"limits alone, of the pod":          {corev1.PodSpec{Containers: []corev1.Container{{}}, Resources: &limited}, []world.Kind{world.KindLimitRange}, true},
		"limits alone, of an init":          {corev1.PodSpec{InitContainers: []corev1.Container{{Resources: limited}}}, []world.Kind{world.KindLimitRange}, true},
		"requests beside limits":            {one(both), []world.Kind{world.KindLimitRange}, false},
		"limits alone, LimitRanges known":   {one(limited), nil, false},
		"limits alone, only a class unread": {one(limited), []world.Kind{world.KindRuntimeClass}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			row := project.Workload(wl(1, tc.spec))
			if got := New(snapshot(t, tc.blind)).Of("team", &row.PodSets[0]); got.Less != tc.want {
				t.Errorf("less %v, want %v: %+v", got.Less, tc.want, got)
			}
		})
	}
	// The number that may be too much: with the default Kueue counts 1.
	row := project.Workload(wl(1, one(limited)))
	s := snapshot(t, nil, limits("defaults", corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, DefaultRequest: list("cpu", "1")}))
	if got := New(s).Of("team", &row.PodSets[0]); got.Of("cpu") != 1000 {
		t.Errorf("%+v, want 1 cpu", got)
	}
}

func TestNames(t *testing.T) {
	row := project.Workload(wl(0, one(corev1.ResourceRequirements{Requests: list("cpu", "1", "memory", "0")})))
	n := New(snapshot(t, nil)).Of("team", &row.PodSets[0])
	for resource, want := range map[string]bool{"cpu": true, "memory": true, "pods": true, "example.com/gpu": false} {
		if n.Names(resource) != want {
			t.Errorf("%s: %v, want %v", resource, n.Names(resource), want)
		}
	}
}
