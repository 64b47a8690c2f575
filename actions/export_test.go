package actions

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/bundle"
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
	m, files := opened(t, p.Export.Path)
	var got []string
	for name, body := range files {
		if strings.Contains(body, "s3cret") {
			t.Errorf("a secret is in %s:\n%s", name, body)
		}
		if !strings.HasPrefix(name, "workloads/") {
			continue
		}
		for _, doc := range strings.Split(body, "\n---\n") {
			var w struct {
				Metadata struct{ Name string }
				Spec     struct{ Future int }
			}
			if err := yaml.Unmarshal([]byte(doc), &w); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %d", w.Metadata.Name, w.Spec.Future))
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"w0 0", "w2 2", "w4 4", "w6 6"}, got); diff != "" {
		t.Errorf("Workloads, with fields that this program does not know (-want +got):\n%s", diff)
	}
	if m.Workloads != 4 || m.Context != "prod" || m.User != "kim" || m.Scope.ClusterQueue != "q" || !m.Redacted || !strings.Contains(files["workloads/0001.yaml"], "note: kept") {
		t.Errorf("manifest %+v", m)
	}
	lists, unread := map[string]string{}, map[string]bool{}
	for _, l := range m.Lists {
		lists[l.Resource] = fmt.Sprintf("%d at %s", l.Count, l.ResourceVersion)
	}
	for _, u := range m.Unread {
		unread[u.Resource] = strings.Contains(u.Why, "not found") || strings.Contains(u.Why, "is forbidden")
	}
	if diff := cmp.Diff(map[string]string{"workloads": "4 at 77", "localqueues": "1 at "}, lists); diff != "" {
		t.Errorf("lists (-want +got):\n%s", diff)
	}
	if !unread["events"] || !unread["clusterqueues"] || len(unread) != 11 {
		t.Errorf("unread %v", m.Unread)
	}
	if !strings.Contains(files[bundle.ReportName], `"kind": "Report"`) {
		t.Error("there is no report in it")
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

// opened verifies the bundle and returns its manifest and files.
func opened(t *testing.T, path string) (bundle.Manifest, map[string]string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := bundle.Verify(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	gz, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if err == io.EOF {
			return m, files
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(body)
	}
}

// Whoever comes second finds the file there, and nobody's is half.
func TestTwoExportersOfOneName(t *testing.T) {
	s := newAPIServer(t)
	putWorkloads(s, 7)
	d := desk(t, s, nil)
	p, err := d.PlanExport(t.Context(), Scope{})
	if err != nil {
		t.Fatal(err)
	}
	var race sync.WaitGroup
	results := make([]Result, 8)
	for i := range results {
		race.Go(func() {
			r, err := d.Execute(t.Context(), p, "y")
			if err != nil {
				t.Error(err)
			}
			results[i] = r
		})
	}
	race.Wait()
	won := 0
	for _, r := range results {
		if r.OK() {
			won++
		} else if !strings.Contains(r.Objects[0].Detail, "exists already") {
			t.Errorf("%+v", r)
		}
	}
	if won != 1 {
		t.Errorf("%d exporters say that they wrote the file", won)
	}
	if m, _ := opened(t, p.Export.Path); m.Workloads != 7 {
		t.Errorf("%d Workloads", m.Workloads)
	}
	onlyFile(t, d.opts.ExportDir, p.Export.Path)
}

func TestInterruptedExportLeavesNothing(t *testing.T) {
	s := newAPIServer(t)
	putWorkloads(s, 7)
	s.pages = 1
	ctx, cancel := context.WithCancel(t.Context())
	d := desk(t, s, func(o *Options) {
		o.Progress = func(how string) {
			if how == "3 workloads" {
				cancel()
			}
		}
	})
	p, err := d.PlanExport(ctx, Scope{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Execute(ctx, p, "y")
	if err != nil || r.OK() {
		t.Errorf("%+v, %v", r, err)
	}
	onlyFile(t, d.opts.ExportDir)
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
