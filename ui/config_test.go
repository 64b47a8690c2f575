package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// reserving is a Workload that holds quota and waits for the answer of a check.
func reserving(ns, name, cq, check string, gpus int64, age time.Duration) *world.Workload {
	w := runningJob(ns, name, "batch", cq, 100, gpus, age)
	w.Conditions, w.State, w.PriorityClass = w.Conditions[:1], world.Reserving, "silver"
	w.Checks = []world.CheckState{{Name: check, State: "Pending", Message: "asking", At: now.Add(-age)}}
	return w
}

// setUp is a cluster in which what queues and Workloads name is there, is missing, and
// is used by nobody: flavors, checks and priority classes.
func setUp() (*store.Store, *clocktesting.FakePassiveClock) {
	c := clocktesting.NewFakePassiveClock(now)
	s := store.New(c)
	s.SetContract(world.Contract{Context: "prod-eu", User: "oncall@corp", UserFrom: "server", Used: "v1beta2", KueueVersion: "v0.19.2", Controller: world.Ready})
	synced(s)
	for _, k := range world.SideKinds() {
		s.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true, Heard: now.Add(-2 * time.Second)})
	}
	s.Put(&world.Topology{Meta: meta("", "racks"), Levels: []string{"block", "rack", "kubernetes.io/hostname"}})
	a100 := &world.Flavor{
		Meta: meta("", gpu.Flavor), NodeLabels: map[string]string{"gpu": "a100", "zone": "eu-1a"}, Topology: "racks",
		NodeTaints:  []world.Taint{{Key: "gpu", Value: "a100", Effect: "NoSchedule"}, {Key: "spot", Effect: "NoSchedule"}},
		Tolerations: []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}},
	}
	a100.ManagedBy = "Argo CD"
	s.Put(a100)
	s.Put(&world.Flavor{Meta: meta("", cpu.Flavor)})
	s.Put(&world.Flavor{Meta: meta("", "h100"), NodeLabels: map[string]string{"gpu": "h100"}})
	s.Put(&world.Flavor{Meta: meta("", "gen2"), Topology: "pods-2"})

	s.Put(&world.Cohort{Meta: meta("", "ai"), Quotas: []world.Quota{{FlavorResource: gpu, Nominal: 2}, {FlavorResource: world.FlavorResource{Flavor: "mi300", Resource: "amd.com/gpu"}, Nominal: 4}}})
	a, b, d := clusterQueue("team-a-cq", "ai", 6), clusterQueue("team-b-cq", "ai", 8), clusterQueue("team-d-cq", "", 2)
	a.Checks = []world.CheckRule{{Name: "budget"}}
	b.Checks = []world.CheckRule{{Name: "budget", OnFlavors: []string{gpu.Flavor}}, {Name: "provision"}}
	d.Checks = []world.CheckRule{{Name: "capacity"}}
	d.Groups[0].Flavors = append(d.Groups[0].Flavors, "a100-80g")
	gen := clusterQueue("gen-cq", "", 0)
	gen.Groups = []world.ResourceGroup{{Resources: []string{gpu.Resource}, Flavors: []string{"gen2"}}}
	gen.Quotas = []world.Quota{{FlavorResource: world.FlavorResource{Flavor: "gen2", Resource: gpu.Resource}, Nominal: 1}}
	gen.Conditions = nil
	for _, q := range []*world.ClusterQueue{a, b, d, gen} {
		s.Put(q)
	}
	for _, team := range []string{"a", "b", "d"} {
		s.Put(localQueue("team-"+team, "batch", "team-"+team+"-cq"))
	}

	check := func(name, status, message string) {
		k := &world.Check{Meta: meta("", name), Controller: "example.com/" + name, Conditions: active()}
		k.Conditions[0].Status, k.Conditions[0].Message = status, message
		if status == "False" {
			k.Conditions[0].Reason = "Lost"
		}
		s.Put(k)
	}
	check("budget", "True", "The budget service answers")
	check("provision", "False", "the controller has not renewed its lease")
	check("old-quota", "True", "ok")

	s.Put(&world.PriorityClass{Meta: meta("", "gold"), Value: 500})
	bronze := &world.PriorityClass{Meta: meta("", "bronze"), Value: -1}
	bronze.ManagedBy = "Flux"
	s.Put(bronze)
	s.Put(&world.PodPriorityClass{Meta: meta("", "batch-high"), Value: 1000})
	s.Put(&world.PodPriorityClass{Meta: meta("", "system-node-critical"), Value: 2000001000})

	s.Put(pendingJob("team-a", "pend-1", "batch", 500, 20*time.Minute))
	s.Put(pendingJob("team-a", "pend-2", "batch", 300, 19*time.Minute)) // gold says 500
	s.Put(runningJob("team-a", "run-1", "batch", "team-a-cq", 500, 4, 2*time.Hour))
	pods := runningJob("team-b", "run-2", "batch", "team-b-cq", 1000, 3, time.Hour)
	pods.PriorityClass, pods.PriorityKind = "batch-high", world.KindPriorityClass
	s.Put(pods)
	s.Put(reserving("team-a", "wait-1", "team-a-cq", "budget", 2, 30*time.Minute))
	s.Put(reserving("team-b", "wait-2", "team-b-cq", "budget", 1, 10*time.Minute))
	retry := pendingJob("team-b", "retry-1", "batch", 500, time.Hour)
	retry.Checks = []world.CheckState{{Name: "budget", State: "Pending", Message: "Reset to Pending after eviction. Previously: Retry", At: now.Add(-5 * time.Minute)}}
	s.Put(retry)
	refused := pendingJob("team-a", "refused-1", "batch", 500, 3*time.Hour)
	refused.Active, refused.State = false, world.Deactivated
	refused.Checks = []world.CheckState{{Name: "budget", State: "Pending", Message: "Reset to Pending after eviction. Previously: Rejected", At: now.Add(-2 * time.Hour)}}
	s.Put(refused)
	s.Put(pendingJob("team-d", "stuck-1", "batch", 500, 50*time.Minute))
	s.Put(pendingJob("team-d", "stuck-2", "batch", 500, 49*time.Minute))
	done := runningJob("team-b", "done-1", "batch", "team-b-cq", 7, 2, 20*time.Hour) // over: its priority matters no more
	done.Conditions = append(done.Conditions, world.Condition{Type: world.CondFinished, Status: "True", At: now.Add(-time.Hour)})
	done.State, done.Usage = world.Finished, nil
	s.Put(done)
	written(s)
	return s, c
}

// onSetUp begins with the cluster of setUp; the server has granted all but bronze.
func onSetUp(t failer, w, h int) *stage {
	st, c := setUp()
	s := newStage(t, st, c, w, h)
	s.desk.granted = func(r world.Ref) bool { return r.Name != "bronze" }
	s.desk.may = func(r world.Ref, _ actions.Action) (bool, string) {
		if r.Name == "default" {
			return false, "your account may not patch ResourceFlavor default; ask a platform admin"
		}
		return true, ""
	}
	s.desk.detail.Nodes = []world.Node{{Meta: meta("", "n1"), Ready: true}, {Meta: meta("", "n2")}}
	return s
}

// configScripts lead to the frames of what a cluster is set up with.
var configScripts = map[string]func(*stage){
	"flavors":        func(s *stage) { s.press("7") },
	"flavor":         func(s *stage) { s.press("7", "/").typeText("name:a100").press("enter", "G", "enter") },
	"flavor-missing": func(s *stage) { s.press("7", "enter") },
	"flavors-denied": func(s *stage) {
		s.store.SetFreshness(world.KindResourceFlavor, world.Freshness{Feed: world.Denied, Detail: "cannot list resourceflavors.kueue.x-k8s.io"})
		for _, f := range []string{"a100", "default", "h100", "gen2"} {
			s.store.Delete(world.KindResourceFlavor, world.Key{Name: f})
		}
		s.refresh()
		s.press("7")
	},
	"checks":       func(s *stage) { s.press("8") },
	"check":        func(s *stage) { s.press("8", "/").typeText("budget").press("enter", "enter") },
	"check-silent": func(s *stage) { s.press("8", "down", "enter") },
	"priorities":   func(s *stage) { s.press("9") },
	"priority":     func(s *stage) { s.press("9", "/").typeText("gold").press("enter", "enter") },
	"priority-pods": func(s *stage) {
		s.press("9", "/").typeText("kind:priorityclass").press("enter", "enter")
	},
}

func TestConfigFrames(t *testing.T) {
	for name, script := range configScripts {
		for _, size := range frameSizes {
			s := onSetUp(t, size[0], size[1])
			script(s)
			if err := checkFrame(s.root.View(), size[0], size[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			compareGolden(t, fmt.Sprintf("config-%s-%dx%d.txt", name, size[0], size[1]), s.frame())
		}
		s := onSetUp(t, 100, 30)
		th, err := theme.New(theme.Dark, true, true)
		if err != nil {
			t.Fatal(err)
		}
		s.root.theme = th
		script(s)
		if i := strings.IndexFunc(s.frame(), func(r rune) bool { return r > 0x7e }); i >= 0 {
			t.Errorf("%s is not all ASCII from %q", name, s.frame()[i:])
		}
	}
}

// The fields of the filters, each with what it finds and what it does not.
func TestConfigFilters(t *testing.T) {
	for _, tc := range []struct{ tab, text, yes, no string }{
		{"7", "state:missing", "a100-80g", "h100"},
		{"7", "queue:team-d", "a100-80g", "gen2"},
		{"7", "resource:amd", "mi300", "h100"},
		{"7", "label:zone=eu", "a100", "h100"},
		{"7", "taint:spot", "a100", "gen2"},
		{"8", "state:not", "provision", "budget"},
		{"8", "queue:team-a", "budget", "capacity"},
		{"8", "controller:example.com/old", "old-quota", "budget"},
		{"8", "flavor:a100", "budget", "old-quota"},
		{"9", "kind:kub", "batch-high", "gold"},
		{"9", "value:-1", "bronze", "gold"},
		{"9", "queue:team-d", "gold", "silver"},
		{"9", "state:unused", "bronze", "gold"},
	} {
		s := onSetUp(t, 120, 40)
		s.press(tc.tab, "/").typeText(tc.text).press("enter").sees(tc.yes).seesNot(" " + tc.no + " ")
	}
}

// e opens the editor on what can be edited, and says of the rest why not.
func TestConfigEdit(t *testing.T) {
	for _, tc := range []struct{ tab, name, why string }{
		{"7", "h100", ""},
		{"7", "name:a100-80g", "edit: there is no object ResourceFlavor a100-80g"},
		{"7", "default", "edit: your account may not patch ResourceFlavor default"},
		{"8", "budget", "edit: an AdmissionCheck is not edited here"},
		{"9", "bronze", ""},
		{"9", "batch-high", "edit: a PriorityClass is Kubernetes' own"},
		{"9", "silver", "edit: there is no object WorkloadPriorityClass silver"},
	} {
		for _, page := range []bool{false, true} {
			s := onSetUp(t, 120, 40)
			s.press(tc.tab, "/").typeText(tc.name).press("enter")
			if page {
				s.press("enter")
			}
			s.press("e")
			if tc.why == "" {
				if s.desk.opened != 1 || s.desk.openedRef.Name != tc.name || s.desk.openedRef.UID == "" {
					t.Errorf("%s on a page %v: %d edits, of %v", tc.name, page, s.desk.opened, s.desk.openedRef)
				}
				continue
			}
			if s.sees(tc.why); s.desk.opened != 0 {
				t.Errorf("%s was opened for an edit", tc.name)
			}
		}
	}
	s := onSetUp(t, 120, 40)
	s.root.opt.ReadOnly = true
	s.press("9", "G", "e").sees("edit: started with --read-only")
}

// What is said of the right to edit is what the server said, or that it said nothing.
func TestRightToEdit(t *testing.T) {
	for name, want := range map[string]string{
		"gold":       "you may edit it: e",
		"bronze":     "whether you may edit it is not known",
		"batch-high": "you may not edit it here: a PriorityClass is Kubernetes' own",
	} {
		onSetUp(t, 120, 40).press("9", "/").typeText(name).press("enter", "enter").sees(want)
	}
}

// A page follows what happens to its object: changes, its end, and a later object of its
// name, which is another one.
func TestCardFollows(t *testing.T) {
	s := onSetUp(t, 120, 40)
	s.press("9", "/").typeText("gold").press("enter", "enter").sees("5 pending, 1 hold quota")
	s.store.Put(pendingJob("team-a", "pend-3", "batch", 500, time.Minute))
	s.refresh()
	s.sees("6 pending, 1 hold quota")
	s.store.Delete(world.KindWorkloadPriorityClass, world.Key{Name: "gold"})
	s.refresh()
	s.sees("WorkloadPriorityClass gold: does not exist any more", "What follows is how it was last seen")
	later := &world.PriorityClass{Meta: meta("", "gold"), Value: 1}
	later.UID = "another"
	s.store.Put(later)
	s.refresh()
	s.sees("does not exist any more").press("e").sees("edit: WorkloadPriorityClass gold: does not exist any more")
	s.press("esc").cursorOn("does not exist any more")
}

// A page that is reached by a name alone reads its row first; links lead on from it.
func TestCardByName(t *testing.T) {
	s := onSetUp(t, 120, 40)
	s.press(":").typeText("team-d-cq").press("enter").sees("CHECKS    capacity")
	s.press("down", "enter").sees("› capacity", "AdmissionCheck that does not exist", "does not exist: nobody answers, and ClusterQueue team-d-cq")
	s.press("down", "enter").sees("capacity › team-d-cq")
	s.press(":").typeText("h100").press("enter").sees("Flavors › h100", "no ClusterQueue and no Cohort has quota of it", "2 nodes with these labels, 1 ready")
}

// A list that is not at hand is told; no number is made up for it.
func TestConfigWithoutWorkloads(t *testing.T) {
	s := onSetUp(t, 120, 40)
	s.store.SetFreshness(world.KindWorkload, world.Freshness{Feed: world.Denied})
	s.refresh()
	s.press("7").sees("nvidia.com/gpu ? of 18", "no access")
	s.press("8").sees("no access").press("9").sees("no access")
	// Of one namespace alone a number of all Workloads is not known either.
	s = onSetUp(t, 200, 40)
	c := s.store.Snapshot().Contract
	c.Namespace = "team-a"
	s.store.SetContract(c)
	s.refresh()
	s.press("7", "/").typeText("name:a100").press("enter", "G", "enter").sees("? (of namespace team-a, all that is read: 4) hold quota of it")
	s.press("8", "/").typeText("budget").press("enter", "enter").sees("Only Workloads of namespace team-a are read")
	s.press("9", "/").typeText("gold").press("enter", "enter").sees("of namespace team-a alone: others are not read")
}

// s goes through the columns that can be sorted by, and the rows follow; I turns them.
// turned is the first row then, where the first row of the order is that of any order.
func TestConfigOrders(t *testing.T) {
	for tab, orders := range map[string][]struct{ head, first, turned string }{
		"7": {
			{"FLAVOR↑", "a100 ", "mi300"}, {"STATE↑", "missing", "h100"}, {"QUEUES↓", "a100 ", ""}, {"WORKLOADS↓", "a100 ", ""},
			{"TO TOLERATE↑", "a100-80g", "a100 "}, {"NODE LABELS↑", "a100-80g", "h100"}, {"TOPOLOGY↑", "a100-80g", "a100 "},
		},
		"8": {
			{"CHECK↑", "budget", "provision"}, {"STATE↑", "capacity", "old-quota"}, {"CONTROLLER↑", "capacity", "provision"}, {"QUEUES↓", "budget", ""},
			{"WAITING↓", "budget", ""}, {"OLDEST↓", "budget", ""}, {"RETRY↓", "budget", ""}, {"REJECTED↓", "budget", ""},
		},
		"9": {
			{"CLASS↑", "batch-high", "silver"}, {"OF↑", "Kubernetes", "Kueue"}, {"VALUE↓", "batch-high", ""}, {"STATE↑", "silver", "bronze"},
			{"PENDING↓", "gold", ""}, {"RESERVING↓", "silver", "bronze"}, {"QUEUES↓", "gold", ""},
		},
	} {
		s := onSetUp(t, 150, 40)
		s.press(tab)
		for _, o := range orders {
			s.press("s", "g").sees(o.head).cursorOn(o.first)
			if o.turned != "" {
				s.press("I", "g").cursorOn(o.turned).press("I", "g").cursorOn(o.first)
			}
		}
	}
}

// A check holds up who has reserved quota, or stands still for it and tries again; who runs
// already, whom it agreed to before, is not held up by it.
func TestWhatACheckDoes(t *testing.T) {
	at := func(state world.State, said string, message string) checkAnswer {
		w := &world.Workload{State: state, Active: true}
		return answerOf(w, &world.CheckState{Name: "budget", State: said, Message: message})
	}
	for name, tc := range map[string]struct{ got, want checkAnswer }{
		"reserving":                {at(world.Reserving, "Pending", ""), checkWaits},
		"reserving, to retry":      {at(world.Reserving, "Retry", ""), checkWaits},
		"runs":                     {at(world.Admitted, "Pending", ""), checkPasses},
		"is evicted for it":        {at(world.Evicting, "Retry", ""), checkRetries},
		"evicted, in words only":   {at(world.Evicting, "Pending", "Reset to Pending after eviction. Previously: Retry"), checkRetries},
		"waits again":              {at(world.Pending, "Pending", "Reset to Pending after eviction. Previously: Retry"), checkRetries},
		"waits for the first time": {at(world.Pending, "Pending", ""), checkPasses},
		"agreed":                   {at(world.Reserving, "Ready", ""), checkPasses},
		"over":                     {at(world.Finished, "Rejected", ""), checkPasses},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %v, want %v", name, tc.got, tc.want)
		}
	}
}
