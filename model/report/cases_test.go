package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cli.holdfast.dev/holdfast/model/file"
)

// caseTime is the clock of every case.
var caseTime = time.Date(2026, 9, 14, 10, 0, 0, 0, time.UTC)

func cases(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/cases/[0-9]*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no cases (%v)", err)
	}
	return dirs
}

// inputOf reads the objects of a case.
func inputOf(t testing.TB, dir string) Input {
	t.Helper()
	path := filepath.Join(dir, "input.yaml")
	w, err := file.Open(path, caseTime)
	if err != nil {
		t.Fatal(err)
	}
	return Input{
		Snapshot: w.Snapshot, Now: caseTime, Source: Source{Type: w.Type, Name: path, ReadAt: caseTime, Notes: w.Notes},
		Events: w.Events, Pods: w.Pods, HasPods: w.HasPods, Nodes: w.Nodes, HasNodes: w.HasNodes,
	}
}

// jsonOf is the document as a program reads it.
func jsonOf(t testing.TB, doc any) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, doc); err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func expectationOf(t testing.TB, dir string) map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "expect.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	return want
}

// The report of each case has the right answers, and any of them that were wrong
// would be noticed.
func TestCases(t *testing.T) {
	for _, dir := range cases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			got, want := jsonOf(t, Build(inputOf(t, dir))), expectationOf(t, dir)
			c := matched(want, got)
			t.Logf("%d checks, %d mismatches", c.checks, c.bad)
			for _, l := range c.lines {
				t.Error(l)
			}
			if c.bad > 0 || c.checks == 0 {
				return
			}
			for _, s := range c.spoils {
				right := s.wrong()
				if again := matched(want, got); again.bad == 0 {
					t.Errorf("%s: a wrong value is not noticed", s.path)
				} else if again.checks != c.checks {
					t.Errorf("%s: %d checks with a wrong value, %d before", s.path, again.checks, c.checks)
				}
				right()
			}
		})
	}
}
