package ui

import (
	"strings"
	"time"

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
