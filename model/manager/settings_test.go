package manager

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// parsed are the settings of a configuration of v1beta2.
func parsed(t *testing.T, more string) Settings {
	t.Helper()
	s, err := Parse([]byte(head+more), "ConfigMap ks/c")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const fair = "fairSharing: {preemptionStrategies: [LessThanInitialShare]}\n"

func TestWhatAPersonTells(t *testing.T) {
	both := []configapi.PreemptionStrategy{configapi.LessThanOrEqualToFinalShare, configapi.LessThanInitialShare}
	tests := map[string]struct {
		config string
		on     bool
		want   []configapi.PreemptionStrategy
		says   string
	}{
		"on":                        {"", true, both, "fair sharing is on, as you told"},
		"on as it was":              {fair, true, []configapi.PreemptionStrategy{configapi.LessThanInitialShare}, ""},
		"off":                       {fair, false, nil, "fair sharing is off, as you told"},
		"off as it was":             {"", false, nil, ""},
		"on, before v1beta2's days": {"featureGates: {PartialAdmission: false}\n", true, both, "fair sharing is on"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := parsed(t, tc.config)
			s := before.WithFairSharing(tc.on)
			var got []configapi.PreemptionStrategy
			if s.Config.FairSharing != nil {
				got = s.Config.FairSharing.PreemptionStrategies
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("strategies (-want +got):\n%s", d)
			}
			if said := strings.Join(s.Assumed, "; "); tc.says == "" && said != "" || !strings.Contains(said, tc.says) {
				t.Errorf("assumed %q, want %q", said, tc.says)
			}
			if d := cmp.Diff(parsed(t, tc.config), before, quantities()); d != "" {
				t.Errorf("the settings before were changed (-want +got):\n%s", d)
			}
		})
	}
}

func TestFeatureGates(t *testing.T) {
	tests := map[string]struct {
		given string
		want  map[string]bool
		err   string
	}{
		"nothing":       {"", map[string]bool{"PartialAdmission": false}, ""},
		"one more":      {"PriorityBoost=true", map[string]bool{"PartialAdmission": false, "PriorityBoost": true}, ""},
		"turned round":  {" PartialAdmission = T ,", map[string]bool{"PartialAdmission": true}, ""},
		"unknown":       {"PriorityBoost=true,TimeTravel=true", nil, "feature gate TimeTravel is not known to Kueue v0.19.2"},
		"locked":        {"HierarchicalCohorts=false", nil, "feature is locked to true"},
		"locked as set": {"HierarchicalCohorts=true", map[string]bool{"PartialAdmission": false, "HierarchicalCohorts": true}, ""},
		"no value":      {"PriorityBoost", nil, "NAME=true"},
		"no truth":      {"PriorityBoost=\x1bmaybe", nil, `\x1bmaybe`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := parsed(t, "featureGates: {PartialAdmission: false}\n").WithFeatureGates(tc.given)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("error %v, want %q", err, tc.err)
			}
			if d := cmp.Diff(tc.want, s.Config.FeatureGates); d != "" {
				t.Errorf("gates (-want +got):\n%s", d)
			}
			for name, on := range tc.want {
				if got := s.gates().Enabled(features.PartialAdmission); name == "PartialAdmission" && got != on {
					t.Errorf("%s is %v, want %v", name, got, on)
				}
			}
		})
	}
	if !features.Enabled(features.PartialAdmission) || features.Enabled(features.PriorityBoost) {
		t.Error("the gates of this process were set")
	}
}

func share(n int64) *int64 { return &n }

func TestSeen(t *testing.T) {
	active := world.Conditions{{Type: world.CondActive, Status: "True"}}
	queue := func(share *int64) *world.ClusterQueue {
		return &world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: "q"}}, WeightedShare: share, Conditions: active}
	}
	snap := func(q *world.ClusterQueue) *store.Snapshot {
		return &store.Snapshot{ClusterQueues: []*world.ClusterQueue{q}}
	}
	waits := func(state world.State) *store.Snapshot {
		return &store.Snapshot{Workloads: []*world.Workload{{Meta: world.Meta{Key: world.Key{Namespace: "n", Name: "w"}}, State: state,
			Conditions: world.Conditions{{Type: world.CondQuotaReserved, Status: "False", Reason: "Waiting", Message: podsReadyWait}}}}}
	}
	const other = "the manager runs with another configuration"
	tests := map[string]struct {
		s       Settings
		snap    *store.Snapshot
		fair    bool
		assumed []string
		unknown string
	}{
		"nothing to see":                     {parsed(t, ""), &store.Snapshot{}, false, nil, ""},
		"off, and nothing shows it on":       {parsed(t, ""), snap(queue(nil)), false, nil, ""},
		"on, and shown":                      {parsed(t, fair), snap(queue(share(0))), true, nil, ""},
		"off, but shown on":                  {parsed(t, ""), snap(queue(share(0))), true, []string{"fair sharing is on, as the share in the status of ClusterQueue/q shows; its preemption strategies are taken to be Kueue's own two"}, other},
		"off by default, but shown on":       {Defaults(), snap(queue(share(5))), true, append(Defaults().Assumed, "fair sharing is on, as the share in the status of ClusterQueue/q shows; its preemption strategies are taken to be Kueue's own two"), ""},
		"shown on by a Cohort":               {Defaults(), &store.Snapshot{Cohorts: []*world.Cohort{{Meta: world.Meta{Key: world.Key{Name: "c"}}, WeightedShare: share(1)}}}, true, append(Defaults().Assumed, "fair sharing is on, as the share in the status of Cohort/c shows; its preemption strategies are taken to be Kueue's own two"), ""},
		"on, and the status shows none":      {parsed(t, fair), snap(queue(nil)), true, nil, "no ClusterQueue has a share"},
		"on, and nobody wrote a status yet":  {parsed(t, fair), snap(&world.ClusterQueue{}), true, nil, ""},
		"somebody waits for the pods":        {parsed(t, ""), waits(world.Pending), false, nil, "Workload/n/w was told that it waits for the pods of others"},
		"somebody waited for the pods":       {parsed(t, ""), waits(world.Admitted), false, nil, ""},
		"somebody waits, as was to be known": {parsed(t, "waitForPodsReady: {timeout: 1m, blockAdmission: true}\n"), waits(world.Pending), false, nil, ""},
		"somebody waits, but the gate is off": {parsed(t, "waitForPodsReady: {timeout: 1m, blockAdmission: true}\nfeatureGates: {DisableWaitForPodsReady: true}\n"), waits(world.Pending), false, nil,
			"Workload/n/w was told"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tc.s.Seen(tc.snap)
			if on := got.Config.FairSharing != nil; on != tc.fair {
				t.Errorf("fair sharing %v, want %v", on, tc.fair)
			}
			if d := cmp.Diff(tc.assumed, got.Assumed); d != "" {
				t.Errorf("assumed (-want +got):\n%s", d)
			}
			if said := strings.Join(got.Unknown, "; "); tc.unknown == "" && said != "" || !strings.Contains(said, tc.unknown) {
				t.Errorf("unknown %q, want %q", said, tc.unknown)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	current := world.Contract{KueueVersion: Linked}
	tests := map[string]struct {
		config string
		snap   store.Snapshot
		want   string // empty: nothing is said
	}{
		"nothing":                      {"", store.Snapshot{Contract: current}, ""},
		"the same without a v":         {"", store.Snapshot{Contract: world.Contract{KueueVersion: Linked[1:]}}, ""},
		"what is simulated":            {fair + "resources: {excludeResourcePrefixes: [a], transformations: [{input: a}], quotaCheckStrategy: BlockUndeclared}\n", store.Snapshot{Contract: current}, ""},
		"another version":              {"", store.Snapshot{Contract: world.Contract{KueueVersion: "v0.17.0\x1b"}}, `the cluster runs Kueue v0.17.0\x1b, whose rules`},
		"no version":                   {"", store.Snapshot{}, "is not known: the preview is that of v0.19.2"},
		"history":                      {"admissionFairSharing: {usageHalfLifeTime: 1h}\n", store.Snapshot{Contract: current}, "admissionFairSharing"},
		"history, but the gate is off": {"admissionFairSharing: {usageHalfLifeTime: 1h}\nfeatureGates: {AdmissionFairSharing: false}\n", store.Snapshot{Contract: current}, ""},
		"pods ready":                   {"waitForPodsReady: {timeout: 1m, blockAdmission: true}\n", store.Snapshot{Contract: current}, "blockAdmission"},
		"pods ready without blocking":  {"waitForPodsReady: {timeout: 1m}\n", store.Snapshot{Contract: current}, ""},
		"pods ready, gate off":         {"waitForPodsReady: {timeout: 1m, blockAdmission: true}\nfeatureGates: {DisableWaitForPodsReady: true}\n", store.Snapshot{Contract: current}, ""},
		"devices":                      {"resources: {deviceClassMappings: [{name: gpus, deviceClassNames: [g]}, {name: fpgas, deviceClassNames: [f]}]}\n", store.Snapshot{Contract: current}, "(gpus, fpgas) is not counted"},
		"MultiKueue":                   {"", store.Snapshot{Contract: current, Checks: []*world.Check{{Meta: world.Meta{Key: world.Key{Name: "a"}}, Controller: "x"}, {Meta: world.Meta{Key: world.Key{Name: "mk"}}, Controller: "kueue.x-k8s.io/multikueue"}}}, "MultiKueue (AdmissionCheck/mk)"},
		"another check":                {"", store.Snapshot{Contract: current, Checks: []*world.Check{{Controller: "kueue.x-k8s.io/provisioning-request"}}}, ""},
		"a gate":                       {"featureGates: {ConcurrentAdmission: true}\n", store.Snapshot{Contract: current}, "feature gate ConcurrentAdmission: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(parsed(t, tc.config).Limits(&tc.snap), "; ")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("limits %q, want %q", got, tc.want)
			}
		})
	}
	for _, b := range beyond() {
		if features.Enabled(b.gate) {
			t.Errorf("gate %s is on by default: its sentence would stand in every preview", b.gate)
		}
	}
}

func TestFound(t *testing.T) {
	led := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	raw, gated := []byte(head+fair), []byte(head+"featureGates: {PriorityBoost: true}\n")
	tests := map[string]struct {
		found   Found
		told    bool
		source  string
		gates   map[string]bool
		assumed string
		unknown string
	}{
		"read":            {Found{Raw: raw, Source: "ConfigMap ks/c", Changed: led, Led: led.Add(time.Second)}, true, "ConfigMap ks/c", nil, "", ""},
		"no file":         {Found{}, true, "defaults of Kueue v0.19.2: its command line names no configuration", nil, "", ""},
		"a problem":       {Found{Problem: "ConfigMap ks/c may not be read", Source: "ConfigMap ks/c"}, false, "defaults of Kueue v0.19.2", nil, "ConfigMap ks/c may not be read: the defaults of Kueue v0.19.2 are taken", ""},
		"broken":          {Found{Raw: []byte("kind: ["), Source: "ConfigMap ks/c"}, false, "defaults of Kueue v0.19.2", nil, "ConfigMap ks/c: it is not readable", ""},
		"guessed":         {Found{Raw: raw, Source: "ConfigMap ks/c", Assumed: []string{"a"}, Unknown: []string{"b"}}, true, "ConfigMap ks/c", nil, "a", "b"},
		"written later":   {Found{Raw: raw, Source: "ConfigMap ks/c", Changed: led.Add(time.Second), Led: led}, true, "ConfigMap ks/c", nil, "", "ConfigMap ks/c was written at 2026-12-02T12:00:01Z, after the manager took the lead at 2026-12-02T12:00:00Z"},
		"who knows when":  {Found{Raw: raw, Source: "ConfigMap ks/c", Changed: led}, true, "ConfigMap ks/c", nil, "", ""},
		"gates":           {Found{Raw: raw, Source: "ConfigMap ks/c", Gates: "PriorityBoost=true,TimeTravel=true"}, true, "ConfigMap ks/c", map[string]bool{"PriorityBoost": true}, "", "the manager's --feature-gates: feature gate TimeTravel is not known to Kueue v0.19.2"},
		"gates, no file":  {Found{Gates: "PartialAdmission=false"}, true, "defaults of Kueue v0.19.2: its command line names no configuration", map[string]bool{"PartialAdmission": false}, "", ""},
		"gates twice":     {Found{Raw: gated, Source: "ConfigMap ks/c", Gates: "PartialAdmission=false"}, true, "ConfigMap ks/c", map[string]bool{"PartialAdmission": false}, "", "those of the command line are taken"},
		"gates unread":    {Found{Raw: gated, Source: "ConfigMap ks/c", Gates: "$(GATES)"}, true, "ConfigMap ks/c", map[string]bool{"PriorityBoost": true}, "", `not "$(GATES)"`},
		"gates, no right": {Found{Problem: "p", Gates: "PartialAdmission=false"}, false, "defaults of Kueue v0.19.2", map[string]bool{"PartialAdmission": false}, "p: the defaults", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := tc.found.Settings()
			if s.Told != tc.told || s.Source != tc.source {
				t.Errorf("told %v, source %q; want %v, %q", s.Told, s.Source, tc.told, tc.source)
			}
			if d := cmp.Diff(tc.gates, s.Config.FeatureGates); d != "" {
				t.Errorf("gates (-want +got):\n%s", d)
			}
			for _, x := range []struct {
				what, want string
				got        []string
			}{{"assumed", tc.assumed, s.Assumed}, {"unknown", tc.unknown, s.Unknown}} {
				if said := strings.Join(x.got, "; "); x.want == "" && said != "" || !strings.Contains(said, x.want) {
					t.Errorf("%s %q, want %q", x.what, said, x.want)
				}
			}
		})
	}
}
