package main

import (
	"archive/tar"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/report"
)

func caseFile(name string) string {
	return filepath.Join("..", "..", "model", "report", "testdata", "cases", name, "input.yaml")
}

func write(t *testing.T, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "objects.yaml")
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

const (
	lowMayReclaim = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: low}\nspec: {preemption: {reclaimWithinCohort: Any}}\n"
	clock0914     = "2026-09-14T10:00:00Z"
)

// In the case everything is lent to top, whose encore holds all 12 cpu. Once low
// may reclaim, bass (2 cpu, within low's 4) preempts it. For the 10 that are left
// encore (12) is too big, and there is room for one of brass (6) and alto (8), which
// are in different queues.
func checkReclaim(t *testing.T, out string) {
	t.Helper()
	var doc report.ImpactResult
	if err := yaml.UnmarshalStrict([]byte(out), &doc); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	x := doc.Impact
	if doc.Kind != "ImpactResult" || x.NotComputed != "" || len(x.Preempted) != 1 || len(x.Evicted) != 0 {
		t.Fatalf("document %+v", doc)
	}
	v := x.Preempted[0]
	if v.Victim != "stage/job-encore" || v.Preemptor == nil || *v.Preemptor != "choir/job-bass" || v.Reason != "InCohortReclamation" || v.Policy != "reclaimWithinCohort: Any" ||
		v.PolicyHolds == nil || !*v.PolicyHolds || !v.Certain || !v.Runs || v.Back {
		t.Errorf("preemption %+v", v)
	}
	got := map[string]bool{}
	for _, a := range x.Admitted {
		got[a.Workload] = a.Certain
	}
	if d := cmp.Diff(map[string]bool{"choir/job-bass": true, "band/job-brass": false, "choir/job-alto": false}, got); d != "" {
		t.Errorf("admitted and whether that is certain (-want +got):\n%s", d)
	}
	if x.Waiting.Count == nil || *x.Waiting.Count != 2 || x.ClusterRuns != nil || x.StateOf == nil {
		t.Errorf("waiting %+v, cluster runs %v, state of %v", x.Waiting, x.ClusterRuns, x.StateOf)
	}
}

func TestImpactOfAFile(t *testing.T) {
	world, edit := caseFile("05-preemption-chain"), write(t, lowMayReclaim)
	for _, output := range []string{"json", "yaml"} {
		out, errs, code := try(t, "impact", "-f", edit, "--world", world, "--now", clock0914, "-o", output)
		if code != exitPerson || errs != "" {
			t.Fatalf("exit %d, %s", code, errs)
		}
		checkReclaim(t, out)
	}
	out, _, code := try(t, "impact", "-f", edit, "--world", world, "--now", clock0914)
	for _, want := range []string{"supposed: ClusterQueue/low changed", "1 PREEMPTION;", "\nPREEMPTED\n", "stage/job-encore (encore)", "choir/job-bass (bass)", "defaults of Kueue v0.19.2 are taken", "\nGET QUOTA\n"} {
		if !strings.Contains(out, want) || code != exitPerson {
			t.Errorf("exit %d, %q is not in:\n%s", code, want, out)
		}
	}
}

func TestImpactOfABundle(t *testing.T) {
	raw, err := os.ReadFile(caseFile("05-preemption-chain"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bundle.tar")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(f)
	if err := w.WriteHeader(&tar.Header{Name: "objects.yaml", Mode: 0o600, Size: int64(len(raw)), Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out, errs, code := try(t, "impact", "-f", write(t, lowMayReclaim), "--world", path, "--now", clock0914, "-o", "json")
	if code != exitPerson || !strings.Contains(out, `"type": "bundle"`) {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	checkReclaim(t, out)
}

func TestImpactExitCodes(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
	chain, held := caseFile("05-preemption-chain"), caseFile("07-held-queue-stale-status")
	config := write(t, "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {preemptionStrategies: [LessThanInitialShare]}\n")
	tests := map[string]struct {
		args []string
		code int
		out  string // in what is printed, standard error included
	}{
		"a hold hurts nobody":     {[]string{"--hold", "cq/low", "--world", chain}, exitOK, "nobody is preempted or evicted"},
		"a drain evicts":          {[]string{"--drain", "cq/top", "--world", chain}, exitPerson, "1 EVICTION"},
		"a cohort":                {[]string{"--drain", "cohort/hall", "--world", chain}, exitPerson, "ClusterQueue/low changed, ClusterQueue/mid changed, ClusterQueue/top changed"},
		"a held queue is resumed": {[]string{"--resume", "cq/vault", "--world", held}, exitOK, "ClusterQueue/vault changed"},
		"a cycle":                 {[]string{"-f", write(t, "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: hall}\nspec: {parentName: hall}\n"), "--world", chain}, exitPerson, "NOT COMPUTED: "},
		"settings":                {[]string{"--hold", "cq/low", "--world", chain, "--fair-sharing", "--feature-gates", "TopologyAwareScheduling=false"}, exitOK, "fair sharing is on, as you told"},
		"fair sharing off":        {[]string{"--hold", "cq/low", "--world", chain, "--manager-config", config, "--fair-sharing=false"}, exitOK, "fair sharing is off, as you told"},
		"a configuration":         {[]string{"--hold", "cq/low", "--world", chain, "--manager-config", config}, exitOK, "file " + config},

		"nothing said":          {[]string{"--world", chain}, exitUsage, "say what would change"},
		"an unknown format":     {[]string{"--hold", "cq/low", "--world", chain, "-o", "xml"}, exitUsage, "choose one of text, json, yaml"},
		"no queue":              {[]string{"--resume", "low", "--world", chain}, exitUsage, "cq/NAME, lq/NAMESPACE/NAME or cohort/NAME"},
		"an unknown gate":       {[]string{"--hold", "cq/low", "--world", chain, "--feature-gates", "Nope=true"}, exitUsage, "Nope"},
		"no gate":               {[]string{"--hold", "cq/low", "--world", chain, "--feature-gates", "Nope"}, exitUsage, "NAME=true"},
		"no bool":               {[]string{"--hold", "cq/low", "--world", chain, "--fair-sharing=perhaps"}, exitUsage, "fair-sharing"},
		"no configuration":      {[]string{"--hold", "cq/low", "--world", chain, "--manager-config", chain}, exitUsage, "--manager-config"},
		"no such configuration": {[]string{"--hold", "cq/low", "--world", chain, "--manager-config", chain + ".none"}, exitUsage, "no such file"},

		"no such world":       {[]string{"--hold", "cq/low", "--world", chain + ".none"}, exitUnreadable, "there is no file"},
		"no cluster":          {[]string{"--hold", "cq/low"}, exitUnreadable, "no cluster is configured"},
		"no such queue":       {[]string{"--hold", "cq/nope", "--world", chain}, exitRefused, "there are low, mid, top."},
		"what is not held":    {[]string{"--resume", "cq/low", "--world", chain}, exitRefused, "is not held"},
		"no such file":        {[]string{"-f", chain + ".none", "--world", chain}, exitRefused, "no such file"},
		"a misspelt field":    {[]string{"-f", write(t, strings.ReplaceAll(lowMayReclaim, "preemption", "preemptions")), "--world", chain}, exitRefused, `unknown field "spec.preemptions"`},
		"an old field's name": {[]string{"-f", write(t, strings.ReplaceAll(lowMayReclaim, "{preemption: {reclaimWithinCohort: Any}}", "{cohort: x}")), "--world", chain}, exitRefused, "In v1beta2 it is called spec.cohortName."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, errs, code := try(t, append([]string{"impact", "--now", clock0914}, tc.args...)...)
			if code != tc.code || !strings.Contains(out+errs, tc.out) {
				t.Errorf("exit %d, want %d, and %q in:\n%s%s", code, tc.code, tc.out, out, errs)
			}
			if strings.Contains(errs, "goroutine") || strings.Count(errs, "\n") > 4 {
				t.Errorf("not a clear error:\n%s", errs)
			}
		})
	}
}

// The settings of one preview do not stay for the next.
func TestImpactTwiceWithOtherSettings(t *testing.T) {
	for _, gates := range []string{"TopologyAwareScheduling=false", "TopologyAwareScheduling=true"} {
		out, errs, _ := try(t, "impact", "-f", write(t, lowMayReclaim), "--world", caseFile("05-preemption-chain"), "--now", clock0914, "-o", "json", "--feature-gates", gates)
		var doc struct {
			Impact struct{ NotComputed string }
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.Impact.NotComputed != "" {
			t.Errorf("%s: %v, %s %s", gates, err, doc.Impact.NotComputed, errs)
		}
	}
}

// The command for the child is nobody's, and what it writes is what it is asked
// for and nothing else.
func TestWorkerCommand(t *testing.T) {
	out, _, code := try(t, "--help")
	if code != exitOK || strings.Contains(out, workerName) {
		t.Errorf("exit %d, help:\n%s", code, out)
	}
	out, errs, code := try(t, workerName)
	for l := range strings.Lines(out) {
		if !json.Valid([]byte(l)) {
			t.Errorf("not a line of JSON: %q", l)
		}
	}
	if code == exitOK || out == "" || errs != "" {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}
