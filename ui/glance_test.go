package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// morning adds to the scene what a morning may bring: a silent admission check, two
// Workloads that preempt each other, evictions, and Kueue's own parts.
func (s *stage) morning() *stage {
	c := s.store.Snapshot().Contract
	c.Asked, c.Probed = true, true
	c.ControllerDetail = "2 of 2 replicas, and one of them leads"
	c.ValidatingWebhookDetail = "not tried, since only a dry-run of a write could tell; Service kueue-webhook-service has 2 endpoints"
	c.ConversionWebhook, c.Visibility = world.Ready, world.NotReady
	c.VisibilityDetail = "the APIService is not available: FailedDiscoveryCheck"
	c.WebhookCAValidUntil = now.Add(61*24*time.Hour + time.Hour)
	s.store.SetContract(c)

	budget := clusterQueue("batch-cq", "ai-shared", 0)
	budget.Checks = []world.CheckRule{{Name: "budget"}}
	s.store.Put(budget)
	s.store.Put(&world.Check{Meta: meta("", "budget"), Controller: "example.com/budget", Conditions: world.Conditions{
		{Type: world.CondActive, Status: "False", Reason: "Lost", Message: "the controller has not renewed its lease", At: now.Add(-121 * time.Minute)}}})
	a, b := pendingJob("team-a", "ping-1", "batch", 100, 50*time.Minute), pendingJob("team-b", "pong-1", "batch", 100, 49*time.Minute)
	for _, x := range []struct{ victim, by *world.Workload }{{a, b}, {b, a}} {
		x.victim.Preempted = &world.Preemption{PreemptorUID: x.by.UID, PreemptorJobUID: x.by.JobUID, Reason: "InCohortReclamation", At: now.Add(-9 * time.Minute)}
		x.victim.Evictions = []world.Eviction{{Reason: "Preempted", Count: 7}}
	}
	s.store.Put(a)
	s.store.Put(b)
	slow := runningJob("team-b", "slow-1", "batch", "team-b-cq", 0, 1, 26*time.Hour)
	slow.Evictions = []world.Eviction{{Reason: "PodsReadyTimeout", Count: 2}}
	s.store.Put(slow)
	s.store.Put(&world.Flavor{Meta: meta("", "h100")})
	written(s.store)
	s.refresh()
	return s
}

// quiet takes everything out of the scene that needs a person.
func (s *stage) quiet() *stage {
	for _, name := range []string{"team-c-cq", "team-d-cq", "team-e-cq", "lost-cq"} {
		s.store.Delete(world.KindClusterQueue, world.Key{Name: name})
	}
	for _, name := range []string{"loop-a", "loop-b"} {
		s.store.Delete(world.KindCohort, world.Key{Name: name})
	}
	for _, q := range []world.Key{{Namespace: "team-c", Name: "batch"}, {Namespace: "team-e", Name: "batch"}, {Namespace: "team-x", Name: "batch"}} {
		s.store.Delete(world.KindLocalQueue, q)
	}
	for _, w := range s.store.Snapshot().Workloads {
		if w.Namespace == "team-c" || w.Namespace == "team-e" {
			s.store.Delete(world.KindWorkload, w.Key)
		}
	}
	c := s.store.Snapshot().Contract
	c.Asked, c.Probed = true, true
	c.ConversionWebhook, c.Visibility, c.WebhookCAValidUntil = world.Ready, world.Ready, now.Add(61*24*time.Hour+time.Hour)
	s.store.SetContract(c)
	written(s.store)
	s.refresh()
	return s
}

// syncing is the first second of a large cluster.
func (s *stage) syncing() *stage {
	s.store.SetFreshness(world.KindWorkload, world.Freshness{Feed: world.Syncing, Count: 41200})
	s.store.SetFreshness(world.KindLocalQueue, world.Freshness{Feed: world.Syncing, Count: 500})
	s.store.SetFreshness(world.KindNamespace, world.Freshness{Feed: world.Denied, Detail: "cannot list namespaces"})
	s.refresh()
	return s
}

// onAlert puts the cursor on the alert whose object is named so.
func (s *stage) onAlert(name string) *stage {
	s.press("g")
	for range 40 {
		if strings.Contains(s.cursorLine(), name) {
			return s
		}
		s.press("down")
	}
	s.t.Fatalf("there is no alert with %q:\n%s", name, s.frame())
	return s
}

// hour lets most of an hour pass in which more and more wait, and team-a gives back
// most of what it borrowed.
func (s *stage) hour() *stage {
	for i := range 10 {
		s.pass(5 * time.Minute)
		for j := range i {
			s.store.Put(pendingJob("team-a", fmt.Sprintf("more-%d-%d", i, j), "batch", 10, -time.Duration(5*i)*time.Minute))
		}
		s.store.Put(runningJob("team-a", "big-1", "batch", "team-a-cq", 100, int64(10-i/3), 3*time.Hour))
		written(s.store)
		s.refresh()
	}
	s.pass(5 * time.Second)
	return s
}

// looks counts how often the stage begins to look at all Workloads.
func (s *stage) looks() *int {
	n := 0
	s.root.memo = newMemo(func(*store.Snapshot, time.Time) func(*world.Workload) reason.Explanation {
		n++
		return fixedReason
	})
	return &n
}

// change is a snapshot that differs from the last.
func (s *stage) change(i int) {
	s.store.Put(pendingJob("team-a", fmt.Sprintf("new-%d", i), "batch", 1, time.Minute))
	s.refresh()
}

// A look costs much where there are many Workloads: never two at a time, and not
// sooner than its pause after the last.
func TestLooksArePaced(t *testing.T) {
	s := begin(t, 80, 24)
	n := s.looks()
	s.held = true
	s.press("1").sees("Looking at what there is", "ClusterQueues")
	for i := range 5 {
		s.store.Put(pendingJob("team-a", fmt.Sprintf("new-%d", i), "batch", 1, time.Minute))
		s.send(snapshotMsg{s.store.Snapshot(), now})
	}
	running := 0
	var count func(tea.Cmd)
	count = func(c tea.Cmd) {
		switch m := c().(type) {
		case lookedMsg:
			running++
		case tea.BatchMsg:
			for _, x := range m {
				count(x)
			}
		}
	}
	for _, c := range s.waiting {
		count(c)
	}
	if running != 1 {
		t.Errorf("%d looks at once", running)
	}
	*n = 0
	s.release()
	s.sees("NEEDS A PERSON")
	first := *n
	for i := range 5 {
		s.change(10 + i)
	}
	if *n != first {
		t.Errorf("%d looks within the pause", *n-first)
	}
	s.pass(leastPause + time.Second)
	if *n != first+1 {
		t.Errorf("%d looks after the pause, want one", *n-first)
	}
	s.sees("15 pending")
	s.pass(stillPause - 2*time.Second)
	if *n != first+1 {
		t.Errorf("a snapshot that was looked at is looked at again within the pause (%d looks)", *n-first)
	}
	s.pass(stillPause)
	if *n == first+1 {
		t.Error("ages stand still")
	}
}

// While lists come in, what is only not listed yet must not be missed; Workloads are
// looked at as they come.
func TestNoLookAtHalfTheLists(t *testing.T) {
	s := begin(t, 80, 24)
	n := s.looks()
	s.syncing().press("1").sees("The lists come in", "41,200 so far", "500 so far", "cannot list namespaces")
	s.pass(5 * time.Second)
	if *n != 0 {
		t.Errorf("%d looks at half of the lists", *n)
	}
	s.store.SetFreshness(world.KindLocalQueue, world.Freshness{Feed: world.Live, Synced: true, Count: 6})
	s.refresh()
	s.sees("NEEDS A PERSON", "team-d-cq", "Syncing Workloads: 41,200 so far", "WAITING HELPS ? Workloads: they are still coming in")
	synced(s.store)
	s.refresh()
	s.pass(leastPause + time.Second)
	s.sees("5 Workloads wait").seesNot("so far")
}

// "Nothing needs a person" is said only of what was looked at.
func TestNothingIsSaidOfWhatWasSeen(t *testing.T) {
	for _, k := range world.WatchedKinds() {
		for _, f := range []world.Freshness{
			{Feed: world.Denied, Synced: true, Detail: "cannot list"}, {Feed: world.Failing}, {Feed: world.Disconnected}, {Feed: world.Absent},
		} {
			s := begin(t, 100, 30)
			s.quiet().press("1").sees("✓ Nothing needs a person.", "Looked at 4 ClusterQueues, 3 LocalQueues, 8 Workloads", "not at pods outside Kueue")
			s.store.SetFreshness(k, f)
			s.refresh()
			s.pass(leastPause + time.Second)
			s.seesNot("✓ Nothing needs a person.").sees(kindNames(k))
		}
	}
}

// A new alert comes into sight above a cursor that nobody has moved, and the cursor
// stays on its alert; one that is over stays as a tombstone.
func TestCursorStaysOnItsAlert(t *testing.T) {
	s := begin(t, 40, 12)
	s.press("1").cursorOn("stuck")
	w := s.store.Snapshot().WorkloadByKey(world.Key{Namespace: "team-c", Name: "job-stuck-2-x1y2z"})
	for i := range 2 {
		o := *w
		o.Meta = meta("team-a", fmt.Sprintf("job-stuck-%d", i))
		o.ClusterQueue = "team-a-cq"
		s.store.Put(&o)
	}
	s.refresh()
	s.pass(leastPause + time.Second)
	s.sees("2 Workloads").cursorOn("team-c")
	s.press("down", "up")
	s.store.Delete(world.KindWorkload, w.Key)
	s.refresh()
	s.pass(leastPause + time.Second)
	s.cursorOn("over:")
	s.press("down").seesNot("over:")
}

// Enter goes to what must change, and where that has no page, says all that is known
// of it and which queues name it.
func TestEnterOnAnAlert(t *testing.T) {
	for object, want := range map[string][]string{
		"ClusterQueue team-d-cq":   {"Glance › team-d-cq", "a100-80g"},
		"Workload team-c/stuck-2":  {"Glance › team-c/stuck-2", "EVICTING"},
		"loop-a":                   {"Glance › Cohorts", "▸ ▾ loop-a"},
		"AdmissionCheck budget":    {"Glance › budget", "not active (Lost: the controller has not renewed its lease)", "batch-cq   for every flavor"},
		"unused flavor":            {"Glance › h100", "no ClusterQueue and no Cohort has quota of it"},
		"Kueue's Visibility API":   {"Glance › Kueue's visibility", "FailedDiscoveryCheck"},
		"LocalQueue team-b/no-way": {"Glance › LocalQueue team-b/no-way", "misconfigured, critical", "Workload team-b/lost-1"},
	} {
		t.Run(object, func(t *testing.T) {
			s := begin(t, 120, 40)
			s.root.memo = newMemo(func(*store.Snapshot, time.Time) func(*world.Workload) reason.Explanation {
				return func(w *world.Workload) reason.Explanation {
					if w.LocalQueue == "no-way" {
						return reason.Explanation{Class: reason.Misconfigured, Advice: reason.AdviceChange, Actor: "job owner", Sentence: "LocalQueue no-way does not exist.",
							Obstacles: []reason.Obstacle{{Kind: reason.ObstacleLocalQueueMissing, Object: "LocalQueue/team-b/no-way"}}}
					}
					return fixedReason(w)
				}
			})
			s.store.Put(pendingJob("team-b", "lost-1", "no-way", 1, time.Minute))
			s.morning().press("1").onAlert(object).press("enter").sees(want...)
			s.press("esc").cursorOn(object)
		})
	}
}

// What is under the cursor can be acted on, if it is a queue.
func TestActOnAnAlert(t *testing.T) {
	s := begin(t, 120, 40)
	s.desk.plan = holdPlan()
	s.press("1").onAlert("team-c-cq").press("R").sees("prod-eu", "team-a-cq") // the Desk's plan, whatever it is for
	s.press("esc")
	s.onAlert("stuck-2").press("H").sees("hold: the cursor is on Workload team-c/stuck-2, which is no queue")
}

// Every figure keeps its line however many alerts there are.
func TestFiguresKeepTheirLines(t *testing.T) {
	s := begin(t, 80, 24)
	for i := range 40 {
		q := clusterQueue(fmt.Sprintf("held-%02d", i), "", 1)
		q.StopPolicy = world.StopHold
		s.store.Put(q)
	}
	s.refresh()
	s.press("1")
	names := []string{"WAITING HELPS", "QUEUES", "WAIT ", "BORROWING", "EVICTED", "KUEUE"}
	figures := func() []string {
		var out []string
		for i, l := range strings.Split(s.frame(), "\n") {
			if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(l, " "+n) }) {
				out = append(out, fmt.Sprint(i, " ", l))
			}
		}
		return out
	}
	first := figures()
	if len(first) != len(names) {
		t.Fatalf("not every figure is there:\n%s", s.frame())
	}
	for range 45 {
		s.press("down")
		if d := cmp.Diff(first, figures()); d != "" {
			t.Fatalf("figures moved (-before +after):\n%s", d)
		}
	}
	s.cursorOn("team-c-cq")
}

// The curves go on at their pace while another screen is seen, without looking at
// every Workload, and are bounded.
func TestCurvesGoOn(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("1", "2")
	n := s.looks()
	s.pass(10 * samplePace)
	curve := func() samples { return s.root.stacks[TabGlance][0].(glance).curve }
	if got := len(curve()); got != 11 {
		t.Errorf("%d samples after 10 paces, want 11", got)
	}
	if *n != 0 {
		t.Errorf("looked at every Workload %d times for a screen that nobody sees", *n)
	}
	for range mostSamples {
		s.send(sampleDue{})
	}
	if got := len(curve()); got != mostSamples {
		t.Errorf("%d samples are kept, not %d", got, mostSamples)
	}
}

// A frozen screen stands still, also where a look would only change ages, and what it
// shows is not taken for how it is now.
func TestFrozenGlance(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("1", "z")
	n := s.looks()
	s.change(1)
	samples := len(s.root.stacks[TabGlance][0].(glance).curve)
	s.pass(5 * samplePace)
	if got := len(s.root.stacks[TabGlance][0].(glance).curve); *n != 0 || got != samples {
		t.Errorf("%d looks and %d samples of a frozen screen", *n, got-samples)
	}
	s.sees("5 pending").press("z")
	s.pass(leastPause)
	s.sees("6 pending")
	s.pass(samplePace)
	if got := len(s.root.stacks[TabGlance][0].(glance).curve); got != samples+1 {
		t.Errorf("%d samples after it goes on", got-samples)
	}
}

// Who was preempted and waits since is said with who took it: the glance's only sign of a
// policy that is wrong, since for each victim alone waiting helps.
func TestPreemptedOfLate(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("1").sees("PREEMPTED     1 Workload waits since: team-b-cq preempted 1 of team-a-cq; newest 38m ago, see Chains")
	for i, ago := range []time.Duration{time.Minute, 2 * time.Minute, 61 * time.Minute} {
		w := pendingJob("team-c", "robbed-"+string(rune('a'+i)), "batch", 1, 5*time.Hour)
		preemptedBy(w, "uid-team-b-job-urgent-3-x1y2z", "InCohortReclamation", "team-b-cq", ago)
		s.store.Put(w)
	}
	s.refresh()
	s.pass(leastPause + time.Second)
	s.sees("3 Workloads wait since: team-b-cq preempted 2 of team-c-cq, 1 of team-a-cq; newest 1m ago")
	// Who runs again or is not to run waits for nothing; a preemptor that is gone was of the
	// queue that Kueue wrote down.
	again := runningJob("team-c", "robbed-d", "batch", "team-c-cq", 1, 1, 5*time.Hour)
	off := pendingJob("team-c", "robbed-e", "batch", 1, 5*time.Hour)
	off.State, off.Active = world.Deactivated, false
	gone := pendingJob("team-c", "robbed-f", "batch", 1, 5*time.Hour)
	for _, w := range []*world.Workload{again, off} {
		s.store.Put(preemptedBy(w, "uid-team-b-job-urgent-3-x1y2z", "InCohortReclamation", "team-b-cq", time.Minute))
	}
	s.store.Put(preemptedBy(gone, "nobody-any-more", "InCohortReclamation", "team-b-cq", time.Minute))
	s.refresh()
	s.pass(leastPause + time.Second)
	s.sees("4 Workloads wait since: team-b-cq preempted 3 of team-c-cq, 1 of team-a-cq")
}

// An alert of a queue that was made anew is another one: a key for the queue that was
// under the cursor does not meet the new one.
func TestAlertsAreOfObjectsNotNames(t *testing.T) {
	s := begin(t, 120, 40)
	s.press("1")
	for !strings.Contains(s.cursorLine(), "team-c-cq is held") {
		s.press("down")
	}
	q := clusterQueue("team-c-cq", "ai-shared", 4)
	q.UID, q.StopPolicy, q.Hold = "another", world.StopHold, &world.HoldRecord{Version: 1, By: "kim", At: now, Previous: world.StopNone}
	s.store.Put(q)
	s.refresh()
	s.pass(time.Minute)
	s.cursorOn("over:").press("R").sees("resume: what the cursor is on is over").seesNot("resume ClusterQueue")
}
