package ui

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// planDialog shows a plan and asks for it to be confirmed. What is executed is
// the plan that it holds and nothing else.
type planDialog struct {
	plan  actions.Plan
	shown actions.Plan // the same, safe to draw
	told  *foretold    // its preview; nil where there is none
	// bare is the plan without its preview, to ask for another one. skipped is set
	// when the person went on without it.
	bare    actions.Plan
	skipped bool
	// asked is when the preview was asked for, of what was known then.
	asked time.Time
	// everybody is set when all names are asked for.
	everybody bool
	draft     *actions.Draft
	file      *actions.File // of a file's plan
	answer
	view doc.View
}

func newPlan(e Env, p actions.Plan, draft *actions.Draft) planDialog {
	d := planDialog{plan: p, shown: cleanPlan(p), bare: p, draft: draft, answer: answer{ticket: e.Ticket}}
	if p.Impact != nil {
		d.told = foretell(&d.shown)
	}
	return d
}

// Start begins the grace.
func (d planDialog) Start(e Env) tea.Cmd { return d.arm(e) }

// Typing is typer's.
func (d planDialog) Typing() bool { return true }

// Title is Dialog's. What will happen stands there whole, however long the name
// of the object is.
func (d planDialog) Title(e Env) string {
	t, tail := planTitle(e, d.shown), ""
	switch {
	case d.told != nil:
		tail = ": " + d.told.headline()
	case d.skipped:
		tail = ": " + unknownFate
	}
	room := dialogWidth(e) - 4 - 2 - term.Width(tail)
	if room < 12 && tail != "" {
		return strings.TrimPrefix(tail, ": ") // the question names the object, too
	}
	return term.Clip(t, room, e.Theme.Glyph.Ellipsis) + tail
}

// planTitle names the action and its object: a Workload by its job, as people know it.
func planTitle(e Env, p actions.Plan) string {
	t := verb(p.Action)
	switch len(p.Targets) {
	case 0:
	case 1:
		t += " " + nameOf(e, p.Targets[0].Ref)
	default:
		t += " " + plural(len(p.Targets), kindOf(p.Targets))
		if p.Subject.Kind == world.KindCohort {
			t = verb(p.Action) + " " + plural(len(p.Targets), "ClusterQueue") + " below " + p.Subject.Name
		}
	}
	return t
}

// kindOf is what the objects are, in one word.
func kindOf(ts []actions.Target) string {
	for _, t := range ts {
		if t.Ref.Kind != ts[0].Ref.Kind {
			return "object"
		}
	}
	return string(ts[0].Ref.Kind)
}

// Keys is Dialog's.
func (d planDialog) Keys() []Binding {
	esc := unchanged
	if d.draft != nil {
		esc = "Discarded. " + unchanged
	}
	out := []Binding{
		{Keys: keys("enter"), Name: "confirm", Help: "do it, once the answer is typed", Do: d.confirm},
		{Keys: keys("esc"), Name: "cancel", Help: "nothing is changed", Do: func(e Env) (Dialog, Intent) {
			return d, closeDialog{say: esc, cmd: discard(e, d.draft)}
		}},
	}
	if d.draft != nil {
		out = append(out, editAgainKey(func(e Env) (Dialog, Intent) { return d, swap{dialog: newEditing(e, *d.draft, "")} }))
	}
	if x := &d.shown; len(d.bare.Edits)+len(x.RunsOn)+len(x.LosesReservation)+len(x.StaysPending)+len(x.Evicts) > 0 {
		out = append(out,
			Binding{Keys: keys("tab"), Name: "names", Help: "name everybody to whom something happens, or only the first few", Do: func(Env) (Dialog, Intent) {
				d.everybody = !d.everybody
				return d, nil
			}})
	}
	if len(d.bare.Edits) > 0 {
		out = append(out,
			Binding{Keys: keys("ctrl+p"), Name: "preview", Help: "ask again what Kueue will do, on the state of now", Do: func(e Env) (Dialog, Intent) {
				next := newPreviewing(e, d.bare, d.draft)
				next.file = d.file
				return d, swap{dialog: next}
			}})
	}
	return append(out, scrolling(func(e Env, m table.Motion) Dialog {
		w, h := inside(e)
		d.view = d.view.Move(m, d.doc(e, w), h-d.foot(e, w))
		return d
	}, false)...)
}

// editAgainKey goes back to the editor from a plan.
func editAgainKey(do func(Env) (Dialog, Intent)) Binding {
	return Binding{Keys: keys("ctrl+e"), Name: "edit again", Help: "back to the editor with your text", Do: do}
}

// inside is the room in a dialog's frame.
func inside(e Env) (w, h int) { return dialogWidth(e) - 4, e.H + 1 - 2 }

// confirm executes the plan if the answer is right, and says what is expected
// if not.
func (d planDialog) confirm(e Env) (Dialog, Intent) {
	if !d.armed {
		return d, nil
	}
	if !d.plan.Confirm.Accepts(d.typed.text) {
		d.answer = d.refuse(d.shown.Confirm.Expects)
		return d, nil
	}
	return d, swap{dialog: newWorking(e, d)}
}

// Update is Dialog's.
func (d planDialog) Update(_ Env, m tea.Msg) (Dialog, Intent) {
	d.answer = d.update(m, d.plan.Confirm.Expects)
	return d, nil
}

// foot is the number of lines below the text.
func (d planDialog) foot(e Env, w int) int { return 2 + len(d.asks(e, w)) }

// View is Dialog's.
func (d planDialog) View(e Env, w, h int) []string {
	g := e.Theme.Glyph
	lines := d.doc(e, w)
	room := min(len(lines), h-d.foot(e, w))
	out := make([]string, 0, h)
	for _, l := range d.view.Lines(e.Theme, lines, w+2, room) {
		out = append(out, strings.TrimPrefix(l, "  "))
	}
	above, below := d.view.More(lines, room)
	rule := strings.Repeat(g.Flat, w)
	if above || below {
		more := " " + g.Up + g.Down + " more "
		if !above {
			more = " " + g.Down + " more "
		} else if !below {
			more = " " + g.Up + " more "
		}
		rule = strings.Repeat(g.Flat, max(0, w-term.Width(more)-2)) + more + g.Flat + g.Flat
	}
	out = append(out, e.Theme.Paint(theme.Dim, rule))
	out = append(out, d.asks(e, w)...)
	leave := "Esc: " + strings.ToLower(unchanged[:1]) + unchanged[1:]
	if d.draft != nil {
		leave = "Esc: nothing is changed and your text is discarded. ctrl+e: edit again"
	}
	return append(out, d.last(e, leave))
}

// asks is the question and what was typed.
func (d planDialog) asks(e Env, w int) []string {
	return d.ask(e, d.question(), d.shown.Confirm.Expects, d.loud(), w)
}

// loud is the role of the question: what is taken from others is asked for louder.
func (d planDialog) loud() theme.Role {
	if d.takes() > 0 {
		return theme.Alarm
	}
	return theme.Strong
}

// takes counts the fields that are taken from their owners.
func (d planDialog) takes() int {
	n := 0
	for _, s := range d.shown.Notes {
		if saysTakesOver(s) {
			n++
		}
	}
	return n
}

func saysTakesOver(note string) bool { return strings.HasPrefix(note, actions.TakesOver) }

func (d planDialog) question() string {
	what := strings.ToLower(verb(d.plan.Action))
	switch d.plan.Action {
	case actions.Edit:
		what = "apply this edit"
	case actions.ApplyFile:
		if n := d.takes(); n > 0 {
			what = "apply and TAKE OVER " + plural(n, "field")
		}
	case actions.Reprioritize:
		what = "change its priority"
	}
	switch d.plan.Confirm.Level {
	case actions.ConfirmYes:
		return "Type " + d.shown.Confirm.Expects + " and Enter to " + what + ":"
	case actions.ConfirmContext:
		return "Type \"" + d.shown.Confirm.Expects + "\" (context and Workloads) to " + what + ":"
	case actions.ConfirmObjects:
		return "Type \"" + d.shown.Confirm.Expects + "\" (context and objects) to " + what + ":"
	}
	return "Type " + d.shown.Confirm.Expects + " to " + what + ":"
}

// cleanPlan returns the plan as it is drawn. It shares no text with the plan
// that is executed.
func cleanPlan(p actions.Plan) actions.Plan {
	out := p
	out.Context, out.Server, out.User = text.Clean(p.Context), text.Clean(p.Server), text.Clean(p.User)
	out.Incomplete, out.Reason, out.Confirm.Expects = text.Clean(p.Incomplete), text.Clean(p.Reason), text.Clean(p.Confirm.Expects)
	out.Diff, out.Notes, out.Warnings, out.Unknown = cleanAll(p.Diff), cleanAll(p.Notes), cleanAll(p.Warnings), cleanAll(p.Unknown)
	out.Targets = make([]actions.Target, len(p.Targets))
	for i, t := range p.Targets {
		t.Change = text.Clean(t.Change)
		out.Targets[i] = t
	}
	for _, as := range []*[]actions.Affected{&out.RunsOn, &out.LosesReservation, &out.StaysPending, &out.Evicts} {
		all := make([]actions.Affected, len(*as))
		for i, a := range *as {
			a.Job, a.Note = text.Clean(a.Job), text.Clean(a.Note)
			all[i] = a
		}
		*as = all
	}
	if p.Export != nil {
		x := *p.Export
		x.Path = text.Clean(x.Path)
		out.Export = &x
	}
	return out
}

func cleanAll(in []string) []string {
	var out []string
	for _, s := range in {
		out = append(out, text.Lines(s)...)
	}
	return out
}
