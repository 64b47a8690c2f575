package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/text"
)

// stepFlags are what a step may need beside a confirmation.
type stepFlags struct {
	actFlags
	file, attest, bundle string
	takeOver             bool
}

func (f *stepFlags) add(a *app, c *cobra.Command) {
	f.actFlags.add(c)
	f.previews(a, c)
	c.Flags().StringVarP(&f.file, "filename", "f", "", "fix: the file with the corrected objects, or \"-\" for standard input")
	c.Flags().BoolVar(&f.takeOver, "take-over", false, "fix: become the owner of fields that others own when it is applied")
	c.Flags().StringVar(&f.attest, "attest", "", "evidence: what you know of the checkpoints")
	c.Flags().StringVar(&f.bundle, "bundle", "", "compare: the export, where it is on this machine")
}

func (a *app) sessionNext() *cobra.Command {
	var f stepFlags
	c := &cobra.Command{
		Use: "next ID", Short: "Do the next step of a session", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.step(c.Context(), args[0], "", f) },
	}
	f.add(a, c)
	return c
}

func (a *app) sessionDo() *cobra.Command {
	var f stepFlags
	c := &cobra.Command{
		Use: "do ID STEP", Short: "Do a step of a session, or do it again", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return a.step(c.Context(), args[0], rollback.Name(args[1]), f)
		},
	}
	f.add(a, c)
	return c
}

// step does a step; without a name the next one.
func (a *app) step(ctx context.Context, id string, n rollback.Name, f stepFlags) error {
	if err := errors.Join(f.check(), a.manager.parse()); err != nil {
		return err
	}
	return a.onRunner(ctx, id, func(ctx context.Context, s *session, r *rollback.Runner, x rollback.Session) error {
		if n == "" {
			next := x.Next()
			if next == nil {
				return a.printSession(x, f.output)
			}
			n = next.Name
		}
		x, err := a.prepareFlags(r, x, n, f)
		if err != nil {
			return refusal(err)
		}
		if n == rollback.Fix || n == rollback.Evidence {
			return a.printSession(x, f.output)
		}
		asking, answered := context.WithTimeout(ctx, executePatience)
		p, err := r.Prepare(asking, x, n)
		answered()
		if err != nil {
			return refusal(err)
		}
		return a.carry(ctx, s, r, x, p, f)
	})
}

// prepareFlags does what the flags say beside the step: the fix, the evidence, where
// the export is.
func (a *app) prepareFlags(r *rollback.Runner, x rollback.Session, n rollback.Name, f stepFlags) (rollback.Session, error) {
	switch {
	case n == rollback.Fix:
		if f.file == "" {
			return x, errors.New("the step fix needs the corrected objects: name the file with -f, or skip the step with a reason")
		}
		content, err := a.content(f.file)
		if err != nil {
			return x, err
		}
		return r.Attach(x, text.Clean(filepath.Base(f.file)), content, f.takeOver)
	case n == rollback.Evidence:
		return r.Attest(x, f.attest, a.checkpoint)
	case n == rollback.Compare && f.bundle != "":
		path, err := filepath.Abs(f.bundle)
		if err != nil {
			return x, err
		}
		return r.Bundle(x, path)
	}
	return x, nil
}

// carry does a prepared step.
func (a *app) carry(ctx context.Context, s *session, r *rollback.Runner, x rollback.Session, p rollback.Prepared, f stepFlags) error {
	if p.Plan == nil {
		if f.dryRun == "server" {
			_, err := fmt.Fprintf(a.out, "%s: %s\n", p.Step, p.Detail)
			return err
		}
		x, _, err := r.Do(ctx, x, p, "")
		if err != nil {
			return refusal(err)
		}
		if err := a.printSession(x, f.output); err != nil {
			return err
		}
		if p.Kept != nil && !*p.Kept {
			return coded(exitPerson, errPerson)
		}
		return nil
	}
	plan, typed, err := a.agreed(ctx, s, *p.Plan, f.actFlags)
	if err != nil || f.dryRun == "server" {
		return err
	}
	p.Plan = &plan
	doing, done := execution(ctx, plan)
	defer done()
	x, res, err := r.Do(doing, x, p, typed)
	if res == nil {
		return refusal(err)
	}
	if printed := a.finishPrint(plan, *res, f.actFlags); err != nil || printed != nil {
		if err != nil {
			err = fmt.Errorf("what is said above was done, and the session %s could not be written: %w; the next command reads it from the cluster", x.ID, err)
		}
		return coded(exitUnverified, errors.Join(err, printed))
	}
	if f.output == "text" {
		if err := a.printSession(x, "text"); err != nil {
			return err
		}
	}
	return verdict(*res)
}
