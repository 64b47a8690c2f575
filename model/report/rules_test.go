package report

import (
	"encoding/json"
	"testing"
)

// The rules of a comparison, each with a report that is right and some that are
// not: the number of checks never depends on the report.
func TestComparisonRules(t *testing.T) {
	tests := map[string]struct {
		want   string
		checks int
		right  []string
		wrong  map[string]int // report: mismatches
	}{
		"scalars": {
			`{"a": 1, "b": null, "c": [1, 2], "d": "x"}`, 5,
			[]string{`{"a": 1, "b": null, "c": [1, 2], "d": "x", "e": 5}`},
			map[string]int{
				`{"a": true, "b": null, "c": [1, 2], "d": "x"}`: 1, `{"a": 2, "c": [2, 1], "d": "X"}`: 4, `{"a": 1, "b": false, "c": [1], "d": "x"}`: 2, `[]`: 5, `null`: 5,
			},
		},
		"text": {
			`{"a~": ["One", "two"], "~": "three"}`, 4,
			[]string{`{"a": "ONE two three"}`, `{"a": [{"x": "TWO"}, "one"], "b": {"c": ["Three"]}}`},
			map[string]int{`{"a": "one", "b": "three"}`: 1, `{"b": "one two"}`: 3, `{"a": "one two"}`: 1},
		},
		"accepted": {`{"a|": [1, null]}`, 2, []string{`{"a": 1}`, `{"a": null}`}, map[string]int{`{}`: 1, `{"a": 0}`: 1, `{"a": [1, null]}`: 1}},
		"lists": {
			`{"a#": 2, "a!": [{"name": "x"}], "a": [{"name": "y", "v": 1}]}`, 6,
			[]string{`{"a": [{"name": "z"}, {"name": "y", "v": 1}]}`},
			map[string]int{
				`{"a": [{"name": "y", "v": 1}]}`: 1, `{"a": [{"name": "x"}, {"name": "y", "v": 1}]}`: 1, `{"a": [{"name": "y", "v": 1}, {"name": "y", "v": 1}]}`: 2,
				`{"a": [{"name": "z"}, {"name": "w"}]}`: 2, `{"a": 3}`: 5, `{}`: 5,
			},
		},
		"identity of two keys": {
			`{"a": [{"namespace": "n", "name": "x", "v": 1}]}`, 4, []string{`{"a": [{"namespace": "m", "name": "x"}, {"namespace": "n", "name": "x", "v": 1}]}`},
			map[string]int{`{"a": [{"namespace": "m", "name": "x", "v": 1}]}`: 2},
		},
		"chains: the nearest, and links in their order": {
			`{"chains": [{"end": "root", "links": [{"victim": "a", "p": 1}, {"victim": "b", "p": 2}]}]}`, 9,
			[]string{`{"chains": [{"end": "loop", "links": []}, {"end": "root", "links": [{"victim": "a", "p": 1}, {"victim": "b", "p": 2}]}]}`},
			map[string]int{
				`{"chains": [{"end": "root", "links": [{"victim": "b", "p": 2}, {"victim": "a", "p": 1}]}]}`: 2, `{"chains": []}`: 7, `{"chains": [{"end": "root", "links": [{"victim": "a", "p": 1}]}]}`: 2,
			},
		},
		"forbidden characters": {`{"forbid": ["U+0000-U+001F", "U+200B"]}`, 3, []string{`{"a": "x", "\u200b": 1}`}, map[string]int{`{"a": ["\u001b"]}`: 1, `{"a": {"b": "x\u200by\n"}}`: 2}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			check := func(report string, bad int) {
				var want map[string]any
				var got any
				for text, v := range map[string]any{tc.want: &want, report: &got} {
					if err := json.Unmarshal([]byte(text), v); err != nil {
						t.Fatal(err)
					}
				}
				c := matched(want, got)
				if c.bad != bad || c.checks != tc.checks || (len(c.lines) > 0) != (bad > 0) {
					t.Errorf("%s: %d checks, %d mismatches %q; want %d and %d", report, c.checks, c.bad, c.lines, tc.checks, bad)
				}
			}
			for _, r := range tc.right {
				check(r, 0)
			}
			for r, bad := range tc.wrong {
				check(r, bad)
			}
		})
	}
}
