package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/record"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/sandbox"
)

const recordWithin = 2 * time.Minute

func newRecord(f folderFlag) *cobra.Command {
	var flat string
	cmd := &cobra.Command{
		Use:   "record [FOLDER] [--flat FILE]",
		Short: "Write the sandbox's objects into files, for tests of programs that read such files",
		Long: `Write the objects of a running sandbox into a new or empty folder, a new file,
or both. No kind that holds credentials is written, nor are managedFields.

FOLDER gets a v1 List of each kind, named as kubectl names it in full, and what
Kueue's visibility API and discovery answer, named by the request:
  workloads.v1beta2.kueue.x-k8s.io.yaml, pods.v1.yaml, jobs.v1.batch.yaml ...
  visibility/v1beta2/clusterqueues/NAME.json
  visibility/v1beta2/namespaces/NAMESPACE/localqueues/NAME.json
  discovery/GROUP.json, discovery/VERSION.GROUP.json
FILE gets every object once, in one v1 List.`,
		Example: `  holdfast-sandbox record ./world
  holdfast-sandbox record --flat world.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 0 && flat == "" {
				return errors.New("record needs one folder, or --flat FILE, or both, such as: holdfast-sandbox record ./world")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, _, err := f.running()
			if err != nil {
				return err
			}
			var folder string
			if len(args) > 0 {
				folder = args[0]
			}
			return writeRecord(cmd, dir, folder, flat)
		},
	}
	cmd.Flags().StringVar(&flat, "flat", "", "file to write every object into, as one v1 List")
	return cmd
}

// writeRecord reads the sandbox of dir and writes what it holds into the folder, the file or both; "" is neither.
func writeRecord(cmd *cobra.Command, dir, folder, flat string) error {
	if folder != "" {
		if err := record.CheckDir(folder); err != nil {
			return err
		}
	}
	if flat != "" {
		if err := record.CheckFile(flat); err != nil {
			return err
		}
	}
	c, err := cluster.Open(filepath.Join(dir, sandbox.AdminKubeconfig))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), recordWithin)
	defer cancel()
	r, err := record.Read(ctx, c)
	if err != nil {
		return err
	}
	if folder != "" {
		if err := r.WriteDir(folder); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%d lists and %d answers of the visibility API are in %s\n", r.Lists, r.Answers, folder); err != nil {
			return err
		}
	}
	if flat != "" {
		if err := r.WriteFile(flat); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%d objects are in %s\n", r.Objects(), flat); err != nil {
			return err
		}
	}
	return nil
}
