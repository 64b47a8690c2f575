package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/report"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// impactFlags are those of the impact command: what is supposed to change.
type impactFlags struct {
	readFlags
	files               []string
	hold, drain, resume []string
}

func (a *app) impactCommand() *cobra.Command {
	var f impactFlags
	c := &cobra.Command{
		Use:   "impact -f FILE | --resume cq/NAME | --hold cq/NAME | --drain cq/NAME",
		Short: "Say what Kueue would do if objects changed: who starts, who is preempted and by whom",
		Long: "Runs Kueue's own scheduler, in a process of its own, on what the cluster holds now, or on a file of its\n" +
			"objects (--world FILE), with the changes made. Nothing is written and the server is not asked to check\n" +
			"anything: holdfast apply --dry-run=server does both.\n\n" +
			"FILE holds ClusterQueues, LocalQueues, Cohorts, ResourceFlavors, AdmissionChecks or\n" +
			"WorkloadPriorityClasses, as YAML or JSON, in version v1beta2 or v1beta1. What stands in it is set, what it\n" +
			"does not name stays; an object that is not there yet is made. --resume, --hold and --drain take\n" +
			"cq/NAME, lq/NAMESPACE/NAME, or cohort/NAME for all ClusterQueues below it. All may be given together and\n" +
			"several times.\n\n" +
			"Kueue's scheduler does not depend on objects alone: the answer is computed in several timings, and what\n" +
			"all of them agree on is certain. How the manager is configured is read from the cluster where that may be\n" +
			"read; --manager-config, --fair-sharing and --feature-gates tell it otherwise.\n\n" +
			"Exit code 0: nobody loses anything; 1: something needs a person: somebody is preempted or evicted (for\n" +
			"certain or perhaps), can never fit any more, a queue stops that nobody holds, a quota falls below its use, or the answer\n" +
			"is not whole (not computed, not to its end, queues not at rest); 4: the file is refused.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.impact(c.Context(), f) },
	}
	c.Flags().StringVarP(&f.output, "output", "o", "text", "text, json or yaml")
	c.Flags().StringArrayVarP(&f.files, "filename", "f", nil, "file with objects as they would be")
	c.Flags().StringArrayVar(&f.resume, "resume", nil, "queue that would be resumed, to the policy of its hold record")
	c.Flags().StringArrayVar(&f.hold, "hold", nil, "queue that would be held")
	c.Flags().StringArrayVar(&f.drain, "drain", nil, "queue that would be drained")
	a.manager.add(c)
	return c
}

func (a *app) impact(ctx context.Context, f impactFlags) error {
	if err := f.check("text", "json", "yaml"); err != nil {
		return err
	}
	if len(f.files)+len(f.hold)+len(f.drain)+len(f.resume) == 0 {
		return errors.New("say what would change: -f FILE, --resume, --hold or --drain cq/NAME")
	}
	if err := a.manager.parse(); err != nil {
		return err
	}
	suppose, err := a.supposition(f)
	if err != nil {
		return err
	}
	r, err := a.read(ctx, a.from, wants{least: true})
	if err != nil {
		return err
	}
	defer r.close()
	x := actions.Suppose(r.Snapshot)
	if err := suppose(x); err != nil {
		return refusal(err)
	}
	var c clock.PassiveClock = fixed(r.Now)
	p, err := a.previewer(r.session, func() *store.Snapshot { return r.Snapshot }, c)
	if err != nil {
		return err
	}
	result := p.preview(ctx, x.Edits(), told(a.err))
	if ctx.Err() != nil && result.NotComputed != "" {
		return coded(exitInterrupted, errors.New("interrupted"))
	}
	result.Assumptions = append(result.Assumptions, x.Notes()...)
	doc := report.Preview(r.Input, &result, x.Edits())
	if err := a.printDocument(doc, f.output, doc.Text); err != nil {
		return err
	}
	if doc.Impact.NeedsPerson() {
		return coded(exitPerson, errPerson)
	}
	return nil
}

// supposition reads the flags and returns what is to be supposed: first the files,
// then who is held, drained and resumed.
func (a *app) supposition(f impactFlags) (func(*actions.Supposed) error, error) {
	var steps []func(*actions.Supposed) error
	namespace, err := a.namespace()
	if err != nil {
		if a.from.world == "" && len(f.files) > 0 {
			return nil, err
		}
		namespace = "default"
	}
	for _, file := range f.files {
		steps = append(steps, func(x *actions.Supposed) error { return x.File(file, namespace) })
	}
	for _, stop := range []struct {
		args []string
		do   func(*actions.Supposed, world.Ref) error
	}{
		{f.hold, func(x *actions.Supposed, r world.Ref) error { return x.Stop(r, world.StopHold) }},
		{f.drain, func(x *actions.Supposed, r world.Ref) error { return x.Stop(r, world.StopHoldAndDrain) }},
		{f.resume, (*actions.Supposed).Resume},
	} {
		for _, arg := range stop.args {
			ref, err := a.parseStop(arg)
			if err != nil {
				return nil, err
			}
			steps = append(steps, func(x *actions.Supposed) error { return stop.do(x, ref) })
		}
	}
	return func(x *actions.Supposed) error {
		for _, step := range steps {
			if err := step(x); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// parseStop reads what parseRef reads, and "cohort/NAME".
func (a *app) parseStop(arg string) (world.Ref, error) {
	kind, name, ok := strings.Cut(arg, "/")
	if ok && name != "" && !strings.Contains(name, "/") && (strings.EqualFold(kind, "cohort") || strings.EqualFold(kind, "cohorts")) {
		return world.Ref{Kind: world.KindCohort, Key: world.Key{Name: name}}, nil
	}
	ref, err := a.parseRef(arg)
	if err != nil {
		var c codedError
		if errors.As(err, &c) {
			return ref, err
		}
		return ref, fmt.Errorf("%q does not name a queue: write cq/NAME, lq/NAMESPACE/NAME or cohort/NAME", arg)
	}
	return ref, nil
}
