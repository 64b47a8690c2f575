// Package cli is the command line of holdfast-sandbox.
package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/control"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/datadir"
)

// exitError carries an exit code that is not to be explained: the program that was run has said what it had to say.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Main runs one command line (without the program's name), blocks until it is done and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	var exit *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.code
	}
	_, _ = fmt.Fprintf(stderr, "holdfast-sandbox: %v\n", err)
	return 1
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "holdfast-sandbox",
		Short: "A real Kubernetes control plane with a real Kueue on 127.0.0.1, without containers",
		Long: `A real Kubernetes control plane (etcd, kube-apiserver, kube-controller-manager,
kube-scheduler), simulated nodes (kwok) and Kueue's own manager, as ordinary
processes on free ports of 127.0.0.1. Everything ends with the sandbox.

A sandbox lives in a folder (--dir), which says what every command is about.`,
		Example: `  holdfast-sandbox up                       # in one terminal, until Ctrl-C
  holdfast-sandbox scenario incident        # in another
  holdfast-sandbox kubectl get clusterqueues
  holdfast-sandbox stop kueue               # and: continue, kill, restart; etcd, kube-apiserver, kueue-webhook
  holdfast-sandbox run --scenario incident -- sh   # all of it around one command`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	dir := root.PersistentFlags().String("dir", "", "folder of the sandbox (default: holdfast-sandbox in your cache folder)")
	f := folderFlag{dir}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newUp(f), newDown(f), newStatus(f), newKubectl(f), newScenario(f), newRun(f), newRecord(f),
		newAct(f, "stop", "Stop a component where it is (SIGSTOP): it answers nothing any more"),
		newAct(f, "continue", "Let a stopped component go on (SIGCONT) and wait until it is ready"),
		newAct(f, "kill", "End a component at once (SIGKILL), until it is restarted"),
		newAct(f, "restart", "End a component, start it anew and wait until it is ready"))
	return root
}

// folderFlag is the --dir flag all commands share.
type folderFlag struct{ value *string }

// path returns the absolute folder.
func (f folderFlag) path() (string, error) {
	if *f.value == "" {
		return datadir.Default()
	}
	return filepath.Abs(*f.value)
}

// running returns the folder and a client for the sandbox that runs in it, or an error if none does.
func (f folderFlag) running() (string, *control.Client, error) {
	dir, err := f.path()
	if err != nil {
		return "", nil, err
	}
	_, ok, err := datadir.Running(dir)
	if err != nil {
		return "", nil, err
	}
	if !ok {
		return "", nil, fmt.Errorf("no sandbox runs in %s; start one with: holdfast-sandbox up --dir %s", dir, dir)
	}
	return dir, control.Dial(dir), nil
}
