package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

const workloadUse = "wl/NAMESPACE/NAME | job/NAMESPACE/NAME"

func (a *app) deactivateCommand() *cobra.Command {
	return a.workloadCommand(&cobra.Command{
		Use:   "deactivate " + workloadUse,
		Short: "Take a Workload out of Kueue: what runs is evicted, and it is not queued again",
		Long: "Sets spec.active of the Workload to false. Kueue stops its job and does not try it again until it is\n" +
			"reactivated. Nothing is deleted, except that Kueue stops a single Pod by deleting it: the plan says so.",
	}, nil, func(ctx context.Context, s *session, ref world.Ref, why string) (actions.Plan, error) {
		return s.desk.PlanDeactivate(ctx, ref, why)
	})
}

func (a *app) reactivateCommand() *cobra.Command {
	return a.workloadCommand(&cobra.Command{
		Use:   "reactivate " + workloadUse,
		Short: "Queue a deactivated Workload again",
		Long:  "Sets spec.active of the Workload to true. The plan says what else keeps it from starting.",
	}, nil, func(ctx context.Context, s *session, ref world.Ref, why string) (actions.Plan, error) {
		return s.desk.PlanReactivate(ctx, ref, why)
	})
}

func (a *app) priorityCommand() *cobra.Command {
	var class string
	c := a.workloadCommand(&cobra.Command{
		Use:   "priority " + workloadUse + " --class NAME",
		Short: "Give a Workload the priority of a WorkloadPriorityClass, by the label of its job",
		Long: "Sets the label kueue.x-k8s.io/priority-class of the job that owns the Workload and watches that Kueue takes\n" +
			"it over and that it lasts. Where Kueue would not follow, it is refused with the reason.",
	}, func() error {
		if class == "" {
			return errors.New("name the WorkloadPriorityClass with --class")
		}
		return nil
	}, func(ctx context.Context, s *session, ref world.Ref, why string) (actions.Plan, error) {
		return s.desk.PlanPriority(ctx, ref, class, why)
	})
	c.Flags().StringVar(&class, "class", "", "the WorkloadPriorityClass")
	return c
}

// workloadCommand makes c a command that plans for one Workload. check, which may be
// nil, looks at what else was given.
func (a *app) workloadCommand(c *cobra.Command, check func() error, plan func(context.Context, *session, world.Ref, string) (actions.Plan, error)) *cobra.Command {
	var f actFlags
	c.Args = cobra.ExactArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error {
		find, err := parseWorkload(args[0])
		if err != nil {
			return err
		}
		if check != nil {
			if err := check(); err != nil {
				return err
			}
		}
		return a.act(c.Context(), f, func(ctx context.Context, s *session) (actions.Plan, error) {
			ref, err := find(s.watcher.Snapshot())
			if err != nil {
				return actions.Plan{}, err
			}
			return plan(ctx, s, ref, f.reason)
		})
	}
	f.add(c)
	f.previews(a, c)
	c.Flags().StringVar(&f.reason, "reason", "", "why; it stands in the journal")
	return c
}

// parseWorkload reads "wl/NAMESPACE/NAME" or "job/NAMESPACE/NAME". What it returns
// finds the Workload: that of a job is the only one that is not finished.
func parseWorkload(arg string) (func(*store.Snapshot) (world.Ref, error), error) {
	parts := strings.Split(arg, "/")
	if len(parts) == 3 && parts[1] != "" && parts[2] != "" {
		key := world.Key{Namespace: parts[1], Name: parts[2]}
		switch strings.ToLower(parts[0]) {
		case "wl", "workload", "workloads":
			return func(*store.Snapshot) (world.Ref, error) { return world.Ref{Kind: world.KindWorkload, Key: key}, nil }, nil
		case "job", "jobs":
			return func(s *store.Snapshot) (world.Ref, error) { return workloadOfJob(s, key) }, nil
		}
	}
	return nil, fmt.Errorf("%q does not name a Workload: write wl/NAMESPACE/NAME or job/NAMESPACE/NAME", arg)
}

func workloadOfJob(s *store.Snapshot, job world.Key) (world.Ref, error) {
	var found []*world.Workload
	finished := 0
	for _, w := range s.Workloads {
		if w.Namespace != job.Namespace || w.Owner == nil || w.Owner.Name != job.Name {
			continue
		}
		if w.State == world.Finished {
			finished++
			continue
		}
		found = append(found, w)
	}
	switch {
	case len(found) == 1:
		return found[0].Ref(), nil
	case len(found) > 1:
		var names []string
		for _, w := range found {
			names = append(names, fmt.Sprintf("wl/%s (of %s %s)", w.Key, w.Owner.Kind, w.Owner.Name))
		}
		return world.Ref{}, &actions.Problem{What: fmt.Sprintf("%d Workloads belong to a job %s: %s", len(found), job, strings.Join(names, ", ")), Do: "Name the one that you mean."}
	case finished > 0:
		return world.Ref{}, &actions.Problem{What: fmt.Sprintf("the job %s is finished", job), Do: "Nothing was changed."}
	}
	return world.Ref{}, &actions.Problem{
		What: fmt.Sprintf("no Workload belongs to a job %s", job),
		Do:   "Look at the name and namespace, and whether Kueue looks after it at all (label kueue.x-k8s.io/queue-name).",
	}
}
