package ui

import (
	"context"
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// applyKey is the binding, and the command of the palette, that applies a file.
func applyKey() Binding {
	return Binding{
		Keys: keys("A"), Name: "apply", Help: "apply the objects of a file: see the server's dry-run and what Kueue will do, then confirm",
		Command: "apply", Argument: "FILE", With: func(e Env, path string) Dialog {
			if path == "" {
				return newFilePrompt("")
			}
			return planPath(e, path)
		},
		Enabled: func(e Env) (bool, string) {
			if e.ReadOnly {
				return false, "started with --read-only"
			}
			return e.Desk.May(world.Ref{}, actions.ApplyFile)
		},
		Root: func(r root) (root, Intent) { return r, open{newFilePrompt("")} },
	}
}

// newFilePrompt asks which file; path is what is there to begin with.
func newFilePrompt(path string) prompt {
	return prompt{
		title: "Apply a file", text: input{path}, name: "read it", help: "read it and see what would change",
		first: "ClusterQueues, LocalQueues, Cohorts, ResourceFlavors and WorkloadPriorityClasses, as YAML or JSON. You will see what the server makes of it and what Kueue will do before anything is done.",
		lines: []string{"", "Which file? ~ is your home."},
		next:  func(e Env, path string) Dialog { return planPath(e, path) },
	}
}

// fileName is what a file is called on the screen: where it is, if that is known.
func fileName(f actions.File) string { return text.Clean(or(f.Path, f.Name)) }

// filePlannedMsg brings the plan of a file, or why there is none.
type filePlannedMsg struct {
	ticket uint64
	file   actions.File
	plan   actions.Plan
	err    error
}

// planning waits for the plan of a file. Closing it forgets the answer.
type planning struct {
	name   string // safe to draw
	path   string // as it was typed
	ticket uint64
	do     func(context.Context) (actions.File, actions.Plan, error)
}

// planPath reads the file and plans to apply it.
func planPath(e Env, path string) Dialog {
	desk := e.Desk
	return planning{name: text.Clean(path), path: path, ticket: e.Ticket, do: func(ctx context.Context) (actions.File, actions.Plan, error) {
		f, err := desk.ReadFile(ctx, path)
		if err != nil {
			return f, actions.Plan{}, err
		}
		p, err := desk.PlanFile(ctx, f)
		return f, p, err
	}}
}

// planFile plans what was read already.
func planFile(e Env, f actions.File, path string) Dialog {
	desk := e.Desk
	return planning{name: fileName(f), path: path, ticket: e.Ticket, do: func(ctx context.Context) (actions.File, actions.Plan, error) {
		p, err := desk.PlanFile(ctx, f)
		return f, p, err
	}}
}

// planAgain reads the file anew. What was taken over before is asked for again: it
// may be more by now.
func planAgain(e Env, f actions.File) Dialog { return planPath(e, f.Path) }

// Start begins the work.
func (d planning) Start(e Env) tea.Cmd {
	do, ticket := d.do, d.ticket
	return e.ask(func(ctx context.Context) tea.Msg {
		f, p, err := do(ctx)
		return filePlannedMsg{ticket, f, p, err}
	})
}

// Title is Dialog's.
func (d planning) Title(Env) string { return "Apply " + d.name }

// Keys is Dialog's.
func (d planning) Keys() []Binding {
	return []Binding{{Keys: keys("esc"), Name: "cancel", Help: "nothing is changed", Do: func(Env) (Dialog, Intent) {
		return d, closeDialog{say: unchanged}
	}}}
}

// Update is Dialog's.
func (d planning) Update(e Env, m tea.Msg) (Dialog, Intent) {
	x, ok := m.(filePlannedMsg)
	if !ok || x.ticket != d.ticket {
		return d, nil
	}
	if own := foreignOf(x.err); len(own) > 0 && !x.file.TakeOver {
		return d, swap{dialog: newOwners(e, "Apply "+d.name, own, takeOver{
			then: "The plan is made again with it and shown before you are asked to apply it.",
			next: func(e Env) Dialog {
				f := x.file
				f.TakeOver = true
				return planFile(e, f, d.path)
			},
			again: func(e Env) Dialog { return planPath(e, d.path) },
		})}
	}
	switch {
	case errors.Is(x.err, actions.ErrNoChange):
		return d, swap{dialog: notice{title: "Apply " + d.name + ": there is nothing to apply", lines: append(problem(x.err), "", unchanged)}}
	case x.err != nil:
		return d, swap{dialog: newUnplanned(e, "Apply "+d.name+": not possible", d.path, x.err)}
	case len(x.plan.Edits) > 0:
		next := newPreviewing(e, x.plan, nil)
		next.file = &x.file
		return d, swap{dialog: next}
	}
	next := newPlan(e, x.plan, nil)
	next.file = &x.file
	return d, swap{dialog: next}
}

// View is Dialog's.
func (d planning) View(e Env, _, _ int) []string {
	return []string{"Reading the file, and asking the server for a dry-run of every object" + e.Theme.Glyph.Ellipsis, "", e.Theme.Paint(theme.Dim, "Esc: "+unchanged)}
}

// unplanned says why there is no plan of a file, and goes on from there.
type unplanned struct {
	title, path string
	err         error
	answer      // its grace alone: a key that was typed before does not close it unread
	view        doc.View
}

func newUnplanned(e Env, title, path string, err error) unplanned {
	return unplanned{title: title, path: path, err: err, answer: answer{ticket: e.Ticket}}
}

// Start begins the grace.
func (d unplanned) Start(e Env) tea.Cmd { return d.arm(e) }

// Title is Dialog's.
func (d unplanned) Title(Env) string { return d.title }

// Keys is Dialog's.
func (d unplanned) Keys() []Binding {
	after := func(do func(Env) (Dialog, Intent)) func(Env) (Dialog, Intent) {
		return func(e Env) (Dialog, Intent) {
			if !d.armed {
				return d, nil
			}
			return do(e)
		}
	}
	out := []Binding{
		{Keys: keys("p"), Name: "plan again", Help: "read the file again and plan again", Do: after(func(e Env) (Dialog, Intent) { return d, swap{dialog: planPath(e, d.path)} })},
		{Keys: keys("f"), Name: "another file", Help: "name another file", Do: after(func(Env) (Dialog, Intent) { return d, swap{dialog: newFilePrompt(d.path)} })},
		{Keys: keys("esc", "q", "enter"), Name: "close", Help: "nothing is changed", Do: after(func(Env) (Dialog, Intent) { return d, closeDialog{say: unchanged} })},
	}
	return append(out, scrolling(func(e Env, m table.Motion) Dialog {
		w, h := inside(e)
		d.view = d.view.Move(m, d.doc(e, w), h-2)
		return d
	}, true)...)
}

// Update is Dialog's.
func (d unplanned) Update(_ Env, m tea.Msg) (Dialog, Intent) {
	if _, ok := m.(armedMsg); ok {
		d.answer = d.update(m, "")
	}
	return d, nil
}

func (d unplanned) doc(e Env, w int) []doc.Line {
	var out []doc.Line
	for i, l := range problem(d.err) {
		role := theme.Plain
		if i == 0 {
			role = theme.Warn
		}
		for _, x := range term.Wrap(l, w-3) {
			out = append(out, doc.Line{Text: e.Theme.Paint(role, x)})
		}
	}
	return append(out, meanwhileDoc(e, meanwhileOf(d.err), w-3)...)
}

// View is Dialog's.
func (d unplanned) View(e Env, w, h int) []string {
	lines := d.doc(e, w)
	out := pageOf(e.Theme, d.view, lines, w, min(len(lines), h-2))
	return append(out, "", e.Theme.Paint(theme.Dim, unchanged+" p: read it and plan again   f: another file   Esc: close"))
}
