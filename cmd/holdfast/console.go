package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/term"

	"cli.holdfast.dev/holdfast/model/live"
	"cli.holdfast.dev/holdfast/ui"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// accessEvery is how often the person's rights are asked for again.
const accessEvery = 5 * time.Minute

// console opens the screen and keeps it until the person leaves.
func (a *app) console(ctx context.Context) error {
	if err := a.screen(); err != nil {
		return err
	}
	s, err := a.connect(ctx, true)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.watcher.Run(ctx) }()
	go a.keepAccess(ctx, s)
	places := live.NewPositions(s.reader, s.clock)
	go places.Run(ctx)
	r, err := a.runner(s)
	if err != nil {
		cancel()
		return errors.Join(err, s.settled(done))
	}
	keep := keeper{a, s, r}
	err = ui.Run(ctx, ui.Options{
		Source: s.watcher, Desk: sessionDesk{s.desk, keep}, Sessions: keep, Clock: s.clock, Places: places,
		Events: eventSource{s.reader, s.clock}, Journal: s.journal, Settings: s.settings, Checkpoint: a.checkpoint, Theme: theme.Name(a.theme), NoColor: a.noColor, ASCII: a.ascii,
		ReadOnly: a.readOnly, Production: slices.Contains(a.production, s.contract.Context), Log: a.log.all,
	})
	cancel()
	return errors.Join(err, s.settled(done))
}

// screen reports what is missing to draw on.
func (a *app) screen() error {
	switch {
	case a.from.world == "-":
		return errors.New("keys and the file cannot both come from standard input: name a file with --world, or use holdfast report")
	case !term.IsTerminal(int(a.in.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())):
		return errors.New("the console needs a terminal; for scripts see the commands in holdfast --help")
	case a.theme != "" && !slices.Contains(theme.Names(), theme.Name(a.theme)):
		return fmt.Errorf("there is no theme %q; choose one of %v", a.theme, theme.Names())
	}
	return nil
}

// partingPatience is how long the program waits for its watches to end. A
// credential plugin that hangs cannot be told to stop.
const partingPatience = 2 * time.Second

// settled waits for the watcher to end, for a while.
func (s *session) settled(done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-s.clock.After(partingPatience):
		return nil
	}
}

func (a *app) keepAccess(ctx context.Context, s *session) {
	for {
		ask, cancel := context.WithTimeout(ctx, 30*time.Second)
		s.desk.LoadAccess(ask)
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-s.clock.After(accessEvery):
		}
	}
}
