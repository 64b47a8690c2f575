package ui

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/world"
)

// fakeEvents answers as told and remembers what was asked for.
type fakeEvents struct {
	list   actions.EventList
	err    error
	scopes []actions.EventScope
}

func (f *fakeEvents) Events(_ context.Context, s actions.EventScope) (actions.EventList, error) {
	f.scopes = append(f.scopes, s)
	return f.list, f.err
}

// fakeJournal is a journal in memory.
type fakeJournal struct {
	entries []actions.JournalEntry
	bad     []string
	err     error
	reads   int
}

func (f *fakeJournal) Read() ([]actions.JournalEntry, []string, error) {
	f.reads++
	return f.entries, f.bad, f.err
}

// adviser is an error that says what to do next.
type adviser struct{ error }

func (adviser) Advice() string {
	return "Ask for the right to list events; holdfast rbac prints all that are needed."
}

// preemptedBy makes w the victim of a Workload so long ago.
func preemptedBy(w *world.Workload, by types.UID, reason, queue string, ago time.Duration) *world.Workload {
	w.Preempted = &world.Preemption{PreemptorUID: by, Reason: reason, PreemptorPath: "/ai-shared/" + queue, At: now.Add(-ago)}
	for i := range w.Conditions {
		if w.State == world.Pending && w.Conditions[i].Type == world.CondQuotaReserved {
			w.Conditions[i].At = now.Add(-ago)
		}
	}
	return w
}

// grove adds preemptions to the scene: two Workloads that preempt each other again and
// again, one who was preempted and had preempted others, preemptors that are gone, and
// one preemption that is over.
func grove(s *stage) *stage {
	urgent, llm := types.UID("uid-team-b-job-urgent-3-x1y2z"), types.UID("uid-team-a-job-train-llm-7f2-x1y2z")
	flop := runningJob("team-b", "flop", "batch", "team-b-cq", 300, 1, 2*time.Minute)
	flip := preemptedBy(pendingJob("team-a", "flip", "batch", 300, 3*time.Hour), flop.UID, "InCohortReclamation", "team-b-cq", 2*time.Minute)
	preemptedBy(flop, flip.UID, "InCohortReclamation", "team-a-cq", 9*time.Minute)
	flop.Preempted.History = true
	flip.Evictions = []world.Eviction{{Reason: "Preempted", Count: 4}, {Reason: "PodsReadyTimeout", Count: 9}}
	flop.Evictions = []world.Eviction{{Reason: "Preempted", Count: 3}}
	ran := int32(7800)
	low := preemptedBy(pendingJob("team-c", "sweep-9", "batch", 100, 5*time.Hour), urgent, "InCohortReclaimWhileBorrowing", "team-b-cq", 37*time.Minute)
	low.PastExecutionSeconds, low.RequeueAt, low.RequeueCount = &ran, now.Add(7*time.Minute), 2
	low.Annotations = map[string]string{"example.com/checkpoint": "step-1200"}
	deep := preemptedBy(runningJob("team-a", "tiny-2", "batch", "team-a-cq", 100, 1, 10*time.Minute), llm, "InClusterQueue", "team-a-cq", 50*time.Minute)
	lost := preemptedBy(pendingJob("team-a", "night-2", "night", 50, 8*time.Hour), "0b6e2f7c-gone", "InCohortFairSharing", "team-b-cq", 3*time.Hour)
	odd := preemptedBy(pendingJob("team-b", "odd-1", "batch", 0, 9*time.Hour), "", "InClusterQueue", "team-b-cq", 4*time.Hour)
	over := preemptedBy(runningJob("team-c", "eval-9", "batch", "team-c-cq", 10, 1, time.Hour), urgent, "InCohortReclamation", "team-b-cq", 2*time.Hour)
	over.Preempted.History = true
	for _, w := range []*world.Workload{flop, flip, low, deep, lost, odd, over} {
		s.store.Put(w)
	}
	s.root.opt.Checkpoint = "example.com/checkpoint"
	s.refresh()
	return s
}

// someEvents are events of the scene's objects.
func someEvents() actions.EventList {
	event := func(kind world.Kind, key world.Key, uid types.UID, typ, reason, message string, ago time.Duration, n int32) world.Event {
		return world.Event{Key: world.Key{Namespace: key.Namespace, Name: key.Name + "." + reason}, UID: types.UID(reason + key.Name), Kind: kind, Object: key, ObjectUID: uid,
			Type: typ, Reason: reason, Message: message, At: now.Add(-ago), Count: n}
	}
	llm := world.Key{Namespace: "team-a", Name: "job-train-llm-7f2-x1y2z"}
	gone := world.Key{Namespace: "team-b", Name: "job-flash-1-abcde"}
	return actions.EventList{
		ReadAt: now, Reach: "at most 5,000 of each kind; the server keeps them for an hour unless told otherwise",
		Events: []world.Event{
			event(world.KindWorkload, gone, "0b6e2f7c-gone", "Normal", "Admitted", "Admitted by ClusterQueue team-b-cq, wait time since reservation was 0s", 55*time.Minute, 0),
			event(world.KindWorkload, llm, "uid-team-a-job-train-llm-7f2-x1y2z", "Warning", "Pending", "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 2 more needed", time.Minute, 12),
			event(world.KindWorkload, llm, "uid-team-a-job-train-llm-7f2-x1y2z", "Normal", "Preempted", "Preempted to accommodate a workload (UID: uid-team-b-job-urgent-3-x1y2z, JobUID: job-urgent-3) due to reclamation within the cohort", 38*time.Minute, 1),
			event(world.KindClusterQueue, world.Key{Name: "team-d-cq"}, "uid--team-d-cq", "Warning", "Inactive", "references missing ResourceFlavor(s): a100-80g", 20*time.Minute, 3),
		},
	}
}

func entryPair(id string, at time.Time, a actions.Action, reason string, outcome actions.Outcome, detail string, o actions.JournalEvent) []actions.JournalEntry {
	e := actions.JournalEntry{ID: id, Time: at.UTC(), Entry: "intent", Action: a, Context: "prod-eu", Server: "https://10.0.0.1:6443", User: "oncall@corp", Reason: reason, Objects: []actions.JournalEvent{o}}
	r := e
	r.Entry, r.Time = "result", e.Time.Add(3*time.Second)
	r.Objects = []actions.JournalEvent{{Object: o.Object, UID: o.UID, Outcome: outcome, Detail: detail, Verified: outcome == actions.Done}}
	return []actions.JournalEntry{e, r}
}

// someDeeds is a journal: a hold, an edit that was sent three times, one that was
// refused, and one that was interrupted.
func someDeeds() *fakeJournal {
	q := actions.JournalEvent{Object: "ClusterQueue/team-b-cq", UID: "uid--team-b-cq", Generation: 3, ResourceVersion: "881"}
	hold, edit, bad, cut := q, q, q, q
	hold.Change, hold.Patch, hold.Inverse = "stopPolicy None -> Hold", []byte(`{"spec":{"stopPolicy":"Hold"}}`), []byte(`{"spec":{"stopPolicy":null}}`)
	edit.Change = "nominalQuota of nvidia.com/gpu in a100 20 -> 4"
	edit.Patch = []byte(`{"spec":{"preemption":{"reclaimWithinCohort":"LowerPriority"},"resourceGroups":[{"flavors":[{"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"4"}]}]}]}}`)
	edit.Inverse = []byte(`{"spec":{"preemption":{"reclaimWithinCohort":"Any"},"resourceGroups":[{"flavors":[{"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"20"}]}]}]}}`)
	bad.Change, bad.Object = "borrowingLimit of nvidia.com/gpu in a100 4 -> -1", "ClusterQueue/team-a-cq"
	cut.Change = "stopPolicy Hold -> None"
	f := &fakeJournal{bad: []string{"line 7 of /home/kim/.local/state/holdfast/journal.jsonl cannot be read: unexpected end of JSON input"}}
	day := now.Add(-26 * time.Hour)
	f.entries = append(f.entries, entryPair("20261201T110322Z-aa", day, actions.Edit, "", actions.Refused, "spec.resourceGroups[0]: Invalid value: \"-1\": must be greater than or equal to 0", bad)...)
	f.entries = append(f.entries, entryPair("20261202T122022Z-bb", now.Add(-43*time.Minute), actions.Hold, "bad quota", actions.Done, "Kueue has looked at generation 3: Active=False (Stopped)", hold)...)
	f.entries = append(f.entries, entryPair("20261202T124022Z-cc", now.Add(-23*time.Minute), actions.Edit, "rollback", actions.Done, "taken up", edit)...)
	f.entries[5].Objects[0].Tries = 3
	f.entries = append(f.entries, entryPair("20261202T130022Z-dd", now.Add(-3*time.Minute), actions.Resume, "", actions.Done, "", cut)[0])
	return f
}

// told is how a manager is configured that was read.
func someSettings(context.Context) manager.Settings {
	s, err := manager.Parse([]byte("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}\nwaitForPodsReady: {timeout: 5m}\nfeatureGates: {PartialAdmission: false, TopologyAwareScheduling: true}\n"),
		"ConfigMap kueue-system/kueue-manager-config")
	if err != nil {
		panic(err)
	}
	return s
}

// sound is the contract of a cluster of which everything is known.
func sound() world.Contract {
	return world.Contract{
		Context: "prod-eu", Server: "https://10.0.0.1:6443", User: "oncall@corp", UserFrom: "server", Asked: true, Probed: true, ServerVersion: "v1.36.3",
		Served: []string{"v1beta2", "v1beta1"}, Used: "v1beta2", Stored: "v1beta2", KueueVersion: "v0.19.2", KueueVersionSource: world.VersionFromImage,
		Controller: world.Ready, ControllerDetail: "the Deployment is available; the lease c1f6bfd2.kueue.x-k8s.io was renewed less than 30s ago",
		ValidatingWebhookDetail: "not tried, since only a dry-run of a write could tell; endpoints of Service kueue-webhook-service are ready",
		WebhookCAValidUntil:     now.Add(61*24*time.Hour + time.Hour),
		ConversionWebhook:       world.Ready, ConversionWebhookDetail: "clusterqueues team-a-cq was read as v1beta2 and as v1beta1",
		Visibility: world.Ready, VisibilityDetail: "Kueue told the order of team-a-cq",
	}
}

// ailing is the contract of one on which much is wrong or refused.
func ailing() world.Contract {
	c := sound()
	c.UserFrom, c.Impersonates, c.Stored, c.KueueVersion, c.KueueVersionSource = "kubeconfig", "admin", "", "", ""
	c.KueueVersionDetail = `deployments.apps "kueue-controller-manager" is forbidden`
	c.Controller, c.ControllerDetail = world.NotReady, "the Deployment is not available: Deployment does not have minimum availability; nobody holds the lease c1f6bfd2.kueue.x-k8s.io: no manager leads"
	c.ValidatingWebhook, c.ValidatingWebhookDetail = world.NotReady, "Service kueue-webhook-service has no ready endpoint"
	c.WebhookCAValidUntil = now.Add(-3 * time.Hour)
	c.Visibility, c.VisibilityDetail = world.NotReady, "the server is currently unable to handle the request"
	c.Unreadable = []world.Unreadable{
		{Resource: "customresourcedefinitions.apiextensions.k8s.io", Verb: "get"}, {Resource: "deployments.apps", Verb: "get", Namespace: "kueue-system"},
		{Resource: "namespaces", Verb: "list"}, {Resource: "namespaces", Verb: "watch"},
	}
	return c
}

// ail makes the feeds those of an ailing cluster.
func (s *stage) ail() *stage {
	s.store.SetContract(ailing())
	for k, f := range map[world.Kind]world.Freshness{
		world.KindNamespace: {Feed: world.Denied, Detail: "namespaces is forbidden: User \"oncall\" cannot list resource \"namespaces\""},
		world.KindTopology:  {Feed: world.Absent, Detail: "the cluster does not serve this resource: not found"},
		world.KindWorkload:  {Feed: world.Disconnected, Synced: true, Count: 12400, Heard: now.Add(-42 * time.Second), Retry: now.Add(8 * time.Second), Detail: "connection refused"},
		world.KindCohort:    {Feed: world.Syncing, Count: 3, Heard: now},
	} {
		s.store.SetFreshness(k, f)
	}
	s.refresh()
	return s
}

// records lead to the screens of what was and is, for whose frames scene has too
// little.
var records = map[string]func(*stage){
	"chains":       func(s *stage) { grove(s).press("5") },
	"chains-below": func(s *stage) { grove(s).press("5", "down", "down", "down", "down") },
	"chains-over":  func(s *stage) { grove(s).press("5", "o") },
	"chains-none": func(s *stage) {
		s.store.Delete(world.KindWorkload, world.Key{Namespace: "team-a", Name: "job-train-llm-7f2-x1y2z"})
		s.refresh()
		s.press("5")
	},
	"chains-filter": func(s *stage) { grove(s).press("5", "/").typeText("state:running").press("enter") },
	"chains-events": func(s *stage) { s.root.opt.Events = &fakeEvents{list: someEvents()}; grove(s).press("5", "r") },
	"events": func(s *stage) {
		s.root.opt.Events = &fakeEvents{list: someEvents()}
		s.to("events")
		s.pass(12 * time.Second)
	},
	"events-refused": func(s *stage) {
		s.root.opt.Events = &fakeEvents{err: adviser{errors.New(`cannot list events in all namespaces: events is forbidden: User "oncall" cannot list resource "events" in API group "" at the cluster scope`)}}
		s.to("events")
	},
	"journal":      func(s *stage) { s.root.opt.Journal = someDeeds(); s.to("journal") },
	"journal-deed": func(s *stage) { s.root.opt.Journal = someDeeds(); s.to("journal").press("down", "enter") },
	"contract": func(s *stage) {
		s.root.opt.Settings = someSettings
		for _, k := range world.SideKinds() {
			s.store.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true, Count: 2})
		}
		s.store.SetContract(sound())
		s.refresh()
		s.press("0")
	},
	"contract-ailing": func(s *stage) { s.ail().press("0") },
	"contract-below":  func(s *stage) { s.ail().press("0", "end") },
}

// to goes somewhere by the palette.
func (s *stage) to(name string) *stage { return s.press(":").typeText(name).press("enter") }
