package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
)

const applyWords = "FILE (\"-\": standard input) holds any number of ClusterQueues, LocalQueues, Cohorts, ResourceFlavors and\n" +
	"WorkloadPriorityClasses as YAML or JSON. They are written by server-side apply as holdfast, without force: fields\n" +
	"that somebody else owns are named, and taken over with --take-over alone. What is not there is made. stopPolicy and\n" +
	"the hold record are set aside: hold and resume change them. The plan says what Kueue will do.\n"

func (a *app) applyCommand() *cobra.Command {
	var f actFlags
	c := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Apply the objects of a file, after a server dry-run and a preview",
		Long:  applyWords + "With --dry-run=server nothing is written.",
		Args:  cobra.NoArgs,
	}
	a.files(c, &f)
	f.add(c)
	return c
}

func (a *app) dryRunCommand() *cobra.Command {
	f := actFlags{dryRun: "server"}
	c := &cobra.Command{
		Use:   "dry-run -f FILE",
		Short: "Say what apply would do: the server's dry-run and what Kueue would make of it",
		Long:  applyWords + "Nothing is written.",
		Args:  cobra.NoArgs,
	}
	a.files(c, &f)
	c.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
	return c
}

// files makes the command plan from a file.
func (a *app) files(c *cobra.Command, f *actFlags) {
	var name string
	var takeOver bool
	f.previews(a, c)
	c.Flags().StringVarP(&name, "filename", "f", "", "the file, or \"-\" for standard input")
	c.Flags().BoolVar(&takeOver, "take-over", false, "become the owner of fields that others own")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if name == "" {
			return errors.New("name the file with -f")
		}
		namespace, err := a.namespace()
		if err != nil {
			return err
		}
		content, err := a.content(name)
		if err != nil {
			return err
		}
		return a.act(c.Context(), *f, func(ctx context.Context, s *session) (actions.Plan, error) {
			return s.desk.PlanFile(ctx, actions.File{Name: text.Clean(filepath.Base(name)), Content: content, Namespace: namespace, TakeOver: takeOver})
		})
	}
}

// content reads a file that a person named.
func (a *app) content(name string) ([]byte, error) {
	var raw []byte
	var err error
	if name == "-" {
		raw, err = io.ReadAll(a.in)
	} else {
		raw, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, coded(exitRefused, fmt.Errorf("%s. Name a file that can be read", text.Clean(err.Error())))
	}
	return raw, nil
}
