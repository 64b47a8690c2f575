package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/ui"
)

// Exit codes, the same for every command.
const (
	exitOK          = 0
	exitPerson      = 1 // done, and something needs a person
	exitUsage       = 2
	exitUnreadable  = 3
	exitRefused     = 4
	exitUnverified  = 5
	exitPartly      = 6
	exitMistake     = 70 // of holdfast itself
	exitInterrupted = 130
)

// app is one run of the program: its terminal and its flags.
type app struct {
	in  *os.File
	out io.Writer
	err io.Writer
	log *ring

	kube       *genericclioptions.ConfigFlags
	readOnly   bool
	looks      looks
	production []string
	kueueNS    string
	kueueName  string
	exportDir  string
	journal    string
	checkpoint string
	from       sources
	manager    managerFlags
}

// codedError carries the exit code of a failure.
type codedError struct {
	code int
	err  error
}

func (e codedError) Error() string { return e.err.Error() }
func (e codedError) Unwrap() error { return e.err }

func coded(code int, err error) error {
	if err == nil {
		return nil
	}
	return codedError{code, err}
}

// exit prints err with what to do next and returns the exit code.
func (a *app) exit(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	var c codedError
	code := exitUsage
	if errors.As(err, &c) {
		code = c.code
	}
	if ctx.Err() != nil {
		code = exitInterrupted
	}
	if errors.Is(err, errPerson) || errors.Is(err, errEnded) {
		return code
	}
	fmt.Fprintf(a.err, "holdfast: %v\n", err)
	var advice interface{ Advice() string }
	if errors.As(err, &advice) && advice.Advice() != "" {
		fmt.Fprintf(a.err, "  %s\n", advice.Advice())
	}
	var crash *ui.CrashError
	if errors.As(err, &crash) {
		fmt.Fprintf(a.err, "\n%s %s\n%s", "holdfast", version(), crash.Stack)
		return exitMistake
	}
	return code
}

// refusal gives an error of a plan its exit code.
func refusal(err error) error {
	var p *actions.Problem
	var status apierrors.APIStatus
	var refused *kube.RefusedError
	if errors.As(err, &p) && p.Err != nil && !p.Rejected && !p.Conflict && !errors.As(p.Err, &status) && !errors.As(p.Err, &refused) && !errors.Is(p.Err, os.ErrNotExist) {
		return coded(exitUnreadable, err) // the answer never came, or could not be read
	}
	return coded(exitRefused, err)
}

func (a *app) command() *cobra.Command {
	a.kube = genericclioptions.NewConfigFlags(true)
	// The flag would bound the whole body of a list: a big one could never load.
	a.kube.Timeout = nil
	c := &cobra.Command{
		Use:   "holdfast",
		Short: "A terminal operations console for Kueue",
		Long: "holdfast shows the queues of a cluster with Kueue live: quota, borrowing, who preempted whom,\n" +
			"and for each waiting Workload why it waits. It holds, edits, exports and resumes, each with a\n" +
			"plan, a confirmation and a look at what Kueue made of it. Without a command it opens the console.",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.manager.parse(); err != nil {
				return err
			}
			if a.from.world != "" {
				return a.offline(c.Context())
			}
			return a.console(c.Context())
		},
	}
	f := c.PersistentFlags()
	a.kube.AddFlags(f)
	f.BoolVar(&a.readOnly, "read-only", os.Getenv("HOLDFAST_READ_ONLY") != "", "refuse every write in the HTTP transport, dry-runs included (or set HOLDFAST_READ_ONLY)")
	f.StringVar(&a.kueueNS, "kueue-namespace", "kueue-system", "namespace of Kueue's manager")
	f.StringVar(&a.kueueName, "kueue-deployment", "kueue-controller-manager", "Deployment of Kueue's manager")
	f.StringVar(&a.exportDir, "export-dir", ".", "folder for exports")
	f.StringVar(&a.journal, "journal", "", "file of the journal (default $XDG_STATE_HOME/holdfast/journal.jsonl)")
	f.StringVar(&a.checkpoint, "checkpoint-annotation", "", "annotation of a Workload in which its job records its checkpoint")
	f.StringVar(&a.from.world, "world", "", "read a file of objects or an export instead of a cluster (\"-\": standard input)")
	f.StringVar(&a.from.now, "now", "", "the time that ages are measured at, like 2026-09-14T10:00:00Z (default: now)")
	f.StringSliceVar(&a.production, "production", nil, "contexts that are production: marked in the header, and a change of several objects asks for the name")
	a.looks.add(c)
	a.manager.add(c)
	c.AddCommand(a.reportCommand(), a.explainCommand(), a.glanceCommand(), a.checkCommand(), a.impactCommand(), a.holdCommand(), a.resumeCommand(), a.deactivateCommand(), a.reactivateCommand(), a.priorityCommand(), a.applyCommand(), a.dryRunCommand(), a.exportCommand(), a.compareCommand(), a.journalCommand(), a.sessionCommand(), a.rbacCommand(), a.versionCommand(), a.workerCommand())
	return c
}

// Bounds of a headless command: patience for the cluster's lists,
// discoveryPatience for a server that cannot be reached, the others for a plan
// and for its execution.
const (
	patience          = 60 * time.Second
	discoveryPatience = 5 * time.Second
	planPatience      = 30 * time.Second
	executePatience   = 60 * time.Second
)
