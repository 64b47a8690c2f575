package impact

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/impact/worker"
	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

var noon = time.Date(2026, 9, 14, 12, 0, 0, 0, time.UTC)

const gpu corev1.ResourceName = "nvidia.com/gpu"

// cell is the one cell of most scenes.
var a100 = world.FlavorResource{Flavor: "a100", Resource: string(gpu)}

func ptr[T any](v T) *T { return &v }

// scene is a cluster of few objects: flavor a100, namespace ns. ClusterQueue NAME
// has LocalQueue ns/NAME.
type scene struct {
	objects map[world.Ref]client.Object
	hidden  map[world.Kind]world.Freshness
	within  string // Contract.Namespace
	n       int
}

func newScene() *scene {
	s := &scene{objects: map[world.Ref]client.Object{}, hidden: map[world.Kind]world.Freshness{}}
	s.put(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}})
	s.put(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "a100"}})
	return s
}

func kindOf(o runtime.Object) world.Kind {
	row, err := project.Row(o)
	if err != nil {
		panic(err)
	}
	return row.(interface{ Ref() world.Ref }).Ref().Kind
}

func (s *scene) put(o client.Object) {
	if o.GetUID() == "" {
		o.SetUID(types.UID("uid-" + string(kindOf(o)) + "-" + o.GetName()))
	}
	o.SetGeneration(max(1, o.GetGeneration()))
	s.objects[world.Ref{Kind: kindOf(o), Key: world.Key{Namespace: o.GetNamespace(), Name: o.GetName()}}] = o
}

// queue adds a ClusterQueue that preempts nobody, and its LocalQueue.
func (s *scene) queue(name, cohort string, nominal int64, change ...func(*kueue.ClusterQueue)) *kueue.ClusterQueue {
	q := &kueue.ClusterQueue{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: kueue.ClusterQueueSpec{
			CohortName: kueue.CohortReference(cohort), NamespaceSelector: &metav1.LabelSelector{},
			ResourceGroups: []kueue.ResourceGroup{{CoveredResources: []corev1.ResourceName{gpu}, Flavors: []kueue.FlavorQuotas{{
				Name: "a100", Resources: []kueue.ResourceQuota{{Name: gpu, NominalQuota: *resource.NewQuantity(nominal, resource.DecimalSI)}},
			}}}},
		},
		Status: kueue.ClusterQueueStatus{Conditions: []metav1.Condition{{Type: kueue.ClusterQueueActive, Status: metav1.ConditionTrue, Reason: "Ready", ObservedGeneration: 1, LastTransitionTime: metav1.NewTime(noon)}}},
	}
	setDefaults(q)
	for _, c := range change {
		c(q)
	}
	s.put(q)
	s.put(&kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name)}})
	return q
}

func nominal(n int64) func(*kueue.ClusterQueue) {
	return func(q *kueue.ClusterQueue) {
		q.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = *resource.NewQuantity(n, resource.DecimalSI)
	}
}

func stop(p kueue.StopPolicy) func(*kueue.ClusterQueue) {
	return func(q *kueue.ClusterQueue) {
		q.Spec.StopPolicy = &p
		if p != kueue.None {
			apimeta.SetStatusCondition(&q.Status.Conditions, metav1.Condition{Type: kueue.ClusterQueueActive, Status: metav1.ConditionFalse, Reason: "Stopped", LastTransitionTime: metav1.NewTime(noon)})
		}
	}
}

func within(p kueue.PreemptionPolicy) func(*kueue.ClusterQueue) {
	return func(q *kueue.ClusterQueue) { q.Spec.Preemption.WithinClusterQueue = p }
}

func reclaim(p kueue.PreemptionPolicy) func(*kueue.ClusterQueue) {
	return func(q *kueue.ClusterQueue) { q.Spec.Preemption.ReclaimWithinCohort = p }
}

// cohort adds a Cohort object without quota.
func (s *scene) cohort(name, parent string) {
	s.put(&kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.CohortSpec{ParentName: kueue.CohortReference(parent)}})
}

// job adds a Workload of one pod with so many GPUs; each is created a minute
// after the one before.
func (s *scene) job(name, queue string, gpus int64, priority int32) *kueue.Workload {
	s.n++
	w := &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, ResourceVersion: "1", CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(s.n-1000) * time.Minute)),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "job-" + name, UID: types.UID("job-" + name), Controller: ptr(true)}},
		},
		Spec: kueue.WorkloadSpec{
			QueueName: kueue.LocalQueueName(queue), Active: ptr(true), Priority: &priority,
			PodSets: []kueue.PodSet{{Name: "main", Count: 1, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{gpu: *resource.NewQuantity(gpus, resource.DecimalSI)}}}},
			}}}},
		},
	}
	s.put(w)
	return w
}

// reserve gives the Workload quota of a100.
func reserve(w *kueue.Workload, queue string) {
	w.Status.Admission = &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(queue)}
	for _, ps := range w.Spec.PodSets {
		q := ps.Template.Spec.Containers[0].Resources.Requests[gpu].DeepCopy()
		q.Mul(int64(ps.Count))
		w.Status.Admission.PodSetAssignments = append(w.Status.Admission.PodSetAssignments, kueue.PodSetAssignment{
			Name: ps.Name, Count: ptr(ps.Count), Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{gpu: "a100"}, ResourceUsage: corev1.ResourceList{gpu: q},
		})
	}
	set(w, kueue.WorkloadQuotaReserved, metav1.ConditionTrue, "QuotaReserved", "Quota reserved")
}

// admit gives the Workload quota of a100 and admits it.
func admit(w *kueue.Workload, queue string) {
	reserve(w, queue)
	set(w, kueue.WorkloadAdmitted, metav1.ConditionTrue, "Admitted", "The workload is admitted")
}

func set(w *kueue.Workload, typ string, status metav1.ConditionStatus, reason, message string) {
	apimeta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: typ, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(noon.Add(-time.Minute))})
}

// running adds a Workload that is admitted.
func (s *scene) running(name, queue string, gpus int64, priority int32) *kueue.Workload {
	w := s.job(name, queue, gpus, priority)
	admit(w, queue)
	return w
}

func (s *scene) snapshot() *store.Snapshot {
	out := store.New(moment(noon))
	for _, k := range append(world.WatchedKinds(), world.SideKinds()...) {
		f, ok := s.hidden[k]
		if !ok {
			f = world.Freshness{Feed: world.Live, Synced: true, Heard: noon}
		}
		out.SetFreshness(k, f)
	}
	out.SetContract(world.Contract{KueueVersion: "v0.19.2", Namespace: s.within})
	for ref, o := range s.objects {
		if f, ok := s.hidden[ref.Kind]; ok && !f.Usable() {
			continue
		}
		row, err := project.Row(o)
		if err != nil {
			panic(err)
		}
		out.Put(row)
	}
	return out.Snapshot()
}

// edited is a copy of the ClusterQueue with changes.
func (s *scene) edited(queue string, change ...func(*kueue.ClusterQueue)) Edit {
	k := world.Key{Name: queue}
	o := s.objects[world.Ref{Kind: world.KindClusterQueue, Key: k}].(*kueue.ClusterQueue).DeepCopy()
	for _, c := range change {
		c(o)
	}
	return Edit{world.KindClusterQueue, k, o}
}

func editOf(o client.Object) Edit {
	return Edit{kindOf(o), world.Key{Namespace: o.GetNamespace(), Name: o.GetName()}, o}
}

func (s *scene) question(edits ...Edit) Question {
	return Question{Snapshot: s.snapshot(), Edits: edits, Settings: manager.Defaults(), Now: noon}
}

// real asks Kueue's own scheduler.
func (s *scene) real(t *testing.T, edits ...Edit) Result {
	t.Helper()
	r := Preview(context.Background(), worker.InProcess{}, s.question(edits...), nil)
	if r.NotComputed != "" || r.Bounded != "" || len(r.Restless) > 0 {
		t.Fatalf("not computed: %q; bounded: %q; restless: %v", r.NotComputed, r.Bounded, r.Restless)
	}
	return r
}

// script is a runner that plays outcomes that were written by hand.
type script struct {
	outs []engine.Outcome
	all  bool // the last of outs stands for all timings that are left
	err  error
	task worker.Task // what it was given
}

func (s *script) Run(_ context.Context, t worker.Task, each func(engine.Outcome), progress func(engine.Progress)) error {
	s.task = t
	for s.all && len(s.outs) < len(t.Modes) {
		s.outs = append(s.outs, s.outs[len(s.outs)-1])
	}
	for _, o := range s.outs {
		progress(engine.Progress{Mode: o.Mode, Cycles: 1})
		each(o)
	}
	return s.err
}

// play composes outcomes, one for each timing: the last one given for all that
// are left.
func (s *scene) play(outs []engine.Outcome, edits ...Edit) (Result, worker.Task) {
	r := &script{outs: outs, all: true}
	res := Preview(context.Background(), r, s.question(edits...), nil)
	return res, r.task
}
