// Package proof holds the preview against a real Kueue: it makes random worlds
// and random edits, asks what the preview says, does the edit and looks at what
// Kueue did. The tests that need the sandbox have the build tag sandbox.
package proof

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

const (
	gpu corev1.ResourceName = "nvidia.com/gpu"
	cpu corev1.ResourceName = corev1.ResourceCPU

	queueLabel       = "kueue.x-k8s.io/queue-name"
	priorityLabel    = "kueue.x-k8s.io/priority-class"
	minParallelism   = "kueue.x-k8s.io/job-min-parallelism"
	runTime          = "pod-complete.stage.kwok.x-k8s.io/delay"
	poolLabel        = "proof.example.com/pool"
	spotTaint        = "proof.example.com/spot"
	highestThreshold = 200
)

// priorities are the WorkloadPriorityClasses of every world.
var priorities = map[string]int32{"proof-low": 100, "proof-mid": highestThreshold, "proof-high": 1000, "proof-top": 10000}

var priorityNames = []string{"proof-low", "proof-mid", "proof-high", "proof-top"}

// The flavors that worlds take theirs from: one that fits every node, two with
// labels and one whose nodes have a taint.
const (
	plain = "proof-plain"
	poolA = "proof-a"
	poolB = "proof-b"
	spot  = "proof-spot"
)

var flavorNames = []string{plain, poolA, poolB, spot}

// pools are the values of the flavors' node label.
var pools = map[string]string{poolA: "a", poolB: "b", spot: "spot"}

// scene is a random world before anything of it exists.
type scene struct {
	id   string
	fair bool
	r    *rand.Rand

	groups  []group
	flavors []string
	// names are the cohorts that a queue may be in, with an object or without.
	names   []string
	cohorts []*kueue.Cohort
	queues  []*kueue.ClusterQueue
	locals  []*kueue.LocalQueue
	jobs    []*batchv1.Job
	// pauses are what passes before each job is made.
	pauses []time.Duration
}

// group is a resource group without its quota.
type group struct {
	resources []corev1.ResourceName
	flavors   []string
}

// need is what an edit needs to find in a world.
type need uint8

const (
	needTwoCohorts need = 1 << iota
	needCohortObject
	needParent
	needHeldQueue
	needHeldLocal
)

// newScene makes the world of the seed. Its objects' names begin with id, which is
// the namespace of its jobs.
func newScene(id string, r *rand.Rand, fair bool, needs need) *scene {
	s := &scene{id: id, fair: fair, r: r}
	s.makeGroups()
	s.makeCohorts(needs)
	s.makeQueues(needs)
	s.makeJobs()
	return s
}

// chance is true with the probability p.
func (s *scene) chance(p float64) bool { return s.r.Float64() < p }

// between is a number from a to b, both included.
func between(r *rand.Rand, a, b int) int { return a + r.IntN(b-a+1) }

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func quantity(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }

func limit(n int) *resource.Quantity { q := quantity(n); return &q }

func (s *scene) makeGroups() {
	switch n := s.r.IntN(10); {
	case n < 4:
		s.flavors = []string{plain}
	case n < 7:
		s.flavors = []string{poolA, pick(s.r, []string{poolB, spot, plain})}
	default:
		s.flavors = slices.Clone(flavorNames)
		s.r.Shuffle(len(s.flavors), func(i, j int) { s.flavors[i], s.flavors[j] = s.flavors[j], s.flavors[i] })
		s.flavors = s.flavors[:3]
	}
	switch n := s.r.IntN(10); {
	case n < 5:
		s.groups = []group{{[]corev1.ResourceName{gpu}, s.flavors}}
	case n < 8 || len(s.flavors) == 1:
		s.groups = []group{{[]corev1.ResourceName{gpu, cpu}, s.flavors}}
	default:
		// Two flavors with different values of the same label would exclude each other.
		labelled := slices.DeleteFunc(slices.Clone(s.flavors), func(f string) bool { return f == plain })
		s.groups = []group{{[]corev1.ResourceName{gpu}, labelled}, {[]corev1.ResourceName{cpu}, []string{plain}}}
	}
}

// amount is a random nominal quota of the resource in one of n flavors, which
// have from least to most GPUs together.
func (s *scene) amount(res corev1.ResourceName, n, least, most int) int {
	a := between(s.r, least, most)
	a = (a + n - 1) / n
	if res == cpu {
		a = 2*a + s.r.IntN(4)
	}
	return a
}

// quota fills the group with quota. limited is whether there may be limits.
func (s *scene) quota(g group, least, most int, limited bool, limits float64) kueue.ResourceGroup {
	out := kueue.ResourceGroup{CoveredResources: g.resources}
	for _, f := range g.flavors {
		q := kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(f)}
		for _, res := range g.resources {
			nominal := s.amount(res, len(g.flavors), least, most)
			rq := kueue.ResourceQuota{Name: res, NominalQuota: quantity(nominal)}
			if limited && s.chance(limits) {
				rq.BorrowingLimit = limit(s.r.IntN(7))
			}
			if limited && s.chance(limits*0.7) {
				rq.LendingLimit = limit(s.r.IntN(nominal + 1))
			}
			q.Resources = append(q.Resources, rq)
		}
		out.Flavors = append(out.Flavors, q)
	}
	return out
}

func (s *scene) makeCohorts(needs need) {
	name := func(n string) string { return s.id + "-" + n }
	n := s.r.IntN(100)
	switch {
	case needs&needParent != 0:
		n = 90
	case needs&needCohortObject != 0:
		n = 60 + s.r.IntN(40)
	case needs&needTwoCohorts != 0:
		n = 35 + s.r.IntN(65)
	}
	switch {
	case n < 35:
		s.names = []string{name("c0")}
	case n < 55:
		s.names = []string{name("c0"), name("c1")}
	case n < 75:
		s.names = []string{name("c0"), name("c1")}
		s.addCohort(name("c0"), "")
		if s.chance(0.5) {
			s.addCohort(name("c1"), "")
		}
	default:
		s.names = []string{name("c0"), name("c1")}
		s.addCohort(name("c0"), name("root"))
		s.addCohort(name("c1"), name("root"))
		if s.chance(0.6) {
			s.addCohort(name("root"), "")
		}
		if s.chance(0.3) {
			s.names = append(s.names, name("root"))
		}
	}
}

func (s *scene) addCohort(name, parent string) {
	c := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.CohortSpec{ParentName: kueue.CohortReference(parent)}}
	if s.chance(0.7) {
		for _, g := range s.groups {
			c.Spec.ResourceGroups = append(c.Spec.ResourceGroups, s.quota(g, 0, 6, parent != "", 0.3))
		}
	}
	if s.fair && s.chance(0.4) {
		c.Spec.FairSharing = s.weight()
	}
	s.cohorts = append(s.cohorts, c)
}

func (s *scene) weight() *kueue.FairSharing {
	w := resource.MustParse(pick(s.r, []string{"500m", "2", "3", "1"}))
	return &kueue.FairSharing{Weight: &w}
}

func (s *scene) makeQueues(needs need) {
	n := between(s.r, 3, 5)
	held, heldLocal := -1, -1
	if needs&needHeldQueue != 0 || s.chance(0.1) {
		held = s.r.IntN(n)
	}
	if needs&needHeldLocal != 0 || s.chance(0.05) {
		heldLocal = s.r.IntN(n)
	}
	for i := range n {
		name := fmt.Sprintf("%s-q%d", s.id, i)
		q := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.ClusterQueueSpec{
			CohortName:        kueue.CohortReference(pick(s.r, s.names)),
			NamespaceSelector: &metav1.LabelSelector{}, QueueingStrategy: kueue.BestEffortFIFO,
			Preemption: randomPolicy(s.r), FlavorFungibility: s.fungibility(),
		}}
		if s.chance(0.25) {
			q.Spec.QueueingStrategy = kueue.StrictFIFO
		}
		for _, g := range s.groups {
			q.Spec.ResourceGroups = append(q.Spec.ResourceGroups, s.quota(s.some(g), 3, 9, true, 0.4))
		}
		if s.fair && s.chance(0.5) {
			q.Spec.FairSharing = s.weight()
		}
		if i == held {
			q.Spec.StopPolicy = new(kueue.Hold)
		}
		l := &kueue.LocalQueue{
			ObjectMeta: metav1.ObjectMeta{Name: localName(i), Namespace: s.id},
			Spec:       kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name)},
		}
		if i == heldLocal {
			l.Spec.StopPolicy = new(kueue.Hold)
		}
		s.queues, s.locals = append(s.queues, q), append(s.locals, l)
	}
}

func localName(i int) string { return fmt.Sprintf("l%d", i) }

// some is the group with its flavors in another order or without one of them.
func (s *scene) some(g group) group {
	if len(g.flavors) < 2 || s.chance(0.5) {
		return g
	}
	f := slices.Clone(g.flavors)
	s.r.Shuffle(len(f), func(i, j int) { f[i], f[j] = f[j], f[i] })
	if s.chance(0.4) {
		f = f[1:]
	}
	return group{g.resources, f}
}

func (s *scene) fungibility() *kueue.FlavorFungibility {
	if len(s.flavors) == 1 || s.chance(0.5) {
		return nil
	}
	return randomFungibility(s.r)
}

func randomFungibility(r *rand.Rand) *kueue.FlavorFungibility {
	both := []kueue.FlavorFungibilityPolicy{kueue.MayStopSearch, kueue.TryNextFlavor}
	f := &kueue.FlavorFungibility{WhenCanBorrow: pick(r, both), WhenCanPreempt: pick(r, both)}
	if f.WhenCanBorrow == kueue.TryNextFlavor && f.WhenCanPreempt == kueue.TryNextFlavor && r.IntN(2) == 0 {
		f.Preference = new(kueue.PreemptionOverBorrowing)
	}
	return f
}

func randomPolicy(r *rand.Rand) *kueue.ClusterQueuePreemption {
	p := &kueue.ClusterQueuePreemption{
		ReclaimWithinCohort: pick(r, []kueue.PreemptionPolicy{kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny, kueue.PreemptionPolicyAny}),
		WithinClusterQueue:  pick(r, []kueue.PreemptionPolicy{kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyLowerOrNewerEqualPriority}),
	}
	if p.ReclaimWithinCohort != kueue.PreemptionPolicyNever && r.IntN(5) < 2 {
		p.BorrowWithinCohort = &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyLowerPriority}
		if r.IntN(2) == 0 {
			p.BorrowWithinCohort.MaxPriorityThreshold = new(int32(highestThreshold))
		}
	}
	return p
}

func (s *scene) makeJobs() {
	for i := range between(s.r, 12, 25) {
		s.jobs = append(s.jobs, s.job(i))
		var pause time.Duration
		if s.chance(0.5) {
			pause = time.Duration(between(s.r, 200, 900)) * time.Millisecond
		}
		s.pauses = append(s.pauses, pause)
	}
}

func (s *scene) job(i int) *batchv1.Job {
	pods := pick(s.r, []int{1, 1, 1, 2, 2, 3})
	req := corev1.ResourceList{gpu: quantity(between(s.r, 1, max(1, 6/pods)))}
	if s.covers(cpu) {
		req[cpu] = quantity(between(s.r, 1, max(1, 9/pods)))
		if s.chance(0.15) {
			delete(req, gpu)
		}
	}
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("j%02d", i), Namespace: s.id, Labels: map[string]string{
			queueLabel: localName(s.r.IntN(len(s.queues))), priorityLabel: pick(s.r, priorityNames),
		}},
		Spec: batchv1.JobSpec{
			Parallelism: new(int32(pods)), Completions: new(int32(pods)), Suspend: new(true),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{runTime: "7200s"}},
				Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{
					Name: "c", Image: "registry.example.com/train:1", Resources: corev1.ResourceRequirements{Requests: req, Limits: req},
				}}},
			},
		},
	}
	if pods > 1 && s.chance(0.3) {
		j.Annotations = map[string]string{minParallelism: strconv.Itoa(between(s.r, 1, pods-1))}
	}
	spec := &j.Spec.Template.Spec
	if f := pick(s.r, s.flavors); pools[f] != "" && s.chance(0.25) {
		spec.NodeSelector = map[string]string{poolLabel: pools[f]}
	}
	if s.chance(0.6) {
		spec.Tolerations = []corev1.Toleration{{Key: spotTaint, Operator: corev1.TolerationOpExists}}
	}
	return j
}

func (s *scene) covers(res corev1.ResourceName) bool {
	return slices.ContainsFunc(s.groups, func(g group) bool { return slices.Contains(g.resources, res) })
}
