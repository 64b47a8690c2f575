package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
// the terminal back as it was in either case. It takes no signals: cancel ctx
// for those that should end it.
func Run(ctx context.Context, opt Options) error {
	p, hands, err := newProgram(ctx, opt)
	if err != nil {
		return err
	}
	_, err = p.Run()
	select {
	case hands <- struct{}{}:
	case <-time.After(lastGrace):
	}
	if errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) && ctx.Err() != nil {
		return nil
	}
	return err
}

func newProgram(ctx context.Context, opt Options) (*tea.Program, hands, error) {
	if opt.Source == nil || opt.Desk == nil || opt.Clock == nil {
		return nil, nil, fmt.Errorf("ui: Options need a Source, a Desk and a Clock")
	}
	opt = opt.withDefaults()
	th, err := theme.New(opt.Theme, opt.NoColor, opt.ASCII)
	if err != nil {
		return nil, nil, err
	}
	r := newRoot(ctx, opt, th, realTimer, explain)
	r.runner = editorOn(opt)
	return tea.NewProgram(r, tea.WithContext(ctx), tea.WithAltScreen(), tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler(),
		tea.WithInput(opt.In), tea.WithOutput(term.NewOutput(opt.Out))), r.hands, nil
}

// editorOn gives an editor the terminal itself: through the output's guard it
// would get a pipe.
func editorOn(opt Options) runner {
	return func(c *exec.Cmd, done func(error) tea.Msg) tea.Cmd {
		if f, ok := opt.In.(*os.File); ok && c.Stdin == nil {
			c.Stdin = f
		}
		if f, ok := opt.Out.(*os.File); ok {
			if c.Stdout == nil {
				c.Stdout = f
			}
			if c.Stderr == nil {
				c.Stderr = f
			}
		}
		return tea.ExecProcess(c, done)
	}
}
