package ui

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// deedPage shows one deed of the journal whole.
type deedPage struct {
	deed actions.Deed
	view doc.View
}

// Title is Screen's.
func (s deedPage) Title(Env) (string, string) {
	return text.Clean(string(s.deed.Intent.Action)) + " " + deedObjects(s.deed), string(s.deed.Became())
}

// Keys is Screen's.
func (s deedPage) Keys() []Binding {
	return moving(func(e Env, m table.Motion) Screen {
		s.view = s.view.Move(m, s.doc(e), e.H)
		return s
	})
}

// Update is Screen's.
func (s deedPage) Update(Env, tea.Msg) (Screen, Intent) { return s, nil }

// View is Screen's.
func (s deedPage) View(e Env) []string { return pageOf(e.Theme, s.view, s.doc(e), e.W, e.H) }

func (s deedPage) doc(e Env) []doc.Line {
	p, d := newPaper(e), s.deed
	x := d.Intent
	clean := func(head, s string, role theme.Role) { p.text(head, text.Clean(s), role) }
	clean("RESULT", deedSentence(d), becameRole(d.Became()))
	clean("WHEN", x.Time.UTC().Format("2006-01-02T15:04:05Z")+" ("+stamp(e.Now, x.Time)+" here)", theme.Plain)
	if d.Result != nil && !d.Result.Time.Equal(x.Time) {
		clean("", "result after "+span(d.Result.Time.Sub(x.Time)), theme.Plain)
	}
	clean("REASON", or(x.Reason, "none was given"), theme.Plain)
	clean("CLUSTER", "context "+or(x.Context, "?")+", server "+or(x.Server, "?"), theme.Plain)
	clean("ID", x.ID, theme.Plain)
	if x.Undoes != "" {
		clean("", "takes back "+x.Undoes, theme.Plain)
	}
	if why := d.NoUndo(); why != "" {
		clean("UNDO", "not to be had: "+why, theme.Dim)
	} else {
		clean("UNDO", "holdfast journal undo "+x.ID, theme.Info)
		clean("", "It plans the inverse on that cluster as it is now, and asks before anything is done.", theme.Dim)
	}
	for _, o := range x.Objects {
		p.gap()
		s.objectDoc(p, o)
	}
	if d.Result != nil {
		for _, o := range d.Result.Objects {
			if !mentions(x.Objects, o.Object) {
				p.gap()
				clean("OBJECT", o.Object, theme.Strong)
				s.outcomeDoc(p, o)
			}
		}
	}
	return p.lines
}

func mentions(all []actions.JournalEvent, object string) bool {
	for _, o := range all {
		if o.Object == object {
			return true
		}
	}
	return false
}

// objectDoc says what was meant for an object, what became of it, and each field
// before and after.
func (s deedPage) objectDoc(p *paper, o actions.JournalEvent) {
	clean := func(head, s string, role theme.Role) { p.text(head, text.Clean(s), role) }
	clean("OBJECT", o.Object, theme.Strong)
	if o.Change != "" {
		clean("CHANGE", o.Change, theme.Plain)
	}
	if is, ok := s.deed.Of(o.Object); ok {
		s.outcomeDoc(p, is)
	} else if s.deed.Result == nil {
		clean("OUTCOME", "unknown: no result was written", theme.Alarm)
	}
	if o.UID != "" {
		clean("IDENTITY", "uid "+o.UID+", planned at generation "+strconv.FormatInt(o.Generation, 10)+", resourceVersion "+or(o.ResourceVersion, "?"), theme.Dim)
	}
	if o.Method != "" || o.API != "" {
		clean("SENT", "as "+or(o.Method, "a merge patch")+apiWords(o.API), theme.Dim)
	}
	fields, before := o.Changes()
	head := "FIELDS"
	for _, f := range fields {
		was := or(f.Was, "nothing")
		if !before {
			was = "?"
		}
		clean(head, f.Path+": "+was+" "+p.e.Theme.Glyph.Arrow+" "+or(f.Yours, "nothing"), theme.Plain)
		head = ""
	}
	if len(fields) > 0 && !before {
		clean("", "What was there before is not in the journal.", theme.Dim)
	}
}

func apiWords(api string) string {
	if api == "" {
		return ""
	}
	return " to " + api
}

func (s deedPage) outcomeDoc(p *paper, o actions.JournalEvent) {
	word, role := map[actions.Outcome]string{
		actions.Done: "done", actions.NotDone: "not done", actions.Refused: "refused", actions.OutcomeUnknown: "unknown",
	}[o.Outcome], theme.Plain
	if o.Outcome != actions.Done {
		role = theme.Warn
	}
	if word == "" {
		word = or(string(o.Outcome), "unknown")
	}
	if o.Outcome == actions.Done && o.Verified {
		word += ", verified"
	}
	if sent := o.Sent(); sent != "" {
		word += ", " + sent
	}
	if o.Detail != "" {
		word += ": " + o.Detail
	}
	p.text("OUTCOME", text.Clean(word), role)
}
