package reason

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

// said is a pending Workload that asks for n gpu and of which Kueue wrote this a
// minute ago.
func said(n world.Amount, reason, message string) *world.Workload {
	w := asks(n, message)
	w.Conditions[0].Reason = reason
	return w
}

const (
	tooLargeText = "couldn't assign flavors to pod set main: insufficient quota for gpu in flavor a, previously considered podsets requests (0) + current podset request (24) > maximum capacity (10)"

	five = "Needs 5 gpu of a: 2 free, 8 at most. Waits for 3 to come back."
	two  = "Needs 2 gpu of a and 2 are free now: waits for its turn."
)

// While the numbers are known they speak, whichever reason an older or newer
// Kueue gives, and whatever it found when it last looked.
func TestTheNumbersSpeak(t *testing.T) {
	const tooMuch = "couldn't assign flavors to pod set main: insufficient quota for gpu in flavor a, previously considered podsets requests (0) + current podset request (5) > maximum capacity (4)"
	tests := map[string]struct {
		w    *world.Workload
		want answer
	}{
		"0.17":                            {said(5, "Pending", unused), answer{Quota, AdviceWait, "", five}},
		"0.18, waiting":                   {said(5, "WaitingForQuota", unused), answer{Quota, AdviceWait, "", five}},
		"it was too much, and is not now": {said(5, "ExceedsMaxQuota", tooMuch), answer{Quota, AdviceWait, "", five}},
		"it was too much in 0.17, and is not now": {said(5, "Pending", tooMuch), answer{Quota, AdviceWait, "", five}},
		"no flavor, and there is one now":         {said(5, "NoMatchingFlavor", "couldn't assign flavors to pod set main: flavor gone not found"), answer{Quota, AdviceWait, "", five}},
		"room since":                              {said(2, "WaitingForQuota", unused), answer{QueueOrder, AdviceWait, "", two}},
		"room since, 0.17":                        {said(2, "Pending", unused), answer{QueueOrder, AdviceWait, "", two}},
		"it fitted and does not any more":         {said(9, "Pending", unused), answer{Quota, AdviceChange, "job owner or platform admin", "Can never fit: needs 9 gpu in one flavor, and none of 2 has more than 8. Ask for less, or have the quota raised."}},
		"preempting":                              {said(5, "Pending", unused+". Pending the preemption of 2 workload(s)"), answer{Quota, AdviceWait, "", five + " Kueue is preempting others to make room."}},
		"preempting, by its reason":               {said(5, "WaitingForPreemptedWorkloads", unused), answer{Quota, AdviceWait, "", five + " Kueue is preempting others to make room."}},
		"preempting failed":                       {said(5, "Pending", unused+". Preempting 1 workload(s) failed, will retry."), answer{Quota, AdviceWait, "", five}},
		"a resource without quota":                {said(2, "NoMatchingFlavor", "couldn't assign flavors to pod set main: resource tpu unavailable in ClusterQueue"), answer{Quota, AdviceChange, "job owner or platform admin", "ClusterQueue q has no quota for tpu: ask for another resource, or use another queue."}},
		"a resource that has quota since":         {said(2, "Pending", "couldn't assign flavors to pod set main: resource gpu unavailable in ClusterQueue"), answer{QueueOrder, AdviceWait, "", two}},
		"back after an eviction":                  {returnedAs(said(2, "Pending", "The node n1 failed")), answer{QueueOrder, AdviceWait, "", two}},
		"evaluated soon":                          {said(2, "PendingEvaluation", "AdmissionGatedBy cleared, waiting for quota reservation"), answer{QueueOrder, AdviceWait, "", two}},
		"something else, though there is room":    {said(2, "Pending", "A more favorable variant is already admitted"), answer{Unclear, AdviceWait, "", "Kueue says: A more favorable variant is already admitted."}},
		"something else, without room":            {said(5, "Pending", "Target flavor is below LastAcceptableFlavorName"), answer{Quota, AdviceWait, "", five}},
		"no room in the topology": {
			said(2, "TopologyPlacementFailed", `couldn't assign flavors to pod set main: topology "default" allows to fit only 1 out of 2 pod(s). Total nodes: 4; excluded: resource "cpu": 3`),
			answer{Topology, AdviceWait, "", `The nodes of its topology have no room for it now: couldn't assign flavors to pod set main: topology "default" allows to fit only 1 out of 2 pod(s). Total nodes: 4; excluded: resource "cpu": 3.`},
		},
		"no room in the topology, 0.17": {
			said(2, "Pending", "couldn't assign flavors to pod set main: no topology domains at level: rack"),
			answer{Topology, AdviceWait, "", "The nodes of its topology have no room for it now: couldn't assign flavors to pod set main: no topology domains at level: rack."},
		},
		"lost its place, and fits": {said(2, "Pending", "Workload no longer fits after processing another workload"), answer{QueueOrder, AdviceWait, "", "Another Workload took its place when Kueue last tried, 60s ago; Kueue tries again."}},
		"lost its place, and never fits": {
			said(9, "Pending", "Workload no longer fits after processing another workload"),
			answer{Quota, AdviceChange, "job owner or platform admin", "Can never fit: needs 9 gpu in one flavor, and none of 2 has more than 8. Ask for less, or have the quota raised."},
		},
		"overlapping": {
			said(5, "WaitingForQuota", "Workload has overlapping preemption targets with another workload"),
			answer{Quota, AdviceWait, "", five + " (It lost its place to another Workload when Kueue last tried, 60s ago.)"},
		},
		"overlapping, will fit": {
			said(2, "WaitingForPreemptedWorkloads", "Workload has overlapping preemption targets with another workload, but will fit after these preemptions complete"),
			answer{QueueOrder, AdviceWait, "", "Another Workload took its place when Kueue last tried, 60s ago; Kueue tries again."},
		},
		"preempted, and it could never start again": {
			said(9, "Pending", "Preempted to accommodate a workload (UID: x, JobUID: y) due to prioritization in the ClusterQueue"),
			answer{Preempted, AdviceChange, "job owner or platform admin", "Preempted 60s ago and not tried again since. Can never fit: needs 9 gpu in one flavor, and none of 2 has more than 8. Ask for less, or have the quota raised."},
		},
		"preempted, and fits": {said(2, "Pending", "Preempted to accommodate a workload (UID: x)"), answer{Preempted, AdviceWait, "", "Preempted 60s ago and not tried again since."}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := explained(snapshotOf(newScene().rows(tc.w)...), tc.w, now)
			if d := cmp.Diff(tc.want, answer{e.Class, e.Advice, e.Actor, e.Sentence}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if e.Reason != tc.w.Conditions[0].Reason || e.Message != tc.w.Conditions[0].Message || !e.MessageAt.Equal(now.Add(-time.Minute)) {
				t.Errorf("Kueue's own words are %q, %q, %v", e.Reason, e.Message, e.MessageAt)
			}
		})
	}
}

// returnedAs gives the Workload the eviction whose message it still carries.
func returnedAs(w *world.Workload) *world.Workload {
	w.Conditions = append(w.Conditions, cond("Evicted", "True", "NodeFailures", w.Conditions[0].Message, time.Hour)...)
	return w
}

// Where the numbers are not known Kueue's words stand, as old as they are, and
// nothing is certain.
func TestKueuesWordsWhereNumbersAreUnknown(t *testing.T) {
	tests := map[string]struct {
		w    *world.Workload
		want answer
	}{
		"quota":                       {said(5, "Pending", unused), answer{Quota, AdviceWait, "", "Kueue found no quota for it: " + unused + "."}},
		"more than there can ever be": {said(5, "Pending", tooLargeText), answer{Quota, AdviceChange, "job owner or platform admin", "Kueue said 60s ago that it can never fit: " + tooLargeText + "."}},
		"too much in one flavor, in use in another": {said(5, "Pending", tooLargeText+", insufficient unused quota for gpu in flavor b, 1 more needed"),
			answer{Quota, AdviceWait, "", "Kueue found no quota for it: " + tooLargeText + ", insufficient unused quota for gpu in flavor b, 1 more needed."}},
		"quota, by its reason": {said(5, "WaitingForQuota", "nothing free"), answer{Quota, AdviceWait, "", "Kueue found no quota for it: nothing free."}},
		"a flavor":             {said(5, "NoMatchingFlavor", "flavor a not found"), answer{Flavor, AdviceChange, "job owner", "Kueue finds no flavor for it: flavor a not found."}},
		"not covered": {
			said(5, "Pending", "couldn't assign flavors to pod set main: resource tpu unavailable in ClusterQueue"),
			answer{Quota, AdviceChange, "job owner or platform admin", "Its ClusterQueue has no quota for tpu: ask for another resource, or use another queue."},
		},
		"topology":         {said(5, "Pending", `topology "t" doesn't allow to fit any of 3 pod(s)`), answer{Topology, AdviceWait, "", `The nodes of its topology have no room for it now: topology "t" doesn't allow to fit any of 3 pod(s).`}},
		"topology, reason": {said(5, "TopologyPlacementFailed", "no room"), answer{Topology, AdviceWait, "", "The nodes of its topology have no room for it now: no room."}},
		"lost its place":   {said(5, "Pending", "Workload no longer fits after processing another workload"), answer{QueueOrder, AdviceWait, "", "Another Workload took its place when Kueue last tried, 60s ago; Kueue tries again."}},
		"preempted":        {said(5, "Pending", "Preempted to accommodate a workload (UID: x)"), answer{Preempted, AdviceWait, "", "Preempted 60s ago and not tried again since."}},
		"anything else":    {said(5, "Pending", "The workload has failed admission checks"), answer{Unclear, AdviceWait, "", "Kueue says: The workload has failed admission checks."}},
		"not even a word":  {said(5, "Pending", ""), answer{Unclear, AdviceWait, "", "Kueue says: Pending."}},
		"not looked at":    {waiting("", podSet("main", 1, "5")), answer{QueueOrder, AdviceWait, "", "Kueue has not looked at it yet: it is new, or others are before it in the queue."}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := explained(blindTo([]world.Kind{world.KindCohort}, world.Denied, newScene().rows(tc.w)...), tc.w, now)
			if d := cmp.Diff(tc.want, answer{e.Class, e.Advice, e.Actor, e.Sentence}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if e.NeverFits != nil || len(e.Shortfall) > 0 {
				t.Errorf("never fits %v, shortfall %v, without numbers", *e.NeverFits, e.Shortfall)
			}
		})
	}
}

// Reasons of one pod set hold commas, those of several are joined with
// semicolons, and suffixes follow.
func TestTurnedDown(t *testing.T) {
	tests := map[string]struct {
		message string
		want    refusals
	}{
		"commas inside": {
			"couldn't assign flavors to pod set main: flavor spot-1.2 doesn't match node affinity, insufficient quota for cpu in flavor big, previously considered podsets requests (0) + current podset request (8) > maximum capacity (4), untolerated taint {key v, w NoSchedule <nil>} in flavor on-demand",
			refusals{"": {}, "main": {"spot-1.2": "flavor spot-1.2 doesn't match node affinity", "on-demand": "untolerated taint {key v, w NoSchedule <nil>} in flavor on-demand"}},
		},
		"several pod sets": {
			"couldn't assign flavors to pod set driver: untolerated taint {spot  NoSchedule <nil>} in flavor a; couldn't assign flavors to pod set workers: flavor b does not provide resource gpu",
			refusals{"": {}, "driver": {"a": "untolerated taint {spot  NoSchedule <nil>} in flavor a"}, "workers": {"b": "flavor b does not provide resource"}},
		},
		"a suffix": {
			"couldn't assign flavors to pod set main: untolerated taint {spot  NoSchedule <nil>} in flavor a. Pending the preemption of 1 workload(s)",
			refusals{"": {}, "main": {"a": "untolerated taint {spot  NoSchedule <nil>} in flavor a"}},
		},
		"a dot in the name": {
			"couldn't assign flavors to pod set main: untolerated taint {spot  NoSchedule <nil>} in flavor h100.v2. Pending the preemption of 1 workload(s)",
			refusals{"": {}, "main": {"h100.v2": "untolerated taint {spot  NoSchedule <nil>} in flavor h100.v2"}},
		},
		"of no pod set": {"flavor a doesn't match node affinity", refusals{"": {"a": "flavor a doesn't match node affinity"}}},
		"nothing":       {"insufficient unused quota for gpu in flavor a, 3 more needed", refusals{"": {}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, turnedDown(tc.message), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Without the flavors Kueue's word is all there is: it names a class, and proves
// nothing.
func TestFlavorsUnreadable(t *testing.T) {
	const taint = "couldn't assign flavors to pod set main: untolerated taint {spot  NoSchedule <nil>} in flavor a, untolerated taint {spot  NoSchedule <nil>} in flavor b"
	tests := map[string]struct {
		message, gpu string
		never        bool
		want         string
	}{
		"Kueue turned all down": {taint, "1", false, "No flavor can serve its gpu: untolerated taint {spot  NoSchedule <nil>} in flavor a; untolerated taint {spot  NoSchedule <nil>} in flavor b. (Not certain: ResourceFlavors cannot be read: their taints and labels may keep it out.)"},
		"and it is too much":    {taint, "9", true, "Can never fit: needs 9 gpu. Ask for less, or have the quota raised. (Not certain: ResourceFlavors cannot be read: their taints and labels may keep it out.)"},
		"too much":              {unused, "9", true, "Can never fit: needs 9 gpu in one flavor, and none of 2 has more than 8. Ask for less, or have the quota raised. (Not certain: ResourceFlavors cannot be read: their taints and labels may keep it out.)"},
		"room":                  {unused, "1", false, "Needs 1 gpu of a and 2 are free now: waits for its turn. (Not certain: ResourceFlavors cannot be read: their taints and labels may keep it out.)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := waiting(tc.message, []kueue.PodSet{podSet("main", 1, tc.gpu)}...)
			e := explained(blindTo([]world.Kind{world.KindResourceFlavor}, world.Denied, newScene().rows(w)...), w, now)
			if (e.NeverFits != nil) != tc.never {
				t.Errorf("never fits %v", e.NeverFits)
			}
			if d := cmp.Diff(tc.want, e.Sentence); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
