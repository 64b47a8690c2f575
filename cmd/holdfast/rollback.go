package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/actions"
	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/compare"
	"cli.holdfast.dev/holdfast/model/report"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// sessions is the store of rollback sessions: beside the journal.
func (a *app) sessions() (*rollback.Store, error) {
	journal, err := a.journalPath()
	if err != nil {
		return nil, err
	}
	return rollback.NewStore(filepath.Join(filepath.Dir(journal), "sessions")), nil
}

// runner does the steps of sessions on the cluster of the connection.
func (a *app) runner(s *session) (*rollback.Runner, error) {
	store, err := a.sessions()
	if err != nil {
		return nil, err
	}
	namespace, err := a.namespace()
	if err != nil {
		return nil, err
	}
	return &rollback.Runner{
		Desk: s.desk, Store: store, World: s.watcher.Snapshot, Now: s.clock.Now, Namespace: namespace,
		Who:    func() string { return s.desk.Who() },
		Verify: func(path string) (rollback.Exported, error) { return whole(context.Background(), path) },
		Compare: func(_ context.Context, path string) (compare.Result, rollback.Exported, error) {
			then, err := exported(path)
			if err != nil {
				return compare.Result{}, rollback.Exported{}, err
			}
			now := s.watcher.Snapshot()
			return compare.Of(then.Snapshot, then.Manifest, now, actions.Queues(now, then.Manifest.Scope)), rollback.Exported{Manifest: *then.Manifest, SHA256: then.SHA256}, nil
		},
	}, nil
}

func (a *app) sessionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "session",
		Short: "A rollback as a checklist that survives: hold, export, fix, evidence, dry-run, apply, resume, compare",
		Long: "A session is kept on disk after each step. Wherever it is interrupted, it goes on there: what was under way is read\n" +
			"from the cluster. Steps: " + stepsHelp(),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.sessionStart(), a.sessionList(), a.sessionShow(), a.sessionNext(), a.sessionDo(), a.sessionSkip(), a.sessionExport(), a.sessionImport(), a.sessionSummary())
	return c
}

func stepsHelp() string {
	var b strings.Builder
	for _, n := range rollback.Names() {
		fmt.Fprintf(&b, "\n  %-9s %s", n, n.Help())
	}
	return b.String()
}

func (a *app) sessionStart() *cobra.Command {
	var f actFlags
	c := &cobra.Command{
		Use: "start cq/NAME | lq/NAMESPACE/NAME | cohort/NAME", Short: "Begin a session; nothing is changed in the cluster", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := a.parseRef(args[0])
			if err != nil {
				return err
			}
			return a.connected(c.Context(), func(ctx context.Context, s *session) error {
				r, err := a.runner(s)
				if err != nil {
					return err
				}
				if err := s.desk.Exists(ref); err != nil {
					return refusal(err)
				}
				x, err := begin(ctx, s, r, ref, f.reason)
				if err != nil {
					return coded(exitRefused, err)
				}
				return a.printSession(x, f.output)
			})
		},
	}
	c.Flags().StringVar(&f.reason, "reason", "", "why; it goes into the hold's record and the summary")
	c.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
	return c
}

// begin keeps a new session on the queue or cohort.
func begin(ctx context.Context, s *session, r *rollback.Runner, ref world.Ref, reason string) (rollback.Session, error) {
	c := s.watcher.Snapshot().Contract
	x, err := rollback.New(ref, c.Context, c.Server, s.desk.ClusterUID(ctx), s.desk.Who(), reason, s.clock.Now())
	if err != nil {
		return x, err
	}
	return x, r.Start(x)
}

func (a *app) sessionList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the sessions of this account, the newest first", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			store, err := a.sessions()
			if err != nil {
				return err
			}
			all, bad, err := store.List()
			if err != nil {
				return coded(exitUnreadable, err)
			}
			for _, b := range bad {
				fmt.Fprintf(a.err, "holdfast: %s\n", b)
			}
			for _, x := range all {
				state := "over"
				if n := x.Next(); n != nil {
					state = fmt.Sprintf("next: %s (%s)", n.Name, n.State)
				}
				if _, err := fmt.Fprintf(a.out, "%s  %s  %s  %s\n", x.ID, x.Target.Ref(), x.Context, state); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// onSession is a command on the session alone, without a cluster.
func (a *app) onSession(use, short string, args int, do func(store *rollback.Store, s rollback.Session, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(args),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.sessions()
			if err != nil {
				return err
			}
			s, err := store.Load(args[0])
			if err != nil {
				return coded(exitUnreadable, err)
			}
			return do(store, s, args)
		},
	}
}

func (a *app) sessionShow() *cobra.Command {
	var output string
	c := a.onSession("show ID", "Show the checklist", 1, func(_ *rollback.Store, s rollback.Session, _ []string) error {
		return a.printSession(s, output)
	})
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return c
}

func (a *app) sessionSummary() *cobra.Command {
	return a.onSession("summary ID", "Print the session in Markdown, for the incident record", 1, func(_ *rollback.Store, s rollback.Session, _ []string) error {
		_, err := fmt.Fprint(a.out, rollback.Summary(s))
		return err
	})
}

func (a *app) sessionExport() *cobra.Command {
	return a.onSession("export ID FILE", "Write the session into a new file, for a colleague who takes it over", 2, func(_ *rollback.Store, s rollback.Session, args []string) error {
		if err := rollback.WriteNew(args[1], s); err != nil {
			return coded(exitRefused, errors.New(text.Clean(err.Error())))
		}
		_, err := fmt.Fprintf(a.out, "%s: hand it over together with the export %s; they take it over with: holdfast session import FILE\n", text.Clean(args[1]), s.Bundle)
		return err
	})
}

func (a *app) sessionImport() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Take over a session that a colleague exported", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return coded(exitUnreadable, errors.New(text.Clean(err.Error())))
			}
			defer func() { _ = f.Close() }() // it was only read
			x, err := rollback.Decode(f)
			if err != nil {
				return coded(exitUnreadable, fmt.Errorf("%s: %w", text.Clean(args[0]), err))
			}
			return a.connected(c.Context(), func(ctx context.Context, s *session) error {
				r, err := a.runner(s)
				if err != nil {
					return err
				}
				if x, err = r.Import(x, s.desk.ClusterUID(ctx), s.watcher.Snapshot().Contract.Server); err != nil {
					return refusal(err)
				}
				if x, err = r.Recover(ctx, x); err != nil {
					return refusal(err)
				}
				return a.printSession(x, "text")
			})
		},
	}
}

func (a *app) sessionSkip() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "skip ID STEP", Short: "Leave a step out, for a reason", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return a.onRunner(c.Context(), args[0], func(_ context.Context, _ *session, r *rollback.Runner, x rollback.Session) error {
				x, err := r.Skip(x, rollback.Name(args[1]), reason)
				if err != nil {
					return refusal(err)
				}
				return a.printSession(x, "text")
			})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why; it goes into the incident record")
	return c
}

// onRunner connects, loads the session, reads anew what was interrupted, and does
// something.
func (a *app) onRunner(ctx context.Context, id string, do func(context.Context, *session, *rollback.Runner, rollback.Session) error) error {
	return a.connected(ctx, func(ctx context.Context, s *session) error {
		r, err := a.runner(s)
		if err != nil {
			return err
		}
		x, err := r.Store.Load(id)
		if err != nil {
			return coded(exitUnreadable, err)
		}
		if err := r.Here(x, s.desk.ClusterUID(ctx), s.watcher.Snapshot().Contract.Server); err != nil {
			return refusal(err)
		}
		if x, err = r.Recover(ctx, x); err != nil {
			return refusal(err)
		}
		return do(ctx, s, r, x)
	})
}

// printSession prints the checklist.
func (a *app) printSession(s rollback.Session, output string) error {
	if output == "json" {
		return report.WriteJSON(a.out, &s)
	}
	_, err := fmt.Fprint(a.out, s.Checklist())
	return err
}
