package reason

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

func tolerates(key string) func(*kueue.PodSet) {
	return func(ps *kueue.PodSet) {
		ps.Template.Spec.Tolerations = []corev1.Toleration{{Key: key, Operator: corev1.TolerationOpExists}}
	}
}

func selects(key, value string) func(*kueue.PodSet) {
	return func(ps *kueue.PodSet) { ps.Template.Spec.NodeSelector = map[string]string{key: value} }
}

// wants are terms of required node affinity, each of "key In value".
func wants(terms ...[]string) func(*kueue.PodSet) {
	return func(ps *kueue.PodSet) {
		var list []corev1.NodeSelectorTerm
		for _, t := range terms {
			term := corev1.NodeSelectorTerm{}
			for i := 0; i < len(t); i += 2 {
				term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: t[i], Operator: "In", Values: []string{t[i+1]}})
			}
			list = append(list, term)
		}
		ps.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: list}}}
	}
}

func topology(tr kueue.PodSetTopologyRequest) func(*kueue.PodSet) {
	return func(ps *kueue.PodSet) { ps.TopologyRequest = &tr }
}

// What keeps a pod set out of a flavor, rule by rule. Flavor a is the only one.
func TestWhatAFlavorRefuses(t *testing.T) {
	tainted := func(effect string) *world.Flavor {
		return &world.Flavor{Meta: named("", "a"), NodeTaints: []world.Taint{{Key: "spot", Value: "yes", Effect: effect}}}
	}
	forgiving := tainted("NoSchedule")
	forgiving.Tolerations = []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}}
	zoned := &world.Flavor{Meta: named("", "a"), NodeLabels: map[string]string{"zone": "east", "tier": "gold"}}
	placing := &world.Flavor{Meta: named("", "a"), Topology: "t"}
	rack := kueue.PodSetTopologyRequest{Required: ptr.To("rack")}
	const mismatch = "flavor a doesn't match node affinity"
	tests := map[string]struct {
		flavor *world.Flavor
		pods   []func(*kueue.PodSet)
		want   []Obstacle
	}{
		"NoSchedule":                             {tainted("NoSchedule"), nil, []Obstacle{{ObstacleFlavorMismatch, "ResourceFlavor/a", "untolerated taint spot=yes:NoSchedule in flavor a"}}},
		"NoExecute":                              {tainted("NoExecute"), nil, []Obstacle{{ObstacleFlavorMismatch, "ResourceFlavor/a", "untolerated taint spot=yes:NoExecute in flavor a"}}},
		"PreferNoSchedule is only a preference":  {tainted("PreferNoSchedule"), nil, nil},
		"tolerated by the pods":                  {tainted("NoSchedule"), []func(*kueue.PodSet){tolerates("spot")}, nil},
		"another taint tolerated":                {tainted("NoSchedule"), []func(*kueue.PodSet){tolerates("gold")}, []Obstacle{{ObstacleFlavorMismatch, "ResourceFlavor/a", "untolerated taint spot=yes:NoSchedule in flavor a"}}},
		"tolerated by the flavor itself":         {forgiving, nil, nil},
		"node selector":                          {zoned, []func(*kueue.PodSet){selects("zone", "west")}, []Obstacle{{ObstacleFlavorMismatch, "ResourceFlavor/a", mismatch}}},
		"node selector of what nodes know alone": {zoned, []func(*kueue.PodSet){selects("rack", "r1")}, nil},
		"affinity":                               {zoned, []func(*kueue.PodSet){wants([]string{"zone", "west"})}, []Obstacle{{ObstacleFlavorMismatch, "ResourceFlavor/a", mismatch}}},
		"affinity, one term of two matches":      {zoned, []func(*kueue.PodSet){wants([]string{"zone", "west"}, []string{"zone", "east", "rack", "r1"})}, nil},
		"affinity, both in one term":             {zoned, []func(*kueue.PodSet){wants([]string{"zone", "east", "tier", "tin"})}, []Obstacle{{ObstacleFlavorMismatch, "ResourceFlavor/a", mismatch}}},
		"a term about nodes alone opens all":     {zoned, []func(*kueue.PodSet){wants([]string{"zone", "west"}, []string{"rack", "r1"})}, nil},
		"such a term does not open the selector": {zoned, []func(*kueue.PodSet){wants([]string{"rack", "r1"}), selects("zone", "west")}, []Obstacle{{ObstacleFlavorMismatch, "ResourceFlavor/a", mismatch}}},
		"no topology where one is asked for":     {&world.Flavor{Meta: named("", "a")}, []func(*kueue.PodSet){topology(rack)}, []Obstacle{{ObstacleTopology, "ResourceFlavor/a", `Flavor "a" does not support TopologyAwareScheduling`}}},
		"the level is missing":                   {placing, []func(*kueue.PodSet){topology(kueue.PodSetTopologyRequest{Required: ptr.To("row")})}, []Obstacle{{ObstacleTopology, "ResourceFlavor/a", `Flavor "a" does not contain the requested level`}}},
		"the slices' level is missing": {
			placing, []func(*kueue.PodSet){topology(kueue.PodSetTopologyRequest{Required: ptr.To("rack"), PodSetSliceRequiredTopology: ptr.To("row"), PodSetSliceSize: ptr.To[int32](2)})},
			[]Obstacle{{ObstacleTopology, "ResourceFlavor/a", `Flavor "a" does not contain the requested level`}},
		},
		"the level is there":                      {placing, []func(*kueue.PodSet){topology(rack)}, nil},
		"a queue of topologies places everything": {placing, nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := newScene()
			sc.queue.Groups[0].Flavors = []string{"a"}
			w := waiting("", podSet("main", 1, "1", tc.pods...))
			e := explained(snapshotOf(sc.rows(tc.flavor, w, &world.Topology{Meta: named("", "t"), Levels: []string{"rack", "host"}})...), w, now)
			if e.NeverFits == nil || *e.NeverFits != (tc.want != nil) {
				t.Fatalf("never fits %v: %s", e.NeverFits, e.Sentence)
			}
			if d := cmp.Diff(tc.want, e.Obstacles, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("obstacles (-want +got):\n%s", d)
			}
		})
	}
}

func TestATopologyBesideOtherFlavors(t *testing.T) {
	placing := &world.Flavor{Meta: named("", "a"), Topology: "t"}
	w := waiting("", podSet("main", 1, "5"))
	e := explained(snapshotOf(newScene().rows(placing, w, &world.Topology{Meta: named("", "t")})...), w, now)
	want := answer{Class: Topology, Advice: AdviceChange, Actor: "job owner or platform admin", Sentence: `No flavor can serve its gpu: needs 5 gpu of b, 4 at most; Flavor "a" supports only TopologyAwareScheduling. Kueue has not looked at it yet.`}
	if d := cmp.Diff(want, answer{e.Class, e.Advice, e.Actor, e.Sentence}); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// Where Topologies cannot be read a level cannot be missed.
	sc := newScene()
	sc.queue.Groups[0].Flavors = []string{"a"}
	w = waiting("", podSet("main", 1, "1", topology(kueue.PodSetTopologyRequest{Required: ptr.To("row")})))
	if e := explained(blindTo([]world.Kind{world.KindTopology}, world.Denied, sc.rows(placing, w)...), w, now); e.never() {
		t.Errorf("%+v", e)
	}
}

// Pod sets of one group get the same flavor: one that a flavor refuses takes the
// others with it, and what they need adds up.
func TestGroupsOfPodSets(t *testing.T) {
	together := topology(kueue.PodSetTopologyRequest{PodSetGroupName: ptr.To("g")})
	tests := map[string]struct {
		rows []any
		sets []kueue.PodSet
		want string
	}{
		"a refusal of one": {
			[]any{&world.Flavor{Meta: named("", "a"), NodeLabels: map[string]string{"zone": "east"}}},
			[]kueue.PodSet{podSet("leader", 1, "1", together, selects("zone", "west")), podSet("workers", 1, "4", together)},
			"No flavor can serve its gpu: needs 5 gpu of b, 4 at most; flavor a doesn't match node affinity. Kueue has not looked at it yet.",
		},
		"the sum": {
			nil, []kueue.PodSet{podSet("leader", 1, "1", together), podSet("workers", 4, "2", together)},
			"Can never fit: needs 9 gpu in one flavor, and none of 2 has more than 8. Ask for less, or have the quota raised. Kueue has not looked at it yet.",
		},
		"apart they fit": {nil, []kueue.PodSet{podSet("leader", 1, "1"), podSet("workers", 4, "2")}, "Kueue has not looked at it yet: it is new, or others are before it in the queue."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := waiting("", tc.sets...)
			e := explained(snapshotOf(append(newScene().rows(w), tc.rows...)...), w, now)
			if d := cmp.Diff(tc.want, e.Sentence); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// What several pod sets need adds up in a flavor even where each fits alone.
func TestPodSetsTogether(t *testing.T) {
	spot := &world.Flavor{Meta: named("", "b"), NodeTaints: []world.Taint{{Key: "spot", Effect: "NoSchedule"}}}
	tests := map[string]struct {
		rows  []any
		sets  []kueue.PodSet
		never bool
		want  string
	}{
		"more than all flavors have": {
			nil, []kueue.PodSet{podSet("x", 1, "7"), podSet("y", 1, "7")}, true,
			"Can never fit: its pod sets need 14 gpu together, more than its flavors have at most. Ask for less, or have the quota raised.",
		},
		"one flavor would do but for a taint": {
			[]any{spot}, []kueue.PodSet{podSet("x", 1, "4"), podSet("y", 1, "4"), podSet("z", 1, "1")}, true,
			"Can never fit: its pod sets need 9 gpu together, more than its flavors have at most; untolerated taint spot:NoSchedule in flavor b. Ask for less, or have the quota raised.",
		},
		"each fits now, not all together": { // a has 2 free, b 4
			nil, []kueue.PodSet{podSet("x", 1, "2"), podSet("y", 1, "2"), podSet("z", 1, "2"), podSet("last", 1, "1")}, false,
			"Needs 3 gpu of a: 2 free, 8 at most. Waits for 1 to come back.",
		},
		"a pod set of none asks for nothing":  {[]any{spot}, []kueue.PodSet{podSet("x", 1, "1"), podSet("y", 0, "2")}, false, "Needs 1 gpu of a and 2 are free now: waits for its turn."},
		"but it needs a flavor that takes it": {[]any{spot, &world.Flavor{Meta: named("", "a"), NodeLabels: map[string]string{"zone": "east"}}}, []kueue.PodSet{podSet("x", 1, "1"), podSet("y", 0, "2", selects("zone", "west"))}, true, "No flavor can serve its gpu: flavor a doesn't match node affinity; untolerated taint spot:NoSchedule in flavor b."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := waiting("couldn't assign flavors to pod set x: insufficient unused quota", tc.sets...)
			e := explained(snapshotOf(append(newScene().rows(w), tc.rows...)...), w, now)
			if e.NeverFits == nil || *e.NeverFits != tc.never {
				t.Errorf("never fits %v", e.NeverFits)
			}
			if d := cmp.Diff(tc.want, e.Sentence); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// What pods must tolerate themselves is what keeps them away and the flavor adds no
// toleration for.
func TestMustTolerate(t *testing.T) {
	taint := func(key, effect string) world.Taint { return world.Taint{Key: key, Value: "v", Effect: effect} }
	f := &world.Flavor{
		NodeTaints:  []world.Taint{taint("own", "NoSchedule"), taint("theirs", "NoSchedule"), taint("soft", "PreferNoSchedule"), taint("out", "NoExecute")},
		Tolerations: []corev1.Toleration{{Key: "own", Operator: corev1.TolerationOpExists}, {Key: "theirs", Value: "another"}},
	}
	if diff := cmp.Diff([]world.Taint{taint("theirs", "NoSchedule"), taint("out", "NoExecute")}, MustTolerate(f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
