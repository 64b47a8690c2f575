package ui

import (
	"context"
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// newFix asks where the corrected objects of a session come from.
func newFix(e Env, x rollback.Session) Dialog {
	d := chooser{title: "Fix: correct what?"}
	for _, ref := range fixable(e, x.Target) {
		d.choices = append(d.choices, choice{"Edit " + object(ref) + " in your editor", func(e Env) Dialog { return openFix(e, x.ID, ref) }})
	}
	d.choices = append(d.choices, choice{"Take a file of corrected objects", func(Env) Dialog { return newFixFile(x) }})
	return d
}

// fixable are the objects that a session can correct: the queue, with the ClusterQueue
// of a LocalQueue, or the Cohort, where it is an object, and the ClusterQueues below it.
func fixable(e Env, t rollback.Target) []world.Ref {
	of := func(kind world.Kind, m world.Meta) world.Ref { return world.Ref{Kind: kind, Key: m.Key, UID: m.UID} }
	var out []world.Ref
	clusterQueue := t.Name
	switch t.Kind {
	case world.KindCohort:
		if c := e.Snap.Cohort(t.Name); c != nil {
			out = append(out, of(world.KindCohort, c.Meta))
		}
		return append(out, actions.QueuesBelow(e.Snap, t.Name)...)
	case world.KindLocalQueue:
		q := e.Snap.LocalQueue(t.Ref().Key)
		if q == nil {
			return nil
		}
		out, clusterQueue = append(out, of(world.KindLocalQueue, q.Meta)), q.ClusterQueue
	}
	if q := e.Snap.ClusterQueue(clusterQueue); q != nil {
		out = append(out, of(world.KindClusterQueue, q.Meta))
	}
	return out
}

// newFixFile asks which file becomes the fix.
func newFixFile(x rollback.Session) prompt {
	lines := []string{"The file with the corrected objects. ~ is your home. Where others own fields of it, the dry-run names them and offers to take them over."}
	if x.Fix != nil {
		lines = append(lines, "", "It takes the place of the fix that is there: "+x.Step(rollback.Fix).Detail)
	}
	id := x.ID
	return asked(prompt{title: "Fix", lines: lines, name: "attach", help: "take the file into the session"}, rollback.Fix,
		func(ctx context.Context, keep Sessions, path string) (rollback.Session, error) {
			return keep.Attach(ctx, id, path)
		})
}

// openFix opens the object for the fix of the session.
func openFix(e Env, id string, ref world.Ref) Dialog {
	title := "Edit " + object(ref)
	if ok, why := e.Desk.May(ref, actions.Edit); !ok {
		return notice{title: title + ": not possible", lines: []string{why, "", unchanged}, role: theme.Warn}
	}
	keep, ticket := e.sessions, e.Ticket
	return busy{title: title, doing: "Reading the object", ticket: ticket, fix: id,
		do: func(ctx context.Context) tea.Msg {
			d, err := keep.OpenFix(ctx, id, ref)
			return openedMsg{ticket, d, err}
		}}
}

// attaching waits until what was edited is in the session's fix.
type attaching struct {
	draft  actions.Draft
	fix    string
	ticket uint64
}

type attachedMsg struct {
	ticket uint64
	s      rollback.Session
	err    error
}

func newAttaching(e Env, d actions.Draft, fix string) attaching {
	return attaching{draft: d, fix: fix, ticket: e.Ticket}
}

// Start begins the work.
func (d attaching) Start(e Env) tea.Cmd {
	keep := e.sessions
	return e.ask(func(ctx context.Context) tea.Msg {
		x, err := keep.AttachEdit(ctx, d.fix, d.draft)
		return attachedMsg{d.ticket, x, err}
	})
}

// Title is Dialog's.
func (d attaching) Title(Env) string { return "Fix: " + object(d.draft.Target.Ref) }

// Keys is Dialog's.
func (d attaching) Keys() []Binding {
	return []Binding{{Keys: keys("esc"), Name: "leave", Help: "do not wait; the text stays in its file", Do: func(e Env) (Dialog, Intent) {
		return d, closeDialog{say: "Not waited for: the checklist shows what came of it. Your text stays in " + text.Clean(d.draft.Path), cmd: leave(e, d.draft)}
	}}}
}

// Update is Dialog's.
func (d attaching) Update(e Env, m tea.Msg) (Dialog, Intent) {
	x, ok := m.(attachedMsg)
	switch {
	case !ok || x.ticket != d.ticket:
		return d, nil
	case errors.Is(x.err, actions.ErrNoChange):
		return d, swap{dialog: newRefusal(d.draft, d.fix, "Nothing was changed in the text", x.err)}
	case x.err != nil:
		return d, swap{dialog: newRefusal(d.draft, d.fix, refusalTitle(x.err), x.err)}
	}
	step := x.s.Step(rollback.Fix)
	lines := []string{step.Detail, ""}
	for _, l := range step.Lines {
		lines = append(lines, text.Clean(l))
	}
	return d, swap{dialog: notice{title: d.Title(e) + " is in the fix", lines: append(lines, "", "Nothing is written to the cluster yet.")}, cmd: discard(e, &d.draft)}
}

// View is Dialog's.
func (d attaching) View(e Env, _, _ int) []string {
	return []string{"Asking the server whether it takes the object so" + e.Theme.Glyph.Ellipsis, "", e.Theme.Paint(theme.Dim, "Esc: do not wait")}
}

// fixAgain offers to go back to the fix from what came of it.
func fixAgain(n notice, x rollback.Session) notice {
	n.lines = append(n.lines, "", "e: correct the fix   Esc: close")
	n.more = []Binding{{Keys: keys("e"), Name: "fix", Help: "correct the fix: edit an object, or take another file", Do: func(e Env) (Dialog, Intent) {
		return n, swap{dialog: newFix(e, x)}
	}}}
	return n
}

// fixedAnew reports whether the session has another fix than it had.
func fixedAnew(was, is rollback.Session) bool {
	a, b := was.Step(rollback.Fix), is.Step(rollback.Fix)
	return b.State == rollback.Done && !b.Ended.Equal(a.Ended)
}
