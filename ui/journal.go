package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/ui/filter"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// journalRead is what was read of the journal: the newest deed first, and sentences on
// lines that cannot be read.
type journalRead struct {
	deeds []actions.Deed
	bad   []string
}

// journal lists what was done with holdfast from this account.
type journal = onDemand[string, actions.Deed, journalRead]

func newJournal() journal {
	return newOnDemand(&demand[string, actions.Deed, journalRead]{
		sheet: journalSheet, needs: true, again: true, head: journalHeads,
		read: func(e Env, _ bool) func(context.Context) (journalRead, error) {
			if e.journal == nil {
				return nil
			}
			source := e.journal
			return func(context.Context) (journalRead, error) {
				entries, bad, err := source.Read()
				return journalRead{actions.Deeds(entries), bad}, err
			}
		},
		reload: Binding{Keys: keys("r"), Name: "read", Help: "read the journal again"},
	})
}

func journalSheet(_ bool, read journalRead) *sheet[string, actions.Deed] {
	return &sheet[string, actions.Deed]{
		name: "Journal", noun: "deed", own: "newest", columns: journalColumns(), fields: []string{"action", "object", "result", "context", "user"},
		none: "Nothing was done with holdfast from this account yet.",
		key:  func(d actions.Deed) string { return d.Intent.ID },
		list: arranged(journalColumns(), func(look) []actions.Deed { return slices.Clone(read.deeds) },
			func(look) func(actions.Deed, string, string) bool { return deedHas },
			func(d actions.Deed) string {
				return string(d.Intent.Action) + " " + deedObjects(d) + " " + d.Intent.Reason
			}),
		same:  func(_, _ *store.Snapshot, _ filter.Query) bool { return true },
		cells: deedCells, strip: deedStrip,
		open: func(_ Env, d actions.Deed) Intent { return push{deedPage{deed: d}} },
	}
}

func deedHas(d actions.Deed, field, word string) bool {
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), word) }
	x := d.Intent
	object := func() bool {
		return slices.ContainsFunc(x.Objects, func(o actions.JournalEvent) bool { return has(o.Object) })
	}
	switch field {
	case "action":
		return strings.HasPrefix(string(x.Action), word)
	case "object":
		return object()
	case "result":
		return strings.HasPrefix(string(d.Became()), word)
	case "context":
		return has(x.Context)
	case "user":
		return has(x.User)
	}
	return has(string(x.Action)) || object() || has(x.Reason) || has(x.Context) || has(x.ID)
}

func journalColumns() []column[actions.Deed] {
	type d = actions.Deed
	return []column[d]{
		{Column: table.Column{Title: "WHEN", Min: 16, Max: 16}, compare: func(look) func(a, b d) int {
			return func(a, b d) int { return a.Intent.Time.Compare(b.Intent.Time) }
		}, falling: true},
		{Column: table.Column{Title: "ACTION", Min: 6, Max: 12}, compare: by(func(d d) string { return string(d.Intent.Action) })},
		{Column: table.Column{Title: "OBJECTS", Min: 24, Max: 50}, compare: by(deedObjects)},
		{Column: table.Column{Title: "RESULT", Min: 11, Max: 11}, compare: by(func(d d) string { return string(d.Became()) })},
		{Column: table.Column{Title: "CONTEXT", Min: 10, Max: 20, Drop: 2}, compare: by(func(d d) string { return d.Intent.Context })},
		{Column: table.Column{Title: "REASON", Min: 12, Max: 12, Grow: 1, Drop: 1}, compare: by(func(d d) string { return d.Intent.Reason })},
	}
}

// deedObjects names the first object and how many more there are, safe to draw.
func deedObjects(d actions.Deed) string {
	var names []string
	for _, o := range d.Intent.Objects {
		names = append(names, text.Clean(o.Object))
	}
	if d.Intent.Action == actions.Export && len(d.Intent.Objects) > 0 {
		last := d.Intent.Objects[len(d.Intent.Objects)-1]
		return text.Clean(cmp.Or(last.Change, last.Object))
	}
	if len(names) == 0 {
		return "none"
	}
	return few(names)
}

// becameRole is the role of what a deed came to.
func becameRole(b actions.Became) theme.Role {
	switch b {
	case actions.BecameDone:
		return theme.Plain
	case actions.BecameNotDone, actions.BecameRefused:
		return theme.Warn
	}
	return theme.Alarm
}

func deedCells(e Env, d actions.Deed, _ bool) []table.Cell {
	x := d.Intent
	return []table.Cell{
		{Text: stamp(e.Now, x.Time)}, {Text: text.Clean(string(x.Action)), Role: theme.Strong}, {Text: deedObjects(d)},
		{Text: string(d.Became()), Role: becameRole(d.Became())}, {Text: text.Clean(x.Context)}, {Text: text.Clean(x.Reason)},
	}
}

func deedStrip(e Env, d actions.Deed, _ bool) strip {
	out := strip{head: text.Clean(string(d.Intent.Action)) + " " + deedObjects(d), tail: "  " + text.Clean(d.Intent.ID), role: becameRole(d.Became())}
	out.text = deedSentence(d)
	for i, o := range d.Intent.Objects {
		if i < 2 && o.Change != "" {
			out.text += " " + text.Clean(o.Change) + "."
		}
	}
	return out
}

// deedSentence says what a deed came to.
func deedSentence(d actions.Deed) string {
	out := "By " + text.Clean(or(d.Intent.User, "an unknown user")) + " on " + text.Clean(or(d.Intent.Context, "an unknown context")) + ": "
	switch d.Became() {
	case actions.BecameInterrupted:
		return out + "unknown: it is under way, or was " + actions.NoResult + "."
	case actions.BecameUnknown:
		return out + "unknown: no answer came back; look at the objects."
	}
	return out + string(d.Became()) + "."
}

// journalHeads say what of the journal was read and what could not be.
func journalHeads(e Env, s journal) []string {
	switch {
	case e.journal == nil:
		return wrapped(e, "Where the journal would be is not known: name a file with --journal.", theme.Warn)
	case s.got.done && !s.got.good && s.got.err != nil:
		return failed(e, s.got.err, len(s.got.value.deeds))
	case !s.got.done:
		return wrapped(e, "reading"+e.Theme.Glyph.Ellipsis, theme.Dim)
	}
	said := "What was done with holdfast from this account, on every cluster; read " + age(e.Now, s.got.at) + " ago."
	if s.asked != 0 {
		said += " Reading again" + e.Theme.Glyph.Ellipsis
	}
	out := wrapped(e, said, theme.Dim)
	if s.got.err != nil {
		out = append(out, failed(e, s.got.err, len(s.got.value.deeds))...)
	}
	for i, b := range s.got.value.bad {
		if i == 2 {
			out = append(out, wrapped(e, "and "+plural(len(s.got.value.bad)-i, "more line")+" that cannot be read", theme.Warn)...)
			break
		}
		out = append(out, wrapped(e, text.Clean(b), theme.Warn)...)
	}
	return out
}
