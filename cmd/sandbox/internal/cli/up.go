package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/sandbox"
)

func newUp(f folderFlag) *cobra.Command {
	var flags startFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a sandbox and keep it until Ctrl-C (SIGINT) or SIGTERM",
		Long: `Start a sandbox in the foreground and keep it until Ctrl-C (SIGINT) or SIGTERM.

It writes a kubeconfig for each of these people into its folder, such as
admin.kubeconfig, and logs into its folder logs. They may:

` + rights() + `

The data of a sandbox that was killed is replaced; a folder that is not a
sandbox's is never touched.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			s, err := start(ctx, f, flags, cmd.OutOrStdout())
			if err != nil {
				return err
			}
			select {
			case <-ctx.Done():
			case <-s.Done():
			}
			err = s.Err()
			return errors.Join(err, s.Stop())
		},
	}
	flags.add(cmd)
	return cmd
}

// rights says of each person in a line what they may do.
func rights() string {
	var lines []string
	for _, p := range sandbox.People() {
		lines = append(lines, fmt.Sprintf("  %-7s %s", p.Name, p.May))
	}
	return strings.Join(lines, "\n")
}

// startFlags say how a sandbox is started.
type startFlags struct {
	role  string
	fair  bool
	gates map[string]string
}

func (s *startFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.role, "oncall-role", "", "YAML file with the ClusterRole (and Roles) that user oncall gets")
	cmd.Flags().BoolVar(&s.fair, "fair-sharing", false, "start Kueue with fair sharing")
	cmd.Flags().StringToStringVar(&s.gates, "feature-gates", nil, "start Kueue with feature gates, like A=true,B=false")
}

// manager is what the flags say of Kueue's manager.
func (s *startFlags) manager() (sandbox.Manager, error) {
	m := sandbox.Manager{FairSharing: s.fair, FeatureGates: map[string]bool{}}
	for name, value := range s.gates {
		on, err := strconv.ParseBool(value)
		if err != nil {
			return m, fmt.Errorf("feature gate %s is true or false, not %q", name, value)
		}
		m.FeatureGates[name] = on
	}
	return m, nil
}

// start runs a sandbox, tells its progress on w and blocks until it is ready.
func start(ctx context.Context, f folderFlag, flags startFlags, w io.Writer) (*sandbox.Sandbox, error) {
	manager, err := flags.manager()
	if err != nil {
		return nil, err
	}
	dir, err := f.path()
	if err != nil {
		return nil, err
	}
	programs, err := sandbox.FindPrograms()
	if err != nil {
		return nil, err
	}
	say := func(format string, a ...any) { _, _ = fmt.Fprintf(w, format+"\n", a...) }
	s, err := sandbox.Start(ctx, sandbox.Options{Dir: dir, Programs: programs, OncallRole: flags.role, Manager: manager, Say: say})
	if errors.Is(err, context.Canceled) {
		return nil, errors.New("stopped before it was ready")
	}
	if err != nil {
		return nil, err
	}
	say("ready in %.1f s  KUBECONFIG=%s", s.Age().Seconds(), s.Kubeconfig(sandbox.AdminKubeconfig))
	return s, nil
}
