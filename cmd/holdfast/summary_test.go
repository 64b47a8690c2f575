package main

import "testing"

func TestSummaryCommand(t *testing.T) {
	for journal, want := range map[string]string{
		"":                        "holdfast session summary 1-a",
		"/tmp/j.jsonl":            "holdfast session summary 1-a --journal /tmp/j.jsonl",
		"my journal's file.jsonl": `holdfast session summary 1-a --journal 'my journal'\''s file.jsonl'`,
	} {
		if got := (keeper{a: &app{journal: journal}}).Summary("1-a"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
