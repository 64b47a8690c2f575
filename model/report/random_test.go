package report

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// random draws objects as an API server may hold them, with few names, so that they
// meet, and with text that nobody should draw as it stands.
type random struct{ t *rapid.T }

func (r random) pick(label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(r.t, label)
}

// one is true once in n times.
func (r random) one(n int, label string) bool { return rapid.IntRange(1, n).Draw(r.t, label) == 1 }

func (r random) words(label string) string {
	return r.pick(label, "", "plain", "\x1b[2Jred", "a\r\nb\t\x9bc", "\u202eevil\u2066\u200b", "bad\xff", "größe 日本 😀", "<&>\"'\\")
}

func (r random) meta(namespace, name string) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + namespace + name), Generation: int64(rapid.IntRange(0, 3).Draw(r.t, "generation"))}
	if !r.one(9, "no creation") {
		m.CreationTimestamp = r.time("created")
	}
	if r.one(5, "odd uid") {
		m.UID = types.UID(r.words("uid") + name)
	}
	if r.one(4, "annotations") {
		m.Annotations = map[string]string{
			world.HoldAnnotation: r.pick("hold", `{"version":1,"by":"\u001bann","at":"2026-09-14T09:00:00Z","reason":"x\ny","policy":"Hold","previous":"None"}`, `{"version":2}`, "{"),
			"example.com/step":   r.words("checkpoint"),
		}
	}
	if r.one(6, "managed") {
		m.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	}
	return m
}

func (r random) time(label string) metav1.Time {
	if r.one(40, label+" extreme") {
		return metav1.NewTime(time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -5*3600)))
	}
	return metav1.NewTime(caseTime.Add(time.Duration(rapid.IntRange(-9000, 60).Draw(r.t, label)) * time.Second))
}

func (r random) quantity(label string) resource.Quantity {
	return resource.MustParse(r.pick(label, "0", "1", "2", "5", "1500m", "8", "16", "9Ei"))
}

func (r random) limit(label string) *resource.Quantity {
	if r.one(2, label) {
		return nil
	}
	return ptr.To(r.quantity(label))
}

func (r random) groups() []kueue.ResourceGroup {
	var out []kueue.ResourceGroup
	if r.one(6, "no quota") {
		return out
	}
	g := kueue.ResourceGroup{CoveredResources: []corev1.ResourceName{"cpu", "memory"}}
	for _, f := range []string{"a", "b", "ghost"}[rapid.IntRange(0, 2).Draw(r.t, "flavors from"):] {
		q := kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(f)}
		for _, res := range g.CoveredResources {
			q.Resources = append(q.Resources, kueue.ResourceQuota{Name: res, NominalQuota: r.quantity("nominal"), BorrowingLimit: r.limit("borrowing"), LendingLimit: r.limit("lending")})
		}
		g.Flavors = append(g.Flavors, q)
	}
	return append(out, g)
}

func (r random) conditions(types ...string) []metav1.Condition {
	var out []metav1.Condition
	for _, typ := range types {
		if r.one(2, typ) {
			continue
		}
		out = append(out, metav1.Condition{
			Type: typ, Status: metav1.ConditionStatus(r.pick("status", "True", "False", "Unknown")), LastTransitionTime: r.time("at"),
			Reason:             r.pick("reason", "Pending", "Ready", "Inadmissible", "Preempted", "PodsReadyTimeout", "AdmissionCheck", "Deactivated", r.words("reason")),
			Message:            r.pick("message", preempted, "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor a, 3 more needed", "ClusterQueue q0 is inactive", r.words("message")),
			ObservedGeneration: int64(rapid.IntRange(0, 3).Draw(r.t, "observed")),
		})
	}
	return out
}

const preempted = "Preempted to accommodate a workload (UID: uid-xw1, JobUID: job-w1) due to reclamation within the cohort; preemptor path: /x/q0; preemptee path: /x/q1"

func (r random) stop() *kueue.StopPolicy {
	return ptr.To(kueue.StopPolicy(r.pick("stop", "None", "None", "Hold", "HoldAndDrain", "")))
}

func (r random) objects() []runtime.Object {
	var out []runtime.Object
	for _, ns := range []string{"x", "y"} {
		out = append(out, &corev1.Namespace{ObjectMeta: r.meta("", ns)})
	}
	for _, name := range []string{"a", "b", "c"} {
		out = append(out,
			&kueue.ResourceFlavor{ObjectMeta: r.meta("", name), Spec: kueue.ResourceFlavorSpec{NodeLabels: map[string]string{"pool": name}, NodeTaints: []corev1.Taint{{Key: name, Value: r.words("taint"), Effect: "NoSchedule"}}}},
			&kueue.AdmissionCheck{ObjectMeta: r.meta("", name), Spec: kueue.AdmissionCheckSpec{ControllerName: r.words("controller")}, Status: kueue.AdmissionCheckStatus{Conditions: r.conditions("Active")}},
			&kueue.WorkloadPriorityClass{ObjectMeta: r.meta("", name), Value: 7},
			&schedulingv1.PriorityClass{ObjectMeta: r.meta("", name), Value: 9},
		)
	}
	for _, name := range []string{"m", "n"} {
		out = append(out, &kueue.Cohort{ObjectMeta: r.meta("", name), Spec: kueue.CohortSpec{ParentName: kueue.CohortReference(r.pick("parent", "", "m", "n", "o")), ResourceGroups: r.groups()}})
	}
	for _, name := range []string{"q0", "q1", "q2"} {
		q := &kueue.ClusterQueue{ObjectMeta: r.meta("", name)}
		q.Spec = kueue.ClusterQueueSpec{CohortName: kueue.CohortReference(r.pick("cohort", "", "m", "n", "o")), StopPolicy: r.stop(), ResourceGroups: r.groups(), NamespaceSelector: &metav1.LabelSelector{}}
		if r.one(3, "checks") {
			q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "c"}, {Name: "gone"}}}
		}
		q.Status = kueue.ClusterQueueStatus{Conditions: r.conditions("Active"), PendingWorkloads: 2, FlavorsReservation: []kueue.FlavorUsage{{Name: "a", Resources: []kueue.ResourceUsage{{Name: "cpu", Total: r.quantity("total")}}}}}
		if r.one(4, "fair") {
			q.Status.FairSharing = &kueue.FairSharingStatus{}
		}
		out = append(out, q)
		l := &kueue.LocalQueue{ObjectMeta: r.meta(r.pick("ns", "x", "y"), "l"+name), Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(r.pick("to", "q0", "q1", "q3")), StopPolicy: r.stop()}}
		l.Status.Conditions = r.conditions("Active")
		out = append(out, l)
	}
	for i := range rapid.IntRange(0, 12).Draw(r.t, "workloads") {
		out = append(out, r.workload("w"+string(rune('0'+i))))
	}
	return out
}

func (r random) workload(name string) *kueue.Workload {
	w := &kueue.Workload{ObjectMeta: r.meta(r.pick("ns", "x", "y"), name)}
	w.Labels = map[string]string{"kueue.x-k8s.io/job-uid": "job-" + name}
	if r.one(2, "owner") {
		w.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: r.pick("kind", "Job", "JobSet", "RayJob"), Name: r.words("job") + name, UID: types.UID("job-" + r.words("job uid")), Controller: ptr.To(true)}}
	}
	w.Spec = kueue.WorkloadSpec{QueueName: kueue.LocalQueueName(r.pick("queue", "lq0", "lq1", "lq2", "")), Active: ptr.To(!r.one(6, "inactive"))}
	if r.one(3, "class") {
		w.Spec.PriorityClassRef = &kueue.PriorityClassRef{Kind: kueue.PriorityClassKind(r.pick("class", "WorkloadPriorityClass", "PriorityClass")), Name: r.pick("class name", "a", "gone")}
	}
	w.Spec.PodSets = []kueue.PodSet{{Name: "main", Count: 2, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": r.quantity("cpu")}}}}}}}}
	w.Status.Conditions = r.conditions("QuotaReserved", "Admitted", "Evicted", "Preempted", "Requeued", "PodsReady", "Finished")
	if r.one(2, "admission") {
		w.Status.Admission = &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(r.pick("in", "q0", "q1", "q3")), PodSetAssignments: []kueue.PodSetAssignment{{
			Name: "main", Count: ptr.To[int32](2), Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{"cpu": kueue.ResourceFlavorReference(r.pick("flavor", "a", "b", "old"))}, ResourceUsage: corev1.ResourceList{"cpu": r.quantity("usage")},
		}}}
	}
	if r.one(2, "states") {
		for _, c := range []string{"c", "a", "gone"} {
			w.Status.AdmissionChecks = append(w.Status.AdmissionChecks, kueue.AdmissionCheckState{Name: kueue.AdmissionCheckReference(c), State: kueue.CheckState(r.pick("state", "Pending", "Ready", "Retry", "Rejected")), Message: r.words("said"), LastTransitionTime: r.time("state at")})
		}
	}
	if r.one(3, "evictions") {
		w.Status.SchedulingStats = &kueue.SchedulingStats{Evictions: []kueue.WorkloadSchedulingStatsEviction{{Reason: "Preempted", Count: 2}, {Reason: "Deactivated", UnderlyingCause: "AdmissionCheck", Count: 1}, {Reason: "Deactivated", Count: 1}}}
	}
	if r.one(3, "backoff") {
		w.Status.RequeueState = &kueue.RequeueState{Count: ptr.To[int32](1), RequeueAt: ptr.To(r.time("requeue"))}
	}
	return w
}

// input is a snapshot of random objects, some kinds of which cannot be read.
func (r random) input() Input {
	s := store.New(clocktesting.NewFakePassiveClock(caseTime))
	hidden := map[world.Kind]bool{}
	for _, k := range append(world.WatchedKinds(), world.SideKinds()...) {
		f := world.Freshness{Feed: world.Live, Synced: true}
		if r.one(12, "blind") {
			f, hidden[k] = world.Freshness{Feed: world.Denied, Detail: "forbidden"}, true
		}
		s.SetFreshness(k, f)
	}
	if r.one(6, "one namespace") {
		s.SetContract(world.Contract{Namespace: "x"})
	}
	for _, o := range r.objects() {
		row, err := project.Row(o)
		if err != nil {
			r.t.Fatal(err)
		}
		if !hidden[kindOfRow(row)] {
			s.Put(row)
		}
	}
	in := Input{Snapshot: s.Snapshot(), Now: caseTime, Source: Source{Type: "cluster", Name: r.words("name"), ReadAt: caseTime, Notes: []string{r.words("note")}}, Checkpoint: "example.com/step"}
	in.HasPods, in.HasNodes = r.one(2, "pods"), r.one(2, "nodes")
	for i, phase := range []corev1.PodPhase{"Running", "Pending", "Odd"} {
		p := &corev1.Pod{ObjectMeta: r.meta("x", "pod"+string(rune('0'+i))), Spec: corev1.PodSpec{NodeName: r.pick("node", "", "n1")}, Status: corev1.PodStatus{Phase: phase, Message: r.words("pod says")}}
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", UID: "job-", Controller: ptr.To(true)}}
		in.Pods = append(in.Pods, project.Pod(p))
	}
	in.Nodes = []world.Node{project.Node(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"pool": "a"}}})}
	for _, why := range []string{"Preempted", "EvictedDueToPreempted", "Odd"} {
		in.Events = append(in.Events, project.Event(&corev1.Event{
			ObjectMeta: r.meta("x", why), Reason: why, Message: r.pick("event", preempted, r.words("event")), Type: "Normal",
			InvolvedObject: corev1.ObjectReference{Kind: "Workload", Namespace: "x", Name: "w1", UID: "uid-xw1"}, LastTimestamp: r.time("seen"),
		}))
	}
	if r.one(3, "positions") {
		in.Positions = map[types.UID]int{"uid-xw1": 4, "uid-xw2": 1}
	}
	return in
}

func kindOfRow(row any) world.Kind {
	return row.(interface{ Ref() world.Ref }).Ref().Kind
}
