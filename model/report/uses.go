package report

import (
	"maps"
	"slices"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/world"
)

// cells is what Workloads hold, by flavor and resource.
type cells map[world.FlavorResource]quota.Usage

func (c cells) add(u world.Use, admitted bool) {
	x := c[u.FlavorResource]
	x.FlavorResource = u.FlavorResource
	x.Reserved = x.Reserved.Add(u.Amount)
	if admitted {
		x.Admitted = x.Admitted.Add(u.Amount)
	}
	c[u.FlavorResource] = x
}

// uses is what Workloads hold: of each LocalQueue, and of each ClusterQueue in a
// cycle of cohorts, for which the tree has no numbers. Of Cohorts it is the admitted
// part, which is worked out when it is asked for.
type uses struct {
	local    map[world.Key]cells
	cyclic   map[string]cells
	admitted map[*quota.Node]map[world.FlavorResource]world.Amount
}

func (b *builder) uses() *uses {
	u := &uses{local: map[world.Key]cells{}, cyclic: map[string]cells{}, admitted: map[*quota.Node]map[world.FlavorResource]world.Amount{}}
	for _, q := range b.s.ClusterQueues {
		if b.tree.ClusterQueue(q.Name).Cycle == nil {
			continue
		}
		u.cyclic[q.Name] = cells{}
		if !b.counted {
			u.cyclic[q.Name] = cellsOf(statusUse(q.Status))
		}
	}
	for _, w := range b.s.Workloads {
		if len(w.Usage) == 0 {
			continue
		}
		key := world.Key{Namespace: w.Namespace, Name: w.LocalQueue}
		local := u.local[key]
		if local == nil {
			local = cells{}
			u.local[key] = local
		}
		queue := u.cyclic[w.ClusterQueue]
		admitted := w.Conditions.True(world.CondAdmitted)
		for _, use := range w.Usage {
			local.add(use, admitted)
			if queue != nil && b.counted {
				queue.add(use, admitted)
			}
		}
	}
	return u
}

// admittedIn is what a Cohort's children keep in it when only admitted Workloads
// count: Kueue's sum for what is reserved (pkg/cache/scheduler/resource_node.go),
// over the admitted part.
func (u *uses) admittedIn(n *quota.Node) map[world.FlavorResource]world.Amount {
	if out, ok := u.admitted[n]; ok {
		return out
	}
	out := map[world.FlavorResource]world.Amount{}
	for _, child := range n.Children {
		below := u.admittedIn(child)
		for i := range child.Cells {
			c := &child.Cells[i]
			a := c.Admitted
			if child.Kind == world.KindCohort {
				a = below[c.FlavorResource]
			}
			out[c.FlavorResource] = out[c.FlavorResource].Add(max(0, a.Sub(c.Local)))
		}
	}
	u.admitted[n] = out
	return out
}

// statusUse is what a queue's status says is in use.
func statusUse(s world.QueueStatus) []quota.Usage {
	out := cells{}
	for _, u := range s.Reservation {
		out[u.FlavorResource] = quota.Usage{FlavorResource: u.FlavorResource, Reserved: u.Amount}
	}
	for _, u := range s.Usage {
		x := out[u.FlavorResource]
		x.FlavorResource, x.Admitted = u.FlavorResource, u.Amount
		out[u.FlavorResource] = x
	}
	return slices.Collect(maps.Values(out))
}

func cellsOf(in []quota.Usage) cells {
	out := make(cells, len(in))
	for _, u := range in {
		out[u.FlavorResource] = u
	}
	return out
}

// sorted returns the keys in order.
func sorted[T any](m map[world.FlavorResource]T) []world.FlavorResource {
	out := slices.Collect(maps.Keys(m))
	slices.SortFunc(out, func(a, b world.FlavorResource) int {
		switch {
		case a == b:
			return 0
		case a.Less(b):
			return -1
		}
		return 1
	})
	return out
}

// localUses lists what is in use of every cell that the ClusterQueue has, as
// Kueue's own status does, and of those that it no longer has.
func localUses(q *world.ClusterQueue, used cells) []LocalUse {
	all := map[world.FlavorResource]quota.Usage{}
	if q != nil {
		for i := range q.Quotas {
			all[q.Quotas[i].FlavorResource] = quota.Usage{}
		}
	}
	maps.Copy(all, used)
	out := make([]LocalUse, 0, len(all))
	for _, fr := range sorted(all) {
		u := all[fr]
		out = append(out, LocalUse{Flavor: fr.Flavor, Resource: fr.Resource, Reserved: u.Reserved.Text(fr.Resource), Admitted: u.Admitted.Text(fr.Resource)})
	}
	return out
}
