package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/term"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"cli.holdfast.dev/holdfast/ui"
	screen "cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// errEnded is the end of the console by a signal: there is nothing to say.
var errEnded = errors.New("ended by a signal")

// show runs the console until the person leaves, wants to go to another context, which
// is next then, or ctx ends, which a signal does.
func (a *app) show(ctx context.Context, o ui.Options) (next string, err error) {
	h, err := a.looks.habits(os.Getenv)
	if err != nil {
		return "", err
	}
	out := screen.NewOutput(os.Stdout, h.sync)
	restore, err := rescue(a.in, out)
	if err != nil {
		return "", err
	}
	// What goes wrong in the background ends the program at once; what the runtime
	// then says must be readable.
	defer onPanic(restore)()
	o.In, o.Out, o.Log = a.in, out, a.log.all
	o.Theme, o.NoColor, o.ASCII = theme.Name(a.looks.theme), a.looks.noColor, h.ascii
	o.Mouse, o.NoCopy, o.Tmux = a.looks.mouse, h.noCopy, h.tmux
	if next, err = ui.Run(ctx, o); err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		return "", coded(exitInterrupted, errEnded)
	}
	return next, nil
}

// onPanic has f called when something in the background panics, until undone.
func onPanic(f func()) (undo func()) {
	was := utilruntime.PanicHandlers
	utilruntime.PanicHandlers = append(slices.Clip(was), func(context.Context, any) { f() })
	return func() { utilruntime.PanicHandlers = was }
}

// rescue returns what gives the terminal back as it is now. It may be called from
// any goroutine and more than once.
func rescue(in *os.File, out *screen.Output) (func(), error) {
	fd := int(in.Fd())
	was, err := term.GetState(fd)
	if err != nil {
		return nil, fmt.Errorf("the terminal does not tell its modes: %w", err)
	}
	return func() {
		out.Leave()
		_ = term.Restore(fd, was)
	}, nil
}

// screen reports what is missing to draw on.
func (a *app) screen() error {
	switch {
	case a.from.world == "-":
		return errors.New("keys and the file cannot both come from standard input: name a file with --world, or use holdfast report")
	case !term.IsTerminal(int(a.in.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())):
		return errors.New("the console needs a terminal; for scripts see the commands in holdfast --help")
	case os.Getenv("TERM") == "dumb":
		return errors.New("this terminal (TERM=dumb) cannot draw a screen; holdfast glance and holdfast report print text. If it can, set TERM")
	}
	_, err := a.looks.habits(os.Getenv)
	return err
}
