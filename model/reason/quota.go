package reason

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// quotaOrFlavor judges a Workload for which Kueue found no room. Whether it can
// ever fit is decided by the arithmetic over every flavor that could serve, not
// by the message, which may be old and may leave flavors out.
func quotaOrFlavor(s *store.Snapshot, w *world.Workload, message string) Explanation {
	name, ok := s.QueueOf(w)
	q := s.ClusterQueue(name)
	node := s.Tree.ClusterQueue(name)
	if !ok || q == nil || node == nil || node.Cycle != nil || !numbersKnown(s, q) {
		return Explanation{Class: Quota, Advice: AdviceWait, Sentence: "Kueue found no quota for it: " + words("", message) + "."}
	}
	down := turnedDown(message)
	var e Explanation
	var worst *Shortfall // of the resource that is furthest from fitting
	fits, never := true, false
	for _, n := range needs(w, q) {
		could := shortfalls(n, node, down.of(n.podSet))
		if len(could) == 0 {
			return allTurnedDown(n, down.of(n.podSet))
		}
		e.Shortfall = append(e.Shortfall, could...)
		best := cheapest(could)
		if best.Need > best.Most {
			never = true
		}
		if best.Missing > 0 {
			fits = false
		}
		if worst == nil || best.Need > best.Most && worst.Need <= worst.Most || best.Missing > 0 && worst.Missing == 0 {
			worst = &best
		}
	}
	e.NeverFits = &never
	e.Class = Quota
	switch {
	case worst == nil:
		e.Class, e.Advice, e.NeverFits = Unclear, AdviceWait, nil
		e.Sentence = "Kueue says: " + words("", message) + "."
		return e
	case topologyText.MatchString(message):
		e.Class, e.Advice = Topology, AdviceWait
		e.Sentence = "The topology does not allow it now: " + words("", message) + "."
		e.NeverFits = nil
		return e
	case never:
		e.Advice, e.Actor = AdviceChange, jobOwner+" or "+queueAdmin
		e.Sentence = fmt.Sprintf("Can never fit: needs %s, %s at most. Ask for less, or have the quota raised.", need(*worst), worst.Most.Text(worst.Resource))
		e.Obstacles = append(e.Obstacles, Obstacle{ObstacleQuota, q.Ref().String(), fmt.Sprintf("needs %s, %s at most", need(*worst), worst.Most.Text(worst.Resource))})
	case fits:
		e.Class, e.Advice = QueueOrder, AdviceWait
		e.Sentence = fmt.Sprintf("Needs %s and %s are free now: waits for its turn.", need(*worst), worst.Free.Text(worst.Resource))
	default:
		e.Advice = AdviceWait
		e.Sentence = fmt.Sprintf("Needs %s: %s free, %s at most. Waits for %s to come back.",
			need(*worst), worst.Free.Text(worst.Resource), worst.Most.Text(worst.Resource), worst.Missing.Text(worst.Resource))
		e.Obstacles = append(e.Obstacles, Obstacle{ObstacleQuota, q.Ref().String(), fmt.Sprintf("%s of %s missing", worst.Missing.Text(worst.Resource), worst.Flavor)})
	}
	if strings.Contains(message, "Pending the preemption of") {
		e.Sentence += " Kueue is preempting others to make room."
	}
	return e
}

// numbersKnown reports whether the quota arithmetic for the queue rests on
// everything that it needs: with cohorts unread, what is free is a guess.
func numbersKnown(s *store.Snapshot, q *world.ClusterQueue) bool {
	kinds := []world.Kind{world.KindClusterQueue, world.KindWorkload}
	if q.Cohort != "" {
		kinds = append(kinds, world.KindCohort)
	}
	for _, k := range kinds {
		if f := s.Fresh(k); !f.Usable() || f.Feed == world.Denied {
			return false
		}
	}
	return true
}

func need(x Shortfall) string {
	return fmt.Sprintf("%s %s of %s", x.Need.Text(x.Resource), x.Resource, x.Flavor)
}

// demand is what one resource group must give to one or all pod sets together.
type demand struct {
	podSet   string // empty: all of them
	resource string
	amount   world.Amount
	flavors  []string
}

// needs lists what must fit: each pod set on its own, and all together where
// there is only one flavor they could share. A pod set that may be admitted in
// part is judged by its minimum.
func needs(w *world.Workload, q *world.ClusterQueue) []demand {
	var out []demand
	for _, g := range q.Groups {
		for _, r := range g.Resources {
			var sum world.Amount
			for _, ps := range w.PodSets {
				a := least(ps, r)
				sum = sum.Add(a)
				if a > 0 && len(g.Flavors) > 1 && len(w.PodSets) > 1 {
					out = append(out, demand{ps.Name, r, a, g.Flavors})
				}
			}
			if sum > 0 && (len(g.Flavors) == 1 || len(w.PodSets) == 1) {
				out = append(out, demand{"", r, sum, g.Flavors})
			}
		}
	}
	return out
}

// least is the smallest amount of the resource with which the pod set may start.
func least(ps world.PodSet, resource string) world.Amount {
	if resource == "pods" {
		// Kueue counts the pods themselves where a queue covers them.
		count := ps.Count - ps.Reclaimable
		if ps.MinCount != nil {
			count = min(count, *ps.MinCount)
		}
		return world.Amount(max(0, count))
	}
	for _, r := range ps.Requests {
		if r.Resource != resource {
			continue
		}
		count := ps.Count - ps.Reclaimable
		if ps.MinCount != nil && *ps.MinCount < count && count > 0 {
			return (r.Amount / world.Amount(count)).Mul(int64(*ps.MinCount))
		}
		return r.Amount
	}
	return 0
}

// shortfalls compares the demand with every flavor that could serve it.
func shortfalls(n demand, node *quota.Node, down map[string]string) []Shortfall {
	var out []Shortfall
	for _, f := range n.flavors {
		fr := world.FlavorResource{Flavor: f, Resource: n.resource}
		c, ok := node.Cell(fr)
		if _, no := down[f]; no || !ok || !c.InSpec {
			continue
		}
		out = append(out, Shortfall{
			FlavorResource: fr, Need: n.amount, Free: max(0, c.Available), Most: c.Potential,
			// In debt the free amount is negative, and all of it must come back.
			Missing: max(0, n.amount.Sub(c.Available)),
		})
	}
	return out
}

// cheapest returns the flavor that is nearest to serving: one that can ever fit
// before one that cannot; among the first the one with the least missing, among
// the others the largest; then Kueue's order.
func cheapest(all []Shortfall) Shortfall {
	best := all[0]
	for _, x := range all[1:] {
		ever, bestEver := x.Need <= x.Most, best.Need <= best.Most
		switch {
		case ever != bestEver:
			if ever {
				best = x
			}
		case ever && x.Missing < best.Missing, !ever && x.Most > best.Most:
			best = x
		}
	}
	return best
}

// allTurnedDown explains a demand that no flavor can serve whatever the quota.
func allTurnedDown(n demand, down map[string]string) Explanation {
	var why []string
	e := Explanation{Class: Flavor, Advice: AdviceChange, Actor: jobOwner}
	for _, f := range slices.Sorted(maps.Keys(down)) {
		why = append(why, down[f])
		e.Obstacles = append(e.Obstacles, Obstacle{ObstacleFlavorMismatch, "ResourceFlavor/" + f, down[f]})
	}
	e.Sentence = fmt.Sprintf("No flavor can serve its %s: %s.", n.resource, strings.Join(why, "; "))
	if len(why) == 0 {
		e.Sentence = fmt.Sprintf("No flavor of its ClusterQueue has %s.", n.resource)
	}
	never := true
	e.NeverFits = &never
	return e
}
