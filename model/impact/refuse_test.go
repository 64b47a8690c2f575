package impact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/world"
)

func parent(name, of string) Edit {
	return editOf(&kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.CohortSpec{ParentName: kueue.CohortReference(of)}})
}

func into(cohort kueue.CohortReference) func(*kueue.ClusterQueue) {
	return func(q *kueue.ClusterQueue) { q.Spec.CohortName = cohort }
}

// No cycle of cohorts ever reaches Kueue's code: the runner here fails the test
// when it is asked about one.
func TestCycles(t *testing.T) {
	tests := map[string]struct {
		build func(*scene) []Edit
		want  string // NotComputed
		doubt string // part of Unknown
	}{
		"made by one":          {func(s *scene) []Edit { s.cohort("b", "a"); s.queue("q", "b", 1); return []Edit{parent("a", "b")} }, "creates a cycle: a > b > a", ""},
		"made by two together": {func(s *scene) []Edit { s.queue("q", "b", 1); return []Edit{parent("a", "b"), parent("b", "a")} }, "creates a cycle: a > b > a", ""},
		"of one":               {func(s *scene) []Edit { s.queue("q", "a", 1); return []Edit{parent("a", "a")} }, "creates a cycle: a > a", ""},
		"far from any queue":   {func(s *scene) []Edit { return []Edit{parent("a", "a")} }, "creates a cycle: a > a", ""},
		"there is one already": {func(s *scene) []Edit { cyclicPair(s); return []Edit{s.edited("in", nominal(9))} }, "the cohort tree is cut off by the cycle a > b > a, which this does not remove: Kueue admits nothing there", ""},
		"put into one":         {func(s *scene) []Edit { cyclicPair(s); s.queue("q", "", 1); return []Edit{s.edited("q", into("b"))} }, "puts ClusterQueue/q into the cohort cycle a > b > a: Kueue admits nothing there", ""},
		"joined to a tree at work": {func(s *scene) []Edit {
			cyclicPair(s)
			s.queue("q", "pool", 1)
			return []Edit{parent("a", "pool")}
		}, "brings what the cohort cycle a > b > a cut off to a tree that is at work (ClusterQueue q): end the cycle first, then bring the two together", ""},
		"moved into another": {func(s *scene) []Edit { cyclicPair(s); return []Edit{parent("a", "a")} }, "creates a cycle: a > a", ""},
		"only one tree is cut": {func(s *scene) []Edit {
			cyclicPair(s)
			s.queue("q", "", 1)
			return []Edit{s.edited("q", nominal(2)), s.edited("in", nominal(9))}
		}, "", "ClusterQueue in is cut off by the cohort cycle a > b > a"},
		"somewhere else": {func(s *scene) []Edit { cyclicPair(s); s.queue("q", "", 1); return []Edit{s.edited("q", nominal(2))} }, "", ""},
		"a flavor, also in one": {func(s *scene) []Edit {
			cyclicPair(s)
			s.queue("q", "", 1)
			return []Edit{editOf(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "a100"}})}
		}, "", "ClusterQueue in is cut off by the cohort cycle a > b > a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			edits := tc.build(s)
			r, task := s.play([]engine.Outcome{{}}, edits...)
			if r.NotComputed != tc.want {
				t.Errorf("not computed: %q\nwant          %q", r.NotComputed, tc.want)
			}
			if all := strings.Join(r.Unknown, "; "); !strings.Contains(all, tc.doubt) {
				t.Errorf("unknown: %s; want %s", all, tc.doubt)
			}
			if tc.want == "" != (task.World != nil) {
				t.Errorf("run: %v", task.World != nil)
			}
			if task.World == nil {
				return
			}
			o, err := task.World.Objects()
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range o.ClusterQueues {
				if q.Name == "in" {
					t.Error("a ClusterQueue on a cycle is run")
				}
			}
			for _, c := range o.Cohorts {
				if c.Name == "a" || c.Name == "b" {
					t.Error("a Cohort of a cycle is run")
				}
			}
			for _, e := range task.Edits {
				if e.New.GetName() == "in" {
					t.Error("an edit on a cycle is run")
				}
			}
		})
	}
}

// cyclicPair adds the cycle a > b > a with ClusterQueue in.
func cyclicPair(s *scene) {
	s.cohort("a", "b")
	s.cohort("b", "a")
	s.queue("in", "a", 4)
}

func TestWhatCannotBeKnown(t *testing.T) {
	denied := world.Freshness{Feed: world.Denied, Detail: "forbidden"}
	tests := map[string]struct {
		hide  func(*scene)
		want  string
		doubt string
	}{
		"one namespace only":       {func(s *scene) { s.within = "ns" }, "other tenants' Workloads cannot be read (only namespace ns is)", ""},
		"Workloads":                {func(s *scene) { s.hidden[world.KindWorkload] = denied }, "Workloads may not be read: forbidden: ask somebody who may list them", ""},
		"ClusterQueues":            {func(s *scene) { s.hidden[world.KindClusterQueue] = denied }, "ClusterQueues may not be read", ""},
		"LocalQueues, not yet":     {func(s *scene) { s.hidden[world.KindLocalQueue] = world.Freshness{Feed: world.Syncing} }, "LocalQueues are still being read", ""},
		"Cohorts, not in the file": {func(s *scene) { s.hidden[world.KindCohort] = world.Freshness{Feed: world.Failing, Detail: "broken"} }, "Cohorts are not known (failing: broken)", ""},
		"Cohorts are not served":   {func(s *scene) { s.hidden[world.KindCohort] = world.Freshness{Feed: world.Absent} }, "", ""},
		"Workloads are old": {func(s *scene) {
			s.hidden[world.KindWorkload] = world.Freshness{Feed: world.Disconnected, Synced: true, Heard: noon}
		}, "", "Workloads are perhaps old, or not all there are (disconnected, last heard of at 12:00:00 UTC)"},
		"checks":       {func(s *scene) { s.hidden[world.KindAdmissionCheck] = denied }, "", "AdmissionChecks cannot be read"},
		"all is there": {func(s *scene) {}, "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.queue("a", "", 1, checks("safe"))
			s.job("w", "a", 1, 1)
			tc.hide(s)
			r, task := s.play([]engine.Outcome{{}}, s.edited("a", nominal(2)))
			if tc.want == "" != (r.NotComputed == "") || !strings.HasPrefix(r.NotComputed, tc.want) {
				t.Errorf("not computed: %q, want %q", r.NotComputed, tc.want)
			}
			if all := strings.Join(r.Unknown, "; "); !strings.Contains(all, tc.doubt) {
				t.Errorf("unknown: %s; want %s", all, tc.doubt)
			}
			if (task.World != nil) != (tc.want == "") {
				t.Error("run, or not")
			}
		})
	}
}

func TestLabels(t *testing.T) {
	s := newScene()
	s.queue("a", "", 1)
	r, _ := s.play([]engine.Outcome{{}}, s.edited("a", nominal(2)))
	if r.ComputedWith != engine.Version || r.ClusterRuns != "v0.19.2" {
		t.Errorf("computed with %s, the cluster runs %s", r.ComputedWith, r.ClusterRuns)
	}
	q := s.question(s.edited("a", nominal(2)))
	q.Settings = q.Settings.WithFairSharing(true)
	q.Settings.Source, q.Settings.Unknown = "ConfigMap x/y", []string{"who knows"}
	r = Preview(t.Context(), &script{}, q, nil)
	all := strings.Join(append(r.Assumptions, r.Unknown...), "; ")
	for _, want := range []string{"running jobs do not end", "with the configuration of ConfigMap x/y", "fair sharing is on, as you told", "who knows"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in: %s", want, all)
		}
	}
}

func TestWhatCannotBePreviewed(t *testing.T) {
	gone := func(k world.Kind, ns, name string) Edit {
		return Edit{Kind: k, Key: world.Key{Namespace: ns, Name: name}}
	}
	tests := map[string]struct {
		edits func(*scene) []Edit
		want  string
	}{
		"nothing": {func(*scene) []Edit { return nil }, "nothing is changed"},
		"a Namespace": {func(*scene) []Edit {
			return []Edit{editOf(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x"}})}
		}, "what a change of Namespace/x does cannot be previewed"},
		"a Topology":            {func(*scene) []Edit { return []Edit{editOf(&kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: "x"}})} }, "what a change of Topology/x does cannot be previewed"},
		"a kind of tomorrow":    {func(*scene) []Edit { return []Edit{gone("Fleet", "", "x")} }, "what a change of Fleet/x does cannot be previewed"},
		"one thing twice":       {func(s *scene) []Edit { return []Edit{s.edited("a"), s.edited("a", nominal(3))} }, "ClusterQueue/a is changed twice"},
		"another kind":          {func(s *scene) []Edit { e := s.edited("a"); e.Kind = world.KindCohort; return []Edit{e} }, "Cohort/a is said to be changed to a *v1beta2.ClusterQueue"},
		"another name":          {func(s *scene) []Edit { e := s.edited("a"); e.Key.Name = "b"; return []Edit{e} }, "ClusterQueue/b is said to be changed to an object that is called a"},
		"an old version":        {func(*scene) []Edit { return []Edit{{world.KindClusterQueue, world.Key{Name: "a"}, &metav1.Status{}}} }, "ClusterQueue/a is"},
		"a Workload to come":    {func(*scene) []Edit { return []Edit{editOf(newScene().job("new", "a", 1, 1))} }, "Workload/ns/new does not exist"},
		"a Workload to go":      {func(*scene) []Edit { return []Edit{gone(world.KindWorkload, "ns", "w")} }, "the deletion of Workload/ns/w cannot be previewed"},
		"what is not there":     {func(*scene) []Edit { return []Edit{gone(world.KindCohort, "", "x")} }, "Cohort/x does not exist"},
		"a queue that is used":  {func(*scene) []Edit { return []Edit{gone(world.KindClusterQueue, "", "a")} }, "ClusterQueue/a is in use"},
		"a flavor that is used": {func(*scene) []Edit { return []Edit{gone(world.KindResourceFlavor, "", "a100")} }, "ResourceFlavor/a100 is in use"},
		"a check that is used":  {func(*scene) []Edit { return []Edit{gone(world.KindAdmissionCheck, "", "safe")} }, "AdmissionCheck/safe is in use"},
		"an unused queue":       {func(s *scene) []Edit { s.queue("idle", "", 1); return []Edit{gone(world.KindClusterQueue, "", "idle")} }, ""},
		"an unused flavor": {func(s *scene) []Edit {
			s.put(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "f"}})
			return []Edit{gone(world.KindResourceFlavor, "", "f")}
		}, ""},
		"a class": {func(s *scene) []Edit {
			s.put(&kueue.WorkloadPriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}, Value: 5})
			return []Edit{gone(world.KindWorkloadPriorityClass, "", "gold")}
		}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.put(check("safe", true))
			s.queue("a", "", 1, checks("safe"))
			s.running("w", "a", 1, 1)
			r, _ := s.play([]engine.Outcome{{}}, tc.edits(s)...)
			if tc.want == "" != (r.NotComputed == "") || !strings.HasPrefix(r.NotComputed, tc.want) {
				t.Errorf("not computed: %q, want %q", r.NotComputed, tc.want)
			}
		})
	}
}

// The runner gets whole trees and nothing else, what is now and what will be.
func TestTask(t *testing.T) {
	s := newScene()
	s.put(check("safe", true))
	s.queue("a", "pool", 1, checks("safe"))
	s.queue("b", "pool", 1)
	s.queue("c", "far", 1)
	s.queue("d", "", 1)
	for _, q := range []string{"a", "b", "c", "d"} {
		s.job("w-"+q, q, 1, 1)
	}
	bare := check("safe", false) // as it stands in a file
	bare.Spec.ControllerName = "example.com/other"
	move := s.edited("c", into("pool"), func(q *kueue.ClusterQueue) {
		q.UID, q.Status, q.Spec.QueueingStrategy, q.Spec.Preemption = "", kueue.ClusterQueueStatus{}, "", nil
	})
	_, task := s.play([]engine.Outcome{{}}, move, editOf(bare))
	o, err := task.World.Objects()
	if err != nil {
		t.Fatal(err)
	}
	var queues, jobs []string
	for _, q := range o.ClusterQueues {
		queues = append(queues, q.Name)
	}
	for _, w := range o.Workloads {
		jobs = append(jobs, w.Name)
	}
	if d := cmp.Diff([][]string{{"a", "b", "c"}, {"w-a", "w-b", "w-c"}}, [][]string{queues, jobs}); d != "" {
		t.Errorf("packed (-want +got):\n%s", d)
	}
	if d := cmp.Diff(engine.Modes(2), task.Modes); d != "" {
		t.Errorf("modes (-want +got):\n%s", d)
	}
	if len(task.Edits) != 2 || !task.At.Equal(noon) {
		t.Fatalf("%d edits, at %s", len(task.Edits), task.At)
	}
	before, after := task.Edits[0].Old.(*kueue.ClusterQueue), task.Edits[0].New.(*kueue.ClusterQueue)
	if before.Spec.CohortName != "far" || after.Spec.CohortName != "pool" || after.UID != before.UID || before.UID == "" || after.Generation != before.Generation+1 {
		t.Errorf("from %+v\nto %+v", before.ObjectMeta, after.ObjectMeta)
	}
	if d := cmp.Diff(before.Status, after.Status); d != "" || len(after.Status.Conditions) == 0 {
		t.Errorf("the status changes with the spec (-now +then):\n%s", d)
	}
	// What the API server would set is set; the cohort is all that differs.
	after.Spec.CohortName = "far"
	if d := cmp.Diff(before.Spec, after.Spec); d != "" {
		t.Errorf("more differs than was edited (-now +then):\n%s", d)
	}
	if c := task.Edits[1].New.(*kueue.AdmissionCheck); len(c.Status.Conditions) != 1 || c.Spec.ControllerName != "example.com/other" {
		t.Errorf("an edited check keeps its state: %+v", c)
	}
}
