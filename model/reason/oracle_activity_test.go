package reason_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// causeText are the words by which Kueue's message names each cause, in its order.
var causeText = []struct{ cause, text string }{
	{"Stopped", "is stopped"}, {"FlavorNotFound", "references missing ResourceFlavor"},
	{"AdmissionCheckNotFound", "references missing AdmissionCheck"}, {"AdmissionCheckInactive", "references inactive AdmissionCheck"},
	{"MultipleMultiKueueAdmissionChecks", "Cannot use multiple MultiKueue"}, {"MultiKueueAdmissionCheckAppliedPerFlavor", "Cannot specify MultiKueue AdmissionCheck per flavor"},
	{"MultiKueueWithProvisioningRequest", "Cannot use both MultiKueue and ProvisioningRequest"}, {"TopologyNotFound", "there is no Topology"},
}

// named is a queue and what exists of the objects that it names.
type named struct {
	queue      *kueue.ClusterQueue
	flavors    []*kueue.ResourceFlavor
	checks     []*kueue.AdmissionCheck
	topologies []*kueue.Topology
	deleting   bool
}

func queues(t *rapid.T) *named {
	n := &named{queue: &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: "q", Generation: 2}}, deleting: one(t, 10, "deleting")}
	if one(t, 4, "held") {
		n.queue.Spec.StopPolicy = ptr.To(kueue.HoldAndDrain)
	}
	rg := kueue.ResourceGroup{CoveredResources: []corev1.ResourceName{"cpu"}}
	for i := range rapid.IntRange(1, 2).Draw(t, "flavors") {
		name := kueue.ResourceFlavorReference(fmt.Sprint("f", i))
		rg.Flavors = append(rg.Flavors, kueue.FlavorQuotas{Name: name, Resources: []kueue.ResourceQuota{{Name: "cpu", NominalQuota: resource.MustParse("1")}}})
		if one(t, 6, "missing flavor") {
			continue
		}
		f := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: string(name)}}
		if one(t, 3, "has a topology") {
			f.Spec.TopologyName = ptr.To(kueue.TopologyReference(fmt.Sprint("t", i)))
			if !one(t, 3, "missing topology") {
				n.topologies = append(n.topologies, &kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("t", i)}, Spec: kueue.TopologySpec{Levels: []kueue.TopologyLevel{{NodeLabel: "rack"}}}})
			}
		}
		n.flavors = append(n.flavors, f)
	}
	n.queue.Spec.ResourceGroups = []kueue.ResourceGroup{rg}
	var rules []kueue.AdmissionCheckStrategyRule
	for i := range rapid.IntRange(0, 3).Draw(t, "checks") {
		name := fmt.Sprint("c", i)
		rule := kueue.AdmissionCheckStrategyRule{Name: kueue.AdmissionCheckReference(name)}
		for _, f := range rg.Flavors {
			if one(t, 3, "on the flavor") {
				rule.OnFlavors = append(rule.OnFlavors, f.Name)
			}
		}
		rules = append(rules, rule)
		if one(t, 6, "missing check") {
			continue
		}
		c := &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: name}}
		c.Spec.ControllerName = rapid.SampledFrom([]string{"example.com/budget", kueue.MultiKueueControllerName, kueue.ProvisioningRequestControllerName}).Draw(t, "controller")
		if !one(t, 6, "silent check") {
			c.Status.Conditions = []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: "True", Reason: "Active"}}
		}
		n.checks = append(n.checks, c)
	}
	if len(rules) > 0 {
		n.queue.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: rules}
	}
	return n
}

// TestActivityIsKueues compares whether a queue is active, and every cause that
// Kueue names, whatever an old status says.
func TestActivityIsKueues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := queues(t)
		want, snap := n.kueues(t), n.snapshot(t)
		a := reason.ActivityOf(snap, snap.ClusterQueue("q"))
		if a.Active == nil || *a.Active != (len(want) == 0) {
			t.Fatalf("active %s, Kueue's causes are %v", text(a.Active), want)
		}
		if n.deleting {
			a.Causes = a.Causes[:1] // Kueue says no more
		}
		if d := cmp.Diff(want, a.Causes, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("causes (-Kueue +ours):\n%s", d)
		}
		// Whoever waits in the queue hears of all of it.
		if obstacles, sentences := reason.QueueObstacles(snap, snap.ClusterQueue("q")); !n.deleting && (len(obstacles) > 0) != (len(want) > 0) {
			t.Errorf("Kueue's causes are %v, the obstacles %v: %v", want, obstacles, sentences)
		}
	})
}

// snapshot is the console's view; the status of the queue is of its first spec.
func (n *named) snapshot(t *rapid.T) *store.Snapshot {
	s := store.New(clocktesting.NewFakePassiveClock(now))
	for _, k := range slices.Concat(world.WatchedKinds(), world.SideKinds()) {
		s.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	q := n.queue.DeepCopy()
	if n.deleting {
		q.DeletionTimestamp = ptr.To(metav1.NewTime(now))
	}
	if one(t, 2, "an old status") {
		status := rapid.SampledFrom([]metav1.ConditionStatus{"True", "False"}).Draw(t, "status")
		q.Status.Conditions = []metav1.Condition{{Type: kueue.ClusterQueueActive, Status: status, Reason: "AdmissionCheckNotFound", ObservedGeneration: 1}}
	}
	objects := []runtime.Object{q}
	for _, o := range n.flavors {
		objects = append(objects, o)
	}
	for _, o := range n.checks {
		objects = append(objects, o)
	}
	for _, o := range n.topologies {
		objects = append(objects, o)
	}
	for _, o := range objects {
		row, err := project.Row(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Put(row)
	}
	return s.Snapshot()
}

// kueues are the causes that Kueue gives, none for an active queue.
func (n *named) kueues(t *rapid.T) []string {
	log := logr.Discard()
	cache := schdcache.New(apiServer{c: &cluster{}})
	for _, o := range n.topologies {
		cache.AddOrUpdateTopology(log, o)
	}
	for _, o := range n.flavors {
		cache.AddOrUpdateResourceFlavor(log, o)
	}
	for _, o := range n.checks {
		cache.AddOrUpdateAdmissionCheck(log, o)
	}
	if err := cache.AddClusterQueue(logr.NewContext(context.Background(), log), n.queue); err != nil {
		t.Fatal(err)
	}
	var out []string
	status, first, message := cache.ClusterQueueReadiness("q")
	elsewhere := slices.ContainsFunc(n.checks, func(c *kueue.AdmissionCheck) bool { return c.Spec.ControllerName == kueue.MultiKueueControllerName })
	for _, c := range causeText {
		// With MultiKueue topologies are the other clusters' business. Kueue names a
		// missing one beside another cause all the same.
		if c.cause == "TopologyNotFound" && elsewhere {
			continue
		}
		if status == metav1.ConditionFalse && strings.Contains(message, c.text) {
			out = append(out, c.cause)
		}
	}
	if status == metav1.ConditionFalse && out[0] != first {
		t.Fatalf("Kueue says %s first, and %v in %q", first, out, message)
	}
	if n.deleting {
		cache.TerminateClusterQueue("q")
		_, first, _ = cache.ClusterQueueReadiness("q")
		out = []string{first}
	}
	return out
}
