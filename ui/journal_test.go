package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cli.holdfast.dev/holdfast/actions"
)

// The journal is read whenever somebody comes to it, and not meanwhile.
func TestJournalIsReadWhenSeen(t *testing.T) {
	s := begin(t, 120, 40)
	f := someDeeds()
	s.root.opt.Journal = f
	s.to("journal").sees("4, by newest", "interrupted", "bad quota").cursorOn("14:00:22")
	s.pass(20 * time.Second)
	s.refresh()
	if f.reads != 1 {
		t.Fatalf("read %d times while it was looked at", f.reads)
	}
	s.press("enter", "esc", "4")
	s.pass(20 * time.Second)
	result := f.entries[6]
	result.Entry, result.Objects = "result", []actions.JournalEvent{{Object: "ClusterQueue/team-b-cq", Outcome: actions.Done}}
	f.entries = append(f.entries, result)
	s.to("journal").seesNot("interrupted").sees("4, by newest").cursorOn("14:00:22")
	f.err = errors.New("open journal.jsonl: permission denied")
	s.press("r").sees("permission denied What follows is what was read before.", "bad quota")
}

func TestJournalThatIsNotThere(t *testing.T) {
	s := begin(t, 120, 40)
	s.to("journal").sees("name a file with --journal", "not read")
	s.root.opt.Journal = &fakeJournal{}
	s.press("4").to("journal").sees("Nothing was done with holdfast from this account yet.")
	s = begin(t, 120, 40)
	s.root.opt.Journal = &fakeJournal{err: errors.New("permission denied")}
	s.to("journal").sees("permission denied").seesNot("Nothing was done")
}

func TestFilterOfTheJournal(t *testing.T) {
	for text, want := range map[string]string{
		"action:edit": "2 of 4", "object:team-a": "1 of 4", "result:refused": "1 of 4", "result:int": "1 of 4", "context:prod": "4 of 4", "user:oncall !done": "4 of 4", "quota": "1 of 4",
	} {
		s := begin(t, 120, 40)
		s.root.opt.Journal = someDeeds()
		s.to("journal").press("/").typeText(text).press("enter").sees(want)
	}
}

// The page of a deed says how to undo it, or why that is not to be had.
func TestPageOfADeed(t *testing.T) {
	f := someDeeds()
	x := entryPair("made", now.Add(-time.Second), actions.ApplyFile, "", actions.Done, "", actions.JournalEvent{Object: "Cohort/new", Method: "create", Patch: []byte(`{"kind":"Cohort"}`)})
	x = append(x, entryPair("file", now, actions.Export, "", actions.Done, "12 Workloads", actions.JournalEvent{Object: "file", Change: "export to /tmp/a.tar.gz"})...)
	x[3].Objects[0].Object = "Export/a.tar.gz"
	f.entries = append(f.entries, x...)
	for i, want := range [][]string{
		{"export export to /tmp/a.tar.gz", "not to be had: an export changed nothing in the cluster", "Export/a.tar.gz", "done, verified: 12 Workloads"},
		{"not to be had: Cohort/new was made by it, and this program deletes nothing", "as create", "kind: nothing → Cohort"},
		{"holdfast journal undo 20261202T130022Z-dd", "unknown: no result was written"},
		{"holdfast journal undo 20261202T124022Z-cc", "reclaimWithinCohort: Any → LowerPriority", `nominalQuota: "20" → "4"`, "sent 3 times"},
		{"holdfast journal undo 20261202T122022Z-bb", "spec.stopPolicy: nothing → Hold", "REASON    bad quota"},
		{"not to be had: ClusterQueue/team-a-cq was refused then", `Invalid value: "-1"`, "result after 3s"},
	} {
		s := begin(t, 120, 40)
		s.root.opt.Journal = f
		s.to("journal")
		for range i {
			s.press("down")
		}
		s.press("enter").sees(want...)
	}
}

// What a journal says may come from a server: it reaches the terminal as letters.
func TestHostileJournal(t *testing.T) {
	evil := "\x1b]0;owned\x07\x1b[2J\u202e\r\n"
	e := entryPair(evil, now, actions.Action(evil), evil, actions.Outcome(evil), evil, actions.JournalEvent{Object: evil, Change: evil, UID: evil, Method: evil, API: evil, Patch: []byte(`{"\u001b[2J":"\u001b[2J"}`)})
	for i := range e {
		e[i].Context, e[i].Server, e[i].User, e[i].Undoes = evil, evil, evil, evil
	}
	s := begin(t, 90, 30)
	s.root.opt.Journal = &fakeJournal{entries: e, bad: []string{evil, evil, evil}, err: nil}
	for _, keys := range [][]string{nil, {"enter"}, {"end"}} {
		s.to("journal").press(keys...)
		if err := checkFrame(s.root.View(), 90, 30); err != nil {
			t.Errorf("after %v: %v", keys, err)
		}
	}
	s.root.opt.Journal = &fakeJournal{err: errors.New(evil)}
	s.press("esc", "r")
	if err := checkFrame(s.root.View(), 90, 30); err != nil || !strings.Contains(s.frame(), `\x1b]0;owned`) {
		t.Errorf("%v\n%s", err, s.frame())
	}
}
