package pods

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kueue/pkg/constants"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Stranger is what pods outside Kueue take on the nodes of one flavor.
type Stranger struct {
	Flavor string
	Pods   int
	// Requests is what they ask for together, of the resources for which some
	// ClusterQueue has quota of the flavor, in Kueue's units, sorted by resource.
	Requests []world.Request
	// Example is the pod with the least namespace and name.
	Example world.Key
}

// Strangers finds pods that are bound to the nodes of a flavor and belong to no
// Workload: they take what the flavor's quota promises, and Kueue does not count
// them. Sorted by flavor; flavors without any are left out, as are those without
// node labels, whose nodes nobody can name. A node that several flavors match is
// looked at for each of them.
//
// Left out are pods that ask for nothing that the quota covers, pods that ended,
// pods of nodes that are not among the given ones, and those of DaemonSets and
// mirror pods: they take too, but on every node, and nobody could move them.
func Strangers(s *store.Snapshot, all []world.Pod, nodes []world.Node) []Stranger {
	flavorsOf := flavorsOfNodes(s, nodes)
	var loose []world.Pod
	for i := range all {
		if p := &all[i]; takes(p) && !marked(p) && len(flavorsOf[p.Node]) > 0 {
			loose = append(loose, *p)
		}
	}
	if len(loose) == 0 {
		return nil
	}
	mine := make([]bool, len(loose))
	x := NewIndex(loose)
	for _, w := range s.Workloads {
		for _, i := range x.places(w) {
			mine[i] = true
		}
	}
	covered := coveredBy(s)
	found := map[string]*tally{}
	for i := range loose {
		if mine[i] {
			continue
		}
		for _, f := range flavorsOf[loose[i].Node] {
			if found[f] == nil {
				found[f] = &tally{sum: map[string]world.Amount{}}
			}
			found[f].add(&loose[i], covered[f])
		}
	}
	var out []Stranger
	for _, f := range slices.Sorted(maps.Keys(found)) {
		if t := found[f]; t.pods > 0 {
			out = append(out, Stranger{Flavor: f, Pods: t.pods, Requests: t.requests(), Example: t.example})
		}
	}
	return out
}

// tally adds up the strangers of a flavor.
type tally struct {
	pods    int
	sum     map[string]world.Amount
	example world.Key
}

func (t *tally) add(p *world.Pod, covered map[string]bool) {
	counts := false
	for _, r := range p.Requests {
		if covered[r.Resource] && r.Amount > 0 {
			t.sum[r.Resource] = t.sum[r.Resource].Add(r.Amount)
			counts = true
		}
	}
	if pods := string(corev1.ResourcePods); covered[pods] {
		t.sum[pods] = t.sum[pods].Add(1)
		counts = true
	}
	if !counts {
		return
	}
	if t.pods == 0 || p.Key.Less(t.example) {
		t.example = p.Key
	}
	t.pods++
}

func (t *tally) requests() []world.Request {
	out := make([]world.Request, 0, len(t.sum))
	for _, r := range slices.Sorted(maps.Keys(t.sum)) {
		out = append(out, world.Request{Resource: r, Amount: t.sum[r]})
	}
	return out
}

// takes reports whether the pod takes room on a node and somebody could do
// something about it.
func takes(p *world.Pod) bool {
	if p.Node == "" || p.Phase == string(corev1.PodSucceeded) || p.Phase == string(corev1.PodFailed) {
		return false
	}
	return p.Owner == nil || p.Owner.Kind != "DaemonSet" && p.Owner.Kind != "Node"
}

// marked reports whether Kueue or a person wrote on the pod that it is Kueue's.
func marked(p *world.Pod) bool {
	return p.Workload != "" || p.PodSet != "" || p.Labels[constants.ManagedByKueueLabelKey] == constants.ManagedByKueueLabelValue ||
		p.Labels[controllerconstants.QueueLabel] != "" || p.Group != ""
}

// flavorsOfNodes returns the flavors that each node belongs to: those that have
// node labels, all of which the node has too.
func flavorsOfNodes(s *store.Snapshot, nodes []world.Node) map[string][]string {
	out := make(map[string][]string, len(nodes))
	for _, f := range s.Flavors {
		if len(f.NodeLabels) == 0 {
			continue
		}
		sel := labels.SelectorFromSet(f.NodeLabels)
		for i := range nodes {
			if sel.Matches(labels.Set(nodes[i].Labels)) {
				out[nodes[i].Name] = append(out[nodes[i].Name], f.Name)
			}
		}
	}
	return out
}

// coveredBy returns the resources for which some ClusterQueue has quota, by
// flavor.
func coveredBy(s *store.Snapshot) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, q := range s.ClusterQueues {
		for i := range q.Quotas {
			c := &q.Quotas[i]
			if out[c.Flavor] == nil {
				out[c.Flavor] = map[string]bool{}
			}
			out[c.Flavor][c.Resource] = true
		}
	}
	return out
}
