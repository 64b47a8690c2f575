package reason_test

import (
	"context"
	"slices"
	"strconv"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	preemptioncommon "sigs.k8s.io/kueue/pkg/scheduler/preemption/common"
	"sigs.k8s.io/kueue/pkg/workload"
)

// kueueSide asks Kueue's own scheduler cache and flavor assigner about Workloads
// of queue q0.
type kueueSide struct {
	c        *cluster
	strategy configapi.QuotaCheckStrategy
}

// client answers what Kueue asks of an API server on the way.
type apiServer struct {
	client.Client
	c *cluster
}

func (a apiServer) Get(_ context.Context, k client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	if class, ok := obj.(*nodev1.RuntimeClass); ok && a.c.class != nil && a.c.class.Name == k.Name {
		a.c.class.DeepCopyInto(class)
		return nil
	}
	return apierrors.NewNotFound(schema.GroupResource{}, k.Name)
}

func (a apiServer) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if l, ok := list.(*corev1.LimitRangeList); ok {
		for _, r := range a.c.ranges {
			l.Items = append(l.Items, *r)
		}
	}
	return nil
}

// nobody finds nobody to preempt.
type nobody struct{}

func (nobody) SimulatePreemption(context.Context, *schdcache.ClusterQueueSnapshot, workload.Info, resources.FlavorResource, resources.Amount) (preemptioncommon.PreemptionPossibility, int) {
	return preemptioncommon.NoCandidates, 0
}

// snapshot is Kueue's view of the cluster while the Workloads hold quota.
func (k kueueSide) snapshot(t *rapid.T, holders []*kueue.Workload) *schdcache.Snapshot {
	log, ctx := logr.Discard(), logr.NewContext(context.Background(), logr.Discard())
	cache := schdcache.New(apiServer{c: k.c})
	for _, f := range k.c.flavors {
		cache.AddOrUpdateResourceFlavor(log, f)
	}
	for _, o := range k.c.cohorts {
		if err := cache.AddOrUpdateCohort(o); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range k.c.queues {
		if err := cache.AddClusterQueue(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range holders {
		cache.AddOrUpdateWorkload(log, o)
	}
	snap, err := cache.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// info is the Workload as Kueue's queues keep it: with the requests that it
// counts.
func (k kueueSide) info(w *kueue.Workload) *workload.Info {
	w = w.DeepCopy()
	workload.AdjustResources(logr.NewContext(context.Background(), logr.Discard()), apiServer{c: k.c}, w)
	info := workload.NewInfo(w)
	info.ClusterQueue = "q0"
	return info
}

// assign is what Kueue's scheduler does with the Workload as the first one of a
// cycle (getInitialAssignments), but for preemption.
func (k kueueSide) assign(snap *schdcache.Snapshot, info *workload.Info) flavorassigner.Assignment {
	ctx := logr.NewContext(context.Background(), logr.Discard())
	assigner := flavorassigner.New(info, snap.ClusterQueue("q0"), snap.ResourceFlavors, false, nobody{}, nil, k.strategy, resources.NewResourceFormatter(), 1)
	full := assigner.Assign(ctx, nil)
	if full.RepresentativeMode() == flavorassigner.Fit || !info.CanBePartiallyAdmitted() {
		return full
	}
	reducer := flavorassigner.NewPodSetReducer(info.Obj.Spec.PodSets, func(counts []int32) (*flavorassigner.Assignment, bool) {
		a := assigner.Assign(ctx, counts)
		return &a, a.RepresentativeMode() == flavorassigner.Fit
	})
	if a, found := reducer.Search(); found {
		return *a
	}
	return full
}

func (k kueueSide) covers(r corev1.ResourceName) bool {
	return slices.ContainsFunc(k.c.groups, func(g group) bool { return slices.Contains(g.resources, r) })
}

// asksUncovered reports whether Kueue counts something that the queue has no
// quota for.
func (k kueueSide) asksUncovered(info *workload.Info) bool {
	for _, ps := range info.TotalRequests {
		for r, n := range ps.Requests.Iter() {
			if n > 0 && !k.covers(r) {
				return true
			}
		}
	}
	return false
}

// stopsEarly reports whether a pod set names only what the queue does not cover
// and Kueue passes over. Kueue 0.19.2 then ends its work after the turn of that
// pod set's group, with the mode Fit, and says nothing of the groups behind it
// (the return of assignFlavors when a pod set with requests got no flavor). A
// group's turn is that of its first pod set, and what it asks for is added up.
func (k kueueSide) stopsEarly(info *workload.Info) bool {
	if k.covers(corev1.ResourcePods) {
		return false
	}
	var turns []string
	of := make([]string, len(info.TotalRequests))
	asked := map[string]map[corev1.ResourceName]int64{}
	for i, ps := range info.TotalRequests {
		of[i] = strconv.Itoa(i)
		if tr := info.Obj.Spec.PodSets[i].TopologyRequest; tr != nil && tr.PodSetGroupName != nil {
			of[i] = *tr.PodSetGroupName
		}
		if asked[of[i]] == nil {
			turns, asked[of[i]] = append(turns, of[i]), map[corev1.ResourceName]int64{}
		}
		for r, n := range ps.Requests.Iter() {
			asked[of[i]][r] += n
		}
	}
	for i, ps := range info.TotalRequests {
		passed := ps.Requests.Len() > 0 && of[i] != turns[len(turns)-1]
		for r := range ps.Requests.Iter() {
			passed = passed && !k.covers(r) && (asked[of[i]][r] == 0 || k.strategy == configapi.QuotaCheckIgnoreUndeclared)
		}
		if passed {
			return true
		}
	}
	return false
}
