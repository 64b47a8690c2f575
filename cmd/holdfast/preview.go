package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/impact/worker"
	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
)

// managerFlags are what a person tells of how Kueue's manager is configured, in
// place of what the cluster tells.
type managerFlags struct {
	file  string
	fair  *bool
	gates string

	told *manager.Settings // what stands in the file; parse sets it
}

func (m *managerFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&m.file, "manager-config", "", "file with the Configuration of Kueue's manager, for previews (default: what the cluster tells, else Kueue's defaults)")
	c.Flags().BoolFunc("fair-sharing", "take fair sharing to be on (or, with =false, off) in previews", func(s string) error {
		on, err := strconv.ParseBool(s)
		m.fair = &on
		return err
	})
	c.Flags().StringVar(&m.gates, "feature-gates", "", "feature gates of Kueue's manager in previews, like A=true,B=false")
}

// parse reads the file and says what is wrong with the flags.
func (m *managerFlags) parse() error {
	if m.file != "" {
		raw, err := os.ReadFile(m.file)
		if err != nil {
			return fmt.Errorf("--manager-config: %s", text.Clean(err.Error()))
		}
		s, err := manager.Parse(raw, "file "+text.Clean(m.file))
		if err != nil {
			return fmt.Errorf("--manager-config: %w", err)
		}
		m.told = &s
	}
	_, err := manager.Defaults().WithFeatureGates(m.gates)
	return err
}

// over is the settings with what the person told instead.
func (m *managerFlags) over(s manager.Settings) manager.Settings {
	if m.told != nil {
		s = *m.told
	}
	if m.fair != nil {
		s = s.WithFairSharing(*m.fair)
	}
	if more, err := s.WithFeatureGates(m.gates); err == nil { // parse has looked at them
		s = more
	}
	return s
}

// workerName is the command that a preview runs this program with: Kueue's feature
// gates are one set per process, and what its code may do wrong (hang, panic) must
// not reach a person's console.
const workerName = "impact-worker"

func (a *app) workerCommand() *cobra.Command {
	return &cobra.Command{
		Use: workerName, Short: "Compute a preview that is handed over on standard input; not for people", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if worker.Serve(c.Context(), a.in, a.out) != nil {
				return coded(exitPerson, errPerson) // the answer says it
			}
			return nil
		},
	}
}

// previewer computes what Kueue will do.
type previewer struct {
	runner   impact.Runner
	world    func() *store.Snapshot
	settings func(context.Context) manager.Settings
	clock    clock.PassiveClock
}

// previewer is of a cluster, or of a file where s is nil.
func (a *app) previewer(s *session, world func() *store.Snapshot, c clock.PassiveClock) (*previewer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program cannot be found to run a preview with: %w", err)
	}
	p := &previewer{runner: worker.Child{Path: self, Args: []string{workerName}}, world: world, clock: c}
	p.settings = func(ctx context.Context) manager.Settings {
		if s == nil || a.manager.told != nil {
			return a.manager.over(manager.Defaults())
		}
		ctx, cancel := context.WithTimeout(ctx, settingsPatience)
		defer cancel()
		return a.manager.over(s.client.ManagerConfig(ctx, a.kueueNS, a.kueueName).Settings())
	}
	return p, nil
}

// preview is for actions.Options.
func (p *previewer) preview(ctx context.Context, edits []impact.Edit, progress func(impact.Progress)) impact.Result {
	return impact.Preview(ctx, p.runner, impact.Question{Snapshot: p.world(), Edits: edits, Settings: p.settings(ctx), Now: p.clock.Now()}, progress)
}

// Bounds of a preview of a plan: a hold stops what goes wrong and must not wait
// for long, others have the time.
const (
	settingsPatience = 10 * time.Second
	holdPreview      = 10 * time.Second
	planPreview      = 60 * time.Second
)

// foretell previews the plan, unless the person does not want it.
func (a *app) foretell(ctx context.Context, s *session, p actions.Plan, f actFlags) actions.Plan {
	if f.noPreview {
		return p
	}
	patience := planPreview
	if p.Action == actions.Hold || p.Action == actions.Drain {
		patience = holdPreview
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it took more than %s", patience))
	defer cancel()
	return s.desk.Preview(ctx, p, told(a.err))
}

// told writes how far a preview is, a line for each timing, where a person sees
// it.
func told(w io.Writer) func(impact.Progress) {
	if f, ok := w.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	last := 0
	return func(p impact.Progress) {
		if p.Timing != last {
			last = p.Timing
			fmt.Fprintf(w, "computing what Kueue will do: timing %d of %d\n", p.Timing, p.Timings)
		}
	}
}
