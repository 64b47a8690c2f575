package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"cli.holdfast.dev/holdfast/actions"
	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/compare"
	"cli.holdfast.dev/holdfast/model/file"
	"cli.holdfast.dev/holdfast/model/report"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

func (a *app) exportCommand() *cobra.Command {
	var f actFlags
	var env bool
	var verify string
	c := &cobra.Command{
		Use:   "export [cq/NAME | lq/NAMESPACE/NAME | cohort/NAME | ns/NAME]",
		Short: "Write Workloads, and what explains them, into a new private bundle",
		Long: "Writes the Workloads of a queue, cohort, namespace or of the whole cluster as the server has them, with all queues,\n" +
			"cohorts, flavors, checks, classes, namespaces, the Workloads' events and the report, into a .tar.gz of YAML files\n" +
			"with a manifest of checksums. Open it with --world, hold it against the cluster with compare.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if verify != "" {
				return a.verify(c.Context(), verify)
			}
			scope, err := a.scope(args)
			if err != nil {
				return err
			}
			return a.act(c.Context(), f, func(ctx context.Context, s *session) (actions.Plan, error) {
				p, err := s.desk.PlanExport(ctx, scope)
				if err == nil && env {
					p = p.WithPodEnv()
				}
				return p, err
			})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&env, "include-pod-env", false, "keep env values, args, commands and annotations as they are")
	c.Flags().StringVar(&verify, "verify", "", "verify a bundle instead: every file against its checksum")
	return c
}

// verify reads a bundle to its end, or until ctx is done.
func (a *app) verify(ctx context.Context, path string) error {
	m, err := whole(ctx, path)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var unopened *os.PathError
	switch {
	case errors.As(err, &unopened):
		return coded(exitUnreadable, errors.New(text.Clean(err.Error())))
	case err != nil:
		return coded(exitUnreadable, fmt.Errorf("%s is not whole: %w", text.Clean(path), err))
	}
	_, err = fmt.Fprintf(a.out, "%s is whole: %d Workloads (%s) in %d files, read %s from %s by %s\n",
		text.Clean(path), m.Workloads, text.Clean(m.ScopeText), len(m.Files), m.Ended.UTC().Format(time.RFC3339), text.Clean(m.Context), text.Clean(m.User))
	return err
}

// whole reads a bundle to its end, or until ctx is done.
func whole(ctx context.Context, path string) (rollback.Exported, error) {
	f, err := os.Open(path)
	if err != nil {
		return rollback.Exported{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	m, sum, err := bundle.VerifySum(until{ctx, f})
	return rollback.Exported{Manifest: m, SHA256: sum}, err
}

// exported opens an export, with its manifest.
func exported(path string) (*file.World, error) {
	then, err := file.Open(path, time.Time{})
	if err == nil && then.Manifest == nil {
		err = fmt.Errorf("%s is no export: it has no manifest; make one with: holdfast export", text.Clean(path))
	}
	return then, err
}

// until reads until ctx is done.
type until struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

func (a *app) scope(args []string) (actions.Scope, error) {
	if len(args) == 0 {
		return actions.Scope{}, nil
	}
	if name, ok := strings.CutPrefix(args[0], "ns/"); ok && name != "" {
		return actions.Scope{Namespace: name}, nil
	}
	ref, err := a.parseRef(args[0])
	if err != nil {
		return actions.Scope{}, err
	}
	switch ref.Kind {
	case world.KindClusterQueue:
		return actions.Scope{ClusterQueue: ref.Name}, nil
	case world.KindCohort:
		return actions.Scope{Cohort: ref.Name}, nil
	}
	return actions.Scope{LocalQueue: ref.Key}, nil
}

// progress tells a person who waits at a terminal how far an export is, at most a few
// times a second.
func (a *app) progress() func(string) {
	f, ok := a.err.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func(how string) { fmt.Fprintf(f, "\r\x1b[K%s", how) }
}

func (a *app) compareCommand() *cobra.Command {
	var f readFlags
	c := &cobra.Command{
		Use:   "compare BUNDLE",
		Short: "Say what became of an export's Workloads: running on, evicted, re-admitted, lost, finished",
		Long: "Holds the state of an export against the cluster, or against another file (--world).\n" +
			"Exit code 0: everything was kept; 1: somebody was evicted or lost, or a spec changed; 3: unknown.\n" +
			"The changes that a rollback was made for are among the specs that changed: look at the diffs.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check("text", "json", "yaml"); err != nil {
				return err
			}
			then, err := exported(args[0])
			if err != nil {
				return coded(exitUnreadable, err)
			}
			if err := a.sameExport(args[0], then.SHA256); err != nil {
				return coded(exitRefused, err)
			}
			r, err := a.read(c.Context(), a.from, wants{least: true})
			if err != nil {
				return err
			}
			defer r.close()
			result := compare.Of(then.Snapshot, then.Manifest, r.Snapshot, actions.Queues(r.Snapshot, then.Manifest.Scope))
			doc := report.ComparisonOf(r.Input, then.Manifest, &result)
			if err := a.printDocument(doc, f.output, doc.Text); err != nil {
				return err
			}
			switch result.Verdict() {
			case compare.NotKept:
				return coded(exitPerson, errPerson)
			case compare.Unknown:
				return coded(exitUnreadable, errors.New("not all could be compared: "+result.Unknown[0]))
			}
			return nil
		},
	}
	c.Flags().StringVarP(&f.output, "output", "o", "text", "text, json or yaml")
	return c
}

// sameExport refuses a file that is where a session of this account made its export and
// is another one by now. A file elsewhere is as good as what it says of itself, and so is
// one of which no session can be read: to compare needs none.
func (a *app) sameExport(path, sha256 string) error {
	store, err := a.sessions()
	if err != nil {
		return nil
	}
	at, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	all, _, err := store.List()
	if err != nil {
		return nil
	}
	for _, s := range all {
		if s.Bundle == at {
			if err := s.Other(path, sha256); err != nil {
				return err
			}
		}
	}
	return nil
}
