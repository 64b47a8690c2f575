package ui

import (
	"context"
	"errors"
	"fmt"
	"time"

	_ "cli.holdfast.dev/holdfast/ui/quiet" // before bubbletea, whose init would ask the terminal

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// framesPerSecond is plenty for what changes at most five times a second.
const framesPerSecond = 20

// lastGrace is how long a write that is under way is waited for at the end. The
// terminal is the person's again by then.
const lastGrace = 5 * time.Second

// Run shows the console until the person leaves or ctx is cancelled, and gives
// the terminal back as it was in either case. It takes no signals that end a
// program: cancel ctx for those. Those of job control are its own. next is the context
// that the person wants to go to, empty where none. The error is a *CrashError where
// the console itself failed.
func Run(ctx context.Context, opt Options) (next string, err error) {
	jobs, stop := context.WithCancel(ctx)
	defer stop()
	// What the console still waits for ends with it, or it would keep all that is known
	// of a cluster that the person has left.
	base, end := context.WithCancel(ctx)
	defer end()
	p, err := newProgram(base, jobs, opt)
	if err != nil {
		return "", err
	}
	last, err := p.tea.Run()
	stop()
	select {
	case p.hands <- struct{}{}:
	case <-time.After(lastGrace):
	}
	if c := p.crash.caught(); c != nil {
		return "", c
	}
	if errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) && ctx.Err() != nil {
		return "", nil
	}
	if g, ok := last.(guard); ok && err == nil {
		if r, ok := g.inner.(root); ok {
			next = r.next
		}
	}
	return next, err
}

// program is a console that is ready to run.
type program struct {
	tea   *tea.Program
	hands hands
	crash *crash
}

// newProgram makes the console. It ends with ctx, and listens to the shell until
// jobs ends.
func newProgram(ctx, jobs context.Context, opt Options) (program, error) {
	if opt.Source == nil || opt.Desk == nil || opt.Clock == nil {
		return program{}, fmt.Errorf("ui: Options need a Source, a Desk and a Clock")
	}
	opt = opt.withDefaults()
	th, err := theme.New(opt.Theme, opt.NoColor, opt.ASCII)
	if err != nil {
		return program{}, err
	}
	out, ok := opt.Out.(*term.Output)
	if !ok {
		out = term.NewOutput(opt.Out, false)
	}
	r := newRoot(ctx, opt, th, realTimer, explain)
	g := guard{crash: &crash{}, jobs: term.NewJobs(jobs, opt.In), base: ctx, mouse: opt.Mouse}
	r.runner, r.aside = editorOn(opt.In, out, g.jobs), out.Aside
	g.inner = r
	how := []tea.ProgramOption{tea.WithContext(ctx), tea.WithAltScreen(), tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler(),
		tea.WithFilter(g.filter), tea.WithInput(opt.In), tea.WithOutput(out)}
	if opt.Mouse {
		how = append(how, tea.WithMouseCellMotion())
	}
	p := tea.NewProgram(g, how...)
	g.crash.end = p.Kill
	return program{p, r.hands, g.crash}, nil
}
