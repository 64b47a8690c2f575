package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/control"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/datadir"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/sandbox"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/scenario"
)

const (
	commandGrace   = 5 * time.Second // how long a command may take to end after a signal it was passed
	startingWithin = 2 * time.Minute // how long a sandbox that is just starting may take to be ready
)

type runFlags struct {
	startFlags
	scenario, kubeconfig string
}

func newRun(f folderFlag) *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND ARGS...",
		Short: "Run a command with a sandbox around it",
		Long: `Run a command in the foreground with KUBECONFIG set to a sandbox's.

A sandbox that runs in the folder is used and left running; else one is started
for the command and stopped after it. While the command runs nothing is written
to the terminal and Ctrl-C is the command's alone. The exit code is the
command's.`,
		Example: "  holdfast-sandbox run --scenario incident --kubeconfig admin -- sh",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("run needs a command after --, such as: holdfast-sandbox run -- sh")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), f, flags, args, cmd.ErrOrStderr())
		},
	}
	cmd.Flags().SetInterspersed(false) // flags after the command's name are its own
	cmd.Flags().StringVar(&flags.scenario, "scenario", "", "scenario to play before the command")
	cmd.Flags().StringVar(&flags.kubeconfig, "kubeconfig", "admin", "whose kubeconfig the command gets: "+names())
	flags.add(cmd)
	return cmd
}

// names lists the people with a kubeconfig.
func names() string {
	var out []string
	for _, p := range sandbox.People() {
		out = append(out, p.Name)
	}
	return strings.Join(out, ", ")
}

func run(ctx context.Context, f folderFlag, flags runFlags, args []string, w io.Writer) error {
	person, err := sandbox.FindPerson(flags.kubeconfig)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(args[0]); err != nil { // before a minute of work, not after
		return fmt.Errorf("cannot run %s: %w", args[0], err)
	}
	if flags.scenario != "" {
		if _, err := scenario.Find(flags.scenario); err != nil {
			return err
		}
	}
	dir, err := f.path()
	if err != nil {
		return err
	}
	early, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	own, err := ensure(early, f, dir, flags.startFlags, w)
	if err != nil {
		return err
	}
	if flags.scenario != "" {
		err = play(early, dir, flags.scenario, w)
	}
	if err == nil {
		err = early.Err()
	}
	if err == nil {
		err = foreground(args, environment(dir, person.Kubeconfig()))
	}
	if own == nil {
		return err
	}
	if died := own.Err(); died != nil { // while the command had the terminal this could not be said
		_, _ = fmt.Fprintf(w, "holdfast-sandbox: while the command ran, %v\n", died)
	}
	return errors.Join(err, own.Stop())
}

// ensure uses the sandbox that runs in the folder, and then returns nil, or starts one.
func ensure(ctx context.Context, f folderFlag, dir string, flags startFlags, w io.Writer) (*sandbox.Sandbox, error) {
	_, running, err := datadir.Running(dir)
	if err != nil {
		return nil, err
	}
	if !running {
		return start(ctx, f, flags, w)
	}
	if flags.fair || len(flags.gates) > 0 {
		return nil, fmt.Errorf("a sandbox runs in %s already, and how its Kueue runs cannot be changed any more: end it with: holdfast-sandbox down --dir %s", dir, dir)
	}
	err = cluster.Poll(ctx, startingWithin, func(ctx context.Context) error {
		if r, err := control.Dial(dir).Report(ctx); err != nil || !r.Ready {
			return errors.Join(fmt.Errorf("the sandbox in %s is not ready", dir), err)
		}
		return nil
	})
	if err != nil || flags.role == "" {
		return nil, err
	}
	objs, err := sandbox.ReadOncallRole(flags.role)
	if err != nil {
		return nil, err
	}
	c, err := cluster.Open(filepath.Join(dir, sandbox.AdminKubeconfig))
	if err != nil {
		return nil, err
	}
	return nil, sandbox.ApplyOncallRole(ctx, c, objs)
}

// foreground runs the command on this process's terminal and blocks until it ends. Ctrl-C reaches the command from the
// terminal, as it is in the same process group, and is none of our business; SIGTERM and SIGHUP are passed on, and a
// command that does not end of them is killed.
func foreground(args, env []string) error {
	// Caught, not ignored: an ignored signal would be ignored by the command too.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)

	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var kill <-chan time.Time
	for {
		select {
		case err := <-ended:
			return exitOf(err)
		case s := <-signals:
			if s == syscall.SIGTERM || s == syscall.SIGHUP {
				_ = cmd.Process.Signal(s) // an error means that it has ended
				kill = time.After(commandGrace)
			}
		case <-kill:
			_ = cmd.Process.Kill() // as above
		}
	}
}

// exitOf turns a command's end into its exit code, in the shell's way: 128 and the signal's number for a signal.
func exitOf(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if st, ok := exit.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return &exitError{128 + int(st.Signal())}
	}
	return &exitError{exit.ExitCode()}
}
