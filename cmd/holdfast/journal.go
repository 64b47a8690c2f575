package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
)

func (a *app) journalCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "journal", Short: "Print what was done with holdfast from this account, oldest first", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := a.journalPath()
			if err != nil {
				return err
			}
			entries, bad, err := actions.NewJournal(path).Read()
			if err != nil {
				return coded(exitUnreadable, err)
			}
			for _, b := range bad {
				fmt.Fprintf(a.err, "holdfast: %s: %s\n", path, text.Clean(b))
			}
			for _, e := range entries {
				if err := a.printEntry(e, output); err != nil {
					return err
				}
			}
			if len(entries) == 0 {
				fmt.Fprintf(a.err, "holdfast: %s has no entries\n", path)
			}
			return nil
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json (one object a line)")
	return c
}

func (a *app) printEntry(e actions.JournalEntry, output string) error {
	if output == "json" {
		return json.NewEncoder(a.out).Encode(e)
	}
	head := fmt.Sprintf("%s  %-6s  %-6s  %s by %s on %s%s", e.Time.Format("2006-01-02T15:04:05Z"), e.Entry, e.Action, e.ID, e.User, e.Context, because(e.Reason))
	if _, err := fmt.Fprintln(a.out, text.Clean(head)); err != nil {
		return err
	}
	for _, o := range e.Objects {
		line := "    " + o.Object
		for _, s := range []string{o.Change, string(o.Outcome), o.Detail} {
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

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
