package pack

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	testclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/dra"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/util/priority"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
	"sigs.k8s.io/kueue/pkg/workload/evict"
	"sigs.k8s.io/kueue/pkg/workload/finish"
	"sigs.k8s.io/kueue/pkg/workload/patching"
	"sigs.k8s.io/kueue/pkg/workloadslicing"

	"cli.holdfast.dev/holdfast/model/impact/engine"
)

// view is what Kueue's own code says of a Workload: all that its scheduler,
// caches and controllers ask.
type view struct {
	Key, UID, JobUID           string
	Generation                 int64
	LocalQueue, ClusterQueue   string
	Conditions                 []metav1.Condition
	Total                      []total
	Usage                      string
	TAS                        workload.TASUsage
	Hash                       workload.EquivalenceHash
	Order, OrderEvicted        time.Time
	Status                     string
	Flags                      map[string]bool
	Priority                   int64
	Class, Cluster, Slice      string
	Nominated                  []string
	Replaces                   *workload.Reference
	Parent, ParentUID, Variant string
	Checks                     []kueue.AdmissionCheckState
	QueueChecks                []string
	Resources, Ranges          field.ErrorList
	RequeueCount, Past         int32
	Evictions                  []kueue.WorkloadSchedulingStatsEviction
	GateStates                 []kueue.PreemptionGateState
	UnadmittedReason           string
}

type total struct {
	Name     kueue.PodSetReference
	Count    int32
	Requests map[corev1.ResourceName]int64
	Flavors  map[corev1.ResourceName]kueue.ResourceFlavorReference
}

// look asks Kueue about the Workload, to which it is given a copy.
func look(in *kueue.Workload, c client.Client, queues []*kueue.ClusterQueue) view {
	w := in.DeepCopy()
	log := logr.Discard()
	ctx := ctrl.LoggerInto(context.Background(), log)
	clock := testclock.NewFakeClock(at)
	workload.AdjustResources(ctx, c, w)
	info := workload.NewInfo(w)
	info.UpdateSchedulingHash(log)
	v := view{
		Key: client.ObjectKeyFromObject(w).String(), UID: string(w.UID), JobUID: w.Labels["kueue.x-k8s.io/job-uid"], Generation: w.Generation,
		LocalQueue: string(w.Spec.QueueName), ClusterQueue: string(info.ClusterQueue), Conditions: w.Status.Conditions,
		Usage: fmt.Sprint(info.FlavorResourceUsage()), TAS: info.TASUsage(), Hash: info.SchedulingHash,
		Order:        workload.Ordering{}.GetQueueOrderTimestamp(w).Time,
		OrderEvicted: workload.Ordering{PodsReadyRequeuingTimestamp: configapi.EvictionTimestamp}.GetQueueOrderTimestamp(w).Time,
		Status:       workload.Status(w), Priority: priority.EffectivePriority(log, w),
		Class: patching.PriorityClassName(w), Cluster: workload.ClusterName(w), Slice: workloadslicing.SliceName(w),
		Nominated: w.Status.NominatedClusterNames, Replaces: workloadslicing.ReplacementForKey(w),
		Parent: concurrentadmission.GetParentWorkloadName(w), ParentUID: string(concurrentadmission.GetParentWorkloadUID(w)),
		Variant:   string(concurrentadmission.GetVariantFlavor(w)),
		Resources: workload.ValidateResources(info), Ranges: workload.ValidateLimitRange(ctx, c, info),
		GateStates: w.Status.PreemptionGates,
		Flags: map[string]bool{
			"finished": finish.IsFinished(w), "active": workload.IsActive(w), "admitted": workload.IsAdmitted(w), "admissible": workload.IsAdmissible(w),
			"reserved": workload.HasQuotaReservation(w), "holds": workload.HasActiveQuotaReservation(w), "on hold": workload.IsOnHold(w),
			"gated": workload.HasAdmissionGate(w), "devices": workload.HasDRA(w), "devices to resolve": dra.NeedsDRAReconcile(w, nil),
			"one pod": workload.OwnedBySinglePod(w), "owned": len(w.OwnerReferences) > 0,
			"all checks ready": workload.HasAllChecksReady(w), "retry": workload.HasRetryChecks(w), "rejected": workload.HasRejectedChecks(w),
			"workload class": workload.IsWorkloadPriorityClass(w), "pod class": workload.IsPodPriorityClass(w), "no class": workload.HasNoPriority(w),
			"closed gate": workload.HasClosedPreemptionGate(w), "elastic": workload.IsElasticWorkload(w), "scaled up": workloadslicing.ScaledUp(w),
			"parent": concurrentadmission.IsParent(w), "variant": concurrentadmission.IsVariant(w),
			"flavor a": concurrentadmission.IsFlavorAllowedForVariant(w, "a"), "flavor b": concurrentadmission.IsFlavorAllowedForVariant(w, "b"),
			"evicted": evict.IsEvicted(w), "evicted by deactivation": evict.IsEvictedByDeactivation(w), "in part": info.CanBePartiallyAdmitted(),
			"asks for topology": workload.IsExplicitlyRequestingTAS(w.Spec.PodSets...), "unhealthy": workload.HasTopologyAssignmentWithUnhealthyNode(w),
			"second pass": workload.NeedsSecondPass(w), "waits": waits(w, clock), "counted": w.Status.RequeueState != nil && w.Status.RequeueState.Count != nil,
			"requests are news": workload.PropagateResourceRequests(w.DeepCopy(), info, resources.NewResourceFormatter()),
			"admission changes": workload.SyncAdmittedCondition(w.DeepCopy(), at),
		},
	}
	for _, r := range info.TotalRequests {
		v.Total = append(v.Total, total{r.Name, r.Count, resources.ToMap(r.Requests), r.Flavors})
	}
	for _, q := range queues {
		for name := range workload.AdmissionChecksForWorkload(log, w, q) {
			v.QueueChecks = append(v.QueueChecks, q.Name+"/"+string(name))
		}
	}
	slices.Sort(v.QueueChecks)
	for _, c := range w.Status.AdmissionChecks {
		c.RequeueAfterSeconds, c.PodSetUpdates = nil, nil // see Of
		v.Checks = append(v.Checks, c)
	}
	if r := w.Status.RequeueState; r != nil && r.Count != nil {
		v.RequeueCount = *r.Count
	}
	if p := w.Status.AccumulatedPastExecutionTimeSeconds; p != nil {
		v.Past = *p + 1
	}
	if s := w.Status.SchedulingStats; s != nil {
		v.Evictions = s.Evictions
	}
	return v
}

// waits reports whether Kueue does not try the Workload again yet, or would find
// so at once.
func waits(w *kueue.Workload, c *testclock.FakeClock) bool {
	r := w.Status.RequeueState
	return r != nil && r.RequeueAt != nil && r.RequeueAt.After(c.Now()) || workload.NeedsRequeueAtUpdate(w, c) != nil
}

// reader answers what Kueue asks when it looks at requests.
type reader struct {
	client.Client
	ranges   []*corev1.LimitRange
	runtimes []*nodev1.RuntimeClass
}

func readerOf(objects []runtime.Object) reader {
	return reader{ranges: of[*corev1.LimitRange](objects), runtimes: of[*nodev1.RuntimeClass](objects)}
}

func readerOfObjects(o engine.Objects) reader {
	return reader{ranges: o.LimitRanges, runtimes: o.RuntimeClasses}
}

// Get implements client.Reader for RuntimeClasses.
func (r reader) Get(_ context.Context, k client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	for _, c := range r.runtimes {
		if into, ok := o.(*nodev1.RuntimeClass); ok && c.Name == k.Name {
			c.DeepCopyInto(into)
			return nil
		}
	}
	return fmt.Errorf("no %T %s", o, k)
}

// List implements client.Reader for LimitRanges.
func (r reader) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	for _, l := range r.ranges {
		if l.Namespace == o.Namespace {
			list.(*corev1.LimitRangeList).Items = append(list.(*corev1.LimitRangeList).Items, *l.DeepCopy())
		}
	}
	return nil
}
