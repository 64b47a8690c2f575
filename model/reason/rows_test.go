package reason

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// everyKind lists all that is watched.
func everyKind() []world.Kind { return slices.Concat(world.WatchedKinds(), world.SideKinds()) }

// snapshotOf holds the rows, later ones in place of earlier ones; all kinds can be
// read.
func snapshotOf(rows ...any) *store.Snapshot { return blindTo(nil, world.Denied, rows...) }

// blindTo is a snapshot in which the kinds cannot be read for the reason that the
// feed gives; none of their rows is there.
func blindTo(blind []world.Kind, feed world.Feed, rows ...any) *store.Snapshot {
	s := store.New(clocktesting.NewFakePassiveClock(now))
	for _, k := range everyKind() {
		s.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	for _, row := range rows {
		s.Put(row)
	}
	for _, k := range blind {
		s.SetFreshness(k, world.Freshness{Feed: feed})
		s.Replace(k, nil)
	}
	return s.Snapshot()
}

// rows are those of the scene, as snapshot has them.
func (sc *scene) rows(more ...any) []any {
	out := []any{
		sc.queue, sc.local, sc.ns, &world.ClusterQueue{Meta: named("", "other"), Cohort: "co"},
		&world.Flavor{Meta: named("", "a")}, &world.Flavor{Meta: named("", "b")},
		&world.Workload{
			Meta: named("team", "holder"), Active: true, ClusterQueue: "other", State: world.Admitted,
			Conditions: cond("QuotaReserved", "True", "QuotaReserved", "", 0), Usage: []world.Use{{FlavorResource: gpu("a"), Amount: 6}},
		},
	}
	for _, c := range sc.checks {
		out = append(out, c)
	}
	return append(out, more...)
}

// podSet is one that asks for gpu, changed as said.
func podSet(name string, count int32, gpu string, change ...func(*kueue.PodSet)) kueue.PodSet {
	ps := kueue.PodSet{Name: kueue.PodSetReference(name), Count: count}
	ps.Template.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"gpu": resource.MustParse(gpu)}}}}
	for _, f := range change {
		f(&ps)
	}
	return ps
}

// waiting is the row of a Workload of these pod sets that waits in team/lq. Kueue
// has written the message, a minute ago, if it is not empty.
func waiting(message string, sets ...kueue.PodSet) *world.Workload {
	o := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "w", UID: "w"}, Spec: kueue.WorkloadSpec{QueueName: "lq", PodSets: sets}}
	if message != "" {
		o.Status.Conditions = []metav1.Condition{{Type: "QuotaReserved", Status: "False", Reason: "Pending", Message: message, LastTransitionTime: metav1.NewTime(now.Add(-time.Minute))}}
	}
	return project.Workload(o)
}

// needs lets each pod ask for the resource too.
func needs(name corev1.ResourceName, amount string) func(*kueue.PodSet) {
	return func(ps *kueue.PodSet) {
		ps.Template.Spec.Containers[0].Resources.Requests[name] = resource.MustParse(amount)
	}
}

// atLeastPods lets the pod set start with so many.
func atLeastPods(n int32) func(*kueue.PodSet) {
	return func(ps *kueue.PodSet) { ps.MinCount = &n }
}
