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
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	whole := hex.EncodeToString(sum[:])
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
