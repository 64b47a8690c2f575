package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/world"
)

// A file where a session made its export is not compared once it is another one; no
// other file has anything to do with the session.
func TestCompareOfASessionsExport(t *testing.T) {
	objects := objectsOf(t, "05-preemption-chain")
	m := bundle.Manifest{Context: "prod", Ended: exportedAt}
	path, other := exportOf(t, objects, m), exportOf(t, objects, m)
	whole := sumOfFile(t, path)
	tests := map[string]struct {
		compared, recorded string
		code               int
		words              string
	}{
		"as it was made":             {path, whole, exitOK, ""},
		"another by now":             {path, strings.Repeat("0", 64), exitRefused, "its SHA-256 is " + whole},
		"of a session without a sum": {path, "", exitOK, ""},
		"elsewhere":                  {other, strings.Repeat("0", 64), exitOK, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			journal := filepath.Join(t.TempDir(), "journal.jsonl")
			s, err := rollback.New(world.Ref{Kind: world.KindCohort, Key: world.Key{Name: "pool"}}, "prod", "https://server", "", "kim", "", exportedAt)
			if err != nil {
				t.Fatal(err)
			}
			s.Bundle, s.BundleSHA256 = path, tt.recorded
			if err := rollback.NewStore(filepath.Join(filepath.Dir(journal), "sessions")).Save(s); err != nil {
				t.Fatal(err)
			}
			out, errs, code := try(t, "--journal", journal, "compare", tt.compared, "--world", path)
			if code != tt.code || !strings.Contains(errs, tt.words) {
				t.Errorf("exit %d, want %d and %q: %s%s", code, tt.code, tt.words, out, errs)
			}
			if tt.code != exitOK && (out != "" || !strings.Contains(errs, "--bundle")) {
				t.Errorf("it says %q, and on the error stream %q, not what to do next", out, errs)
			}
		})
	}
}

// Headless, the step compare takes no file but the one that the session exported.
func TestStepCompareWithAnotherBundle(t *testing.T) {
	scope := bundle.Scope{ClusterQueue: "q"}
	queue := []map[string]any{{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": map[string]any{"name": "q", "uid": "uid-q", "generation": 1}, "spec": map[string]any{}}}
	path := exportOf(t, queue, bundle.Manifest{Context: "prod", Ended: exportedAt, Scope: scope})
	tests := map[string]struct {
		bundle bundle.Manifest
		code   int
		words  string
	}{
		"the same":            {bundle.Manifest{Context: "prod", Ended: exportedAt, Scope: scope}, exitOK, ""},
		"a later one":         {bundle.Manifest{Context: "prod", Ended: exportedAt.Add(1), Scope: scope}, exitRefused, "that of the export which this session made is " + sumOfFile(t, path)},
		"one of another kind": {bundle.Manifest{Context: "prod", Ended: exportedAt, Scope: bundle.Scope{ClusterQueue: "other"}}, exitRefused, "it is of ClusterQueue other"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.put(kueueAPI+"clusterqueues/q", "ClusterQueue", map[string]any{"spec": map[string]any{}})
			s, err := rollback.New(world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: "q"}}, "prod", c.URL, "", "kim", "", exportedAt)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range rollback.Names() {
				if n != rollback.Compare {
					s.Step(n).State = rollback.Done
				}
			}
			s.Bundle, s.BundleSHA256 = "/not/on/this/machine.tar.gz", sumOfFile(t, path)
			journal := filepath.Join(t.TempDir(), "journal.jsonl")
			if err := rollback.NewStore(filepath.Join(filepath.Dir(journal), "sessions")).Save(s); err != nil {
				t.Fatal(err)
			}
			named := exportOf(t, queue, tt.bundle)
			out, errs, code, _ := c.try("--journal", journal, "session", "next", s.ID, "--bundle", named)
			if code != tt.code || !strings.Contains(errs, tt.words) {
				t.Errorf("exit %d, want %d and %q: %s%s", code, tt.code, tt.words, out, errs)
			}
			got, err := rollback.NewStore(filepath.Join(filepath.Dir(journal), "sessions")).Load(s.ID)
			if err != nil {
				t.Fatal(err)
			}
			if done := got.Step(rollback.Compare).State == rollback.Done; done != (tt.code == exitOK) {
				t.Errorf("compare is %s", got.Step(rollback.Compare).State)
			}
		})
	}
}

// sumOfFile is the SHA-256 of the file.
func sumOfFile(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
