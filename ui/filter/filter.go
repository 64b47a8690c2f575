// Package filter is the language of the filters that a person types: words that
// must all be found, "!word" that must not, "key:value" that looks in one field, and
// "key:=value" for what is that and nothing more, in fields of names.
package filter

import (
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"
)

// Term is one word of a filter, in lower case.
type Term struct {
	// Field is the one to look in; empty: any.
	Field, Text string
	// Not says that it must not be found.
	Not bool
}

// Query is a filter as it was understood. The zero value lets everything through.
type Query struct {
	Text  string
	Terms []Term
	// Unknown are the fields that it names and that are not there. No row has them, so
	// nothing is found: a slip of the pen is to be seen, not to look like an answer.
	Unknown []string
	// Open are the fields that are named without a value yet; they let everything
	// through.
	Open []string
}

// Parse reads a filter for rows that have the fields. A word with a colon after
// letters names a field.
func Parse(s string, fields []string) Query {
	q := Query{Text: s}
	for w := range strings.FieldsSeq(strings.ToLower(s)) {
		t := Term{Text: w}
		if rest, ok := strings.CutPrefix(w, "!"); ok {
			t.Not, t.Text = true, rest
		}
		if k, v, ok := strings.Cut(t.Text, ":"); ok && isWord(k) {
			t.Field, t.Text = k, v
			switch {
			case !slices.Contains(fields, k):
				q.Unknown = append(q.Unknown, k)
			case v == "", v == "=":
				q.Open, t.Text = append(q.Open, k), ""
			}
		}
		if t.Text != "" || t.Field != "" && slices.Contains(q.Unknown, t.Field) {
			q.Terms = append(q.Terms, t)
		}
	}
	return q
}

func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// Holds reports whether a name has the text of a field's term in it, or is it where the
// text begins with "=".
func Holds(name, text string) bool {
	if whole, ok := strings.CutPrefix(text, "="); ok {
		return name == whole
	}
	return strings.Contains(name, text)
}

// Empty reports whether the query lets everything through.
func (q Query) Empty() bool { return len(q.Terms) == 0 }

// Names reports whether a term looks in the field.
func (q Query) Names(field string) bool {
	return slices.ContainsFunc(q.Terms, func(t Term) bool { return t.Field == field })
}

// Match reports whether a row passes. has says whether the row has the text, which is
// in lower case, in the field; an empty field is any. Terms without a field are asked
// first, since a field may be dear.
func (q Query) Match(has func(field, text string) bool) bool {
	if len(q.Unknown) > 0 {
		return false
	}
	for _, t := range q.Terms {
		if t.Field == "" && has("", t.Text) == t.Not {
			return false
		}
	}
	for _, t := range q.Terms {
		if t.Field != "" && has(t.Field, t.Text) == t.Not {
			return false
		}
	}
	return true
}

// Resembling returns the rows whose letters hold those of the query's plain words in
// their order; the other terms hold as they are. It is for when no row matches; nil
// where there are no plain words. letters is the text of a row.
func Resembling[T any](rows []T, q Query, has func(row T, field, text string) bool, letters func(T) string) []T {
	strict := Query{Unknown: q.Unknown}
	var loose []string
	for _, t := range q.Terms {
		if t.Field == "" && !t.Not {
			loose = append(loose, t.Text)
			continue
		}
		strict.Terms = append(strict.Terms, t)
	}
	if len(loose) == 0 {
		return nil
	}
	var left []T
	for _, r := range rows {
		if strict.Match(func(f, x string) bool { return has(r, f, x) }) {
			left = append(left, r)
		}
	}
	var out []T
	for _, m := range fuzzy.FindFromNoSort(strings.Join(loose, " "), haystack[T]{left, letters}) {
		out = append(out, left[m.Index])
	}
	return out
}

// haystack is what sahilm/fuzzy searches.
type haystack[T any] struct {
	rows    []T
	letters func(T) string
}

func (h haystack[T]) Len() int            { return len(h.rows) }
func (h haystack[T]) String(i int) string { return h.letters(h.rows[i]) }
