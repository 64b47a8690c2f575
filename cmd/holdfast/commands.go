package main

import (
	"context"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/actions"
)

func (a *app) holdCommand() *cobra.Command {
	var f actFlags
	var drain bool
	c := &cobra.Command{
		Use:   "hold cq/NAME | lq/NAMESPACE/NAME | cohort/NAME",
		Short: "Stop new admissions of a queue, or of all below a cohort; what runs goes on",
		Long: "Sets stopPolicy Hold and records who, when, why and the policy before, so that resume can restore it.\n" +
			"Of a cohort, every ClusterQueue below it is held, one after the other, in one plan.\n" +
			"With --drain it sets HoldAndDrain, which evicts every admitted Workload of the queue.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := a.parseRef(args[0])
			if err != nil {
				return err
			}
			return a.act(c.Context(), f, func(ctx context.Context, s *session) (actions.Plan, error) {
				return s.desk.PlanHold(ctx, ref, drain, f.reason)
			})
		},
	}
	f.add(c)
	f.previews(a, c)
	c.Flags().StringVar(&f.reason, "reason", "", "why; shown to everyone who looks at the queue")
	c.Flags().BoolVar(&drain, "drain", false, "evict what is admitted, too")
	return c
}

func (a *app) resumeCommand() *cobra.Command {
	var f actFlags
	c := &cobra.Command{
		Use:   "resume cq/NAME | lq/NAMESPACE/NAME | cohort/NAME",
		Short: "Give a held queue, or all below a cohort, the stop policy back that it had before",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := a.parseRef(args[0])
			if err != nil {
				return err
			}
			return a.act(c.Context(), f, func(ctx context.Context, s *session) (actions.Plan, error) {
				return s.desk.PlanResume(ctx, ref)
			})
		},
	}
	f.add(c)
	f.previews(a, c)
	return c
}
