package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// actFlags are common to the commands that write.
type actFlags struct {
	yes     bool
	confirm string
	dryRun  string
	output  string
	reason  string
	// noPreview leaves out what Kueue will do.
	noPreview bool
}

func (f *actFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.yes, "yes", false, "confirm without a question, except where --confirm is needed")
	c.Flags().StringVar(&f.confirm, "confirm", "", "confirm what --yes does not cover: the text that the plan asks for")
	c.Flags().StringVar(&f.dryRun, "dry-run", "", "\"server\": print the plan, with the API server's dry-run result, and stop")
	c.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
}

func (f *actFlags) check() error {
	if f.dryRun != "" && f.dryRun != "server" {
		return fmt.Errorf("--dry-run=%s is not known; the only one is --dry-run=server", f.dryRun)
	}
	if f.output != "text" && f.output != "json" {
		return fmt.Errorf("-o %s is not known; choose text or json", f.output)
	}
	return nil
}

// previews adds the flags of the commands whose plans Kueue's scheduler bears on.
func (f *actFlags) previews(a *app, c *cobra.Command) {
	c.Flags().BoolVar(&f.noPreview, "no-preview", false, "do not compute what Kueue will do; the plan then says that it is not known")
	a.manager.add(c)
}

// act connects, waits for the lists, plans, asks and executes.
func (a *app) act(ctx context.Context, f actFlags, plan func(context.Context, *session) (actions.Plan, error)) error {
	if err := errors.Join(f.check(), a.manager.parse()); err != nil {
		return err
	}
	if a.from.world != "" {
		return fmt.Errorf("%s is a file, not a cluster: nothing can be changed", a.from.world)
	}
	return a.connected(ctx, func(ctx context.Context, s *session) error {
		p, err := asked(ctx, s, plan)
		if errors.Is(err, actions.ErrNoChange) {
			fmt.Fprintf(a.err, "holdfast: %v\n", err)
			if err != actions.ErrNoChange {
				return coded(exitRefused, errors.New("nothing was done: what the file asks for was set aside"))
			}
			return nil
		}
		if err != nil {
			return refusal(err)
		}
		p, typed, err := a.agreed(ctx, s, p, f)
		if err != nil || f.dryRun == "server" {
			return err
		}
		r, err := execute(ctx, s, p, typed)
		if err != nil {
			return refusal(err)
		}
		return a.finish(p, r, f)
	})
}

// connected connects, waits for the lists, and does something.
func (a *app) connected(ctx context.Context, do func(context.Context, *session) error) error {
	s, err := a.connect(ctx, false)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watching := make(chan error, 1)
	go func() { watching <- s.watcher.Run(ctx) }()
	defer func() { cancel(); _ = s.settled(watching) }()
	if err := a.settle(ctx, s); err != nil {
		return err
	}
	return do(ctx, s)
}

// asked makes a plan within its time.
func asked(ctx context.Context, s *session, plan func(context.Context, *session) (actions.Plan, error)) (actions.Plan, error) {
	ctx, cancel := context.WithTimeout(ctx, planPatience)
	defer cancel()
	return plan(ctx, s)
}

// agreed previews and prints the plan and returns what confirms it.
func (a *app) agreed(ctx context.Context, s *session, p actions.Plan, f actFlags) (actions.Plan, string, error) {
	p = a.foretell(ctx, s, p, f)
	if ctx.Err() != nil {
		return p, "", coded(exitInterrupted, errors.New("interrupted; nothing was changed"))
	}
	if err := a.printPlan(p, f); err != nil || f.dryRun == "server" {
		return p, "", err
	}
	typed, err := a.ask(ctx, p, f)
	if err != nil {
		return p, "", coded(exitRefused, err)
	}
	return p, typed, nil
}

// execution is the time in which a plan is carried out: an export as long as the list
// is; Ctrl-C ends it.
func execution(ctx context.Context, p actions.Plan) (context.Context, context.CancelFunc) {
	if p.Action == actions.Export {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, executePatience)
}

func execute(ctx context.Context, s *session, p actions.Plan, typed string) (actions.Result, error) {
	ctx, cancel := execution(ctx, p)
	defer cancel()
	return s.desk.Execute(ctx, p, typed)
}

// settle waits until every kind was listed, or is known not to come.
func (a *app) settle(ctx context.Context, s *session) error {
	begun := s.clock.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		snap := s.watcher.Snapshot()
		if snap.Contract.Used != "" && snap.Contract.Asked && allSettled(snap) {
			return nil
		}
		if _, f := snap.Worst(); snap.Contract.Used == "" && (f.Feed == world.Absent || f.Feed == world.Denied || f.Feed == world.Disconnected && s.clock.Since(begun) > discoveryPatience) {
			return coded(exitUnreadable, fmt.Errorf("the cluster cannot be read: %s", f.Detail))
		}
		select {
		case <-ctx.Done():
			k, f := snap.Worst()
			return coded(exitUnreadable, fmt.Errorf("the cluster was not read completely in %s: %s is %s %s", patience, k, f.Feed, f.Detail))
		case <-s.watcher.Changed():
		case <-s.clock.After(time.Second): // time passes without a change, too
		}
	}
}

func allSettled(s *store.Snapshot) bool {
	for _, k := range append(world.WatchedKinds(), world.SideKinds()...) {
		if f := s.Fresh(k); f.Feed == world.Syncing || f.Feed == world.Disconnected {
			return false
		}
	}
	return true
}

// ask returns what confirms the plan: from the flags, or typed by the person.
// Without a terminal and without a flag nothing is written.
func (a *app) ask(ctx context.Context, p actions.Plan, f actFlags) (string, error) {
	if f.confirm != "" {
		if !p.Confirm.Accepts(f.confirm) {
			return "", fmt.Errorf("--confirm %q is not what this plan asks for: %q; nothing was changed", f.confirm, p.Confirm.Expects)
		}
		return f.confirm, nil
	}
	if f.yes && p.Confirm.Level < actions.ConfirmContext {
		return p.Confirm.Expects, nil
	}
	if !term.IsTerminal(int(a.in.Fd())) {
		switch p.Confirm.Level {
		case actions.ConfirmContext:
			return "", fmt.Errorf("nothing was changed: this evicts, and --yes does not cover it; confirm with --confirm %q", p.Confirm.Expects)
		case actions.ConfirmObjects:
			return "", fmt.Errorf("nothing was changed: these are several objects in a production context, and --yes does not cover it; confirm with --confirm %q", p.Confirm.Expects)
		}
		return "", errors.New("nothing was changed: confirm with --yes")
	}
	if f.output == "json" {
		// Nobody says yes to a plan they have not seen.
		fmt.Fprint(a.err, planText(p))
	}
	fmt.Fprintf(a.err, "Type %q to %s, anything else leaves everything as it is: ", p.Confirm.Expects, p.Action)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.in).ReadString('\n')
		answer <- strings.TrimRight(line, "\r\n")
	}()
	select {
	case <-ctx.Done():
		return "", errors.New("interrupted; nothing was changed")
	case typed := <-answer:
		if p.Confirm.Accepts(typed) {
			return typed, nil
		}
	}
	return "", errors.New("not confirmed; nothing was changed")
}

// parseRef reads "cohort/NAME", "cq/NAME", "lq/NAME" or "lq/NAMESPACE/NAME".
func (a *app) parseRef(arg string) (world.Ref, error) {
	parts := strings.Split(arg, "/")
	switch strings.ToLower(parts[0]) {
	case "cq", "clusterqueue", "clusterqueues":
		if len(parts) == 2 && parts[1] != "" {
			return world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: parts[1]}}, nil
		}
	case "cohort", "cohorts":
		if len(parts) == 2 && parts[1] != "" {
			return world.Ref{Kind: world.KindCohort, Key: world.Key{Name: parts[1]}}, nil
		}
	case "lq", "localqueue", "localqueues", "queue", "queues":
		var ns string
		if len(parts) == 3 {
			ns, parts = parts[1], []string{parts[0], parts[2]}
		} else if given, err := a.namespace(); err != nil {
			return world.Ref{}, err
		} else {
			ns = given
		}
		if len(parts) == 2 && parts[1] != "" && ns != "" {
			return world.Ref{Kind: world.KindLocalQueue, Key: world.Key{Namespace: ns, Name: parts[1]}}, nil
		}
	}
	return world.Ref{}, fmt.Errorf("%q does not name a queue: write cq/NAME, lq/NAMESPACE/NAME or cohort/NAME", arg)
}

// namespace is the one of the flag or of the kubeconfig's context.
func (a *app) namespace() (string, error) {
	ns, _, err := a.kube.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", coded(exitUnreadable, err)
	}
	return ns, nil
}
