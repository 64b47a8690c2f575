package actions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/world"
)

func putWorkloads(s *apiServer, n int) {
	s.react = func(map[string]any) {}
	for i := range n {
		spec := map[string]any{"queueName": "lq", "future": i, "podSets": []any{map[string]any{"name": "main", "template": map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"vault-token": "s3cret", "note": "kept"}},
			"spec": map[string]any{
				"initContainers": []any{map[string]any{"name": "i", "command": []any{"sh", "-c", "s3cret"}}},
				"containers": []any{map[string]any{
					"name": "main", "args": []any{"--key=s3cret"},
					"livenessProbe":  map[string]any{"exec": map[string]any{"command": []any{"curl", "-H", "s3cret"}}},
					"readinessProbe": map[string]any{"httpGet": map[string]any{"path": "/ready", "httpHeaders": []any{map[string]any{"name": "Authorization", "value": "s3cret"}}}},
					"lifecycle":      map[string]any{"preStop": map[string]any{"exec": map[string]any{"command": []any{"sh", "s3cret"}}}},
					"env":            []any{map[string]any{"name": "A", "value": "s3cret"}, map[string]any{"name": "B", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "s"}}}},
				}},
			}}}}}
		if i%2 == 1 {
			spec["queueName"] = "elsewhere"
		}
		s.put(fmt.Sprintf("namespaces/ns/workloads/w%d", i), "Workload", map[string]any{"namespace": "ns"}, spec)
	}
}

func TestExport(t *testing.T) {
	s := newAPIServer(t)
	putWorkloads(s, 7)
	s.pages = 2
	d := desk(t, s, nil)
	p, err := d.PlanExport(t.Context(), Scope{ClusterQueue: "q"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Execute(t.Context(), p, "y")
	if err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	raw, err := os.ReadFile(p.Export.Path)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(p.Export.Path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o, want 600", info.Mode().Perm())
	}
	if bytes.Contains(raw, []byte("s3cret")) {
		t.Errorf("a secret is in the export:\n%s", raw)
	}
	var doc struct {
		Kind, Context, User, Scope, ResourceVersion string
		Count                                       int
		Items                                       []struct {
			Metadata struct{ Name string }
			Spec     struct{ Future int }
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range doc.Items {
		got = append(got, fmt.Sprintf("%s %d", i.Metadata.Name, i.Spec.Future))
	}
	if diff := cmp.Diff([]string{"w0 0", "w2 2", "w4 4", "w6 6"}, got); diff != "" {
		t.Errorf("items, with fields that this program does not know (-want +got):\n%s", diff)
	}
	if doc.Count != 4 || doc.Kind != ExportKind || doc.Context != "prod" || doc.User != "kim" || doc.ResourceVersion != "77" || !bytes.Contains(raw, []byte(`"kept"`)) {
		t.Errorf("head %+v", doc)
	}

	// The same name again: the file stays as it is.
	r, err = d.Execute(t.Context(), p, "y")
	if err != nil || r.Objects[0].Outcome != NotDone || !strings.Contains(r.Objects[0].Detail, "exists already") {
		t.Errorf("over an existing file: %+v, %v", r, err)
	}
	if again, _ := os.ReadFile(p.Export.Path); !bytes.Equal(raw, again) {
		t.Error("the existing file was changed")
	}
	onlyFile(t, d.opts.ExportDir, p.Export.Path)
}

func onlyFile(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		got = append(got, filepath.Join(dir, e.Name()))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files in the export folder (-want +got):\n%s", diff)
	}
}

func TestAFailedExportLeavesNothing(t *testing.T) {
	s := newAPIServer(t)
	putWorkloads(s, 7)
	s.pages, s.expire = 2, true
	d := desk(t, s, nil)
	p, err := d.PlanExport(t.Context(), Scope{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Execute(t.Context(), p, "y")
	if err != nil || r.OK() || !strings.Contains(r.Objects[0].Detail, "not be one consistent state") {
		t.Errorf("%+v, %v", r, err)
	}
	onlyFile(t, d.opts.ExportDir)
	entries, _, err := d.opts.Journal.Read()
	if err != nil || len(entries) != 2 || entries[1].Objects[0].Outcome != NotDone {
		t.Errorf("journal %+v, %v", entries, err)
	}
}

func TestExportOfWhatDoesNotExist(t *testing.T) {
	d := desk(t, newAPIServer(t), nil)
	for _, scope := range []Scope{{ClusterQueue: "nope"}, {LocalQueue: world.Key{Namespace: "ns", Name: "nope"}}, {Namespace: "nope"}} {
		if _, err := d.PlanExport(t.Context(), scope); err == nil || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("%s: %v", scope, err)
		}
	}
	if _, err := d.PlanExport(t.Context(), Scope{LocalQueue: world.Key{Namespace: "ns", Name: "lq"}}); err != nil {
		t.Errorf("one that exists: %v", err)
	}
}

func TestExportOfAQueueNeedsTheLocalQueues(t *testing.T) {
	s := newAPIServer(t)
	putWorkloads(s, 3)
	s.hideQueues = true
	d := desk(t, s, nil)
	p, err := d.PlanExport(t.Context(), Scope{ClusterQueue: "q"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Execute(t.Context(), p, "y")
	if err != nil || r.Objects[0].Outcome != NotDone || !strings.Contains(r.Objects[0].Detail, "localqueues is forbidden") {
		t.Errorf("pending Workloads would be missing: %+v, %v", r, err)
	}
	onlyFile(t, d.opts.ExportDir)
}

func TestReadBackFindsDamage(t *testing.T) {
	good := `{"kind":"x","items": [{"a":1},{"a":2}],"count": 2}`
	for name, tc := range map[string]struct {
		text string
		ok   bool
	}{
		"whole": {good, true}, "cut": {good[:20], false}, "an item lost": {`{"items": [{"a":1}],"count": 2}`, false}, "no count": {`{"items": []}`, false}, "empty": {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			if n, err := countItems(strings.NewReader(tc.text)); (err == nil) != tc.ok {
				t.Errorf("%d items, %v", n, err)
			}
		})
	}
}

func TestFileWord(t *testing.T) {
	for in, want := range map[string]string{
		"prod": "prod", "../../etc/passwd": "etc-passwd", "arn:aws:eks:x/y": "arn-aws-eks-x-y", "": "", "a b\x1bc": "a-b-c", strings.Repeat("x", 99): strings.Repeat("x", 60),
	} {
		if got := fileWord(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestDetailSaysWhatItCannotRead(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	got, err := desk(t, s, nil).Detail(t.Context(), queueRef)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.EventsUnknown, "events is forbidden") || len(got.Timeline) != 2 || !strings.Contains(strings.Join(got.YAML, "\n"), "cohortName: co") {
		t.Errorf("%+v", got)
	}
}
