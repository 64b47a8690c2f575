package health

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/pods"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
)

// Each alert: what the cluster looks like, and all that is to be said of it.
func TestAlerts(t *testing.T) {
	tests := map[string]struct {
		of     []*world.Workload
		change func(*scene)
		want   []said
	}{
		"nothing to say of a quiet cluster": {nil, nil, nil},
		"nothing to say of those that wait their turn or come back": {
			[]*world.Workload{
				admitted("ready", cond("PodsReady", "True", "Started", "", 0)), admitted("pods unknown"), job("new", world.Pending),
				job("done", world.Finished, cond("Finished", "True", "Succeeded", "", 0)), evicting("leaving", "Preempted", 20*time.Second),
				waits("preempted", 1, "Preempted to accommodate a workload (UID: x)"),
				func() *world.Workload {
					w := waits("backoff", 1, "x")
					w.RequeueAt = now.Add(time.Minute)
					return w
				}(),
			}, nil, nil,
		},
		"a held ClusterQueue": {
			[]*world.Workload{waits("a", 1, "ClusterQueue q is inactive"), waits("b", 1, "ClusterQueue q is inactive"), evicting("c", "ClusterQueueStopped", time.Second)},
			func(sc *scene) { sc.queue.StopPolicy = world.StopHoldAndDrain },
			[]said{{"held", "warning", "ClusterQueue/q", 3, "change", holder}},
		},
		"a held LocalQueue, by its record": {
			[]*world.Workload{waits("a", 1, "LocalQueue lq is inactive"), evicting("b", "LocalQueueStopped", time.Second)},
			func(sc *scene) {
				sc.local.StopPolicy, sc.local.Hold = world.StopHold, &world.HoldRecord{Version: 1, By: "ann", Reason: "drill"}
			},
			[]said{{"held", "warning", "LocalQueue/team/lq", 2, "change", "ann"}},
		},
		"a hold that stops nobody yet": {
			nil, func(sc *scene) { sc.other.StopPolicy = world.StopHold },
			[]said{{"held", "warning", "ClusterQueue/other", 0, "change", holder}},
		},
		"who is stopped by two holds is counted once": {
			[]*world.Workload{waits("a", 1, "x")},
			func(sc *scene) { sc.local.StopPolicy, sc.queue.StopPolicy = world.StopHold, world.StopHold },
			[]said{{"held", "warning", "LocalQueue/team/lq", 1, "change", holder}, {"held", "warning", "ClusterQueue/q", 0, "change", holder}},
		},
		"drained, and resumed meanwhile": {[]*world.Workload{evicting("a", "ClusterQueueStopped", time.Second)}, nil, nil},
		"a flavor that does not exist stops a queue, whether somebody waits or not": {
			[]*world.Workload{waits("a", 1, "ClusterQueue q is inactive")},
			func(sc *scene) { sc.drop = []world.Ref{gone(world.KindResourceFlavor, "", "a")} },
			[]said{{"flavor", "critical", "ClusterQueue/q", 1, "change", admin}, {"flavor", "critical", "ClusterQueue/other", 0, "change", admin}},
		},
		"held, and a flavor that does not exist": {
			[]*world.Workload{waits("a", 1, "ClusterQueue q is inactive")},
			func(sc *scene) {
				sc.queue.StopPolicy, sc.queue.Groups[0].Flavors = world.StopHold, []string{"a", "ghost"}
			},
			[]said{{"flavor", "critical", "ClusterQueue/q", 0, "change", admin}, {"held", "warning", "ClusterQueue/q", 1, "change", holder}},
		},
		"one that no flavor can serve is the object itself": {
			[]*world.Workload{waits("a", 1, "couldn't assign flavors to pod set main: untolerated taint {k v NoSchedule <nil>} in flavor a")},
			func(sc *scene) { sc.flavor.NodeTaints = []world.Taint{{Key: "k", Value: "v", Effect: "NoSchedule"}} },
			[]said{{"flavor", "critical", "Workload/team/a", 1, "change", owner}},
		},
		"several are found through their ClusterQueue": {
			[]*world.Workload{
				waits("a", 1, "couldn't assign flavors to pod set main: untolerated taint {k v NoSchedule <nil>} in flavor a"),
				waits("b", 1, "couldn't assign flavors to pod set main: untolerated taint {k v NoSchedule <nil>} in flavor a"),
			},
			func(sc *scene) { sc.flavor.NodeTaints = []world.Taint{{Key: "k", Value: "v", Effect: "NoSchedule"}} },
			[]said{{"flavor", "critical", "ClusterQueue/q", 2, "change", owner}},
		},
		"a namespace that no ClusterQueue of its wants": {
			[]*world.Workload{waits("a", 1, "Workload namespace doesn't match ClusterQueue selector"), waits("b", 1, "")},
			func(sc *scene) { sc.ns.Labels = nil },
			[]said{{"namespaceSelector", "critical", "Namespace/team", 2, "change", admin}},
		},
		"a LocalQueue that does not exist": {
			[]*world.Workload{waits("a", 1, "LocalQueue lq doesn't exist"), waits("b", 1, "LocalQueue lq doesn't exist")},
			func(sc *scene) { sc.drop = []world.Ref{gone(world.KindLocalQueue, "team", "lq")} },
			[]said{{"misconfigured", "critical", "LocalQueue/team/lq", 2, "change", owner}},
		},
		"a ClusterQueue that does not exist": {
			[]*world.Workload{waits("a", 1, "ClusterQueue gone doesn't exist")},
			func(sc *scene) { sc.local.ClusterQueue = "gone" },
			[]said{{"misconfigured", "critical", "ClusterQueue/gone", 1, "change", admin}},
		},
		"a cycle of cohorts, once, whoever reaches it": {
			[]*world.Workload{waits("a", 1, "ClusterQueue q is inactive")},
			func(sc *scene) {
				sc.put(&world.Cohort{Meta: named("", "co"), Parent: "z"}, &world.Cohort{Meta: named("", "z"), Parent: "y"}, &world.Cohort{Meta: named("", "y"), Parent: "z"})
			},
			[]said{{"misconfigured", "critical", "Cohort/y", 1, "change", admin}},
		},
		"a job that is not valid": {
			[]*world.Workload{waits("a", 1, "resources validation failed: limits[cpu] is below requests[cpu]")}, nil,
			[]said{{"misconfigured", "critical", "Workload/team/a", 1, "change", owner}},
		},
		"a queue that Kueue calls inactive for a reason of its own": {
			[]*world.Workload{waits("a", 1, "ClusterQueue q is inactive")},
			func(sc *scene) {
				sc.queue.Conditions = world.Conditions{cond("Active", "False", "MultipleMultiKueueAdmissionChecks", "Can't admit new workloads: Cannot use multiple MultiKueue AdmissionChecks.", 0)}
			},
			[]said{{"misconfigured", "critical", "ClusterQueue/q", 1, "change", admin}},
		},
		"a tree in debt stops those that ask for what it owes": {
			[]*world.Workload{waits("a", 1, noQuota), waits("too big", 9, noQuota)},
			func(sc *scene) { sc.queue.Quotas[0].Nominal = 4 },
			[]said{
				{"debt", "critical", "Cohort/co", 1, "change", admin}, {"neverFits", "warning", "Workload/team/too big", 1, "change", either},
				{"quota", "info", "ClusterQueue/q", 1, "wait", ""},
			},
		},
		"a ClusterQueue alone in debt": {
			nil, func(sc *scene) { sc.queue.Cohort, sc.other.Cohort = "", "" },
			[]said{{"debt", "critical", "ClusterQueue/other", 0, "change", admin}},
		},
		"cohorts that cannot be read may have quota: no debt is claimed": {
			nil, func(sc *scene) { sc.queue.Quotas[0].Nominal, sc.blind = 4, []world.Kind{world.KindCohort} }, nil,
		},
		"use of a flavor that left the spec is no debt": {
			nil, func(sc *scene) {
				sc.holder.Usage = append(sc.holder.Usage, world.Use{FlavorResource: gpu("left"), Amount: 3})
			}, nil,
		},
		"a check without a controller": {
			[]*world.Workload{reserving("a", check("budget", "Pending", "")), waits("b", 1, "ClusterQueue q is inactive")},
			func(sc *scene) {
				sc.put(&world.Check{Meta: named("", "budget"), Controller: "x.example.com/y"})
				sc.queue.Checks = []world.CheckRule{{Name: "budget"}}
			},
			[]said{{"admissionCheck", "critical", "AdmissionCheck/budget", 2, "escalate", checks}},
		},
		"a check that does not exist, and nobody waits": {
			nil, func(sc *scene) {
				sc.queue.Checks = []world.CheckRule{{Name: "budget"}, {Name: "budget", OnFlavors: []string{"a"}}}
				sc.other.Checks = sc.queue.Checks
			},
			[]said{{"admissionCheck", "critical", "AdmissionCheck/budget", 0, "change", admin}},
		},
		"AdmissionChecks that cannot be read: nothing is claimed": {
			nil, func(sc *scene) {
				sc.queue.Checks, sc.blind = []world.CheckRule{{Name: "budget"}}, []world.Kind{world.KindAdmissionCheck}
			}, nil,
		},
		"a check that is about to answer": {
			[]*world.Workload{reserving("a", check("budget", "Pending", "")), reserving("b", check("budget", "Pending", ""))},
			func(sc *scene) { sc.put(activeCheck("budget")) },
			[]said{{"admissionCheck", "info", "AdmissionCheck/budget", 2, "wait", checks}},
		},
		"a check that rejected one and has not answered another": {
			[]*world.Workload{reserving("a", check("budget", "Pending", "")), func() *world.Workload {
				w := reserving("b", check("budget", "Rejected", "no credit"))
				w.Conditions = append(w.Conditions, cond("DeactivationTarget", "True", "DeactivatedDueToAdmissionCheck", "", 0))
				return w
			}()},
			func(sc *scene) { sc.put(activeCheck("budget")) },
			[]said{{"admissionCheck", "warning", "AdmissionCheck/budget", 2, "change", checks}},
		},
		"an eviction that does not end": {
			[]*world.Workload{evicting("a", "PodsReadyTimeout", time.Hour)}, nil,
			[]said{{"stuck", "critical", "Workload/team/a", 1, "escalate", either}},
		},
		"a drain that does not end": {
			[]*world.Workload{evicting("a", "ClusterQueueStopped", time.Hour)},
			func(sc *scene) { sc.queue.StopPolicy = world.StopHoldAndDrain },
			[]said{{"stuck", "critical", "Workload/team/a", 1, "escalate", either}, {"held", "warning", "ClusterQueue/q", 0, "change", holder}},
		},
		"a controller that forgot several": {
			func() []*world.Workload {
				var out []*world.Workload
				for i := range 3 {
					w := waits(fmt.Sprint("w", i), 1, "x")
					w.RequeueAt = now.Add(-time.Hour)
					out = append(out, w)
				}
				return out
			}(), nil,
			[]said{{"stuck", "critical", "ClusterQueue/q", 3, "escalate", admin}},
		},
		"deactivated by a limit": {
			[]*world.Workload{job("a", world.Deactivated, cond("Evicted", "True", "DeactivatedDueToRequeuingLimitExceeded", "", 0))}, nil,
			[]said{{"deactivated", "warning", "Workload/team/a", 1, "change", owner}},
		},
		"deactivated by a person": {
			[]*world.Workload{func() *world.Workload {
				w := job("a", world.Deactivated, cond("Evicted", "True", "Deactivated", "", 0))
				w.Evictions = []world.Eviction{{Reason: "Deactivated", Cause: "RequeuingLimitExceeded", Count: 1}} // an earlier time
				return w
			}()}, nil,
			[]said{{"deactivated", "info", "Workload/team/a", 1, "change", owner}},
		},
		"both": {
			[]*world.Workload{
				job("a", world.Deactivated, cond("Evicted", "True", "Deactivated", "", 0)), job("b", world.Deactivated),
				job("c", world.Deactivated, cond("Evicted", "True", "DeactivatedDueToMaximumExecutionTimeExceeded", "", 0)),
			}, nil,
			[]said{{"deactivated", "warning", "ClusterQueue/q", 3, "change", owner}},
		},
		"too large for ever, and those that wait": {
			[]*world.Workload{waits("a", 9, noQuota), waits("b", 10, noQuota), waits("c", 5, noQuota), waits("d", 4, noQuota), waits("e", 3, noQuota)}, nil,
			[]said{{"neverFits", "warning", "ClusterQueue/q", 2, "change", either}, {"quota", "info", "ClusterQueue/q", 3, "wait", ""}},
		},
		"preempted, and too large for ever": {
			[]*world.Workload{waits("a", 9, "Preempted to accommodate a workload (UID: x)")}, nil,
			[]said{{"neverFits", "warning", "Workload/team/a", 1, "change", either}},
		},
		"what stands behind a backoff": {
			func() []*world.Workload {
				a, b := waits("a", 1, "x"), waits("b", 9, noQuota)
				a.RequeueAt, b.RequeueAt = now.Add(time.Minute), now.Add(time.Minute)
				return []*world.Workload{a, b}
			}(),
			func(sc *scene) {
				sc.queue.Checks = []world.CheckRule{{Name: "budget"}}
				sc.put(&world.Check{Meta: named("", "budget"), Controller: "x.example.com/y"})
			},
			[]said{{"admissionCheck", "critical", "AdmissionCheck/budget", 2, "escalate", checks}},
		},
		"a topology without room": {
			[]*world.Workload{waits("a", 1, `couldn't assign flavors to pod set main: topology "t" doesn't allow to fit any of 1 pod(s)`)}, nil,
			[]said{{"topology", "info", "Workload/team/a", 1, "wait", ""}},
		},
		"a topology that does not exist": {
			[]*world.Workload{waits("a", 1, "ClusterQueue q is inactive")},
			func(sc *scene) {
				sc.flavor.Topology = "t"
				no := world.Conditions{cond("Active", "False", "TopologyNotFound", `Can't admit new workloads: there is no Topology "t" for TAS flavor "a".`, 0)}
				sc.queue.Conditions, sc.other.Conditions = no, no
			},
			[]said{{"topology", "critical", "Topology/t", 1, "change", admin}},
		},
		"pods that do not start": {
			[]*world.Workload{admitted("a", cond("PodsReady", "False", "WaitForStart", "Not all pods are ready", time.Minute))}, nil,
			[]said{{"podsNotReady", "info", "Workload/team/a", 1, "wait", owner}},
		},
		"a node that failed": {
			[]*world.Workload{func() *world.Workload {
				w := admitted("a")
				w.UnhealthyNodes = []string{"n1"}
				return w
			}()}, nil,
			[]said{{"nodeFailure", "info", "Workload/team/a", 1, "wait", "infrastructure"}},
		},
		"a gate": {
			[]*world.Workload{func() *world.Workload {
				w := job("a", world.Pending, cond("QuotaReserved", "False", "AdmissionGated", "Admission is gated by: x.example.com/g", 0))
				w.GatedBy = "x.example.com/g"
				return w
			}()}, nil,
			[]said{{"gated", "info", "Workload/team/a", 1, "change", "x.example.com/g"}},
		},
		"a reason that is not known": {
			[]*world.Workload{job("a", world.Pending, cond("QuotaReserved", "False", "SomethingNew", "the moon is full", 0))}, nil,
			[]said{{"unknown", "info", "Workload/team/a", 1, "wait", ""}},
		},
		"a webhook in the way": {
			[]*world.Workload{waits("a", 1, `Failed to admit workload: Internal error occurred: failed calling webhook "vworkload.kb.io": failed to call webhook: no endpoints available`)}, nil,
			[]said{{"webhook", "critical", "Kueue/validatingWebhook", 1, "escalate", admin}},
		},
		"a flavor that nothing uses": {
			nil, func(sc *scene) { sc.put(&world.Flavor{Meta: named("", "old")}) },
			[]said{{"unusedFlavor", "info", "ResourceFlavor/old", 0, "none", ""}},
		},
		"a flavor of a Cohort's quota is used": {
			nil, func(sc *scene) {
				sc.put(&world.Flavor{Meta: named("", "pool")}, &world.Cohort{Meta: named("", "co"), Quotas: []world.Quota{{FlavorResource: gpu("pool"), Nominal: 1}}})
			}, nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := with(tc.of...)
			if tc.change != nil {
				tc.change(sc)
			}
			got := Alerts(sc.settle().input())
			want := tc.want
			if want == nil {
				want = []said{}
			}
			if d := cmp.Diff(want, sayings(got)); d != "" {
				t.Errorf("alerts (-want +got):\n%s", d)
			}
			for _, a := range got {
				if a.Explanation == "" || !strings.HasSuffix(strings.TrimSuffix(a.Explanation, ")"), ".") {
					t.Errorf("%s on %s: %q is not a sentence", a.Class, a.Object, a.Explanation)
				}
			}
		})
	}
}

func TestAStatusThatIsNotToBeBelieved(t *testing.T) {
	sc := with(admitted("a")).settle()
	sc.queue.Status.Reserving = 7
	sc.local.Generation, sc.local.Conditions[0].ObservedGeneration = 4, 3
	want := []said{{"staleStatus", "warning", "ClusterQueue/q", 0, "escalate", admin}, {"staleStatus", "warning", "LocalQueue/team/lq", 0, "escalate", admin}}
	if d := cmp.Diff(want, sayings(Alerts(sc.input()))); d != "" {
		t.Errorf("alerts (-want +got):\n%s", d)
	}
}

func TestStrangers(t *testing.T) {
	in := newScene().settle().input()
	in.Strangers = []pods.Stranger{{Flavor: "a", Pods: 3, Requests: []world.Request{{Resource: "cpu", Amount: 1500}, {Resource: "gpu", Amount: 2}}, Example: world.Key{Namespace: "sys", Name: "exporter"}}}
	got := Alerts(in)
	if d := cmp.Diff([]said{{"strangers", "info", "ResourceFlavor/a", 0, "change", "owners of those pods or platform admin"}}, sayings(got)); d != "" {
		t.Fatalf("alerts (-want +got):\n%s", d)
	}
	const want = "3 pods that belong to no Workload use 1500m cpu, 2 gpu on nodes of ResourceFlavor a, which its quota promises to others; for example sys/exporter."
	if got[0].Explanation != want || got[0].Object.UID != "uid-/a" {
		t.Errorf("%q on %q", got[0].Explanation, got[0].Object.UID)
	}
}

// What is said of many is said once.
func TestManyBehindOneHold(t *testing.T) {
	sc := newScene()
	for i := range 10000 {
		sc.put(waits(fmt.Sprint("w", i), 1, "ClusterQueue q is inactive"))
	}
	sc.queue.StopPolicy, sc.queue.Hold = world.StopHold, &world.HoldRecord{Version: 1, By: "ann", Reason: "rollback"}
	got := Alerts(sc.settle().input())
	if len(got) != 1 || got[0].Count != 10000 {
		t.Fatalf("%+v, want one alert for 10000", sayings(got))
	}
	if want := `ClusterQueue q is held (Hold) by ann ("rollback"): nothing is admitted until it is resumed. It stops 10000 Workloads.`; got[0].Explanation != want {
		t.Errorf("%q, want %q", got[0].Explanation, want)
	}
}

func TestWordsOfSeveral(t *testing.T) {
	all := Alerts(with(waits("a", 9, noQuota), waits("b", 10, noQuota), waits("c", 5, noQuota)).settle().input())
	tests := map[string]struct {
		class  Class
		object string
		want   string
	}{
		"never": {NeverFits, "ClusterQueue/q", "2 Workloads of ClusterQueue q can never fit under today's quota. For example team/a: Can never fit: needs 9 gpu of a, 8 at most. Ask for less, or have the quota raised."},
		"wait":  {Class(reason.Quota), "ClusterQueue/q", "Needs 5 gpu of a: 2 free, 8 at most. Waits for 3 to come back."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if a := find(t, all, tc.class, tc.object); a.Explanation != tc.want || a.Object.UID != "uid-/q" {
				t.Errorf("%q on %q, want %q", a.Explanation, a.Object.UID, tc.want)
			}
		})
	}
}

func TestDebtNamesWhatIsOwed(t *testing.T) {
	sc := newScene()
	sc.queue.Quotas[0].Nominal = 4
	const want = "Cohort co is in debt by 2 gpu of a (over their own quota: other by 6): nothing that needs any of it can start there until that is back. Kueue evicts nothing for it: wait until enough of it ends, drain a queue that is over its quota, which evicts all that runs there, or raise the quota."
	if a := find(t, Alerts(sc.settle().input()), Debt, "Cohort/co"); a.Explanation != want || a.Object.UID != "" {
		t.Errorf("%q on %q, want %q on an implicit cohort", a.Explanation, a.Object.UID, want)
	}
}
