package reason

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/labels"

	"cli.holdfast.dev/holdfast/model/world"
)

// active is the Active condition of a queue, written for the generation.
func active(status, reason string, generation int64) world.Conditions {
	return world.Conditions{{Type: "Active", Status: status, Reason: reason, Message: "words", ObservedGeneration: generation}}
}

// What cannot be read is not guessed: Kueue's condition answers if it is of the
// present spec, and nobody otherwise. What can be read beats the condition.
func TestActivityOf(t *testing.T) {
	const old = "Kueue has not said anything of its present spec, and not all that it names can be read"
	flavors, checks, topologies, cohorts := []world.Kind{world.KindResourceFlavor}, []world.Kind{world.KindAdmissionCheck}, []world.Kind{world.KindTopology}, []world.Kind{world.KindCohort}
	withCheck := func(q *world.ClusterQueue) { q.Checks = []world.CheckRule{{Name: "budget"}} }
	placing := &world.Flavor{Meta: named("", "a"), Topology: "t"}
	tests := map[string]struct {
		change func(*world.ClusterQueue)
		blind  []world.Kind
		rows   []any
		want   Activity
	}{
		"all is there":                           {nil, nil, nil, Activity{Active: yes()}},
		"all is there, an old status says no":    {func(q *world.ClusterQueue) { q.Conditions = active("False", "FlavorNotFound", 2) }, nil, nil, Activity{Active: yes()}},
		"held":                                   {func(q *world.ClusterQueue) { q.StopPolicy = world.StopHold }, nil, nil, Activity{Active: no(), Causes: []string{"Stopped"}}},
		"held, the status still says yes":        {func(q *world.ClusterQueue) { q.StopPolicy = world.StopHold; q.Conditions = active("True", "Ready", 1) }, nil, nil, Activity{Active: no(), Causes: []string{"Stopped"}}},
		"resumed, the status still says no":      {func(q *world.ClusterQueue) { q.Conditions = active("False", "Stopped", 1) }, nil, nil, Activity{Active: yes()}},
		"being deleted and held":                 {func(q *world.ClusterQueue) { q.Deleting, q.StopPolicy = true, world.StopHold }, nil, nil, Activity{Active: no(), Causes: []string{"Terminating", "Stopped"}}},
		"a cycle, the status says yes":           {func(q *world.ClusterQueue) { q.Conditions = active("True", "Ready", 2) }, nil, []any{&world.Cohort{Meta: named("", "co"), Parent: "co"}}, Activity{Active: no(), Causes: []string{"CohortCycle"}}},
		"flavors unreadable":                     {nil, flavors, nil, Activity{Unknown: old}},
		"flavors unreadable, Kueue says yes":     {func(q *world.ClusterQueue) { q.Conditions = active("True", "Ready", 2) }, flavors, nil, Activity{Active: yes()}},
		"flavors unreadable, Kueue said yes":     {func(q *world.ClusterQueue) { q.Conditions = active("True", "Ready", 1) }, flavors, nil, Activity{Unknown: old}},
		"flavors unreadable, Kueue says no":      {func(q *world.ClusterQueue) { q.Conditions = active("False", "FlavorNotFound", 2) }, flavors, nil, Activity{Active: no(), Causes: []string{"FlavorNotFound"}}},
		"flavors unreadable, Kueue is unsure":    {func(q *world.ClusterQueue) { q.Conditions = active("Unknown", "", 2) }, flavors, nil, Activity{Unknown: "what it names cannot be read, and Kueue's condition is Unknown"}},
		"flavors unreadable, it is held":         {func(q *world.ClusterQueue) { q.StopPolicy = world.StopHold }, flavors, nil, Activity{Active: no(), Causes: []string{"Stopped"}}},
		"checks unreadable, it asks for none":    {nil, checks, nil, Activity{Active: yes()}},
		"checks unreadable":                      {withCheck, checks, nil, Activity{Unknown: old}},
		"checks unreadable, Kueue says no":       {func(q *world.ClusterQueue) { withCheck(q); q.Conditions = active("False", "AdmissionCheckInactive", 2) }, checks, nil, Activity{Active: no(), Causes: []string{"AdmissionCheckInactive"}}},
		"a check is missing":                     {withCheck, nil, nil, Activity{Active: no(), Causes: []string{"AdmissionCheckNotFound"}}},
		"a check without a word of its own":      {withCheck, nil, []any{&world.Check{Meta: named("", "budget")}}, Activity{Active: no(), Causes: []string{"AdmissionCheckInactive"}}},
		"topologies unreadable, none is named":   {nil, topologies, nil, Activity{Active: yes()}},
		"topologies unreadable":                  {nil, topologies, []any{placing}, Activity{Unknown: old}},
		"topologies unreadable, Kueue says no":   {func(q *world.ClusterQueue) { q.Conditions = active("False", "TopologyNotFound", 2) }, topologies, []any{placing}, Activity{Active: no(), Causes: []string{"TopologyNotFound"}}},
		"a topology is missing":                  {nil, nil, []any{placing}, Activity{Active: no(), Causes: []string{"TopologyNotFound"}}},
		"a topology is missing, Kueue minds not": {func(q *world.ClusterQueue) { q.Conditions = active("True", "Ready", 2) }, nil, []any{placing}, Activity{Active: yes()}},
		"cohorts unreadable: a cycle may be":     {nil, cohorts, nil, Activity{Unknown: old}},
		"cohorts unreadable, it is in none":      {func(q *world.ClusterQueue) { q.Cohort = "" }, cohorts, nil, Activity{Active: yes()}},
		"a cause that only Kueue knows":          {func(q *world.ClusterQueue) { q.Conditions = active("False", "SomethingNew", 2) }, nil, nil, Activity{Active: no(), Causes: []string{"SomethingNew"}}},
		"everything at once": {
			func(q *world.ClusterQueue) {
				q.StopPolicy, q.Groups[0].Flavors = world.StopHoldAndDrain, []string{"a", "gone"}
				q.Checks = []world.CheckRule{{Name: "silent"}, {Name: "lost"}}
			}, nil, []any{placing, &world.Check{Meta: named("", "silent")}, &world.Cohort{Meta: named("", "co"), Parent: "co"}},
			Activity{Active: no(), Causes: []string{"Stopped", "FlavorNotFound", "AdmissionCheckNotFound", "AdmissionCheckInactive", "TopologyNotFound", "CohortCycle"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := newScene()
			sc.queue.Generation = 2
			if tc.change != nil {
				tc.change(sc.queue)
			}
			s := blindTo(tc.blind, world.Denied, sc.rows(tc.rows...)...)
			if d := cmp.Diff(tc.want, ActivityOf(s, sc.queue), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestLocalActivityOf(t *testing.T) {
	queues := []world.Kind{world.KindClusterQueue}
	tests := map[string]struct {
		change func(*scene)
		blind  []world.Kind
		want   Activity
	}{
		"all is there":                      {nil, nil, Activity{Active: yes()}},
		"held":                              {func(sc *scene) { sc.local.StopPolicy = world.StopHold }, nil, Activity{Active: no(), Causes: []string{"Stopped"}}},
		"its queue held":                    {func(sc *scene) { sc.queue.StopPolicy = world.StopHold }, nil, Activity{Active: no(), Causes: []string{"ClusterQueueIsInactive"}}},
		"both held":                         {func(sc *scene) { sc.local.StopPolicy, sc.queue.StopPolicy = world.StopHold, world.StopHold }, nil, Activity{Active: no(), Causes: []string{"Stopped", "ClusterQueueIsInactive"}}},
		"its queue missing":                 {func(sc *scene) { sc.local.ClusterQueue = "gone" }, nil, Activity{Active: no(), Causes: []string{"ClusterQueueDoesNotExist"}}},
		"its queue may be inactive":         {nil, []world.Kind{world.KindResourceFlavor}, Activity{Unknown: "Kueue has not said anything of its present spec, and not all that it names can be read"}},
		"queues unreadable":                 {nil, queues, Activity{Unknown: "ClusterQueue q cannot be read, and Kueue has said nothing of this LocalQueue's present spec"}},
		"queues unreadable, held":           {func(sc *scene) { sc.local.StopPolicy = world.StopHold }, queues, Activity{Active: no(), Causes: []string{"Stopped"}}},
		"queues unreadable, Kueue says yes": {func(sc *scene) { sc.local.Conditions = active("True", "Ready", 2) }, queues, Activity{Active: yes()}},
		"queues unreadable, Kueue said yes": {func(sc *scene) { sc.local.Conditions = active("True", "Ready", 1) }, queues, Activity{Unknown: "ClusterQueue q cannot be read, and Kueue has said nothing of this LocalQueue's present spec"}},
		"queues unreadable, Kueue says no":  {func(sc *scene) { sc.local.Conditions = active("False", "ClusterQueueIsInactive", 2) }, queues, Activity{Active: no(), Causes: []string{"ClusterQueueIsInactive"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := newScene()
			sc.local.Generation = 2
			if tc.change != nil {
				tc.change(sc)
			}
			s := blindTo(tc.blind, world.Syncing, sc.rows()...)
			if d := cmp.Diff(tc.want, LocalActivityOf(s, sc.local), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A Workload hears of MultiKueue's rules in words.
func TestMisuses(t *testing.T) {
	const multi, provisioning = "kueue.x-k8s.io/multikueue", "kueue.x-k8s.io/provisioning-request"
	sc := newScene()
	sc.queue.Checks = []world.CheckRule{{Name: "mk-1"}, {Name: "mk-2", OnFlavors: []string{"a"}}, {Name: "prov"}, {Name: "mk-3", OnFlavors: []string{"b", "a"}}}
	for _, r := range sc.queue.Checks {
		c := &world.Check{Meta: named("", r.Name), Controller: multi, Conditions: cond("Active", "True", "Active", "", 0)}
		if r.Name == "prov" {
			c.Controller = provisioning
		}
		sc.checks = append(sc.checks, c)
	}
	want := []misuse{
		{"MultipleMultiKueueAdmissionChecks", "it may have one MultiKueue AdmissionCheck and has mk-1, mk-2, mk-3"},
		{"MultiKueueAdmissionCheckAppliedPerFlavor", "the MultiKueue AdmissionCheck mk-2 must be for all flavors and is for some"},
		{"MultiKueueWithProvisioningRequest", "the MultiKueue AdmissionCheck mk-1, mk-2, mk-3 and the ProvisioningRequest AdmissionCheck prov do not go together"},
	}
	w := asks(1, unused)
	s := snapshotOf(sc.rows(w)...)
	if d := cmp.Diff(want, misuses(s, sc.queue), cmp.AllowUnexported(misuse{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	said := "ClusterQueue q is inactive: it may have one MultiKueue AdmissionCheck and has mk-1, mk-2, mk-3. Also: ClusterQueue q is inactive: the MultiKueue AdmissionCheck mk-2 must be for all flavors and is for some. (1 more in the way)"
	if e := explained(s, w, now); e.Sentence != said || e.Class != Misconfigured || e.Advice != AdviceChange {
		t.Errorf("%+v", e)
	}
}

func TestSelectorMatches(t *testing.T) {
	tests := map[string]struct {
		change       func(*scene)
		blind        []world.Kind
		match, known bool
	}{
		"labelled":               {nil, nil, true, true},
		"not labelled":           {func(sc *scene) { sc.ns.Labels = nil }, nil, false, true},
		"no selector":            {func(sc *scene) { sc.queue.Namespaces = nil }, nil, false, true},
		"a selector for all":     {func(sc *scene) { sc.queue.Namespaces = labels.Everything() }, []world.Kind{world.KindNamespace}, true, true},
		"namespaces unreadable":  {nil, []world.Kind{world.KindNamespace}, false, false},
		"an unreadable selector": {func(sc *scene) { sc.queue.NamespacesProblem = "bad" }, nil, false, false},
		"an unknown namespace":   {func(sc *scene) { sc.ns.Name = "another" }, nil, false, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := newScene()
			if tc.change != nil {
				tc.change(sc)
			}
			s := blindTo(tc.blind, world.Denied, sc.rows()...)
			if match, known := SelectorMatches(s, sc.queue, "team"); match != tc.match || known != tc.known {
				t.Errorf("match %v, known %v", match, known)
			}
		})
	}
}
