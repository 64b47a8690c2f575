//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package term

import (
	"context"
	"errors"
	"io"
)

// Jobs is the program's side of a shell's job control, of which there is none
// here.
type Jobs struct{}

// NewJobs returns Jobs that are never told anything.
func NewJobs(context.Context, io.Reader) *Jobs { return &Jobs{} }

// Redraw gives nothing.
func (*Jobs) Redraw() <-chan struct{} { return nil }

// Lend runs f.
func (*Jobs) Lend(f func() error) error { return f() }

// Stop fails.
func (*Jobs) Stop(context.Context) error {
	return errors.New("this system cannot suspend a program")
}
