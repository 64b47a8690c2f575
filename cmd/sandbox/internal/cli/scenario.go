package cli

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/sandbox"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/scenario"
)

func newScenario(f folderFlag) *cobra.Command {
	return &cobra.Command{
		Use:   "scenario [NAME]",
		Short: "Bring a running sandbox into a prepared state; without a name: list them",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, s := range scenario.List() {
					if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%-10s %s\n", s.Name, s.Short); err != nil {
						return err
					}
				}
				return nil
			}
			dir, client, err := f.running()
			if err != nil {
				return err
			}
			r, err := client.Report(cmd.Context())
			if err != nil {
				return err
			}
			if !r.Ready {
				return fmt.Errorf("the sandbox in %s is still starting; try again when `holdfast-sandbox status` says ready", dir)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return play(ctx, dir, args[0], cmd.OutOrStdout())
		},
	}
}

// play runs a scenario on the sandbox of the folder and tells its progress on w.
func play(ctx context.Context, dir, name string, w io.Writer) error {
	s, err := scenario.Find(name)
	if err != nil {
		return err
	}
	c, err := cluster.Open(filepath.Join(dir, sandbox.AdminKubeconfig))
	if err != nil {
		return err
	}
	return s.Play(ctx, c, func(format string, a ...any) { _, _ = fmt.Fprintf(w, format+"\n", a...) })
}
