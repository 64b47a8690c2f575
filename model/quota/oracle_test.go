package quota_test

import (
	"context"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Kueue's own scheduler cache judges every number that it has too.

// numbers are those of one cell at one node.
type numbers struct {
	InSubtree                bool
	Subtree, Local, Reserved int64
	// Borrowed is the status's of a ClusterQueue; of a Cohort only whether there is
	// any.
	Borrowed, Admitted   int64
	Available, Potential int64
}

type cellKey struct{ Node, Flavor, Resource string }

// answers are what one side says of a cluster.
type answers struct {
	Cells  map[cellKey]numbers
	Shares map[string]float64 // as Kueue orders by them, not rounded
	Cycles []string
}

func TestEveryNumberIsKueues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := clusters(t, rarely(t, "huge"))
		tree := ours(c)
		got := read(tree)
		want := judge(t, c, tree)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("(-Kueue +ours)\n%s", d)
		}
	})
}

// ours is the tree that the console shows of the cluster.
func ours(c *cluster) *quota.Tree {
	for _, o := range c.cohorts {
		if o.Name == c.closes {
			o.Spec.ParentName = kueue.CohortReference(c.under)
		}
	}
	s := store.New(clock.RealClock{})
	for _, o := range c.queues {
		s.Put(project.ClusterQueue(o))
	}
	for _, o := range c.cohorts {
		s.Put(project.Cohort(o))
	}
	for _, o := range slices.Concat(c.earlier, c.workloads) {
		s.Put(project.Workload(o))
	}
	snap := s.Snapshot()
	if !c.huge {
		return snap.Tree
	}
	use := map[string]map[world.FlavorResource]quota.Usage{}
	for _, w := range snap.Workloads {
		for _, u := range w.Usage {
			if use[w.ClusterQueue] == nil {
				use[w.ClusterQueue] = map[world.FlavorResource]quota.Usage{}
			}
			x := use[w.ClusterQueue][u.FlavorResource]
			x.FlavorResource = u.FlavorResource
			x.Reserved = x.Reserved.Add(u.Amount)
			if w.Conditions.True(world.CondAdmitted) {
				x.Admitted = x.Admitted.Add(u.Amount)
			}
			use[w.ClusterQueue][u.FlavorResource] = x
		}
	}
	return quota.Build(snap.ClusterQueues, snap.Cohorts, func(q string) []quota.Usage {
		var out []quota.Usage
		for _, u := range use[q] {
			out = append(out, u)
		}
		return out
	})
}

func walk(t *quota.Tree, f func(*quota.Node)) {
	var down func([]*quota.Node)
	down = func(all []*quota.Node) {
		for _, n := range all {
			f(n)
			down(n.Children)
		}
	}
	down(t.Roots)
}

func nodeName(n *quota.Node) string { return string(n.Kind) + "/" + n.Name }

func key(n *quota.Node, fr world.FlavorResource) cellKey {
	return cellKey{nodeName(n), fr.Flavor, fr.Resource}
}

// read takes our answers.
func read(tree *quota.Tree) answers {
	out := answers{Cells: map[cellKey]numbers{}, Shares: map[string]float64{}}
	walk(tree, func(n *quota.Node) {
		share, ok := n.Share()
		if !ok {
			out.Cycles = append(out.Cycles, nodeName(n))
			return
		}
		out.Shares[nodeName(n)] = float64(share)
		for _, c := range n.Cells {
			x := numbers{
				InSubtree: c.InSubtree, Subtree: int64(c.Subtree), Local: int64(c.Local), Reserved: int64(c.Reserved),
				Borrowed: int64(c.Borrowed), Available: int64(c.Available), Potential: int64(c.Potential),
			}
			if n.Kind == world.KindCohort {
				x.Borrowed = min(x.Borrowed, 1)
			}
			if c.InSpec {
				x.Admitted = int64(c.Admitted)
			}
			out.Cells[key(n, c.FlavorResource)] = x
		}
	})
	slices.Sort(out.Cycles)
	return out
}

// nothing is a client that finds nothing.
type nothing struct{ client.Client }

func (nothing) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// kueues feeds the cluster into Kueue's cache as its controllers would.
func kueues(t *rapid.T, c *cluster) *schdcache.Cache {
	log, ctx := logr.Discard(), logr.NewContext(context.Background(), logr.Discard())
	cache := schdcache.New(nothing{}, schdcache.WithFairSharing(true))
	for _, group := range groupFlavors {
		for _, f := range group {
			cache.AddOrUpdateResourceFlavor(log, &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: f}})
		}
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	cohorts := func() {
		for _, o := range rapid.Permutation(c.cohorts).Draw(t, "order of cohorts") {
			if o.Name == c.closes {
				o = o.DeepCopy()
				o.Spec.ParentName = ""
			}
			must(cache.AddOrUpdateCohort(o))
		}
	}
	workloads := func() {
		for _, o := range slices.Concat(c.earlier, c.workloads) {
			cache.AddOrUpdateWorkload(log, o)
		}
	}
	// Either all is there before the Workloads come, or the queues were changed
	// since: they had other quotas and no cohort. Where sums reach the end of 64
	// bits Kueue counts differently while Workloads come one by one than when it
	// adds a whole tree up, which it does on every change of a spec: only the
	// second is a function of the objects.
	if late := c.huge || rapid.Bool().Draw(t, "changed since"); late {
		for _, o := range c.queues {
			first := &kueue.ClusterQueue{ObjectMeta: o.ObjectMeta}
			first.Spec.NamespaceSelector = o.Spec.NamespaceSelector
			first.Spec.ResourceGroups = c.queues[0].Spec.ResourceGroups
			must(cache.AddClusterQueue(ctx, first))
		}
		workloads()
		for _, o := range c.queues {
			must(cache.UpdateClusterQueue(log, o))
		}
		cohorts()
	} else {
		cohorts()
		for _, o := range c.queues {
			must(cache.AddClusterQueue(ctx, o))
		}
		workloads()
	}
	for _, o := range c.cohorts {
		if o.Name == c.closes {
			if err := cache.AddOrUpdateCohort(o); err == nil {
				t.Fatal("Kueue takes a cycle of cohorts")
			}
		}
	}
	return cache
}

// judge takes Kueue's answers, for the cells that our tree has. That Kueue has
// nothing in any other cell is checked here.
func judge(t *rapid.T, c *cluster, tree *quota.Tree) answers {
	cache := kueues(t, c)
	snap, err := cache.Snapshot(logr.NewContext(context.Background(), logr.Discard()))
	if err != nil {
		t.Fatal(err)
	}
	out := answers{Cells: map[cellKey]numbers{}, Shares: map[string]float64{}}
	k := newKueue(snap, tree)
	walk(tree, func(n *quota.Node) {
		if n.Kind == world.KindCohort {
			k.cohort(t, n, &out)
		} else {
			k.queue(t, cache, c, n, &out)
		}
	})
	if !c.huge {
		k.lift()
	}
	walk(tree, func(n *quota.Node) {
		for _, cell := range n.Cells {
			x, ok := out.Cells[key(n, cell.FlavorResource)]
			probe := k.probe(n)
			if !ok || probe == nil {
				continue
			}
			switch fr := resourceOf(cell.FlavorResource); {
			case !c.huge:
				x.Available = probe.Available(fr).Int64() - lifted
			case n.Parent == nil:
				r := k.node(n)
				x.Available = r.subtree[fr].Sub(r.usage[fr]).Int64()
			default:
				// Kueue says no more than that nothing is available.
				x.Available = probe.Available(fr).Int64()
				if x.Available == 0 && cell.Available < 0 {
					x.Available = int64(cell.Available)
				}
			}
			out.Cells[key(n, cell.FlavorResource)] = x
		}
	})
	slices.Sort(out.Cycles)
	return out
}

func resourceOf(fr world.FlavorResource) resources.FlavorResource {
	return resources.FlavorResource{Flavor: kueue.ResourceFlavorReference(fr.Flavor), Resource: corev1.ResourceName(fr.Resource)}
}
