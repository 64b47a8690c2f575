package actions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/model/world"
)

func spec(s *apiServer) map[string]any { return s.get(queuePath)["spec"].(map[string]any) }

func did(t *testing.T, d *Desk, p Plan, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Execute(t.Context(), p, p.Confirm.Expects)
	if err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	return r.JournalID
}

func TestUndoHoldAndResume(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	d := desk(t, s, nil)
	p, err := d.PlanHold(t.Context(), queueRef, false, "bad quota")
	held := did(t, d, p, err)
	p, err = d.PlanUndo(t.Context(), held)
	resumed := did(t, d, p, err)
	if p.Action != Resume || p.Undoes != held || spec(s)["stopPolicy"] != "None" {
		t.Errorf("%+v, spec %v", p, spec(s))
	}
	p, err = d.PlanUndo(t.Context(), resumed)
	did(t, d, p, err)
	if a := metaOf(s.get(queuePath))["annotations"].(map[string]any)[world.HoldAnnotation]; p.Action != Hold || spec(s)["stopPolicy"] != "Hold" || !strings.Contains(fmt.Sprint(a), "bad quota") {
		t.Errorf("%+v, spec %v, record %v", p, spec(s), a)
	}
	entries, _, err := d.opts.Journal.Read()
	if err != nil || entries[len(entries)-1].Undoes != resumed {
		t.Errorf("%v, %v", entries, err)
	}
}

// Of an edit only what still has its value goes back.
func TestUndoLeavesWhatOthersChanged(t *testing.T) {
	for name, c := range map[string]struct {
		since func(s *apiServer)
		want  map[string]any
		words string
	}{
		"nothing since": {func(*apiServer) {}, map[string]any{"cohortName": "co", "queueingStrategy": nil}, ""},
		"one field":     {func(s *apiServer) { s.edit(queuePath, "cohortName", "theirs") }, map[string]any{"cohortName": "theirs", "queueingStrategy": nil}, "Somebody changed spec.cohortName of ClusterQueue/q since"},
		"another field": {func(s *apiServer) { s.edit(queuePath, "other", "x") }, map[string]any{"cohortName": "co", "queueingStrategy": nil, "other": "x"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putQueue(s, "None", "")
			d := desk(t, s, nil)
			p, err := d.PlanFile(t.Context(), fileOf(head+"}\nspec: {cohortName: ours, queueingStrategy: StrictFIFO}\n"))
			id := did(t, d, p, err)
			c.since(s)
			p, err = d.PlanUndo(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if c.words != "" && !strings.Contains(strings.Join(p.Notes, "\n"), c.words) {
				t.Errorf("notes %q", p.Notes)
			}
			did(t, d, p, nil)
			for k, want := range c.want {
				if got := spec(s)[k]; got != want {
					t.Errorf("%s: %v, want %v", k, got, want)
				}
			}
			if dump(spec(s)["futureField"]) != `{"keep":true}` {
				t.Errorf("spec %v", spec(s))
			}
		})
	}
}

func TestWhatCannotBeUndone(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	d := desk(t, s, nil)
	made, err := d.PlanFile(t.Context(), fileOf(strings.Replace(head, "name: q", "name: fresh", 1)+"}\nspec: {cohortName: x}\n"))
	creation := did(t, d, made, err)
	export, err := d.PlanExport(t.Context(), Scope{})
	exported := did(t, d, export, err)
	edit, err := d.PlanFile(t.Context(), fileOf(head+"}\nspec: {cohortName: ours}\n"))
	edited := did(t, d, edit, err)
	s.edit(queuePath, "cohortName", "theirs")
	writes := s.writes
	for id, words := range map[string]string{
		"nope": "has no entry", creation: "was made by it, and this program deletes nothing", exported: "changed nothing in the cluster", edited: "somebody changed all of it",
	} {
		_, err := d.PlanUndo(t.Context(), id)
		var p *Problem
		if !errors.As(err, &p) || !strings.Contains(p.What, words) || s.writes != writes {
			t.Errorf("%s: %v, want %q", id, err, words)
		}
	}
}

// The inverse of a change, made after it, gives back every field that changed, and
// touches no other.
func TestInverseTakesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, wish := drawJSON(t, 3), drawJSON(t, 3)
		patch := mergeDiff(base, wish)
		base, patch = decoded([]byte(dump(base))), decoded([]byte(dump(patch)))
		back := map[string]any{}
		raw := inverse(Target{Base: []byte(dump(base)), Patch: []byte(dump(patch))})
		if raw != nil {
			back = decoded(raw)
		}
		after := mergeApply(base, patch)
		// A map that the change brought along may stay, empty.
		want, got := solid(base), solid(mergeApply(after, back))
		if d := cmp.Diff(dump(want), dump(got)); d != "" {
			t.Fatalf("base %s, patch %s, inverse %s (-want +got):\n%s", dump(base), dump(patch), raw, d)
		}
	})
}

// solid is the map without the maps in it that hold nothing.
func solid(m map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		if sub, ok := v.(map[string]any); ok {
			if sub = solid(sub); len(sub) == 0 {
				continue
			}
			v = sub
		}
		out[k] = v
	}
	return out
}

func decoded(raw []byte) map[string]any {
	out := map[string]any{}
	if err := utiljson.Unmarshal(raw, &out); err != nil {
		panic(err) // it was written a moment ago
	}
	return out
}

// Files that grow too large are put aside, and nothing that was written is lost or
// mixed, however many write at once.
func TestJournalRotates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "journal.jsonl")
	const writers, each = 4, 30
	var all sync.WaitGroup
	for w := range writers {
		j := NewJournal(path) // as another process has
		j.most = 8_000
		all.Go(func() {
			for i := range each {
				if err := j.append(JournalEntry{ID: fmt.Sprintf("%d-%d", w, i), Time: tick, Entry: "intent", Reason: strings.Repeat("x", 100)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	entries, bad, err := NewJournal(path).Read()
	if err != nil || len(bad) > 0 {
		t.Fatalf("%v, %v", bad, err)
	}
	seen := map[string]bool{}
	last := map[byte]int{}
	for _, e := range entries {
		if seen[e.ID] {
			t.Errorf("%s twice", e.ID)
		}
		seen[e.ID] = true
		var i int
		if _, err := fmt.Sscanf(e.ID[2:], "%d", &i); err != nil || i < last[e.ID[0]] {
			t.Errorf("%s is out of order", e.ID)
		}
		last[e.ID[0]] = i
	}
	if len(seen) != writers*each {
		t.Errorf("%d entries of %d", len(seen), writers*each)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 3 {
		t.Errorf("files %v, %v", files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 || info.Size() > 8_000 {
			t.Errorf("%s: %v, %v", f, info, err)
		}
	}
}

// The oldest are removed in time.
func TestJournalKeepsSoMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := NewJournal(path)
	j.most = 1
	for i := range 20 {
		if err := j.append(JournalEntry{ID: fmt.Sprint(i), Time: tick.Add(time.Duration(i) * time.Second)}); err != nil {
			t.Fatal(err)
		}
	}
	entries, _, err := j.Read()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.ID)
	}
	if d := cmp.Diff([]string{"15", "16", "17", "18", "19"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestInterrupted(t *testing.T) {
	entries := []JournalEntry{{ID: "a", Entry: "intent"}, {ID: "a", Entry: "result"}, {ID: "b", Entry: "intent"}}
	if d := cmp.Diff(map[string]bool{"b": true}, Interrupted(entries)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
