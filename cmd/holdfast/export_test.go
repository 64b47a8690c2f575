package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/report"
)

// objectsOf are the objects of a case file.
func objectsOf(t *testing.T, name string) []map[string]any {
	t.Helper()
	raw, err := os.ReadFile(caseFile(name))
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for _, doc := range strings.Split("\n"+string(raw), "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		switch items, list := o["items"].([]any); {
		case list:
			for _, x := range items {
				out = append(out, x.(map[string]any))
			}
		case o != nil:
			out = append(out, o)
		}
	}
	return out
}

// exportOf writes the objects as an export of the scope does, a list for each kind.
func exportOf(t *testing.T, objects []map[string]any, m bundle.Manifest) string {
	t.Helper()
	var b bytes.Buffer
	w := bundle.NewWriter(&b, m.Ended)
	kinds := map[string][]map[string]any{"ClusterQueue": nil, "LocalQueue": nil, "ResourceFlavor": nil, "AdmissionCheck": nil, "WorkloadPriorityClass": nil, "Workload": nil, "Namespace": nil}
	for _, o := range objects {
		kinds[o["kind"].(string)] = append(kinds[o["kind"].(string)], o)
	}
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		m.Lists = append(m.Lists, bundle.List{Resource: strings.ToLower(k) + "s", Kind: k, Count: len(kinds[k])})
		if len(kinds[k]) == 0 {
			continue
		}
		if err := w.Objects(strings.ToLower(k)+"s/0001.yaml", kinds[k]); err != nil {
			t.Fatal(err)
		}
	}
	m.Workloads, m.ScopeText = len(kinds["Workload"]), m.Scope.String()
	if _, err := w.Close(m); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "export.tar.gz")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var exportedAt = time.Date(2026, 9, 14, 10, 0, 0, 0, time.UTC)

func TestExportVerify(t *testing.T) {
	path := exportOf(t, objectsOf(t, "05-preemption-chain"), bundle.Manifest{Context: "prod", User: "kim", Ended: exportedAt})
	out, errs, code := try(t, "export", "--verify", path)
	if code != exitOK || !strings.Contains(out, "is whole: ") || !strings.Contains(out, "read 2026-09-14T10:00:00Z from prod by kim") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw[:len(raw)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"export", "--verify", path}, {"compare", path, "--world", caseFile("05-preemption-chain")}, {"report", "--world", path}} {
		if out, errs, code := try(t, args...); code != exitUnreadable || !strings.Contains(errs, "it was cut off: copy") {
			t.Errorf("%s: exit %d: %s%s", args, code, out, errs)
		}
	}
	if out, errs, code := try(t, "export", "--verify", path+".none"); code != exitUnreadable || !strings.Contains(errs, "no such file") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// A report of an export is that of the same objects in a file, at the time of the
// export.
func TestReportOfAnExport(t *testing.T) {
	path := exportOf(t, objectsOf(t, "05-preemption-chain"), bundle.Manifest{Context: "prod", Ended: exportedAt})
	read := func(args ...string) map[string]any {
		out, errs, _ := try(t, append([]string{"report", "-o", "json"}, args...)...)
		var doc map[string]any
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatalf("%v: %s", err, errs)
		}
		return doc
	}
	want, got := read("--world", caseFile("05-preemption-chain"), "--now", exportedAt.Format(time.RFC3339)), read("--world", path)
	source := got["source"].(map[string]any)
	if source["type"] != "bundle" || source["readAt"] != "2026-09-14T10:00:00Z" {
		t.Errorf("source %v", source)
	}
	delete(want, "source")
	delete(want, "unknown") // the lists that are empty were read: that is known of an export
	delete(got, "source")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-of the objects +of the export):\n%s", d)
	}
}

// An export of a part does not tell what others hold: no number may pretend to know.
func TestReportOfAPart(t *testing.T) {
	var part []map[string]any
	for _, o := range objectsOf(t, "05-preemption-chain") {
		if o["kind"] != "Workload" {
			part = append(part, o)
		}
	}
	path := exportOf(t, part, bundle.Manifest{Context: "prod", Ended: exportedAt, Scope: bundle.Scope{Namespace: "nobody"}})
	read := func(path string) report.Report {
		out, errs, _ := try(t, "report", "-o", "json", "--now", exportedAt.Format(time.RFC3339), "--world", path)
		var doc report.Report
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatalf("%v: %s", err, errs)
		}
		return doc
	}
	whole, of := read(caseFile("05-preemption-chain")), read(path)
	used := func(r report.Report) map[string]any {
		out := map[string]any{}
		for _, q := range r.ClusterQueues {
			for _, x := range q.Resources {
				out[q.Name+" "+x.Flavor+" "+x.Resource] = x.Reserved
			}
		}
		return out
	}
	if d := cmp.Diff(used(whole), used(of)); d != "" {
		t.Errorf("what the queues' status says is reserved (-all +part):\n%s", d)
	}
	if out, errs, code := try(t, "impact", "--hold", "cq/low", "--world", path); code == exitOK || !strings.Contains(errs+out, "only those of Namespace nobody") {
		t.Errorf("impact: exit %d: %s%s", code, out, errs)
	}
}

func TestCompare(t *testing.T) {
	objects := objectsOf(t, "05-preemption-chain")
	path := exportOf(t, objects, bundle.Manifest{Context: "prod", Ended: exportedAt, ClusterUID: "1"})
	out, errs, code := try(t, "compare", path, "--world", path)
	if code != exitOK || !strings.HasPrefix(out, "Everything was kept") {
		t.Errorf("with itself: exit %d: %s%s", code, out, errs)
	}

	var later []map[string]any
	lost := ""
	for _, o := range objects {
		if meta := o["metadata"].(map[string]any); o["kind"] == "Workload" && lost == "" {
			lost = meta["namespace"].(string) + "/" + meta["name"].(string)
			continue
		}
		later = append(later, o)
	}
	after := exportOf(t, later, bundle.Manifest{Context: "prod", Ended: exportedAt.Add(time.Hour)})
	out, errs, code = try(t, "compare", path, "--world", after, "-o", "json")
	var doc report.Comparison
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	if code != exitPerson || doc.Kind != report.KindComparison || doc.Compare.Kept == nil || *doc.Compare.Kept || len(doc.Compare.Lost) != 1 || doc.Compare.Lost[0].Workload != lost {
		t.Errorf("one is gone: exit %d: %+v", code, doc)
	}
	if out, _, code = try(t, "compare", path, "--world", after); code != exitPerson || !strings.Contains(out, "1 LOST:\n    "+lost) || !strings.Contains(out, "now 2026-09-14T11:00:00Z") {
		t.Errorf("exit %d: %s", code, out)
	}

	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no bundle":         {[]string{caseFile("05-preemption-chain"), "--world", path}, exitUnreadable, "is no export: it has no manifest; make one with: holdfast export"},
		"no such file":      {[]string{path + ".none", "--world", path}, exitUnreadable, "look at the name"},
		"nothing":           {nil, exitUsage, "accepts 1 arg"},
		"an unknown format": {[]string{path, "--world", path, "-o", "xml"}, exitUsage, "choose one of text, json, yaml"},
	} {
		if out, errs, code := try(t, append([]string{"compare"}, tc.args...)...); code != tc.code || !strings.Contains(errs, tc.want) {
			t.Errorf("%s: exit %d: %s%s", name, code, out, errs)
		}
	}
}
