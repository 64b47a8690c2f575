package session

import (
	"fmt"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/text"
)

// Summary is the session in Markdown, for the incident record: who, what and when,
// before, after, and what is open. Times are UTC.
func Summary(s Session) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
	}
	line("# Rollback of %s", cell(s.Target.Ref().String()))
	line("")
	line("| | |")
	line("|---|---|")
	line("| cluster | context %s, %s%s |", cell(s.Context), cell(s.Server), uid(s.ClusterUID))
	line("| session | %s, begun %s by %s |", s.ID, when(s.Created), cell(s.By))
	if s.Reason != "" {
		line("| reason | %s |", cell(s.Reason))
	}
	outcome := s.outcome()
	if len(s.Left) > 0 {
		outcome += ": see Open"
	}
	line("| outcome | %s |", outcome)
	if s.Bundle != "" {
		line("| export | %s |", cell(s.Bundle))
		line("| export's SHA-256 | %s |", s.sumWords())
	}
	line("")
	line("## Steps")
	line("")
	line("| step | state | when | who | what came of it |")
	line("|---|---|---|---|---|")
	for i := range s.Steps {
		x := &s.Steps[i]
		line("| %s | %s | %s | %s | %s |", x.Name, x.State, span(x), cell(x.By), cell(x.Detail))
	}
	for i := range s.Steps {
		x := &s.Steps[i]
		if len(x.Lines) == 0 {
			continue
		}
		line("")
		line("### %s", x.Name)
		line("")
		for _, l := range x.Lines {
			line("    %s", text.Clean(l))
		}
	}
	if s.Fix != nil {
		line("")
		line("### The fix: %s", cell(s.Fix.Name))
		line("")
		for _, l := range text.Lines(s.Fix.Text) {
			line("    %s", l)
		}
	}
	line("")
	line("## What happened")
	line("")
	for _, e := range s.History {
		line("- %s %s: %s", when(e.At), cell(e.By), cell(e.Text))
	}
	if open := s.open(); len(open) > 0 {
		line("")
		line("## Open")
		line("")
		for _, o := range open {
			line("- %s", cell(o))
		}
	}
	return b.String()
}

// Checklist is the session as plain text, a line for each step.
func (s *Session) Checklist() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Session %s of %s on %s, begun %s by %s\n", s.ID, s.Target.Ref(), s.Context, when(s.Created), s.By)
	if s.Reason != "" {
		fmt.Fprintf(&b, "  why: %s\n", s.Reason)
	}
	for i := range s.Steps {
		x := &s.Steps[i]
		mark := map[State]string{Todo: "[ ]", Running: "[?]", Done: "[x]", Failed: "[!]", Skipped: "[-]"}[x.State]
		words := x.Detail
		if x.State == Todo && words == "" {
			words = x.Name.Help()
		}
		fmt.Fprintf(&b, "  %s %-9s %s\n", mark, x.Name, words)
	}
	if s.Over() {
		outcome := s.outcome()
		for i, l := range s.Left {
			outcome += map[bool]string{true: ": ", false: " "}[i == 0] + l
		}
		fmt.Fprintf(&b, "  %s\n", outcome)
	}
	return b.String()
}

// outcome is the answer in a sentence.
func (s *Session) outcome() string {
	switch {
	case !s.Over():
		return fmt.Sprintf("NOT over: %s is %s", s.Next().Name, s.Next().State)
	case s.Kept == nil:
		return "over; whether everything was kept was not compared" + s.but()
	case *s.Kept:
		return "over; everything was kept" + s.but()
	}
	return "over; NOT everything is as it was, see compare" + s.but()
}

// but is what else belongs to the outcome: what is not well in the cluster.
func (s *Session) but() string {
	switch {
	case s.LeftAt.IsZero():
		return "; what is left in the cluster was not looked at"
	case len(s.Left) > 0:
		return ", but not all is well"
	}
	return ""
}

// open are the points that somebody has to look at.
func (s *Session) open() []string {
	var out []string
	for i := range s.Steps {
		switch x := &s.Steps[i]; x.State {
		case Todo, Running, Failed:
			out = append(out, fmt.Sprintf("%s is %s. %s", x.Name, x.State, x.Detail))
		case Skipped:
			out = append(out, fmt.Sprintf("%s was skipped: %s", x.Name, x.Detail))
		}
	}
	if s.Kept != nil && !*s.Kept {
		out = append(out, "not everything was kept: see compare")
	}
	for _, l := range s.Left {
		out = append(out, l+" (as of "+when(s.LeftAt)+")")
	}
	return out
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

func span(x *Step) string {
	if x.Ended.IsZero() || x.Ended.Equal(x.Began) {
		return when(x.Began)
	}
	return when(x.Began) + " to " + x.Ended.UTC().Format("15:04:05")
}

func uid(u string) string {
	if u == "" {
		return ""
	}
	return ", kube-system " + cell(u)
}

// cell makes a text safe in a table of Markdown.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'", "\n", " ").Replace(text.Clean(s))
}
