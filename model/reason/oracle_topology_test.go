package reason_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/workload"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/reason"
)

// Credits are what Kueue counts for a gpu by a resource transformation: quota
// without nodes.
const credits = "example.com/credits"

func topologies() []*kueue.Topology {
	made := func(name string, levels ...string) *kueue.Topology {
		t := &kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
		for _, l := range levels {
			t.Spec.Levels = append(t.Spec.Levels, kueue.TopologyLevel{NodeLabel: l})
		}
		return t
	}
	return []*kueue.Topology{made("wide", "block", "rack", "host"), made("narrow", "rack", "host")}
}

// placed draws a queue whose flavors may have a topology, without quota in its
// last group, and a Workload whose pod sets may ask for a topology.
func placed(t *rapid.T) (*cluster, *kueue.Workload) {
	c := &cluster{groups: []group{{resources: []corev1.ResourceName{"example.com/gpu"}}}}
	if one(t, 2, "credits") {
		c.groups = append(c.groups, group{resources: []corev1.ResourceName{credits}})
	}
	q := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: "q0", UID: "q0"}}
	q.Spec.NamespaceSelector = &metav1.LabelSelector{}
	for i, g := range c.groups {
		nominal := "0"
		if i < len(c.groups)-1 {
			nominal = rapid.SampledFrom([]string{"0", "8"}).Draw(t, "quota")
		}
		rg := kueue.ResourceGroup{CoveredResources: g.resources}
		for j := range rapid.IntRange(1, 3).Draw(t, "flavors") {
			f := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%c%d", 'f'+i, j)}}
			if of := rapid.SampledFrom([]string{"wide", "narrow", ""}).Draw(t, "topology"); of != "" {
				f.Spec.TopologyName = ptr.To(kueue.TopologyReference(of))
			}
			c.flavors = append(c.flavors, f)
			rg.Flavors = append(rg.Flavors, kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(f.Name), Resources: []kueue.ResourceQuota{{Name: g.resources[0], NominalQuota: resource.MustParse(nominal)}}})
		}
		q.Spec.ResourceGroups = append(q.Spec.ResourceGroups, rg)
	}
	c.queues = []*kueue.ClusterQueue{q}

	w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: "ns", UID: "w"}, Spec: kueue.WorkloadSpec{QueueName: "lq"}}
	wish := rapid.Custom(func(t *rapid.T) *kueue.PodSetTopologyRequest {
		level := rapid.SampledFrom([]string{"rack", "block", "host", "row"})
		tr := &kueue.PodSetTopologyRequest{}
		switch rapid.IntRange(0, 5).Draw(t, "wish") {
		case 0:
			return nil
		case 1:
			tr.Required = ptr.To(level.Draw(t, "level"))
		case 2:
			tr.Preferred = ptr.To(level.Draw(t, "level"))
		case 3:
			tr.Unconstrained = ptr.To(one(t, 2, "unconstrained"))
		case 4:
			tr.PodSetSliceRequiredTopology, tr.PodSetSliceSize = ptr.To(level.Draw(t, "level")), ptr.To[int32](1)
		}
		if one(t, 4, "slices") {
			tr.PodSetSliceRequiredTopology, tr.PodSetSliceSize = ptr.To(level.Draw(t, "slice level")), ptr.To[int32](1)
		}
		return tr
	})
	for i := range rapid.IntRange(1, 2).Draw(t, "pod sets") {
		ps := kueue.PodSet{Name: kueue.NewPodSetReference(fmt.Sprint("ps", i)), Count: 1, TopologyRequest: wish.Draw(t, "topology request")}
		list := corev1.ResourceList{}
		if i > 0 || one(t, 2, "asks itself") {
			list["example.com/gpu"] = resource.MustParse("1")
		}
		ps.Template.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list}}}
		w.Spec.PodSets = append(w.Spec.PodSets, ps)
	}
	if len(w.Spec.PodSets) == 2 {
		for i := range w.Spec.PodSets {
			if w.Spec.PodSets[i].TopologyRequest == nil {
				w.Spec.PodSets[i].TopologyRequest = &kueue.PodSetTopologyRequest{}
			}
			w.Spec.PodSets[i].TopologyRequest.PodSetGroupName = ptr.To("together")
		}
	}
	return c, w
}

var flavorText = regexp.MustCompile(`Flavor "[^"]+" (supports only|does not)[^,;]*`)

// TestTopologiesAreRefusedAsKueueDoes compares what each side says of flavors
// that are the wrong ones for the topology that is asked for.
func TestTopologiesAreRefusedAsKueueDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, w := placed(t)
		var opts []workload.InfoOption
		if len(c.groups) == 2 {
			opts = append(opts, workload.WithResourceTransformations([]configapi.ResourceTransformation{{
				Input: "example.com/gpu", Strategy: ptr.To(configapi.Retain), Outputs: corev1.ResourceList{credits: resource.MustParse("10")},
			}}))
		}
		info := workload.NewInfo(w, opts...)
		info.ClusterQueue = "q0"
		workload.PropagateResourceRequests(w, info, resources.NewResourceFormatter())
		then := assignPlaced(t, c, info)
		want := map[string]bool{}
		for _, m := range flavorText.FindAllString(then.Message(), -1) {
			want[m] = true
		}
		rows := []any{}
		for _, o := range topologies() {
			row, err := project.Row(o)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
		e := ours(t, c, w, rows...)
		got := map[string]bool{}
		for _, o := range e.Obstacles {
			if o.Kind == reason.ObstacleTopology {
				got[o.Detail] = true
			}
		}
		if len(info.TotalRequests[0].Requests.ToResourceList(resources.NewResourceFormatter())) == 0 && len(w.Spec.PodSets) == 1 {
			if fits := then.RepresentativeMode() == flavorassigner.Fit; fits != (e.NeverFits != nil && !*e.NeverFits) {
				t.Errorf("it asks for nothing: %s; Kueue assigns %v: %s", e.Sentence, then.RepresentativeMode(), then.Message())
			}
			return
		}
		if e.NeverFits == nil || !*e.NeverFits {
			t.Fatalf("without quota nothing fits: %+v; %s", e, then.Message())
		}
		// Where two groups refuse, each side may speak of either.
		for _, g := range c.groups {
			want, got := of(g, want), of(g, got)
			if len(c.groups) > 1 && (len(want) == 0 || len(got) == 0) {
				continue
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s\nrefused (-Kueue +ours):\n%s", then.Message(), d)
			}
		}
	})
}

// of keeps the texts that speak of the group's flavors.
func of(g group, texts map[string]bool) []string {
	first := "g"
	if g.resources[0] != credits {
		first = "f"
	}
	out := []string{}
	for text := range texts {
		if strings.HasPrefix(text, `Flavor "`+first) {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

// assignPlaced is Kueue's answer while no node exists.
func assignPlaced(t *rapid.T, c *cluster, info *workload.Info) flavorassigner.Assignment {
	log, ctx := logr.Discard(), logr.NewContext(context.Background(), logr.Discard())
	cache := schdcache.New(apiServer{c: c})
	for _, o := range topologies() {
		cache.AddOrUpdateTopology(log, o)
	}
	for _, f := range c.flavors {
		cache.AddOrUpdateResourceFlavor(log, f)
	}
	if err := cache.AddClusterQueue(ctx, c.queues[0]); err != nil {
		t.Fatal(err)
	}
	snap, err := cache.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	assigner := flavorassigner.New(info, snap.ClusterQueue("q0"), snap.ResourceFlavors, false, nobody{}, nil, configapi.QuotaCheckBlockUndeclared, resources.NewResourceFormatter(), 1)
	return assigner.Assign(ctx, nil)
}
