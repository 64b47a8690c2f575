package engine

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

var noon = time.Date(2026, 9, 14, 12, 0, 0, 0, time.UTC)

const gpu corev1.ResourceName = "nvidia.com/gpu"

func ptr[T any](v T) *T { return &v }

// scene builds Objects. ClusterQueue NAME has LocalQueue ns/NAME.
type scene struct {
	Objects
	n int
}

func newScene() *scene {
	s := &scene{}
	s.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "ns"}}}
	s.Flavors = []*kueue.ResourceFlavor{{ObjectMeta: metav1.ObjectMeta{Name: "a100"}}}
	return s
}

func (s *scene) queue(name, cohort string, nominal int64, change ...func(*kueue.ClusterQueue)) *kueue.ClusterQueue {
	q := &kueue.ClusterQueue{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec: kueue.ClusterQueueSpec{
			CohortName: kueue.CohortReference(cohort), NamespaceSelector: &metav1.LabelSelector{}, QueueingStrategy: kueue.BestEffortFIFO,
			Preemption: &kueue.ClusterQueuePreemption{WithinClusterQueue: kueue.PreemptionPolicyNever, ReclaimWithinCohort: kueue.PreemptionPolicyNever},
			ResourceGroups: []kueue.ResourceGroup{{CoveredResources: []corev1.ResourceName{gpu}, Flavors: []kueue.FlavorQuotas{{
				Name: "a100", Resources: []kueue.ResourceQuota{{Name: gpu, NominalQuota: *resource.NewQuantity(nominal, resource.DecimalSI)}},
			}}}},
		},
		Status: kueue.ClusterQueueStatus{Conditions: []metav1.Condition{{Type: kueue.ClusterQueueActive, Status: metav1.ConditionTrue, Reason: "Ready", LastTransitionTime: metav1.NewTime(noon)}}},
	}
	for _, c := range change {
		c(q)
	}
	s.ClusterQueues = append(s.ClusterQueues, q)
	s.LocalQueues = append(s.LocalQueues, &kueue.LocalQueue{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name)},
	})
	return q
}

func (s *scene) cohort(name, parent string) *kueue.Cohort {
	c := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.CohortSpec{ParentName: kueue.CohortReference(parent)}}
	s.Cohorts = append(s.Cohorts, c)
	return c
}

// job adds a Workload of one pod with so many GPUs; each is created a minute
// after the one before.
func (s *scene) job(name, queue string, gpus int64, priority int32) *kueue.Workload {
	s.n++
	w := &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: types.UID("uid-" + name), Generation: 1, ResourceVersion: "1",
			CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(s.n-1000) * time.Minute)),
			OwnerReferences:   []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: name, UID: types.UID("job-" + name), Controller: ptr(true)}},
		},
		Spec: kueue.WorkloadSpec{
			QueueName: kueue.LocalQueueName(queue), Active: ptr(true), Priority: &priority,
			PodSets: []kueue.PodSet{{Name: "main", Count: 1, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{gpu: *resource.NewQuantity(gpus, resource.DecimalSI)},
				}}},
			}}}},
		},
	}
	s.Workloads = append(s.Workloads, w)
	return w
}

// running adds a Workload that is admitted to a100.
func (s *scene) running(name, queue string, gpus int64, priority int32) *kueue.Workload {
	w := s.job(name, queue, gpus, priority)
	w.Status.Admission = &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(queue), PodSetAssignments: []kueue.PodSetAssignment{{
		Name: "main", Count: ptr(int32(1)), Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{gpu: "a100"},
		ResourceUsage: corev1.ResourceList{gpu: *resource.NewQuantity(gpus, resource.DecimalSI)},
	}}}
	for _, typ := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted} {
		apimeta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: typ, Status: metav1.ConditionTrue, Reason: typ, LastTransitionTime: metav1.NewTime(w.CreationTimestamp.Add(time.Second))})
	}
	return w
}

// edit returns the change of the queue.
func (s *scene) edit(name string, f func(*kueue.ClusterQueue)) Change {
	for _, q := range s.ClusterQueues {
		if q.Name == name {
			n := q.DeepCopy()
			n.Generation++
			f(n)
			return Change{Old: q, New: n}
		}
	}
	panic("no queue " + name)
}

// drainLocal returns the change that drains the LocalQueue of the ClusterQueue.
func (s *scene) drainLocal(name string) Change {
	for _, q := range s.LocalQueues {
		if q.Name == name {
			n := q.DeepCopy()
			n.Generation++
			n.Spec.StopPolicy = ptr(kueue.HoldAndDrain)
			return Change{Old: q, New: n}
		}
	}
	panic("no queue " + name)
}

func quota(n int64) func(*kueue.ClusterQueue) {
	return func(q *kueue.ClusterQueue) {
		q.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = *resource.NewQuantity(n, resource.DecimalSI)
	}
}

// told is an outcome in short lines: "+job" admitted, "-job" lost its quota, and
// the preemptions and evictions in order.
type told struct {
	Status             []string
	Preempted, Evicted []string
	Restless           []string
	Queues             []string
	Bound              string
}

func (s *scene) tell(out Outcome) told {
	was := map[world.Key]bool{}
	for _, w := range s.Workloads {
		was[keyOf(w)] = w.Status.Admission != nil
	}
	t := told{Bound: out.Bound}
	for _, w := range out.Changed {
		switch is := w.Status.Admission != nil; {
		case is && !was[keyOf(w)]:
			t.Status = append(t.Status, "+"+w.Name)
		case !is && was[keyOf(w)]:
			t.Status = append(t.Status, "-"+w.Name)
		}
	}
	for _, p := range out.Preemptions {
		t.Preempted = append(t.Preempted, fmt.Sprintf("%s<-%s %s", p.Victim.Name, p.Preemptor.Name, p.Reason))
	}
	for _, e := range out.Evictions {
		t.Evicted = append(t.Evicted, e.Workload.Name+" "+e.Reason)
	}
	for _, k := range out.Restless {
		t.Restless = append(t.Restless, k.Name)
	}
	for _, q := range out.Queues {
		t.Queues = append(t.Queues, fmt.Sprintf("%s %v>%v %s", q.ClusterQueue, q.Before, q.After, q.ReasonAfter))
	}
	return t
}

func (s *scene) run(t testing.TB, m Mode, changes ...Change) Outcome {
	t.Helper()
	out, err := Run(t.Context(), s.Objects, changes, m, Options{At: noon})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// copy returns the objects, deeply copied.
func (s *scene) copy() Objects {
	o := s.Objects
	o.Flavors, o.ClusterQueues, o.LocalQueues = copies(o.Flavors), copies(o.ClusterQueues), copies(o.LocalQueues)
	o.Workloads, o.Namespaces = copies(o.Workloads), copies(o.Namespaces)
	return o
}

func copies[T interface{ DeepCopy() T }](in []T) []T {
	out := make([]T, len(in))
	for i := range in {
		out[i] = in[i].DeepCopy()
	}
	return out
}
