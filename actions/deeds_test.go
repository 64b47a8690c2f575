package actions

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func entryOf(id, entry string, minute int, a Action, objects ...JournalEvent) JournalEntry {
	return JournalEntry{ID: id, Entry: entry, Time: time.Date(2026, 12, 2, 13, minute, 0, 0, time.UTC), Action: a, Objects: objects}
}

func became(o Outcome, names ...string) []JournalEvent {
	var out []JournalEvent
	for _, n := range names {
		out = append(out, JournalEvent{Object: n, Outcome: o})
	}
	return out
}

func TestDeeds(t *testing.T) {
	one := JournalEvent{Object: "ClusterQueue/q"}
	entries := []JournalEntry{
		entryOf("lost", "result", 0, Edit, became(Done, "ClusterQueue/q")...),
		entryOf("a", "intent", 1, Hold, one),
		entryOf("b", "intent", 2, Resume, one), // by another process meanwhile
		entryOf("a", "result", 3, Hold, became(Done, "ClusterQueue/q")...),
		entryOf("c", "intent", 4, Edit, one),
		entryOf("b", "result", 5, Resume, became(Refused, "ClusterQueue/q")...),
		{ID: "later", Entry: "of a version to come"},
	}
	var got []string
	for _, d := range Deeds(entries) {
		got = append(got, fmt.Sprintf("%s %s %s", d.Intent.ID, d.Intent.Action, d.Became()))
	}
	if d := cmp.Diff([]string{"c edit interrupted", "b resume refused", "a hold done", "lost edit done"}, got); d != "" {
		t.Errorf("deeds (-want +got):\n%s", d)
	}
}

func TestWhatADeedCameTo(t *testing.T) {
	for name, tc := range map[string]struct {
		objects []JournalEvent
		want    Became
	}{
		"all done":              {became(Done, "a", "b"), BecameDone},
		"stopped half way":      {append(became(Done, "a"), became(NotDone, "b")...), BecamePartly},
		"refused half way":      {append(became(Done, "a"), became(Refused, "b")...), BecamePartly},
		"refused at once":       {append(became(Refused, "a"), became(NotDone, "b")...), BecameRefused},
		"not begun":             {became(NotDone, "a"), BecameNotDone},
		"no answer for one":     {append(became(Done, "a"), became(OutcomeUnknown, "b")...), BecameUnknown},
		"a result of no object": {nil, BecameNotDone},
	} {
		r := entryOf("x", "result", 1, Edit, tc.objects...)
		if got := (Deed{Result: &r}).Became(); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestNoUndo(t *testing.T) {
	back := []byte(`{"spec":{"cohortName":"co"}}`)
	for name, tc := range map[string]struct {
		action Action
		intent []JournalEvent
		result []JournalEvent
		want   string
	}{
		"a hold":                   {Hold, []JournalEvent{{Object: "q"}}, became(Done, "q"), ""},
		"a hold, interrupted":      {Hold, []JournalEvent{{Object: "q"}}, nil, ""},
		"an export":                {Export, []JournalEvent{{Object: "file"}}, became(Done, "Export/x"), "an export changed nothing in the cluster"},
		"an edit":                  {Edit, []JournalEvent{{Object: "q", Inverse: back}}, became(Done, "q"), ""},
		"an edit that was refused": {Edit, []JournalEvent{{Object: "q", Inverse: back}}, became(Refused, "q"), "q was refused then"},
		"an object that was made":  {ApplyFile, []JournalEvent{{Object: "q", Method: "create"}}, became(Done, "q"), "q was made by it, and this program deletes nothing"},
		"one that was made, one that was changed": {ApplyFile, []JournalEvent{{Object: "q", Method: "create"}, {Object: "r", Inverse: back}}, became(Done, "q", "r"), ""},
		"an old entry": {Edit, []JournalEvent{{Object: "q"}}, became(Done, "q"), "the journal does not say what q was before"},
	} {
		d := Deed{Intent: entryOf("x", "intent", 1, tc.action, tc.intent...)}
		if tc.result != nil {
			r := entryOf("x", "result", 2, tc.action, tc.result...)
			d.Result = &r
		}
		if got := d.NoUndo(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestChangesOfAnEntry(t *testing.T) {
	for name, tc := range map[string]struct {
		event  JournalEvent
		want   []string
		before bool
	}{
		"a value": {
			JournalEvent{Patch: []byte(`{"spec":{"cohortName":"ours","queueingStrategy":"StrictFIFO"}}`), Inverse: []byte(`{"spec":{"cohortName":"co"}}`)},
			[]string{"spec.cohortName: co -> ours"}, true, // the strategy was that before
		},
		"a field that comes and one that goes": {
			JournalEvent{Patch: []byte(`{"spec":{"a":"1","b":null}}`), Inverse: []byte(`{"spec":{"a":null,"b":"2"}}`)},
			[]string{"spec.a:  -> \"1\"", "spec.b: \"2\" -> "}, true,
		},
		"what the server made of an apply": {
			JournalEvent{Method: "apply", Patch: []byte(`{"kind":"ClusterQueue","spec":{"cohortName":"ours"}}`), Stored: []byte(`{"spec":{"cohortName":"ours","x":"y"}}`), Inverse: []byte(`{"spec":{"cohortName":"co","x":null}}`)},
			[]string{"spec.cohortName: co -> ours", "spec.x:  -> \"y\""}, true,
		},
		"nothing is said of before": {JournalEvent{Patch: []byte(`{"spec":{"a":"b"}}`)}, []string{"spec.a:  -> b"}, false},
		"made":                      {JournalEvent{Method: "create", Patch: []byte(`{"kind":"Cohort"}`)}, []string{"kind:  -> Cohort"}, true},
		"no JSON":                   {JournalEvent{Patch: []byte(`-`)}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			fields, before := tc.event.Changes()
			var got []string
			for _, f := range fields {
				got = append(got, f.Path+": "+f.Was+" -> "+f.Yours)
			}
			if d := cmp.Diff(tc.want, got); d != "" || before != tc.before {
				t.Errorf("before %v (-want +got):\n%s", before, d)
			}
		})
	}
}
