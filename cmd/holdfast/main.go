// Command holdfast is a terminal operations console for Kueue.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	// First of all imports that draw: it keeps the terminal library from asking
	// the terminal questions before main has begun.
	_ "cli.holdfast.dev/holdfast/ui/quiet"
)

func main() {
	os.Exit(run())
}

func run() int {
	quiet := silence()
	defer quiet.restore()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	a := &app{in: os.Stdin, out: os.Stdout, err: quiet.err, log: quiet.ring}
	err := a.command().ExecuteContext(ctx)
	return a.exit(ctx, err)
}
