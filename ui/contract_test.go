package ui

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/world"
)

// allOf is the contract's page without its width: all of it, each line trimmed.
func allOf(s *stage) string {
	e := s.root.env()
	e.W = 400
	var out []string
	for _, l := range s.root.top().(contract).doc(e) {
		out = append(out, strings.TrimSpace(ansi.Strip(l.Text)))
	}
	return strings.Join(out, "\n")
}

func TestCertificate(t *testing.T) {
	for name, tc := range map[string]struct {
		until time.Time
		why   string
		want  string
		means bool
	}{
		"far":     {now.Add(61*24*time.Hour + time.Hour), "", "valid: 61 days left, until 2027-02-01 15:03", false},
		"a month": {now.Add(30 * 24 * time.Hour), "", "valid: 30 days left, until 2027-01-01 14:03", false},
		"soon":    {now.Add(30*24*time.Hour - time.Second), "", "RUNS OUT SOON: 29 days left, until 2027-01-01 14:03", true},
		"today":   {now.Add(time.Hour), "", "RUNS OUT SOON: 0 days left, until 2026-12-02 15:03", true},
		"now":     {now, "", "RAN OUT: 0s ago, at 2026-12-02 14:03", true},
		"over":    {now.Add(-3 * time.Hour), "", "RAN OUT: 3h ago, at 2026-12-02 11:03", true},
		"unknown": {time.Time{}, "may not be read", "unknown: may not be read", false},
		"unasked": {time.Time{}, "", "unknown: the server was not asked yet, or has not answered", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 120, 40)
			s.store.SetContract(world.Contract{WebhookCAValidUntil: tc.until, WebhookCADetail: tc.why})
			s.refresh()
			x := contractCertificate(s.root.env())
			if got := x.word + ": " + x.detail; got != tc.want || (x.means != "") != tc.means {
				t.Errorf("%q, means %q; want %q", got, x.means, tc.want)
			}
		})
	}
}

// Every part that is not ready says what follows; every one that is not known says why.
func TestPartsSayWhatFollows(t *testing.T) {
	for _, r := range []world.Readiness{world.Unknown, world.NotReady, world.Ready} {
		s := begin(t, 120, 40)
		s.store.SetContract(world.Contract{Controller: r, ValidatingWebhook: r, ConversionWebhook: r, Visibility: r})
		s.refresh()
		for _, x := range contractParts(s.root.env())[:4] {
			if x.state != r || (x.detail == "") != (r != world.Unknown) || r == world.NotReady && x.means == "" || r == world.Ready && x.means != "" {
				t.Errorf("%+v", x)
			}
		}
	}
}

func TestWhyAPartIsNotKnown(t *testing.T) {
	for name, tc := range map[string]struct {
		contract world.Contract
		file     string
		want     string
	}{
		"not asked": {world.Contract{}, "", "the server was not asked yet, or has not answered"},
		"not tried": {world.Contract{Asked: true}, "", "it was not tried yet"},
		"a file":    {world.Contract{Asked: true}, "w.json", "a file does not tell"},
		"tried":     {world.Contract{Asked: true, Probed: true}, "", "it was not asked for"},
	} {
		s := begin(t, 120, 40)
		s.root.opt.File = tc.file
		s.store.SetContract(tc.contract)
		s.refresh()
		if got := contractParts(s.root.env())[0].detail; got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestFeedsOfTheContract(t *testing.T) {
	s := begin(t, 120, 40).ail()
	e := s.root.env()
	got := map[world.Kind]string{}
	for _, k := range feedKinds() {
		var cells []string
		for _, c := range feedCells(e, k, e.Snap.Fresh(k)) {
			cells = append(cells, c.Text)
		}
		got[k] = strings.Join(append(cells, feedDetail(e, k, e.Snap.Fresh(k))), "|")
	}
	want := map[world.Kind]string{
		world.KindWorkload:              "Workload|disconnected|12,400|42s|connection refused; next try in 8s",
		world.KindClusterQueue:          "ClusterQueue|live|10|2s|",
		world.KindLocalQueue:            "LocalQueue|live|10|2s|",
		world.KindCohort:                "Cohort|syncing|3+|0s|",
		world.KindResourceFlavor:        "ResourceFlavor|live|10|2s|",
		world.KindAdmissionCheck:        "AdmissionCheck|live|10|2s|",
		world.KindWorkloadPriorityClass: "WorkloadPriorityClass|live|10|2s|",
		world.KindNamespace:             `Namespace|denied|?|never|may not list, watch; namespaces is forbidden: User "oncall" cannot list resource "namespaces"`,
		world.KindLimitRange:            "LimitRange|syncing|?|never|",
		world.KindRuntimeClass:          "RuntimeClass|syncing|?|never|",
		world.KindPriorityClass:         "PriorityClass|syncing|?|never|",
		world.KindTopology:              "Topology|absent|?|never|the cluster does not serve this resource: not found",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("feeds (-want +got):\n%s", d)
	}
	s.press("0").sees("4 not ready, 7 kinds not live")
	text := allOf(s)
	for _, f := range []world.Feed{world.Syncing, world.Absent, world.Denied, world.Disconnected} {
		if !strings.Contains(text, f.String()+": "+feedMeans(f)) {
			t.Errorf("nothing says what %s means:\n%s", f, text)
		}
	}
	for _, no := range []world.Feed{world.Delayed, world.Failing} {
		if strings.Contains(text, no.String()+": ") {
			t.Errorf("it explains %s, which nothing is", no)
		}
	}
}

// A resource is found by its kind as the API server spells it.
func TestResourceOf(t *testing.T) {
	for kind, want := range map[world.Kind]string{
		world.KindClusterQueue: "clusterqueues", world.KindTopology: "topologies", world.KindWorkloadPriorityClass: "workloadpriorityclasses", world.KindAdmissionCheck: "admissionchecks",
	} {
		if got := resourceOf(kind); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}

func TestConnectionOfTheContract(t *testing.T) {
	for name, tc := range map[string]struct {
		contract world.Contract
		file     string
		readOnly bool
		want     []string
		not      string
	}{
		"a namespace, read-only": {world.Contract{Namespace: "red", Context: "c", Server: "s", Used: "v1beta1"}, "", true,
			[]string{"only namespace red:", "none: started with --read-only", "used v1beta1; which versions are served is not known", "Kubernetes ? (it has not said)"}, "as far as the server"},
		"nobody said anything": {world.Contract{}, "", false, []string{"CONTEXT   ? the kubeconfig names none", "USER      ? the server was not asked yet", "KUEUE     ? the server was not asked yet"}, "admin"},
		"a file":               {world.Contract{Asked: true, Served: []string{"v1beta2"}, Used: "v1beta2", KueueVersionDetail: "a file does not tell"}, "w.json", false, []string{"FILE      w.json", "stored ? (a file does not tell)", "KUEUE     ? a file does not tell"}, "USER"},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 120, 40)
			s.root.opt.File, s.root.opt.ReadOnly = tc.file, tc.readOnly
			s.store.SetContract(tc.contract)
			s.refresh()
			s.press("0")
			text := allOf(s)
			for _, x := range tc.want {
				if !strings.Contains(text, x) {
					t.Errorf("no %q in\n%s", x, text)
				}
			}
			if strings.Contains(text, tc.not) {
				t.Errorf("%q in\n%s", tc.not, text)
			}
		})
	}
}

// The manager's configuration is read when the page is seen and when asked, and says
// what was taken for granted.
func TestManagerOfTheContract(t *testing.T) {
	s := begin(t, 120, 60)
	reads := 0
	s.root.opt.Settings = func(context.Context) manager.Settings { reads++; return manager.Defaults() }
	s.press("0").sees("MANAGER   defaults of Kueue "+manager.Linked, "assumed: the manager's configuration was not read", "fair sharing off", "feature gates set: none")
	s.pass(20 * time.Second)
	s.refresh()
	if reads != 1 {
		t.Fatalf("read %d times while it was looked at", reads)
	}
	s.root.opt.Settings = someSettings
	s.press("r").sees("ConfigMap kueue-system/kueue-manager-config", "LessThanInitialShare", "waits 5m for pods", "PartialAdmission=false").seesNot("assumed:")
}
