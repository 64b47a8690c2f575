package reason

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"cli.holdfast.dev/holdfast/model/world"
)

// What neither waiting in the queue nor quota decides, in the words of 0.17 and
// under the reasons of later versions.
func TestSpecial(t *testing.T) {
	const me = "Workload/team/w"
	tests := map[string]struct {
		w         *world.Workload
		want      answer
		obstacles []Obstacle
	}{
		"a webhook does not answer": {
			said(2, "Pending", `Failed to admit workload: Internal error occurred: failed calling webhook "vworkload.kb.io": failed to call webhook: Post "https://kueue-webhook-service.kueue-system.svc:443/validate?timeout=10s": no endpoints available for service "kueue-webhook-service"`),
			answer{Webhook, AdviceEscalate, "platform admin", `A webhook stands in the way: Failed to admit workload: Internal error occurred: failed calling webhook "vworkload.kb.io": failed to call webhook: Post "https://kueue-webhook-service.kueue-system.svc:443/validate?timeout=10s": no endpoints available for service "kueue-webhook-service".`},
			[]Obstacle{{ObstacleWebhook, me, `Failed to admit workload: Internal error occurred: failed calling webhook "vworkload.kb.io": failed to call webhook: Post "https://kueue-webhook-service.kueue-system.svc:443/validate?timeout=10s": no endpoints available for service "kueue-webhook-service"`}},
		},
		"the conversion webhook": {
			said(2, "Pending", "conversion webhook for kueue.x-k8s.io/v1beta2, Kind=Workload failed"),
			answer{Webhook, AdviceEscalate, "platform admin", "A webhook stands in the way: conversion webhook for kueue.x-k8s.io/v1beta2, Kind=Workload failed."},
			[]Obstacle{{ObstacleWebhook, me, "conversion webhook for kueue.x-k8s.io/v1beta2, Kind=Workload failed"}},
		},
		"admitting failed otherwise": {
			said(2, "Pending", "Failed to admit workload: the object has been modified"),
			answer{Unclear, AdviceEscalate, "platform admin", "Kueue tried to admit it and failed: Failed to admit workload: the object has been modified."}, nil,
		},
		"resources not valid": {
			said(2, "Pending", "resources validation failed: spec.podSets[0].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests must not exceed its limits"),
			answer{Misconfigured, AdviceChange, "job owner", "The job's resources are not valid: resources validation failed: spec.podSets[0].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests must not exceed its limits."},
			[]Obstacle{{ObstacleJobSpec, me, "resources validation failed: spec.podSets[0].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests must not exceed its limits"}},
		},
		"a LimitRange forbids it, later versions": {
			said(2, "Misconfigured", "resources didn't satisfy LimitRange constraints: too much cpu"),
			answer{Misconfigured, AdviceChange, "job owner", "The job's resources are not valid: resources didn't satisfy LimitRange constraints: too much cpu."},
			[]Obstacle{{ObstacleJobSpec, me, "resources didn't satisfy LimitRange constraints: too much cpu"}},
		},
		"misconfigured otherwise": {
			said(2, "Misconfigured", `workload namespace "team" does not exist`),
			answer{Misconfigured, AdviceChange, "job owner or platform admin", `Misconfigured, says Kueue: workload namespace "team" does not exist.`},
			[]Obstacle{{ObstacleJobSpec, me, `workload namespace "team" does not exist`}},
		},
		"inadmissible for its devices": {
			said(2, "Inadmissible", "DRA: device class gpu is not mapped"),
			answer{Misconfigured, AdviceChange, "job owner or platform admin", "Kueue does not take it up: DRA: device class gpu is not mapped."},
			[]Obstacle{{ObstacleJobSpec, me, "DRA: device class gpu is not mapped"}},
		},
		"pods of others, 0.17": {
			said(2, "Waiting", "waiting for all admitted workloads to be in PodsReady condition"),
			answer{PodsNotReady, AdviceWait, "owners of the jobs whose pods are not ready", "For 60s Kueue has admitted nothing until the pods of all admitted Workloads are ready; escalate if they never are."}, nil,
		},
		"pods of others": {
			said(2, "WaitingForPodsReady", "waiting for all admitted workloads to be in PodsReady condition"),
			answer{PodsNotReady, AdviceWait, "owners of the jobs whose pods are not ready", "For 60s Kueue has admitted nothing until the pods of all admitted Workloads are ready; escalate if they never are."}, nil,
		},
		"on hold": {
			said(2, "OnHold", "StatefulSet scaled to zero"), answer{Gated, AdviceChange, "job owner", "On hold by its own job: StatefulSet scaled to zero."},
			[]Obstacle{{ObstacleGate, me, "StatefulSet scaled to zero"}},
		},
		"a gate that was cleared": {said(2, "AdmissionGated", "Admission is gated by: budget"), answer{Unclear, AdviceWait, "", "Its gate was cleared; Kueue has yet to look at it again."}, nil},
		"the namespace, in the words of 0.19": {
			said(2, "Misconfigured", "workload namespace doesn't match ClusterQueue selector"),
			answer{Unclear, AdviceWait, "", "Kueue said 60s ago that the ClusterQueue does not admit this namespace; by its labels it does now."}, nil,
		},
		"a queue that was stopped": {said(2, "Suspended", "ClusterQueue q is inactive"), answer{Unclear, AdviceWait, "", "Kueue's last word, 60s ago: ClusterQueue q is inactive."}, nil},
		"a queue that was missing": {said(2, "Misconfigured", "ClusterQueue q not found"), answer{Unclear, AdviceWait, "", "Kueue's last word, 60s ago: ClusterQueue q not found."}, nil},
		"it was inactive, and never fits": {
			said(9, "Suspended", "ClusterQueue q is inactive"), answer{Quota, AdviceChange, "job owner or platform admin", "Can never fit: needs 9 gpu in one flavor, and none of 2 has more than 8. Ask for less, or have the quota raised."},
			[]Obstacle{{ObstacleQuota, "ClusterQueue/q", "needs 9 gpu in one flavor, and none of 2 has more than 8"}},
		},
		"a LocalQueue was stopped":             {said(2, "Inadmissible", "LocalQueue lq is terminating or missing"), answer{Unclear, AdviceWait, "", "Kueue's last word, 60s ago: LocalQueue lq is terminating or missing."}, nil},
		"a queue was inactive, reason Pending": {said(2, "Pending", "ClusterQueue q is inactive"), answer{Unclear, AdviceWait, "", "Kueue's last word, 60s ago: ClusterQueue q is inactive."}, nil},
		"drained, and resumed since":           {said(2, "Pending", "The ClusterQueue is stopped"), answer{Unclear, AdviceWait, "", "Kueue's last word, 60s ago: The ClusterQueue is stopped."}, nil},
		"drained, and resumed since, without room": {
			said(7, "Pending", "The ClusterQueue is stopped"),
			answer{Quota, AdviceWait, "", "Needs 7 gpu of a: 2 free, 8 at most. Waits for 5 to come back. (Kueue's last word, 60s ago, is older than the queue's state: The ClusterQueue is stopped.)"},
			[]Obstacle{{ObstacleQuota, "ClusterQueue/q", "5 gpu of a missing"}},
		},
		"an unknown reason": {said(2, "Odd", ""), answer{Unclear, AdviceWait, "", "Kueue gives a reason that is not known here, Odd: no reason given."}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := explained(snapshotOf(newScene().rows(tc.w)...), tc.w, now)
			if d := cmp.Diff(tc.want, answer{e.Class, e.Advice, e.Actor, e.Sentence}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.obstacles, e.Obstacles, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("obstacles (-want +got):\n%s", d)
			}
		})
	}
}
