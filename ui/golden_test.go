package ui

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/world"
)

var update = flag.Bool("update", false, "write the frames in testdata anew")

// holdPlan is a plan that hits somebody.
func holdPlan() actions.Plan {
	ref := world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: "team-a-cq"}, UID: "uid--team-a-cq"}
	hit := func(ns, name string, prio int32) actions.Affected {
		return actions.Affected{Ref: world.Ref{Kind: world.KindWorkload, Key: world.Key{Namespace: ns, Name: "job-" + name}}, Job: name, Priority: prio,
			Uses: []world.Use{{FlavorResource: gpu, Amount: 4}}}
	}
	p := actions.Plan{
		Action: actions.Hold, Context: "prod-eu", Server: "https://10.0.0.1:6443", User: "oncall@corp",
		Targets:          []actions.Target{{Ref: ref, Change: "stopPolicy None -> Hold"}},
		LosesReservation: []actions.Affected{hit("team-a", "train-9", 500)},
		StaysPending:     []actions.Affected{hit("team-a", "train-1", 500), hit("team-a", "train-2", 400), hit("team-a", "train-3", 300), hit("team-a", "train-4", 200)},
		RunsOn:           []actions.Affected{hit("team-a", "big-1", 100)},
		Notes: []string{"Its quota stays lendable while it is held: other queues of the cohort may borrow it.",
			"Its running Workloads cannot be preempted while it is held."},
		Unknown: []string{"Whether a provisioning request is under way (no right to read ProvisioningRequests)."},
		Confirm: actions.Confirm{Level: actions.ConfirmName, Expects: "team-a-cq"}, Reason: "bad quota",
	}
	return p
}

func editPlan() actions.Plan {
	p := holdPlan()
	p.Action, p.LosesReservation, p.StaysPending, p.RunsOn, p.Reason = actions.Edit, nil, nil, nil, ""
	p.Targets[0].Change = "nominalQuota of nvidia.com/gpu in a100 6 -> 4"
	p.Diff = []string{"--- live", "+++ dry-run", "@@ -20,5 +20,5 @@", "       resources:", "       - name: nvidia.com/gpu", "-        nominalQuota: 6", "+        nominalQuota: 4"}
	p.Warnings = []string{"unknown field \"spec.fooBar\""}
	p.Notes, p.Unknown = nil, nil
	p.Confirm = actions.Confirm{Level: actions.ConfirmYes, Expects: "y"}
	return p
}

// scripts lead to the screens whose frames are kept.
var scripts = map[string]func(*stage){
	"glance":         func(s *stage) { s.morning().press("1") },
	"glance-alert":   func(s *stage) { s.morning().press("1").onAlert("AdmissionCheck").press("i") },
	"glance-figures": func(s *stage) { s.morning().press("1", "f") },
	"glance-quiet":   func(s *stage) { s.quiet().press("1") },
	"glance-syncing": func(s *stage) { s.syncing().press("1") },
	"glance-denied": func(s *stage) {
		for _, w := range s.store.Snapshot().Workloads {
			s.store.Delete(world.KindWorkload, w.Key)
		}
		s.store.SetFreshness(world.KindWorkload, world.Freshness{Feed: world.Denied, Detail: "cannot list workloads.kueue.x-k8s.io"})
		s.refresh()
		s.press("1")
	},
	"glance-later": func(s *stage) { s.morning().press("1").hour() },
	"glance-old": func(s *stage) {
		s.press("1")
		s.held = true
		s.root.now = now.Add(40 * time.Second)
	},
	"cohorts":        func(*stage) {},
	"cohorts-cpu":    func(s *stage) { s.press("f") },
	"queues":         func(s *stage) { s.press("3") },
	"queue":          func(s *stage) { s.onTeamA().press("enter") },
	"queue-held":     func(s *stage) { s.press("3", "down", "enter") },
	"localqueue":     func(s *stage) { s.press(":").typeText("team-a/batch").press("enter") },
	"workloads":      func(s *stage) { s.press("4") },
	"workloads-find": func(s *stage) { s.press("4", "/").typeText("state:pending train-l").press("enter") },
	"workload":       func(s *stage) { s.press("4", "enter") },
	"yaml":           func(s *stage) { s.press("4", "enter", "y") },
	"workload-class": func(s *stage) { s.press("4", "enter", "P") },
	"deactivate":     func(s *stage) { s.press("4", "D").typeText("leaks memory") },
	"log":            func(s *stage) { s.press(":").typeText("log").press("enter") },
	"session": func(s *stage) {
		k := &fakeKeep{}
		s.root.opt.Sessions = k
		s.onTeamA().press("S").typeText("bad quota").press("enter")
		k.over(rollback.Hold, rollback.Done, "Kueue has looked at generation 3: Active=False (Stopped)")
		k.over(rollback.Export, rollback.Failed, "no space left on device")
		k.s.Step(rollback.Export).Lines = []string{"Export/holdfast-prod-eu-ClusterQueue-team-a-cq.tar.gz: notDone. no space left on device"}
		s.pass(time.Second)
	},
	"help":    func(s *stage) { s.press("?") },
	"palette": func(s *stage) { s.press(":").typeText("team-a") },
	"plan-hold": func(s *stage) {
		s.desk.plan = holdPlan()
		s.onTeamA().press("H").typeText("bad quota").press("enter")
		s.pass(time.Second)
	},
	"reason":       func(s *stage) { s.onTeamA().press("H").typeText("bad quota") },
	"reason-drain": func(s *stage) { s.onTeamA().press("D") },
	"plan-edit": func(s *stage) {
		s.desk.plan = editPlan()
		s.onTeamA().press("e")
		s.pass(time.Second)
	},
	"refusal": func(s *stage) {
		s.desk.planErr = &actions.Problem{Rejected: true, What: "ClusterQueue.kueue.x-k8s.io \"team-a-cq\" is invalid:\n* spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: \"-1\": must be greater than or equal to 0\n* spec.cohortName: Required value"}
		s.onTeamA().press("e")
	},
	"result": func(s *stage) {
		p := holdPlan()
		s.desk.plan = p
		s.desk.result = actions.Result{Action: actions.Hold, JournalID: "20261202T130322Z-1", Objects: []actions.ObjectResult{
			{Ref: p.Targets[0].Ref, Outcome: actions.Done, Detail: "Kueue's controller has not observed the new generation within 20 s; look at its log"}}}
		s.onTeamA().press("H", "enter")
		s.pass(time.Second)
		s.typeText("team-a-cq").press("enter")
	},
	"palette-apply": func(s *stage) { s.press(":").typeText("app") },
	"apply-file":    func(s *stage) { s.press("A").typeText("~/q.yaml") },
	"apply-missing": func(s *stage) {
		s.desk.readErr = &actions.Problem{What: "there is no file /home/kim/q.yaml", Do: "Look at how it is written; a path without / at its beginning begins in the folder that the console was started in."}
		s.press(":").typeText("apply q.yaml").press("enter")
	},
	"apply-owners": func(s *stage) {
		s.desk.fileErrs = []error{foreign()}
		s.press(":").typeText("apply q.yaml").press("enter")
	},
	"apply-take-over": func(s *stage) {
		s.desk.fileErrs = []error{foreign()}
		s.press(":").typeText("apply q.yaml").press("enter")
		s.pass(time.Second)
		s.press("T")
		s.pass(time.Second)
		s.typeText("take")
	},
	"plan-apply": func(s *stage) {
		s.desk.plan = taking()
		s.press(":").typeText("apply q.yaml").press("enter")
		s.pass(time.Second)
	},
	"disconnected": func(s *stage) {
		for _, k := range world.WatchedKinds() {
			s.store.SetFreshness(k, world.Freshness{Feed: world.Disconnected, Synced: true, Heard: now.Add(-42 * time.Second), Retry: now.Add(8 * time.Second), Detail: "connection refused"})
		}
		s.refresh()
	},
	"denied": func(s *stage) {
		s.store.SetFreshness(world.KindWorkload, world.Freshness{Feed: world.Denied, Detail: "cannot list workloads.kueue.x-k8s.io"})
		s.refresh()
	},
	"denied-workloads": func(s *stage) {
		s.store.SetFreshness(world.KindWorkload, world.Freshness{Feed: world.Denied, Detail: "cannot list workloads.kueue.x-k8s.io"})
		s.refresh()
		s.press("4")
	},
}

// onTeamA puts the cursor on team-a-cq.
func (s *stage) onTeamA() *stage {
	for range 20 {
		if strings.Contains(s.cursorLine(), "team-a-cq") {
			return s
		}
		s.press("down")
	}
	s.t.Fatalf("team-a-cq is not there:\n%s", s.frame())
	return s
}

// frameSizes are the widths and heights that every screen's frame is kept at: the least that
// the console draws, the usual terminal, a window, and a whole screen with its side pane.
var frameSizes = [][2]int{{40, 12}, {80, 24}, {120, 40}, {200, 60}}

func TestFrames(t *testing.T) {
	all := maps.Clone(scripts)
	maps.Copy(all, previews)
	maps.Copy(all, records)
	for name, script := range all {
		for _, size := range frameSizes {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				st, c := scene()
				s := newStage(t, st, c, size[0], size[1])
				s.root.opt.Log = func() []string { return []string{"W1202 14:01:02 the server said something"} }
				script(s)
				if err := checkFrame(s.root.View(), size[0], size[1]); err != nil {
					t.Error(err)
				}
				compareGolden(t, fmt.Sprintf("%s-%dx%d.txt", name, size[0], size[1]), s.frame())
			})
		}
	}
}

func compareGolden(t *testing.T, name, frame string) {
	t.Helper()
	var b strings.Builder
	for l := range strings.SplitSeq(frame, "\n") {
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-want +got; go test ./ui -update writes it anew):\n%s", path, diff)
	}
}
