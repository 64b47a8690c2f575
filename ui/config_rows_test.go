package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

func lookAt(s *store.Store) look { return look{snap: s.Snapshot(), now: now} }

// summary is what the tests of the joined rows look at.
type summary struct{ Name, State, Text string }

// What hangs on a flavor: the sums by hand of what setUp gives to the queues.
func TestFlavorRows(t *testing.T) {
	st, _ := setUp()
	var got []summary
	for _, r := range flavorRows(lookAt(st)) {
		text := fmt.Sprintf("%d queues, %d cohorts, %d hold", r.queues(), len(r.lent), r.loads)
		for _, x := range r.sums {
			text += fmt.Sprintf("; %s %s/%s/%s", x.resource, x.admitted.Text(x.resource), x.reserved.Text(x.resource), x.nominal.Text(x.resource))
		}
		got = append(got, summary{r.name, r.state.String(), text})
	}
	want := []summary{
		// No quota of it, but team-d-cq names it.
		{"a100-80g", "missing", "1 queues, 0 cohorts, 0 hold"},
		{"mi300", "missing", "0 queues, 1 cohorts, 0 hold; amd.com/gpu 0/0/4"},
		{"gen2", "no topology", "1 queues, 0 cohorts, 0 hold; nvidia.com/gpu 0/0/1"},
		// 6 + 8 + 2 of the queues and 2 of the cohort; run-1 4, run-2 3, wait-1 2, wait-2 1.
		{"a100", "used", "3 queues, 1 cohorts, 4 hold; nvidia.com/gpu 7/10/18"},
		// 8 cores for each gpu of the queues, one for each that is used.
		{"default", "used", "3 queues, 0 cohorts, 4 hold; cpu 7/10/128"},
		{"h100", "unused", "0 queues, 0 cohorts, 0 hold"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Without the lists that would tell, nothing is missing and nothing is unused.
func TestFlavorsUnknown(t *testing.T) {
	st, _ := setUp()
	shut := func(k world.Kind) { st.SetFreshness(k, world.Freshness{Feed: world.Denied}) }
	states := func() map[string]string {
		out := map[string]string{}
		for _, r := range flavorRows(lookAt(st)) {
			out[r.name] = r.state.String()
		}
		return out
	}
	shut(world.KindCohort)
	want := map[string]string{"a100-80g": "missing", "mi300": "missing", "gen2": "no topology", "a100": "used", "default": "used", "h100": "?"}
	if diff := cmp.Diff(want, states()); diff != "" {
		t.Errorf("no Cohorts (-want +got):\n%s", diff)
	}
	shut(world.KindResourceFlavor)
	shut(world.KindTopology)
	want["a100-80g"], want["mi300"], want["gen2"] = "?", "?", "used"
	if diff := cmp.Diff(want, states()); diff != "" {
		t.Errorf("no ResourceFlavors and no Topologies (-want +got):\n%s", diff)
	}
}

// What a queue in a cycle of cohorts uses is not known, and neither is any sum with it.
func TestFlavorInACycle(t *testing.T) {
	st, _ := setUp()
	st.Put(&world.Cohort{Meta: meta("", "ring"), Parent: "ring"})
	st.Put(clusterQueue("ring-cq", "ring", 3))
	for _, r := range flavorRows(lookAt(st)) {
		if r.name == gpu.Flavor && (!r.sums[0].torn || r.sums[0].nominal != 21 || r.queues() != 4) {
			t.Errorf("%+v", r.sums)
		}
	}
	s := newStage(t, st, clocktesting.NewFakePassiveClock(now), 120, 40)
	s.press("7").sees("nvidia.com/gpu ? of 21")
}

func TestCheckRows(t *testing.T) {
	st, _ := setUp()
	jobs := func(ws []*world.Workload) string {
		var out []string
		for _, w := range ws {
			out = append(out, w.JobName())
		}
		return strings.Join(out, " ")
	}
	rows := func() (out []summary) {
		for _, r := range checkRows(lookAt(st)) {
			text := fmt.Sprintf("%d queues", len(r.uses))
			for _, x := range []struct {
				word string
				in   []*world.Workload
			}{{"waits", r.waits}, {"retries", r.retries}, {"rejected", r.rejected}} {
				if len(x.in) > 0 {
					text += "; " + x.word + " " + jobs(x.in)
				}
			}
			if !r.oldest.IsZero() {
				text += "; since " + age(now, r.oldest)
			}
			out = append(out, summary{r.name, r.state.String(), text})
		}
		return out
	}
	want := []summary{
		{"capacity", "missing", "1 queues"},
		{"provision", "not active", "1 queues"},
		{"budget", "active", "2 queues; waits wait-1 wait-2; retries retry-1; rejected refused-1; since 30m"},
		{"old-quota", "unused", "0 queues"},
	}
	if diff := cmp.Diff(want, rows()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Who waits for a check that no queue asks for waits for nobody; who was refused by
	// one that is gone, or has not asked yet, does not.
	st.Put(reserving("team-a", "lost-1", "team-a-cq", "gone", 0, time.Minute))
	other := pendingJob("team-a", "early-1", "batch", 500, time.Minute)
	other.Checks = []world.CheckState{{Name: "other", State: "Rejected", At: now}, {Name: "budget", State: "Pending", At: now.Add(-time.Hour)}}
	st.Put(other)
	want = append([]summary{{"gone", "missing", "0 queues; waits lost-1; since 1m"}}, want...)
	if diff := cmp.Diff(want, rows()); diff != "" {
		t.Errorf("with a check that is only waited for (-want +got):\n%s", diff)
	}
	// In each state first those that refused somebody, then the longest wait.
	for name, since := range map[string]time.Duration{"b-late": 5 * time.Minute, "a-long": 3 * time.Hour} {
		st.Put(&world.Check{Meta: meta("", name), Conditions: active()})
		st.Put(reserving("team-a", name, "team-a-cq", name, 0, since))
	}
	var order []string
	for _, r := range rows() {
		order = append(order, r.Name)
	}
	if diff := cmp.Diff([]string{"gone", "capacity", "provision", "budget", "a-long", "b-late", "old-quota"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	st.SetFreshness(world.KindAdmissionCheck, world.Freshness{Feed: world.Denied})
	for _, r := range rows() {
		if r.State == "missing" {
			t.Errorf("%+v, though no AdmissionCheck can be read", r)
		}
	}
}

func TestClassRows(t *testing.T) {
	st, _ := setUp()
	rows := func() (out []summary) {
		for _, r := range classRows(lookAt(st)) {
			text := fmt.Sprintf("%s %s: %d pending, %d running, %d off", side(r.kind), classValue(r), r.pending, r.running, r.off)
			for _, u := range r.queues {
				text += fmt.Sprintf("; %s %d %d", u.queue, u.pending, u.running)
			}
			for _, w := range r.odd {
				text += fmt.Sprintf("; odd %s %d", w.JobName(), w.Priority)
			}
			out = append(out, summary{r.name, r.state.String(), text})
		}
		return out
	}
	want := []summary{
		{"silver", "missing", "Kueue ?: 0 pending, 2 running, 0 off; team-a-cq 0 1; team-b-cq 0 1"},
		{"batch-high", "used", "Kubernetes 1000: 0 pending, 1 running, 0 off; team-b-cq 0 1"},
		// pend-1, pend-2 and refused-1 in team-a-cq, retry-1 in team-b-cq, two in team-d-cq.
		{"gold", "used", "Kueue 500: 5 pending, 1 running, 1 off; team-a-cq 2 1; team-b-cq 1 0; team-d-cq 2 0; odd pend-2 300"},
		{"bronze", "unused", "Kueue -1: 0 pending, 0 running, 0 off"},
	}
	if diff := cmp.Diff(want, rows()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Of one namespace alone nobody can say that a class is unused; without the list,
	// that it does not exist.
	c := st.Snapshot().Contract
	c.Namespace = "team-a"
	st.SetContract(c)
	st.SetFreshness(world.KindPriorityClass, world.Freshness{Feed: world.Denied})
	st.Delete(world.KindPriorityClass, world.Key{Name: "batch-high"})
	states := map[string]string{}
	for _, r := range rows() {
		states[r.Name] = r.State
	}
	if diff := cmp.Diff(map[string]string{"silver": "missing", "batch-high": "?", "gold": "used", "bronze": "?"}, states); diff != "" {
		t.Errorf("of one namespace (-want +got):\n%s", diff)
	}
}
