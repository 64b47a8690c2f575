package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/control"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/datadir"
)

const (
	downWithin   = time.Minute
	statusWithin = 10 * time.Second
	actWithin    = 3 * time.Minute
)

func newDown(f folderFlag) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop the sandbox of a folder and wait until it is gone",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := f.path()
			if err != nil {
				return err
			}
			_, running, err := datadir.Running(dir)
			if err != nil {
				return err
			}
			if !running {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "no sandbox runs in %s\n", dir)
				return err
			}
			if err := stop(cmd.Context(), dir); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "stopped")
			return err
		},
	}
}

// stop asks the sandbox of the folder to end and blocks until its lock is free.
func stop(ctx context.Context, dir string) error {
	if err := control.Dial(dir).Quit(ctx); err != nil {
		return fmt.Errorf("%w; if it hangs, end its process (see %s) with SIGTERM", err, filepath.Join(dir, "pid"))
	}
	return cluster.Poll(ctx, downWithin, func(context.Context) error {
		pid, running, err := datadir.Running(dir)
		if err == nil && running {
			return fmt.Errorf("pid %d is still there", pid)
		}
		return err
	})
}

func newStatus(f folderFlag) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Tell what runs: each component's process, state and memory",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, client, err := f.running()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), statusWithin)
			defer cancel()
			r, err := client.Report(ctx)
			if err != nil {
				return err
			}
			return printReport(cmd, r)
		},
	}
}

func printReport(cmd *cobra.Command, r control.Report) error {
	state := "starting"
	if r.Ready {
		state = "ready"
	}
	var total int64
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintf(w, "sandbox\t%s\tpid %d\tup %s\n", state, r.PID, (time.Duration(r.AgeSeconds) * time.Second).String())
	for _, c := range r.Components {
		total += c.RSS
		_, e := fmt.Fprintf(w, "%s\t%s\tpid %d\t%d MiB\n", c.Name, c.State, c.PID, c.RSS>>20)
		err = errors.Join(err, e)
	}
	_, e := fmt.Fprintf(w, "memory\t\t\t%d MiB\n", total>>20)
	if err := errors.Join(err, e, w.Flush()); err != nil {
		return err
	}
	for _, k := range r.Kubeconfigs {
		_, e := fmt.Fprintf(cmd.OutOrStdout(), "%-7s KUBECONFIG=%s\n", k.Person, k.Path)
		err = errors.Join(err, e)
	}
	return err
}

func newAct(f folderFlag, action, short string) *cobra.Command {
	return &cobra.Command{
		Use:     action + " COMPONENT",
		Short:   short,
		Example: "  holdfast-sandbox " + action + " kueue",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, client, err := f.running()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), actWithin)
			defer cancel()
			began := time.Now()
			if err := client.Act(ctx, action, args[0]); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s: done in %.1f s\n", action, args[0], time.Since(began).Seconds())
			return err
		},
	}
}
