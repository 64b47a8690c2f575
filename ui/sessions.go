package ui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// Sessions keeps rollback sessions and does their steps. All methods may take their
// time and are called outside the drawing loop, with a deadline. An error may have a
// method Advice() string that says what to do next.
type Sessions interface {
	// List returns the sessions, the newest first, and sentences on files that cannot be
	// read.
	List(ctx context.Context) ([]rollback.Session, []string, error)
	Load(ctx context.Context, id string) (rollback.Session, error)
	Start(ctx context.Context, ref world.Ref, reason string) (rollback.Session, error)
	// Prepare reads anew what was interrupted and plans the step. A step in which
	// nothing is written is done at once: the plan is nil then. The plan is executed by
	// the Desk, which tells the session.
	Prepare(ctx context.Context, id string, n rollback.Name) (rollback.Session, *actions.Plan, error)
	Skip(ctx context.Context, id string, n rollback.Name, reason string) (rollback.Session, error)
	// Attach reads the corrected objects from a file.
	Attach(ctx context.Context, id, path string) (rollback.Session, error)
	// OpenFix writes the object, with what the session's fix says of it, into a private
	// file for the editor.
	OpenFix(ctx context.Context, id string, ref world.Ref) (actions.Draft, error)
	// AttachEdit takes what was changed in the draft's text into the fix.
	// actions.ErrNoChange means that this is nothing.
	AttachEdit(ctx context.Context, id string, draft actions.Draft) (rollback.Session, error)
	// TakeOver has the fix of the session become the owner of fields that others own,
	// and prepares its dry-run with that, as Prepare does.
	TakeOver(ctx context.Context, id string) (rollback.Session, *actions.Plan, error)
	Attest(ctx context.Context, id, words string) (rollback.Session, error)
	// Summary is the command that prints the session's incident record. It does not block.
	Summary(id string) string
}

// sessions lists the rollback sessions of this account.
type sessions struct {
	list table.List[string, rollback.Session]
	bad  []string
	err  error
	read bool
	came bool // the person came here after the last reading
}

type sessionsMsg struct {
	all []rollback.Session
	bad []string
	err error
}

func newSessions() sessions {
	return sessions{list: table.NewList(func(s rollback.Session) string { return s.ID })}
}

// Title is Screen's.
func (s sessions) Title(Env) (string, string) {
	return "Rollback sessions", plural(s.list.Len(), "session")
}

// Keys is Screen's.
func (s sessions) Keys() []Binding {
	out := []Binding{{Keys: keys("enter", "right", "l"), Name: "open", Help: "open the checklist", Run: func(Env) (Screen, Intent) {
		x, gone, ok := s.list.Selected()
		if !ok || gone {
			return s, nil
		}
		return s, push{newSession(x)}
	}}}
	return append(out, moving(func(e Env, m table.Motion) Screen {
		s.list = s.list.Move(m, max(1, e.H-1))
		return s
	})...)
}

// Update is Screen's.
func (s sessions) Update(e Env, m tea.Msg) (Screen, Intent) {
	switch m := m.(type) {
	case shownMsg, beatMsg:
		if x, ok := m.(shownMsg); ok && x.came {
			s.came = true
		}
		if e.sessions == nil {
			return s, nil
		}
		keep := e.sessions
		return s, run{e.ask(func(ctx context.Context) tea.Msg {
			all, bad, err := keep.List(ctx)
			return sessionsMsg{all, bad, err}
		})}
	case sessionsMsg:
		if e.Still && s.read && !s.came {
			return s, nil // they are read again in a moment
		}
		s.came = false
		s.bad, s.err, s.read = m.bad, m.err, true
		if m.err == nil {
			s.list = s.list.Refresh(m.all)
		}
	}
	return s, nil
}

// View is Screen's.
func (s sessions) View(e Env) []string {
	var out []string
	switch {
	case e.sessions == nil:
		out = append(out, " A file has no sessions: they change a cluster.")
	case s.err != nil:
		out = append(out, e.Theme.Paint(theme.Alarm, " The sessions cannot be read: "+text.Clean(s.err.Error())))
	case !s.read:
		out = append(out, " "+e.Theme.Glyph.Ellipsis)
	case s.list.Len() == 0:
		out = append(out, " There are none. Begin one on a queue or cohort with S: hold, export, fix, dry-run, apply,", " resume, compare, each step kept on disk.")
	}
	for _, b := range s.bad {
		out = append(out, e.Theme.Paint(theme.Warn, " "+b))
	}
	out = fitted(e, out)
	from, to := s.list.Window(max(1, e.H-len(out)))
	for i := from; i < to && len(out) < e.H; i++ {
		x := s.list.At(i)
		line, role := "  "+sessionLine(x), theme.Plain
		if x.Next() == nil {
			role = theme.Dim
		}
		if i == s.list.Cursor() {
			line, role = e.Theme.Glyph.Cursor+" "+sessionLine(x), theme.Selected
		}
		out = append(out, e.Theme.Paint(role, term.Fit(line, e.W, e.Theme.Glyph.Ellipsis)))
	}
	return out
}

func sessionLine(x rollback.Session) string {
	state := "over"
	if n := x.Next(); n != nil {
		state = "next: " + string(n.Name)
		if n.State != rollback.Todo {
			state += " (" + string(n.State) + ")"
		}
	}
	return x.Created.Format("2006-01-02 15:04") + "Z  " + term.Fit(object(x.Target.Ref()), 34, "") + " " + term.Fit(state, 20, "") + " " + x.By + " on " + x.Context
}

func fitted(e Env, in []string) []string {
	var out []string
	for _, l := range in {
		out = append(out, term.Clip(l, e.W, e.Theme.Glyph.Ellipsis))
	}
	return out[:min(len(out), e.H)]
}
