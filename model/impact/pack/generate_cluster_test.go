package pack

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

func conditionsOf(t *rapid.T, admitted bool) []metav1.Condition {
	var out []metav1.Condition
	add := func(typ, status string, reasons ...string) {
		out = append(out, metav1.Condition{
			Type: typ, Status: metav1.ConditionStatus(status), Reason: pick(t, "reason of "+typ, reasons...), Message: words(t),
			LastTransitionTime: moment(t, "at"), ObservedGeneration: rapid.Int64Range(0, 2).Draw(t, "observed"),
		})
	}
	status := func(typ string) string { return pick(t, "status of "+typ, "True", "False") }
	if admitted {
		add("QuotaReserved", "True", "QuotaReserved")
		if rapid.Bool().Draw(t, "admitted") {
			add("Admitted", "True", "Admitted")
		}
	} else if rapid.Bool().Draw(t, "tried") {
		add("QuotaReserved", "False", "Pending", "Inadmissible", "OnHold", "AdmissionGated", "WaitingForQuota")
	}
	if maybe(t, "evicted") {
		add("Evicted", status("Evicted"), "Preempted", "PodsReadyTimeout", "AdmissionCheck", "ClusterQueueStopped", "Deactivated", "DeactivatedDueToAdmissionCheck")
	}
	if maybe(t, "preempted") {
		add("Preempted", status("Preempted"), "InClusterQueue", "InCohortReclaimWhileBorrowing")
	}
	if maybe(t, "requeued") {
		add("Requeued", status("Requeued"), "Preempted", "PodsReadyTimeout", "LocalQueueStopped")
	}
	if maybe(t, "blocked") {
		add("BlockedOnPreemptionGates", status("blocked"), "PreemptionGated")
	}
	if maybe(t, "replacing") {
		add("WaitingForReplacementPods", status("replacing"), "Some")
	}
	if rapid.IntRange(0, 9).Draw(t, "finished") == 0 {
		add("Finished", "True", "Succeeded")
	}
	return out
}

func ownersOf(t *rapid.T) []metav1.OwnerReference {
	var out []metav1.OwnerReference
	for range rapid.IntRange(0, 3).Draw(t, "owners") {
		out = append(out, pick(t, "owner",
			metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "j", Controller: ptr.To(true)},
			metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "p"},
		))
	}
	if rapid.IntRange(0, 9).Draw(t, "variant") == 0 {
		out = []metav1.OwnerReference{{APIVersion: kueue.SchemeGroupVersion.String(), Kind: "Workload", Name: "parent", UID: "pu", Controller: ptr.To(true)}}
	}
	return out
}

func marksOf(t *rapid.T, m *metav1.ObjectMeta) {
	put := func(to *map[string]string, k string, values ...string) {
		if !maybe(t, k) {
			return
		}
		if *to == nil {
			*to = map[string]string{}
		}
		(*to)[k] = pick(t, k, values...)
	}
	put(&m.Labels, "kueue.x-k8s.io/job-uid", "j1", "j2")
	put(&m.Labels, "kueue.x-k8s.io/concurrent-admission-parent", "true", "false")
	put(&m.Labels, "app", "x")
	put(&m.Annotations, "kueue.x-k8s.io/priority-boost", "5", "-3", "nonsense")
	put(&m.Annotations, "kueue.x-k8s.io/admission-gated-by", "", "example.com/gate", "odd\x1bgate")
	put(&m.Annotations, "kueue.x-k8s.io/elastic-job", "true", "false")
	put(&m.Annotations, "kueue.x-k8s.io/workload-slice-replacement-for", "ns-a/w0")
	put(&m.Annotations, "kueue.x-k8s.io/workload-slice-name", "s")
	put(&m.Annotations, "kueue.x-k8s.io/workload-allowed-resource-flavors", "a", "a,b")
	put(&m.Annotations, "kueue.x-k8s.io/is-group-workload", "true")
	put(&m.Annotations, "example.com/checkpoint", "s3://x")
}

func workloadOf(t *rapid.T, i int) *kueue.Workload {
	w := &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns-" + name(t, "namespace"), Name: fmt.Sprint("w", i), UID: types.UID(fmt.Sprint("uid-", i)), ResourceVersion: "7",
			Generation: rapid.Int64Range(1, 3).Draw(t, "generation"), CreationTimestamp: moment(t, "created"), OwnerReferences: ownersOf(t),
		},
		Spec: kueue.WorkloadSpec{
			PodSets: podSets(t), QueueName: kueue.LocalQueueName(name(t, "queue")),
			Priority:                    some(t, "priority", func() int32 { return rapid.Int32Range(-1, 2).Draw(t, "priority") }),
			Active:                      some(t, "active", func() bool { return rapid.Bool().Draw(t, "active") }),
			MaximumExecutionTimeSeconds: some(t, "most", func() int32 { return 1 }),
		},
	}
	marksOf(t, &w.ObjectMeta)
	if rapid.IntRange(0, 9).Draw(t, "deleted") == 0 {
		w.DeletionTimestamp = ptr.To(moment(t, "deleted"))
	}
	switch pick(t, "class", "", "workload", "pod") {
	case "workload":
		w.Spec.PriorityClassRef = kueue.NewWorkloadPriorityClassRef("high")
	case "pod":
		w.Spec.PriorityClassRef = kueue.NewPodPriorityClassRef("high")
	}
	s := &w.Status
	admitted := rapid.Bool().Draw(t, "holds quota")
	s.Conditions = conditionsOf(t, admitted)
	if admitted {
		s.Admission = admission(t, w.Spec.PodSets)
	}
	for i, ps := range w.Spec.PodSets {
		if maybe(t, "reclaimable") {
			s.ReclaimablePods = append(s.ReclaimablePods, kueue.ReclaimablePod{Name: ps.Name, Count: rapid.Int32Range(0, 7).Draw(t, "reclaimable")})
		}
		if !admitted && maybe(t, "published") {
			s.ResourceRequests = append(s.ResourceRequests, kueue.PodSetRequest{Name: ps.Name, Resources: list(t, "published")})
		}
		if gate := fmt.Sprint("g", i); maybe(t, "gate") {
			w.Spec.PreemptionGates = append(w.Spec.PreemptionGates, kueue.PreemptionGate{Name: gate})
			if rapid.Bool().Draw(t, "gate is known") {
				position := pick(t, "position", kueue.PreemptionGatePositionOpen, kueue.PreemptionGatePositionClosed)
				s.PreemptionGates = append(s.PreemptionGates, kueue.PreemptionGateState{Name: gate, Position: position, LastTransitionTime: moment(t, "gate")})
			}
		}
	}
	checks(t, s)
	if maybe(t, "requeue state") {
		s.RequeueState = &kueue.RequeueState{
			Count:     some(t, "requeued", func() int32 { return rapid.Int32Range(1, 3).Draw(t, "requeued") }),
			RequeueAt: some(t, "requeue at", func() metav1.Time { return moment(t, "requeue at") }),
		}
	}
	s.AccumulatedPastExecutionTimeSeconds = some(t, "past", func() int32 { return rapid.Int32Range(0, 9).Draw(t, "past") })
	s.ClusterName = some(t, "cluster", func() string { return "worker" })
	if s.ClusterName == nil && maybe(t, "nominated") {
		s.NominatedClusterNames = []string{"one", "two"}
	}
	if maybe(t, "evictions") {
		s.SchedulingStats = &kueue.SchedulingStats{Evictions: []kueue.WorkloadSchedulingStatsEviction{{Reason: "Preempted", Count: 2}, {Reason: "Deactivated", UnderlyingCause: "AdmissionCheck", Count: 1}}}
	}
	if maybe(t, "unhealthy") {
		s.UnhealthyNodes = []kueue.UnhealthyNode{{Name: "node-a"}}
	}
	return w
}

func checks(t *rapid.T, s *kueue.WorkloadStatus) {
	for _, n := range []string{"a", "b"} {
		if !maybe(t, "check") {
			continue
		}
		s.AdmissionChecks = append(s.AdmissionChecks, kueue.AdmissionCheckState{
			Name: kueue.AdmissionCheckReference(n), State: pick(t, "state", kueue.CheckStatePending, kueue.CheckStateReady, kueue.CheckStateRetry, kueue.CheckStateRejected),
			LastTransitionTime: metav1.NewTime(at.Add(-time.Duration(rapid.IntRange(0, 100).Draw(t, "check")) * time.Second)), Message: words(t),
			RequeueAfterSeconds: some(t, "requeue after", func() int32 { return rapid.Int32Range(0, 200).Draw(t, "requeue after") }),
			RetryCount:          some(t, "retries", func() int32 { return rapid.Int32Range(1, 3).Draw(t, "retries") }),
		})
	}
}

func quotas(t *rapid.T) []kueue.ResourceGroup {
	var out []kueue.ResourceGroup
	for i, n := range []string{"a", "b", "c"} {
		if !rapid.Bool().Draw(t, "flavor") {
			continue
		}
		r := kueue.ResourceQuota{Name: corev1.ResourceName(fmt.Sprint("cpu", i)), NominalQuota: amount(t, "nominal")}
		r.BorrowingLimit = some(t, "borrowing", func() resource.Quantity { return amount(t, "borrowing") })
		r.LendingLimit = some(t, "lending", func() resource.Quantity { return amount(t, "lending") })
		out = append(out, kueue.ResourceGroup{
			CoveredResources: []corev1.ResourceName{r.Name}, Flavors: []kueue.FlavorQuotas{{Name: kueue.ResourceFlavorReference(n), Resources: []kueue.ResourceQuota{r}}},
		})
	}
	return out
}

func share(t *rapid.T) *kueue.FairSharing {
	return some(t, "fair sharing", func() kueue.FairSharing {
		return kueue.FairSharing{Weight: some(t, "weight", func() resource.Quantity { return amount(t, "weight") })}
	})
}

func stop(t *rapid.T) *kueue.StopPolicy {
	return some(t, "stopped", func() kueue.StopPolicy { return pick(t, "stop policy", kueue.None, kueue.Hold, kueue.HoldAndDrain) })
}

func clusterQueueOf(t *rapid.T, n string) *kueue.ClusterQueue {
	q := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: n, UID: types.UID(n), Generation: rapid.Int64Range(1, 3).Draw(t, "generation")}}
	q.Spec = kueue.ClusterQueueSpec{
		CohortName: kueue.CohortReference(pick(t, "cohort", "", "r", "s", "t", "x")), ResourceGroups: quotas(t), QueueingStrategy: pick(t, "strategy", kueue.StrictFIFO, kueue.BestEffortFIFO),
		StopPolicy: stop(t), FairSharing: share(t), FlavorFungibility: some(t, "fungibility", func() kueue.FlavorFungibility {
			return kueue.FlavorFungibility{WhenCanBorrow: kueue.TryNextFlavor, WhenCanPreempt: kueue.MayStopSearch}
		}),
		Preemption: some(t, "preemption", func() kueue.ClusterQueuePreemption {
			return kueue.ClusterQueuePreemption{
				WithinClusterQueue: kueue.PreemptionPolicyLowerPriority, ReclaimWithinCohort: kueue.PreemptionPolicyAny,
				BorrowWithinCohort: &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyLowerPriority, MaxPriorityThreshold: ptr.To[int32](5)},
			}
		}),
		AdmissionScope: some(t, "scope", func() kueue.AdmissionScope {
			return kueue.AdmissionScope{AdmissionMode: kueue.UsageBasedAdmissionFairSharing}
		}),
	}
	if rapid.Bool().Draw(t, "selects") {
		q.Spec.NamespaceSelector = &metav1.LabelSelector{}
		if rapid.Bool().Draw(t, "by label") {
			q.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": name(t, "team")}
		}
	}
	if maybe(t, "checks") {
		q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{
			{Name: "a"}, {Name: "b", OnFlavors: []kueue.ResourceFlavorReference{"a"}},
		}}
	}
	if rapid.IntRange(0, 9).Draw(t, "deleted") == 0 {
		q.DeletionTimestamp = ptr.To(moment(t, "deleted"))
	}
	q.Status.Conditions = []metav1.Condition{{
		Type: "Active", Status: pick(t, "active", metav1.ConditionTrue, metav1.ConditionFalse), Reason: "Any", Message: "plain", LastTransitionTime: moment(t, "active"),
	}}
	return q
}

// cluster draws a whole cluster. Its cohorts may form cycles.
func cluster(t *rapid.T) []runtime.Object {
	var out []runtime.Object
	for _, n := range []string{"a", "b", "c"} {
		f := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: n, UID: types.UID(n)}}
		f.Spec.NodeLabels = map[string]string{"zone": n}
		f.Spec.NodeTaints = []corev1.Taint{{Key: n, Effect: corev1.TaintEffectNoSchedule}}
		f.Spec.TopologyName = some(t, "topology", func() kueue.TopologyReference { return "floor" })
		c := &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: n, UID: types.UID(n)}}
		c.Spec = kueue.AdmissionCheckSpec{ControllerName: "example.com/" + n, Parameters: some(t, "parameters", func() kueue.AdmissionCheckParametersReference {
			return kueue.AdmissionCheckParametersReference{APIGroup: "g", Kind: "K", Name: "p"}
		})}
		c.Status.Conditions = []metav1.Condition{{Type: "Active", Status: pick(t, "check is active", metav1.ConditionTrue, metav1.ConditionFalse), Reason: "R", LastTransitionTime: moment(t, "check")}}
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns-" + n, Labels: map[string]string{"team": n}}}
		r := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: n}, Handler: n}
		if rapid.Bool().Draw(t, "overhead") {
			r.Overhead = &nodev1.Overhead{PodFixed: list(t, "overhead")}
		}
		out = append(out, f, c, ns, r, clusterQueueOf(t, n))
		l := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "ns-" + n, Name: n}}
		l.Spec.Limits = []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Default: list(t, "default limit"), DefaultRequest: list(t, "default request"), Max: list(t, "most")}}
		if rapid.Bool().Draw(t, "limit range") {
			out = append(out, l)
		}
		for _, q := range []string{"a", "b", "c"} {
			lq := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ns-" + n, Name: q, UID: types.UID(n + q)}}
			lq.Spec = kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(pick(t, "cluster queue", "a", "b", "c", "gone")), StopPolicy: stop(t), FairSharing: share(t)}
			if rapid.IntRange(0, 3).Draw(t, "local queue is there") > 0 {
				out = append(out, lq)
			}
		}
	}
	for _, n := range []string{"r", "s", "t"} {
		c := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: n, UID: types.UID(n)}}
		c.Spec = kueue.CohortSpec{ParentName: kueue.CohortReference(pick(t, "parent", "", "r", "s", "t", "y")), ResourceGroups: quotas(t), FairSharing: share(t)}
		if rapid.Bool().Draw(t, "cohort") {
			out = append(out, c)
		}
	}
	floor := &kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: "floor"}}
	floor.Spec.Levels = []kueue.TopologyLevel{{NodeLabel: "block"}, {NodeLabel: "rack"}}
	out = append(out, floor)
	for i := range rapid.IntRange(0, 8).Draw(t, "workloads") {
		out = append(out, workloadOf(t, i))
	}
	for i, o := range out {
		out[i] = decoded(t, o)
	}
	return out
}

// decoded is the object as an API server gives it.
func decoded(t *rapid.T, o runtime.Object) runtime.Object {
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	back := reflect.New(reflect.TypeOf(o).Elem()).Interface().(runtime.Object)
	if err := json.Unmarshal(raw, back); err != nil {
		t.Fatal(err)
	}
	return back
}
