package ui

import (
	"context"
	"errors"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// executedMsg brings what became of a plan.
type executedMsg struct {
	ticket uint64
	result actions.Result
	err    error
}

// working is on the screen while a plan is executed. It cannot be closed.
type working struct {
	plan     planDialog
	ticket   uint64
	run      tea.Cmd
	cancel   context.CancelFunc
	stopping bool
}

func newWorking(e Env, p planDialog) working {
	ctx, cancel := context.WithTimeout(e.base, executeTimeout)
	if p.plan.Action == actions.Export {
		// As long as the list is; Ctrl-C ends it.
		cancel()
		ctx, cancel = context.WithCancel(e.base)
	}
	desk, plan, typed, ticket, hands := e.Desk, p.plan, p.typed.text, e.Ticket, e.hands
	return working{plan: p, ticket: ticket, cancel: cancel, run: func() tea.Msg {
		hands <- struct{}{}
		defer func() { cancel(); <-hands }()
		r, err := desk.Execute(ctx, plan, typed)
		return executedMsg{ticket, r, err}
	}}
}

// Start begins the work.
func (d working) Start(Env) tea.Cmd { return d.run }

// Title is Dialog's.
func (d working) Title(e Env) string { return planTitle(e, d.plan.shown) }

// Keys is Dialog's.
func (d working) Keys() []Binding {
	return []Binding{{Keys: keys("ctrl+c"), Name: "stop", Help: "stop after the object under way; again: leave at once", Do: func(Env) (Dialog, Intent) {
		d.cancel()
		if d.stopping {
			return d, quit{}
		}
		d.stopping = true
		return d, nil
	}}}
}

// Update is Dialog's.
func (d working) Update(e Env, m tea.Msg) (Dialog, Intent) {
	x, ok := m.(executedMsg)
	if !ok || x.ticket != d.ticket {
		return d, nil
	}
	r := resultDialog{title: d.Title(e), result: x.result, err: x.err, draft: d.plan.draft, file: d.plan.file, export: d.plan.shown.Export, ticket: e.Ticket}
	var cmd tea.Cmd
	if x.err == nil && r.done() {
		cmd, r.draft = discard(e, d.plan.draft), nil
	}
	return d, swap{dialog: r, cmd: cmd}
}

// View is Dialog's.
func (d working) View(e Env, _, _ int) []string {
	if d.stopping {
		return []string{"Stopping after the object under way" + e.Theme.Glyph.Ellipsis, "",
			e.Theme.Paint(theme.Dim, "Ctrl-C again leaves at once; the journal has what was done.")}
	}
	doing := "Working"
	if n := len(d.plan.plan.Targets); n > 1 {
		doing = "Writing " + plural(n, "object") + ", one after the other"
	}
	return []string{doing + e.Theme.Glyph.Ellipsis + " Then waiting until Kueue has taken it up.", "", e.Theme.Paint(theme.Dim, "Ctrl-C: stop after the object under way.")}
}

// resultDialog says what became of each object.
type resultDialog struct {
	title  string
	result actions.Result
	err    error
	draft  *actions.Draft
	file   *actions.File // of a file's plan
	export *actions.ExportPlan
	ticket uint64
	armed  bool
	view   doc.View
}

func (d resultDialog) good() bool { return d.err == nil && d.result.OK() }

// done reports whether every object is done, verified or not.
func (d resultDialog) done() bool {
	for _, o := range d.result.Objects {
		if o.Outcome != actions.Done {
			return false
		}
	}
	return len(d.result.Objects) > 0
}

// Start begins the grace: a key that was typed before does not close it unread.
func (d resultDialog) Start(e Env) tea.Cmd { return e.timer(grace, armedMsg{d.ticket}) }

// Title is Dialog's.
func (d resultDialog) Title(Env) string {
	switch {
	case d.good():
		return d.title + ": done"
	case d.err == nil && d.done():
		return d.title + ": done, NOT VERIFIED"
	}
	return d.title + ": NOT ALL DONE"
}

// Keys is Dialog's.
func (d resultDialog) Keys() []Binding {
	out := []Binding{{Keys: keys("enter", "esc", "q"), Name: "close", Help: "close", Do: func(e Env) (Dialog, Intent) {
		if !d.armed {
			return d, nil
		}
		if d.draft != nil && !d.done() {
			// What was not applied is the person's work, and may be all there is of it.
			return d, closeDialog{say: "Your text stays in " + text.Clean(d.draft.Path) + "; the next edit offers it", cmd: leave(e, *d.draft)}
		}
		return d, closeDialog{cmd: discard(e, d.draft)}
	}}}
	if d.draft != nil {
		out = append(out, Binding{Keys: keys("e"), Name: "edit again", Help: "edit again with your text, on the object as it is now", Do: func(e Env) (Dialog, Intent) {
			for _, o := range d.result.Objects {
				if len(o.Meanwhile) > 0 {
					return d, swap{dialog: renew(e, *d.draft, "")}
				}
			}
			return d, swap{dialog: editAgain(e, *d.draft, "", d.problem())}
		}})
	}
	if d.again() {
		out = append(out, Binding{Keys: keys("p"), Name: "plan again", Help: "read the file again and plan what is not done", Do: func(e Env) (Dialog, Intent) {
			if !d.armed {
				return d, nil
			}
			return d, swap{dialog: planAgain(e, *d.file)}
		}})
	}
	return append(out, scrolling(func(e Env, m table.Motion) Dialog {
		w, h := inside(e)
		d.view = d.view.Move(m, d.doc(e, w), h-2)
		return d
	}, true)...)
}

// again reports whether there is something of a file that can be planned again.
func (d resultDialog) again() bool { return d.file != nil && !d.done() }

// problem is what went wrong, for the top of the draft.
func (d resultDialog) problem() error {
	if d.err != nil {
		return d.err
	}
	var out []string
	for _, o := range d.result.Objects {
		out = append(out, o.Ref.String()+": "+o.Detail)
	}
	return errors.New(strings.Join(out, "\n"))
}

// Update is Dialog's.
func (d resultDialog) Update(_ Env, m tea.Msg) (Dialog, Intent) {
	if x, ok := m.(armedMsg); ok {
		d.armed = d.armed || x.ticket == d.ticket
	}
	return d, nil
}

func (d resultDialog) doc(e Env, w int) []doc.Line {
	p := &planPaper{e: e, w: w}
	for _, o := range d.result.Objects {
		sign, word, role := outcome(e.Theme, o)
		if d.export != nil && o.Outcome == actions.Done && o.Verified {
			word = "written and read back" // nobody takes a file up
		}
		s := word
		if o.Detail != "" {
			s += ": " + text.Clean(o.Detail)
		}
		p.raw(e.Theme.Paint(theme.Strong, object(o.Ref)))
		p.text("  "+sign, s, role)
		p.lines = append(p.lines, meanwhileDoc(e, o.Meanwhile, w)...)
	}
	if d.export != nil && d.good() {
		p.text("FILE", d.export.Path, theme.Strong)
	}
	if d.err != nil {
		p.list("PROBLEM", problem(d.err), theme.Alarm)
	}
	if d.result.JournalID != "" {
		p.text("JOURNAL", text.Clean(d.result.JournalID), theme.Dim)
	}
	if len(p.lines) == 0 {
		p.text("UNKNOWN", "no word on what was done; look at the objects and the journal", theme.Alarm)
	}
	return p.lines
}

// outcome is a sign and words for what became of an object.
func outcome(th *theme.Theme, o actions.ObjectResult) (sign, word string, role theme.Role) {
	switch {
	case o.Outcome == actions.Done && o.Verified:
		return th.Glyph.Tick, "done, and seen to be taken up", theme.Good
	case o.Outcome == actions.Done && o.Unverifiable:
		return th.Glyph.Tick, "done", theme.Good
	case o.Outcome == actions.Done:
		return th.Glyph.Warn, "done, NOT VERIFIED", theme.Warn
	case o.Outcome == actions.Refused:
		return th.Glyph.Cross, "refused", theme.Alarm
	case o.Outcome == actions.NotDone:
		return th.Glyph.Dot, "not done", theme.Warn
	}
	return th.Glyph.Unknown, "UNKNOWN whether it was done", theme.Alarm
}

// View is Dialog's.
func (d resultDialog) View(e Env, w, h int) []string {
	lines := d.doc(e, w-2)
	out := pageOf(e.Theme, d.view, lines, w, min(len(lines), h-2))
	last := "Enter: close"
	if d.draft != nil {
		last = "e: edit again, your text is kept   Enter: close, your text stays in its file"
	}
	if d.again() {
		last = "p: plan again what is not done, on the objects as they are now   Enter: close"
	}
	return append(out, "", e.Theme.Paint(theme.Dim, last))
}
