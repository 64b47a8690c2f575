package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
)

// journalFilter says which entries are printed.
type journalFilter struct {
	object, action, since string
}

func (a *app) journalCommand() *cobra.Command {
	var output string
	var f journalFilter
	c := &cobra.Command{
		Use: "journal", Short: "Print what was done with holdfast from this account, oldest first", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.printJournal(f, output) },
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json (one object a line)")
	c.Flags().StringVar(&f.object, "object", "", "only what was done to an object whose name contains this")
	c.Flags().StringVar(&f.action, "action", "", "only this action: hold, drain, resume, edit, apply, export, deactivate, reactivate, reprioritize")
	c.Flags().StringVar(&f.since, "since", "", "only what is younger: a duration like 24h, or a time like 2026-09-14T10:00:00Z")
	c.AddCommand(a.undoCommand())
	return c
}

func (a *app) printJournal(f journalFilter, output string) error {
	if output != "text" && output != "json" {
		return fmt.Errorf("-o %s is not known; choose text or json", output)
	}
	since, err := f.from(clock.RealClock{}.Now())
	if err != nil {
		return err
	}
	path, err := a.journalPath()
	if err != nil {
		return err
	}
	entries, bad, err := actions.NewJournal(path).Read()
	if err != nil {
		return coded(exitUnreadable, err)
	}
	for _, b := range bad {
		fmt.Fprintf(a.err, "holdfast: %s\n", text.Clean(b))
	}
	open := actions.Interrupted(entries)
	n := 0
	for _, e := range entries {
		if !f.has(e) || e.Time.Before(since) {
			continue
		}
		n++
		if err := a.printEntry(e, output, open[e.ID]); err != nil {
			return err
		}
	}
	if n == 0 {
		fmt.Fprintf(a.err, "holdfast: %s has no such entries\n", path)
	}
	return nil
}

func (f journalFilter) has(e actions.JournalEntry) bool {
	if f.action != "" && string(e.Action) != f.action {
		return false
	}
	return f.object == "" || slices.ContainsFunc(e.Objects, func(o actions.JournalEvent) bool { return strings.Contains(o.Object, f.object) })
}

// from is the time from which on entries are printed.
func (f journalFilter) from(now time.Time) (time.Time, error) {
	if f.since == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(f.since); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, f.since)
	if err != nil {
		return t, fmt.Errorf("--since %q is neither a duration like 24h nor a time like 2026-09-14T10:00:00Z", f.since)
	}
	return t, nil
}

func (a *app) undoCommand() *cobra.Command {
	var f actFlags
	c := &cobra.Command{
		Use:   "undo ID",
		Short: "Plan to take back what an entry did, as far as it still stands",
		Long: "A hold is resumed, a resume becomes a hold; of other changes the fields that still have the entry's value get back\n" +
			"what they had. What somebody changed since is left, and said. What was made is not deleted.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.act(c.Context(), f, func(ctx context.Context, s *session) (actions.Plan, error) {
				return s.desk.PlanUndo(ctx, args[0])
			})
		},
	}
	f.add(c)
	f.previews(a, c)
	return c
}

// printEntry prints an entry; interrupted says that it has no result.
func (a *app) printEntry(e actions.JournalEntry, output string, interrupted bool) error {
	if output == "json" {
		return json.NewEncoder(a.out).Encode(e)
	}
	head := fmt.Sprintf("%s  %-6s  %-6s  %s by %s on %s%s", e.Time.Format("2006-01-02T15:04:05Z"), e.Entry, e.Action, e.ID, e.User, e.Context, because(e.Reason))
	if _, err := fmt.Fprintln(a.out, text.Clean(head)); err != nil {
		return err
	}
	if interrupted {
		if _, err := fmt.Fprintln(a.out, "    unknown: "+actions.NoResult); err != nil {
			return err
		}
	}
	for _, o := range e.Objects {
		line := "    " + o.Object
		for _, s := range []string{o.Change, string(o.Outcome), bracketed(o.Sent()), o.Detail} {
			if s != "" {
				line += "  " + s
			}
		}
		if _, err := fmt.Fprintln(a.out, text.Clean(line)); err != nil {
			return err
		}
		if len(o.Patch) > 0 {
			if _, err := fmt.Fprintln(a.out, text.Clean("        "+string(o.Patch))); err != nil {
				return err
			}
		}
	}
	return nil
}

func bracketed(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
