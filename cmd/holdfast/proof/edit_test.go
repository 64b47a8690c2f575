package proof

import (
	"math/rand/v2"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// change is an object as it was and as it will be. was is nil where it is made.
// A Job stands for its Workload, whose priority Kueue takes from the Job.
type change struct{ was, is client.Object }

// state is a world as it was read from the server.
type state struct {
	queues    []*kueue.ClusterQueue
	locals    []*kueue.LocalQueue
	cohorts   []*kueue.Cohort
	jobs      []*batchv1.Job
	workloads []*kueue.Workload
}

// editor makes random edits of a world. scene is how the world was made and state
// how it is.
type editor struct {
	*scene
	now *state
}

// kind is a kind of edit. make returns nil where the world has nothing to edit in
// this way.
type kind struct {
	name   string
	weight int
	needs  need
	make   func(*editor) []change
	fair   bool // only with fair sharing
}

const severalAtOnce = "several at once"

func kinds() []kind {
	return []kind{
		{name: "quota up", weight: 10, make: (*editor).quotaUp},
		{name: "quota down", weight: 6, make: (*editor).quotaDown},
		{name: "borrowing limit", weight: 8, make: (*editor).borrowingLimit},
		{name: "lending limit", weight: 6, make: (*editor).lendingLimit},
		{name: "cohort move", weight: 9, needs: needTwoCohorts, make: (*editor).cohortMove},
		{name: "cohort quota", weight: 8, needs: needCohortObject, make: (*editor).cohortQuota},
		{name: "cohort parent", weight: 6, needs: needParent, make: (*editor).cohortParent},
		{name: "preemption policy", weight: 12, make: (*editor).policy},
		{name: "flavor fungibility", weight: 3, make: (*editor).changeFungibility},
		{name: "queueing strategy", weight: 3, make: (*editor).strategy},
		{name: "resume ClusterQueue", weight: 8, needs: needHeldQueue, make: (*editor).resumeQueue},
		{name: "resume LocalQueue", weight: 4, needs: needHeldLocal, make: (*editor).resumeLocal},
		{name: "hold", weight: 2, make: (*editor).hold},
		{name: "hold and drain", weight: 6, make: (*editor).drain},
		{name: "priority", weight: 9, make: (*editor).priority},
		{name: "fair weight", weight: 8, make: (*editor).fairWeight, fair: true},
		{name: severalAtOnce, weight: 10, needs: needHeldQueue, make: (*editor).several},
	}
}

// randomKind draws a kind by its weight.
func randomKind(r *rand.Rand, fair bool) kind {
	all := slices.DeleteFunc(kinds(), func(k kind) bool { return k.fair && !fair })
	sum := 0
	for _, k := range all {
		sum += k.weight
	}
	n := r.IntN(sum)
	for _, k := range all {
		if n -= k.weight; n < 0 {
			return k
		}
	}
	panic("the weights do not add up")
}

// anyKind draws a kind of edit that the world has something for.
func (e *editor) anyKind() kind {
	for {
		if k := randomKind(e.r, e.fair); k.needs&needParent == 0 || len(e.now.cohorts) > 0 {
			return k
		}
	}
}

func (e *editor) queue() *kueue.ClusterQueue { return pick(e.r, e.now.queues).DeepCopy() }

// changed is the change of the queue by f; nil where f changes nothing.
func changed[T client.Object](was T, f func(T)) []change {
	is := was.DeepCopyObject().(T)
	f(is)
	if equality.Semantic.DeepEqual(was, is) {
		return nil
	}
	return []change{{was, is}}
}

// cells calls f with every cell of one random flavor.
func (e *editor) cells(groups []kueue.ResourceGroup, f func(*kueue.ResourceQuota)) {
	if len(groups) == 0 {
		return
	}
	g := &groups[e.r.IntN(len(groups))]
	fl := &g.Flavors[e.r.IntN(len(g.Flavors))]
	for i := range fl.Resources {
		f(&fl.Resources[i])
	}
}

// add moves the nominal quota by n GPUs or as many CPUs as go with them.
func add(q *kueue.ResourceQuota, n int) {
	if q.Name == cpu {
		n *= 2
	}
	q.NominalQuota = quantity(max(0, int(q.NominalQuota.Value())+n))
	if q.LendingLimit != nil && q.LendingLimit.Cmp(q.NominalQuota) > 0 {
		q.LendingLimit = limit(int(q.NominalQuota.Value()))
	}
}

func (e *editor) quotaUp() []change {
	n := between(e.r, 1, 8)
	return changed(e.queue(), func(q *kueue.ClusterQueue) {
		e.cells(q.Spec.ResourceGroups, func(c *kueue.ResourceQuota) { add(c, n) })
	})
}

func (e *editor) quotaDown() []change {
	n := between(e.r, 1, 8)
	return changed(e.queue(), func(q *kueue.ClusterQueue) {
		e.cells(q.Spec.ResourceGroups, func(c *kueue.ResourceQuota) { add(c, -n) })
	})
}

func (e *editor) borrowingLimit() []change {
	return changed(e.queue(), func(q *kueue.ClusterQueue) {
		e.cells(q.Spec.ResourceGroups, func(c *kueue.ResourceQuota) {
			switch {
			case q.Spec.CohortName == "":
			case c.BorrowingLimit == nil || e.chance(0.3):
				c.BorrowingLimit = limit(e.r.IntN(9))
			default:
				c.BorrowingLimit = nil
			}
		})
	})
}

func (e *editor) lendingLimit() []change {
	return changed(e.queue(), func(q *kueue.ClusterQueue) {
		e.cells(q.Spec.ResourceGroups, func(c *kueue.ResourceQuota) {
			switch {
			case q.Spec.CohortName == "":
			case c.LendingLimit == nil || e.chance(0.3):
				c.LendingLimit = limit(e.r.IntN(int(c.NominalQuota.Value()) + 1))
			default:
				c.LendingLimit = nil
			}
		})
	})
}

func (e *editor) cohortMove() []change {
	return changed(e.queue(), func(q *kueue.ClusterQueue) {
		if q.Spec.CohortName != "" && e.chance(0.15) {
			q.Spec.CohortName = ""
			free(q.Spec.ResourceGroups)
			return
		}
		q.Spec.CohortName = kueue.CohortReference(pick(e.r, e.names))
	})
}

// free takes away limits, which are not allowed outside of a cohort.
func free(groups []kueue.ResourceGroup) {
	for _, g := range groups {
		for _, f := range g.Flavors {
			for i := range f.Resources {
				f.Resources[i].BorrowingLimit, f.Resources[i].LendingLimit = nil, nil
			}
		}
	}
}
