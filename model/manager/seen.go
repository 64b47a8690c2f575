package manager

import (
	"strings"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// podsReadyWait is how Kueue tells a Workload that blockAdmission holds it back
// (pkg/scheduler/scheduler.go, waitForPodsReadyIfBlocked).
const podsReadyWait = "waiting for all admitted workloads to be in PodsReady condition"

// Seen is the settings after a look at what the objects show of how the manager
// runs, which counts more than a file that says what it should run with. What
// they show against the settings is named.
func (s Settings) Seen(snap *store.Snapshot) Settings {
	return s.seenFairSharing(snap).seenBlocking(snap)
}

// seenFairSharing: with fair sharing on Kueue writes a share into the status of
// every ClusterQueue and Cohort, and removes it with fair sharing off
// (pkg/controller/core, clusterqueue_controller.go and cohort_controller.go).
func (s Settings) seenFairSharing(snap *store.Snapshot) Settings {
	on := s.Config.FairSharing != nil
	shown := shares(snap)
	switch {
	case shown != "" && !on:
		s.Config.FairSharing = ownStrategies()
		s = s.assume("fair sharing is on, as the share in the status of %s shows; its preemption strategies are taken to be Kueue's own two", shown)
		if s.Told {
			s = s.doubt("%s says that fair sharing is off, and the status of %s shows it on: the manager runs with another configuration", s.Source, shown)
		}
	case shown == "" && on && tended(snap):
		s = s.doubt("fair sharing is on by %s, but no ClusterQueue has a share in its status: the manager may run with another configuration", s.Source)
	}
	return s
}

// shares names the first object with a share; empty: none has one.
func shares(snap *store.Snapshot) string {
	for _, q := range snap.ClusterQueues {
		if q.WeightedShare != nil {
			return q.Ref().String()
		}
	}
	for _, c := range snap.Cohorts {
		if c.WeightedShare != nil {
			return c.Ref().String()
		}
	}
	return ""
}

// tended reports whether Kueue wrote the status of any ClusterQueue.
func tended(snap *store.Snapshot) bool {
	for _, q := range snap.ClusterQueues {
		if _, ok := q.Conditions.Get(world.CondActive); ok {
			return true
		}
	}
	return false
}

func (s Settings) seenBlocking(snap *store.Snapshot) Settings {
	if s.blocks() {
		return s
	}
	for _, w := range snap.Workloads {
		if c, ok := w.Conditions.Get(world.CondQuotaReserved); ok && w.State == world.Pending && strings.Contains(c.Message, podsReadyWait) {
			return s.doubt("%s was told that it waits for the pods of others (waitForPodsReady.blockAdmission), which by %s is off: a preview goes without it", w.Ref(), s.Source)
		}
	}
	return s
}

// blocks reports whether Kueue admits nobody while the pods of any admitted
// Workload are not ready (blockForPodsReady in cmd/kueue/main.go).
func (s Settings) blocks() bool {
	w := s.Config.WaitForPodsReady
	return w != nil && w.BlockAdmission != nil && *w.BlockAdmission && !s.enabled(disableWaitForPodsReady)
}
