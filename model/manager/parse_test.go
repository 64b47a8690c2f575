package manager

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	configv1beta1 "sigs.k8s.io/kueue/apis/config/v1beta1"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
)

const head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nnamespace: ks\n"
const oldHead = "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\nnamespace: ks\n"

// asKueue reads a configuration as Kueue's manager does (fromFile in pkg/config).
func asKueue(raw []byte) (configapi.Configuration, error) {
	scheme := runtime.NewScheme()
	var cfg configapi.Configuration
	for _, add := range []func(*runtime.Scheme) error{configv1beta1.AddToScheme, configapi.AddToScheme} {
		if err := add(scheme); err != nil {
			return cfg, err
		}
	}
	codecs := serializer.NewCodecFactory(scheme, serializer.EnableStrict)
	err := runtime.DecodeInto(codecs.UniversalDecoder(), raw, &cfg)
	return cfg, err
}

// same compares configurations but for what Parse leaves out on purpose.
func same(kueues, ours configapi.Configuration) string {
	kueues.TypeMeta, kueues.FeatureGates = ours.TypeMeta, ours.FeatureGates
	if kueues.MultiKueue != nil {
		kueues.MultiKueue.ClusterProfile = nil
	}
	return cmp.Diff(kueues, ours, quantities())
}

func quantities() cmp.Option {
	return cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
}

func configurations() map[string]string {
	return map[string]string{
		"nothing":         head,
		"nothing, before": oldHead,
		"JSON":            `{"apiVersion":"config.kueue.x-k8s.io/v1beta2","kind":"Configuration","namespace":"ks","fairSharing":{"preemptionStrategies":["LessThanInitialShare"]}}`,
		"fair sharing":    head + "fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare]}\n",
		"fair sharing, before, both strategies by default": oldHead + "fairSharing: {enable: true}\n",
		"fair sharing off, before":                         oldHead + "fairSharing: {enable: false, preemptionStrategies: [LessThanInitialShare]}\n",
		"pods ready, before":                               oldHead + "waitForPodsReady: {enable: true}\n",
		"pods ready off, before":                           oldHead + "waitForPodsReady: {enable: false, blockAdmission: true}\n",
		"pods ready":                                       head + "waitForPodsReady: {timeout: 5m, blockAdmission: true, requeuingStrategy: {timestamp: Creation, backoffLimitCount: 3}}\n",
		"admission fair sharing":                           head + "admissionFairSharing: {usageHalfLifeTime: 168h, resourceWeights: {cpu: 0.5}}\n",
		"resources":                                        head + "resources: {excludeResourcePrefixes: [example.com/], transformations: [{input: a, outputs: {b: 5Gi}}, {input: c, strategy: Replace}]}\n",
		"quota check":                                      head + "resources: {quotaCheckStrategy: IgnoreUndeclared}\n",
		"device classes":                                   head + "resources: {deviceClassMappings: [{name: gpus, deviceClassNames: [gpu.example.com]}]}\n",
		"selectors":                                        head + "managedJobsNamespaceSelector: {matchLabels: {a: b}}\nmultiKueue: {dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental}\n",
		"credentials":                                      head + "multiKueue: {clusterProfile: {accessProviders: [{name: p, execConfig: {command: c, apiVersion: v, interactiveMode: Never, env: [{name: TOKEN, value: secret}]}}]}}\n",
	}
}

func TestParseReadsWhatKueueReads(t *testing.T) {
	for name, raw := range configurations() {
		t.Run(name, func(t *testing.T) {
			want, err := asKueue([]byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Parse([]byte(raw), "file c.yaml")
			if err != nil {
				t.Fatal(err)
			}
			if d := same(want, got.Config); d != "" {
				t.Errorf("configuration (-Kueue's +ours):\n%s", d)
			}
			if got.Source != "file c.yaml" || !got.Told || len(got.Unknown) > 0 || len(got.Assumed) > 0 {
				t.Errorf("source %q, told %v, unknown %q, assumed %q", got.Source, got.Told, got.Unknown, got.Assumed)
			}
			wire, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(wire), "secret") {
				t.Errorf("credentials of other clusters are kept: %s", wire)
			}
			var back Settings
			if err := json.Unmarshal(wire, &back); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(got, back, quantities()); d != "" {
				t.Errorf("after JSON (-before +after):\n%s", d)
			}
		})
	}
}

// The configurations that Kueue itself ships.
func TestParseReadsKueuesOwn(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "config/components/manager", ConfigKey))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(raw, "Kueue's")
	if err != nil || len(got.Unknown) > 0 {
		t.Fatalf("%v, unknown %q", err, got.Unknown)
	}
	want, err := asKueue(raw)
	want.Namespace = got.Config.Namespace // Kueue's is that of the pod
	if d := same(want, got.Config); d != "" || err != nil {
		t.Errorf("%v, configuration (-Kueue's +ours):\n%s", err, d)
	}
	wrapped, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]string{ConfigKey: string(raw)}})
	if err != nil {
		t.Fatal(err)
	}
	inner, err := Parse(wrapped, "Kueue's")
	if d := cmp.Diff(got, inner, quantities()); d != "" || err != nil {
		t.Errorf("out of a ConfigMap: %v (-plain +wrapped):\n%s", err, d)
	}
}

func TestLinkedIsWhatIsLinked(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^\s*sigs\.k8s\.io/kueue (\S+)$`).FindSubmatch(mod)
	if m == nil || string(m[1]) != Linked {
		t.Errorf("Linked is %s, go.mod says %s", Linked, m)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct{ raw, err string }{
		"nothing":               {"", "names no kind"},
		"a list":                {"[1, 2]", "not readable"},
		"broken YAML":           {"kind: [", "not readable"},
		"no kind":               {"apiVersion: config.kueue.x-k8s.io/v1beta2\n", "names no kind"},
		"no version":            {"kind: Configuration\n", "names no apiVersion"},
		"a version to come":     {"apiVersion: config.kueue.x-k8s.io/v1\nkind: Configuration\n", "its version v1 is not known: Kueue v0.19.2, which is linked, knows v1beta2 and v1beta1"},
		"another kind":          {"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Job\n", "it is a Job of config.kueue.x-k8s.io/v1beta2: a Configuration of config.kueue.x-k8s.io/v1beta2 is expected"},
		"a kind of every group": {"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: ListOptions\n", "it is a ListOptions"},
		"another object":        {"apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\n", "it is a ClusterQueue of kueue.x-k8s.io/v1beta2"},
		"another ConfigMap":     {"apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n", "it is a ConfigMap of v1"},
		"a key twice":           {head + "pprofBindAddress: a\npprofBindAddress: b\n", "already set"},
		"another type":          {head + "fairSharing: true\n", "not readable"},
		"hostile":               {"apiVersion: v1\nkind: \"\\e[2J\"\n", `\x1b[2J`},
		"no strategy":           {head + "fairSharing: {}\n", "with it Kueue v0.19.2 would not start: fairSharing.preemptionStrategies is empty"},
		"the wrong order":       {head + "fairSharing: {preemptionStrategies: [LessThanInitialShare, LessThanOrEqualToFinalShare]}\n", "both in this order"},
		"a wrong timestamp":     {head + "waitForPodsReady: {timeout: 1m, requeuingStrategy: {timestamp: Never}}\n", `not "Never"`},
		"negative history":      {head + "admissionFairSharing: {usageHalfLifeTime: -1h}\n", "usageHalfLifeTime is negative"},
		"negative sampling":     {head + "admissionFairSharing: {usageHalfLifeTime: 1h, usageSamplingInterval: -1h}\n", "usageSamplingInterval"},
		"a negative weight":     {head + "admissionFairSharing: {usageHalfLifeTime: 1h, resourceWeights: {cpu: -1}}\n", "cpu has a negative weight"},
		"a wrong quota check":   {head + "resources: {quotaCheckStrategy: Guess}\n", `not "Guess"`},
		"prefixes and check":    {head + "resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [a]}\n", "does not go with"},
		"transformed twice":     {head + "resources: {transformations: [{input: a}, {input: a}]}\n", "a is transformed twice"},
		"a wrong strategy":      {head + "resources: {transformations: [{input: a, strategy: Halve}]}\n", "the strategy for a may be Retain or Replace"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tc.raw), "file \x1b")
			if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.HasPrefix(err.Error(), `file \x1b: `) {
				t.Errorf("error %v, want one with %q", err, tc.err)
			}
		})
	}
}

// A field of another version of Kueue is named, and the rest is used.
func TestParseNamesWhatIsUnknown(t *testing.T) {
	s, err := Parse([]byte(head+"fairSharing: {preemptionStrategies: [LessThanInitialShare], fancy: 1}\nfuture: {a: b}\nfeatureGates: {PartialAdmission: false, TimeTravel: true, HierarchicalCohorts: false}\n"), "it")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`it: unknown field "fairSharing.fancy": Kueue v0.19.2 would not start with it, and a preview leaves it out`,
		`it: unknown field "future": Kueue v0.19.2 would not start with it, and a preview leaves it out`,
		"it: not so in Kueue v0.19.2: cannot set feature gate HierarchicalCohorts to false, feature is locked to true; what it does in the cluster is not part of a preview",
		"it: feature gate TimeTravel is not known to Kueue v0.19.2; what it does in the cluster is not part of a preview",
	}
	if d := cmp.Diff(want, s.Unknown); d != "" {
		t.Errorf("unknown (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]bool{"PartialAdmission": false}, s.Config.FeatureGates); d != "" {
		t.Errorf("gates (-want +got):\n%s", d)
	}
	if s.Config.FairSharing == nil {
		t.Error("fair sharing is lost")
	}
}

func TestDefaultsAreKueues(t *testing.T) {
	s := Defaults()
	// What Kueue's reference says of a manager without a configuration.
	w := s.Config.WaitForPodsReady
	if w == nil || w.Timeout != (metav1.Duration{Duration: 30 * time.Minute}) || *w.BlockAdmission || s.Config.FairSharing != nil || s.Config.Resources != nil {
		t.Errorf("%+v", s.Config)
	}
	if s.Told || s.Source != "defaults of Kueue v0.19.2" || len(s.Assumed) != 1 {
		t.Errorf("told %v, source %q, assumed %q", s.Told, s.Source, s.Assumed)
	}
	old, err := Parse([]byte(oldHead), "it")
	if err != nil || old.Config.WaitForPodsReady != nil {
		t.Errorf("v1beta1 has it off: %+v, %v", old.Config.WaitForPodsReady, err)
	}
}

// Whatever Kueue reads is read the same, and nothing panics.
func FuzzParse(f *testing.F) {
	for _, raw := range configurations() {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Parse(raw, "it")
		want, refused := asKueue(raw)
		if err != nil || refused != nil {
			if err == nil && len(got.Unknown) == 0 && !strings.Contains(string(raw), "ConfigMap") {
				t.Fatalf("Kueue refuses it (%v), and nothing says so", refused)
			}
			return
		}
		if want.Namespace == nil || *want.Namespace == "" || !strings.Contains(string(raw), "namespace") {
			return // Kueue's is that of the pod
		}
		if d := same(want, got.Config); d != "" {
			t.Errorf("configuration (-Kueue's +ours):\n%s", d)
		}
	})
}
