package proof

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// cohort is the object of the cohort; nil where it is only a name.
func (e *editor) cohort(name string) *kueue.Cohort {
	for _, c := range e.now.cohorts {
		if c.Name == name {
			return c.DeepCopy()
		}
	}
	return nil
}

func (e *editor) cohortQuota() []change {
	name := pick(e.r, e.names)
	c := e.cohort(name)
	if c == nil { // until now it was only a name
		c = &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: name}}
		e.giveQuota(c)
		return []change{{nil, c}}
	}
	return changed(c, func(c *kueue.Cohort) {
		if len(c.Spec.ResourceGroups) == 0 {
			e.giveQuota(c)
			return
		}
		n, what := between(e.r, 1, 8), e.r.IntN(5)
		e.cells(c.Spec.ResourceGroups, func(q *kueue.ResourceQuota) {
			switch child := c.Spec.ParentName != ""; {
			case child && what == 0:
				q.BorrowingLimit = toggled(q.BorrowingLimit, e.r.IntN(7))
			case child && what == 1:
				q.LendingLimit = toggled(q.LendingLimit, e.r.IntN(int(q.NominalQuota.Value())+1))
			case what == 2:
				add(q, -n)
			default:
				add(q, n)
			}
		})
	})
}

func (e *editor) giveQuota(c *kueue.Cohort) {
	for _, g := range e.groups {
		c.Spec.ResourceGroups = append(c.Spec.ResourceGroups, e.quota(g, 1, 8, c.Spec.ParentName != "", 0.3))
	}
}

func toggled(l *resource.Quantity, n int) *resource.Quantity {
	if l != nil {
		return nil
	}
	return limit(n)
}

// cohortParent gives a cohort another parent, or takes it away. No cycle comes of
// it: that is refused before anything is simulated.
func (e *editor) cohortParent() []change {
	parents := map[string]string{}
	for _, c := range e.now.cohorts {
		parents[c.Name] = string(c.Spec.ParentName)
	}
	c := pick(e.r, e.now.cohorts).DeepCopy()
	choice := []string{"", e.id + "-other"}
	for _, n := range slices.Sorted(maps.Keys(parents)) {
		above := n
		for above != "" && above != c.Name {
			above = parents[above]
		}
		if above == "" {
			choice = append(choice, n)
		}
	}
	return changed(c, func(c *kueue.Cohort) {
		c.Spec.ParentName = kueue.CohortReference(pick(e.r, choice))
		if c.Spec.ParentName == "" {
			free(c.Spec.ResourceGroups)
		}
	})
}

func (e *editor) policy() []change {
	return changed(e.queue(), func(q *kueue.ClusterQueue) {
		if e.chance(0.5) {
			q.Spec.Preemption = &kueue.ClusterQueuePreemption{
				ReclaimWithinCohort: kueue.PreemptionPolicyAny, WithinClusterQueue: kueue.PreemptionPolicyLowerPriority,
				BorrowWithinCohort: &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyLowerPriority},
			}
			return
		}
		q.Spec.Preemption = randomPolicy(e.r)
	})
}

func (e *editor) changeFungibility() []change {
	return changed(e.queue(), func(q *kueue.ClusterQueue) { q.Spec.FlavorFungibility = randomFungibility(e.r) })
}

func (e *editor) strategy() []change {
	return changed(e.queue(), func(q *kueue.ClusterQueue) {
		if q.Spec.QueueingStrategy == kueue.StrictFIFO {
			q.Spec.QueueingStrategy = kueue.BestEffortFIFO
		} else {
			q.Spec.QueueingStrategy = kueue.StrictFIFO
		}
	})
}

func stopped(p *kueue.StopPolicy) bool { return p != nil && *p != kueue.None }

func (e *editor) resumeQueue() []change {
	for _, q := range e.now.queues {
		if stopped(q.Spec.StopPolicy) {
			return changed(q.DeepCopy(), func(q *kueue.ClusterQueue) { q.Spec.StopPolicy = new(kueue.None) })
		}
	}
	return nil
}

func (e *editor) resumeLocal() []change {
	for _, l := range e.now.locals {
		if stopped(l.Spec.StopPolicy) {
			return changed(l.DeepCopy(), func(l *kueue.LocalQueue) { l.Spec.StopPolicy = new(kueue.None) })
		}
	}
	return nil
}

func (e *editor) hold() []change { return e.stop(kueue.Hold) }

func (e *editor) drain() []change { return e.stop(kueue.HoldAndDrain) }

func (e *editor) stop(p kueue.StopPolicy) []change {
	if e.chance(0.3) {
		return changed(pick(e.r, e.now.locals).DeepCopy(), func(l *kueue.LocalQueue) { l.Spec.StopPolicy = new(p) })
	}
	return changed(e.queue(), func(q *kueue.ClusterQueue) { q.Spec.StopPolicy = new(p) })
}

// priority gives a Job another priority class.
func (e *editor) priority() []change {
	j := pick(e.r, e.now.jobs).DeepCopy()
	is := j.DeepCopy()
	is.Labels[priorityLabel] = pick(e.r, priorityNames)
	if is.Labels[priorityLabel] == j.Labels[priorityLabel] {
		return nil
	}
	return []change{{j, is}}
}

func (e *editor) fairWeight() []change {
	if len(e.now.cohorts) > 0 && e.chance(0.3) {
		return changed(pick(e.r, e.now.cohorts).DeepCopy(), func(c *kueue.Cohort) { c.Spec.FairSharing = e.weight() })
	}
	return changed(e.queue(), func(q *kueue.ClusterQueue) { q.Spec.FairSharing = e.weight() })
}

// several is two or three edits of different objects, of kinds that this world has
// anything for.
func (e *editor) several() []change {
	var out []change
	n := between(e.r, 2, 3)
	for range 20 {
		k := e.anyKind()
		if k.name == severalAtOnce {
			continue
		}
		more := k.make(e)
		if len(more) == 0 || slices.ContainsFunc(out, func(c change) bool { return same(c.is, more[0].is) }) {
			continue
		}
		if out = append(out, more...); len(out) == n {
			return out
		}
	}
	return out
}

func same(a, b client.Object) bool {
	return kindName(a) == kindName(b) && a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName()
}
