package ui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// session is the checklist of one rollback.
type session struct {
	s  rollback.Session
	at int // the step under the cursor
	// why says why the checklist may be older than the one on disk.
	why string
}

type sessionMsg struct {
	s   rollback.Session
	err error
}

func newSession(x rollback.Session) session { return session{s: x, at: nextStep(x)} }

// nextStep is the index of the first step that is not over, or of the last.
func nextStep(x rollback.Session) int {
	for i := range x.Steps {
		if !x.Steps[i].Over() {
			return i
		}
	}
	return len(x.Steps) - 1
}

// Title is Screen's.
func (s session) Title(Env) (string, string) {
	return "Rollback of " + object(s.s.Target.Ref()), "session " + s.s.ID
}

// Keys is Screen's.
func (s session) Keys() []Binding {
	out := []Binding{
		{Keys: keys("enter"), Name: "do it", Help: "do the step under the cursor: see its plan, then confirm", Enabled: s.may, Run: func(e Env) (Screen, Intent) {
			return s, open{s.begin(e, s.step().Name)}
		}},
		{Keys: keys("s"), Name: "skip", Help: "leave the step out, for a reason", Enabled: s.maySkip, Run: func(Env) (Screen, Intent) {
			n, id := s.step().Name, s.s.ID
			return s, open{asked(prompt{
				title: "Skip " + string(n), lines: []string{"Why? It goes into the incident record."}, name: "skip", help: "leave the step out",
			}, n, func(ctx context.Context, keep Sessions, words string) (rollback.Session, error) {
				return keep.Skip(ctx, id, n, words)
			})}
		}},
		{Keys: keys("e"), Name: "fix", Help: "correct an object in your editor, or take another file: the step fix, from wherever the cursor is", Run: func(e Env) (Screen, Intent) {
			return s, open{newFix(e, s.s)}
		}},
	}
	return append(out, moving(func(_ Env, m table.Motion) Screen {
		switch m {
		case table.Up:
			s.at = max(0, s.at-1)
		case table.Down:
			s.at = min(len(s.s.Steps)-1, s.at+1)
		case table.Top:
			s.at = 0
		case table.Bottom:
			s.at = len(s.s.Steps) - 1
		}
		return s
	})...)
}

func (s session) step() *rollback.Step { return &s.s.Steps[s.at] }

func (s session) may(e Env) (bool, string) {
	n := s.step().Name
	switch {
	case s.s.Over():
		return false, "the session is over"
	case e.ReadOnly && (n == rollback.Hold || n == rollback.Apply || n == rollback.Resume):
		return false, "started with --read-only"
	case n == rollback.Fix || n == rollback.Evidence:
		return true, ""
	}
	if err := s.s.May(n); err != nil {
		return false, err.Error()
	}
	return true, ""
}

func (s session) maySkip(Env) (bool, string) {
	if s.step().State == rollback.Done {
		return false, string(s.step().Name) + " is done already"
	}
	return true, ""
}

// begin is the dialog that a step begins with.
func (s session) begin(e Env, n rollback.Name) Dialog {
	id := s.s.ID
	title := strings.ToUpper(string(n[:1])) + string(n[1:])
	switch n {
	case rollback.Fix:
		return newFix(e, s.s)
	case rollback.Evidence:
		return asked(prompt{
			title: title, lines: append([]string{"What do you know of the checkpoints of those who could be preempted? You attest it with your name.", ""}, s.preemptible(e)...),
			name: "attest", help: "attest it",
		}, n, func(ctx context.Context, keep Sessions, words string) (rollback.Session, error) {
			return keep.Attest(ctx, id, words)
		})
	}
	return prepare(e, title, id, n)
}

// Update is Screen's.
func (s session) Update(e Env, m tea.Msg) (Screen, Intent) {
	switch m := m.(type) {
	case shownMsg, beatMsg:
		if e.sessions == nil {
			return s, nil
		}
		id, keep := s.s.ID, e.sessions
		return s, run{e.ask(func(ctx context.Context) tea.Msg {
			x, err := keep.Load(ctx, id)
			if err == nil && x.ID != id {
				err = fmt.Errorf("session %s was read instead", x.ID)
			}
			x.ID = id
			return sessionMsg{x, err}
		})}
	case sessionMsg:
		switch {
		case m.s.ID != s.s.ID:
		case m.err != nil:
			s.why = text.Clean(m.err.Error())
		default:
			over := !s.step().Over() && m.s.Steps[s.at].Over() || fixedAnew(s.s, m.s)
			if s.s, s.why = m.s, ""; over {
				s.at = nextStep(m.s) // on with it
			}
		}
	}
	return s, nil
}

// View is Screen's.
func (s session) View(e Env) []string {
	g := e.Theme.Glyph
	var out []string
	add := func(role theme.Role, l string) {
		out = append(out, e.Theme.Paint(role, term.Clip(l, e.W, g.Ellipsis)))
	}
	head := "begun " + s.s.Created.Format("2006-01-02 15:04:05") + "Z by " + s.s.By + " on " + s.s.Context
	if s.s.Reason != "" {
		head += ": " + s.s.Reason
	}
	add(theme.Plain, " "+head)
	if s.why != "" {
		add(theme.Warn, " It may be older than the one on disk: "+s.why)
	}
	add(theme.Plain, "")
	cursor := 0
	for i := range s.s.Steps {
		x := &s.s.Steps[i]
		sign, role := stepSign(x.State)
		words := x.Detail
		if words == "" {
			words = x.Name.Help()
		}
		line := fmt.Sprintf("%s %-9s %-7s %s", sign, x.Name, x.State, words)
		if i == s.at {
			cursor = len(out)
			out = append(out, e.Theme.Paint(theme.Selected, term.Fit(g.Cursor+" "+line, e.W, g.Ellipsis)))
			continue
		}
		add(role, "  "+line)
	}
	if s.s.Over() {
		add(theme.Plain, "")
		over, left := s.over(e)
		add(theme.Strong, " "+over+" The incident record: "+s.summary(e))
		for _, l := range left {
			for _, x := range term.Wrap(l, max(1, e.W-2)) {
				add(theme.Warn, " "+x)
			}
		}
	}
	lines := s.step().Lines
	if room := e.H - len(out) - 1; room > 2 && (len(lines) > 0 || s.step().Detail != "") {
		add(theme.Dim, strings.Repeat(g.Flat, e.W))
		for _, l := range term.Wrap(s.step().Detail, max(1, e.W-2)) {
			if len(out) < e.H {
				add(theme.Plain, " "+l)
			}
		}
		for i, l := range lines {
			if len(out) == e.H-1 && i < len(lines)-1 {
				add(theme.Dim, fmt.Sprintf(" and %d lines more: %s", len(lines)-i, s.summary(e)))
				break
			}
			if len(out) < e.H {
				add(theme.Plain, " "+text.Clean(l))
			}
		}
	}
	from := max(0, cursor-e.H+1) // on a low screen what matters is the step under the cursor
	return out[from:min(len(out), from+e.H)]
}

// mostPreemptible is how many Workloads are named before what is known of them is asked.
const mostPreemptible = 6

// preemptible names who runs and could be preempted.
func (s session) preemptible(e Env) []string {
	all := rollback.Checkpoints(e.Snap, s.s.Target, e.checkpoint)
	if len(all) == 0 {
		return []string{"Nothing runs in its tree."}
	}
	var out []string
	for i, l := range all {
		if i == mostPreemptible {
			out = append(out, "and "+count(len(all)-i)+" more: they are all in the step's lines when it is done")
			break
		}
		out = append(out, text.Clean(l))
	}
	return append(out, "")
}

func (s session) summary(e Env) string {
	if e.sessions == nil {
		return "not to be read here"
	}
	return e.sessions.Summary(s.s.ID)
}

// takesUp is how long after a step the snapshot may not have it yet: the watch lags, and a
// snapshot is made from what it brought.
const takesUp = 5 * time.Second

// over says how well all is when each step is over, and what is not. That is of the cluster
// as it is; where the snapshot is older than the last step it says nothing.
func (s session) over(e Env) (string, []string) {
	var ended time.Time
	for i := range s.s.Steps {
		if x := s.s.Steps[i].Ended; x.After(ended) {
			ended = x
		}
	}
	left := rollback.LeftOf(e.Snap, s.s.Target)
	out := left.Lines()
	if len(left.Over) > 0 {
		out = append(out, "D on a queue (Queues, Cohorts) drains it.")
	}
	switch {
	case e.Behind || e.Snap.At.Before(ended) && e.Now.Before(ended.Add(takesUp)):
		return "Every step is over; whether all is well is being read" + e.Theme.Glyph.Ellipsis, nil
	case len(left.Stopped)+len(left.Over) > 0:
		return "Every step is over, but not all is well (below).", out
	case len(left.Unknown) > 0:
		return "Every step is over; whether all is well is not known (below).", out
	}
	return "Over.", nil
}

// stepSign is readable without colours.
func stepSign(s rollback.State) (string, theme.Role) {
	switch s {
	case rollback.Done:
		return "[x]", theme.Plain
	case rollback.Skipped:
		return "[-]", theme.Dim
	case rollback.Failed:
		return "[!]", theme.Alarm
	case rollback.Running:
		return "[?]", theme.Warn
	}
	return "[ ]", theme.Plain
}

// sessionKey begins a session on a queue or cohort.
func sessionKey(stay Screen, target targeter) Binding {
	return Binding{
		Keys: keys("S"), Name: "session", Help: "begin a rollback session: hold, export, fix, dry-run, apply, resume, compare",
		Enabled: func(e Env) (bool, string) {
			ref, why := target(e)
			switch {
			case why != "":
				return false, why
			case e.sessions == nil:
				return false, "a file has no sessions"
			case ref.Kind == world.KindCohort && len(actions.QueuesBelow(e.Snap, ref.Name)) == 0:
				return false, "no ClusterQueue is below " + ref.Name
			}
			return true, ""
		},
		Run: func(e Env) (Screen, Intent) {
			ref, _ := target(e)
			return stay, open{asked(prompt{
				title: "Begin a rollback session of " + object(ref), name: "begin", help: "begin it",
				lines: []string{"A checklist that is kept on disk; nothing is changed yet.", "", "Why? It stands in the hold's record and in the summary."},
				empty: true,
			}, "", func(ctx context.Context, keep Sessions, words string) (rollback.Session, error) {
				return keep.Start(ctx, ref, words)
			})}
		},
	}
}
