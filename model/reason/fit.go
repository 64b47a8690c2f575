package reason

import (
	"fmt"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

// ask is what one pod set, or several that must get the same flavor, needs of one
// resource group at least: with minCount, for the fewest pods that may start.
type ask struct {
	podSets []string
	group   int // the resource group
	// names are the resources that are asked for, be it with 0: Kueue looks for a
	// flavor for them all the same. needs are those of more than 0.
	names []string
	needs []world.Request
	// serve are the flavors that could serve whatever the quota, in Kueue's order;
	// refused are the others.
	serve   []string
	refused []refusal
}

// fit is how a Workload's demand stands against its ClusterQueue.
type fit struct {
	node *quota.Node
	asks []ask
	// uncovered are resources that no group of the queue has quota for.
	uncovered []string
	// unknown says what could not be read and may change the answer; less, that it
	// may also lower what is asked for.
	unknown string
	less    bool
	// told is set when a refusal is Kueue's word and nothing that can be looked at.
	told bool
}

// measure holds the Workload's demand against the queue.
func (x *Explainer) measure(w *world.Workload, q *world.ClusterQueue, node *quota.Node, message string) fit {
	out := fit{node: node}
	if !x.s.Fresh(world.KindResourceFlavor).Usable() {
		out.unknown = "ResourceFlavors cannot be read: their taints and labels may keep it out"
	}
	down := turnedDown(message)
	covered := map[string]bool{}
	for gi, g := range q.Groups {
		for _, r := range g.Resources {
			covered[r] = true
		}
		for _, sets := range together(w.PodSets) {
			a := ask{group: gi}
			total := map[string]world.Amount{}
			for _, ps := range sets {
				a.podSets = append(a.podSets, ps.Name)
				n := x.requests.Of(w.Namespace, ps)
				if n.Unknown != "" {
					out.unknown, out.less = n.Unknown, out.less || n.Less
				}
				for _, r := range g.Resources {
					if n.Names(r) {
						total[r] = total[r].Add(n.Of(r).Mul(int64(atLeast(ps, n.Pods))))
					}
				}
			}
			for _, r := range g.Resources {
				amount, named := total[r]
				if named {
					a.names = append(a.names, r)
				}
				if amount > 0 {
					a.needs = append(a.needs, world.Request{Resource: r, Amount: amount})
				}
			}
			if len(a.names) > 0 {
				x.sort(&a, &out, q, w.Namespace, sets, g, down)
				out.asks = append(out.asks, a)
			}
		}
	}
	for i := range w.PodSets {
		ps := &w.PodSets[i]
		n := x.requests.Of(w.Namespace, ps)
		for _, r := range n.PerPod {
			if r.Amount > 0 && atLeast(ps, n.Pods) > 0 && !covered[r.Resource] && !slices.Contains(out.uncovered, r.Resource) {
				out.uncovered = append(out.uncovered, r.Resource)
			}
		}
	}
	for _, sets := range together(w.PodSets) {
		if ps := sets[0]; ps.Count > 0 && !out.asksFor(ps.Name) && (wantsPlace(ps) || len(q.Groups) > 0 && x.topologyOnly(q)) {
			out.unknown = fmt.Sprintf("pod set %s asks for nothing that ClusterQueue %s has quota for, and Kueue finds it no place in a topology without", ps.Name, q.Name)
		}
	}
	if len(out.uncovered) > 0 {
		out.unknown = fmt.Sprintf("ClusterQueue %s has no quota for %s, which Kueue may be told to leave out", q.Name, strings.Join(out.uncovered, ", "))
	}
	return out
}

// asksFor reports whether the pod set asks for anything, itself or with others.
func (f fit) asksFor(podSet string) bool {
	return slices.ContainsFunc(f.asks, func(a ask) bool { return slices.Contains(a.podSets, podSet) })
}

// sort puts the group's flavors to those that could serve the ask and those that
// refuse it.
func (x *Explainer) sort(a *ask, f *fit, q *world.ClusterQueue, namespace string, sets []*world.PodSet, g world.ResourceGroup, down refusals) {
	for i, name := range g.Flavors {
		r, bad := x.refused(q, namespace, g, sets, name, down)
		switch {
		case r.gaveUp:
			for _, rest := range g.Flavors[i:] {
				a.refused = append(a.refused, refusal{flavor: rest, kind: r.kind, why: r.why})
			}
			return
		case bad:
			a.refused, f.told = append(a.refused, r), f.told || r.told
		case provides(f.node, name, a.needs):
			a.serve = append(a.serve, name)
		}
	}
}

// together groups the pod sets that must get the same flavor.
func together(all []world.PodSet) [][]*world.PodSet {
	var out [][]*world.PodSet
	at := map[string]int{}
	for i := range all {
		ps := &all[i]
		if ps.Topology == nil || ps.Topology.Group == "" {
			out = append(out, []*world.PodSet{ps})
			continue
		}
		j, ok := at[ps.Topology.Group]
		if !ok {
			j = len(out)
			at[ps.Topology.Group] = j
			out = append(out, nil)
		}
		out[j] = append(out[j], ps)
	}
	return out
}

// atLeast is the number of pods with which the pod set may start.
func atLeast(ps *world.PodSet, pods int32) int32 {
	if ps.MinCount != nil {
		return max(0, min(pods, *ps.MinCount))
	}
	return pods
}

// refused asks every pod set of the group. What cannot be seen is taken from
// Kueue's message.
func (x *Explainer) refused(q *world.ClusterQueue, namespace string, g world.ResourceGroup, sets []*world.PodSet, flavor string, down refusals) (refusal, bool) {
	for _, ps := range sets {
		r, known := x.refuse(q, namespace, g, ps, flavor)
		if !known {
			if why, said := down.of(ps.Name)[flavor]; said {
				return refusal{flavor: flavor, kind: ObstacleFlavorMismatch, why: why, told: true}, true
			}
			continue
		}
		if r.kind != "" {
			return r, true
		}
	}
	return refusal{}, false
}

// provides reports whether the spec gives the flavor quota, be it 0, for
// everything that is needed.
func provides(node *quota.Node, flavor string, needs []world.Request) bool {
	for _, n := range needs {
		if c, ok := node.Cell(world.FlavorResource{Flavor: flavor, Resource: n.Resource}); !ok || !c.InSpec {
			return false
		}
	}
	return true
}
