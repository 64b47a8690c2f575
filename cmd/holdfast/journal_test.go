package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
)

// A write that was sent more than once says so, in both forms; one that was not says
// nothing of it.
func TestJournalShowsTries(t *testing.T) {
	tests := map[string]struct {
		tries int
		text  string
	}{
		"at once":         {0, "    ClusterQueue/q  done  taken up"},
		"the third time":  {3, "    ClusterQueue/q  done  (sent 3 times)  taken up"},
		"of an older one": {1, "    ClusterQueue/q  done  taken up"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := actions.JournalEntry{
				ID: "j", Time: time.Date(2026, 12, 2, 13, 0, 0, 0, time.UTC), Entry: "result", Action: actions.Hold, Context: "prod", User: "kim",
				Objects: []actions.JournalEvent{{Object: "ClusterQueue/q", Outcome: actions.Done, Detail: "taken up", Verified: true, Tries: tt.tries}},
			}
			line, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "journal.jsonl")
			if err := os.WriteFile(path, append(line, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
			out, errs, code := try(t, "--journal", path, "journal")
			lines := strings.Split(out, "\n")
			if code != exitOK || len(lines) < 2 {
				t.Fatalf("exit %d, %q, %q", code, out, errs)
			}
			if diff := cmp.Diff(tt.text, lines[1]); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			out, errs, code = try(t, "--journal", path, "journal", "-o", "json")
			if code != exitOK {
				t.Fatalf("exit %d, %q", code, errs)
			}
			var got actions.JournalEntry
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(e, got); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
		})
	}
}
