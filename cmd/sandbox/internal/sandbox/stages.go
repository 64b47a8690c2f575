package sandbox

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kwok/kustomize/stage/node/fast"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	pod "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/yaml"
)

// runTime is how long a pod of a Job runs where its annotation runTimeKey names
// no other time.
const (
	runTimeMilliseconds = 600_000
	runTimeKey          = "pod-complete.stage.kwok.x-k8s.io/delay"
)

// stages returns kwok's configuration: its own stages for nodes and pods, with
// Job pods that run for a while instead of ending at once.
func stages() (string, error) {
	var complete map[string]any
	if err := yaml.Unmarshal([]byte(pod.DefaultPodComplete), &complete); err != nil {
		return "", fmt.Errorf("kwok's pod-complete stage cannot be read: %w", err)
	}
	spec, ok := complete["spec"].(map[string]any)
	if !ok {
		return "", fmt.Errorf("kwok's pod-complete stage has no spec")
	}
	spec["delay"] = map[string]any{
		"durationMilliseconds": runTimeMilliseconds,
		"durationFrom":         map[string]any{"expressionFrom": fmt.Sprintf(".metadata.annotations[%q]", runTimeKey)},
	}
	y, err := yaml.Marshal(complete)
	if err != nil {
		return "", err
	}
	return strings.Join([]string{fast.DefaultNodeInit, heartbeat.DefaultNodeHeartbeatWithLease, pod.DefaultPodReady, pod.DefaultPodDelete, string(y)}, "\n---\n"), nil
}
