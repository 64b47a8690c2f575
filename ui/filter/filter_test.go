package filter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	fields := []string{"ns", "state"}
	for s, want := range map[string]Query{
		"":                    {},
		"  two Words ":        {Terms: []Term{{Text: "two"}, {Text: "words"}}},
		"!bad ns:team-a":      {Terms: []Term{{Text: "bad", Not: true}, {Field: "ns", Text: "team-a"}}},
		"!state:Pending x:":   {Terms: []Term{{Field: "state", Text: "pending", Not: true}, {Field: "x"}}, Unknown: []string{"x"}},
		"colour:red":          {Terms: []Term{{Field: "colour", Text: "red"}}, Unknown: []string{"colour"}},
		"ns:":                 {Open: []string{"ns"}},
		"ns:=":                {Open: []string{"ns"}},
		"!ns:=a":              {Terms: []Term{{Field: "ns", Text: "=a", Not: true}}},
		"!":                   {},
		"10.0.0.1:80 a/b:c":   {Terms: []Term{{Text: "10.0.0.1:80"}, {Text: "a/b:c"}}},
		"state:a:b":           {Terms: []Term{{Field: "state", Text: "a:b"}}},
		"!!x":                 {Terms: []Term{{Text: "!x", Not: true}}},
		"ns:a ns:b !ns:c":     {Terms: []Term{{Field: "ns", Text: "a"}, {Field: "ns", Text: "b"}, {Field: "ns", Text: "c", Not: true}}},
		"état:x \u00a0 plain": {Terms: []Term{{Text: "état:x"}, {Text: "plain"}}},
	} {
		want.Text = s
		if diff := cmp.Diff(want, Parse(s, fields)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", s, diff)
		}
	}
}

type row struct{ ns, name string }

func (r row) has(field, text string) bool {
	switch field {
	case "ns":
		return Holds(r.ns, text)
	case "":
		return strings.Contains(r.ns, text) || strings.Contains(r.name, text)
	}
	return false
}

func TestMatch(t *testing.T) {
	rows := []row{{"team-a", "train-1"}, {"team-a", "eval"}, {"team-b", "train-2"}, {"team-a-dev", "=x"}}
	for s, want := range map[string]string{
		"":                 "train-1 eval train-2 =x",
		"train":            "train-1 train-2",
		"!train":           "eval =x",
		"ns:team-a !train": "eval =x",
		"ns:=team-a":       "train-1 eval",
		"!ns:=team-a":      "train-2 =x",
		"=x":               "=x",
		"ns:=":             "train-1 eval train-2 =x",
		"!ns:team-a":       "train-2",
		"team-a train":     "train-1",
		"ns:":              "train-1 eval train-2 =x",
		"state:pending":    "",
		"!state:pending":   "",
	} {
		q := Parse(s, []string{"ns"})
		var got []string
		for _, r := range rows {
			if q.Match(r.has) {
				got = append(got, r.name)
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", s, diff)
		}
	}
}

func TestResembling(t *testing.T) {
	rows := []row{{"team-a", "train-1"}, {"team-a", "eval"}, {"team-b", "train-2"}, {"team-a-dev", "=x"}}
	for s, want := range map[string]string{
		"trn":       "train-1 train-2",
		"trn !ns:b": "train-1",
		"!trn":      "",
		"2trn":      "",
		"trn x:y":   "",
	} {
		var got []string
		for _, r := range Resembling(rows, Parse(s, []string{"ns"}), row.has, func(r row) string { return r.name }) {
			got = append(got, r.name)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", s, diff)
		}
	}
}

// FuzzParse: whatever is typed is understood somehow, and a query that lets
// everything through does.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "a !b ns:c", "!ns:", ":::", "\xff:x", "!!"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := Parse(s, []string{"ns"})
		if q.Text != s {
			t.Errorf("the text %q became %q", s, q.Text)
		}
		for _, x := range q.Terms {
			if x.Text == "" && len(q.Unknown) == 0 {
				t.Errorf("%q has an empty term", s)
			}
		}
		if q.Empty() && !q.Match(func(string, string) bool { return false }) {
			t.Errorf("%q is empty and lets nothing through", s)
		}
	})
}
